"""Many games, several at a time, and books that balance to the last reply; `SOAK_GAMES` makes it more."""

import asyncio
import os
from pathlib import Path

from tests.system.daemon import Daemon
from tests.system.ledger import check_books, check_stats, complaints, exported, wait_until_settled
from tests.system.person import Habits, Person, Wish

GAMES = int(os.environ.get("SOAK_GAMES", "4"))
PEOPLE = 4


async def test_many_games(tmp_path: Path) -> None:
    """Both engines by randomised selection against weak people; every outcome recomputed independently."""
    async with Daemon(tmp_path, engine__max_depth=3, assignment__seed=2006) as daemon:
        queue = list(range(GAMES))
        ids: list[str] = []

        async def sit(number: int) -> None:
            person = Person(daemon, f"person{number}", seed=number)
            try:
                while queue:
                    game = queue.pop()
                    resign_at = 20 if game % 3 == 0 else None  # some leave early: traps stay unanswered
                    wish = Wish(rated=game % 2 == 0, habits=Habits(resign_at))
                    ids.append(await person.play(wish))
            finally:
                await person.close()

        async with asyncio.TaskGroup() as tasks:
            for number in range(PEOPLE):
                tasks.create_task(sit(number))
        records = await exported(daemon.url, ids)
        assert len(records) == GAMES
        await wait_until_settled(tmp_path)
        status, said = await daemon.stop()
        assert status == 0, said
        assert "Traceback" not in said
        assert complaints(daemon.log) == []

        counts = await check_books(daemon, records)
        assert set(counts) == {"standard", "trappy"}
        assert sum(count["games"] for count in counts.values()) == GAMES
        assert sum(count["partial"] for count in counts.values()) == 0
        # Which games are trappy, and so how many traps there are, depends on who sits down first.
        judged = sum(
            n for count in counts.values() for name, n in count.items() if name.startswith(("trap_", "base_"))
        )
        assert judged > 2 * GAMES
        print(await check_stats(daemon, counts))
        size = (tmp_path / "data" / "desdemona.db").stat().st_size
        print(f"{len(records)} games, {size / len(records) / 1000:.0f} kB of database a game")
