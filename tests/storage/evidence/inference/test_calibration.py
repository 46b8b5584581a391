import json
from dataclasses import asdict

import numpy as np
import pytest

from storage.evidence.inference.any_time import PlannedN, SequenceDesign, estimate
from storage.evidence.inference.calibration import calibration
from storage.evidence.inference.fixed import fixed_logit, fixed_ratio

RNG = np.random.default_rng(1)
PREDICTED = RNG.uniform(0.05, 0.6, 300).tolist()
HAPPENED = [bool(RNG.random() < p) for p in PREDICTED]
PERSONS = [k % 50 for k in range(300)]


def test_the_numbers_of_the_replies() -> None:
    found = calibration(PREDICTED, HAPPENED, PERSONS, planned_n=2000)
    assert (found.n, found.happened) == (300, sum(HAPPENED))
    assert found.expected == pytest.approx(sum(PREDICTED))
    assert found.ratio == fixed_ratio(PREDICTED, np.array(HAPPENED, np.float64), PERSONS)
    assert (found.intercept, found.slope) == fixed_logit(PREDICTED, HAPPENED, PERSONS)
    beyond = np.array(HAPPENED) - np.array(PREDICTED)
    assert found.drift == estimate(beyond, PERSONS, SequenceDesign(2000))
    assert calibration(PREDICTED, HAPPENED, PERSONS).drift == estimate(
        beyond, PERSONS, SequenceDesign(PlannedN.REPLIES)
    )


def test_drift_raises_the_alarm() -> None:
    """People err at 0.4 where the model says 0.25."""
    found = calibration([0.25] * 1000, [n % 5 < 2 for n in range(1000)], [n % 199 for n in range(1000)])
    assert found.drift.excludes_zero
    assert found.ratio.value == pytest.approx(0.25 / 0.4)


def test_no_interval_of_few_persons() -> None:
    """The values stay; 29 persons have no interval at any of the three, 30 have."""
    for persons, early in ((29, "P 29 of 30"), (30, None)):
        n = 10 * persons
        found = calibration(PREDICTED[:n], HAPPENED[:n], [k % persons for k in range(n)])
        for each in (found.ratio, found.intercept, found.slope):
            assert each.value is not None
            assert (each.low is None, each.high is None, each.too_early) == (bool(early), bool(early), early)
    few = calibration([0.2, 0.3], [True, False], ["a", "a"])
    assert few.slope.too_early == "not determined", "the first reason stays"


def test_no_replies() -> None:
    found = calibration([], [], [])
    assert (found.n, found.expected, found.ratio.value, found.drift.mean) == (0, 0, None, None)


def test_json() -> None:
    found = json.loads(json.dumps(asdict(calibration(PREDICTED[:40], HAPPENED[:40], PERSONS[:40]))))
    assert (found["ratio"]["kind"], found["drift"]["kind"]) == ("fixed", "any time")


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match=r"probability 2 is 1.5"):
        calibration([0.5, 1.5], [True, False], ["a", "b"])
    with pytest.raises(ValueError, match="but 1 persons"):
        calibration([0.5, 0.5], [True, False], ["a"])
