"""`engine.person.prediction`: the record says all that the probabilities need, and changes are found."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.decision import PersonUse
from engine.errors import RecordError
from engine.person.card import PersonModel
from engine.person.memory import prior_weight
from engine.person.prediction import (
    PersonPrediction,
    checksum,
    predict_from_memory,
    predict_person,
    verify_person_use,
)
from engine.person.state import (
    FacedPosition,
    FoldedGame,
    PersonState,
    fold_games,
    shifted_base,
    tilts_after,
    tilts_at_start,
)
from engine.person.symmetry import position_keys
from tests.engine.person.samples import drawn, empty, faced, game, model

MODEL = model()


def predicted(
    of: PersonModel, state: PersonState, where: FacedPosition, earlier: FoldedGame | None = None
) -> PersonPrediction:
    start = tilts_at_start(state, of, None, None)
    replies = () if earlier is None else earlier.replies
    return predict_person(of, state, where, tilts_after(start, state, of, replies))


def known(seed: int = 1) -> tuple[PersonState, FacedPosition]:
    """A person, and a position that they have faced before."""
    rng = np.random.default_rng(seed)
    where = faced(rng, 7)
    games = [game(rng, 0.0, 4.0) for _ in range(3)]
    again = FoldedGame(is_lost=False, replies=(drawn(rng, where, 0.0, 4.0),))
    return fold_games(empty(MODEL), [*games, again], MODEL), where


def verified(where: FacedPosition, made: PersonPrediction) -> None:
    verify_person_use(MODEL, where.replies, made.base, made.probabilities, made.use)


def test_probabilities_follow_from_the_record() -> None:
    state, where = known()
    made = predicted(MODEL, state, where)
    assert sum(made.probabilities) == pytest.approx(1.0, abs=1e-9)
    assert made.use.recalled
    verified(where, made)


def with_new_checksum(where: FacedPosition, made: PersonPrediction, use: PersonUse) -> PersonPrediction:
    return replace(made, use=replace(use, sha256=checksum(where.replies, made.base, use)))


def test_each_change_of_the_record_is_found() -> None:
    state, where = known()
    made = predicted(MODEL, state, where)
    use, (first, second, *rest) = made.use, made.use.weights
    changes: dict[str, dict[str, Any]] = {
        "a millionth moved": {"weights": ((first[0], first[1] + 1), (second[0], second[1] - 1), *rest)},
        "a millionth lost": {"weights": ((first[0], first[1] - 1), second, *rest)},
        "shift": {"shifts": (use.shifts[0] + 1e-6, *use.shifts[1:])},
        "cost": {"costs": (use.costs[0] + 1e-6, *use.costs[1:])},
        "recalled": {"recalled": tuple(weight + 1e-6 for weight in use.recalled)},
        "own weight": {"own_weight": use.own_weight + 1e-6},
        "games": {"games": use.games + 1},
        "version": {"version": "f" * 64},
    }
    for change in changes.values():
        with pytest.raises(RecordError):
            verified(where, replace(made, use=replace(use, **change)))
    with pytest.raises(RecordError):
        verified(where, replace(made, base=(made.base[0] + 1e-6, *made.base[1:])))
    with pytest.raises(RecordError):
        verified(where, replace(made, probabilities=(made.probabilities[0] + 3e-6, *made.probabilities[1:])))


def test_changes_are_found_by_arithmetic_too() -> None:
    """Also if somebody writes a new checksum."""
    state, where = known()
    made = predicted(MODEL, state, where)
    use, (first, *rest) = made.use, made.use.weights
    changed = (
        replace(use, weights=((first[0], first[1] - 1), *rest)),
        replace(use, shifts=(use.shifts[0] + 0.01, *use.shifts[1:])),
        replace(use, shifts=use.shifts[1:]),
        replace(use, costs=(use.costs[0] + 0.01, *use.costs[1:])),
        replace(use, costs=()),
        replace(use, own_weight=use.own_weight * 1.01),
    )
    for other in changed:
        with pytest.raises(RecordError):
            verified(where, with_new_checksum(where, made, other))


def test_a_new_person_is_predicted_by_the_priors() -> None:
    rng = np.random.default_rng(3)
    bare = model(has_vector=False)
    where = faced(rng)
    made = predict_person(bare, empty(bare), where, tilts_at_start(empty(bare), bare, None, None))
    assert bare.prior is not None
    expected = bare.prior.tilted(bare.base, where.base, where.costs, None, None)
    assert made.probabilities == pytest.approx(expected, abs=1e-5)
    assert (made.use.shifts, made.use.recalled, made.use.own_weight) == ((), (), 1.0)


def test_without_planes_there_are_no_shifts() -> None:
    state, where = known(4)
    bare = replace(where, planes=None)
    made = predicted(MODEL, state, bare)
    assert made.use.shifts == ()
    assert made.probabilities != predicted(MODEL, state, where).probabilities
    verified(bare, made)


def test_the_earlier_replies_of_the_game_count_at_once() -> None:
    rng = np.random.default_rng(5)
    state, where = known(5)
    careless = game(rng, 0.0, -8.0)
    before, after = predicted(MODEL, state, where), predicted(MODEL, state, where, careless)
    cost = np.array(where.costs)
    assert cost @ np.array(after.probabilities) > cost @ np.array(before.probabilities)


def test_the_memory_alone() -> None:
    """By the formula of `engine.person.memory`."""
    state, where = known()
    made = predict_from_memory(MODEL, state, where.position, where.ply, where.replies, where.base)
    assert made is not None
    keys = position_keys("othello", where.position, where.replies)
    recalled = state.memory.recall(MODEL.card.memory, keys, state.games)
    own = prior_weight(MODEL.card.memory, where.ply, where.base, recalled.visits)
    total = sum(recalled.weights) + own
    expected = [(w + own * p) / total for w, p in zip(recalled.weights, where.base, strict=True)]
    assert made.probabilities == pytest.approx(expected, abs=1e-9)
    assert (made.use.weights, made.use.shifts, made.use.costs) == ((), (), ())
    verified(where, made)
    other = faced(np.random.default_rng(9), 8)
    assert predict_from_memory(MODEL, state, other.position, other.ply, other.replies, other.base) is None


def test_a_state_of_another_model_is_refused() -> None:
    where = faced(np.random.default_rng(6))
    with pytest.raises(ValueError, match="another model"):
        predict_from_memory(
            MODEL, PersonState("f" * 64), where.position, where.ply, where.replies, where.base
        )
    with pytest.raises(ValueError, match="another model"):
        predict_person(MODEL, PersonState("f" * 64), faced(np.random.default_rng(6)), ())


def test_the_vector_shifts_logits() -> None:
    shifted = shifted_base(MODEL, (0.5, 0.25, 0.25), (0.0, np.log(2.0), 0.0))
    assert shifted == pytest.approx((0.4, 0.4, 0.2))
    assert shifted_base(MODEL, (0.5, 0.5), ()) == (0.5, 0.5)
