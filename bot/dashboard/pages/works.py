"""Does it work? The trial's verdict with its evidence, and what happened in all games, player by player."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import numpy as np
from markupsafe import Markup

from bot.base.rounding import counted
from bot.charts.figure import ChartSize
from bot.charts.intervals import IntervalChart, IntervalRow, interval_rows
from bot.charts.line_chart import line_chart
from bot.charts.lines import ChartLine, LineChart, MarkedPoint, Reference
from bot.charts.numbers import NumberStyle
from bot.dashboard.page import Page, Query, Rows
from bot.dashboard.rendering import NO_VALUE, query_text, signed, title_of
from storage.database import Database
from storage.evidence.inference.any_time import AnyTimeEstimate, Looks, SequenceDesign
from storage.evidence.inference.defaults import RATING_BAND
from storage.evidence.inference.games import GamesReport, Stratum
from storage.evidence.inference.persons import Floats
from storage.evidence.queries.filter_language import OF_GAMES, filter_texts
from storage.evidence.queries.trial_report import KnownGames, TrialReport, read_trial, terms_of
from storage.evidence.reading import SHOWN, passing_games, read_games
from storage.evidence.statistics.group_rows import groups_of_games
from storage.evidence.statistics.groups import By, GroupStatistics, flat_row

LEAST_GAMES = 100
"""Counted games of each player before a verdict."""
WIDEST = 0.15
"""Half-width of an interval, in points a game, that is too wide for a verdict."""
NEGLIGIBLE = 0.03
"""A difference within this many points a game, either way, is none worth the name."""
MOST_STRATA = 12
"""Strata that are drawn; CSV has all."""
BY_DRAW = ("player", "version", "settings")
"""Filters by what the lot decided: what they leave could not be compared."""

_POINTS = NumberStyle(decimals=1, is_signed=True)


class Verdict(Enum):
    """What a trial says so far; the value is for people, with the players' names in braces."""

    TOO_EARLY = "Too early to say"
    NOT_CLEAR = "Not clear yet"
    NO_DIFFERENCE = "No difference worth the name"
    MORE = "{first} scores more"
    LESS = "{second} scores more"


