from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from storage.inference.suspects import PlayedGame, SuspectFlag, suspects

START = datetime(2026, 1, 1, tzinfo=UTC)


def played(number: int, **changes: Any) -> PlayedGame:
    row = PlayedGame(
        game_id=number,
        person=f"p{number}",
        account=f"arena/p{number}",
        started_at=START + timedelta(hours=number),
        game="othello",
        moves=tuple(f"{number}:{ply}" for ply in range(20)),
        plies=60,
        person_left=False,
        timed_replies=2,
        fast_replies=0,
        judged=0,
        optimal=0,
        expected_optimal=0.0,
    )
    return replace(row, **changes)


def test_an_ordinary_game_has_no_flag() -> None:
    assert suspects([played(1), played(2)]) == {}


def test_left_before_ply_10() -> None:
    rows = [
        played(1, plies=9, person_left=True),
        played(2, plies=10, person_left=True),
        played(3, plies=9),
    ]
    assert suspects(rows) == {1: (SuspectFlag.LEFT_EARLY,)}


def test_half_of_the_replies_are_fast() -> None:
    rows = [
        played(1, timed_replies=4, fast_replies=2),
        played(2, timed_replies=3, fast_replies=1),
        played(3, timed_replies=2, fast_replies=0),
        played(4, timed_replies=0, fast_replies=0),
    ]
    assert suspects(rows) == {1: (SuspectFlag.FAST_REPLIES,)}


def engine_games(count: int, judged: int, optimal: list[int], expected: float) -> list[PlayedGame]:
    return [
        played(n, person="x", judged=judged, optimal=optimal[n % len(optimal)], expected_optimal=expected)
        for n in range(count)
    ]


def test_optimal_replies_far_above_the_model() -> None:
    """Five games of 20: 18 or 19 optimal where 10 were expected; errors 5.0 by reply."""
    found = suspects([*engine_games(5, 20, [18, 19], 10.0), played(9)])
    assert found == dict.fromkeys(range(5), (SuspectFlag.ENGINE_LIKE,))


def test_four_standard_errors_of_independent_replies() -> None:
    """Of 4 games of 25 with 12.5 expected each: one standard error is 5, four are 20."""
    assert suspects(engine_games(4, 25, [17, 18], 12.5)) != {}  # 70 for 50
    assert suspects(engine_games(4, 25, [17, 17, 17, 18], 12.5)) == {}  # 69


def test_games_that_differ_much_prove_less() -> None:
    assert suspects(engine_games(6, 30, [30, 14], 12.0)) == {}


def test_few_replies_or_one_game_prove_nothing() -> None:
    assert suspects(engine_games(9, 11, [11], 5.0)) == {}  # 99 replies
    assert suspects(engine_games(10, 10, [10], 5.0)) != {}  # 100
    assert suspects(engine_games(1, 200, [200], 100.0)) == {}
    assert suspects(engine_games(10, 10, [0], 5.0)) == {}  # as far below
    assert suspects(engine_games(10, 10, [10], 10.0)) == {}  # as expected, without any error


def test_the_first_20_plies_of_another_account_within_7_days() -> None:
    moves = tuple(f"m{ply}" for ply in range(20))
    week = timedelta(days=7)
    rows = [
        played(1, moves=moves, started_at=START),
        played(2, moves=moves, started_at=START + week),
        played(3, moves=moves, started_at=START + 2 * week + timedelta(seconds=1)),
        played(4, moves=moves, started_at=START, game="chess"),
        played(5, moves=moves[:19], started_at=START),
        played(6, moves=moves[:19], started_at=START),
    ]
    assert suspects(rows) == {2: (SuspectFlag.COPIED,)}  # the later one
    assert suspects(rows[::-1]) == suspects(rows)
    late = replace(rows[1], started_at=START + week + timedelta(microseconds=1))
    assert suspects([rows[0], late]) == {}
    assert suspects([rows[0], replace(late, started_at=START)]) == {}  # neither is later
    own = [played(n, moves=moves, account="arena/same") for n in (1, 2)]
    assert suspects(own) == {}
    longer = [replace(rows[0], moves=(*moves, "a")), replace(rows[1], moves=(*moves, "b"))]
    assert set(suspects(longer)) == {2}


def test_flags_have_an_order() -> None:
    row = played(1, plies=2, person_left=True, timed_replies=1, fast_replies=1)
    assert suspects([row]) == {1: (SuspectFlag.LEFT_EARLY, SuspectFlag.FAST_REPLIES)}


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="1 games occur twice"):
        suspects([played(1), played(1)])
    with pytest.raises(ValueError, match="game 1: 3 optimal replies of 2"):
        played(1, judged=2, optimal=3)
    with pytest.raises(ValueError, match=r"game 1: 2.5 optimal replies expected of 2"):
        played(1, judged=2, expected_optimal=2.5)
    with pytest.raises(ValueError, match="game 1: started_at has no time zone"):
        played(1, started_at=START.replace(tzinfo=None))
