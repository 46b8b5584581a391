"""A match's score, and its Elo difference with an interval.  Pure arithmetic.

Two games from one opening are not independent, because an opening that favours one side does so in both.
Pairs are independent, so every interval and test here is based on pairs, each with a score in {0, 1/4, 1/2,
3/4, 1} (half the sum of A's points). If openings differ in how much they favour a side, using pairs also
gives narrower intervals than using single games.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.match.play import End, FinishedGame, ResourceUse
from storage.evidence.inference.student import t_quantile
from storage.evidence.intervals import Z_95

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class ScoreEstimate:
    """A number with its 95 % interval."""

    value: float | None
    """None if infinite or unknown."""
    low: float | None
    """None if there is no lower limit."""
    high: float | None
    """None if there is no upper limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A match's result so far, from A's point of view."""

    games: int
    wins: int
    draws: int
    losses: int
    share: float | None
    """A's share of all points; None before the first game."""
    pairs: tuple[int, ...]
    """Number of complete pairs by A's points: 0, 1/2, 1, 1 1/2, 2."""
    elo: ScoreEstimate
    """Elo difference, from complete pairs."""
    discs: ScoreEstimate
    """Mean of A's discs minus B's discs, from complete pairs of Othello games that ended by the rules."""
    ends: tuple[tuple[End, int | None, int], ...]
    """How games ended, which player (0: A, 1: B) failed, if any, and how often; most frequent first."""
    spent: tuple[ResourceUse, ResourceUse]
    """Resources used by A and B over all games."""
    names: tuple[str, str]
    """Names that A and B report; empty before the first game."""


def elo_from_score(share: float) -> float | None:
    """Elo difference for an expected score; None for 0 and 1, which require an infinite difference."""
    if not 0 < share < 1:
        return None
    return 400 * math.log10(share / (1 - share))


def score_from_elo(elo: float) -> float:
    """Expected score at an Elo difference."""
    return 1 / (1 + 10 ** (-elo / 400))


def score_interval(pairs: Sequence[float]) -> tuple[float, float]:
    """95 % interval of the expected score, from the scores of pairs.

    A Wilson interval (see `storage.evidence.intervals`), also valid at 0 % and 100 %, with the effective
    sample size n / c, where c is the variance of pair scores divided by the variance of a coin with the same
    mean. c is set to 1 if there are only wins or only losses, and to at least 1 / n otherwise, because equal
    scores so far do not prove that the next score will be equal.

    Raises:
        ValueError: There are no pairs.
    """
    n = len(pairs)
    if n == 0:
        raise ValueError("there are no pairs")
    mean = statistics.mean(pairs)
    coin = mean * (1 - mean)
    ratio = statistics.variance(pairs) / coin if n > 1 and coin > 0 else 1.0
    trials = n / min(1.0, max(1 / n, ratio))
    z2 = Z_95**2
    middle = (mean + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z_95 / (1 + z2 / trials) * math.sqrt(coin / trials + z2 / (4 * trials**2))
    return (0.0 if mean == 0 else middle - half), (1.0 if mean == 1 else middle + half)


def elo_estimate(pairs: Sequence[float]) -> ScoreEstimate:
    """The Elo difference from the scores of pairs, with its interval."""
    if not pairs:
        return ScoreEstimate(None, None, None)
    low, high = score_interval(pairs)
    return ScoreEstimate(elo_from_score(statistics.mean(pairs)), elo_from_score(low), elo_from_score(high))


def mean_estimate(values: Sequence[float]) -> ScoreEstimate:
    """Mean of independent values, with its Student's t interval."""
    if not values:
        return ScoreEstimate(None, None, None)
    mean = statistics.mean(values)
    if len(set(values)) < 2:  # equal pairs so far do not prove that the next one will be equal
        return ScoreEstimate(mean, None, None)
    half = t_quantile(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return ScoreEstimate(mean, mean - half, mean + half)


def whole_pairs(games: Mapping[int, FinishedGame]) -> list[tuple[FinishedGame, FinishedGame]]:
    """The pairs whose two games have both finished, in order."""
    return [
        (games[number], games[number + 1])
        for number in sorted(games)
        if number % 2 == 0 and number + 1 in games
    ]


def without_forfeits(games: Mapping[int, FinishedGame]) -> dict[int, FinishedGame]:
    """The whole pairs in which no game was forfeited, renumbered from 0.

    Like an SPRT, takes pairs only up to the first unfinished one: short games would be counted too often.
    """
    kept: dict[int, FinishedGame] = {}
    first = 0
    while first in games and first + 1 in games:
        if not (games[first].is_forfeit or games[first + 1].is_forfeit):
            kept |= {len(kept): games[first], len(kept) + 1: games[first + 1]}
        first += 2
    return kept


def pair_score(pair: tuple[FinishedGame, FinishedGame]) -> float:
    """A's score in a pair, 0 to 1."""
    return (pair[0].points + pair[1].points) / 2


def pair_score_counts(scores: Sequence[float]) -> tuple[int, ...]:
    """Number of pairs with each of `PAIR_SCORES`."""
    return tuple(sum(score == each for score in scores) for each in PAIR_SCORES)


def result_of(games: Mapping[int, FinishedGame]) -> Result:
    """Return the result of a match from its finished games, keyed by game number."""
    points = [game.points for game in games.values()]
    pairs = whole_pairs(games)
    scores = [pair_score(pair) for pair in pairs]
    margins = [
        (first.margin + second.margin) / 2
        for first, second in pairs
        if first.margin is not None and second.margin is not None
    ]
    ends: dict[tuple[End, int | None], int] = {}
    for game in games.values():
        ends[game.end, game.loser] = ends.get((game.end, game.loser), 0) + 1
    latest = games[max(games)] if games else None
    return Result(
        games=len(points),
        wins=points.count(1.0),
        draws=points.count(0.5),
        losses=points.count(0.0),
        share=statistics.mean(points) if points else None,
        pairs=pair_score_counts(scores),
        elo=elo_estimate(scores),
        discs=mean_estimate(margins),
        ends=tuple(
            (end, loser, count) for (end, loser), count in sorted(ends.items(), key=lambda item: -item[1])
        ),
        spent=(
            sum((game.used[0] for game in games.values()), ResourceUse()),
            sum((game.used[1] for game in games.values()), ResourceUse()),
        ),
        names=latest.names if latest else ("", ""),
    )
