"""Measures of replies: sums by game, phase and model, which are added up by group and person.

A mean needs n and sum v; an interval by person also needs sum v^2 (`storage.evidence.inference.any_time`).
If person c has n_c values with sum S_c, M = sum S_c / n is the mean, and Q = sum v^2 over all values:

    sum d^2                 Q - n M^2                     d = v - M, over all values
    sum_c (sum d)^2         sum_c (S_c - n_c M)^2         over persons

So replies are first summed by *cell* (consecutive replies of one game, phase and model, `cells_of`), and
the cells are then summed by group and person (`GroupSums`). This module stores nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.decision import OutcomeKind
from engine.figure_9 import MIN_ERROR_COST
from storage.evidence.inference.any_time import AnyTimeEstimate, PlannedN, SequenceDesign, estimates_of_sums
from storage.evidence.inference.persons import Codes, Floats, first_and_codes
from storage.evidence.replies import (
    NO_FLAG,
    OUTCOMES,
    ReplyFlag,
    ReplyTable,
    costs,
    expected,
    has,
    phases_of,
)
from storage.evidence.statistics.groups import ObservedRate


class Measure(NamedTuple):
    """An event whose observed and expected frequencies are measured."""

    name: str
    seen_in: str
    """The column that counts the replies in which the event could be observed."""
    happened: str
    """The column that counts the replies in which the event happened."""
    expected: str
    """The event's name in the expectations of `storage.evidence.replies.REPLY`."""
    planned_n: PlannedN

    @property
    def sums(self) -> tuple[str, str, str]:
        """The columns of events: observed, expected from a random reply, and expected by the forecasts."""
        return self.happened, f"{self.name}_uniform", f"{self.name}_model"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns `sums`, and the squared differences between the observed value and each expectation."""
        return *self.sums, *(f"{each}_squares" for each in self.sums[1:])


ERRORS = Measure("errors", "replies", "errors", "error", PlannedN.REPLIES)
COST = Measure("cost", "replies", "cost", "cost", PlannedN.REPLIES)
BAITS = Measure("baits", "baits_set", "baits_taken", "bait", PlannedN.TRAPS)
FALLS = Measure("falls", "traps_set", "traps_fell", "fall", PlannedN.TRAPS)
MEASURES = (ERRORS, COST, BAITS, FALLS)

COUNTS = (
    *("decided", "replies", "unjudged", "optimal", "baits_set"),
    *("traps_set", "traps_optimal", "traps_fell_for_best", "traps_erred_elsewhere"),
)
"""The columns of whole numbers. Only `decided` counts replies in decided positions; `replies` and `optimal`
count those that the judge has judged, and `unjudged` those that it has yet to judge."""
COLUMNS = (*COUNTS, *(name for measure in MEASURES for name in measure.columns))
"""All summed columns."""
COLUMN_INDEX = {name: number for number, name in enumerate(COLUMNS)}
"""The index of each column."""
_CELLS = "cells"
_REPLIES_PER_SUM = 8_000
"""Number of replies summed in one step; few enough for their columns to stay in the processor's cache."""
_MAX_ROUNDING_ERROR = 1e-13
"""Maximum relative rounding error of a sum of squares after the mean is subtracted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Sums over the replies of one game, phase and model."""

    sums: Floats
    """The sums, shape (cells, columns)."""
    games: Codes
    """Index of each cell's game."""
    phases: Codes
    """Index of each cell's phase, 0 for the first."""
    models: Codes
    """Index of each cell's model in `model_names`."""
    model_names: Sequence[str]

    @property
    def nbytes(self) -> int:
        """Size of the arrays, in bytes."""
        return self.sums.nbytes + self.games.nbytes + self.phases.nbytes + self.models.nbytes

    @classmethod
    def joined(cls, parts: Sequence[tuple["Cells", int]]) -> "Cells":
        """The cells of all parts; each part is paired with the number of games in the parts before it."""
        names: dict[str, int] = {}
        models = [
            np.array([names.setdefault(name, len(names)) for name in part.model_names], np.intp)[part.models]
            for part, _ in parts
        ]
        none = np.zeros(0, np.intp)
        return cls(
            sums=np.concatenate([part.sums for part, _ in parts] or [np.zeros((0, len(COLUMNS)))]),
            games=np.concatenate([none, *(part.games + before for part, before in parts)]),
            phases=np.concatenate([none, *(part.phases for part, _ in parts)]),
            models=np.concatenate([none, *models]),
            model_names=[*names],
        )

    def of_games(self, is_wanted: NDArray[np.bool_]) -> "Cells":
        """The cells of some of the games; the games are renumbered."""
        if is_wanted.all():
            return self
        some = self.where(is_wanted[self.games])
        return replace(some, games=(np.cumsum(is_wanted) - 1)[some.games])

    def where(self, is_wanted: NDArray[np.bool_]) -> "Cells":
        """The cells selected by a mask."""
        return Cells(
            sums=self.sums[is_wanted],
            games=self.games[is_wanted],
            phases=self.phases[is_wanted],
            models=self.models[is_wanted],
            model_names=self.model_names,
        )


