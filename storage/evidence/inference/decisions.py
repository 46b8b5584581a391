"""Analysis of single decisions in a micro-randomised trial: the effect of a trap on the next reply.

Some decisions are randomised between trappy's choice T, which sets a trap, and the best move N without a trap
(Klasnja and others 2015, doi:10.1037/hea0000305; Boruvka and others 2018,
doi:10.1080/01621459.2017.1305274).  With A = 1 for T, p the recorded probability of T, Y the cost of the
reply, and x the mean of the people model's expected costs after T and after N::

    b   = (past Y + 1.2) / (past x + 1.2);  y = (past Y + 1.2) / (past n + 20)     sums of the person's past
    m   = 0.8 b x + 0.2 y
    psi = (Y - m) (A / p - (1 - A) / (1 - p))

The mean of psi estimates the average effect of a trap on the next reply. The report also has weighted centred
least squares (Boruvka), a regression of Y on 1, x and A - 1/2; it is valid at one predetermined sample size.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from math import nan
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.evidence.inference.fixed import FixedInterval, leave_one_out
from storage.evidence.inference.persons import Floats, codes_of, earlier_counts, earlier_sums
from storage.evidence.inference.suspects import Flags
from storage.evidence.inference.timestamps import microseconds
from storage.evidence.inference.trial import (
    TRIAL_UNIT,
    UNSETTLED,
    EndpointReport,
    Exclusion,
    RandomisationCheck,
    TrialCounts,
    TrialTerms,
    Units,
    check_draws,
    contrast,
    drawn_rows,
    endpoint,
    hide_early,
    randomisation_check,
)

_PRIOR_COST = 1.2
_PRIOR_REPLIES = 20.0
"""Prior for a person's mean cost, equivalent to 20 replies that cost 0.06 each."""
_MODEL_WEIGHT = 0.8
_CENTRE = 0.5
"""The probability q in weighted centred least squares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialDecision:
    """A decision randomised between a move that sets a trap and a move that sets no trap.

    Everything except `settled_at` and the costs of the reply is known and stored before the random choice.
    Costs and values are expected scores, from 0 to 1.
    """

    decision_id: int
    game_id: int
    person: int
    """Key of the opponent's account."""
    games_before: int
    """Number of the person's earlier games in the trial, with or without randomised decisions."""
    drawn_at: datetime
    """Time of the random choice; must have a time zone."""
    settled_at: datetime | None
    """Time of the game's end, after which the judge judges the reply; None while the game goes on."""
    treated: bool
    """A: whether the random choice was the move that sets a trap."""
    probability: float
    """Recorded probability of choosing the move that sets a trap, in (0, 1)."""
    cost: float | None
    """Y: the judge's cost of the reply; None if there was no reply, or if it is not known."""
    is_unjudged: bool
    """Whether the judge has yet to judge the reply."""
    own_cost: float | None
    """Cost of the reply in our own search, of the same depth for either move; None if there was no reply."""
    expected_trap: float
    """The people model's expected cost of the reply to the move that sets a trap."""
    expected_control: float
    """The people model's expected cost of the reply to the other move."""
    mean_trap: float
    """Mean cost of all replies to the move that sets a trap: the expected cost of a random reply."""
    mean_control: float
    """Mean cost of all replies to the other move."""
    value_trap: float
    """Our expected score after the move that sets a trap, under best play."""
    value_control: float
    """Our expected score after the other move, under best play."""
    excluded: Exclusion = Exclusion.NONE

    def __post_init__(self) -> None:
        for name in ("drawn_at", "settled_at"):
            at = getattr(self, name)
            if at is not None and at.tzinfo is None:
                raise ValueError(f"{self.label}: {name} has no time zone")
        if self.games_before < 0:
            raise ValueError(f"{self.label}: games_before is {self.games_before}, less than 0")
        for name in (
            *("cost", "own_cost", "expected_trap", "expected_control", "mean_trap", "mean_control"),
            *("value_trap", "value_control"),
        ):
            value = getattr(self, name)
            if (value is not None or name not in ("cost", "own_cost")) and not 0 <= value <= 1:
                raise ValueError(f"{self.label}: {name} is {value}, not from 0 to 1")

    @property
    def label(self) -> str:
        return f"decision {self.decision_id}"


