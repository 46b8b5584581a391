import json

import numpy as np
import pytest

from storage.inference.any_time import SequenceDesign, estimate
from storage.inference.calibration import calibrations
from storage.inference.figure9 import JudgedReply
from storage.inference.fixed import fixed_logit, fixed_ratio
from tests.storage.inference.samples import reply


def rows(n: int = 300) -> list[JudgedReply]:
    rng = np.random.default_rng(1)
    p = rng.uniform(0.05, 0.6, n)
    return [
        reply(k, person=k % 50, error_model=float(p[k]), erred=bool(rng.random() < p[k])) for k in range(n)
    ]


def test_a_band_has_the_numbers_of_its_replies() -> None:
    given = rows()
    found = calibrations(given, opt=2000)[0]
    p, o = [each.error_model or 0 for each in given], [each.erred for each in given]
    persons = [each.person for each in given]
    assert (found.by, found.n, found.happened) == ("all", 300, sum(o))
    assert found.expected == pytest.approx(sum(p))
    assert found.ratio == fixed_ratio(p, np.array(o, np.float64), persons)
    assert (found.intercept, found.slope) == fixed_logit(p, o, persons)
    assert found.drift == estimate(np.array(o) - np.array(p), persons, SequenceDesign(2000))


def test_bands() -> None:
    given = [
        reply(1, rating=1399, ply=19, games_before=0),
        reply(2, rating=1400, ply=20, games_before=1),
        reply(3, rating=None, ply=40, games_before=30),
        reply(4, rating=1599, ply=39, games_before=31),
    ]
    found = [(each.by, each.low, each.high, each.n) for each in calibrations(given)]
    assert found == [
        ("all", None, None, 4),
        ("rating", None, None, 1),
        ("rating", 1200, 1399, 1),
        ("rating", 1400, 1599, 2),
        ("ply", 0, 19, 1),
        ("ply", 20, 39, 2),
        ("ply", 40, 59, 1),
        ("games before", 0, 0, 1),
        ("games before", 1, 30, 2),
        ("games before", 31, None, 1),
    ]


def test_models_and_games_apart_and_only_where_there_was_something_to_predict() -> None:
    given = [
        reply(1),
        reply(2, model="network 2"),
        reply(3, game="chess"),
        reply(4, decided=True),
        reply(5, model=None, error_model=None),
    ]
    found = [(each.model, each.game, each.n) for each in calibrations(given) if each.by == "all"]
    assert found == [("network 1", "chess", 1), ("network 1", "othello", 1), ("network 2", "othello", 1)]


def test_drift_raises_the_alarm() -> None:
    """People err at 0.4 where the model says 0.25."""
    given = [reply(n, person=n % 199, erred=n % 5 < 2) for n in range(1000)]
    found = calibrations(given)[0]
    assert found.drift.excludes_zero
    assert found.ratio.value == pytest.approx(0.25 / 0.4)


def test_json() -> None:
    found = json.loads(json.dumps([each.to_json() for each in calibrations(rows(40))]))
    assert found[0]["ratio"]["kind"] == "fixed"
    assert found[0]["drift"]["kind"] == "any time"
