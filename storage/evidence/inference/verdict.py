"""The verdict on a trial, which depends only on the any-time interval of each outcome.

Every page, command, report and export presents a comparison as a `TrialVerdict`, and experiments judge their
claims with the same `finding_of`. Until there is a valid interval, nothing is decided, and the verdict states
how much more data is needed instead of an estimate.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from storage.evidence.inference.any_time import AnyTimeEstimate, SequenceDesign
from storage.evidence.inference.decisions import DecisionsReport
from storage.evidence.inference.games import GamesReport
from storage.evidence.inference.trial import RandomisationCheck, TrialTerms

_MAX_FURTHER_VALUES = 1_000_000
"""Upper limit on forecasts of the number of values still needed."""


class IntervalFinding(StrEnum):
    """The conclusion drawn from the interval of a difference."""

    TOO_EARLY = "too_early"
    """There is no interval yet."""
    NOT_CLEAR = "not_clear"
    """The interval includes 0 and values beyond the margin: there is no decision yet."""
    NO_DIFFERENCE = "no_difference"
    """The interval lies within the margin of no interest."""
    MORE = "more"
    """The interval lies entirely above 0."""
    LESS = "less"
    """The interval lies entirely below 0."""

    @property
    def is_decided(self) -> bool:
        """Whether the finding decides the comparison."""
        return self not in (IntervalFinding.TOO_EARLY, IntervalFinding.NOT_CLEAR)


def finding_of(low: float | None, high: float | None, margin: float = 0.0) -> IntervalFinding:
    """The finding that follows from an interval.

    Args:
        low: Lower limit of the interval; None if there is no interval.
        high: Upper limit of the interval; None if there is no interval.
        margin: Differences of at most this size in either direction are of no interest; 0 if every difference
            is of interest.
    """
    if low is None or high is None:
        return IntervalFinding.TOO_EARLY
    if low > 0:
        return IntervalFinding.MORE
    if high < 0:
        return IntervalFinding.LESS
    if -margin <= low and high <= margin:
        return IntervalFinding.NO_DIFFERENCE
    return IntervalFinding.NOT_CLEAR


class TrialOutcome(StrEnum):
    """The outcome that a verdict compares."""

    SCORE = "score"
    """Our score in a game."""
    COST = "cost"
    """Mean cost of a person's replies in a game, by the judge."""
    REPLY_COST = "reply_cost"
    """The judge's cost of the reply to a single decision."""
    BEYOND_DIFFICULTY = "beyond_difficulty"
    """Cost of the reply to a single decision minus the mean cost of all replies, both in our own search."""
    EARNED = "earned"
    """The judge's cost of the reply to a single decision minus what our move gave up."""

    @property
    def margin(self) -> float:
        """The margin of no interest, in expected score; a smaller difference is not worth a trial.

        The margin is near the smallest effect for which `storage.evidence.inference.sample_size` makes plans.
        """
        return 0.03 if self is TrialOutcome.SCORE else 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialVerdict:
    """The verdict on the difference in one outcome between the first choice and the second."""

    outcome: TrialOutcome
    is_planned: bool
    """Whether this is the endpoint fixed before the first game; other outcomes are exploratory."""
    finding: IntervalFinding
    first: str
    """The treated player, or ``trap``."""
    second: str
    """The player that `first` is compared with, or ``no trap``."""
    unit: Literal["game", "decision"]
    """The randomised unit, counted in `n`."""
    n: int
    """Current number of values: games or decisions with this outcome."""
    n_first: int
    """Number of values of the first choice."""
    n_second: int
    """Number of values of the second choice."""
    unjudged: int
    """Number of units that wait for the judge; `n` ends before the first of them. 0 for scores."""
    n_needed: int
    """Minimum number of values for an interval."""
    persons: int
    """Number of persons."""
    effective_persons: float
    """The effective number of persons, which is lower if a few persons have most of the values."""
    persons_needed: float
    """Minimum effective number of persons for an interval."""
    mean: float | None
    """The difference, in expected score; None while there is too little data."""
    low: float | None
    """Lower limit; None while there is too little data."""
    high: float | None
    """Upper limit; None while there is too little data."""
    e_value: float | None
    """E-value: evidence against "no difference"; None while there is too little data."""
    alpha: float
    """Maximum probability that the interval ever excludes the true value."""
    more: int | None
    """Number of further values needed for a decision if mean and standard deviation stay the same; 0 if
    decided. None if it is too early to tell, or if more than a million are needed."""
    more_to_narrow: int | None
    """Further values needed to make the interval a third narrower; None in the same cases as `more`."""
    broken: tuple[str, ...]
    """Why the results are invalid (``draw`` or ``missing``, as in `RandomisationCheck.broken`); empty if they
    may be valid."""


