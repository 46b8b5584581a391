"""What a game told by NBoard leaves on our clock, and how long and deep a move may be thought about."""

from typing import Any

import pytest

from bot.protocols.nboard import NBoard
from bot.protocols.search_driver import MOVE_OVERHEAD_S, FrontEndSettings, SearchDriver, SearchReport
from engine.games import get_rules
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.strategies.standard import STANDARD
from engine.time_management import Limits
from tests.bot.protocols.driver import Driver

BLACK_BEGINS = "8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *"
WHITE_BEGINS = BLACK_BEGINS.removesuffix("*") + "O"


class MonitoredParts(SearchDriver):
    """Tells what it was asked for, and thinks no longer than it must.

    Args:
        settings: Other than usual.
    """

    def __init__(self, **settings: Any) -> None:
        known: dict[str, Any] = {"strategy": STANDARD, "table_mb": 1, "full_depth": 3, "move_s": 0.125}
        super().__init__(get_rules("othello"), FrontEndSettings(**(known | settings)))
        self.clocks: list[tuple[float, float, int, float]] = []
        """Time left, increment, depth and overhead of each move with a clock."""
        self.limits: list[Limits] = []

    def clock_limits(
        self,
        position: Any,
        remaining_s: float,
        increment_s: float,
        depth: int,
        overhead_s: float,
        moves_to_go: int | None = None,
    ) -> Limits:
        assert moves_to_go is None
        self.clocks.append((remaining_s, increment_s, depth, overhead_s))
        return super().clock_limits(position, remaining_s, increment_s, depth, overhead_s)

    def decide(self, position: Any, limits: Limits, stop: StopFlag) -> SearchReport:
        self.limits.append(limits)
        return super().decide(position, Limits(2), stop)


def go(watched: MonitoredParts, game: str, *more: str) -> None:
    """Ask for a move."""
    with Driver(NBoard, watched) as gui:
        gui.tell(f"set game {game}", *more, "go")
        gui.hear_until("===")


def game_text(
    moves: str = "", *, board: str = BLACK_BEGINS, clocks: str = "TB[05:00/00:10]TW[03:00/0:05]"
) -> str:
    return f"(;GM[Othello]PB[a]PW[b]{clocks}TY[8]BO[{board}]{moves};)"


@pytest.mark.parametrize(
    ("moves", "left_s", "increment_s"),
    [
        ("", 300, 10),
        ("B[F5//20]", 180, 5),
        ("B[F5//20]W[D6//7.5]", 290, 10),
        ("B[F5/1.5/20]W[D6/-2/7.5]B[C3//100]", 177.5, 5),
        ("B[F5//20]W[D6//7.5]B[C3//100]W[D3]", 200, 10),
        ("B[F5//400]W[D6]", -90, 10),
    ],
)
def test_each_side_has_a_clock_and_pays_for_its_own_moves(
    moves: str, left_s: float, increment_s: float
) -> None:
    watched = MonitoredParts()
    go(watched, game_text(moves))
    assert watched.clocks == [(left_s, increment_s, 3, MOVE_OVERHEAD_S)]


@pytest.mark.parametrize(
    ("moves", "left_s", "increment_s"),
    [("", 180, 5), ("W[F4//30]", 300, 10), ("W[F4//30]B[D3//4]", 155, 5)],
)
def test_white_may_begin(moves: str, left_s: float, increment_s: float) -> None:
    watched = MonitoredParts()
    go(watched, game_text(moves, board=WHITE_BEGINS))
    assert watched.clocks == [(left_s, increment_s, 3, MOVE_OVERHEAD_S)]


def test_moves_told_one_by_one_count_like_those_of_the_game() -> None:
    watched = MonitoredParts()
    go(watched, game_text("B[F5//20]"), "move d6//7.5", "move c3/2.5/100", "move d3")
    assert watched.clocks == [(200, 10, 3, MOVE_OVERHEAD_S)]


def test_a_pass_is_a_move_with_its_increment() -> None:
    """White can never move here: its passes stand in the game, or are left out."""
    board = "8 *O------ -------- -------- *O------ -------- -------- *O------ -------- *"
    for told in ("W[PA//3]", "W[PA]", ""):
        watched = MonitoredParts()
        go(watched, game_text(f"B[C1//20]{told}B[C4//1]W[PA]", board=board))
        assert watched.clocks == [(300 - 21 + 2 * 10, 10, 3, MOVE_OVERHEAD_S)]
    for moves in ("B[C1//20]", "B[C1//20]W[PA]B[C4//1]"):
        watched = MonitoredParts()
        go(watched, game_text(moves, board=board))
        assert watched.clocks == [], "a pass takes no thinking"


def test_a_side_without_a_clock_is_bounded_by_time_or_depth_as_usual() -> None:
    only_black = game_text("B[F5//20]", clocks="TB[05:00]")
    watched = MonitoredParts()
    go(watched, only_black)
    assert watched.limits == [Limits(3, 0.125)]
    watched = MonitoredParts()
    go(watched, only_black, "set depth 5")
    assert watched.limits == [Limits(5)]
    assert watched.clocks == []


def test_a_depth_bounds_a_move_with_a_clock_too() -> None:
    watched = MonitoredParts()
    go(watched, game_text("B[F5//20]"), "set depth 7")
    assert watched.clocks == [(180, 5, 7, MOVE_OVERHEAD_S)]
    [limits] = watched.limits
    assert limits.depth == 7
    assert limits.time_s is not None


def ending(empties: int) -> str:
    """A board with so many empty squares, black to move, where black has a move."""
    cells = "-O*" + "-" * (empties - 1) + "*" * (62 - empties)
    rows = " ".join(cells[at : at + 8] for at in range(0, 64, 8))
    return f"8 {rows} *"


@pytest.mark.parametrize(
    ("kind", "empties", "depth", "clocks", "is_solved"),
    [
        ("strong", 12, 4, "", True),
        ("strong", 13, 4, "", False),
        ("strong", 12, 4, "TI[05:00]", True),
        ("strong", 13, 4, "TI[05:00]", False),
        ("strong", 24, 30, "", True),
        ("strong", 25, 16, "", False),
        ("strong", 24, 16, "TI[05:00]", True),
        ("strong", 30, 22, "TI[05:00]", True),
        ("standard", 12, 4, "TI[05:00]", False),
    ],
)
def test_the_strong_player_solves_what_is_little_deeper(
    kind: str, empties: int, depth: int, clocks: str, is_solved: bool
) -> None:
    """And more of it with a clock, which would break it off."""
    watched = MonitoredParts(strategy=strategy_named(kind))
    go(watched, game_text(board=ending(empties), clocks=clocks), f"set depth {depth}")
    [limits] = watched.limits
    game = watched.game
    most = game.most_plies_left(game.parse_position("-" * empties + "X" * (64 - empties) + " X"))
    assert limits.depth == (watched.clamp_depth(most) if is_solved else depth)
    assert (limits.time_s is None) == (clocks == "")
