"""Estimates and their intervals in plain Python, from their formulas (docs/statistics.md); the numbers are
found by other ways than the program's: integrals by Simpson's rule, sums person by person, bisection."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

ALPHA = 0.05
Z_95 = 1.959963984540054


def effective(counts: Sequence[float]) -> float:
    """P: n^2 / sum n_c^2."""
    return sum(counts) ** 2 / sum(each * each for each in counts) if counts else 0.0


def root(rises: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function crosses 0."""
    for _ in range(200):
        middle = (low + high) / 2
        if rises(middle) > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def student(share: float, df: float) -> float:
    """The quantile of Student's t, by integrating its density."""
    factor = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)

    def below(t: float) -> float:
        steps = 2000
        width = t / steps
        values = [math.pow(1 + (width * n) ** 2 / df, -(df + 1) / 2) for n in range(steps + 1)]
        inside = values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2])
        return 0.5 + factor * inside * width / 3 - share

    return root(below, 0.0, 100.0)


def leave_one_out(taken_met: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """A share, and half of its interval's width by leaving out one person at a time; and P.

    Args:
        taken_met: Of each person, who met something.
    """
    taken, met, many = sum(each[0] for each in taken_met), sum(each[1] for each in taken_met), len(taken_met)
    value = taken / met
    without = [(taken - t) / (met - m) for t, m in taken_met]
    people = effective([m for _, m in taken_met])
    variance = (many - 1) / many * sum((each - value) ** 2 for each in without)
    return value, student(1 - ALPHA / 2, people - 1) * math.sqrt(variance), people


def fixed_share(taken_met: Sequence[tuple[float, float]]) -> dict[str, Any] | None:
    """The share with its interval by person, one left out at a time; None: fewer than 30 effective persons.

    Args:
        taken_met: Of each person.
    """
    some = [each for each in taken_met if each[1]]
    if effective([met for _, met in some]) < 30:
        return None
    value, half, people = leave_one_out(some)
    return {
        "n": sum(met for _, met in some),
        "persons": len(some),
        "effective_persons": people,
        "value": value,
        "low": value - half,
        "high": value + half,
        "too_early": None,
        "alpha": ALPHA,
        "kind": "fixed",
    }


def wilson(count: int, of: int) -> tuple[float, float]:
    """Where the score test of a share just does not refuse it."""
    share = count / of

    def off(z: float) -> Callable[[float], float]:
        return lambda p: p - share - z * math.sqrt(p * (1 - p) / of)

    low = 0.0 if count == 0 else root(off(-Z_95), 0.0, share)
    high = 1.0 if count == of else root(off(Z_95), share, 1.0)
    return low, high


def tightness(alpha: float) -> float:
    """R: x - 1 where x - ln x = 1 + 2 ln(1/alpha)."""
    return root(lambda x: x - math.log(x) - 1 + 2 * math.log(alpha), 1.0, 1000.0) - 1


def any_time(values: Sequence[float], persons: Sequence[Hashable], planned_n: int) -> dict[str, Any]:
    """A mean with the interval that is right at any time, for persons at large."""
    n = len(values)
    by_person: dict[Hashable, list[float]] = defaultdict(list)
    for value, person in zip(values, persons, strict=True):
        by_person[person].append(value)
    people = effective([len(some) for some in by_person.values()])
    reasons = [] if n >= 100 else [f"{n} of 100"]
    reasons += [] if people >= 30 else [f"P {math.floor(people)} of 30"]
    found: dict[str, Any] = {
        "n": n,
        "persons": len(by_person),
        "effective_persons": people,
        "mean": math.fsum(values) / n if n else None,
        "sd": None,
        "low": None,
        "high": None,
        "e_value": None,
        "too_early": ", ".join(reasons) or None,
        "alpha": ALPHA,
        "kind": "any time",
    }
    if n < 2:
        return found
    mean = found["mean"]
    alone = math.fsum((value - mean) ** 2 for value in values)
    together = math.fsum(math.fsum(v - mean for v in some) ** 2 for some in by_person.values())
    variance = max(alone, together) / (n - 1)
    found["sd"] = math.sqrt(variance)
    if reasons:
        return found
    r = 1 + n * tightness(ALPHA) / planned_n
    half = math.sqrt(variance * 2 * r / (n * (r - 1)) * math.log(math.sqrt(r) / ALPHA))
    evidence = (r - 1) * n * mean**2 / (2 * r * variance) - math.log(r) / 2
    return found | {"low": mean - half, "high": mean + half, "e_value": math.exp(evidence)}


def elo(difference: float) -> float:
    """The expected score of who is so much stronger."""
    return 1 / (1 + 10 ** (-difference / 400))


def performance(met: Sequence[tuple[int, float]]) -> dict[str, Any]:
    """The rating whose expected score is the actual one, with its interval by the score test.

    Args:
        met: For each game with a result against somebody rated: the rating, and our points.
    """
    games, points = len(met), sum(each for _, each in met)
    found: dict[str, Any] = {"games": games, "points": float(points)}
    found |= dict.fromkeys(("rating", "low", "high"))

    def off(z: float) -> Callable[[float], float]:
        def rises(rating: float) -> float:
            chances = [elo(rating - other) for other, _ in met]
            return sum(chances) - points - z * math.sqrt(sum(p * (1 - p) for p in chances))

        return rises

    nothing, everything = points == 0, points == games
    if games:
        low, high = min(each for each, _ in met) - 4000.0, max(each for each, _ in met) + 4000.0
        found["rating"] = None if nothing or everything else root(off(0.0), low, high)
        found["low"] = None if nothing else root(off(-Z_95), low, high)
        found["high"] = None if everything else root(off(Z_95), low, high)
    return found
