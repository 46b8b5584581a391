from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.evidence.inference.suspects import NO_OPENING, PLAYED_GAME, SuspectFlag
from storage.evidence.inference.suspects import suspects as flags_of

HOUR_US = timedelta(hours=1) // timedelta(microseconds=1)
WEEK_US = 7 * 24 * HOUR_US


def played(number: int, **changes: Any) -> NDArray[np.void]:
    row = {
        "id": number,
        "person": number,
        "began_us": number * HOUR_US,
        "opening": number,
        "plies": 60,
        "has_left": False,
        "timed": 2,
        "fast": 0,
        "classified": 0,
        "optimal": 0,
        "optimal_expected": 0.0,
        **changes,
    }
    return np.array(tuple(row[name] for name in PLAYED_GAME.names or ()), PLAYED_GAME)


def suspects(rows: list[NDArray[np.void]]) -> dict[int, tuple[SuspectFlag, ...]]:
    return dict(flags_of(np.array(rows, PLAYED_GAME)))


def test_no_games() -> None:
    assert suspects([]) == {}


def test_an_ordinary_game_has_no_flag() -> None:
    assert suspects([played(1), played(2)]) == {}


def test_left_before_ply_10() -> None:
    rows = [
        played(1, plies=9, has_left=True),
        played(2, plies=10, has_left=True),
        played(3, plies=9),
    ]
    assert suspects(rows) == {1: (SuspectFlag.LEFT_EARLY,)}


def test_half_of_the_replies_are_fast() -> None:
    rows = [
        played(1, timed=4, fast=2),
        played(2, timed=3, fast=1),
        played(3, timed=2, fast=0),
        played(4, timed=0, fast=0),
    ]
    assert suspects(rows) == {1: (SuspectFlag.FAST_REPLIES,)}


def engine_games(count: int, judged: int, optimal: list[int], expected: float) -> list[NDArray[np.void]]:
    return [
        played(n, person=77, classified=judged, optimal=optimal[n % len(optimal)], optimal_expected=expected)
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
    rows = [
        played(1, opening=5, began_us=0),
        played(2, opening=5, began_us=WEEK_US),
        played(3, opening=5, began_us=2 * WEEK_US + 1_000_000),
        played(4, opening=6, began_us=0),
        played(5, opening=NO_OPENING, began_us=0),
        played(6, opening=NO_OPENING, began_us=1),
    ]
    assert suspects(rows) == {2: (SuspectFlag.COPIED,)}  # the later one
    assert suspects(rows[::-1]) == suspects(rows)
    assert suspects([rows[0], played(2, opening=5, began_us=WEEK_US + 1)]) == {}
    assert suspects([rows[0], played(2, opening=5, began_us=0)]) == {}  # neither is later
    own = [played(number, opening=5, person=7) for number in (1, 2)]
    assert suspects(own) == {}
    assert suspects([*own, played(3, opening=5)]) == {3: (SuspectFlag.COPIED,)}
    assert suspects([*own, played(0, opening=5)]) == dict.fromkeys((1, 2), (SuspectFlag.COPIED,))


def test_flags_have_an_order() -> None:
    row = played(1, plies=2, has_left=True, timed=1, fast=1)
    assert suspects([row]) == {1: (SuspectFlag.LEFT_EARLY, SuspectFlag.FAST_REPLIES)}
