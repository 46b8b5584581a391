"""Imports puzzle positions: all old games once, then each game once the judge has judged it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection

from bot.arena.puzzles.ratings import start_rating
from storage.arena.puzzles import positions
from storage.database import Database
from storage.errors import StorageError

logger = logging.getLogger(__name__)

IMPORT_POLL_INTERVAL_S = 20.0
"""Seconds between checks for newly judged games."""
MAX_GAMES_PER_READ = 20
"""Number of games to read at once."""
MAX_POSITIONS_PER_COMMIT = 10
"""Number of positions to store in one transaction, which blocks other writes to SQLite for about 10 ms."""


class PuzzleImporter:
    """Fills the trainer's tables.

    Args:
        database: The arena's database, with the records of our own accounts.
        site: The arena's `site` in these records.
        sleep: Waits the given number of seconds.
    """

    def __init__(
        self, database: Database, site: str, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._database = database
        self._site = site
        self._sleep = sleep
        self._floor = 0  # our key of a game; all games up to it are imported

    async def run(self) -> None:
        """Import until cancelled; retry after a database failure."""
        has_database = True
        while True:
            await self._sleep(IMPORT_POLL_INTERVAL_S)
            try:
                if count := await self.poll():
                    logger.info("positions added to the trainer: %d", count)
                has_database = True
            except StorageError as error:
                if has_database:
                    logger.warning("the trainer is waiting for the database: %s", error)
                has_database = False
            except Exception:  # the edge of every game: none may end because of it
                logger.exception("importing trainer positions failed; retrying")

    async def poll(self) -> int:
        """Import newly judged games (at first, all games); return the number of new positions."""
        # Read first: a game that begins or is judged meanwhile lies above it.
        async with self._database.read() as session:
            floor = await positions.max_judged_game_id(session, self._site)
        count, after = 0, self._floor
        while True:
            async with self._database.read() as session:
                games = await positions.list_pending(session, self._site, after, MAX_GAMES_PER_READ)
            if not games:
                break
            count += await self.import_games(games)
            after = games[-1]
            await self._sleep(0)
        self._floor = floor
        return count

    async def import_games(self, games: Collection[int]) -> int:
        """Import the games with these record keys; return the number of new positions."""
        if not games:
            return 0
        async with self._database.read() as session:
            decisions = await positions.list_baits(session, games)
            mistakes = await positions.list_new_mistakes(session, self._site, decisions)
        count = 0
        for start in range(0, len(mistakes), MAX_POSITIONS_PER_COMMIT):
            async with self._database.write() as session:
                count += await positions.import_positions(
                    session, mistakes[start : start + MAX_POSITIONS_PER_COMMIT], start_rating
                )
        async with self._database.write() as session:
            await positions.mark_imported(session, games)
        return count
