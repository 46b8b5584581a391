"""Other programs at work on the same database, at moments that the test chooses."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

import storage.database
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


class BusyWriter:
    """Another program that is writing to SQLite; the write ends when SQLite has refused us so many times.

    Each refusal takes us 20 seconds, on a clock of ours.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path, refusals: int) -> None:
        self.refusals = 0
        self._most = refusals
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr("storage.database.BUSY_TIMEOUT_MS", 1)  # of connections made from now on
        monkeypatch.setattr("storage.database._WAL_RETRY_S", 0)
        monkeypatch.setattr(
            "storage.database.time", SimpleNamespace(monotonic=lambda: 1000.0 + 20 * self.refusals)
        )
        is_busy = storage.database._is_busy

        def refused(error: BaseException | None) -> bool:
            told = is_busy(error)
            self.refusals += told
            if self.refusals == self._most:
                self.end()
            return told

        monkeypatch.setattr("storage.database._is_busy", refused)

    def end(self) -> None:
        """Let others write."""
        self._connection.close()
