"""The rate of randomised decisions in games with people."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import SearchMode
from storage.evidence.game_records import DRAWING as DRAWING
from storage.evidence.reading import read_games
from storage.filters import Filters, filter_conditions
from storage.records import MATCH_SITE, GameStatus
from storage.tables.games import DecisionRow, GameRow, OpponentRow


@dataclass(frozen=True, slots=True)
class DrawRate:
    """The rate of randomised decisions in games with people."""

    games: int
    """Finished and settled games of players that draw single decisions."""
    draws: int
    """Their drawn decisions that got a reply, the only ones that count in a trial."""


def is_trial_draw() -> ColumnElement[bool]:
    """Whether a decision was drawn, as a condition on `DecisionRow` and `GameRow`.

    If unknown, since the record was damaged when migration 0012 read it: whether the player draws.
    """
    mode = DecisionRow.search_mode
    return or_(mode == SearchMode.TRIAL, and_(mode.is_(None), GameRow.player.in_(DRAWING)))


async def read_draw_rate(session: AsyncSession, filters: Filters | None = None) -> DrawRate:
    """The rate of randomised decisions in the finished games with people that pass the filters."""
    which = (
        GameRow.player.in_(DRAWING),
        GameRow.state == GameStatus.FINISHED,
        GameRow.is_settled.is_(True),
        GameRow.site != MATCH_SITE,
        *filter_conditions(filters or Filters()),
    )
    program = select(OpponentRow.id).where(OpponentRow.is_bot.is_(True))
    games = (await read_games(session, *which, GameRow.opponent_id.not_in(program))).games
    return DrawRate(len(games), int(games["draws_answered"].sum()))
