"""The limit of games at all accounts together."""

import math

from bot.game.shared_game_limit import SharedGameLimit


def free(limit: SharedGameLimit, account: str) -> float:
    return limit.capacity(account).max_games


def test_what_others_play_is_not_free() -> None:
    limit = SharedGameLimit(3)
    woken: list[str] = []
    assert free(limit, "a") == 3
    limit.count("a", 2, lambda: woken.append("a"))
    limit.count("b", 1, lambda: woken.append("b"))
    assert (free(limit, "a"), free(limit, "b"), free(limit, "c")) == (2, 1, 0)
    assert woken == []
    limit.count("a", 1, lambda: woken.append("a"))
    assert woken == ["b"]
    assert free(limit, "b") == 2
    limit.forget("b")
    assert woken == ["b", "a"]
    assert free(limit, "a") == 3
    limit.forget("b")
    assert woken == ["b", "a"]


def test_no_limit_wakes_nobody() -> None:
    limit = SharedGameLimit()
    woken: list[str] = []
    limit.count("a", 9, lambda: woken.append("a"))
    limit.count("b", 9, lambda: woken.append("b"))
    limit.count("a", 0, lambda: woken.append("a"))
    assert (free(limit, "a"), woken) == (math.inf, [])


def test_busy_threads_leave_no_room() -> None:
    is_busy = [False]
    limit = SharedGameLimit(3, lambda: is_busy[0])
    limit.count("a", 1, lambda: None)
    assert free(limit, "a") == 3
    assert limit.capacity("a").reason == "all accounts together have reached engine.max_games"
    is_busy[0] = True
    assert (free(limit, "a"), free(limit, "b")) == (0, 0)
    assert limit.capacity("a").reason == "the search threads are too busy for another game"
    is_busy[0] = False
    assert free(limit, "b") == 2
