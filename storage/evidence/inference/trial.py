"""Rules for the games and single decisions of a trial: which count, in which order, and the randomisation
check.

Whether a row counts depends only on facts known before its randomisation. Values are in the order of
randomisation, which outcomes cannot influence; they stop before the oldest row with an open outcome.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from storage.evidence.inference.any_time import (
    MIN_PERSONS,
    MIN_VALUES,
    AnyTimeEstimate,
    LargestPerson,
    PlannedN,
    SequenceDesign,
    estimate,
    largest_person,
)
from storage.evidence.inference.defaults import ALPHA, CAP_GAMES
from storage.evidence.inference.persons import Codes, Floats, codes_of, earlier_counts
from storage.evidence.inference.suspects import Flags, flagged
from storage.evidence.inference.timestamps import microseconds

TRIAL_UNIT = np.dtype(
    [
        *((name, "<i8") for name in ("id", "game_id", "person", "drawn_us", "settled_us")),
        ("probability", "<f8"),
        ("treated", "?"),
        ("is_unjudged", "?"),
        ("excluded", "i1"),
    ]
)
"""The layout of a trial's rows, one for each unit (game or decision) with a random choice between two arms.

Columns: the keys of the row, of its game and of the opponent's account; the times of the random choice
and of the outcome (`UNSETTLED`: not known yet), in microseconds since 1970 (UTC); the recorded probability of
treatment, in (0, 1); whether treatment was chosen (A); whether the judge has yet to judge a reply, so that
the cost is not known; an `Exclusion`. Each kind of row adds its own columns.
"""
Units = NDArray[np.void]
"""Rows with the columns of `TRIAL_UNIT`, shape (n,)."""
UNSETTLED = np.iinfo(np.int64).max
"""Value for the time of an outcome that is still open."""


class Exclusion(IntEnum):
    """Reason why a row does not count, known before its randomisation; an integer, for use in arrays."""

    NONE = 0
    """The row counts."""
    PROGRAM = 1
    """The opponent is a program."""
    OWN_POSITION = 2
    """The game began in a position chosen by the opponent."""
    REPEATED_DRAW = 3
    """The opponent may know the random choice: the move was randomised once before and then taken back."""

    @property
    def text(self) -> str:
        """The reason in words."""
        return self.name.lower().replace("_", " ")


def exclusion_of(
    is_program: ArrayLike, is_challenger_position: ArrayLike, is_repeat: ArrayLike = False
) -> Codes:
    """The `Exclusion` of each row, or of a single row: the first reason that applies."""
    excluded = np.where(is_repeat, Exclusion.REPEATED_DRAW, Exclusion.NONE)
    excluded = np.where(is_challenger_position, Exclusion.OWN_POSITION, excluded)
    return np.where(is_program, Exclusion.PROGRAM, excluded)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialTerms:
    """The design of a trial, fixed before its first game."""

    alpha: float = ALPHA
    """Maximum probability that an endpoint's interval ever excludes the true value."""
    cap_games: int = CAP_GAMES
    """Maximum number of a person's games that count, in the order of their randomisation."""
    max_open_days: float = 14.0
    """Rows that stay open for more than this many days count as missing, even if an outcome comes later."""
    planned_games: int = PlannedN.GAMES
    planned_decisions: int = PlannedN.DECISIONS
    least_values: int = MIN_VALUES
    least_persons: float = MIN_PERSONS

    def __post_init__(self) -> None:
        if self.cap_games < 1:
            raise ValueError(f"cap_games is {self.cap_games}, not 1 or more")
        if not self.max_open_days > 0:
            raise ValueError(f"max_open_days is {self.max_open_days}, not more than 0")

    def design(self, planned_n: int) -> SequenceDesign:
        """The confidence sequence of an endpoint.

        Args:
            planned_n: `planned_games` or `planned_decisions`.
        """
        return SequenceDesign(planned_n, self.alpha, self.least_values, self.least_persons)


