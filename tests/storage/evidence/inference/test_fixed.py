import json
from dataclasses import asdict
from math import exp, log, nan, sqrt
from typing import Any

import numpy as np
import pytest

from storage.evidence.inference import fixed
from storage.evidence.inference.fixed import fixed_logit, fixed_mean, fixed_ratio, leave_one_out


def test_a_mean_by_hand() -> None:
    """Persons a (1, 0), b (1), c (0): means without them 1/2, 1/3, 2/3; P = 16/6, 5/3 degrees of freedom."""
    found = fixed_mean([1.0, 0.0, 1.0, 0.0], ["a", "a", "b", "c"])
    variance = 2 / 3 * (0 + 1 / 36 + 1 / 36)
    assert found.value == 0.5
    assert found.effective_persons == pytest.approx(16 / 6)
    assert found.low is not None
    assert found.high is not None
    t = 5.2422651305838315  # scipy 1.17.1: stats.t.ppf(0.975, 5 / 3)
    assert found.high - 0.5 == pytest.approx(t * sqrt(variance), rel=1e-5)
    assert 0.5 - found.low == pytest.approx(t * sqrt(variance), rel=1e-5)


def test_one_value_each_is_students_interval() -> None:
    """Leaving one out of n independent values gives s^2/n: here Student's interval of 0 .. 9."""
    found = fixed_mean([float(x) for x in range(10)], list(range(10)))
    error = float(np.std(range(10), ddof=1)) / sqrt(10)
    assert found.high == pytest.approx(4.5 + 2.262157 * error, rel=1e-6)


def test_too_few_persons() -> None:
    assert fixed_mean([], []).too_early == "no values"
    alone = fixed_mean([1.0, 0.0], ["a", "a"])
    assert (alone.value, alone.low, alone.too_early) == (0.5, None, "P 1 of 2")
    uneven = fixed_mean([1.0] * 9 + [0.0], ["a"] * 9 + ["b"])
    assert uneven.too_early == "P 1 of 2"
    assert fixed_mean([1.0, 0.0], ["a", "b"]).too_early is None


def test_a_ratio_by_hand() -> None:
    """Expected 1, 2, 3 and happened 1, 1, 2 by persons a, b, c."""
    found = fixed_ratio([1.0, 2.0, 3.0], [1.0, 1.0, 2.0], ["a", "b", "c"])
    full = log(6 / 4)
    without = [log(5 / 3), log(4 / 3), log(3 / 2)]
    error = sqrt(2 / 3 * sum((x - full) ** 2 for x in without))
    assert found.value == pytest.approx(1.5)
    assert found.low == pytest.approx(exp(full - 4.302653 * error), rel=1e-6)
    assert found.high == pytest.approx(exp(full + 4.302653 * error), rel=1e-6)


def test_ratios_that_are_not_determined() -> None:
    assert fixed_ratio([0.5, 0.5], [0.0, 0.0], ["a", "b"]).too_early == "not determined"
    assert fixed_ratio([0.0, 0.0], [1.0, 0.0], ["a", "b"]).too_early == "not determined"
    one_event = fixed_ratio([0.1, 0.2, 0.3], [0.1, 0.0, 0.0], ["a", "b", "c"])
    assert one_event.value == pytest.approx(6)
    assert one_event.too_early == "not determined if one of the persons is left out"


def logit_data(a: float, b: float, n: int, persons: int) -> tuple[list[float], list[bool], list[int]]:
    rng = np.random.default_rng(5)
    p = rng.uniform(0.05, 0.95, n)
    true = 1 / (1 + np.exp(-(a + b * np.log(p / (1 - p)))))
    return p.tolist(), (rng.random(n) < true).tolist(), [i % persons for i in range(n)]


