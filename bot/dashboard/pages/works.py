""" "Does it work?": the trial's verdict with its evidence, and the results of all games by player."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from markupsafe import Markup

from bot.base.rounding import NO_VALUE, counted
from bot.charts.figure import ChartSize
from bot.charts.intervals import IntervalChart, IntervalRow, interval_rows
from bot.charts.line_chart import line_chart
from bot.charts.lines import ChartLine, LineChart, MarkedPoint, Reference
from bot.charts.numbers import NumberStyle
from bot.dashboard.page import Page, Query, Rows
from bot.dashboard.rendering import query_text
from bot.views.values_text import signed, title_of
from bot.views.verdict_text import evidence, headline, label, lower_first, outcome_name, outlook, warning
from storage.database import Database
from storage.evidence.inference.any_time import AnyTimeEstimate, InterimAnalyses
from storage.evidence.inference.defaults import RATING_BAND
from storage.evidence.inference.games import GamesReport, Stratum
from storage.evidence.inference.persons import Floats
from storage.evidence.inference.verdict import IntervalFinding, TrialVerdict
from storage.evidence.queries.filter_language import OF_GAMES, filter_texts
from storage.evidence.queries.trial_report import TrialReport, read_trial
from storage.evidence.statistics.group_rows import read_groups
from storage.evidence.statistics.groups import By, GroupStatistics, flat_row

MOST_STRATA = 12
"""Strata that are drawn; CSV has all."""
BY_DRAW = ("player", "version", "settings")
"""Filters by randomised properties: the remaining games could not be compared."""

_POINTS = NumberStyle(decimals=1, is_signed=True)


@dataclass(frozen=True, slots=True)
class WorksView:
    """The contents of the page."""

    report: TrialReport | None
    """None: there has been no trial."""
    interim_analyses: InterimAnalyses | None
    """The difference in score after each game; None: nothing is compared."""
    groups: tuple[GroupStatistics, ...]
    """All games that pass the filters, by game and player."""
    filters: Mapping[str, str]

    @property
    def verdict(self) -> TrialVerdict | None:
        """The verdict on the trial's planned outcome; None: there is no trial."""
        return None if self.report is None else self.report.verdicts[0]

    @property
    def headline(self) -> str:
        """The verdict in one sentence."""
        return "" if self.verdict is None else headline(self.verdict)

    @property
    def warning(self) -> str:
        """Why the results are invalid; empty: they are valid."""
        return "" if self.verdict is None else warning(self.verdict)

    @property
    def decisions(self) -> Sequence[tuple[str, TrialVerdict, str]]:
        """The outcomes of single decisions: name, verdict, and the verdict in words."""
        verdicts = () if self.report is None else self.report.verdicts
        return [(outcome_name(each), each, label(each)) for each in verdicts if each.unit == "decision"]

    @property
    def shows_elo(self) -> bool:
        """Whether the difference in score is shown as one in Elo."""
        games = None if self.report is None else self.report.games
        if games is None or games.guard.lacks_an_arm(games) is not None:
            return False
        return games.elo.value is not None and games.elo.low is not None

    @property
    def verdict_sentences(self) -> Sequence[str]:
        """See `bot.views.verdict_text`; the headline is the template's."""
        said = () if self.verdict is None else (evidence(self.verdict), outlook(self.verdict))
        return [each for each in said if each]

    @property
    def other_verdicts(self) -> Sequence[str]:
        """The headlines of the other outcomes of games, which are exploratory."""
        others = () if self.report is None or self.report.games is None else self.report.verdicts[1:2]
        return [f"{outcome_name(each).capitalize()}: {lower_first(headline(each))}" for each in others]

    @staticmethod
    def beyond(found: AnyTimeEstimate) -> str:
        """Observed less forecast, in percentage points, with its interval."""
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
    def findings(self) -> list[tuple[str, bool]]:
        """All possible findings in words, each with whether it is this verdict's."""
        verdict = self.verdict
        if verdict is None:
            return []
        return [(label(verdict, each), each is verdict.finding) for each in IntervalFinding]

    def funnel(self) -> Markup:
        """The difference after each game."""
        return (
            Markup()
            if self.interim_analyses is None
            else line_chart(_funnel(self.interim_analyses, self.names))
        )

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
                "verdict": report.verdicts[0].finding,
                "verdicts": [each.to_json() for each in report.verdicts],
                "more_games": report.verdicts[0].more_to_narrow,
                "games_to_know": report.verdicts[0].more,
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
            "funnel": [] if self.interim_analyses is None else _interim_rows(self.interim_analyses),
        }


def _funnel(interim_analyses: InterimAnalyses, names: tuple[str, str]) -> LineChart:
    readable, half = interim_analyses.readable, interim_analyses.half_width
    first = int(readable.argmax()) if readable.any() else len(interim_analyses.mean)
    x = interim_analyses.n[first:]

    def shown(values: Floats) -> Floats:
        # It may become too early again: somebody with many games makes the others count for less.
        return np.where(readable, 100 * values, np.nan)[first:]

    mean, low, high = (
        shown(interim_analyses.mean),
        shown(interim_analyses.mean - half),
        shown(interim_analyses.mean + half),
    )
    is_clear = readable & (np.abs(interim_analyses.mean) > half)
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
    hides = report.guard.lacks_an_arm(report) is not None

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
    hides = report.guard.lacks_an_arm(report) is not None
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


def _interim_rows(interim_analyses: InterimAnalyses) -> Rows:
    """One row a game from the first that may be read."""
    half = interim_analyses.half_width
    return [
        {"games": at + 1, "score": float(mean), "low": float(mean - half[at]), "high": float(mean + half[at])}
        for at, mean in enumerate(interim_analyses.mean)
        if interim_analyses.readable[at]
    ]


async def _load(database: Database, query: Query) -> WorksView:
    """See `bot.dashboard.page.Page.load`."""
    filters = query.filters
    at = datetime.now(UTC)
    async with database.read() as session:
        read = await read_groups(session, filters, (By.GAME, By.PLAYER))
        trial = await read_trial(session, filters.trial, query.own.get("arms") or None, filters)
    # After the transaction, which others may wait for, and not on the event loop, where moves are made.
    groups = await asyncio.to_thread(read.statistics)
    report = None if trial is None else await asyncio.to_thread(trial.report, at)
    interim_analyses = None
    if report is not None and report.games is not None:
        is_comparison = report.games.guard.lacks_an_arm(report.games) is None
        interim_analyses = report.interim_analyses if is_comparison else None
    return WorksView(report, interim_analyses, tuple(groups), filter_texts(filters))


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
