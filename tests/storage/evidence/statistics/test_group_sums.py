"""Statistics of groups of games, on facts that are written down or drawn here."""

import random
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest

from engine.decision import OutcomeKind
from storage.evidence.statistics.groups import GroupKey, GroupStatistics
from storage.records import GameResult, GameStatus
from tests.storage.evidence.statistics.arrays import group_statistics
from tests.storage.evidence.statistics.by_reply import statistics_by_reply
from tests.storage.evidence.statistics.facts import GameFact, ReplyFact

START = datetime(2026, 11, 25, 12, tzinfo=UTC)
GAME = GameFact(
    id=1,
    site="arena",
    game="othello",
    speed="blitz",
    strategy="trappy",
    version="0.2.0+5",
    settings="median",
    person=1,
    is_bot=False,
    opponent_rating=1510,
    state=GameStatus.FINISHED,
    result=GameResult.WIN,
    started_at=START,
    games_before=0,
)
REPLY = ReplyFact(
    decision_id=1,
    game_id=1,
    ply=0,
    reply_count=4,
    is_decided=False,
    is_trap=False,
    kind=OutcomeKind.OPTIMAL,
    fell_for_best=False,
    cost=0.0,
    is_unjudged=False,
    is_taken=False,
    has_bait=False,
    model="people",
    error_uniform=0.25,
    error_expected=0.125,
    cost_uniform=0.0625,
    cost_expected=0.03125,
    fall_uniform=0.0,
    fall_expected=0.0,
    bait_uniform=0.0,
    bait_expected=0.0,
)
FALL = replace(
    REPLY,
    is_trap=True,
    kind=OutcomeKind.FELL_FOR_PAPER_TRAP,
    cost=0.5,
    fall_uniform=0.5,
    fall_expected=0.25,
)
BAIT = replace(REPLY, has_bait=True, is_taken=True, cost=0.25, bait_uniform=0.25, bait_expected=0.5)


def test_a_group_adds_up_what_happened_beside_what_was_expected() -> None:
    replies = [
        REPLY,
        replace(FALL, decision_id=2),
        replace(FALL, decision_id=3, kind=OutcomeKind.ERRED_ELSEWHERE, cost=0.25),
        replace(FALL, decision_id=4, kind=OutcomeKind.OPTIMAL, cost=0.0),
        replace(BAIT, decision_id=5),
        replace(FALL, decision_id=6, is_decided=True),
    ]
    (found,) = group_statistics([GAME], replies)
    assert found.group == {"strategy": "trappy", "game": "othello"}
    assert (found.games, found.wins, found.draws, found.losses, found.persons) == (1, 1, 0, 0, 1)
    assert (found.replies, found.decided, found.optimal) == (5, 1, 3)
    assert found.errors.n == 5
    assert found.errors.happened == pytest.approx(3 / 5)
    assert (found.errors.chance, found.errors.model) == (0.25, 0.125)
    assert found.errors.beyond_chance.mean == pytest.approx(3 / 5 - 0.25)
    assert found.errors.beyond_model.mean == pytest.approx(3 / 5 - 0.125)
    assert found.cost.happened == pytest.approx((0.5 + 0.25 + 0.25) / 5)
    assert (found.baits_set, found.baits.happened, found.baits.chance, found.baits.model) == (1, 1, 0.25, 0.5)
    traps = (found.traps_set, found.traps_optimal, found.traps_fell, found.traps_erred_elsewhere)
    assert traps == (3, 1, 1, 1)
    assert found.falls.n == 3
    assert found.falls.happened == pytest.approx(1 / 3)
    assert (found.falls.chance, found.falls.model) == (0.5, 0.25)


def test_random_movers_err_no_more_after_traps_than_chance_has_it() -> None:
    """The artefact of comparing positions: random movers err far more often after a trap, as chance says."""
    rng = random.Random(1)
    games, replies = [], []
    for number in range(200):
        games.append(replace(GAME, id=number, person=number % 60))
        replies += [_random_reply(rng, number) for _ in range(20)]
    after, without = _errors(replies, is_trap=True), _errors(replies, is_trap=False)
    assert after > without + 0.2
    (found,) = group_statistics(games, replies)
    for beyond in (found.errors.beyond_chance, found.falls.beyond_chance, found.cost.beyond_chance):
        assert beyond.low is not None
        assert beyond.high is not None
        assert beyond.low < 0 < beyond.high
        assert beyond.high - beyond.low < 0.1


def _random_reply(rng: random.Random, game_id: int) -> ReplyFact:
    """A reply drawn evenly from those of a position that sets a trap or does not."""
    is_trap = rng.random() < 0.5
    costs = [0.0] * (1 if is_trap else 3) + [0.3] * (4 if is_trap else 2)
    cost = rng.choice(costs)
    share = sum(each > 0 for each in costs) / len(costs)
    return replace(
        REPLY,
        game_id=game_id,
        is_trap=is_trap,
        reply_count=len(costs),
        kind=(OutcomeKind.FELL_FOR_PAPER_TRAP if is_trap else OutcomeKind.ERRED_ELSEWHERE)
        if cost
        else OutcomeKind.OPTIMAL,
        cost=cost,
        error_uniform=share,
        cost_uniform=sum(costs) / len(costs),
        fall_uniform=share if is_trap else 0.0,
    )


def _errors(replies: Sequence[ReplyFact], *, is_trap: bool) -> float:
    some = [reply.erred for reply in replies if reply.is_trap is is_trap]
    return sum(some) / len(some)


def assert_same(found: Sequence[GroupStatistics], wanted: Sequence[GroupStatistics]) -> None:
    """Both say the same, but for the last bits of floating-point numbers."""
    assert [each.group for each in found] == [each.group for each in wanted]
    for one, other in zip(found, wanted, strict=True):
        assert_alike(asdict(one), asdict(other), str(one.group))


def assert_alike(found: object, wanted: object, where: str) -> None:
    if isinstance(wanted, dict):
        assert isinstance(found, dict)
        assert found.keys() == wanted.keys(), where
        for key, value in wanted.items():
            assert_alike(found[key], value, f"{where} {key}")
    elif isinstance(wanted, float):
        # E-values are exponentials of sums, up to 10^304.
        tolerance = 1e-6 if where.endswith("e_value") else 1e-9
        near = 2e-5 if "performance" in where else 1e-9
        assert found == wanted or found == pytest.approx(wanted, rel=tolerance, abs=near), where
    else:
        assert (found, type(found)) == (wanted, type(wanted)), where


def test_many_replies_have_the_intervals_of_single_ones() -> None:
    rng = random.Random(3)
    games = [
        replace(GAME, id=number, person=number % 60, opponent_rating=1000 + number) for number in range(300)
    ]
    replies = [_random_reply(rng, number) for number in range(300) for _ in range(20)]
    found = group_statistics(games, replies, [GroupKey.GAME])
    assert found[0].errors.beyond_chance.low is not None
    assert_same(found, statistics_by_reply(games, replies, [GroupKey.GAME]))


def test_equal_values_have_no_variance() -> None:
    """Sums of squares less their mean are not quite 0 in floating point, and 0 means certainty."""
    games = [replace(GAME, id=number, person=number) for number in range(120)]
    replies = [
        replace(REPLY, game_id=number, reply_count=10, error_uniform=0.1, error_expected=0.0)
        for number in range(120)
    ]
    (found,) = group_statistics(games, replies)
    assert (found.errors.beyond_chance.sd, found.errors.beyond_model.sd) == (0, 0)
    assert found.errors.beyond_chance.excludes_zero
    assert not found.errors.beyond_model.excludes_zero