def test_the_line_of_calibration_is_found() -> None:
    p, happened, persons = logit_data(0.4, 0.7, 4000, 40)
    intercept, slope = fixed_logit(p, happened, persons)
    assert intercept.value == pytest.approx(0.4, abs=0.1)
    assert slope.value == pytest.approx(0.7, abs=0.1)
    for found, truth in ((intercept, 0.4), (slope, 0.7)):
        assert found.low is not None
        assert found.high is not None
        assert found.low < truth < found.high
        assert 0.05 < found.high - found.low < 0.3
    # At the maximum the residuals balance, alone and weighted by the logit.
    assert intercept.value is not None
    assert slope.value is not None
    x = np.log(np.array(p) / (1 - np.array(p)))
    rest = np.array(happened) - 1 / (1 + np.exp(-(intercept.value + slope.value * x)))
    assert rest.sum() == pytest.approx(0, abs=1e-6)
    assert (rest * x).sum() == pytest.approx(0, abs=1e-6)


def test_each_person_is_left_out_of_the_line() -> None:
    p, happened, persons = logit_data(0.0, 1.0, 60, 3)
    found = fixed_logit(p, happened, persons)
    for at in (0, 1):
        fits = []
        for left in range(3):
            kept = [i for i in range(60) if persons[i] != left]
            again = fixed_logit([p[i] for i in kept], [happened[i] for i in kept], [0] * len(kept))
            fits.append(again[at].value)
        expected = leave_one_out(found[at].value, np.array(fits, np.float64), np.array([20.0] * 3))
        assert found[at].low == pytest.approx(expected.low, rel=1e-6)


@pytest.mark.parametrize("heavy", [1, 20])
def test_one_of_many_persons_is_left_out_of_the_line(heavy: int) -> None:
    """Who moves the line hardly, and who moves it much, beside them."""
    p, happened, persons = logit_data(0.3, 0.8, 1200, 60)
    p += [0.9, 0.05, 0.99, 1e-5] * heavy
    happened += [False, True, False, False] * heavy
    persons += [60] * (len(p) - len(persons))
    found = fixed_logit(p, happened, persons)
    fits = []
    for left in range(61):
        kept = [i for i in range(len(p)) if persons[i] != left]
        again = fixed_logit([p[i] for i in kept], [happened[i] for i in kept], [0] * len(kept))
        fits.append([again[0].value, again[1].value])
    without = np.array(fits, np.float64)
    for at in (0, 1):
        expected = leave_one_out(found[at].value, without[:, at], np.bincount(persons).astype(np.float64))
        assert found[at].low == pytest.approx(expected.low, rel=1e-11)
        assert found[at].high == pytest.approx(expected.high, rel=1e-11)


def test_persons_who_hardly_move_the_line_are_left_out_without_another_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fit, fits = fixed._fit_logit, list[object]()

    def counted(*given: Any) -> Any:
        fits.append(given)
        return fit(*given)

    monkeypatch.setattr(fixed, "_fit_logit", counted)
    fixed_logit(*logit_data(0.3, 0.8, 1200, 60))
    assert len(fits) == 1


def test_separated_events_have_no_line() -> None:
    p = [0.1, 0.2, 0.8, 0.9] * 3
    intercept, slope = fixed_logit(p, [x > 0.5 for x in p], [i // 4 for i in range(12)])
    assert (intercept.too_early, slope.too_early) == ("not determined", "not determined")
    same, _ = fixed_logit([0.3] * 4, [True, False, True, False], [0, 1, 2, 3])
    assert same.too_early == "not determined"
    sure, _ = fixed_logit([0.0, 1.0, 0.0, 1.0], [True, False, False, True], [0, 1, 2, 3])
    assert sure.value is not None  # 0 and 1 are taken as 1e-6 from them
    assert fixed_logit([], [], [])[0].too_early == "no values"


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match=r"probability 2 is 1.5, not a finite number from 0 to 1"):
        fixed_logit([0.5, 1.5], [True, False], ["a", "b"])
    with pytest.raises(ValueError, match="value below the line 1 is -1"):
        fixed_ratio([1.0], [-1.0], ["a"])
    with pytest.raises(ValueError, match="but 2 persons"):
        fixed_mean([1.0], ["a", "b"])
    with pytest.raises(ValueError, match=r"^value 1 is nan"):
        fixed_mean([nan], ["a"])


def test_json() -> None:
    found = json.loads(json.dumps(asdict(fixed_mean([1.0, 0.0, 1.0], ["a", "b", "c"]))))
    assert found["kind"] == "fixed"
    assert found["n"] == 3
