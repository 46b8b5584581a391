"""Totals of games as shown to the people who played them: results, baits and slips.

Chat messages and farewells use the same terms as a game's page (docs/trials.md): a person takes a bait
(`engine.bait_rule`) in a position that was not decided; any other reply that costs 10 % of the game or more
by the judge is a *slip* (`storage.evidence.slips`). Baits are known at once, slips only after the game.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.game_records import BaitCounts as BaitCounts
from storage.evidence.reading import read_games
from storage.evidence.replies import ABORTED
from storage.filters import Filters, filter_conditions
from storage.tables.games import GameRow

COUNTS = tuple(field.name for field in fields(BaitCounts))
"""The names of the fields of `BaitCounts`, and of columns of `storage.evidence.replies.GAME`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encounters(BaitCounts):
    """Totals over some games: results (from our point of view), baits and slips."""

    games: int = 0
    """Number of games, excluding aborted games; baits and slips include those of aborted games."""
    wins: int = 0
    draws: int = 0
    losses: int = 0


async def bait_counts(session: AsyncSession, game_id: int) -> BaitCounts:
    """Bait and slip counts of one game."""
    return (await counts_of_games(session, [game_id])).get(game_id, BaitCounts())


async def encounters(session: AsyncSession, filters: Filters) -> Encounters:
    """The totals over the games that pass the filters."""
    games = (await read_games(session, *filter_conditions(filters))).games
    return Encounters(
        **{name: int(games[name].sum()) for name in COUNTS},
        games=int((games["state"] != ABORTED).sum()),
        wins=int((games["score"] == 1).sum()),
        draws=int((games["score"] == 0.5).sum()),
        losses=int((games["score"] == 0).sum()),
    )


async def counts_of_games(session: AsyncSession, games: Sequence[int]) -> dict[int, BaitCounts]:
    """The counts of some games, by the games' keys."""
    records = (await read_games(session, GameRow.id.in_(games))).games
    counts = zip(*(records[name].tolist() for name in COUNTS), strict=True)
    return {
        key: BaitCounts(**dict(zip(COUNTS, row, strict=True)))
        for key, row in zip(records["id"].tolist(), counts, strict=True)
    }
