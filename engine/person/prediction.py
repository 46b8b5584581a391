"""Predicts a person's reply from their state, and verifies recorded predictions.

The base model's probabilities get the person's vector (p1), then the tilts (p2), then the memory (p3), or
only the memory (`predict_from_memory`). The record of a prediction (`PersonUse`) has every number that this
takes, so that the probabilities can be recomputed from it by arithmetic alone.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.decision import PersonUse
from engine.errors import RecordError
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
    return _predicted(
        model,
        state,
        faced.position,
        faced.ply,
        faced.replies,
        faced.base,
        PersonUse(
            version=model.version,
            games=state.games,
            weights=weights,
            shifts=shifts_of(state, model, faced),
            costs=tuple(round(cost, _DIGITS) for cost in faced.costs),
            recalled=(),
            own_weight=1.0,
            sha256="",
        ),
    )


def predict_from_memory(
    model: PersonModel,
    state: PersonState,
    position: str,
    ply: int,
    replies: tuple[str, ...],
    base: Sequence[float],
) -> PersonPrediction | None:
    """Predict a reply from the person's own replies in the same position, whatever the replies cost.

    Args:
        model: See `predict_person`, as for the state.
        state: The state before the game.
        position: See `FacedPosition`, as for the ply and the replies.
        ply: Number of plies before the reply.
        replies: Every legal reply.
        base: The probability of each reply, by any model of people.

    Returns:
        The prediction; None if nothing is remembered of the position.

    Raises:
        ValueError: The state was folded by another model.
        BadPosition: The position cannot be read.
    """
    use = PersonUse(model.version, state.games, (), (), (), (), 1.0, "")
    made = _predicted(model, state, position, ply, replies, base, use)
    return made if made.use.recalled else None


def _predicted(
    model: PersonModel,
    state: PersonState,
    position: str,
    ply: int,
    replies: tuple[str, ...],
    base: Sequence[float],
    use: PersonUse,
) -> PersonPrediction:
    """The prediction from what is used of the state, and from the memory of the position."""
    if state.version != model.version:
        raise ValueError("the state was folded by another model")
    base = tuple(round(p, _DIGITS) for p in base)
    keys = position_keys(model.game, position, replies)
    recalled = state.memory.recall(model.card.memory, keys, state.games)
    if any(recalled.weights):
        before = _without_memory(model, base, use)
        own = prior_weight(model.card.memory, ply, before, recalled.visits)
        use = replace(use, recalled=recalled.weights, own_weight=own)
    use = replace(use, sha256=checksum(replies, base, use))
    return PersonPrediction(_recomputed(model, base, use), base, use)


def verify_person_use(
    model: PersonModel,
    replies: Sequence[str],
    base: Sequence[float],
    probabilities: Sequence[float],
    use: PersonUse,
) -> None:
    """Recompute the probabilities of a person's replies from the record of their prediction alone.

    Args:
        model: The model that made the prediction.
        replies: Every legal reply.
        base: `PersonPrediction.base`.
        probabilities: The recorded probabilities.
        use: `PersonPrediction.use`.

    Raises:
        RecordError: The record contradicts itself; the message says where.
    """
    if use.version != model.version:
        raise RecordError("the prediction was made by another model of the person")
    if use.sha256 != checksum(replies, base, use):
        raise RecordError("what the prediction used of the person's state was changed")
    if len(base) != len(replies):
        raise RecordError("base does not match the replies")
    for name, numbers in (("shifts", use.shifts), ("costs", use.costs), ("recalled", use.recalled)):
        is_needed = name == "costs" and use.weights
        if len(numbers) != len(replies) and (is_needed or numbers):
            raise RecordError(f"{name} does not match the replies")
    if use.weights and sum(weight for _, weight in use.weights) != MILLION:
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
    if not use.weights:  # the memory alone
        return tuple(base)
    shifted = shifted_base(model, base, use.shifts)
    return tilted(model.tilt, model.uniform, use.weights, shifted, use.costs)
