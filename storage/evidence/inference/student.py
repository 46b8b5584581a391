"""Quantiles of Student's t distribution, including for non-integer degrees of freedom."""

from functools import lru_cache
from math import exp, lgamma, log

_TINY = 1e-300
_PRECISION = 1e-15


@lru_cache(maxsize=1024)
def t_quantile(probability: float, df: float) -> float:
    """The quantile of Student's t distribution at this probability.

    Found by bisection of the distribution function, an incomplete beta function (DLMF 8.17).

    Args:
        probability: Between 1/2 and 1.
        df: Degrees of freedom, 1 or more.

    Raises:
        ValueError: An argument is out of range.
    """
    if not 0.5 <= probability < 1:
        raise ValueError(f"probability is {probability}, not from 1/2 to 1")
    if not df >= 1:
        raise ValueError(f"degrees of freedom are {df}, not 1 or more")
    tail = 1 - probability
    low, high = 0.0, 1.0
    while _upper_tail(high, df) > tail:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if _upper_tail(middle, df) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _upper_tail(t: float, df: float) -> float:
    """P(T > t) for t >= 0."""
    return _incomplete_beta(df / (df + t * t), df / 2, 0.5) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):  # there the continued fraction of the mirrored function converges faster
        return 1 - _incomplete_beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    return front / _continued_fraction(x, a, b)


def _continued_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction 1 + d_1/(1 + d_2/(1 + ...)) of DLMF 8.17.22, by the modified Lentz method."""
    value, c, d = 1.0, 1.0, 0.0
    for step in range(1, 100_000):
        m, odd = divmod(step, 2)
        if odd:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + term * d or _TINY)
        c = 1 + term / c or _TINY
        value *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return value
