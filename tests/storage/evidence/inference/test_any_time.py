import json
from dataclasses import asdict
from math import inf, log, nan, sin, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.evidence.inference.any_time import (
    AnyTimeEstimate,
    PlannedN,
    SequenceDesign,
    estimate,
    estimates,
    interim_analyses,
    largest_person,
)

GAMES = SequenceDesign(PlannedN.GAMES)
OPEN = SequenceDesign(PlannedN.GAMES, least_values=2, least_persons=0)
"""Never too early."""

VILLE = {
    # (opt, alpha, n): limits by ville 0.1.0 (BSD-3, pypi.org/project/ville) after n values of `wave`,
    # `AsymptoticCS(t_opt=opt, alpha=alpha, intersect=False)`, each value of a person of its own.
    (1000, 0.05, 100): (-0.23020316985168915, 0.47138551746641216),
    (1000, 0.05, 500): (-0.03020011176294246, 0.22473516527234128),
    (1000, 0.05, 1000): (0.007925764434532759, 0.18487232416685018),
    (1000, 0.05, 3000): (0.05145999457224121, 0.15668345649833143),
    (4000, 0.05, 500): (-0.05328822678583198, 0.2478232802952308),
    (6000, 0.05, 1000): (-0.003994281246450154, 0.19679236984783308),
    (20000, 0.05, 3000): (0.04452708020227142, 0.16361637086830122),
    (1000, 0.01, 500): (-0.052208071694596125, 0.24674312520399494),
    (1000, 0.01, 3000): (0.042495699604045985, 0.16564775146652666),
}

rows = st.lists(
    st.tuples(st.floats(-5, 5, allow_nan=False).map(lambda x: round(x, 3)), st.integers(0, 5)),
    min_size=2,
    max_size=40,
)


def wave(n: int) -> list[float]:
    return [0.1 + 1.3 * sin(i * i) for i in range(1, n + 1)]


def plain_variance(values: list[float], persons: list[int]) -> float:
    """s2, straight from its definition."""
    mean = sum(values) / len(values)
    off = [value - mean for value in values]
    sums = [sum(d for d, p in zip(off, persons, strict=True) if p == person) for person in set(persons)]
    return max(sum(d * d for d in off), sum(s * s for s in sums)) / (len(values) - 1)


def limits(found: AnyTimeEstimate) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


@pytest.mark.parametrize(("case", "interval"), VILLE.items())
def test_ville_gives_the_same_interval_for_persons_of_one_value_each(
    case: tuple[int, float, int], interval: tuple[float, float]
) -> None:
    planned_n, alpha, n = case
    found = estimate(wave(n), list(range(n)), SequenceDesign(planned_n, alpha))
    assert limits(found) == pytest.approx(interval, abs=1e-7)


def test_widths_by_the_distance_from_where_they_are_tightest() -> None:
    """sqrt(n) w at a tenth, a half, once and twice opt."""
    n = np.array([100.0, 500.0, 1000.0, 2000.0])
    assert (GAMES.width(n) * np.sqrt(n)).tolist() == pytest.approx([3.82, 3.08, 3.04, 3.06], abs=0.005)


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.05 / 12])
def test_r_solves_its_equation(alpha: float) -> None:
    r = float(SequenceDesign(1, alpha).growth(1.0))
    assert r - log(r) == pytest.approx(1 + 2 * log(1 / alpha), abs=1e-9)
    if alpha == 0.05:
        assert r - 1 == pytest.approx(8.212, abs=5e-4)


def test_the_interval_is_tightest_at_opt() -> None:
    def root_n_width(n: float) -> float:
        return float(GAMES.width(n)) * sqrt(n)

    assert root_n_width(1000) < min(root_n_width(980), root_n_width(1020))