_DECISION = np.dtype(
    [
        *TRIAL_UNIT.descr,
        ("games_before", "<i8"),
        *((name, "<f8") for name in ("cost", "own_cost")),
        *((f"{name}_{of}", "<f8") for name in ("expected", "mean", "value") for of in ("trap", "control")),
    ]
)
"""Layout of a decision's row; the costs are NaN if there was no reply."""


@dataclass(frozen=True, slots=True)
class DecisionOutcome:
    """Estimates of the effect of a trap on one outcome of the next reply."""

    any_time: EndpointReport
    fixed: FixedInterval
    """Weighted centred least squares; valid for one analysis at a number of decisions fixed in advance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionsReport(TrialCounts):
    """Results of a trial's single decisions: the outcome with a trap minus the outcome without."""

    unjudged: int
    """Number of decisions whose reply the judge has yet to judge; the results end before the first of
    them."""
    planned_n: int
    """Planned number of decisions. The any-time intervals are tightest at this number; the fixed-sample
    intervals are hidden until it is reached."""
    guard: RandomisationCheck
    cost: DecisionOutcome
    """Effect on Y. Part of the effect arises because positions with traps have more bad replies."""
    beyond_difficulty: DecisionOutcome
    """Effect on the reply's cost minus the mean cost of all replies to our move, both in our own search, as
    the judge does not judge all replies; 0 for a person who replies at random."""
    earned: DecisionOutcome
    """Effect on Y minus the trap's cost to us in our own search: A times (value of N minus value of T)."""

    def to_json(self) -> dict[str, Any]:
        """The results as plain JSON values; premature estimates are hidden
        (`storage.evidence.inference.trial`)."""
        fields = asdict(self)
        fields["guard"]["broken"] = list(self.guard.broken)
        hide_early(fields["guard"])
        lacks = self.guard.no_comparison
        for name in ("cost", "beyond_difficulty", "earned"):
            outcome: DecisionOutcome = getattr(self, name)
            early = outcome.any_time.estimate.too_early
            waits = f"{self.counted} of {self.planned_n}" if self.counted < self.planned_n else None
            hide_early(fields[name]["any_time"], lacks)
            hide_early(fields[name]["fixed"], lacks or early or waits)
        return fields


def decisions_report(
    decisions: Sequence[TrialDecision],
    terms: TrialTerms,
    at: datetime,
    flags: Flags = MappingProxyType({}),
) -> DecisionsReport:
    """Compute the current results of a trial of single decisions.

    Args:
        decisions: All randomised decisions, in any order.
        terms: The trial's design.
        at: The current time, with a time zone.
        flags: Flags of suspect games; a separate line of the report excludes the decisions in these games.

    Raises:
        ValueError: `at` has no time zone, or a decision occurs twice.
    """
    drawn = _by_column(decisions)
    check_draws(drawn, "decision")
    every = drawn_rows(drawn, terms, at, drawn["games_before"])
    selection = every.judged().for_outcome("cost")
    design = terms.design(terms.planned_decisions)
    rows = selection.counted
    cost, treated, probability = rows["cost"], rows["treated"], rows["probability"]
    persons = codes_of(rows["person"])
    x = (rows["expected_trap"] + rows["expected_control"]) / 2
    guess = predicted_cost(cost, x, persons)
    gap = rows["value_control"] - rows["value_trap"]
    first = rows["games_before"] == 0

    def outcome(y: Floats, m: Floats) -> DecisionOutcome:
        """Estimate the effect on an outcome y; its prediction m must not depend on the random choice."""
        return DecisionOutcome(
            endpoint((y - m) * contrast(treated, probability), rows, first, flags, design),
            centred_least_squares(y, x, treated, probability, persons, terms.alpha),
        )

    return DecisionsReport(
        **selection.counts,
        unjudged=every.unjudged,
        planned_n=terms.planned_decisions,
        guard=randomisation_check(selection, design),
        cost=outcome(cost, guess),
        beyond_difficulty=outcome(
            rows["own_cost"] - np.where(treated, rows["mean_trap"], rows["mean_control"]),
            guess - (rows["mean_trap"] + rows["mean_control"]) / 2,
        ),
        earned=outcome(cost - treated * gap, guess - gap / 2),
    )


