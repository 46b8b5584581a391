"""Another program at work on the same database, at moments that the test chooses."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from storage.database import Database

Work = Callable[[Database], Awaitable[None]]


@contextmanager
def another_program(url: str) -> Iterator[Callable[[Work], None]]:
    """A function that does work over connections of another thread, while the caller's thread waits."""
    with ThreadPoolExecutor(1) as pool:
        runner = asyncio.Runner()
        database = pool.submit(lambda: runner.run(Database.open(url, upgrade=False))).result()

        async def done(work: Work) -> None:
            await work(database)

        try:
            yield lambda work: pool.submit(lambda: runner.run(done(work))).result()
        finally:
            pool.submit(lambda: runner.run(database.close())).result()
            pool.submit(runner.close).result()