def games_verdicts(
    report: GamesReport, arms: tuple[str, str], planned: str, terms: TrialTerms
) -> tuple[TrialVerdict, ...]:
    """The verdicts on whole games, with the planned outcome first.

    Args:
        report: The trial's results.
        arms: The two strategies, in the report's order.
        planned: The trial's endpoint, ``score`` or ``cost``.
        terms: The settings fixed before the first game.
    """
    design = terms.design(terms.planned_games)
    verdicts = [
        _verdict(each, check, unjudged, outcome, arms, "game", design, is_planned=outcome == planned)
        for outcome, each, check, unjudged in (
            (TrialOutcome.SCORE, report.score.estimate, report.guard, 0),
            (TrialOutcome.COST, report.cost.estimate, report.cost_guard, report.unjudged),
        )
    ]
    return tuple(sorted(verdicts, key=lambda each: not each.is_planned))


def decisions_verdicts(
    report: DecisionsReport, terms: TrialTerms, *, is_planned: bool
) -> tuple[TrialVerdict, ...]:
    """The verdicts on single decisions, with the cost of the reply first.

    Args:
        report: The trial's results.
        terms: The settings fixed before the first game.
        is_planned: Whether the cost of the reply is the trial's endpoint.
    """
    design = terms.design(terms.planned_decisions)
    outcomes = (
        (TrialOutcome.REPLY_COST, report.cost),
        (TrialOutcome.BEYOND_DIFFICULTY, report.beyond_difficulty),
        (TrialOutcome.EARNED, report.earned),
    )
    return tuple(
        _verdict(
            each.any_time.estimate,
            report.guard,
            report.unjudged,
            outcome,
            ("trap", "no trap"),
            "decision",
            design,
            is_planned=is_planned and outcome is TrialOutcome.REPLY_COST,
        )
        for outcome, each in outcomes
    )


def _verdict(
    found: AnyTimeEstimate,
    check: RandomisationCheck,
    unjudged: int,
    outcome: TrialOutcome,
    names: tuple[str, str],
    unit: Literal["game", "decision"],
    design: SequenceDesign,
    *,
    is_planned: bool,
) -> TrialVerdict:
    n_first, n_second = check.counted_treated, check.counted_untreated
    # If either choice has no values, there is nothing to compare, whatever the arithmetic gives.
    is_shown = bool(found.low is not None and n_first and n_second)
    low, high = (found.low, found.high) if is_shown else (None, None)
    return TrialVerdict(
        outcome=outcome,
        is_planned=is_planned,
        finding=finding_of(low, high, outcome.margin),
        first=names[0],
        second=names[1],
        unit=unit,
        n=found.n,
        n_first=n_first,
        n_second=n_second,
        unjudged=unjudged,
        n_needed=design.least_values,
        persons=found.persons,
        effective_persons=found.effective_persons,
        persons_needed=design.least_persons,
        mean=found.mean if is_shown else None,
        low=low,
        high=high,
        e_value=found.e_value if is_shown else None,
        alpha=found.alpha,
        more=more_to_decide(found, design, outcome.margin) if is_shown else None,
        more_to_narrow=more_to_narrow(found, design) if is_shown else None,
        broken=check.broken,
    )


def more_to_narrow(found: AnyTimeEstimate, design: SequenceDesign) -> int | None:
    """Number of further values that make the interval a third narrower at the current standard deviation.

    Returns:
        None if there is no interval, or if more than a million are needed.
    """
    if found.low is None or not found.sd:
        return None
    return _more_until(found.n, float(design.width(found.n)) * 2 / 3, design)


def more_to_decide(found: AnyTimeEstimate, design: SequenceDesign, margin: float) -> int | None:
    """Number of further values needed for a decision if mean and standard deviation stay the same.

    The comparison is decided when the interval excludes 0 or lies within the margin.

    Returns:
        None if there is no interval, or if more than a million are needed.
    """
    if found.low is None or found.mean is None or not found.sd:
        return None
    half = max(abs(found.mean), margin - abs(found.mean))
    return _more_until(found.n, half / found.sd, design)


def _more_until(n: int, width: float, design: SequenceDesign) -> int | None:
    """Further values until the interval's half-width is this many standard deviations; None if too many."""
    low, high = n - 1, n + _MAX_FURTHER_VALUES
    if float(design.width(high)) > width:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if float(design.width(middle)) <= width else (middle, high)
    return high - n
