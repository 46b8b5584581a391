"""kill -9 at random moments: nothing is lost and nothing done twice; `KILLS` makes it more."""

import asyncio
import os
import random
from pathlib import Path

from tests.system.daemon import Daemon
from tests.system.ledger import check_books, check_stats, exported, log_lines, wait_until_settled
from tests.system.person import Habits, Person, Wish

KILLS = int(os.environ.get("KILLS", "2"))
PEOPLE = 3


async def test_killed_at_random_moments(tmp_path: Path) -> None:
    """Games go on through restarts; in the end every move of the bot has one decision."""
    rng = random.Random(9)
    async with Daemon(tmp_path, engine__max_depth=3, assignment__seed=2006) as daemon:
        ids: list[str] = []
        enough = asyncio.Event()

        async def sit(number: int) -> None:
            person = Person(daemon, f"person{number}", seed=number)
            try:
                while not enough.is_set():
                    # One plays to the end; the others resign, which is cheaper.
                    ids.append(await person.play(Wish(habits=Habits(16 if number else None))))
            finally:
                await person.close()

        async def strike() -> None:
            for _ in range(KILLS):
                # The moment is the point here, not a wait for something.
                await asyncio.sleep(rng.uniform(0, 1.2))
                await daemon.kill()
                await daemon.start()
            enough.set()

        async with asyncio.TaskGroup() as tasks:
            for number in range(PEOPLE):
                tasks.create_task(sit(number))
            tasks.create_task(strike())
        assert daemon.starts == KILLS + 1
        records = await exported(daemon.url, ids)
        await wait_until_settled(tmp_path)
        status, said = await daemon.stop()
        assert status == 0, said
        assert "Traceback" not in said + daemon.log.read_text()
        assert log_lines(daemon.log, "ERROR", "CRITICAL") == []
        await check_stats(daemon, await check_books(daemon, records))
