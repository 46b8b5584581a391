"""Judges the replies of finished games (`engine.judge`) on idle threads, the latest game first.

With a new version of the judge no game is judged, so this task judges all of them again, and finds the baits
of their forecasts again. Where a person's reply to a bait is not good, every reply is judged, since the
trainer shows the position (`bot.arena.puzzles`). A game's judgements are stored in one transaction; an
interrupted game is judged again from its start. Of several programs that share a database, one judges.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from sqlalchemy.ext.asyncio import AsyncSession

from bot.threads.fair_queue import JobRank
from bot.threads.role_worker import RoleWorker
from bot.threads.search_pool import SearchPool
from engine.bait_rule import FORECAST_RULE
from engine.errors import RecordError
from engine.forecasts import decision_costs, decision_expectations, judged_forecast
from engine.game import WIN_CENTI
from engine.human.reply_forecast import Expectations, ReplyForecast
from engine.judge import ReplyCosts, ReplyWord
from engine.lookup.source import RootSource
from engine.search.reference import Searcher
from engine.stop import StopFlag
from storage.database import Database, Role
from storage.errors import RoleTaken
from storage.evidence.summaries import summarise
from storage.ledger.forecasts import store_forecast
from storage.ledger.games import load_game_by_id
from storage.ledger.judgements import (
    ReplyToJudge,
    count_games_to_judge,
    judge_missing_again,
    lock_settled_game,
    next_game_to_judge,
    replies_to_judge,
    store_judgements,
    work_of_game,
)
from storage.records import ARENA_SITE

logger = logging.getLogger(__name__)

ROLE = "judge"
"""The role on the database that the program holds while it judges."""
RECOUNT = 100
"""The games that are left are counted again after this many games."""


class ReplyJudge(RoleWorker):
    """Judges all games that are over; call `run` in a task of its own.

    Args:
        database: Open.
        pool: Its idle threads do the work, and leave it at once for anything else.
        sources: The tablebases of each game (`engine.judge.position_value`).
        sleep: As `asyncio.sleep`.
        on_judged: Called after each game.
    """

    def __init__(
        self,
        database: Database,
        pool: SearchPool,
        sources: Mapping[str, Sequence[RootSource]] = MappingProxyType({}),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        on_judged: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(database, ROLE, "judge replies", sleep)
        self._pool = pool
        self._sources = sources
        self._on_judged = on_judged
        self.games_left = 0
        """Number of games that are over and not judged yet, as far as known."""

    def wake(self) -> None:
        """Announce that another game is over."""
        self.games_left += 1
        super().wake()

    async def _work(self, role: Role) -> None:
        await self.judge_all(role)

    async def _wait_for_role(self) -> None:
        await self._count()

    async def judge_all(self, role: Role, on_game: Callable[[int], None] | None = None) -> int:
        """Judge every game that is over; return the number of games.

        Args:
            role: Held, for `ROLE`.
            on_game: Called with 1 after each game.

        Raises:
            StorageError: The database failed, or the role was lost.
        """
        count = 0
        while True:
            if count % RECOUNT == 0:
                await self._count()
            async with self._database.read() as session:
                game = await next_game_to_judge(session)
            if game is None:
                self.games_left = 0
                return count
            await self._judge_game(game, role)
            count, self.games_left = count + 1, self.games_left - 1
            if self._on_judged is not None:
                self._on_judged()
            if on_game is not None:
                on_game(1)

    async def _count(self) -> None:
        async with self._database.read() as session:
            self.games_left = await count_games_to_judge(session)

    async def _judge_game(self, key: int, role: Role) -> None:
        async with self._database.read() as session:
            game = await load_game_by_id(session, key)
            work = await work_of_game(session, key, FORECAST_RULE)
            replies = await _replies_to_judge(session, key)
        is_for_trainer = game is not None and game.site == ARENA_SITE
        judged: dict[int, tuple[str, ReplyCosts]] = {}
        forecasts: dict[int, tuple[ReplyForecast, Expectations]] = {}
        for each in replies:
            try:
                sources = self._sources.get(each.decision.game, ())
                job = partial(_judge, each, sources, is_for_trainer)
                forecast, costs = await self._pool.run(job, each.decision.game, rank=JobRank.SPARE)
                if costs is not None and each.reply is not None:
                    judged[each.decision_id] = each.reply, costs
                if forecast is not None:
                    forecasts[each.decision_id] = forecast, decision_expectations(each.decision, forecast)
            except Exception as error:  # damaged data must not stop the others
                logger.warning(
                    "game %s: the reply to %s cannot be judged: %s: %s",
                    "" if game is None else game.site_game_id,
                    each.decision.move,
                    type(error).__name__,
                    error,
                )
        async with self._database.write() as session:
            await role.verify(session)
            is_settled = await lock_settled_game(session, key)
            if not is_settled or await work_of_game(session, key, FORECAST_RULE) != work:
                return  # it is judged again, with what was stored meanwhile
            for decision, made in forecasts.items():
                await store_forecast(session, decision, *made)
            await store_judgements(session, key, judged)
            await summarise(session, [key])


async def judge_games(
    database: Database,
    sources: Mapping[str, Sequence[RootSource]] = MappingProxyType({}),
    counting: Callable[[int], Callable[[int], None]] | None = None,
) -> tuple[int, int]:
    """Judge all games that are over now, and again those that lack judgements, unless another program judges.

    Args:
        database: Open.
        sources: See `ReplyJudge`.
        counting: Takes the number of games and returns a function to call with 1 after each; None for none.

    Returns:
        The numbers of games that were judged, and that are left to the other program.
    """
    async with database.write() as session:
        await judge_missing_again(session)
        count = await count_games_to_judge(session)
    try:
        async with database.hold_role(ROLE) as role, SearchPool(1, 1) as pool:
            on_game = None if counting is None or not count else counting(count)
            return await ReplyJudge(database, pool, sources).judge_all(role, on_game), 0
    except RoleTaken:
        return 0, count


async def _replies_to_judge(session: AsyncSession, key: int) -> list[ReplyToJudge]:
    """`replies_to_judge`; none if a record of the game cannot be read."""
    try:
        return await replies_to_judge(session, key, FORECAST_RULE)
    except RecordError as error:
        logger.warning("game %d cannot be judged: %s", key, error)
        return []


def _judge(
    judged: ReplyToJudge, sources: Sequence[RootSource], is_for_trainer: bool, _: Searcher, stop: StopFlag
) -> tuple[ReplyForecast | None, ReplyCosts | None]:
    """The forecast under the present rules if it was made by earlier ones, and the costs."""
    forecast, decision = judged.forecast, judged.decision
    renewed = None
    if forecast is not None and forecast.rule < FORECAST_RULE and decision.is_complete:
        renewed = forecast = judged_forecast(decision, forecast, stop, sources, judged.ratings)
    if judged.reply is None:
        return renewed, None
    known = None if forecast is None else forecast.costs
    costs = decision_costs(decision, (judged.reply,), stop, known, sources)
    if not is_for_trainer or forecast is None or not forecast.bait_replies:
        return renewed, costs
    if costs.of(judged.reply).word is ReplyWord.GOOD or abs(decision.chosen.raw_centi) >= WIN_CENTI:
        return renewed, costs
    known = costs if known is None else replace(costs, replies=(*costs.replies, *known.replies))
    return renewed, decision_costs(decision, forecast.replies, stop, known, sources)
