import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as some

from bot.match.play import End, ResourceUse
from bot.match.score import (
    ScoreEstimate,
    elo_estimate,
    elo_from_score,
    mean_estimate,
    pair_score_counts,
    result_of,
    score_from_elo,
    score_interval,
)
from storage.evidence.intervals import share
from tests.bot.match.samples import finished

SCORES = some.lists(some.sampled_from((0.0, 0.25, 0.5, 0.75, 1.0)), min_size=1, max_size=60)


def test_elo() -> None:
    assert elo_from_score(0.5) == 0
    assert elo_from_score(0.75) == pytest.approx(190.85, abs=0.01)  # 400 log10(3)
    assert elo_from_score(0.64) == pytest.approx(99.95, abs=0.01)
    assert elo_from_score(1) is None
    assert elo_from_score(0) is None
    assert score_from_elo(400) == pytest.approx(10 / 11)
    assert elo_from_score(score_from_elo(-123)) == pytest.approx(-123)


def test_an_interval_by_hand() -> None:
    """200 pairs: with many, it is the mean plus or minus 1.96 standard errors."""
    pairs = [0.25] * 40 + [0.5] * 80 + [0.75] * 60 + [1.0] * 20
    mean = statistics.mean(pairs)
    error = 1.96 * statistics.stdev(pairs) / math.sqrt(200)
    low, high = score_interval(pairs)
    assert low == pytest.approx(mean - error, abs=0.001)
    assert high == pytest.approx(mean + error, abs=0.001)


def test_won_altogether() -> None:
    """Wilson's interval for 10 of 10, with a limit on one side only."""
    low, high = score_interval([1.0] * 10)
    assert low == pytest.approx(10 / (10 + 1.96**2), abs=1e-4)
    assert high == 1
    estimate = elo_estimate([1.0] * 10)
    assert (estimate.value, estimate.high) == (None, None)
    assert estimate.low == pytest.approx(elo_from_score(10 / (10 + 1.96**2)), abs=0.1)
    assert elo_estimate([0.0] * 10).low is None


def test_pairs_that_vary_more_than_a_coin_count_as_a_coin() -> None:
    """A pair won and one lost: two trials, though their sample variance is twice a coin's."""
    low, high = score_interval([1.0, 0.0])
    by_wilson = share(1, 2)
    assert low == pytest.approx(by_wilson.low)
    assert high == pytest.approx(by_wilson.high)


def test_all_alike_is_not_certain() -> None:
    low, high = score_interval([0.5] * 10)
    assert 0.38 < low < 0.45
    assert high == pytest.approx(1 - low)


def test_nothing_is_known_before_the_first_pair() -> None:
    assert elo_estimate([]) == ScoreEstimate(None, None, None)
    with pytest.raises(ValueError, match="no pairs"):
        score_interval([])
    nothing = result_of({})
    assert (nothing.games, nothing.share, nothing.names, nothing.ends) == (0, None, ("", ""), ())
    assert nothing.spent == (ResourceUse(), ResourceUse())
    assert (ResourceUse().mean_s, ResourceUse().mean_depth) == (0.0, None)


@given(SCORES)
def test_intervals_hold_their_estimate(pairs: list[float]) -> None:
    low, high = score_interval(pairs)
    mean = statistics.mean(pairs)
    assert 0 <= low <= mean + 1e-12
    assert mean - 1e-12 <= high <= 1
    mirrored = score_interval([1 - pair for pair in pairs])
    assert mirrored[0] == pytest.approx(1 - high)
    assert mirrored[1] == pytest.approx(1 - low)


@pytest.mark.parametrize("pairs", range(1, 30))
def test_intervals_end_exactly_at_the_ends(pairs: int) -> None:
    """Without rounding errors: no share is below 0 or above 1."""
    assert score_interval([0.0] * pairs)[0] == 0.0
    assert score_interval([1.0] * pairs)[1] == 1.0


def test_a_mean() -> None:
    assert mean_estimate([]) == ScoreEstimate(None, None, None)
    assert mean_estimate([3.0]) == ScoreEstimate(3.0, None, None)
    assert mean_estimate([3.0, 3.0]) == ScoreEstimate(3.0, None, None)
    estimate = mean_estimate([1.0, 3.0])
    assert estimate.value == 2
    assert estimate.high == pytest.approx(2 + 12.706, abs=0.001)


def test_a_result() -> None:
    games = {
        0: finished(
            0,
            1,
            margin=10,
            used=(ResourceUse(2, 0.5, 0.4, 1, 12, 2, 0.3, 2, 900, 1), ResourceUse(2, 1.0, 0.6, 0, 0, 0)),
        ),
        1: finished(
            1, 0.5, margin=0, used=(ResourceUse(1, 0.1, 0.1, 0, 4, 1), ResourceUse(1, 0.2, 0.2, 0, 0, 0))
        ),
        2: finished(2, 0, end=End.TIME, loser=0),
        3: finished(3, 1, margin=2),
        5: finished(5, 0, margin=-64),  # whose other half is still to be played
    }
    result = result_of(games)
    assert (result.games, result.wins, result.draws, result.losses) == (5, 2, 1, 2)
    assert result.share == 0.5
    assert result.pairs == (0, 0, 1, 1, 0)
    assert result.elo.value == elo_from_score(0.625)
    assert result.discs.value == 5
    assert result.ends == ((End.RULES, None, 4), (End.TIME, 0, 1))
    ours, theirs = result.spent
    assert (ours.moves, ours.longest_s, ours.late, ours.mean_depth) == (3, 0.4, 1, 16 / 3)
    assert ours.mean_s == pytest.approx(0.2)
    assert theirs.mean_depth is None
    assert (ours.mean_cpu_s, ours.mean_nodes) == (0.15, 900)  # of the moves where they are known
    assert (theirs.mean_cpu_s, theirs.mean_nodes) == (None, None)


def test_the_most_frequent_end_comes_first() -> None:
    games = {number: finished(number, 1) for number in (1, 2)}
    ends = result_of({0: finished(0, 0, end=End.TIME, loser=0), **games}).ends
    assert ends == ((End.RULES, None, 2), (End.TIME, 0, 1))


def test_counts() -> None:
    assert pair_score_counts([0, 0.25, 0.5, 0.5, 1]) == (1, 1, 2, 0, 1)
