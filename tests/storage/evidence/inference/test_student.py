import pytest

from storage.evidence.inference.student import t_quantile


@pytest.mark.parametrize(
    ("probability", "df", "quantile"),
    [  # NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.975, 3, 3.182),
        (0.975, 5, 2.571),
        (0.975, 10, 2.228),
        (0.975, 29, 2.045),
        (0.975, 100, 1.984),
        (0.95, 1, 6.314),
        (0.95, 7, 1.895),
        (0.90, 4, 1.533),
        (0.995, 6, 3.707),
        (0.999, 20, 3.552),
    ],
)
def test_tabulated_values(probability: float, df: float, quantile: float) -> None:
    assert t_quantile(probability, df) == pytest.approx(quantile, abs=5.1e-4)


def test_closed_forms() -> None:
    """With 1 degree of freedom t is tan(pi (p - 1/2)), with 2 it is (2p - 1) sqrt(2 / (4 p (1 - p)))."""
    assert t_quantile(0.975, 1) == pytest.approx(12.706204736174694, rel=1e-9)
    assert t_quantile(0.975, 2) == pytest.approx(0.95 * (2 / (4 * 0.975 * 0.025)) ** 0.5, rel=1e-9)


def test_degrees_of_freedom_need_not_be_whole() -> None:
    """2.5 and 166.3: scipy 1.17.1, `scipy.stats.t.ppf`."""
    assert t_quantile(0.975, 2.5) == pytest.approx(3.5746548420036817, rel=1e-9)
    assert t_quantile(0.975, 166.3) == pytest.approx(1.9743316112656963, rel=1e-9)


def test_many_degrees_of_freedom_are_nearly_normal() -> None:
    assert t_quantile(0.975, 1e6) == pytest.approx(1.959966356, abs=1e-8)
    assert t_quantile(0.5, 10) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("probability", "df"), [(0.4, 5), (1.0, 5), (0.975, 0.5), (0.975, float("nan"))])
def test_arguments_out_of_range(probability: float, df: float) -> None:
    with pytest.raises(ValueError, match="not"):
        t_quantile(probability, df)
