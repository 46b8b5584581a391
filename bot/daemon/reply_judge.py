"""Judges the replies of finished games (`engine.judge`) on idle threads, the latest game first.

With a new version of the judge no game is judged, so this task judges all of them again. A game's judgements
are stored in one transaction; an interrupted game is judged again from its start. Of several programs that
share a database, one judges.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from bot.threads.fair_queue import JobRank
from bot.threads.search_pool import SearchPool
from engine.game import positions, starting_position
from engine.games import get_rules
from engine.judge import ReplyCosts, reply_costs
from engine.search.reference import Searcher
from engine.stop import StopFlag
from storage.database import Database, Role
from storage.errors import RoleTaken, StorageError
from storage.evidence.summaries import summarise
from storage.ledger.games import load_game_by_id
from storage.ledger.judgements import (
    ReplyToJudge,
    count_games_to_judge,
    next_game_to_judge,
    replies_to_judge,
    store_judgements,
)
from storage.records import StoredGame

logger = logging.getLogger(__name__)

ROLE = "judge"
"""The role on the database that the program holds while it judges."""
RECOUNT = 100
"""The games that are left are counted again after this many games."""
RETRY_S = 60.0
"""Seconds until the next attempt, after an error of the database or while another program judges."""


class ReplyJudge:
    """Judges all games that are over; call `run` in a task of its own.

    Args:
        database: Open.
        pool: Its idle threads do the work, and leave it at once for anything else.
        sleep: As `asyncio.sleep`.
    """

    def __init__(
        self,
        database: Database,
        pool: SearchPool,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._sleep = sleep
        self._database = database
        self._pool = pool
        self._ended = asyncio.Event()
        self.games_left = 0
        """Number of games that are over and not judged yet, as far as known."""

    def wake(self) -> None:
        """Announce that another game is over."""
        self.games_left += 1
        self._ended.set()

    async def run(self) -> None:
        """Judge games until cancelled."""
        while True:
            try:
                async with self._database.hold_role(ROLE) as role:
                    while True:
                        self._ended.clear()
                        await self.judge_all(role)
                        await self._ended.wait()
            except RoleTaken:  # another program judges
                pass
            except StorageError as error:
                logger.warning("cannot judge replies for now: %s", error)
            await self._sleep(RETRY_S)

    async def judge_all(self, role: Role) -> int:
        """Judge every game that is over; return the number of games.

        Raises:
            StorageError: The database failed, or the role was lost.
        """
        count = 0
        while True:
            async with self._database.read() as session:
                if count % RECOUNT == 0:
                    self.games_left = await count_games_to_judge(session)
                game = await next_game_to_judge(session)
            if game is None:
                self.games_left = 0
                return count
            await self._judge_game(game, role)
            count, self.games_left = count + 1, self.games_left - 1

    async def _judge_game(self, key: int, role: Role) -> None:
        async with self._database.read() as session:
            game = await load_game_by_id(session, key)
            replies = await replies_to_judge(session, key)
        judged: dict[int, tuple[str, ReplyCosts]] = {}
        if game is not None and replies:
            try:
                for reply, position in _with_positions(game, replies):
                    asked = (reply.reply, *reply.likeliest)
                    job = partial(_judge, game.game, position, asked)
                    costs = await self._pool.run(job, game.game, rank=JobRank.SPARE)
                    judged[reply.decision_id] = reply.reply, costs
            except Exception as error:  # a damaged game must not stop the others; its other replies count
                logger.warning(
                    "game %s: its replies cannot all be judged: %s: %s",
                    game.site_game_id,
                    type(error).__name__,
                    error,
                )
        async with self._database.write() as session:
            await role.verify(session)
            await store_judgements(session, key, judged)
            await summarise(session, [key])


def _with_positions(game: StoredGame, replies: list[ReplyToJudge]) -> list[tuple[ReplyToJudge, Any]]:
    """Each reply with the position in which it was played."""
    rules = get_rules(game.game)
    known = list(positions(rules, game.moves, starting_position(rules, game.initial_position)))
    return [(each, known[each.ply + 1]) for each in replies]


def _judge(
    game_name: str, position: Any, replies: tuple[str, ...], _: Searcher, stop: StopFlag
) -> ReplyCosts:
    return reply_costs(game_name, position, replies, stop)