@given(rows)
def test_an_estimate_is_that_of_the_definition(pairs: list[tuple[float, int]]) -> None:
    values, persons = [v for v, _ in pairs], [p for _, p in pairs]
    found = estimate(values, persons, OPEN)
    n, variance = len(values), plain_variance(values, persons)
    counts = [persons.count(person) for person in set(persons)]
    assert found.n == n
    assert found.persons == len(counts)
    assert found.effective_persons == pytest.approx(n * n / sum(c * c for c in counts))
    assert found.mean == pytest.approx(sum(values) / n)
    assert found.sd == pytest.approx(sqrt(variance), abs=1e-9)
    half = sqrt(variance) * float(OPEN.width(n))
    low, high = limits(found)
    assert high - low == pytest.approx(2 * half, abs=1e-9)
    assert (low + high) / 2 == pytest.approx(sum(values) / n, abs=1e-9)


@given(rows, st.floats(-1e4, 1e4))
def test_each_look_and_all_at_once_agree(pairs: list[tuple[float, int]], shift: float) -> None:
    values, persons = [v + shift for v, _ in pairs], [p for _, p in pairs]
    seen = interim_analyses(values, persons, OPEN)
    for at in range(len(values)):
        whole = estimate(values[: at + 1], persons[: at + 1], OPEN)
        assert seen.effective_persons[at] == pytest.approx(whole.effective_persons)
        assert seen.mean[at] == pytest.approx(whole.mean, abs=1e-7)
        if whole.sd is not None:
            half = seen.half_width[at] / float(OPEN.width(at + 1))
            assert half == pytest.approx(whole.sd, abs=1e-5)


def test_persons_alike_widen_the_interval() -> None:
    """Each of 100 persons has ten equal values: as uncertain as 100 values, not as 1,000."""
    values = [float(person % 2) for person in range(100) for _ in range(10)]
    persons = [person for person in range(100) for _ in range(10)]
    found, one_each = estimate(values, persons, GAMES), estimate(values, list(range(1000)), GAMES)
    assert found.sd is not None
    assert one_each.sd is not None
    assert found.sd**2 == pytest.approx(10 * one_each.sd**2)


def test_persons_who_balance_themselves_do_not_narrow_it() -> None:
    values, persons = [0.0, 1.0] * 100, [person for person in range(100) for _ in range(2)]
    found = estimate(values, persons, GAMES)
    assert found.sd == pytest.approx(sqrt(50 / 199))


@given(st.floats(-0.5, 0.5), st.integers(100, 400))
def test_the_e_value_reaches_20_when_0_is_excluded(mean: float, n: int) -> None:
    values = [mean + each for each in wave(n)]
    found = estimate(values, list(range(n)), GAMES)
    assert found.e_value is not None
    assert found.excludes_zero == (found.e_value >= 20)


def test_an_e_value_by_hand() -> None:
    """n = 1000 at opt 1000: r = 9.212; 500 values of 0.5 and 500 of -0.3."""
    found = estimate([0.5, -0.3] * 500, list(range(1000)), GAMES)
    r, variance = 9.2121, 0.16 * 1000 / 999
    exponent = (r - 1) * 1000 * 0.1**2 / (2 * r * variance)
    assert found.e_value == pytest.approx(np.exp(exponent) / sqrt(r), rel=1e-3)


def test_too_early() -> None:
    few_values = estimate(wave(99), list(range(99)), GAMES)
    assert few_values.too_early == "99 of 100"
    assert (few_values.low, few_values.high, few_values.e_value) == (None, None, None)
    assert not few_values.excludes_zero
    few_persons = estimate(wave(100), [i % 29 for i in range(100)], GAMES)
    assert few_persons.too_early == "P 28 of 30"
    assert estimate(wave(8), [i % 4 for i in range(8)], GAMES).too_early == "8 of 100, P 4 of 30"
    enough = estimate(wave(120), [i % 30 for i in range(120)], GAMES)
    assert enough.too_early is None
    assert enough.low is not None
    seen = interim_analyses(wave(120), [i % 30 for i in range(120)], GAMES)
    assert seen.has_interval.tolist() == [n >= 100 and n * n / _squares(n) >= 30 for n in range(1, 121)]


