"""Training in C++ refuses what makes no sense, and needs no games to be well."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from lab import _training

trainer = _training.OthelloTrainer(1, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: _training.OthelloTrainer(1, 0),
        lambda: _training.OthelloTrainer(1, 257),
        lambda: _training.OthelloTrainer(-1, 1),
        lambda: trainer.play(0, 2, 0.5),
        lambda: trainer.play(10**9, 2, 0.5),
        lambda: trainer.play(1, 11, 0.5),
        lambda: trainer.play(1, 2, -0.1),
        lambda: trainer.play(1, 2, 1.1),
        lambda: trainer.play(1, 2, math.nan),
        lambda: trainer.settle_parity(0, 3),
        lambda: trainer.settle_parity(10**7, 3),
        lambda: trainer.settle_parity(1, 0),
        lambda: trainer.settle_parity(1, 4),
        lambda: trainer.settle_parity(1, 13),
        lambda: trainer.error(-1),
        lambda: trainer.error(60),
        lambda: trainer.check(0, 1),
        lambda: trainer.check(31, 1),
        lambda: trainer.check(4, -1),
        lambda: trainer.learn(60, 4, 12, 1, 0.01, 0.001, 1.0, 0.5, 0.4),
        lambda: trainer.learn(0, 2, 12, 1, 0.01, 0.001, 1.0, 0.5, 0.4),
        lambda: trainer.learn(0, 4, 25, 1, 0.01, 0.001, 1.0, 0.5, 0.4),
        lambda: trainer.learn(0, 4, 12, 0, 0.01, 0.001, 1.0, 0.5, 0.4),
        lambda: trainer.learn(0, 4, 12, 1, math.nan, 0.001, 1.0, 0.5, 0.4),
        lambda: trainer.learn(0, 4, 12, 1, 0.01, 0.001, math.nan, 0.5, 0.4),
        lambda: trainer.learn(0, 4, 12, 1, 0.01, 0.001, 1.0, math.inf, 0.4),
        lambda: trainer.learn(0, 4, 12, 1, 0.01, 0.001, 1.0, 0.5, -0.1),
        lambda: trainer.learn(0, 4, 12, 1, 0.01, 0.001, 1.0, 0.5, math.nan),
    ],
)
def test_the_training_refuses_nonsense(call: Callable[[], object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        call()


def test_the_training_without_games() -> None:
    """Nothing to learn from is nothing learned."""
    own = _training.OthelloTrainer(1, 1)
    positions_learned, held_out, *_ = own.learn(0, 4, 4, 1, 0.01, 0.001, 1.0, 0.5, 0.4)
    assert (positions_learned, held_out) == (0, 0)
    assert own.check(4, 0) == []


@pytest.mark.parametrize("weights", [b"", b"abc", bytes(100), "text", None, 3, [1, 2]])
def test_weights_are_bytes_of_one_length(weights: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        trainer.set_weights(weights)
