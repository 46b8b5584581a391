"""Our ratings: a curve for each account, game and speed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from markupsafe import Markup

from bot.charts.figure import ChartSize
from bot.charts.line_chart import line_chart
from bot.charts.lines import ChartLine, LineChart
from bot.charts.numbers import NumberStyle
from bot.text.values_text import title_of
from bot.views.page import Page, Query, Rows
from storage.database import Database
from storage.evidence.queries.filter_language import OF_GAMES
from storage.evidence.queries.rating_curves import RatingCurve, rating_curves

SHOWN = 12
"""Curves that are drawn; the table has all."""
_RATINGS = NumberStyle(is_grouped=False)


@dataclass(frozen=True, slots=True)
class RatingsView:
    """The contents of the page."""

    curves: tuple[RatingCurve, ...]
    now: datetime

    @property
    def shown(self) -> tuple[RatingCurve, ...]:
        """The curves that are drawn."""
        return self.curves[:SHOWN]

    def month_change(self, curve: RatingCurve) -> int | None:
        """Change of a rating over 30 days; None: no earlier game."""
        return curve.change_since(self.now - timedelta(days=30))

    @staticmethod
    def name(curve: RatingCurve) -> str:
        """A curve's title."""
        return f"{title_of(curve.game)}, {curve.speed}, {curve.account} at {curve.site}"

    def chart(self, curve: RatingCurve) -> Markup:
        """A curve, drawn."""
        line = ChartLine(
            "rating", tuple(point.at for point in curve.points), tuple(point.rating for point in curve.points)
        )
        return line_chart(
            LineChart(
                title=self.name(curve),
                description=f"Our rating at the start of each of {len(curve.points)} rated games.",
                x_name="start of the game",
                lines=(line,),
                y_style=_RATINGS,
                size=ChartSize.HALF,
            )
        )

    def to_json(self) -> dict[str, Any]:
        """See `bot.views.page.View.to_json`."""
        return {
            "curves": [
                {
                    **asdict(curve),
                    "now": curve.now,
                    "change_30_days": self.month_change(curve),
                    "lowest": curve.lowest,
                    "highest": curve.highest,
                }
                for curve in self.curves
            ]
        }

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.views.page.View.tables`."""
        return {
            "curves": [
                {
                    "site": curve.site,
                    "account": curve.account,
                    "game": curve.game,
                    "speed": curve.speed,
                    "at": point.at,
                    "rating": point.rating,
                }
                for curve in self.curves
                for point in curve.points
            ]
        }


async def load(database: Database, query: Query) -> RatingsView:
    """See `bot.views.page.Page.load`."""
    async with database.read() as session:
        return RatingsView(tuple(await rating_curves(session, query.filters)), datetime.now(UTC))


PAGE = Page(
    "ratings",
    "/dash/ratings",
    "Ratings",
    load,
    filters=tuple(name for name in OF_GAMES if name not in ("rated", "match")),
    fresh_s=10.0,
)
