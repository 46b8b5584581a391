"""Calibration of the forecasts, on facts that are written down here."""

import json
from dataclasses import replace

import pytest

from storage.inference.defaults import CAP_GAMES
from storage.statistics.calibrations import GroupCalibration, group_calibrations
from storage.statistics.groups import By
from tests.storage.statistics.test_group_sums import GAME, REPLY


def numbers(found: list[GroupCalibration]) -> list[tuple[tuple[str, ...], int, int]]:
    return [(tuple(each.group.values()), each.errors.n, each.errors.happened) for each in found]


def test_models_and_games_stand_apart() -> None:
    chess, late = replace(GAME, id=2, game="chess"), replace(GAME, id=3, games_before=CAP_GAMES)
    replies = [
        REPLY,
        replace(REPLY, erred=True, error_expected=0.5),
        replace(REPLY, model="network 2"),
        replace(REPLY, game_id=2),
        replace(REPLY, is_decided=True),
        replace(REPLY, is_decided=True, model="network 3"),
        replace(REPLY, game_id=3),
        replace(REPLY, game_id=4),
    ]
    found = group_calibrations([GAME, chess, late], replies)
    assert numbers(found) == [
        (("network 2", "othello"), 1, 0),
        (("people", "chess"), 1, 0),
        (("people", "othello"), 2, 1),
    ]
    assert found[-1].errors.expected == pytest.approx(0.125 + 0.5)
    assert json.loads(json.dumps(found[-1].to_json()))["group"] == {"model": "people", "game": "othello"}
    by_phase = group_calibrations([GAME], [REPLY, replace(REPLY, ply=19)], [By.PHASE])
    assert [each.group["phase"] for each in by_phase] == ["plies 1 to 20", "plies 21 to 40"]
    assert list(by_phase[0].group) == ["model", "phase", "game"]
    assert group_calibrations([GAME], []) == []