@dataclass(frozen=True, slots=True)
class CountedRows:
    """The rows of a trial that count for an outcome, in the order of their randomisation."""

    rows: Units
    """The rows, including those whose outcome is missing."""
    missing: NDArray[np.bool_]
    """Whether each row has no outcome or was open for more than `max_open_days`; shape (rows,)."""
    left_out: dict[str, Any]
    """The fields of `TrialCounts` that count excluded rows."""

    @property
    def unjudged(self) -> int:
        """Number of rows with replies that the judge has yet to judge."""
        return int(np.count_nonzero(self.rows["is_unjudged"]))

    def judged(self) -> "CountedRows":
        """The rows before the first one that the judge has yet to judge: the others wait.

        The judge takes the latest games first, so a selection of those that it has judged would be biased.
        """
        if not self.unjudged:
            return self
        end = int(self.rows["is_unjudged"].argmax())
        waiting = self.left_out["waiting"] + len(self.rows) - end
        return CountedRows(self.rows[:end], self.missing[:end], {**self.left_out, "waiting": waiting})

    def for_outcome(self, outcome: str) -> "CountedRows":
        """The same rows, with `missing` also set where the given outcome is missing.

        Args:
            outcome: The outcome's column, NaN where a row has no outcome.
        """
        return replace(self, missing=self.missing | np.isnan(self.rows[outcome]))

    @property
    def counts(self) -> dict[str, Any]:
        """The counts, by the field names of `TrialCounts`."""
        treated = int(np.count_nonzero(self.rows["treated"]))
        return {
            "drawn": len(self.rows),
            "drawn_treated": treated,
            "drawn_untreated": len(self.rows) - treated,
            "counted": len(self.rows) - int(self.missing.sum()),
            **self.left_out,
        }

    @property
    def counted(self) -> Units:
        """The rows with an outcome."""
        return self.rows[~self.missing] if self.missing.any() else self.rows


