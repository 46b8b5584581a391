"""Sums over the judged replies of a game, by phase and model: all that statistics of many games need of them.

A mean needs n and sum v, an interval by person also sum v^2 (`storage.evidence.inference.any_time`).  So
replies are
added up by *cell*: the replies of one game with forecasts of one model, of all phases or of one.  A cell has
a row of numbers, `COLUMNS`; rows of any cells can be added.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.decision import OutcomeKind
from storage.evidence.statistics.facts import ReplyFact
from storage.filters import phase_of

Floats = NDArray[np.float64]


class Measure(NamedTuple):
    """The columns of something that happens, beside what was expected of it."""

    seen_in: str
    """Replies in which it could be seen."""
    happened: str
    chance: str
    """Sum by chance."""
    model: str
    """Sum by the forecasts."""
    chance_squares: str
    """Sum of the squares of what happened less chance."""
    model_squares: str
    """The same, less the forecasts."""


def _measure(name: str, seen_in: str, happened: str) -> Measure:
    parts = ("chance", "model", "chance_squares", "model_squares")
    return Measure(seen_in, happened, *(f"{name}_{part}" for part in parts))


ERRORS = _measure("errors", "replies", "errors")
COST = _measure("cost", "replies", "cost")
BAITS = _measure("baits", "baits_set", "baits_taken")
FALLS = _measure("falls", "traps_set", "traps_fell")
MEASURES = (ERRORS, COST, BAITS, FALLS)

COUNTS = (
    *("decided", "optimal", "traps_optimal", "traps_fell_for_best", "traps_erred_elsewhere"),
    *("replies", "baits_set", "traps_set", "errors", "baits_taken", "traps_fell"),
)
"""Columns of whole numbers; `decided` counts replies in decided positions, which count in no other column."""
COLUMNS = ("phase", "model", *COUNTS, "cost", *(name for measure in MEASURES for name in measure[2:]))
"""What a cell's row has: the phase, 0 for the first; the number of its model; sums."""
AT = {name: number for number, name in enumerate(COLUMNS)}
"""Where each column is."""
_NUMBER = np.dtype("<f8")
ROW = np.dtype((_NUMBER, (len(COLUMNS),)))
"""A packed row."""


@dataclass(frozen=True, slots=True)
class ReplySums:
    """What the replies of a game add up to; rows in the order of phase and model."""

    models: tuple[str, ...]
    """Who made the forecasts; the column `model` is an index of these."""
    rows: Floats
    """By model, with 0 for a phase; shape (rows, columns)."""
    phase_rows: Floats
    """By phase and model; shape (rows, columns)."""


def packed(rows: Floats) -> bytes:
    """Rows as bytes: little-endian floating-point numbers of 64 bits."""
    return rows.astype(_NUMBER).tobytes()


FORECAST = np.dtype([("expected", "<f8"), ("ply", "<i4"), ("model", "<u2"), ("erred", "<u2")])
"""A judged reply outside decided positions: the forecast probability of an error, the moves made before our
move, the number of the model, and whether the reply was an error."""
_FORECAST = Struct("<diHH")


def packed_forecasts(replies: Sequence[ReplyFact], models: Sequence[str]) -> bytes:
    """The forecasts of a game's replies, in the order of play: rows of `FORECAST`.

    Args:
        replies: All of them.
        models: Which the column `model` numbers.
    """
    numbers = {name: number for number, name in enumerate(models)}
    return b"".join(
        _FORECAST.pack(each.error_expected, each.ply, numbers[each.model], each.erred)
        for each in replies
        if not each.is_decided
    )


def reply_sums(replies: Sequence[ReplyFact]) -> ReplySums:
    """Add up the replies of one game."""
    models = tuple(sorted({reply.model for reply in replies}))
    by_model: dict[tuple[int, int], list[ReplyFact]] = defaultdict(list)
    by_phase: dict[tuple[int, int], list[ReplyFact]] = defaultdict(list)
    for reply in replies:
        model = models.index(reply.model)
        by_model[0, model].append(reply)
        by_phase[phase_of(reply.ply + 1), model].append(reply)
    return ReplySums(models, _rows(by_model), _rows(by_phase))


def _rows(cells: Mapping[tuple[int, int], Sequence[ReplyFact]]) -> Floats:
    rows = [_row(phase, model, some) for (phase, model), some in sorted(cells.items())]
    return np.array(rows, np.float64).reshape(-1, len(COLUMNS))


def _row(phase: int, model: int, replies: Sequence[ReplyFact]) -> list[float]:
    counted = [reply for reply in replies if not reply.is_decided]
    baits = [reply for reply in counted if reply.has_bait]
    traps = [reply for reply in counted if reply.is_trap]
    kinds = [reply.kind for reply in traps]
    found: dict[str, Any] = {
        "phase": phase,
        "model": model,
        "decided": len(replies) - len(counted),
        "replies": len(counted),
        "optimal": sum(reply.kind is OutcomeKind.OPTIMAL for reply in counted),
        "traps_set": len(traps),
        "traps_optimal": kinds.count(OutcomeKind.OPTIMAL),
        "traps_fell_for_best": sum(reply.fell_for_best for reply in traps),
        "traps_erred_elsewhere": kinds.count(OutcomeKind.ERRED_ELSEWHERE),
        "baits_set": len(baits),
    }
    for measure, values in (
        (ERRORS, [(float(reply.erred), reply.error_uniform, reply.error_expected) for reply in counted]),
        (COST, [(reply.cost, reply.cost_uniform, reply.cost_expected) for reply in counted]),
        (BAITS, [(float(reply.is_taken), reply.bait_uniform, reply.bait_expected) for reply in baits]),
        (
            FALLS,
            [(float(each.kind is OutcomeKind.FELL), each.fall_uniform, each.fall_expected) for each in traps],
        ),
    ):
        found |= {
            measure.happened: sum(seen for seen, _, _ in values),
            measure.chance: sum(chance for _, chance, _ in values),
            measure.model: sum(model for _, _, model in values),
            measure.chance_squares: sum((seen - chance) ** 2 for seen, chance, _ in values),
            measure.model_squares: sum((seen - model) ** 2 for seen, _, model in values),
        }
    return [found[name] for name in COLUMNS]
