"""Draws of moves as people choose: the model's probabilities, mates, careless moves, and repeating a draw."""

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from engine.decision import Candidate, Decision, ModelInfo, Person, PersonDraw, SearchMode
from engine.errors import RecordError
from engine.game import WIN_CENTI
from engine.params import TrapParams
from engine.person.draw import draw_weights, drawn_move, verify_person_draw, win_share

MODEL = ModelInfo("calibrated", "people", "0" * 64)
CHI_SQUARE_999 = {3: 16.27}
"""By degrees of freedom: exceeded by chance once in a thousand."""


def candidates(*moves: str, wins: tuple[str, ...] = ()) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(move, WIN_CENTI if move in wins else 0, False, 0.0, complete=move in wins) for move in moves
    )


def draw(*probabilities: float, seed: int = 0) -> PersonDraw:
    return PersonDraw(Person(1500), MODEL, None, "", probabilities, 0.6, 0.02, f"{seed:016x}")


def decision(move: str = "a", **changes: Any) -> Decision:
    fields: dict[str, Any] = {
        "game": "othello",
        "position": "",
        "strategy": "like",
        "params": TrapParams(),
        "move": move,
        "candidates": candidates("a", "b"),
        "depth": 4,
        "principal_variation": (move,),
        "nodes": 0,
        "time_s": 0.0,
        "profile_source": "native",
        "engine_version": "1",
        "search_mode": SearchMode.PERSON,
        "person_draw": draw(0.75, 0.25),
    }
    return Decision(**(fields | changes))


def test_moves_are_drawn_with_the_models_probabilities() -> None:
    wanted, rng, number = (0.5, 0.3, 0.15, 0.05), random.Random(7), 20_000
    moves = candidates("a", "b", "c", "d")
    counts = Counter(drawn_move(moves, draw(*wanted, seed=rng.getrandbits(64))) for _ in range(number))
    expected = {move: number * p for move, p in zip("abcd", wanted, strict=True)}
    chi_square = sum((counts[move] - each) ** 2 / each for move, each in expected.items())
    assert chi_square < CHI_SQUARE_999[3]


def test_careless_moves_are_left_out_unless_all_are() -> None:
    assert draw_weights((0.5, 0.49, 0.01), (False,) * 3, 0.0, 0.02) == pytest.approx([50 / 99, 49 / 99, 0])
    many = (0.01,) * 100
    assert draw_weights(many, (False,) * 100, 0.0, 0.02) == pytest.approx(many)


def test_as_many_take_a_win_as_people_of_the_rating_do() -> None:
    wins = (False, True, True)
    assert draw_weights((0.9, 0.075, 0.025), wins, 0.6, 0.0) == pytest.approx([0.4, 0.45, 0.15])
    assert draw_weights((1.0, 0.0, 0.0), wins, 0.6, 0.0) == pytest.approx([0.4, 0.3, 0.3])
    assert draw_weights((0.1, 0.5, 0.4), wins, 0.6, 0.0) == pytest.approx([0.1, 0.5, 0.4])
    assert draw_weights((0.9, 0.1), (False, False), 0.6, 0.0) == pytest.approx([0.9, 0.1])
    assert 0.4 < win_share(1100) < win_share(None) == win_share(1500) < win_share(1900) < 0.8


def test_a_mate_is_drawn_in_this_share_of_the_draws() -> None:
    moves, rng = candidates("a", "b", wins=("b",)), random.Random(3)
    taken = sum(drawn_move(moves, draw(0.9, 0.1, seed=rng.getrandbits(64))) == "b" for _ in range(4000))
    assert 2280 < taken < 2520  # four standard deviations around .6


def test_a_move_that_takes_no_part_is_never_drawn() -> None:
    assert drawn_move(candidates("a", "b"), draw(1.0, 0.0, seed=2**64 - 1)) == "a"


def test_a_draw_is_repeated_from_its_record() -> None:
    verify_person_draw(decision())
    assert Decision.from_record(decision().to_record()) == decision()
    verify_person_draw(decision("b", person_draw=draw(0.75, 0.25, seed=2**64 - 1)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"person_draw": None}, "not in the record"),
        ({"move": "b"}, "b was played, but seed 0000000000000000 draws a"),
        ({"person_draw": draw(1.0)}, "1 probabilities of 2 moves"),
        ({"person_draw": draw(0.5, 0.25)}, "do not add up to 1"),
        ({"person_draw": draw(1.5, -0.5)}, "not from 0 to 1"),
        ({"person_draw": replace(draw(0.75, 0.25), seed="7")}, "not 16 hexadecimal digits"),
    ],
)
def test_a_record_that_was_changed(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        verify_person_draw(decision(**changes))