def _by_column(decisions: Sequence[TrialDecision]) -> Units:
    """Convert the decisions to rows in the layout of `_DECISION`."""
    units = np.zeros(len(decisions), _DECISION)
    columns: dict[str, list[Any]] = {
        "id": [each.decision_id for each in decisions],
        "drawn_us": [microseconds(each.drawn_at) for each in decisions],
        "settled_us": [
            UNSETTLED if each.settled_at is None else microseconds(each.settled_at) for each in decisions
        ],
        **{
            name: [nan if (cost := getattr(each, name)) is None else cost for each in decisions]
            for name in ("cost", "own_cost")
        },
    }
    for name in _DECISION.names or ():
        units[name] = columns.get(name) or [getattr(each, name) for each in decisions]
    return units


def predicted_cost(cost: Floats, x: Floats, persons: NDArray[np.intp]) -> Floats:
    """Predict the cost of each reply (m) from the people model and the person's past replies.

    Args:
        cost: Y in the order of randomisation, shape (n,).
        x: The people model's expected costs, shape (n,).
        persons: The person who made each reply, shape (n,).

    Returns:
        The predictions, shape (n,).
    """
    past = earlier_sums(cost, persons) + _PRIOR_COST
    slope = past / (earlier_sums(x, persons) + _PRIOR_COST)
    level = past / (earlier_counts(persons) + _PRIOR_REPLIES)
    return np.asarray(_MODEL_WEIGHT * slope * x + (1 - _MODEL_WEIGHT) * level)


def centred_least_squares(
    outcome: Floats,
    x: Floats,
    treated: NDArray[np.bool_],
    probability: Floats,
    persons: NDArray[np.intp],
    alpha: float,
) -> FixedInterval:
    """The coefficient of A - 1/2 in weighted centred least squares on 1, x and A - 1/2.

    The weight of a row is (q/p)^A ((1-q)/(1-p))^(1-A) with q = 1/2. The jackknife leaves out a person by
    subtracting their contribution to the 3 x 3 normal equations.

    Args:
        outcome: The outcomes, shape (n,).
        x: Covariate known before the random choice, shape (n,).
        treated: A, shape (n,).
        probability: p, shape (n,).
        persons: The person of each outcome, shape (n,).
        alpha: Probability that the interval excludes the true value.
    """
    weights = np.where(treated, _CENTRE / probability, (1 - _CENTRE) / (1 - probability))
    design = np.stack([np.ones(len(x)), x, treated - _CENTRE], axis=1)
    counts = np.bincount(persons).astype(np.float64)
    matrices = np.zeros((len(counts), 3, 3))
    vectors = np.zeros((len(counts), 3))
    np.add.at(matrices, persons, weights[:, None, None] * design[:, :, None] * design[:, None, :])
    np.add.at(vectors, persons, (weights * outcome)[:, None] * design)
    matrix, vector = matrices.sum(axis=0), vectors.sum(axis=0)
    full = _effect(matrix, vector)
    without = np.array([_effect(matrix - m, vector - v) for m, v in zip(matrices, vectors, strict=True)])
    value = full if np.isfinite(full) else None
    return leave_one_out(value, without, counts, alpha)


def _effect(matrix: Floats, vector: Floats) -> float:
    """The last coefficient of the solution; NaN if the normal equations do not determine it."""
    scale = np.sqrt(np.abs(np.diag(matrix)))
    if not scale.all():
        return float("nan")
    # On a scale where the diagonal is 1, so that the rank does not depend on the size of x.
    scaled = matrix / np.outer(scale, scale)
    if np.linalg.matrix_rank(scaled, tol=1e-9, hermitian=True) < 3:
        return float("nan")
    return float(np.linalg.solve(scaled, vector / scale)[2] / scale[2])
