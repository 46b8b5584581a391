"""Measures how soon a standby takes over an account: ``python -m bench.sites.standby --kills 20``.

Two programs share a PostgreSQL database and an account at an arena; the active program is killed (`kill -9`)
repeatedly while people play. Prints the time until the other program plays, and all differences between the
bot's and the arena's records.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from statistics import median

from bot.arena.server import Arena
from bot.base.config import ArenaConfig
from storage.database import Database
from tests.storage.postgres import postgres_url, running_postgres
from tests.system.ledger import exported, troubles
from tests.system.standby import play_through_kills, standby

MAX_TAKEOVER_S = 15.0


async def measure(folder: Path, url: str, kills: int) -> bool:
    """Run the test and print its result; return whether it passed."""
    books, site = await Database.open(url), await Database.open(f"sqlite:///{folder / 'site.db'}")
    arena = Arena(ArenaConfig(port=0, first_move_s=0), site)
    async with arena.running(["Desdemona"]) as address:
        token = arena.bot_tokens["Desdemona"]
        programs = [standby(folder / name, url, address, token) for name in ("one", "two")]
        game_ids, took_s = await play_through_kills(address, programs, kills)
        wrong = await troubles(books, await exported(address, game_ids))
    await books.close()
    await site.close()
    print(
        f"kills: {kills}, games: {len(game_ids)}; taken over after {median(took_s):.2f} s (median), "
        f"{max(took_s):.2f} s (longest); allowed: {MAX_TAKEOVER_S:.0f} s"
    )
    print(f"errors in the records: {len(wrong)}")
    for line in wrong:
        print(f"  {line}")
    return not wrong and max(took_s) <= MAX_TAKEOVER_S


def main() -> int:
    """Parse the options and run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_postgres() as server:
        is_well = asyncio.run(measure(Path(folder), postgres_url(server, "postgres"), options.kills))
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
