"""What `bench.endurance.browsers` makes of its measurements."""

import pytest

from bench.endurance.browsers import Answer, Block, Delays, delays, lines, quantile

BLOCKS = [Block(False, 0.0, 10.0, 0, 1.0), Block(True, 20.0, 30.0, 50, 3.0)]


def test_moves_are_told_apart_by_their_blocks() -> None:
    answers = [
        Answer("a", 1, 5.0, 0.03),
        Answer("a", 3, 10.5, 0.03),  # too late for the first block
        Answer("a", 5, 20.01, 0.03),  # begun before the second one
        Answer("a", 7, 25.0, 0.05),
        Answer("b", 7, 26.0, 0.05),  # of which no decision is known
    ]
    searched_s = {("a", ply): 0.01 for ply in (1, 3, 5, 7)}
    without = delays(BLOCKS, answers, searched_s, has_browsers=False)
    with_them = delays(BLOCKS, answers, searched_s, has_browsers=True)
    assert without.delay_ms == pytest.approx([20.0])
    assert with_them.delay_ms == pytest.approx([40.0])
    assert without.search_ms == with_them.search_ms == pytest.approx([10.0])


def test_quantiles() -> None:
    values = [float(each) for each in range(100, 0, -1)]
    assert [quantile(values, percent) for percent in (50, 95, 99)] == [51.0, 96.0, 100.0]
    assert quantile([3.0], 99) == 3.0
    with pytest.raises(ValueError, match="no moves"):
        quantile([], 50)


@pytest.mark.parametrize(
    ("more_ms", "spread_ms", "verdict"),
    [(4.0, 0.0, "passed"), (5.0, 0.0, "passed"), (5.1, 0.0, "NOT PASSED"), (5.0, 90.0, "not clear")],
)
def test_report(more_ms: float, spread_ms: float, verdict: str) -> None:
    times = [10.0 + spread_ms * number / 100 for number in range(100)]
    without = Delays(tuple(times), (1.0,))
    with_them = Delays(tuple(each + more_ms for each in times), (2.0,))
    said = list(lines(BLOCKS, without, with_them, 10))
    assert said[-1].endswith(f": p50 {verdict}, p95 {verdict}, p99 {verdict}")
    assert any(line.split() == ["pages", "fetched", "a", "second", "0.0", "5.0"] for line in said)
    assert any(line.split()[-2:] == ["10.0", "30.0"] for line in said)
    assert f"+{more_ms:.2f}" in said[1]
