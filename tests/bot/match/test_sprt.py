import math
import random

import pytest

from bot.match.player_specs import MatchError
from bot.match.score import PAIR_SCORES, score_from_elo
from bot.match.sprt import Sprt, SprtVerdict, judge, llr, parse_sprt
from tests.bot.match.samples import finished


def test_bounds() -> None:
    """Wald's, at 5 % each: +-2.94."""
    sprt = Sprt(0, 5)
    assert sprt.upper == pytest.approx(2.9444, abs=1e-4)
    assert sprt.lower == pytest.approx(-2.9444, abs=1e-4)
    assert Sprt(0, 5, 0.01, 0.1).upper == pytest.approx(math.log(0.9 / 0.01))


def test_coins() -> None:
    """Of pairs that are won or lost altogether the ratio is that of two coins, in closed form."""
    low, high = score_from_elo(0), score_from_elo(50)
    expected = 60 * math.log(high / low) + 40 * math.log((1 - high) / (1 - low))
    assert llr((40, 0, 0, 0, 60), 0, 50) == pytest.approx(expected, abs=0.01)


def test_close_to_the_normal_approximation() -> None:
    """N (s1 - s0) (2 m - s0 - s1) / (2 v), which holds for small differences."""
    seen = (30, 120, 500, 160, 50)
    total = sum(seen)
    mean = sum(n * s for n, s in zip(seen, PAIR_SCORES, strict=True)) / total
    variance = sum(n * (s - mean) ** 2 for n, s in zip(seen, PAIR_SCORES, strict=True)) / total
    low, high = score_from_elo(0), score_from_elo(5)
    expected = total * (high - low) * (2 * mean - low - high) / (2 * variance)
    assert llr(seen, 0, 5) == pytest.approx(expected, rel=0.03)


def test_a_ratio_by_direct_maximisation() -> None:
    """For three outcomes with a given mean one parameter is left, which a grid can search."""
    seen, total = (10, 0, 30, 0, 20), 60

    def best(mean: float) -> float:
        # p(1) = w, p(1/2) = d, p(0) = l with w + d/2 = mean
        found = -math.inf
        for step in range(1, 20_000):
            won = mean * step / 20_000
            drawn = 2 * (mean - won)
            lost = 1 - won - drawn
            if min(won, drawn, lost) > 0:
                found = max(found, 20 * math.log(won) + 30 * math.log(drawn) + 10 * math.log(lost))
        return found

    expected = best(score_from_elo(40)) - best(score_from_elo(-10))
    assert llr(seen, -10, 40) == pytest.approx(expected, abs=0.01)
    assert total == sum(seen)


def test_it_is_symmetric() -> None:
    seen = (5, 7, 20, 11, 9)
    assert llr(seen, -3, 8) == pytest.approx(-llr(seen[::-1], -8, 3))
    assert llr((0, 0, 0, 0, 0), 0, 5) == 0


def test_it_ends_at_the_pair_that_decides() -> None:
    games = {number: finished(number, 1) for number in range(200)}
    found = judge(Sprt(0, 50), games)
    assert found.verdict is SprtVerdict.H1
    assert found.pairs < 100
    fewer = {number: game for number, game in games.items() if number < 2 * found.pairs}
    assert judge(Sprt(0, 50), fewer) == found
    del fewer[2 * found.pairs - 1]
    assert judge(Sprt(0, 50), fewer).verdict is SprtVerdict.OPEN


def test_it_waits_for_the_first_pair_that_is_missing() -> None:
    games = {number: finished(number, 0) for number in range(200) if number != 3}
    found = judge(Sprt(0, 50), games)
    assert (found.verdict, found.pairs) == (SprtVerdict.OPEN, 1)
    games[3] = finished(3, 0)
    assert judge(Sprt(0, 50), games).verdict is SprtVerdict.H0


def test_wrong_verdicts_are_rare() -> None:
    """Simulated at both hypotheses, 100 matches each: at most 5 % of them, and some luck."""
    rng = random.Random(1)
    sprt = Sprt(0, 120)
    for elo, right in ((0.0, SprtVerdict.H0), (120.0, SprtVerdict.H1)):
        won = score_from_elo(elo) - 0.15  # three games of ten are drawn
        wrong = 0
        for _ in range(100):
            seen = [0] * 5
            ratio = 0.0
            while sprt.lower < ratio < sprt.upper:
                pair = sum(_points(rng.random(), won) for _ in range(2))
                seen[round(2 * pair)] += 1
                ratio = llr(seen, sprt.elo0, sprt.elo1)
            wrong += (SprtVerdict.H1 if ratio > 0 else SprtVerdict.H0) is not right
        assert wrong <= 10


def _points(number: float, won: float) -> float:
    return 1.0 if number < won else 0.5 if number < won + 0.3 else 0.0


def test_texts() -> None:
    assert parse_sprt("0,5") == Sprt(0, 5)
    assert parse_sprt("-5, 0.5,0.1,0.2") == Sprt(-5, 0.5, 0.1, 0.2)
    for text in ("0", "0,5,0.1", "5,0", "0,5,0,0.1", "0,5,0.6,0.1", "a,b", "0,inf", "0,2000"):
        with pytest.raises(MatchError, match="--sprt"):
            parse_sprt(text)
