"""Our ratings over time, as one curve for each rating that a site keeps of an account."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.reading import many_objects
from storage.filters import Filters, filter_conditions
from storage.records import MATCH_SITE, GameStatus
from storage.tables.games import GameRow

RatingListOf = Callable[[str, str, str], str]
"""Returns the `RatingCurve.speed` of a game from its site, its variant and its speed."""


@dataclass(frozen=True, slots=True)
class RatingPoint:
    """Our rating at the start of a game."""

    at: datetime
    rating: int


@dataclass(frozen=True, slots=True)
class RatingCurve:
    """One of our ratings."""

    site: str
    account: str
    game: str
    speed: str
    """The speed for which the site keeps this rating. If it keeps one for all speeds: empty, or the kind of
    games that it is for, such as ``chess960``."""
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


async def rating_curves(session: AsyncSession, filters: Filters, list_of: RatingListOf) -> list[RatingCurve]:
    """Return the rating curves of the rated games that match the filters; those with most games first."""
    statement = (
        select(
            GameRow.site,
            GameRow.account,
            GameRow.game,
            GameRow.variant,
            GameRow.speed,
            GameRow.started_at,
            GameRow.our_rating,
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
        for site, account, game, variant, speed, at, rating in rows:
            found[site, account, game, list_of(site, variant, speed)].append(RatingPoint(at, rating))
    curves = [RatingCurve(*kind, tuple(points)) for kind, points in found.items()]
    return sorted(curves, key=lambda curve: (-len(curve.points), curve.site, curve.account, curve.game))
