"""The arena's page and the dashboard show the same pieces: one in JavaScript, one in Python."""

import re
from itertools import product
from pathlib import Path

import bot.arena
from bot.charts.pieces import FIGURES, river
from bot.charts.themes import theme_of
from tests.bot.charts.parsing import parsed, with_class

BOARD = Path(bot.arena.__file__).parent / "static" / "board"
PIECES = (BOARD / "pieces.js").read_text(encoding="utf-8")
GAMES = (BOARD / "games.js").read_text(encoding="utf-8")


def test_chess_pieces_have_the_same_shapes() -> None:
    (foot,) = re.findall(r'const FOOT = "([^"]+)"', PIECES)
    (block,) = re.findall(r"const FIGURES = {\n(.*?)\n};", PIECES, re.DOTALL)
    found = {}
    for name, outlines, lines in re.findall(
        r"(\w+): {\s*outlines: \[(.*?)\],\s*lines: \[(.*?)\],", block, re.DOTALL
    ):
        shapes = tuple(
            foot if shape == "FOOT" else shape.strip('"') for shape in re.findall(r'"[^"]+"|FOOT', outlines)
        )
        found[name] = (shapes, tuple(re.findall(r'"([^"]+)"', lines)))
    assert found == FIGURES


def test_chess_pieces_have_the_same_letters() -> None:
    names = dict(re.findall(r'chessman\("(\w)", "(\w+)", say\("white \2"\), say\("black \2"\)\)', GAMES))
    assert {
        letter: piece.name for letter, piece in theme_of("chess").pieces.items() if letter.isupper()
    } == names
    assert {piece.side for letter, piece in theme_of("chess").pieces.items() if letter.islower()} == {"black"}


def test_xiangqi_pieces_have_the_same_inscriptions() -> None:
    names = r'\[say\("red (\w+)"\), say\("black \2"\)\]'
    found = re.findall(rf'\["(\w)", {names}, "(\w)", "(\w)(\w)"\]', GAMES)
    assert len(found) == 7
    pieces = theme_of("xiangqi").pieces
    for letter, name, latin, red, black in found:
        for case, side, han in ((letter, "red", red), (letter.lower(), "black", black)):
            piece = pieces[case]
            assert (piece.name, piece.letter, piece.han, piece.side) == (name, latin, han, side)
    assert len(pieces) == 14


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
    assert PIECES.count("楚河") == PIECES.count("漢界") == 1
    assert ["".join(each.itertext()) for each in board.iter("text")] == ["楚河", "漢界"]


def test_variants_of_chess_look_like_chess() -> None:
    assert theme_of("crazyhouse") is theme_of("chess")
    assert theme_of("tictactoe").pieces == {}
