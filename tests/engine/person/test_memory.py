"""`engine.person.memory`: weights of past replies, and the blend."""

import math
from dataclasses import replace

import numpy as np
import pytest

from engine.person.memory import Memory, Recalled, blended, prior_weight
from engine.person.symmetry import PositionKeys
from tests.engine.person.samples import MEMORY

KEYS = PositionKeys(1, (10, 20, 30))


def test_a_past_reply_weighs_less_by_age_cost_and_loss() -> None:
    memory = Memory().with_game(MEMORY, [(KEYS, 1, 0.2)], 0, is_lost=False)
    memory = memory.with_game(MEMORY, [(KEYS, 2, 0.0)], 1, is_lost=True)
    found = memory.recall(MEMORY, KEYS, 4)
    expected = (0.0, 0.98**4 * math.exp(-10.0 * 0.2**2), 0.98**3 * 0.57)
    assert found.weights == pytest.approx(expected, abs=2e-6)
    assert found.visits == 2


def test_the_same_reply_adds_up() -> None:
    memory = Memory()
    for game in range(5):
        memory = memory.with_game(MEMORY, [(KEYS, 0, 0.0)], game, is_lost=False)
    found = memory.recall(MEMORY, KEYS, 5)
    assert found.weights[0] == pytest.approx(sum(0.98**age for age in range(1, 6)), abs=1e-5)
    assert found.visits == 5


def test_another_position_recalls_nothing() -> None:
    memory = Memory().with_game(MEMORY, [(KEYS, 0, 0.0)], 0, is_lost=False)
    assert memory.recall(MEMORY, replace(KEYS, position=2), 1) == Recalled((0.0, 0.0, 0.0), 0)


def test_equal_replies_share_the_weight() -> None:
    keys = PositionKeys(1, (10, 10))
    memory = Memory().with_game(MEMORY, [(keys, 0, 0.0)], 0, is_lost=False)
    assert memory.recall(MEMORY, keys, 0).weights == (0.5, 0.5)


def test_memory_is_immutable() -> None:
    empty = Memory()
    empty.with_game(MEMORY, [(KEYS, 0, 0.0)], 0, is_lost=False)
    assert not empty.positions


def test_the_blend() -> None:
    own = prior_weight(MEMORY, 20, (0.5, 0.5), 3)
    expected = math.exp(0.4 - 1.2 - 1.05 * math.log(2) + 0.65 * math.log(4))
    assert own == pytest.approx(expected, abs=1e-6)
    assert blended((1.0, 0.0), 1.0, (0.5, 0.5)) == (0.75, 0.25)
    assert blended((0.0, 0.0), 0.0, (0.4, 0.6)) == (0.4, 0.6)


def test_the_habits_of_simulated_persons_are_recovered() -> None:
    """200 persons with habits that form as the memory says: expected repeats are right for 90 to 99 %."""
    rng, base, right = np.random.default_rng(1), (0.5, 0.3, 0.2), 0
    costs = (0.0, 0.05, 0.3)
    for _ in range(200):
        memory, expected, variance, happened = Memory(), 0.0, 0.0, 0
        latest: dict[int, int] = {}
        for number in range(30):
            keys = PositionKeys(int(rng.integers(3)), (10, 20, 30))
            found = memory.recall(MEMORY, keys, number)
            p = blended(found.weights, prior_weight(MEMORY, 10, base, found.visits), base)
            index = int(rng.choice(3, p=p))
            if keys.position in latest:
                again = p[latest[keys.position]]
                expected, variance = expected + again, variance + again * (1 - again)
                happened += index == latest[keys.position]
            latest[keys.position] = index
            memory = memory.with_game(MEMORY, [(keys, index, costs[index])], number, is_lost=number % 2 == 0)
        right += abs(happened - expected) <= 1.96 * math.sqrt(variance)
    assert 180 <= right <= 198
