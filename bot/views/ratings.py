"""Our ratings: a curve for each rating that a site keeps of an account."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.base.dialects import rating_list_of
from bot.charts.figure import ChartSize
from bot.charts.lines import ChartLine, LineChart
from bot.charts.numbers import RATINGS
from bot.parts.values import Beside, ChartPart, Column, Heading, PartsView, Rows, TablePart
from bot.text.values_text import ago, number, signed_number, title_of
from bot.views.page import Page, Query
from storage.database import Database
from storage.evidence.queries.filter_language import OF_GAMES
from storage.evidence.queries.rating_curves import RatingCurve, rating_curves

MAX_CURVES = 12
"""Maximum number of curves in the chart; the table shows all."""
_RATING_CHANGE_PERIOD = timedelta(days=30)
_HEADS = ("Rating", "30 days", "Lowest", "Highest", "Rated games", "Last")


def rating_title(curve: RatingCurve) -> str:
    """Name a rating: ``Chess, blitz, desdemona at lichess``."""
    kind = curve.speed.replace("_", " ")
    return ", ".join(filter(None, (title_of(curve.game), kind, f"{curve.account} at {curve.site}")))


def rating_chart(
    title: str, description: str, times: Sequence[datetime], ratings: Sequence[int]
) -> LineChart:
    """Build a chart of our rating at the start of each game."""
    return LineChart(
        title=title,
        description=description,
        x_name="start of the game",
        lines=(ChartLine("rating", tuple(times), tuple(ratings)),),
        y_style=RATINGS,
        size=ChartSize.HALF,
    )


def _figure(curve: RatingCurve) -> ChartPart:
    about = "Our rating at the start of each rated game."
    times, ratings = [point.at for point in curve.points], [point.rating for point in curve.points]
    return ChartPart(rating_title(curve), rating_chart(rating_title(curve), about, times, ratings))


def ratings_view(curves: Sequence[RatingCurve], now: datetime) -> PartsView:
    """Build the ratings page from the curves."""
    change = {id(curve): curve.change_since(now - _RATING_CHANGE_PERIOD) for curve in curves}
    table = TablePart(
        "At the start of the latest game",
        (Column("Games", is_text=True), *map(Column, _HEADS)),
        tuple(
            (
                rating_title(curve),
                str(curve.now),
                signed_number(change[id(curve)], 0),
                str(curve.lowest),
                str(curve.highest),
                number(len(curve.points)),
                ago(curve.points[-1].at, now),
            )
            for curve in curves
        ),
    )
    empty = Heading(
        "No rated games yet.", lead="The curve begins with the first rated game that matches these filters."
    )
    shown = (Heading("Our ratings over time."), table, Beside(tuple(map(_figure, curves[:MAX_CURVES]))))

    def of_curve(curve: RatingCurve) -> dict[str, Any]:
        figures = {"now": curve.now, "change_30_days": change[id(curve)]}
        return {**asdict(curve), **figures, "lowest": curve.lowest, "highest": curve.highest}

    def points_of(curve: RatingCurve) -> Rows:
        keys = ("site", "account", "game", "speed")
        return [{**{key: getattr(curve, key) for key in keys}, **asdict(point)} for point in curve.points]

    return PartsView(
        shown if curves else (empty,),
        lambda: {"curves": [of_curve(curve) for curve in curves]},
        lambda: {"curves": [point for curve in curves for point in points_of(curve)]},
    )


async def load(database: Database, query: Query) -> PartsView:
    """See `bot.views.page.Page.load`."""
    async with database.read() as session:
        return ratings_view(await rating_curves(session, query.filters, rating_list_of), datetime.now(UTC))


PAGE = Page(
    "ratings",
    "/dash/ratings",
    "Ratings",
    load,
    filters=tuple(name for name in OF_GAMES if name not in ("rated", "match")),
    cache_ttl_s=10.0,
)
