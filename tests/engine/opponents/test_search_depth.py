"""The depth of an opponent's search, told from its replies."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from bench.opponent_depth import Opponent, play
from bench.suites import native_searcher
from engine.decision import SearchMode
from engine.games import get_rules
from engine.opponents.search_depth import MIN_REPLIES, SeenReply, depth_estimate
from tests.storage.samples import decision


def seen(played: int, *by_depth: Sequence[int]) -> SeenReply:
    return SeenReply(tuple(tuple(each) for each in by_depth), played)


FIRST_IS_BEST = (
    (5_000, 4_000, 3_000),
    (4_000, 5_000, 3_000),
    (2_000, 3_000, 5_000),
)
"""By one ply the first of three replies is the best, by two plies the second, by three the third."""


@pytest.mark.parametrize("game", ["othello", "chess", "xiangqi"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_program_is_recognised_by_a_game(game: str, depth: int) -> None:
    opponent = Opponent(get_rules(game), depth, random.Random(depth), is_noisy=False)
    found = depth_estimate(play(get_rules(game), opponent, 4, 0, 1, native_searcher(game, 1)))
    assert found is not None
    assert found.depth == depth
    assert found.agreement == 1


def test_noise_costs_certainty() -> None:
    opponent = Opponent(get_rules("othello"), 2, random.Random(1), is_noisy=True)
    found = depth_estimate(play(get_rules("othello"), opponent, 4, 0, 1, native_searcher("othello", 1)))
    assert found is not None
    assert found.depth == 2
    assert found.agreement < 1


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_depth_is_shown_when_there_is_enough_evidence(depth: int) -> None:
    one = seen(depth - 1, *FIRST_IS_BEST)
    few = depth_estimate([one] * (MIN_REPLIES - 1))
    enough = depth_estimate([one] * MIN_REPLIES)
    assert few is not None
    assert enough is not None
    assert (few.depth, enough.depth) == (depth, depth)
    assert not few.is_shown
    assert enough.is_shown
    assert enough.is_limit is (depth == 3)
    assert sum(enough.probabilities) == pytest.approx(1)


def test_replies_in_which_all_depths_agree_say_nothing() -> None:
    found = depth_estimate([seen(0, (5_000, 0), (5_000, 0), (5_000, 0))] * 100)
    assert found is not None
    assert found.probabilities == pytest.approx([1 / 3] * 3)
    assert not found.is_shown


def test_who_replies_at_random_has_no_depth() -> None:
    rng = random.Random(1)
    replies = [
        seen(rng.randrange(10), *([rng.randrange(10_000) for _ in range(10)] for _ in range(4)))
        for _ in range(200)
    ]
    found = depth_estimate(replies)
    assert found is not None
    assert not found.is_shown


def test_errors_are_judged_at_their_depth() -> None:
    found = depth_estimate([seen(0, *FIRST_IS_BEST)] * 30 + [seen(2, *FIRST_IS_BEST)])
    assert found is not None
    assert found.depth == 1
    assert (found.errors, found.seen_errors, found.unseen_errors) == (30, 1, 30)


def test_shallow_decisions_say_nothing_of_deeper_searches() -> None:
    deep, shallow = seen(1, *FIRST_IS_BEST), seen(1, *FIRST_IS_BEST[:2])
    found = depth_estimate([shallow] * 30)
    assert found is not None
    assert len(found.probabilities) == 2
    assert found.is_limit
    both = depth_estimate([shallow] * 2 + [deep] * 3)
    assert both is not None
    assert len(both.probabilities) == 3
    assert both.depth == 2


def test_no_replies() -> None:
    assert depth_estimate([]) is None


def test_what_a_decision_says() -> None:
    made = decision(quality=744)
    found = SeenReply.of(made, "d6")
    assert found is not None
    assert (found.depths, found.played) == (made.depth - 1, 1)
    assert found.cost_at(1) == 0  # it looks best
    assert found.cost_at(3) == found.cost_at(9) == 922
    assert SeenReply.of(made, "a1") is None
    assert SeenReply.of(decision(quality=744, complete=False), "f6") is None
    assert SeenReply.of(decision(replies=1), "f6") is None
    assert SeenReply.of(replace(made, search_mode=SearchMode.ENGINE), "f6") is None