def _squares(n: int) -> float:
    return sum((n // 30 + (person < n % 30)) ** 2 for person in range(30))


def test_looks_before_it_may_be_read_do_not_count() -> None:
    """100 times 1 and then as many -1: the first hundred would exclude 0."""
    values = [1.0] * 99 + [-1.0] * 99
    seen = interim_analyses(values, list(range(198)), GAMES)
    assert seen.ever_excludes(0.0)  # from 100 on the mean is still 0.98
    assert not interim_analyses(values[:99], list(range(99)), GAMES).ever_excludes(0.0)


def test_no_values_and_values_that_do_not_differ() -> None:
    assert estimate([], [], GAMES).mean is None
    one = estimate([0.25], ["a"], OPEN)
    assert (one.mean, one.sd, one.low) == (0.25, None, None)
    zeros = estimate([0.0] * 200, list(range(200)), GAMES)
    assert (zeros.low, zeros.high, zeros.excludes_zero) == (0, 0, False)
    assert zeros.e_value is not None
    assert zeros.e_value < 1
    halves = estimate([0.5] * 200, list(range(200)), GAMES)
    assert halves.excludes_zero
    assert halves.e_value is not None
    assert 1e300 < halves.e_value < inf


def test_the_largest_person_and_the_estimate_without_them() -> None:
    values = np.array([0.1, -0.1] * 60 + [1.0] * 5)
    persons = [f"p{i}" for i in range(120)] + ["big"] * 5
    found = largest_person(values, persons, GAMES)
    assert found is not None
    off = values - values.mean()
    by_person = [float(d) ** 2 for d in off[:120]] + [float(off[120:].sum()) ** 2]
    assert found.person == "big"
    assert found.share == pytest.approx(by_person[-1] / sum(by_person))
    assert type(found.share) is float, "not NumPy's"
    assert found.without == estimate(values[:120], persons[:120], GAMES)
    assert largest_person(np.array([1.0]), ["a"], GAMES) is None
    assert largest_person(np.array([1.0, 1.0]), ["a", "b"], GAMES) is None


def test_the_largest_share_is_of_the_variance_in_use() -> None:
    """Person a balances themselves, so the variance of the values counts, and most of it is theirs."""
    found = largest_person(np.array([1.0, -1.0, 0.5, -0.5]), ["a", "a", "b", "b"], OPEN)
    assert found is not None
    assert found.person == "a"
    assert found.share == pytest.approx(2 / 2.5)


def test_json() -> None:
    found = json.loads(json.dumps(asdict(estimate(wave(200), list(range(200)), GAMES))))
    assert found["kind"] == "any time"
    assert found["n"] == 200
    assert found["low"] < found["mean"] < found["high"]


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match=r"^value 2 is nan"):
        estimate([1.0, nan], ["a", "b"], GAMES)
    with pytest.raises(ValueError, match="but 1 persons"):
        interim_analyses([1.0, 2.0], ["a"], GAMES)
    with pytest.raises(ValueError, match=r"\(2, 1\) values, but 2 persons"):
        interim_analyses(np.ones((2, 1)), ["a", "b"], GAMES)
    with pytest.raises(ValueError, match="opt is 0"):
        SequenceDesign(0)
    with pytest.raises(ValueError, match="alpha is 1"):
        SequenceDesign(10, 1.0)
    with pytest.raises(ValueError, match="least_values is 1"):
        SequenceDesign(10, least_values=1)


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 4), st.integers(0, 3)), max_size=40))
def test_the_estimates_of_many_groups_are_those_of_each(drawn: list[tuple[float, int, int]]) -> None:
    values = np.array([value for value, _, _ in drawn], np.float64)
    persons, groups = (np.array([row[at] for row in drawn], np.intp) for at in (1, 2))
    for design in (OPEN, GAMES):
        found = estimates(values, persons, groups, 5, design)
        assert len(found) == 5
        for number, each in enumerate(found):
            its = groups == number
            one = estimate(values[its], persons[its].tolist(), design)
            assert list(asdict(each).values()) == [
                pytest.approx(value, rel=1e-9, abs=1e-9) if isinstance(value, float) else value
                for value in asdict(one).values()
            ]
