"""The limit of games at all accounts together."""

import math

from bot.game.shared_game_limit import SharedGameLimit


def test_what_others_play_is_not_free() -> None:
    limit = SharedGameLimit(3)
    woken: list[str] = []
    assert limit.free_games("a") == 3
    limit.count("a", 2, lambda: woken.append("a"))
    limit.count("b", 1, lambda: woken.append("b"))
    assert (limit.free_games("a"), limit.free_games("b"), limit.free_games("c")) == (2, 1, 0)
    assert woken == []
    limit.count("a", 1, lambda: woken.append("a"))
    assert woken == ["b"]
    assert limit.free_games("b") == 2
    limit.forget("b")
    assert woken == ["b", "a"]
    assert limit.free_games("a") == 3
    limit.forget("b")
    assert woken == ["b", "a"]


def test_no_limit_wakes_nobody() -> None:
    limit = SharedGameLimit()
    woken: list[str] = []
    limit.count("a", 9, lambda: woken.append("a"))
    limit.count("b", 9, lambda: woken.append("b"))
    limit.count("a", 0, lambda: woken.append("a"))
    assert (limit.free_games("a"), woken) == (math.inf, [])
