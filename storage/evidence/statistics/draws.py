"""The rate of randomised decisions in games with people."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.game_records import RANDOMISERS as RANDOMISERS
from storage.evidence.reading import read_games
from storage.filters import Filters, filter_conditions
from storage.records import MATCH_SITE, GameStatus
from storage.tables.games import GameRow, OpponentRow


@dataclass(frozen=True, slots=True)
class DrawRate:
    """The rate of randomised decisions in games with people."""

    games: int
    """Number of finished and settled games of strategies that randomise single decisions."""
    draws: int
    """Number of randomised decisions in these games that had a reply; only those count in a trial."""


async def read_draw_rate(session: AsyncSession, filters: Filters | None = None) -> DrawRate:
    """Compute the rate of randomised decisions in finished games against people; filters select the games."""
    which = (
        GameRow.strategy.in_(RANDOMISERS),
        GameRow.state == GameStatus.FINISHED,
        GameRow.is_settled.is_(True),
        GameRow.site != MATCH_SITE,
        *filter_conditions(filters or Filters()),
    )
    program = select(OpponentRow.id).where(OpponentRow.is_bot.is_(True))
    games = (await read_games(session, *which, GameRow.opponent_id.not_in(program))).games
    return DrawRate(len(games), int(games["draws_answered"].sum()))
