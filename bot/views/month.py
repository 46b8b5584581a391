"""The report for a month: games, traps, ratings, trials, costly baits and events."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from bot.base.rounding import percent, plural
from bot.charts.bars import BarCategory, BarKind, BarRow, StackedBars
from bot.charts.boards import BoardMark, MarkKind
from bot.charts.intervals import IntervalChart, IntervalRow
from bot.charts.lines import ChartLine, LineChart
from bot.charts.numbers import DIFFERENCE, RATINGS, NumberStyle
from bot.parts.values import Beside, Board, Card, Cards, ChartPart, Column, Heading, Note, Part, TablePart
from bot.text.values_text import number, time_text, title_of
from bot.text.verdict_text import sentences
from bot.views.ratings import rating_chart, rating_title
from bot.views.statistics.groups import group_name, group_tables
from storage.evidence.inference.verdict import TrialVerdict
from storage.evidence.queries.rating_curves import RatingCurve
from storage.evidence.statistics.groups import GroupStatistics
from storage.evidence.statistics.monthly import CostliestBait, MonthlyReport

_PER_CENT = NumberStyle(unit=" %")
_MAX_DAILY_POINTS = 62
"""Longest period, in days, that is shown day by day; longer periods are grouped by week."""
_TRAPS = (
    "These are traps in the sense of Gordon and Reda's paper, by its rule, at the player's depth. The "
    "baits in the other tables are replies that the model of people expects, so the numbers differ."
)
_TRIAL_HEADS = ("trial", "started", "ended", "compares", "games in this period")


def month_parts(
    report: MonthlyReport,
    title: str,
    selected: str,
    made_at: datetime,
    verdicts: Mapping[str, TrialVerdict],
) -> tuple[Part, ...]:
    """Build the whole report.

    Args:
        report: The report's data.
        title: Name of the period, for instance ``November 2026``.
        selected: The filters as text; empty for all games.
        made_at: Time when the report was made.
        verdicts: The verdict at `made_at` on each trial's planned endpoint, keyed by trial name; omits trials
            without a verdict, such as trials of more than two strategies.
    """
    games, results = sum(day.games for day in report.days), sum(day.decided for day in report.days)
    points = sum(day.points for day in report.days)
    score = f", score {points:g} of {results} ({percent(points / results, 1)})" if results else ""
    which = f"Only {selected}." if selected else "All games."
    groups = report.groups
    return (
        Heading(f"Desdemona: {title}", lead=f"{plural(games, 'game')}{score}. {which}"),
        Note(f"Made {time_text(made_at)} UTC; days and months are in UTC."),
        Beside((ChartPart("Games by day", _games(report)), ChartPart("Score", _score(report)))),
        *group_tables(groups, [group_name(each) for each in groups], report.unjudged),
        Beside(
            (
                ChartPart("Strength against rated opponents", _performance(groups)),
                ChartPart(
                    "Baits beyond expectation", _differences("Baits taken less forecast", "baits", groups)
                ),
                ChartPart("Outcomes of the traps", _fates(groups), note=_TRAPS),
                ChartPart(
                    "Errors beyond expectation", _differences("Errors less forecast", "replies", groups)
                ),
            )
        ),
        *([Beside(tuple(map(_rating, report.ratings)))] if report.ratings else []),
        *_trials(report, verdicts),
        Cards(tuple(map(_bait, report.baits)), "Most costly baits", nothing="No bait was taken."),
        TablePart(
            "Events",
            (Column("what", is_text=True), Column("times")),
            tuple((kind.replace("_", " "), number(count)) for kind, count in report.events),
            nothing="There were no events.",
        ),
    )


def _results_by_period(report: MonthlyReport) -> list[tuple[datetime, int, float, int]]:
    """Start, number of games, points and number of results, per day, or per week for a longer period."""
    step = 1 if len(report.days) <= _MAX_DAILY_POINTS else 7
    summed = []
    for start in range(0, len(report.days), step):
        some = report.days[start : start + step]
        first = some[0].day
        summed.append(
            (
                datetime(first.year, first.month, first.day, tzinfo=UTC),
                sum(day.games for day in some),
                sum(day.points for day in some),
                sum(day.decided for day in some),
            )
        )
    return summed


def _games(report: MonthlyReport) -> LineChart:
    totals = _results_by_period(report)
    counts = tuple(float(each[1]) for each in totals)
    return LineChart(
        title="Games",
        description="Number of games that began each day.",
        x_name="day",
        lines=(ChartLine("games", tuple(each[0] for each in totals), counts),),
        limits=(0.0, max(1.0, *counts)),
    )


def _score(report: MonthlyReport) -> LineChart:
    totals = _results_by_period(report)
    each_day, so_far, points, results = [], [], 0.0, 0
    for _, _, won, played in totals:
        points, results = points + won, results + played
        each_day.append(100 * won / played if played else None)
        so_far.append(100 * points / results if results else None)
    x = tuple(each[0] for each in totals)
    return LineChart(
        title="Score",
        description="Points per game with a result, each day and cumulative, in per cent.",
        x_name="day",
        lines=(ChartLine("so far", x, tuple(so_far)), ChartLine("of the day", x, tuple(each_day))),
        y_style=_PER_CENT,
        limits=(0.0, 100.0),
        references=(50.0,),
        nothing="No game has a result.",
    )


def _performance(groups: Sequence[GroupStatistics]) -> IntervalChart:
    rows = []
    for each in groups:
        found = each.performance
        values = (found.rating, found.low, found.high)
        rows.append(IntervalRow(group_name(each), found.games, *((None,) * 3 if None in values else values)))
    ratings = [row.value for row in rows if row.value is not None]
    return IntervalChart(
        title="Performance",
        description="The rating at which the actual score would be expected, by strategy and game.",
        group_name="strategy",
        value_name="performance",
        interval_name="95 %",
        count_name="games",
        rows=tuple(rows),
        style=RATINGS,
        neutral=round(sum(ratings) / len(ratings), -2) if ratings else 1500.0,
    )


def _differences(title: str, what: str, groups: Sequence[GroupStatistics]) -> IntervalChart:
    """Chart of the share of baits taken (errors, if `what` is ``replies``) minus the forecast share."""
    rows = []
    for each in groups:
        expected = each.baits if what == "baits" else each.errors
        beyond = expected.beyond_model
        values: tuple[float | None, float | None, float | None] = (None, None, None)
        if beyond.mean is not None and beyond.low is not None and beyond.high is not None:
            values = (100 * beyond.mean, 100 * beyond.low, 100 * beyond.high)
        rows.append(IntervalRow(group_name(each), expected.n, *values))
    happened = "baits were taken" if what == "baits" else "replies cost a tenth of the game"
    return IntervalChart(
        title=title,
        description=f"How much more often {happened} than forecast, in percentage points.",
        group_name="strategy",
        value_name="difference",
        interval_name="95 %, valid at any time",
        count_name=what,
        rows=tuple(rows),
        style=DIFFERENCE,
    )


def _fates(groups: Sequence[GroupStatistics]) -> StackedBars:
    return StackedBars(
        title="Traps in the paper's sense",
        description="Replies to moves that set a trap: the best reply, a fall, or another error.",
        row_name="strategy",
        categories=(
            BarCategory("best reply", BarKind.GOOD),
            BarCategory("fell", BarKind.TRAP),
            BarCategory("erred elsewhere", BarKind.SLIP),
        ),
        rows=tuple(
            BarRow(group_name(each), (each.traps_optimal, each.traps_fell, each.traps_erred_elsewhere))
            for each in groups
        ),
        total_name="traps",
    )


def _rating(curve: RatingCurve) -> ChartPart:
    name = rating_title(curve)
    times, ratings = [point.at for point in curve.points], [point.rating for point in curve.points]
    chart = rating_chart(name, "Our rating at the start of each rated game.", times, ratings)
    return ChartPart(f"Rating: {name}", chart)


def _trials(report: MonthlyReport, verdicts: Mapping[str, TrialVerdict]) -> tuple[Part, ...]:
    if not report.trials:
        return ()
    rows = tuple(
        (
            trial.name,
            time_text(trial.started_at, "%Y-%m-%d"),
            "open" if trial.ended_at is None else time_text(trial.ended_at, "%Y-%m-%d"),
            str(trial.endpoint),
            ", ".join(f"{arm} {count}" for arm, count in counts.items()),
            number(trial.games),
        )
        for trial, counts in report.trials
    )
    lines = [
        Note(f"{trial.name}: {' '.join(sentences(verdicts[trial.name]))}")
        for trial, _ in report.trials
        if trial.name in verdicts
    ]
    columns = (*(Column(name, is_text=True) for name in _TRIAL_HEADS), Column("games in all"))
    about = "Verdicts count all of a trial's games up to the time of this report."
    return TablePart("Trials", columns, rows, about), *lines


def _bait(bait: CostliestBait) -> Card:
    board = Board(
        bait.game,
        bait.rows,
        f"{title_of(bait.game)}: after our {bait.move}, {bait.opponent} replied {bait.reply}",
        bait.our_side,
        bait.move_squares,
        (BoardMark(MarkKind.BAIT, bait.bait_squares),),
    )
    text = (
        f"{bait.move}, then {bait.reply}: cost {percent(bait.cost)} of the game, "
        f"expected of {percent(bait.probability)} of people"
    )
    about = f"{bait.site} {bait.site_game_id}, {time_text(bait.at, '%Y-%m-%d')}"
    return Card(bait.opponent, "", "", board, ((text, ""),), about)
