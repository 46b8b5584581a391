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


def test_games_that_have_just_begun_count_until_the_load_shows_them() -> None:
    now, asked = [0.0], list[int]()

    def is_busy(new: int) -> bool:
        asked.append(new)
        return new > 3

    limit = SharedGameLimit(0, is_busy, lambda: now[0])
    for games in range(1, 5):
        assert free(limit, "a") == math.inf
        limit.count("a", games, lambda: None)
    assert free(limit, "b") == 0  # four at once
    limit.count("a", 2, lambda: None)
    assert free(limit, "b") == math.inf  # two of them are over
    now[0] = 30.0
    limit.count("a", 5, lambda: None)
    assert free(limit, "b") == math.inf
    assert asked == [0, 1, 2, 3, 4, 2, 3]


def test_busy_threads_leave_no_room() -> None:
    is_busy = [False]
    limit = SharedGameLimit(3, lambda _: is_busy[0])
    limit.count("a", 1, lambda: None)
    assert free(limit, "a") == 3
    assert limit.capacity("a").reason == "all accounts together have reached engine.max_games"
    is_busy[0] = True
    assert (free(limit, "a"), free(limit, "b")) == (0, 0)
    assert limit.capacity("a").reason == "the search threads are too busy for another game"
    is_busy[0] = False
    assert free(limit, "b") == 2
