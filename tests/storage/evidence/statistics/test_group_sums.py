"""Statistics of groups of games, on facts that are written down or drawn here."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.decision import OutcomeKind
from storage.evidence.inference.defaults import CAP_GAMES
from storage.evidence.statistics.groups import By, GroupStatistics
from storage.records import GameResult, GameStatus
from tests.storage.evidence.statistics.arrays import group_statistics
from tests.storage.evidence.statistics.by_reply import statistics_by_reply
from tests.storage.evidence.statistics.facts import GameFact, ReplyFact

START = datetime(2026, 11, 25, 12, tzinfo=UTC)
GAME = GameFact(
    id=1,
    site="arena",
    account="desdemona",
    game="othello",
    speed="blitz",
    rated=True,
    player="trappy",
    version="0.2.0+5",
    settings="median",
    person=1,
    is_bot=False,
    opponent_rating=1510,
    our_rating=1600,
    state=GameStatus.FINISHED,
    is_settled=True,
    result=GameResult.WIN,
    end_reason="normal",
    our_side=0,
    started_at=START,
    ended_at=START,
    plies=60,
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
    erred=False,
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
    REPLY, is_trap=True, kind=OutcomeKind.FELL, cost=0.5, erred=True, fall_uniform=0.5, fall_expected=0.25
)
BAIT = replace(
    REPLY, has_bait=True, is_taken=True, erred=True, cost=0.25, bait_uniform=0.25, bait_expected=0.5
)


def test_a_group_adds_up_what_happened_beside_what_was_expected() -> None:
    replies = [
        REPLY,
        replace(FALL, decision_id=2),
        replace(FALL, decision_id=3, kind=OutcomeKind.ERRED_ELSEWHERE, cost=0.25),
        replace(FALL, decision_id=4, kind=OutcomeKind.OPTIMAL, cost=0.0, erred=False),
        replace(BAIT, decision_id=5),
        replace(FALL, decision_id=6, is_decided=True),
    ]
    (found,) = group_statistics([GAME], replies)
    assert found.group == {"player": "trappy", "game": "othello"}
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


def test_two_games_are_never_added_up() -> None:
    chess = replace(GAME, id=2, game="chess")
    found = group_statistics([GAME, chess], [], [By.PLAYER])
    assert [each.group["game"] for each in found] == ["chess", "othello"]
    assert [each.games for each in found] == [1, 1]


def test_rating_bands_are_of_one_site() -> None:
    (found,) = group_statistics([GAME], [], [By.RATING_BAND])
    assert found.group == {"site": "arena", "rating-band": "1400 to 1599", "game": "othello"}


def test_a_game_counts_in_each_phase_that_it_reached() -> None:
    replies = [replace(REPLY, ply=ply) for ply in (0, 18, 19, 41)]  # of our moves: the replies are one later
    found = group_statistics([GAME], replies, [By.PHASE])
    assert [(each.group["phase"], each.games, each.replies) for each in found] == [
        ("plies 1 to 20", 1, 2),
        ("plies 21 to 40", 1, 1),
        ("plies 41 to 60", 1, 1),
    ]


def test_models_are_named_and_told_apart() -> None:
    replies = [
        replace(REPLY, model="b"),
        replace(REPLY, model="a"),
        replace(REPLY, model="b"),
        replace(REPLY, model="c", is_decided=True),
    ]
    (found,) = group_statistics([GAME], replies)
    assert found.models == ("a", "b")
    apart = group_statistics([GAME, replace(GAME, id=2)], replies[:3], [By.MODEL])
    assert [(each.group["model"], each.games, each.replies) for each in apart] == [("a", 1, 1), ("b", 1, 2)]


@pytest.mark.parametrize("by", list(By))
def test_every_key_splits(by: By) -> None:
    other = replace(
        GAME,
        id=2,
        site="lichess",
        game="chess",
        speed="bullet",
        player="standard",
        version="0.1",
        settings="best",
        is_bot=True,
        opponent_rating=None,
        started_at=START + timedelta(days=40),
    )
    replies = [REPLY, replace(REPLY, game_id=2, ply=30, model="another")]
    assert len(group_statistics([GAME, other], replies, [by])) == 2


def test_replies_beyond_the_first_games_of_a_person_do_not_count() -> None:
    late = replace(GAME, id=2, games_before=CAP_GAMES)
    last = replace(GAME, id=3, games_before=CAP_GAMES - 1)
    replies = [replace(REPLY, game_id=2), replace(REPLY, game_id=3)]
    (found,) = group_statistics([late, last], replies)
    assert (found.games, found.replies) == (2, 1)


def test_replies_of_other_games_are_ignored() -> None:
    assert group_statistics([], [REPLY]) == []


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
        kind=(OutcomeKind.FELL if is_trap else OutcomeKind.ERRED_ELSEWHERE) if cost else OutcomeKind.OPTIMAL,
        cost=cost,
        erred=cost > 0,
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
        assert_alike(one.to_json(), other.to_json(), str(one.group))


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


EXPECTATIONS = tuple(
    f"{what}_{whose}" for what in ("error", "cost", "fall", "bait") for whose in ("uniform", "expected")
)
SHARES = (0.0, 0.1, 0.25, 0.333333, 0.5, 0.9, 1.0)


def drawn_games(rng: random.Random) -> list[GameFact]:
    programs = rng.randrange(5)
    drawn = [
        replace(
            GAME,
            id=number + 1,
            person=rng.randrange(1, 5),
            game=rng.choice(["othello", "chess"]),
            site=rng.choice(["arena", "lichess"]),
            player=rng.choice(["trappy", "standard"]),
            opponent_rating=rng.choice([None, 1200, 1399, 1400, 2100]),
            state=rng.choice([GameStatus.OPEN, GameStatus.FINISHED]),
            result=rng.choice([None, *GameResult]),
            started_at=START + timedelta(days=rng.randrange(70)),
            games_before=rng.choice([0, CAP_GAMES - 1, CAP_GAMES]),
        )
        for number in range(rng.randrange(12))
    ]
    return [replace(game, is_bot=game.person <= programs) for game in drawn]


def drawn_replies(rng: random.Random, games: Sequence[GameFact]) -> list[ReplyFact]:
    def one(game: GameFact) -> ReplyFact:
        cost = rng.choice((0.0, 0.0999, 0.1, 0.25, 0.5, 1.0))
        count = rng.choice([2, 3, 20, 41])
        expected: dict[str, Any] = {name: rng.choice(SHARES) for name in EXPECTATIONS}
        for name in ("error", "fall", "bait"):
            expected[f"{name}_uniform"] = rng.randrange(count + 1) / count
        expected["cost_uniform"] = rng.randrange(10_000 * count + 1) / (10_000 * count)
        return replace(
            REPLY,
            game_id=game.id,
            ply=rng.randrange(60),
            reply_count=count,
            is_decided=rng.random() < 0.25,
            is_trap=rng.random() < 0.5,
            kind=rng.choice([OutcomeKind.OPTIMAL, OutcomeKind.FELL, OutcomeKind.ERRED_ELSEWHERE]),
            fell_for_best=rng.random() < 0.5,
            cost=cost,
            erred=cost >= 0.1,
            is_taken=rng.random() < 0.5,
            has_bait=rng.random() < 0.5,
            model=rng.choice(["b", "a", "people 1f2e"]),
            **expected,
        )

    return [one(rng.choice(games)) for _ in range(rng.randrange(40))] if games else []


@given(st.randoms(use_true_random=True), st.lists(st.sampled_from(By), min_size=1, max_size=3, unique=True))
@settings(max_examples=200)
def test_sums_say_what_single_replies_do(rng: random.Random, by: list[By]) -> None:
    games = drawn_games(rng)
    replies = drawn_replies(rng, games)
    assert_same(group_statistics(games, replies, by), statistics_by_reply(games, replies, by))


def test_many_replies_have_the_intervals_of_single_ones() -> None:
    rng = random.Random(3)
    games = [
        replace(GAME, id=number, person=number % 60, opponent_rating=1000 + number) for number in range(300)
    ]
    replies = [_random_reply(rng, number) for number in range(300) for _ in range(20)]
    found = group_statistics(games, replies, [By.GAME])
    assert found[0].errors.beyond_chance.low is not None
    assert_same(found, statistics_by_reply(games, replies, [By.GAME]))


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
