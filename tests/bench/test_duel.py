"""Duels of bare searches: moves that a busy machine left no time for are counted, not hidden."""

from typing import Any

import pytest

from bench.matches.duel import BareSearch, duel
from engine.games import get_rules
from engine.protocols.settings import Allowance
from engine.stop import StopFlag


def no_time() -> StopFlag:
    stop = StopFlag()
    stop.set()
    return stop


@pytest.mark.parametrize("percent", [73, None])
def test_a_move_without_a_search_is_counted(percent: int | None) -> None:
    search = BareSearch("othello", percent, table_mb=1)
    search.new_game()
    game = get_rules("othello")
    chosen = search.choose((), Allowance(move_s=1.0), no_time())
    assert chosen.move in map(game.move_text, game.legal_moves(game.initial()))
    assert search.shallow == 1
    by_nodes = BareSearch("othello", percent, table_mb=1, nodes=3000)
    by_nodes.new_game()
    found = by_nodes.choose((), Allowance(), StopFlag())
    assert by_nodes.shallow == 0
    assert found.depth is not None
    assert found.depth > 1
    assert found.nodes is not None
    assert 1000 < found.nodes < 6000


def test_the_last_move_needs_no_deeper_search() -> None:
    game = get_rules("othello")
    start: Any = game.parse_position(NEARLY_OVER)
    search = BareSearch("othello", table_mb=1, nodes=3000)
    search.new_game(start)
    search.choose((), Allowance(), StopFlag())
    assert search.shallow == 0


def test_a_duel_reports_them(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = (BareSearch("othello", table_mb=1, nodes=3000) for _ in range(2))
    text = duel("othello", a, b, pairs=1, seconds=9.0, seed=1)
    assert "one ply deep" not in text
    choose = BareSearch.choose

    def hurried(self: BareSearch, moves: Any, allowance: Allowance, stop: StopFlag) -> Any:
        return choose(self, moves, allowance, no_time() if self is b else stop)

    monkeypatch.setattr(BareSearch, "choose", hurried)
    text = duel("othello", a, b, pairs=1, seconds=9.0, seed=1)
    assert b.shallow > 30
    assert text.endswith(f"B: {b.shallow} moves searched at most one ply deep: give more time, or nodes")


NEARLY_OVER = "bbbbbbbb/bbbbbbbb/bbbbbbbb/bbbbbbbb/wwwwwwww/wwwwwwww/wwwwwwww/wwwwwww. b"
"""One square is empty."""
