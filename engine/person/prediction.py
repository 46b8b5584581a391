"""Predicts a person's reply from their state, and verifies recorded predictions.

The base model's probabilities get the person's vector (p1), then the tilts (p2), then the memory (p3). The
record of a forecast (`PersonUse`) has every number that this takes, so that the probabilities can be
recomputed from it by arithmetic alone.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.errors import RecordError
from engine.human.reply_forecast import PersonUse
from engine.person.card import PersonModel
from engine.person.memory import blended, prior_weight
from engine.person.state import FacedPosition, PersonState, shifted_base, shifts_of
from engine.person.symmetry import position_keys
from engine.person.tilt import MILLION, Weights, tilted

_DIGITS = 6
_TOLERANCE = 1e-6
"""Recorded probabilities are rounded to six digits."""


@dataclass(frozen=True, slots=True)
class PersonPrediction:
    """The probabilities of a person's replies, and what they were computed from."""

    probabilities: tuple[float, ...]
    base: tuple[float, ...]
    """The base model's probabilities as they were used, to six digits."""
    use: PersonUse


def predict_person(
    model: PersonModel,
    state: PersonState,
    faced: FacedPosition,
    weights: Weights,
) -> PersonPrediction:
    """Predict a person's reply.

    Args:
        model: The model by which the state was folded.
        state: The state before the game.
        faced: The position and what models say about it.
        weights: The present weights of the tilts (`engine.person.state.tilts_at_start`, then `tilts_after`
            with the person's replies in this game so far).

    Raises:
        ValueError: The state was folded by another model.
        BadPosition: The position cannot be read.
    """
    if state.version != model.version:
        raise ValueError("the state was folded by another model")
    base = tuple(round(p, _DIGITS) for p in faced.base)
    recalled = state.memory.recall(
        model.card.memory, position_keys(model.game, faced.position, faced.replies), state.games
    )
    use = PersonUse(
        version=model.version,
        games=state.games,
        weights=weights,
        shifts=shifts_of(state, model, faced),
        costs=tuple(round(cost, _DIGITS) for cost in faced.costs),
        recalled=recalled.weights if any(recalled.weights) else (),
        own_weight=1.0,
        sha256="",
    )
    if use.recalled:
        before = _without_memory(model, base, use)
        own = prior_weight(model.card.memory, faced.ply, before, recalled.visits)
        use = replace(use, own_weight=own)
    return PersonPrediction(
        _recomputed(model, base, use), base, replace(use, sha256=checksum(faced.replies, base, use))
    )


def verify_person_use(
    model: PersonModel,
    replies: Sequence[str],
    base: Sequence[float],
    probabilities: Sequence[float],
    use: PersonUse,
) -> None:
    """Recompute a forecast's probabilities from its record alone.

    Args:
        model: The model that made the prediction.
        replies: `ReplyForecast.replies`.
        base: `ReplyForecast.base`.
        probabilities: `ReplyForecast.probabilities`.
        use: `ReplyForecast.person`.

    Raises:
        RecordError: The record contradicts itself; the message says where.
    """
    if use.version != model.version:
        raise RecordError("the forecast was made by another model of the person")
    if use.sha256 != checksum(replies, base, use):
        raise RecordError("what the forecast used of the person's state was changed")
    for name, numbers in (("shifts", use.shifts), ("costs", use.costs), ("recalled", use.recalled)):
        if len(numbers) not in ((len(replies),) if name == "costs" else (0, len(replies))):
            raise RecordError(f"{name} does not match the replies")
    if sum(weight for _, weight in use.weights) != MILLION:
        raise RecordError("the weights of the tilts do not add up")
    found = _recomputed(model, base, use)
    if len(found) != len(probabilities) or any(
        not math.isclose(p, recorded, rel_tol=0.0, abs_tol=_TOLERANCE)
        for p, recorded in zip(found, probabilities, strict=True)
    ):
        raise RecordError("the probabilities do not follow from the person's state")


def checksum(replies: Sequence[str], base: Sequence[float], use: PersonUse) -> str:
    """SHA-256 of all that a prediction was computed from, in hexadecimal."""
    numbers = [use.games, use.weights, use.shifts, use.costs, use.recalled, use.own_weight]
    content = [list(replies), list(base), use.version, numbers]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _recomputed(model: PersonModel, base: Sequence[float], use: PersonUse) -> tuple[float, ...]:
    before = _without_memory(model, base, use)
    return blended(use.recalled, use.own_weight, before) if use.recalled else before


def _without_memory(model: PersonModel, base: Sequence[float], use: PersonUse) -> tuple[float, ...]:
    shifted = shifted_base(model, base, use.shifts)
    return tilted(model.tilt, model.uniform, use.weights, shifted, use.costs)
