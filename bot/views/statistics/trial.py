"""A trial's report: the verdict with its evidence, the strata, and robustness checks."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from bot.base.rounding import NO_VALUE, percent, plural
from bot.charts.figure import ChartSize
from bot.charts.intervals import IntervalChart, IntervalRow
from bot.charts.lines import ChartLine, LineChart
from bot.charts.numbers import DIFFERENCE
from bot.parts.values import Beside, ChartPart, Column, Note, Part, TableCell, TablePart, VerdictPart
from bot.text.values_text import difference, difference_interval, number, signed_number, time_text, title_of
from bot.text.verdict_text import (
    evidence,
    headline,
    label,
    level,
    lower_first,
    outcome_name,
    outlook_text,
    unjudged_text,
    warning,
)
from bot.views.addresses import query_text
from bot.views.statistics.blindness import blindness_table
from storage.evidence.inference.any_time import AnyTimeEstimate, InterimAnalyses, SequenceDesign
from storage.evidence.inference.fixed import FixedInterval
from storage.evidence.inference.games import GamesReport, Stratum
from storage.evidence.inference.sample_size import values_needed
from storage.evidence.inference.trial import EndpointReport, RandomisationCheck
from storage.evidence.inference.verdict import IntervalFinding, TrialOutcome, TrialVerdict
from storage.evidence.queries.trial_report import TrialReport
from storage.evidence.rating_bands import RatingBand
from storage.evidence.statistics.trial_rows import Unreadable
from storage.records import Endpoint

MAX_STRATA_SHOWN = 12
"""Maximum number of strata in the chart; the CSV has all of them."""
_MAX_NAMED_RECORDS = 3
"""Maximum number of damaged records listed on the page; the JSON lists all of them."""
_OUTLOOK_ELO = 50


def trial_parts(report: TrialReport, filters: Mapping[str, str]) -> tuple[Part, ...]:
    """Build the report: verdict, single decisions, strata, randomisation check, and blindness."""
    parts: list[Part] = [_verdict(report)]
    parts += [
        Note(text) for text in map(_unreadable, (report.damaged_games, report.damaged_decisions)) if text
    ]
    if report.decisions is not None:
        parts.append(_decisions(report))
    if report.games is not None:
        parts.append(Beside((_for_whom(report.games, filters), _draw(report.games, report.arms))))
    if report.blindness is not None:
        parts.append(blindness_table(report.blindness, report.arms))
    return tuple(parts)


def robustness(report: TrialReport) -> tuple[Part, ...]:
    """Show each outcome without suspect games, without the most active player, and for first games only."""
    rows = []
    for verdict in report.verdicts:
        estimates, fixed = _estimates(report, verdict)
        if verdict.finding is not IntervalFinding.TOO_EARLY or estimates.flagged:
            rows.append(_robustness_row(verdict, estimates, fixed))
    note = (
        f"Differences in percentage points; the {level(report.verdicts[0])} intervals are valid at any "
        "time, clustered by person. Intervals at one analysis use weighted least squares and are valid only "
        "at the planned sample size."
    )
    heads = ("Difference", "e-value", "Without suspect games", "Without most active person", "First games")
    columns = (Column("Outcome", is_text=True), *map(Column, (*heads, "Later games", "At one analysis")))
    parts: list[Part] = [TablePart("Robustness", columns, tuple(rows), note, nothing="Too early to say.")]
    if report.games is not None and report.trial.endpoint is Endpoint.SCORE:
        parts.append(Note(_more_games_text(report, report.games)))
    return tuple(parts)


def _verdict(report: TrialReport) -> VerdictPart:
    trial, verdict = report.trial, report.verdicts[0]
    others = report.verdicts[1:2] if report.games is not None else ()
    warnings = [warning(verdict)]
    warnings += [f"{outcome_name(each).capitalize()}: {warning(each)}" for each in others if warning(each)]
    analyses = interim_analyses(report)
    until = f", ended {time_text(trial.ended_at, '%Y-%m-%d')}" if trial.ended_at else ""
    return VerdictPart(
        tuple((label(verdict, each), each is verdict.finding) for each in IntervalFinding),
        " ".join(filter(None, warnings)),
        headline(verdict),
        tuple(filter(None, (evidence(verdict), outlook_text(verdict)))),
        tuple(f"{outcome_name(each).capitalize()}: {lower_first(headline(each))}" for each in others),
        None if report.games is None else _funnel(analyses, report.arms),
        f"Trial {trial.name}, since {time_text(trial.started_at, '%Y-%m-%d')}{until}; planned endpoint: "
        f"{trial.endpoint.value}. {plural(trial.games, 'game')}, {number(trial.open_games)} of them "
        f"running.{'' if analyses is None else _clear_since(analyses)}",
    )


def interim_analyses(report: TrialReport) -> InterimAnalyses | None:
    """The difference in score after each game; None if the report makes no comparison."""
    games = report.games
    return None if games is None or games.guard.no_comparison is not None else report.interim_analyses


def _unreadable(damaged: Sequence[Unreadable]) -> str:
    """List the omitted records with the reasons; return an empty string if no record was omitted."""
    if not damaged:
        return ""
    reasons = [
        f"{each.what} {each.id}: {each.reason}"
        if each.ply is None
        else f"{each.what} {each.id} of game {each.game_id}, ply {each.ply}: {each.reason}"
        for each in damaged[:_MAX_NAMED_RECORDS]
    ]
    if more := len(damaged) - len(reasons):
        reasons.append(f"{more} more")
    them = "it" if len(damaged) == 1 else "them"
    return (
        f"{plural(len(damaged), damaged[0].what)} cannot be read ({'; '.join(reasons)}): not counted here; "
        f"a backup may contain {them}."
    )


def _decisions(report: TrialReport) -> TablePart:
    assert report.decisions is not None  # noqa: S101 - the caller's condition
    decisions = report.decisions
    verdicts = [each for each in report.verdicts if each.unit == "decision"]
    drawn = f"{plural(decisions.drawn, 'decision')} drawn: trap {number(decisions.drawn_treated)}, no trap "
    heads = ("Decisions", "Difference", "95 %, valid at any time")
    names = (Column("What the next reply costs", is_text=True), *map(Column, heads))
    return TablePart(
        "Single decisions: with and without a trap",
        (*names, Column("Verdict", is_text=True)),
        tuple(
            (
                outcome_name(each),
                TableCell(number(each.n), plural(each.persons, "person", "people")),
                "too early" if each.mean is None else difference(each.mean),
                NO_VALUE
                if each.low is None or each.high is None
                else f"{difference(each.low)} to {difference(each.high)}",
                label(each),
            )
            for each in verdicts
        ),
        note=" ".join(
            filter(
                None,
                (
                    warning(verdicts[0]),
                    _draw_text(decisions.guard),
                    unjudged_text(decisions.unjudged, "decision"),
                    "Beyond difficulty: costs in our own search, at the player's depth; others by the judge.",
                ),
            )
        ),
        aside=f"{drawn}{number(decisions.drawn_untreated)}",
    )


def _draw(games: GamesReport, arms: Sequence[str]) -> TablePart:
    guard = games.guard
    rows: list[tuple[str, str]] = [
        (f"assigned {arms[0]}, {arms[1]}", f"{number(games.drawn_treated)}, {number(games.drawn_untreated)}"),
        ("without a result", f"{number(guard.missing_treated)}, {number(guard.missing_untreated)}"),
        ("with a result", number(games.counted)),
        ("still open, or after an open game", number(games.waiting)),
        *([("replies still being judged", number(games.unjudged))] if games.unjudged else []),
        ("beyond the limit of games per person", number(games.over_cap)),
        *((f"left out: {reason}", number(count)) for reason, count in games.excluded.items()),
    ]
    elo = games.elo
    if games.guard.no_comparison is None and elo.value is not None and elo.low is not None:
        value, low, high = (signed_number(each, 0) for each in (elo.value, elo.low, elo.high))
        rows.append(("as a difference in Elo", f"{value} ({low} to {high})"))
    columns = (Column("", is_text=True), Column(""))
    return TablePart("Random assignment", columns, tuple(rows), note=_draw_text(guard), style="facts")


def _draw_text(guard: RandomisationCheck) -> str:
    """State the result of the randomisation check."""
    if guard.draw.too_early is not None:
        return "It is too early to check the random choices."
    return "" if guard.broken else "The random choices fit the recorded probabilities."


def _clear_since(analyses: InterimAnalyses) -> str:
    """Say from which game on the interval of the score difference excludes 0; empty if it now includes 0."""
    unclear = np.flatnonzero(~analyses.has_interval | (np.abs(analyses.mean) <= analyses.half_width))
    since = int(unclear[-1]) + 1 if len(unclear) else 0
    if since == len(analyses.mean):
        return ""
    return f" From {plural(int(analyses.n[since]), 'game')} on, the interval excludes 0."


def _funnel(analyses: InterimAnalyses | None, names: Sequence[str]) -> LineChart | None:
    if analyses is None:
        return None
    readable, half = analyses.has_interval, analyses.half_width
    first = int(readable.argmax()) if readable.any() else len(analyses.mean)
    x = analyses.n[first:]
    # It may become too early again: somebody with many games makes the others count for less.
    mean, low, high = (
        np.where(readable, 100 * each, np.nan)[first:]
        for each in (analyses.mean, analyses.mean - half, analyses.mean + half)
    )
    return LineChart(
        title=f"{names[0].capitalize()} minus {names[1]}, points per hundred games",
        description="The difference in score after each game, with an interval that is valid at any time.",
        x_name="games that count",
        lines=(ChartLine("points more per 100 games", x, mean, low, high, "95 %, valid at any time"),),
        y_style=DIFFERENCE,
        references=(0.0,),
        trims_bands=True,
        size=ChartSize.FULL,
        nothing="Too early: intervals are reliable only from 100 games with 30 people on.",
    )


def _for_whom(report: GamesReport, filters: Mapping[str, str]) -> ChartPart:
    hides = report.guard.no_comparison is not None

    def row(name: str, found: AnyTimeEstimate, link: str = "") -> IntervalRow:
        if hides or found.mean is None or found.low is None or found.high is None:
            return IntervalRow(name, found.n, link=link, is_total=not link)
        values = (100 * found.mean, 100 * found.low, 100 * found.high)
        return IntervalRow(name, found.n, *values, link, not link)

    rows = (
        row(
            _stratum_text(each.stratum),
            each.score,
            f"?{query_text({**filters, **_stratum_query(each.stratum)})}",
        )
        for each in report.strata[:MAX_STRATA_SHOWN]
    )
    chart = IntervalChart(
        title="For whom?",
        description="The difference in score for groups of similar games.",
        group_name="Games",
        value_name="Points per 100 games",
        interval_name="95 %, valid at any time",
        count_name="Games",
        rows=tuple(chain((row("All games", report.score.estimate),), rows)),
        style=DIFFERENCE,
    )
    note = "Grey intervals include 0. Each interval, taken alone, misses the true value one time in twenty."
    return ChartPart("For whom?", chart, note=note, aside="points per 100 games · games")


def _stratum_text(stratum: Stratum) -> str:
    band = RatingBand(stratum.rating_from)
    return f"{title_of(stratum.game)}, {stratum.site}, {stratum.speed}, {band.text}"


def _stratum_query(stratum: Stratum) -> dict[str, str]:
    query = {"game": stratum.game, "site": stratum.site, "speed": stratum.speed}
    band = RatingBand(stratum.rating_from)
    if band.first is None:
        return query
    return {**query, "min-rating": str(band.first), "max-rating": str(band.last)}


def _estimates(report: TrialReport, verdict: TrialVerdict) -> tuple[EndpointReport, FixedInterval | None]:
    """The anytime-valid estimates of an outcome and the estimate for a single analysis."""
    if verdict.unit == "game":
        assert report.games is not None  # noqa: S101 - there is a verdict on them
        return report.games.score if verdict.outcome is TrialOutcome.SCORE else report.games.cost, None
    assert report.decisions is not None  # noqa: S101 - likewise
    outcome = {
        TrialOutcome.REPLY_COST: report.decisions.cost,
        TrialOutcome.BEYOND_DIFFICULTY: report.decisions.beyond_difficulty,
        TrialOutcome.EARNED: report.decisions.earned,
    }[verdict.outcome]
    has_fixed = verdict.mean is not None and verdict.n >= report.decisions.planned_n
    return outcome.any_time, outcome.fixed if has_fixed else None


def _robustness_row(
    verdict: TrialVerdict, found: EndpointReport, fixed: FixedInterval | None
) -> tuple[TableCell | str, ...]:
    flagged = ", ".join(f"{reason} {count}" for reason, count in found.flagged_for.items())
    if verdict.mean is None:
        return (outcome_name(verdict), "too early", "", TableCell("too early", flagged), "", "", "", "")
    largest = found.largest
    return (
        outcome_name(verdict),
        difference_interval(verdict.mean, verdict.low, verdict.high),
        f"{verdict.e_value:.2g}",
        TableCell(_estimate(found.without_flagged), flagged) if found.flagged else "none",
        ""
        if largest is None
        else TableCell(_estimate(largest.without), f"{percent(largest.share)} of the variance"),
        _estimate(found.first_games),
        _estimate(found.later_games),
        "" if fixed is None else _fixed(fixed),
    )


def _estimate(found: AnyTimeEstimate) -> str:
    return difference_interval(found.mean, found.low, found.high)


def _fixed(found: FixedInterval) -> str:
    """The estimate and interval for a single analysis, or the reason why there is no interval."""
    if found.value is None or found.low is None:
        return f"{found.too_early}"
    return difference_interval(found.value, found.low, found.high)


def _more_games_text(report: TrialReport, games: GamesReport) -> str:
    """Say how many more games are needed to detect a difference in Elo, given the mean and the spread so
    far."""
    trial, wanted = report.trial, f"a difference of {_OUTLOOK_ELO} Elo"
    effect = _OUTLOOK_ELO * games.elo.score_per_elo
    unknown = f"`desdemona stats --plan` shows how many games are needed to detect {wanted}."
    if effect == 0:  # no games, or only certain results
        return unknown
    try:
        needed = values_needed(games.score.estimate, effect, SequenceDesign(trial.planned_n, trial.alpha))
    except ValueError:  # the effect is more than 0, so too many are needed
        return f"With scores like these, {wanted} needs more than 10^12 games."
    if needed is None:
        return unknown
    if needed == 0:
        return f"There are already enough games to detect {wanted}."
    return f"To detect {wanted}: about {plural(needed, 'more game')}."
