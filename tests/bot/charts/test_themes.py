"""The arena's page and the dashboard name the same pieces: one in JavaScript, one in Python."""

import re
from itertools import product
from pathlib import Path

import pytest

import bot.arena
from bot.charts.pieces import river
from bot.charts.themes import theme_of
from tests.bot.charts.parsing import parsed, with_class

BOARD = Path(bot.arena.__file__).parent / "static" / "board"
GAMES = (BOARD / "games.js").read_text(encoding="utf-8")


@pytest.mark.parametrize(("game", "sides"), [("chess", ("white", "black")), ("xiangqi", ("red", "black"))])
def test_pieces_have_the_same_names(game: str, sides: tuple[str, str]) -> None:
    (block,) = re.findall(rf"\n  {game}: {{.*?twoSides\({{\n(.*?)\n    }}\)", GAMES, re.DOTALL)
    names = dict(re.findall(rf'(\w): \[say\("{sides[0]} (\w+)"\), say\("{sides[1]} \2"\)\]', block))
    assert len(names) == block.count("\n") + 1
    pieces = theme_of(game).pieces
    assert {letter: (each.side, each.name) for letter, each in pieces.items()} == {
        case: (side, name)
        for letter, name in names.items()
        for case, side in zip((letter, letter.lower()), sides, strict=True)
    }


def test_boards_have_the_same_edges_and_turns() -> None:
    for game in ("othello", "chess", "xiangqi", "connect4"):
        (block,) = re.findall(rf"\n  {game}: {{\n(.*?)\n  }},", GAMES, re.DOTALL)
        theme = theme_of(game)
        edges = re.findall(r"edges: {(.*?)}", block)
        assert theme.edges == (tuple(re.findall(r"(\w+):", edges[0])) if edges else ("top", "left"))
        assert theme.turns == ("turns: true" in block)
        assert theme.starts_at_top == ('topRow: "last"' not in block)
        assert theme.surface == (re.findall(r'board: "(\w+)"', block) or ["felt"])[0]
        assert theme.numbers_files == ("FILES" in "".join(edges))


def test_the_river_board_has_its_lines() -> None:
    (board,) = parsed(river("r"))
    (lines,) = with_class(board, "river-lines")
    path = lines.get("d", "")
    assert [f"M0 {rank}h8" in path for rank in range(10)] == [True] * 10
    assert path.count("v4M") == 14  # seven files, interrupted by the river
    assert path.count("v9") == 2
    # A mark of two strokes in each corner of the points where cannons and soldiers begin, on the board.
    corners = sum(
        0 <= file + x <= 8
        for file in (1, 7, 1, 7, *(0, 2, 4, 6, 8) * 2)
        for x, _ in product((-1, 1), (-1, 1))
    )
    assert path.count("h0.19") + path.count("h-0.19") == corners == 48
    assert ["".join(each.itertext()) for each in board.iter("text")] == ["楚河", "漢界"]


def test_variants_of_chess_look_like_chess() -> None:
    assert theme_of("crazyhouse") is theme_of("chess")
    assert theme_of("tictactoe").pieces == {}