@dataclass(frozen=True, slots=True)
class WorksView:
    """What the page shows."""

    report: TrialReport | None
    """None: there has been no trial."""
    looks: Looks | None
    """The difference in score after each game; None: nothing is compared."""
    verdict: Verdict | None
    more_games: int | None
    """So many games more until the interval is a third narrower; None: it cannot be told."""
    games_to_know: int | None
    """So many games more until the verdict is clear if the difference stays what it is; None: not told."""
    groups: tuple[GroupStatistics, ...]
    """All games that pass the filters, by game and player."""
    filters: Mapping[str, str]

    @property
    def score(self) -> AnyTimeEstimate | None:
        """The difference in score, first player less second."""
        return None if self.report is None or self.report.games is None else self.report.games.score.estimate

    @property
    def too_early(self) -> str | None:
        """Why no difference is shown, not even its mean; None: it is."""
        games = None if self.report is None else self.report.games
        return None if games is None else too_early(games)

    @staticmethod
    def beyond(found: AnyTimeEstimate) -> str:
        """What happened less what was forecast, in points of a hundred, with its interval."""
        if found.mean is None:
            return NO_VALUE
        if found.low is None or found.high is None:
            return "too early"
        return f"{signed(100 * found.mean)} ({signed(100 * found.low)} to {signed(100 * found.high)})"

    @property
    def names(self) -> tuple[str, str]:
        """The two players; empty if there is no comparison."""
        if self.report is None or len(self.report.arms) != 2:
            return "", ""
        first, second = self.report.arms
        return first, second

    @property
    def verdicts(self) -> list[tuple[str, bool]]:
        """Every verdict in words, and whether it is this one."""
        first, second = self.names
        return [
            (each.value.format(first=first.capitalize(), second=second.capitalize()), each is self.verdict)
            for each in Verdict
        ]

    @property
    def is_broken(self) -> tuple[str, ...]:
        """Why the lot cannot be trusted; empty: it can."""
        games = None if self.report is None else self.report.games
        return () if games is None else tuple(games.guard.broken)

    def funnel(self) -> Markup:
        """The difference after each game."""
        return Markup() if self.looks is None else line_chart(_funnel(self.looks, self.names))

    def strata(self) -> Markup:
        """The difference by game, site, speed and rating band."""
        if self.report is None or self.report.games is None:
            return Markup()
        return interval_rows(_for_whom(self.report.games, self.filters))

    def to_json(self) -> dict[str, Any]:
        """See `bot.dashboard.page.View.to_json`."""
        report = self.report
        trial: dict[str, Any] | None = None
        if report is not None:
            trial = {
                "name": report.trial.name,
                "arms": report.arms,
                "endpoint": report.trial.endpoint.value,
                "verdict": None if self.verdict is None else self.verdict.name.lower(),
                "more_games": self.more_games,
                "games_to_know": self.games_to_know,
                "games": None if report.games is None else report.games.to_json(),
                "decisions": None if report.decisions is None else report.decisions.to_json(),
                "unreadable": [each.to_json() for each in (*report.damaged_games, *report.damaged_decisions)],
            }
        return {"trial": trial, "groups": [each.to_json() for each in self.groups]}

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.dashboard.page.View.tables`."""
        return {
            "groups": [flat_row(each.to_json()) for each in self.groups],
            "strata": []
            if self.report is None or self.report.games is None
            else _stratum_rows(self.report.games),
            "funnel": [] if self.looks is None else _look_rows(self.looks),
        }


def too_early(report: GamesReport) -> str | None:
    """Why no difference in score is shown, not even its mean, as `stats --trial` says it; None: it is."""
    return report.guard.lacks_an_arm(report) or report.score.estimate.too_early


def verdict_of(report: GamesReport) -> Verdict:
    """What the games say; see the operator's guide, "The dashboard"."""
    score, guard = report.score.estimate, report.guard
    fewest = min(
        report.drawn_treated - guard.missing_treated, report.drawn_untreated - guard.missing_untreated
    )
    if fewest < LEAST_GAMES or score.low is None or score.high is None or score.high - score.low > 2 * WIDEST:
        return Verdict.TOO_EARLY
    if score.low > 0:
        return Verdict.MORE
    if score.high < 0:
        return Verdict.LESS
    if score.low >= -NEGLIGIBLE and score.high <= NEGLIGIBLE:
        return Verdict.NO_DIFFERENCE
    return Verdict.NOT_CLEAR


def games_until_narrower(score: AnyTimeEstimate, design: SequenceDesign) -> int | None:
    """How many games more make the interval a third narrower, by the deviation so far; None: there is no
    interval, or a million do not."""
    if score.low is None or not score.sd:
        return None
    return _games_until(score.n, float(design.width(score.n)) * 2 / 3, design)


def games_until_known(score: AnyTimeEstimate, design: SequenceDesign) -> int | None:
    """How many games more make the verdict clear, if mean and deviation stay what they are.

    It is clear when the interval leaves 0, or lies within `NEGLIGIBLE` of it.  None: there is no interval, or
    a million games do not.
    """
    if score.low is None or score.mean is None or not score.sd:
        return None
    wanted = max(abs(score.mean), NEGLIGIBLE - abs(score.mean)) / score.sd
    return _games_until(score.n, wanted, design)


def _games_until(n: int, width: float, design: SequenceDesign) -> int | None:
    """How many games more than `n` make half of an interval so wide, in deviations; None: over a million."""
    low, high = n - 1, n + 1_000_000
    if float(design.width(high)) > width:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if float(design.width(middle)) <= width else (middle, high)
    return high - n


def _funnel(looks: Looks, names: tuple[str, str]) -> LineChart:
    readable, half = looks.readable, looks.half_width
    first = int(readable.argmax()) if readable.any() else len(looks.mean)
    x = looks.n[first:]

    def shown(values: Floats) -> Floats:
        # It may become too early again: somebody with many games makes the others count for less.
        return np.where(readable, 100 * values, np.nan)[first:]

    mean, low, high = shown(looks.mean), shown(looks.mean - half), shown(looks.mean + half)
    is_clear = readable & (np.abs(looks.mean) > half)
    unclear = np.flatnonzero(~is_clear[first:])
    clear = int(unclear[-1]) + 1 if len(unclear) else 0
    mark = None
    if clear < len(x):
        mark = MarkedPoint(float(x[clear]), 0.0, "clear of 0", f"after {counted(int(x[clear]), 'game')}")
    return LineChart(
        title=f"{names[0].capitalize()} less {names[1]}, points in a hundred games",
        description="The difference in score after each game, with its interval, right at every moment.",
        x_name="games that count",
        lines=(ChartLine("points more per 100 games", x, mean, low, high, "95 % at every moment"),),
        y_style=_POINTS,
        references=(Reference(0.0),),
        mark=mark,
        trims_bands=True,
        size=ChartSize.FULL,
        nothing="Too early: no interval can be trusted before 100 games with 30 people.",
    )


def _for_whom(report: GamesReport, filters: Mapping[str, str]) -> IntervalChart:
    hides = too_early(report) is not None

    def row(label: str, found: AnyTimeEstimate, link: str, *, is_total: bool = False) -> IntervalRow:
        if hides or found.low is None or found.high is None:
            return IntervalRow(label, found.n, link=link, is_total=is_total)
        mean = None if found.mean is None else 100 * found.mean
        return IntervalRow(label, found.n, mean, 100 * found.low, 100 * found.high, link, is_total)

    rows = [row("All games", report.score.estimate, "", is_total=True)]
    rows += [
        row(
            stratum_text(each.stratum),
            each.score,
            f"?{query_text({**filters, **_stratum_query(each.stratum)})}",
        )
        for each in report.strata[:MOST_STRATA]
    ]
    return IntervalChart(
        title="For whom?",
        description="The difference in score for groups of games that are alike.",
        group_name="Games",
        value_name="Points per 100 games",
        interval_name="95 %, at any time",
        count_name="Games",
        rows=tuple(rows),
        style=_POINTS,
    )


def stratum_text(stratum: Stratum) -> str:
    """A stratum for people."""
    least = stratum.rating_from
    band = "unrated" if least is None else f"{least} to {least + RATING_BAND - 1}"
    return f"{title_of(stratum.game)}, {stratum.site}, {stratum.speed}, {band}"


def _stratum_query(stratum: Stratum) -> dict[str, str]:
    query = {"game": stratum.game, "site": stratum.site, "speed": stratum.speed}
    if stratum.rating_from is not None:
        query |= {
            "min-rating": str(stratum.rating_from),
            "max-rating": str(stratum.rating_from + RATING_BAND - 1),
        }
    return query


def _stratum_rows(report: GamesReport) -> Rows:
    """One row a stratum; a difference for which it is too early is left out, as in the JSON."""
    hides = too_early(report) is not None
    rows = []
    for each in report.strata:
        found = each.score
        shown = None if hides or found.too_early is not None else found
        rows.append(
            {
                **asdict(each.stratum),
                "games": found.n,
                "persons": found.persons,
                "score": None if shown is None else shown.mean,
                "low": None if shown is None else shown.low,
                "high": None if shown is None else shown.high,
            }
        )
    return rows


def _look_rows(looks: Looks) -> Rows:
    """One row a game from the first that may be read."""
    half = looks.half_width
    return [
        {"games": at + 1, "score": float(mean), "low": float(mean - half[at]), "high": float(mean + half[at])}
        for at, mean in enumerate(looks.mean)
        if looks.readable[at]
    ]


async def _load(database: Database, query: Query) -> WorksView:
    """See `bot.dashboard.page.Page.load`."""
    filters = query.filters
    at = datetime.now(UTC)
    async with database.read() as session:
        shown = await read_games(session, SHOWN)
        games = KnownGames(shown, await passing_games(session, shown, filters))
        read = await groups_of_games(session, filters, shown, (By.GAME, By.PLAYER))
        arms = query.own.get("arms") or None
        trial = await read_trial(session, filters.trial, arms, filters, games)
    # After the transaction, which others may wait for, and not on the event loop, where moves are made.
    groups = await asyncio.to_thread(read.statistics)
    report = None if trial is None else await asyncio.to_thread(trial.report, at)
    verdict = more = known = None
    looks = None
    if report is not None and report.games is not None:
        verdict, terms = verdict_of(report.games), terms_of(report.trial)
        if report.games.guard.lacks_an_arm(report.games) is None:
            looks = report.looks
            score, design = report.games.score.estimate, terms.design(terms.opt_games)
            more, known = games_until_narrower(score, design), games_until_known(score, design)
    return WorksView(report, looks, verdict, more, known, tuple(groups), filter_texts(filters))


def works_page() -> Page:
    """The page."""
    return Page(
        "works",
        "/dash/works",
        "Does it work?",
        _load,
        parameters=frozenset({"arms"}),
        filters=tuple(name for name in OF_GAMES if name not in BY_DRAW),
        fresh_s=30.0,
    )