def drawn_rows(
    rows: Units, terms: TrialTerms, at: datetime, games_before: Codes | None = None
) -> CountedRows:
    """The rows that count, for any outcome.

    Args:
        rows: In any order; rows that were randomised at the same time count in the order given.
        terms: The trial's design.
        at: The current time, with a time zone.
        games_before: Number of the trial's games that the person began before the row's game, shape (n,);
            None: each row is a game, and there are no other games.

    Raises:
        ValueError: `at` has no time zone.
    """
    if at.tzinfo is None:
        raise ValueError("the time of the report has no time zone")
    max_open_us = timedelta(days=terms.max_open_days) // timedelta(microseconds=1)
    reasons, counts = np.unique(rows["excluded"][rows["excluded"] != Exclusion.NONE], return_counts=True)
    excluded = {Exclusion(reason).text: count for reason, count in zip(reasons, counts.tolist(), strict=True)}
    included = np.flatnonzero(rows["excluded"] == Exclusion.NONE)
    included = included[np.argsort(rows["drawn_us"][included], kind="stable")]
    if games_before is None:
        numbers = earlier_counts(codes_of(rows["person"][included]))
    else:
        numbers = games_before[included].astype(np.float64)
    capped = rows[included[numbers < terms.cap_games]]
    drawn_us, settled_us = capped["drawn_us"], capped["settled_us"]
    is_open = (settled_us == UNSETTLED) & (microseconds(at) - drawn_us <= max_open_us)
    end = int(is_open.argmax()) if is_open.any() else len(capped)
    is_late = (settled_us == UNSETTLED) | (settled_us - drawn_us > max_open_us)
    left_out = {
        "excluded": dict(sorted(excluded.items())),
        "over_cap": len(included) - len(capped),
        "waiting": len(capped) - end,
    }
    return CountedRows(capped[:end], is_late[:end], left_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCounts:
    """How many of a trial's rows (games or decisions) count, and how many do not."""

    drawn: int
    """Number of rows that count, including those without an outcome."""
    drawn_treated: int
    """Number of rows in `drawn` that were assigned the treatment."""
    drawn_untreated: int
    """Number of rows in `drawn` that were not assigned the treatment."""
    counted: int
    """Number of rows that count and have an outcome."""
    excluded: dict[str, int]
    """Number of rows excluded for reasons known before their randomisation, keyed by reason."""
    over_cap: int
    """Number of rows excluded because the person had reached the maximum number of games."""
    waiting: int
    """Number of rows that do not count yet: the oldest open row and all later rows."""


def contrast(treated: NDArray[np.bool_], probability: Floats) -> Floats:
    """Weights A/pi - (1 - A)/(1 - pi), shape (n,); the mean of weight times outcome estimates the effect.

    Args:
        treated: A, whether the random choice was the treatment, shape (n,).
        probability: pi, the recorded probability that A is 1, shape (n,).
    """
    return np.asarray(np.where(treated, 1 / probability, -1 / (1 - probability)))


_OF_AN_ESTIMATE = ("mean", "value", "sd", "low", "high", "e_value")
"""The fields of `AnyTimeEstimate` and `FixedInterval` that `hide_early` hides; the others are counts."""


def hide_early(found: Any, why: str | None = None) -> None:
    """Hide the premature estimates in a report's JSON, because showing them would invite peeking.

    An estimate's counts are kept; every other number becomes None. Each estimate gets `too_early` (true or
    false) and `why_too_early` (a string or None).

    Args:
        found: Estimates as plain JSON values, each with its reason in `too_early`; changed in place.
        why: A reason to hide all estimates; None to use each estimate's own reason.
    """
    if isinstance(found, dict):
        if "too_early" in found:
            reason = why or found["too_early"]
            found |= {"too_early": reason is not None, "why_too_early": reason}
            if reason is not None:
                found |= {name: None for name in _OF_AN_ESTIMATE if name in found}
        for each in found.values():
            hide_early(each, why)
    elif isinstance(found, (list, tuple)):
        for each in found:
            hide_early(each, why)


@dataclass(frozen=True, slots=True)
class RandomisationCheck:
    """Tests whether the assignment matches its recorded probabilities, and whether outcomes are missing
    equally often in both arms."""

    draw: AnyTimeEstimate
    """Mean of A - pi over all rows; close to 0 unless the randomisation or the bookkeeping is broken."""
    missing: AnyTimeEstimate
    """Share of missing outcomes, treated minus untreated."""
    missing_treated: int
    missing_untreated: int
    counted_treated: int
    """Number of treated rows with an outcome."""
    counted_untreated: int

    @property
    def no_comparison(self) -> str | None:
        """Why no comparison is possible (one arm has no outcome); None if both have outcomes."""
        treated, untreated = self.counted_treated, self.counted_untreated
        return None if treated and untreated else f"no comparison: {treated} treated, {untreated} untreated"

    @property
    def broken(self) -> tuple[str, ...]:
        """The names (`draw`, `missing`) of the estimates whose intervals exclude 0."""
        return tuple(name for name in ("draw", "missing") if getattr(self, name).excludes_zero)


def randomisation_check(selection: CountedRows, design: SequenceDesign) -> RandomisationCheck:
    """Check the assignment of all rows, and compare the arms' missing outcomes."""
    rows, missing = selection.rows, selection.missing
    treated, probability, persons = rows["treated"], rows["probability"], rows["person"]
    return RandomisationCheck(
        estimate(treated - probability, persons, design),
        estimate(missing * contrast(treated, probability), persons, design),
        int((missing & treated).sum()),
        int((missing & ~treated).sum()),
        int((~missing & treated).sum()),
        int((~missing & ~treated).sum()),
    )


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """The difference in one outcome, treated minus untreated, with a sensitivity analysis."""

    estimate: AnyTimeEstimate
    largest: LargestPerson | None
    """The person with the largest share of the variance, and the estimate without that person."""
    flagged: int
    """Number of values from flagged games."""
    flagged_for: dict[str, int]
    """Number of values from flagged games, keyed by reason; a game may have several reasons."""
    without_flagged: AnyTimeEstimate
    first_games: AnyTimeEstimate
    """The estimate from each person's first game only."""
    later_games: AnyTimeEstimate
    """The estimate from all games except each person's first."""


def endpoint(
    psi: Floats, rows: Units, first: NDArray[np.bool_], flags: Flags, design: SequenceDesign
) -> EndpointReport:
    """The estimates of one outcome. Subsets reuse the predictions m in `psi`; any m made beforehand is valid.

    Args:
        psi: The values, shape (n,).
        rows: The row of each value, shape (n,).
        first: Whether the row belongs to its person's first game, shape (n,).
        flags: Flags of suspect games.
        design: The endpoint's confidence sequence.
    """
    persons, has = rows["person"], flagged(flags, rows["game_id"])
    suspect = np.any([*has.values()], axis=0)

    def of(mask: NDArray[np.bool_]) -> AnyTimeEstimate:
        return estimate(psi[mask], persons[mask], design)

    counts = {str(flag): int(np.count_nonzero(which)) for flag, which in has.items()}
    return EndpointReport(
        estimate(psi, persons, design),
        largest_person(psi, persons, design),
        int(suspect.sum()),
        {flag: counts[flag] for flag in sorted(counts) if counts[flag]},
        of(~suspect),
        of(first),
        of(~first),
    )


def check_draws(rows: Units, noun: str) -> None:
    """Reject rows with an impossible random assignment.

    Args:
        rows: The rows to check.
        noun: What the message calls a row.

    Raises:
        ValueError: A row occurs twice, its probability is outside (0, 1), or its outcome precedes the
            random choice; the message names the row.
    """
    keys, probability = codes_of(rows["id"]), rows["probability"]
    refuse(noun, rows[np.bincount(keys)[keys] > 1], "it occurs twice")
    is_valid = (probability > 0) & (probability < 1)
    refuse(noun, rows[~is_valid], "the probability of treatment is {probability}, not between 0 and 1")
    refuse(noun, rows[rows["settled_us"] < rows["drawn_us"]], "it was settled before it was randomised")


def refuse(noun: str, rows: Units, why: str) -> None:
    """Raise ValueError about the first row, if there is one; `why` may contain column names in braces."""
    for row in rows[:1]:
        raise ValueError(f"{noun} {row['id']}: {why.format_map(row)}")
