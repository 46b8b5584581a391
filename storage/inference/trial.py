"""What games and single decisions of a trial share: which ones count, in which order, and the lot guard.

What counts is decided by facts from before the draw.  Values come in the order of the draw, up to the oldest
one whose outcome is still open: values taken in the order in which they end would be chosen by how they end.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from storage.inference.any_time import (
    LEAST_PERSONS,
    LEAST_VALUES,
    AnyTimeEstimate,
    LargestPerson,
    Opt,
    SequenceDesign,
    estimate,
    largest_person,
)
from storage.inference.defaults import ALPHA, CAP_GAMES
from storage.inference.persons import Floats, PersonId, codes_of, game_numbers


class TrialUnit(Protocol):
    """A row of a trial: something between two choices of which one was drawn by lot; `label` names it."""

    @property
    def label(self) -> str: ...
    @property
    def game_id(self) -> int | str: ...
    @property
    def person(self) -> PersonId: ...
    @property
    def drawn_at(self) -> datetime: ...
    @property
    def settled_at(self) -> datetime | None: ...
    @property
    def excluded(self) -> str | None: ...
    @property
    def treated(self) -> bool: ...
    @property
    def chance(self) -> float: ...


Row = TypeVar("Row", bound=TrialUnit)

GameFlags = Mapping[int | str, Sequence[str]]
"""The flags of suspect games by the game's identifier (`storage.inference.suspects`)."""
NO_FLAGS: GameFlags = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialTerms:
    """What is fixed of a trial before its first game."""

    alpha: float = ALPHA
    """Greatest chance that an endpoint's interval ever excludes the truth."""
    cap_games: int = CAP_GAMES
    """So many games of a person count, the first ones drawn."""
    open_days: float = 14.0
    """Open for longer: missing, also if an outcome comes later."""
    opt_games: int = Opt.GAMES
    opt_decisions: int = Opt.DECISIONS
    least_values: int = LEAST_VALUES
    least_persons: float = LEAST_PERSONS

    def __post_init__(self) -> None:
        if self.cap_games < 1:
            raise ValueError(f"cap_games is {self.cap_games}, not 1 or more")
        if not self.open_days > 0:
            raise ValueError(f"open_days is {self.open_days}, not more than 0")

    def design(self, opt: int) -> SequenceDesign:
        """The confidence sequence of an endpoint.

        Args:
            opt: `opt_games` or `opt_decisions`.
        """
        return SequenceDesign(opt, self.alpha, self.least_values, self.least_persons)


@dataclass(frozen=True, slots=True)
class CountedRows(Generic[Row]):
    """The rows of a trial that count, in the order of the draw."""

    rows: tuple[Row, ...]
    """Including those whose outcome is missing."""
    missing: NDArray[np.bool_]
    """Which of the rows have no outcome, or had none for `TrialTerms.open_days`; shape (rows,)."""
    excluded: dict[str, int]
    """Rows left out by facts from before the draw, by reason."""
    over_cap: int
    """Rows left out because their person's first games were enough."""
    waiting: int
    """Rows from the oldest open one on: they will count later."""

    @property
    def counts(self) -> dict[str, Any]:
        """The fields of a `TrialCounts`."""
        treated = int(treated_of(self.rows).sum())
        return {
            "drawn": len(self.rows),
            "drawn_treated": treated,
            "drawn_untreated": len(self.rows) - treated,
            "counted": len(self.rows) - int(self.missing.sum()),
            "excluded": self.excluded,
            "over_cap": self.over_cap,
            "waiting": self.waiting,
        }

    @property
    def counted(self) -> list[Row]:
        """The rows that have an outcome."""
        return [row for row, missing in zip(self.rows, self.missing, strict=True) if not missing]


def select(
    rows: Sequence[Row],
    terms: TrialTerms,
    at: datetime,
    has_outcome: Callable[[Row], bool],
    games_before: Callable[[Row], int] | None = None,
) -> CountedRows[Row]:
    """Which rows count.

    Args:
        rows: In any order; of rows drawn at the same time the first given counts as drawn first.
        terms: The trial's.
        at: Now, with a time zone.
        has_outcome: Whether a settled row has an outcome.
        games_before: How many games of the trial the row's person began before its game; None: these rows
            are all the games that there are.

    Raises:
        ValueError: `at` has no time zone, or a row occurs twice.
    """
    return drawn_rows(rows, terms, at, games_before).having(has_outcome)


