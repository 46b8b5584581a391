"""Formats statistics as rich tables, or as rows of plain values.  Prints nothing."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from bot.base.log import printable
from bot.base.rounding import counted, half_up, percent
from bot.cli.rich_tables import NONE, performance_text
from bot.views.verdict_text import evidence, label, lower_first
from storage.damage import Unreadable
from storage.evidence.inference.any_time import AnyTimeEstimate, SequenceDesign
from storage.evidence.inference.decisions import DecisionsReport
from storage.evidence.inference.fixed import FixedInterval
from storage.evidence.inference.games import EloDifference, GamesReport
from storage.evidence.inference.plan import more_needed
from storage.evidence.inference.trial import EndpointReport, RandomisationCheck, TrialCounts
from storage.evidence.inference.verdict import (
    IntervalFinding,
    TrialOutcome,
    TrialVerdict,
    decisions_verdicts,
    games_verdicts,
)
from storage.evidence.queries.trial_report import terms_of
from storage.evidence.statistics.groups import Expected, GroupStatistics, flat_row
from storage.evidence.trials import StoredTrial
from storage.records import Endpoint

ACROSS = 4
"""Groups beside each other in a table."""
_PLANNED = " (planned endpoint)"
_EXPLORATORY = " (exploratory)"
_MOVES = ("trap", "no trap")
"""The two arms of a single decision."""
_ONE_LOOK = "at one look planned beforehand"
_WANTED_ELO = 50
_NAMED = 3
"""Damaged records that a table names; JSON has them all."""

# The terminal wraps it, so it is one line.
_LEGEND = (
    "Replies in positions that were not decided, the first 50 games of each opponent. chance: of somebody "
    "who moves at random in the same positions; forecast: of people there, by the model of the game. An "
    "error costs 10 % of expected score or more. A bait is a likely error that looks at least as good as "
    "the best reply to a shorter search, confirmed by a longer one. Figure 9: the paper's traps (Gordon & "
    "Reda 2006), in expected score. Intervals (95 %) are right however often one looks, and allow for "
    "opponents who return; only that of the performance rating is right at one look alone, and takes "
    "games as independent."
)


def groups_view(found: Sequence[GroupStatistics]) -> RenderableType:
    """Tables with a column for each group and a row for each number, and a legend."""
    parts = [_groups_table(found[start : start + ACROSS]) for start in range(0, len(found), ACROSS)]
    return Group(*parts, _LEGEND)


def _groups_table(found: Sequence[GroupStatistics]) -> Table:
    table = Table(title="Games and replies")
    table.add_column("")
    for each in found:
        table.add_column("\n".join(each.group.values()), justify="right")

    def add(name: str, values: Sequence[object], *, last: bool = False) -> None:
        table.add_row(name, *(str(value) for value in values), end_section=last)

    def add_expected(name: str, some: Sequence[Expected]) -> None:
        add(name, [percent(each.happened, 1) for each in some])
        add("  chance", [percent(each.chance, 1) for each in some])
        add("  forecast", [percent(each.model, 1) for each in some])
        add("  beyond chance", [points(each.beyond_chance) for each in some])
        add("  beyond forecast", [points(each.beyond_model) for each in some], last=True)

    add("games (opponents)", [f"{each.games} ({each.persons})" for each in found])
    add("won / drawn / lost", [f"{each.wins} / {each.draws} / {each.losses}" for each in found])
    add("unfinished", [each.unfinished for each in found])
    add("performance rating", [performance_text(each.performance) for each in found], last=True)
    add("replies judged", [each.replies for each in found])
    add("  optimal", [_part(each.optimal, each.replies) for each in found])
    add("in decided positions", [each.decided for each in found], last=True)
    add_expected("errors", [each.errors for each in found])
    add_expected("mean cost of a reply", [each.cost for each in found])
    add("tempting traps answered", [each.baits_set for each in found])
    add_expected("bait taken", [each.baits for each in found])
    add("Figure 9: traps answered", [each.traps_set for each in found])
    add("  optimal", [each.traps_optimal for each in found])
    add("  fell", [each.traps_fell for each in found])
    add("    into the best trap", [each.traps_fell_for_best for each in found])
    add("  erred elsewhere", [each.traps_erred_elsewhere for each in found])
    add_expected("fell", [each.falls for each in found])
    return table


def group_rows(found: Sequence[GroupStatistics]) -> list[dict[str, Any]]:
    """Flat rows; nested names are joined by ``_``."""
    return [flat_row(each.to_json()) for each in found]


def points(found: AnyTimeEstimate) -> str:
    """A difference in points of a hundred, for instance ``+1.1 (-4.4 to +6.6)``."""
    if found.mean is None:
        return NONE
    if found.low is None or found.high is None:
        return f"{_signed(found.mean)}, too early"
    return f"{_signed(found.mean)} ({_signed(found.low)} to {_signed(found.high)})"


def _signed(share: float) -> str:
    return f"{half_up(100 * share, 1):+.1f}"


def _part(count: int, of: int) -> str:
    return NONE if not of else f"{count} = {percent(count / of, 1)}"


def trial_view(
    trial: StoredTrial, arms: tuple[str, str], report: GamesReport, damaged: Sequence[Unreadable] = ()
) -> RenderableType:
    """A trial's report: first arm less second; the planned endpoint before the other.

    `damaged` are the games that it has to leave out.
    """
    score, cost = report.score, report.cost
    verdicts = {each.outcome: each for each in games_verdicts(report, arms, trial.endpoint, terms_of(trial))}
    unusable = _warning(report.guard, "one player's games lack a result more often")
    cost_unusable = _warning(
        report.cost_guard, "one player's games lack judged replies more often", "DO NOT USE THE COST"
    )
    parts = {
        Endpoint.SCORE: _endpoint(
            f"score{_role(trial, Endpoint.SCORE)}", score, verdicts[TrialOutcome.SCORE], _elo(report.elo)
        ),
        Endpoint.COST: [
            *cost_unusable,
            *_endpoint(f"cost{_role(trial, Endpoint.COST)}", cost, verdicts[TrialOutcome.COST], "per reply"),
        ],
    }
    lines = [
        *unusable,
        *cost_unusable,
        f"Trial {trial.name}: {arms[0]} less {arms[1]}, since {trial.started_at:%Y-%m-%d}"
        + ("." if trial.ended_at is None else f", ended {trial.ended_at:%Y-%m-%d}."),
        f"{_drawn(report, arms, 'game')}; {report.counted:,} counted, "
        f"{counted(score.estimate.persons, 'person')} (P {score.estimate.effective_persons:.0f}).  "
        f"{_guard(report.guard)}",
        *_left_out(report),
        *_unreadable(damaged),
        "",
        *parts.pop(trial.endpoint),
        *(line for part in parts.values() for line in part),
        "",
        *([_more(trial, report), ""] if trial.endpoint is Endpoint.SCORE else []),
    ]
    table = Table(title="By stratum (each by itself)")
    for name in ("game", "site", "speed", "rating", "games", "score", "cost per reply"):
        table.add_column(name, justify="left" if name in ("game", "site", "speed") else "right")
    for each in report.strata:
        least = each.stratum.rating_from
        table.add_row(
            each.stratum.game,
            each.stratum.site,
            each.stratum.speed,
            "unrated" if least is None else f"from {least}",
            str(each.score.n),
            _difference(each.score),
            _difference(each.cost),
        )
    legend = f"{_level(trial)} intervals, right at any time, by person."
    return Group(*lines, *([table] if report.strata else []), legend)


def decisions_view(
    trial: StoredTrial, report: DecisionsReport, damaged: Sequence[Unreadable] = ()
) -> RenderableType:
    """The single decisions of a trial: a move that sets a trap, less one that sets none.

    `damaged` are those that it has to leave out.
    """
    cost = report.cost.any_time.estimate
    lines = [
        *_warning(report.guard, "replies to one of the two moves are missing more often"),
        f"Trial {trial.name}: single randomised decisions, a trap less none, "
        f"since {trial.started_at:%Y-%m-%d}.",
        f"{_drawn(report, _MOVES, 'decision')}; {report.counted:,} counted, "
        f"{counted(cost.persons, 'person')} (P {cost.effective_persons:.0f}).  {_guard(report.guard)}",
        *_left_out(report, "decision"),
        *_unreadable(damaged),
        "",
    ]
    planned = len(trial.arms) == 1
    verdicts = decisions_verdicts(report, terms_of(trial), is_planned=planned)
    has_fixed = verdicts[0].finding is not IntervalFinding.TOO_EARLY and cost.n >= report.planned_n
    names = (f"cost{_PLANNED if planned else _EXPLORATORY}", f"beyond difficulty{_EXPLORATORY}")
    for name, outcome, verdict in zip(
        (*names, f"earned{_EXPLORATORY}"),
        (report.cost, report.beyond_difficulty, report.earned),
        verdicts,
        strict=True,
    ):
        lines += _endpoint(name, outcome.any_time, verdict, "")
        if has_fixed:
            lines += [
                f"  {_ONE_LOOK}, by another estimator (weighted least squares): {_fixed(outcome.fixed)}"
            ]
    held = f"right at any time, by person{f'; those {_ONE_LOOK} are right only there' if has_fixed else ''}."
    legend = (
        "cost: of the next reply, in shares of a game; beyond difficulty: less the mean of all replies; "
        f"earned: less what we gave up.  {_level(trial)} intervals, {held}"
    )
    return Group(*lines, "", legend)


def _fixed(found: FixedInterval) -> str:
    """The interval of enough persons; there may be none for want of data that determine it."""
    if found.value is None or found.low is None or found.high is None:
        return f"{found.too_early}"
    return f"{found.value:+.4f} ({found.low:+.4f} to {found.high:+.4f})"


def _drawn(report: TrialCounts, arms: tuple[str, str], unit: str) -> str:
    """For instance ``5 games drawn: trappy 5, standard 0``."""
    treated, untreated = report.drawn_treated, report.drawn_untreated
    return f"{counted(report.drawn, unit)} drawn: {arms[0]} {treated:,}, {arms[1]} {untreated:,}"


def _endpoint(name: str, found: EndpointReport, verdict: TrialVerdict, also: str) -> list[str]:
    """An outcome's lines.

    Args:
        name: Of the outcome, and its role in the trial.
        found: Its estimates.
        verdict: What it says.
        also: More about the estimate.
    """
    said = lower_first(label(verdict))
    if verdict.finding is IntervalFinding.TOO_EARLY:
        return [f"{name}: {said}. {evidence(verdict)}", *_flagged(found, "-")]
    parts = (_difference(found.estimate), also, f"e {verdict.e_value:.2g}", said)
    return [f"{name}: {'  '.join(part for part in parts if part)}", *_sensitivity(found)]


def _guard(guard: RandomisationCheck) -> str:
    if guard.draw.too_early is not None:
        return f"Randomisation: too early to test. {_missing(guard)}"
    return _missing(guard) if guard.broken else f"Randomisation ok. {_missing(guard)}"


def _warning(guard: RandomisationCheck, lacks: str, command: str = "DO NOT USE") -> list[str]:
    """A warning about a failed randomisation check, or no line; `lacks`: the text for missing outcomes."""
    broken = {"draw": "the draws do not follow the recorded chances", "missing": lacks}
    reasons = " and ".join(broken[name] for name in guard.broken)
    return [f"{command}: {reasons}. {_missing(guard)}"] if reasons else []


def _missing(guard: RandomisationCheck) -> str:
    return f"Missing {guard.missing_treated} / {guard.missing_untreated}."


def _role(trial: StoredTrial, endpoint: Endpoint) -> str:
    return _PLANNED if endpoint is trial.endpoint else " (second, exploratory)"


def _level(trial: StoredTrial) -> str:
    return f"{100 * (1 - trial.alpha):.6g} %"


def _left_out(report: GamesReport | DecisionsReport, unit: str = "game") -> list[str]:
    parts = [f"{count} {reason}" for reason, count in sorted(report.excluded.items())]
    if report.over_cap:
        parts.append(f"{report.over_cap} beyond a person's first games")
    if report.waiting:
        parts.append(f"{report.waiting} from the oldest unfinished {unit} on")
    return [f"Left out: {', '.join(parts)}."] if parts else []


def _unreadable(damaged: Sequence[Unreadable]) -> list[str]:
    if not damaged:
        return []
    reasons = [f"{each.what} {each.id}: {each.reason}" for each in damaged[:_NAMED]]
    if more := len(damaged) - len(reasons):
        reasons.append(f"{more} more")
    what = damaged[0].what if len(damaged) == 1 else f"{damaged[0].what}s"
    told = f"{len(damaged)} {what} cannot be read ({'; '.join(reasons)})"
    return [
        printable(f"{told}: not counted here; a backup may have {'it' if len(damaged) == 1 else 'them'}.")
    ]


def _difference(found: AnyTimeEstimate) -> str:
    """For instance ``+0.0142 (+0.0031 to +0.0253)``; no mean while it is too early for an interval."""
    if found.mean is None or found.low is None or found.high is None:
        return "too early"
    return f"{found.mean:+.4f} ({found.low:+.4f} to {found.high:+.4f})"


def _elo(found: EloDifference) -> str:
    if found.value is None or found.low is None or found.high is None:
        return ""
    return f"Elo {found.value:+.0f} ({found.low:+.0f} to {found.high:+.0f})"


def _sensitivity(found: EndpointReport) -> list[str]:
    lines = _flagged(found, _difference(found.without_flagged))
    if (largest := found.largest) is not None:
        share = f"{percent(largest.share)} of the variance"
        lines.append(f"  without the largest person ({share}) {_difference(largest.without)}")
    lines.append(
        f"  first games of each person {_difference(found.first_games)}, "
        f"later ones {_difference(found.later_games)}"
    )
    return lines


def _flagged(found: EndpointReport, without: str) -> list[str]:
    if not found.flagged:
        return []
    reasons = ", ".join(f"{reason} {count}" for reason, count in found.flagged_for.items())
    return [f"  without {found.flagged} flagged ({reasons}) {without}"]


def _more(trial: StoredTrial, report: GamesReport) -> str:
    """How many games more a difference in Elo needs, by the scores and the deviation of these games."""
    wanted = f"a difference of {_WANTED_ELO} Elo"
    effect = _WANTED_ELO * report.elo.score_per_elo
    unknown = f"For {wanted}: `desdemona stats --plan` says how many games."
    if effect == 0:  # no games, or only certain results
        return unknown
    try:
        needed = more_needed(report.score.estimate, effect, SequenceDesign(trial.planned_n, trial.alpha))
    except ValueError:  # the effect is more than 0, so too many are needed
        return f"For {wanted} more than 10^12 games are needed, at scores like these."
    if needed is None:
        return unknown
    if needed == 0:
        return f"There are enough games for {wanted}."
    return f"For {wanted} about {counted(needed, 'game')} more."