def cells_of(replies: ReplyTable) -> Cells:
    """The sums of the replies that count, computed once for a table.

    Args:
        replies: The replies of some games, in the order of play.
    """
    if _CELLS not in replies.derived:
        replies.derived[_CELLS] = _cells_of(replies)
    cells: Cells = replies.derived[_CELLS]
    return cells


def _cells_of(replies: ReplyTable) -> Cells:
    counted = replies.where(has(replies.replies, ReplyFlag.COUNTED))
    phases, models = phases_of(counted.replies), counted.models()
    starts = np.flatnonzero(np.diff(combined([counted.game, phases, models.codes]), prepend=-1))
    return Cells(
        sums=_sums(counted, starts),
        games=counted.game[starts],
        phases=phases[starts],
        models=models.codes[starts],
        model_names=models.texts,
    )


def _sums(counted: ReplyTable, starts: Codes) -> Floats:
    """The sums of the columns from each start to the next, shape (starts, columns)."""
    sums = [np.zeros((0, len(COLUMNS)))]
    at = 0
    while at < len(starts):
        # Whole cells only.
        after = max(int(np.searchsorted(starts, starts[at] + _REPLIES_PER_SUM)), at + 1)
        end = int(starts[after]) if after < len(starts) else len(counted.replies)
        values = _columns(counted.replies[starts[at] : end])
        sums.append(np.add.reduceat(values, starts[at:after] - starts[at], axis=1).T)
        at = after
    return np.concatenate(sums)


def _columns(replies: NDArray[np.void]) -> Floats:
    """The contribution of each reply that counts to each column; shape (columns, replies)."""
    columns = np.empty((len(COLUMNS), len(replies)))
    outcome = replies["outcome"]
    counts = has(replies, NO_FLAG, ReplyFlag.DECIDED)
    is_judged = has(replies, ReplyFlag.JUDGED, ReplyFlag.DECIDED)
    has_bait, is_trap = (
        has(replies, ReplyFlag.BAIT, ReplyFlag.DECIDED),
        has(replies, ReplyFlag.PAPER_TRAP, ReplyFlag.DECIDED),
    )
    is_optimal = outcome == _OPTIMAL
    for name, values in (
        ("decided", ~counts),
        ("replies", is_judged),
        ("unjudged", has(replies, ReplyFlag.UNJUDGED, ReplyFlag.DECIDED)),
        ("optimal", is_judged & is_optimal),
        ("baits_set", has_bait),
        ("traps_set", is_trap),
        ("traps_optimal", is_trap & is_optimal),
        ("traps_fell_for_best", is_trap & has(replies, ReplyFlag.FELL_FOR_BEST)),
        ("traps_erred_elsewhere", is_trap & (outcome == _ERRED_ELSEWHERE)),
    ):
        columns[COLUMN_INDEX[name]] = values
    for measure, happened in (
        (ERRORS, replies["cost"] >= MIN_ERROR_COST),
        (COST, costs(replies)),
        (BAITS, has(replies, ReplyFlag.TAKEN)),
        (FALLS, outcome == _FELL),
    ):
        seen_in = columns[COLUMN_INDEX[measure.seen_in]]
        seen = np.multiply(happened, seen_in, out=columns[COLUMN_INDEX[measure.happened]])
        for total, whose in zip(measure.sums[1:], ("uniform", "expected"), strict=True):
            values = expected(replies, f"{measure.expected}_{whose}")
            foreseen = np.multiply(values, seen_in, out=columns[COLUMN_INDEX[total]])
            beyond = np.subtract(seen, foreseen, out=columns[COLUMN_INDEX[f"{total}_squares"]])
            np.square(beyond, out=beyond)
    return columns


