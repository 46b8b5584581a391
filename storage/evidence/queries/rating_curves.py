"""Our ratings over time, as one curve for each account, game and speed."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.reading import many_objects
from storage.filters import Filters, filter_conditions
from storage.records import MATCH_SITE, GameStatus
from storage.tables.games import GameRow


@dataclass(frozen=True, slots=True)
class RatingPoint:
    """Our rating at the start of a game."""

    at: datetime
    rating: int


@dataclass(frozen=True, slots=True)
class RatingCurve:
    """Our ratings in one kind of game."""

    site: str
    account: str
    game: str
    speed: str
    points: tuple[RatingPoint, ...]
    """The ratings, one per rated game, oldest first."""

    @property
    def now(self) -> int:
        """Our rating at the start of the latest game."""
        return self.points[-1].rating

    @property
    def highest(self) -> int:
        return max(point.rating for point in self.points)

    @property
    def lowest(self) -> int:
        return min(point.rating for point in self.points)

    def change_since(self, moment: datetime) -> int | None:
        """Rating change since the last game before `moment`; None if there was no such game."""
        before = [point.rating for point in self.points if point.at < moment]
        return self.now - before[-1] if before else None


async def rating_curves(session: AsyncSession, filters: Filters) -> list[RatingCurve]:
    """Return the rating curves of the rated games that match the filters; those with most games first."""
    statement = (
        select(
            GameRow.site, GameRow.account, GameRow.game, GameRow.speed, GameRow.started_at, GameRow.our_rating
        )
        .where(
            GameRow.rated.is_(True),
            GameRow.our_rating.is_not(None),
            GameRow.state != GameStatus.ABORTED,
            GameRow.site != MATCH_SITE,
            *filter_conditions(filters),
        )
        .order_by(GameRow.started_at, GameRow.id)
    )
    found: dict[tuple[str, str, str, str], list[RatingPoint]] = defaultdict(list)
    with many_objects():
        # Not by the session, which would make each row twice.
        rows: Sequence[Any] = (await (await session.connection()).execute(statement)).all()
        for site, account, game, speed, at, rating in rows:
            found[site, account, game, speed].append(RatingPoint(at, rating))
    curves = [RatingCurve(*kind, tuple(points)) for kind, points in found.items()]
    return sorted(curves, key=lambda curve: (-len(curve.points), curve.site, curve.account, curve.game))
