"""How one opponent's replies change: counts and intervals by hand, and what is too few."""

import random
from datetime import UTC, datetime, timedelta
from math import sqrt

import pytest

from storage.database import Database
from storage.evidence.inference.student import t_quantile
from storage.evidence.intervals import share
from storage.evidence.statistics.reply_progress import (
    LEAST_GAMES,
    LEAST_REPLIES,
    GameReplies,
    PlayedReplies,
    block_of,
    progress,
    replies_by_game,
    reply_quality,
)
from tests.storage.evidence.statistics.drawn_database import fill
from tests.storage.evidence.statistics.facts import reply_facts

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


def test_the_numbers_of_twelve_games() -> None:
    errors, counts, costs = [0, 4] * 6, [8] * 12, [0.05, 1.4] * 6
    found = reply_quality([GameReplies(*each) for each in zip(counts, errors, costs, strict=True)])
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
    found = reply_quality([GameReplies(8, 2, 0.5)] * 12)
    by_reply = share(24, 96)
    assert (found.error_low, found.error_high) == (by_reply.low, by_reply.high)
    assert by_reply.low is not None
    assert found.cost_low == pytest.approx(0.0625 * by_reply.low / 0.25)


def test_without_an_error_nothing_says_what_one_costs() -> None:
    found = reply_quality([GameReplies(8, 0, 0.02)] * 12)
    assert (found.error_share, found.error_low) == (0.0, 0.0)
    assert found.error_high == share(0, 96).high
    assert found.cost == pytest.approx(0.0025)
    assert (found.cost_low, found.cost_high) == (None, None)


def test_intervals_end_at_0_and_1() -> None:
    found = reply_quality([GameReplies(2, 2, 1.0 + 0.9 * (number % 2)) for number in range(14)])
    assert found.error_high == 1.0
    assert found.cost_high is not None
    assert found.cost_high <= 1.0
    assert found.error_low is not None
    assert 0.0 < found.error_low < 1.0


@pytest.mark.parametrize(
    ("games", "is_shown"),
    [
        ([GameReplies(2, 1, 0.2)] * 10, True),
        ([GameReplies(2, 1, 0.2)] * 9 + [GameReplies(1, 1, 0.2)], False),  # 19 replies
        ([GameReplies(5, 1, 0.2)] * 9, False),
        ([GameReplies(5, 1, 0.2)] * 9 + [GameReplies()] * 5, False),  # games without a reply are none
        ([GameReplies(50, 1, 0.2)] + [GameReplies(1, 0, 0.0)] * 20, False),  # nearly all of one game
    ],
)
def test_too_few_show_nothing(games: list[GameReplies], is_shown: bool) -> None:
    assert (LEAST_REPLIES, LEAST_GAMES) == (20, 10)
    found = reply_quality(games)
    numbers = (found.error_share, found.error_low, found.error_high, found.cost, found.cost_low)
    assert found.is_shown is is_shown
    assert all((number is None) is not is_shown for number in numbers)


def test_no_reply_at_all() -> None:
    found = reply_quality([GameReplies()])
    assert (found.replies, found.games, found.effective_games, found.is_shown) == (0, 0, 0.0, False)


def test_blocks() -> None:
    games = [
        PlayedReplies(n, START + timedelta(days=n), GameReplies(1, 1, 0.5), GameReplies(2, 0, 0.1))
        for n in range(5)
    ]
    blocks = progress(games, 2)
    assert [(each.first, each.last) for each in blocks] == [(1, 2), (3, 4), (5, 5)]
    assert [(each.since.day, each.until.day) for each in blocks] == [(1, 2), (3, 4), (5, 5)]
    assert [(each.tempting.replies, each.elsewhere.replies) for each in blocks] == [(2, 4), (2, 4), (1, 2)]
    whole = block_of(games)
    assert (whole.first, whole.last, whole.tempting.errors, whole.elsewhere.errors) == (1, 5, 5, 0)
    assert whole.to_json()["until"] == "2026-11-05T12:00:00+00:00"
    assert progress([]) == []


@pytest.mark.parametrize("seed", range(3))
async def test_replies_are_those_of_the_statistics(database: Database, seed: int) -> None:
    async with database.write() as session:
        await fill(session, random.Random(seed), 20)
        facts = [each for each in await reply_facts(session) if not each.is_decided]
        games = sorted({each.game_id for each in facts})
        found = await replies_by_game(session, [*games, 999])
    assert found[999] == (GameReplies(), GameReplies())
    assert len(games) > 3
    for game in games:
        for has_bait, told in zip((True, False), found[game], strict=True):
            some = [each for each in facts if each.game_id == game and each.has_bait is has_bait]
            assert (told.replies, told.errors) == (len(some), sum(each.erred for each in some))
            assert told.cost == pytest.approx(sum(each.cost for each in some))