_OPTIMAL, _FELL, _ERRED_ELSEWHERE = (
    OUTCOMES.index(kind.value)
    for kind in (OutcomeKind.OPTIMAL, OutcomeKind.FELL_FOR_PAPER_TRAP, OutcomeKind.ERRED_ELSEWHERE)
)


class GroupSums:
    """Sums of the cells by group, and by group and person.

    Args:
        cells: The cells that count.
        groups: Index of each cell's group.
        persons: Index of each cell's person.
        size: The number of groups.
    """

    def __init__(self, cells: Cells, groups: Codes, persons: Codes, size: int) -> None:
        first, number = first_and_codes(combined([groups, persons]))
        # Column by column, which takes half the time of summing sorted rows.
        self._by_person: dict[str, Floats] = {
            name: np.bincount(number, cells.sums[:, COLUMN_INDEX[name]], len(first)).astype(np.float64)
            for name in COLUMNS
        }
        self._of_pair = groups[first]
        self._size = size
        self._totals = {name: self._grouped(values) for name, values in self._by_person.items()}
        has_model = np.zeros((size, len(cells.model_names)), bool)
        is_told = (cells.sums[:, COLUMN_INDEX["replies"]] > 0) | (cells.sums[:, COLUMN_INDEX["unjudged"]] > 0)
        has_model[groups[is_told], cells.models[is_told]] = True
        kinds, kind = np.unique(has_model, axis=0, return_inverse=True)
        lists = [tuple(sorted(compress(cells.model_names, which))) for which in kinds.tolist()]
        self.models = [lists[number] for number in kind.ravel().tolist()]
        """The models of each group."""

    def total(self, name: str) -> Floats:
        """The sum of a column in each group."""
        return self._totals[name]

    def expected(self, measure: Measure) -> list[ObservedRate]:
        """The observed and expected frequencies in each group."""
        n = self._totals[measure.seen_in]
        return [
            ObservedRate(
                n=int(count),
                happened=None if not count else seen,
                chance=None if not count else at_random,
                model=None if not count else by_model,
                beyond_chance=beyond_random,
                beyond_model=beyond_model,
            )
            for count, seen, at_random, by_model, beyond_random, beyond_model in zip(
                n.tolist(),
                *((self._totals[name] / np.maximum(n, 1)).tolist() for name in measure.sums),
                *(self._beyond(measure, name) for name in measure.sums[1:]),
                strict=True,
            )
        ]

    def _beyond(self, measure: Measure, other: str) -> list[AnyTimeEstimate]:
        """Estimate observed minus expected in each group; `other` is the column of the expectation."""
        counts = self._by_person[measure.seen_in]
        sums = self._by_person[measure.happened] - self._by_person[other]
        n = self._totals[measure.seen_in]
        mean = self._grouped(sums) / np.maximum(n, 1)
        whole = self._totals[f"{other}_squares"]
        spread = _cleaned(whole - n * mean**2, whole)
        by_person = _cleaned(
            self._grouped((sums - counts * mean[self._of_pair]) ** 2), self._grouped(sums**2)
        )
        persons = self._grouped((counts > 0).astype(np.float64))
        squared = self._grouped(counts**2)
        effective = np.divide(n * n, squared, out=np.zeros(self._size), where=squared > 0)
        design = SequenceDesign(measure.planned_n)
        return estimates_of_sums(n, persons, effective, mean, np.maximum(spread, by_person), design)

    def _grouped(self, values: Floats) -> Floats:
        return np.bincount(self._of_pair, values, minlength=self._size).astype(np.float64)


def _cleaned(spread: Floats, whole: Floats) -> Floats:
    """Sums of squares around the means, set to 0 where only rounding errors remain."""
    return np.where(spread < _MAX_ROUNDING_ERROR * whole, 0.0, spread)


def combined(parts: Sequence[Codes]) -> Codes:
    """Encode each combination of non-negative numbers as one number, preserving lexicographic order.

    Codes that combine a game, phase, model and person stay far below 2^63.
    """
    codes = np.zeros(len(parts[0]), np.intp)
    for part in parts:
        codes = codes * (int(part.max(initial=0)) + 1) + part
    return codes
