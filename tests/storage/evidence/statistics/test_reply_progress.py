"""How one opponent's replies change: counts and intervals by hand, and what is too few."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from math import sqrt

import numpy as np
import pytest

from storage.database import Database
from storage.evidence.inference.student import t_quantile
from storage.evidence.intervals import share
from storage.evidence.reading import played_game_conditions, replies_of
from storage.evidence.statistics.reply_progress import (
    MIN_EFFECTIVE_GAMES,
    MIN_SHOWN_REPLIES,
    ReplyQuality,
    progress,
    reply_quality,
)
from tests.storage.evidence.statistics.arrays import counted_replies
from tests.storage.evidence.statistics.drawn_database import fill
from tests.storage.evidence.statistics.facts import game_facts, reply_facts

START = datetime(2026, 11, 1, 12, tzinfo=UTC)


def leave_one_out(sums: list[float], counts: list[float]) -> tuple[float, float]:
    """The 95 % interval of a mean of games, as the docstring of `storage.evidence.inference.fixed` says
    it.
    """
    mean, number = sum(sums) / sum(counts), len(counts)
    without = [(sum(sums) - each) / (sum(counts) - count) for each, count in zip(sums, counts, strict=True)]
    variance = (number - 1) / number * sum((each - mean) ** 2 for each in without)
    effective = sum(counts) ** 2 / sum(count * count for count in counts)
    half = t_quantile(0.975, effective - 1) * sqrt(variance)
    return mean - half, mean + half


def quality(games: Sequence[tuple[int, int, float]]) -> ReplyQuality:
    """Games with these numbers of replies and errors, and these costs."""
    return reply_quality(*np.array(games, np.float64).reshape(-1, 3).T)


def test_the_numbers_of_twelve_games() -> None:
    errors, counts, costs = [0, 4] * 6, [8] * 12, [0.05, 1.4] * 6
    found = quality([*zip(counts, errors, costs, strict=True)])
    assert (found.replies, found.errors, found.games, found.effective_games) == (96, 24, 12, 12.0)
    assert found.error_share == 0.25
    assert found.cost == pytest.approx(8.7 / 96)
    by_game = leave_one_out([float(each) for each in errors], [8.0] * 12)
    assert (found.error_low, found.error_high) == pytest.approx(by_game)
    assert found.error_high is not None
    by_cost = leave_one_out(costs, [8.0] * 12)
    in_proportion = [8.7 / 96 * end / 0.25 for end in by_game]
    assert found.cost_low == pytest.approx(min(by_cost[0], in_proportion[0]))
    assert found.cost_high == pytest.approx(max(by_cost[1], in_proportion[1]))
    assert found.is_shown


def test_equal_games_have_no_narrower_interval_than_their_replies() -> None:
    """Leaving out one of equal games changes nothing; Wilson's interval of 24 among 96 remains."""
    found = quality([(8, 2, 0.5)] * 12)
    by_reply = share(24, 96)
    assert (found.error_low, found.error_high) == (by_reply.low, by_reply.high)
    assert by_reply.low is not None
    assert found.cost_low == pytest.approx(0.0625 * by_reply.low / 0.25)


def test_without_an_error_nothing_says_what_one_costs() -> None:
    found = quality([(8, 0, 0.02)] * 12)
    assert (found.error_share, found.error_low) == (0.0, 0.0)
    assert found.error_high == share(0, 96).high
    assert found.cost == pytest.approx(0.0025)
    assert (found.cost_low, found.cost_high) == (None, None)


def test_intervals_end_at_0_and_1() -> None:
    found = quality([(2, 2, 1.0 + 0.9 * (number % 2)) for number in range(14)])
    assert found.error_high == 1.0
    assert found.cost_high is not None
    assert found.cost_high <= 1.0
    assert found.error_low is not None
    assert 0.0 < found.error_low < 1.0


@pytest.mark.parametrize(
    ("games", "is_shown"),
    [
        ([(2, 1, 0.2)] * 10, True),
        ([(2, 1, 0.2)] * 9 + [(1, 1, 0.2)], False),  # 19 replies
        ([(5, 1, 0.2)] * 9, False),
        ([(5, 1, 0.2)] * 9 + [(0, 0, 0.0)] * 5, False),  # games without a reply are none
        ([(50, 1, 0.2)] + [(1, 0, 0.0)] * 20, False),  # nearly all of one game
    ],
)
def test_too_few_show_nothing(games: list[tuple[int, int, float]], is_shown: bool) -> None:
    assert (MIN_SHOWN_REPLIES, MIN_EFFECTIVE_GAMES) == (20, 10)
    found = quality(games)
    numbers = (found.error_share, found.error_low, found.error_high, found.cost, found.cost_low)
    assert found.is_shown is is_shown
    assert all((number is None) is not is_shown for number in numbers)


def test_no_reply_at_all() -> None:
    found = quality([(0, 0, 0.0)])
    assert (found.replies, found.games, found.effective_games, found.is_shown) == (0, 0, 0.0, False)


def test_blocks() -> None:
    table = counted_replies([[(1, 1), (2, 0)]] * 5, START)
    (found,) = progress(table, 2)
    assert [(each.first, each.last) for each in found.blocks] == [(1, 2), (3, 4), (5, 5)]
    assert [(each.since.day, each.until.day) for each in found.blocks] == [(1, 2), (3, 4), (5, 5)]
    counts = [(each.tempting.replies, each.elsewhere.replies) for each in found.blocks]
    assert counts == [(2, 4), (2, 4), (1, 2)]
    whole = found.everything
    assert (whole.first, whole.last, whole.tempting.errors, whole.elsewhere.errors) == (1, 5, 5, 0)
    assert whole.to_json()["until"] == "2026-11-05T12:00:00+00:00"
    assert progress(counted_replies([], START)) == ()


@pytest.mark.parametrize("seed", range(3))
async def test_replies_are_those_of_the_statistics(database: Database, seed: int) -> None:
    async with database.write() as session:
        await fill(session, random.Random(seed), 20)
        every = await reply_facts(session)
        facts = [each for each in every if not each.is_decided and each.cost is not None]
        games = {game.id: game.game for game in await game_facts(session)}
        found = progress(await replies_of(session, *played_game_conditions(None)))
    assert sorted(each.game for each in found) == sorted(set(games.values()))
    for each in found:
        assert each.everything.last == [*games.values()].count(each.game)
        for has_bait, told in ((True, each.everything.tempting), (False, each.everything.elsewhere)):
            some = [fact for fact in facts if games[fact.game_id] == each.game and fact.has_bait is has_bait]
            assert (told.replies, told.errors) == (len(some), sum(fact.erred for fact in some))
            assert told.games == len({fact.game_id for fact in some})
            if told.is_shown:
                assert told.cost == pytest.approx(sum(fact.cost or 0 for fact in some) / len(some))