@dataclass(frozen=True, slots=True)
class DrawnRows(Generic[Row]):
    """The rows of a trial in the order of the draw, whatever outcome is asked for; see `select`."""

    rows: tuple[Row, ...]
    is_late: Sequence[bool]
    """Which of the rows were open for `TrialTerms.open_days`, or still are."""
    excluded: dict[str, int]
    over_cap: int
    waiting: int

    def having(self, has_outcome: Callable[[Row], bool]) -> CountedRows[Row]:
        """The rows that count for an outcome."""
        missing = [late or not has_outcome(row) for row, late in zip(self.rows, self.is_late, strict=True)]
        return CountedRows(
            self.rows, np.array(missing, bool), dict(self.excluded), self.over_cap, self.waiting
        )


def drawn_rows(
    rows: Sequence[Row],
    terms: TrialTerms,
    at: datetime,
    games_before: Callable[[Row], int] | None = None,
) -> DrawnRows[Row]:
    """The rows that count for one outcome or another.  Arguments and errors as for `select`."""
    if at.tzinfo is None:
        raise ValueError("the time of the report has no time zone")
    labels = [row.label for row in rows]
    if len(set(labels)) < len(labels):
        raise ValueError(f"{next(name for name, n in Counter(labels).items() if n > 1)} occurs twice")
    patience = timedelta(days=terms.open_days)
    excluded = Counter(row.excluded for row in rows if row.excluded is not None)
    ordered = sorted((row for row in rows if row.excluded is None), key=attrgetter("drawn_at"))
    if games_before is None:
        persons, games = ([getattr(row, name) for row in ordered] for name in ("person", "game_id"))
        numbers = game_numbers(codes_of(persons), codes_of(games))
    else:
        numbers = np.array([games_before(row) for row in ordered], np.float64)
    capped = [row for row, number in zip(ordered, numbers.tolist(), strict=True) if number < terms.cap_games]

    def is_open(row: Row) -> bool:
        return row.settled_at is None and at - row.drawn_at <= patience

    end = next((number for number, row in enumerate(capped) if is_open(row)), len(capped))
    drawn = tuple(capped[:end])
    return DrawnRows(
        drawn,
        [row.settled_at is None or row.settled_at - row.drawn_at > patience for row in drawn],
        {str(reason): excluded[reason] for reason in sorted(excluded, key=str)},
        len(ordered) - len(capped),
        len(capped) - end,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCounts:
    """How many rows of a trial count; a row is a game or a decision."""

    drawn: int
    """Rows that count, those without an outcome included."""
    drawn_treated: int
    """Those among them whose draw was the treatment."""
    drawn_untreated: int
    """The others among them."""
    counted: int
    """Rows with an outcome."""
    excluded: dict[str, int]
    """Rows left out by facts from before the draw, by reason."""
    over_cap: int
    """Rows left out because their person's first games were enough."""
    waiting: int
    """Rows from the oldest open one on: they will count later."""


def contrast(treated: NDArray[np.bool_], chance: Floats) -> Floats:
    """A/pi - (1 - A)/(1 - pi), shape (n,): its product with outcomes averages to the effect of treatment.

    Args:
        treated: A, what was drawn, shape (n,).
        chance: pi, the recorded chance that A is 1, shape (n,).
    """
    return np.asarray(np.where(treated, 1 / chance, -1 / (1 - chance)))


def treated_of(rows: Sequence[TrialUnit]) -> NDArray[np.bool_]:
    """A of each row, shape (rows,)."""
    return np.array([row.treated for row in rows], bool)


def chance_of(rows: Sequence[TrialUnit]) -> Floats:
    """The recorded chance of treatment of each row, shape (rows,)."""
    return np.array([row.chance for row in rows], np.float64)


_OF_AN_ESTIMATE = ("mean", "value", "sd", "low", "high", "e_value")
"""Fields of `AnyTimeEstimate` and `FixedInterval` that are no counts."""


def hide_early(found: Any, why: str | None = None) -> None:
    """Hide the estimates in a report's JSON for which it is too early: who looks at them peeks.

    Of each such estimate the counts stay; every other number becomes None.  Each estimate gets `too_early`,
    true or false, and `why_too_early`, a text or None.

    Args:
        found: Plain JSON values of estimates with their own reason in `too_early`; changed in place.
        why: A reason to hide all of them; None: each by its own.
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
class LotGuard:
    """Whether the lot was drawn as recorded, and whether one arm loses outcomes."""

    draw: AnyTimeEstimate
    """A - pi over everything drawn; 0 unless lot or bookkeeping is broken."""
    missing: AnyTimeEstimate
    """Share of missing outcomes, treated less untreated."""
    missing_treated: int
    missing_untreated: int

    def lacks_an_arm(self, counts: TrialCounts) -> str | None:
        """Why there is nothing to compare: one arm has no outcome at all; None: both have some."""
        treated = counts.drawn_treated - self.missing_treated
        untreated = counts.drawn_untreated - self.missing_untreated
        return None if treated and untreated else f"no comparison: {treated} treated, {untreated} untreated"

    @property
    def broken(self) -> tuple[str, ...]:
        """Which of `draw` and `missing` exclude 0; empty if all is well."""
        return tuple(name for name in ("draw", "missing") if getattr(self, name).excludes_zero)


def lot_guard(selection: CountedRows[Row], design: SequenceDesign) -> LotGuard:
    """The guard over everything drawn."""
    rows, missing = selection.rows, selection.missing
    treated, chance = treated_of(rows), chance_of(rows)
    persons = [row.person for row in rows]
    return LotGuard(
        estimate(treated - chance, persons, design),
        estimate(missing * contrast(treated, chance), persons, design),
        int((missing & treated).sum()),
        int((missing & ~treated).sum()),
    )


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """One outcome, treated less untreated, with the lines that show how much it hangs on some of the rows."""

    estimate: AnyTimeEstimate
    largest: LargestPerson | None
    """The person with the largest share of the variance, and the estimate without them."""
    flagged: int
    """Number of values of flagged games."""
    flagged_for: dict[str, int]
    """How many of these for which reason; a game may have several."""
    without_flagged: AnyTimeEstimate
    first_games: AnyTimeEstimate
    """Of each person's first game."""
    later_games: AnyTimeEstimate
    """Of all games but each person's first."""


def endpoint(
    psi: Floats, rows: Sequence[TrialUnit], first: NDArray[np.bool_], flags: GameFlags,
    design: SequenceDesign,
) -> EndpointReport:  # fmt: skip
    """An outcome's lines.  Guesses m are not made anew for a part: any earlier knowledge is good enough.

    Args:
        psi: Values, shape (n,).
        rows: Their rows, shape (n,).
        first: Whether the row belongs to its person's first game, shape (n,).
        flags: Of suspect games.
        design: The endpoint's sequence.
    """
    persons = [row.person for row in rows]
    suspect = np.array([row.game_id in flags for row in rows], bool)

    def of(mask: NDArray[np.bool_]) -> AnyTimeEstimate:
        kept = [person for person, keep in zip(persons, mask, strict=True) if keep]
        return estimate(psi[mask], kept, design)

    reasons = Counter(flag for row in rows for flag in flags.get(row.game_id, ()))
    return EndpointReport(
        estimate(psi, persons, design),
        largest_person(psi, persons, design),
        int(suspect.sum()),
        {str(reason): reasons[reason] for reason in sorted(reasons, key=str)},
        of(~suspect),
        of(first),
        of(~first),
    )


def check_draw(row: TrialUnit) -> None:
    """Refuse a row whose draw cannot be.

    Raises:
        ValueError: A chance outside (0, 1), a time without a zone, or an end before the draw.
    """
    if not 0 < row.chance < 1:
        raise ValueError(f"{row.label}: the chance of treatment is {row.chance}, not between 0 and 1")
    if row.drawn_at.tzinfo is None:
        raise ValueError(f"{row.label}: drawn_at has no time zone")
    if row.settled_at is not None:
        if row.settled_at.tzinfo is None:
            raise ValueError(f"{row.label}: settled_at has no time zone")
        if row.settled_at < row.drawn_at:
            raise ValueError(f"{row.label}: it was settled before it was drawn")
