"""Takes up the falls of finished games: once all there are, then those of each game as it is settled."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from functools import partial

from bot.arena.training.ratings import start_rating
from storage.arena.puzzles import positions
from storage.arena.puzzles.positions import NewFall
from storage.damage import read_batch
from storage.database import Database
from storage.errors import StorageError

logger = logging.getLogger(__name__)

POLL_S = 20.0
"""How often we look for games that have been settled."""
BATCH = 20
"""Games that are read at once."""
SMALL_BATCH = 10
"""Falls that are stored in one transaction: a hundredth of a second, in which SQLite stores no move."""


class Intake:
    """Fills the trainer's tables.

    Args:
        database: The arena's, with the records of our own accounts.
        site: The arena's name in them.
        sleep: Waits for some seconds.
    """

    def __init__(
        self, database: Database, site: str, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._database = database
        self._site = site
        self._sleep = sleep
        self._floor = 0  # our key of a game; all up to it were taken up

    async def run(self) -> None:
        """Do so until cancelled; a failure of the database delays it."""
        is_filled, has_database = False, True
        while True:
            await self._sleep(POLL_S)
            try:
                if not is_filled:
                    if made := await self.fill():
                        logger.info("the trainer has %d more positions in which people fell", made)
                    is_filled = True
                else:
                    await self.poll()
                has_database = True
            except StorageError as error:
                if has_database:
                    logger.warning("the trainer waits for the database: %s", error)
                has_database = False
            except Exception:  # the edge of every game: none may end because of it
                logger.exception("filling the trainer failed; it tries again")

    async def fill(self) -> int:
        """Take up whatever there is; returns how many falls were new."""
        self._floor = 0
        return await self.poll()

    async def poll(self) -> int:
        """Take up what was settled since; returns how many falls were new."""
        # Read first: a game that begins or is settled meanwhile lies above it.
        async with self._database.read() as session:
            floor = await positions.settled_up_to(session, self._site)
        made, after = 0, self._floor
        while True:
            async with self._database.read() as session:
                games = await positions.list_untaken(session, self._site, after, BATCH)
            if not games:
                break
            made += await self.take_up_games(games)
            after = games[-1]
            await self._sleep(0)
        self._floor = floor
        return made

    async def take_up_games(self, games: Collection[int]) -> int:
        """Take up some games, by our keys; returns how many falls were new."""
        if not games:
            return 0
        async with self._database.read() as session:
            decisions = await positions.list_baits(session, games)
            found = await read_batch(
                decisions, partial(positions.list_new_falls, session, self._site), _damaged
            )
        falls = [fall for fall in found if fall is not None]
        made = 0
        for start in range(0, len(falls), SMALL_BATCH):
            async with self._database.write() as session:
                made += await positions.take_up(session, falls[start : start + SMALL_BATCH], start_rating)
        async with self._database.write() as session:
            await positions.mark_taken_up(session, games)
        return made


def _damaged(decision_id: int, error: Exception) -> NewFall | None:
    logger.warning("the trainer leaves out decision %d: %s", decision_id, error)
    return None
