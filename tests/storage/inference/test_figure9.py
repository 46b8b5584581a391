import json

import numpy as np
import pytest

from storage.inference.any_time import Opt, SequenceDesign, estimate
from storage.inference.figure9 import figure9
from storage.inference.fixed import fixed_mean
from tests.storage.inference.samples import reply


def test_falls_and_errors_beside_chance_and_model() -> None:
    rows = [reply(n, fell=n % 3 == 0, erred=n % 2 == 0, person=n % 40) for n in range(120)]
    rows += [
        reply(n, is_trap=False, fall_chance=None, fall_model=None, person=n % 40) for n in range(120, 150)
    ]
    falls, errors = figure9(rows).rows
    assert (falls.what, falls.n, falls.count) == ("falls", 120, 40)
    assert (errors.what, errors.n, errors.count) == ("errors", 150, 60)
    o = np.array([n % 3 == 0 for n in range(120)], np.float64)
    persons = [n % 40 for n in range(120)]
    assert falls.happened == fixed_mean(o, persons)
    assert falls.chance.expected == pytest.approx(0.25)
    assert falls.chance.any_time == estimate(o - 0.25, persons, SequenceDesign(Opt.TRAPS))
    assert falls.chance.fixed == fixed_mean(o - 0.25, persons)
    assert falls.model.expected == pytest.approx(0.2)
    assert falls.model.any_time.mean == pytest.approx(1 / 3 - 0.2)
    e = np.array([n % 2 == 0 if n < 120 else False for n in range(150)], np.float64)
    everybody = [n % 40 for n in range(150)]
    assert errors.chance.any_time == estimate(e - 0.3, everybody, SequenceDesign(Opt.REPLIES))
    assert errors.model.any_time == estimate(e - 0.25, everybody, SequenceDesign(Opt.REPLIES))


def test_players_and_decided_positions_have_their_own_rows() -> None:
    rows = [reply(1), reply(2, player="standard"), reply(3, decided=True), reply(4, fell=True)]
    found = [(row.player, row.what, row.decided, row.n, row.count) for row in figure9(rows).rows]
    assert found == [
        ("standard", "falls", False, 1, 0),
        ("standard", "errors", False, 1, 0),
        ("trappy", "falls", False, 2, 1),
        ("trappy", "errors", False, 2, 0),
        ("trappy", "falls", True, 1, 0),
        ("trappy", "errors", True, 1, 0),
    ]


def test_replies_without_a_model_are_compared_with_chance_only() -> None:
    rows = [reply(1, fell=True), reply(2, fell=True, model=None, fall_model=None, error_model=None)]
    falls, errors = figure9(rows).rows
    assert (falls.n, falls.chance.any_time.n, falls.model.any_time.n) == (2, 2, 1)
    assert errors.model.any_time.n == 1
    nobody = figure9(rows[1:]).rows[0]
    assert nobody.model.expected is None
    assert nobody.model.any_time.mean is None


def test_a_persons_first_games_count() -> None:
    found = figure9([reply(1, games_before=49), reply(2, games_before=50)])
    assert (found.rows[0].n, found.over_cap) == (1, 1)
    assert figure9([reply(1, games_before=1)], cap_games=1).rows == ()


def test_json() -> None:
    found = json.loads(json.dumps(figure9([reply(n) for n in range(3)]).to_json()))
    assert found["rows"][0]["chance"]["any_time"]["too_early"] == "3 of 100, P 3 of 30"


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="cap_games is 0"):
        figure9([], cap_games=0)
    with pytest.raises(ValueError, match="reply to decision 1: fall_chance is None, is_trap True"):
        reply(1, fall_chance=None)
    with pytest.raises(ValueError, match="reply to decision 1: no trap, but a fall"):
        reply(1, is_trap=False, fall_chance=None, fall_model=None, fell=True)
    with pytest.raises(ValueError, match="reply to decision 1: error_chance is 2"):
        reply(1, error_chance=2.0)
    with pytest.raises(ValueError, match="the model None"):
        reply(1, model=None)
    with pytest.raises(ValueError, match="ply is -1"):
        reply(1, ply=-1)
