"""Books and tables of chess: real files for the book, and scripted answers in place of tables."""

import random
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import chess.polyglot
import chess.syzygy
import pytest

from engine.completion import complete
from engine.decision import Decision, DirectMove
from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.games.standard_chess import StandardChess
from engine.lookup.polyglot import BookChoice, BookMoveChoice, PolyglotBook
from engine.lookup.source import BadSource
from engine.lookup.syzygy import SyzygyTables
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.reference import ReferenceSearcher
from engine.stop import StopFlag
from engine.strategies.move_context import StrongOptions
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from engine.verification import verify

game = StandardChess()
START = game.initial()
CASTLES = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1"


def row(fen: str, start: str, to: str, weight: int, promotion: int = 0) -> tuple[int, int, int]:
    """A book's row: key, move as Polyglot has it (castling: the king takes its rook), weight."""
    squares = chess.parse_square(start) << 6 | chess.parse_square(to)
    return chess.polyglot.zobrist_hash(chess.Board(fen)), squares | promotion << 12, weight


def written(path: Path, *rows: tuple[int, int, int]) -> Path:
    path.write_bytes(b"".join(struct.pack(">QHHI", *row, 0) for row in sorted(rows)))
    return path


# --- Polyglot -------------------------------------------------------------------------------------------


def test_openings_vary_by_their_weights(tmp_path: Path) -> None:
    fen = chess.STARTING_FEN
    rows = row(fen, "e2", "e4", 3), row(fen, "d2", "d4", 1), row(fen, "a2", "a3", 0), row(fen, "e2", "e5", 9)
    book = PolyglotBook.open(written(tmp_path / "book.bin", *rows))
    assert book.description == "a Polyglot book of 4 moves"
    rng = random.Random(1)
    found = [book.choose(START, rng) for _ in range(400)]
    played = Counter(game.move_text(each.move) for each in found if each is not None)
    assert set(played) == {"e2e4", "d2d4"}  # not what has no weight, nor what is not legal
    assert 260 < played["e2e4"] < 340
    assert found[0] is not None
    origin = "book.bin, weighted: weight {} of 4".format(
        {"e2e4": 3, "d2d4": 1}[game.move_text(found[0].move)]
    )
    assert (found[0].mode, found[0].pick) == ("book", DirectMove(None, 0, 0, False, origin))
    again = random.Random(1)
    assert [book.choose(START, again) for _ in range(400)] == found


def test_what_the_book_does_not_know(tmp_path: Path) -> None:
    book = PolyglotBook.open(written(tmp_path / "book.bin", row(chess.STARTING_FEN, "e2", "e4", 3)))
    later = game.play(START, game.parse_move(START, "e2e4"))
    assert book.choose(later, random.Random(1)) is None


def drawn(path: Path, use: BookMoveChoice, position: Any = START, times: int = 60) -> set[str]:
    """The moves that a book plays."""
    book, rng = PolyglotBook.open(path, use), random.Random(1)
    found = [book.choose(position, rng) for _ in range(times)]
    return {get_rules(use.game).move_text(each.move) for each in found if each is not None}


def test_how_a_book_is_used(tmp_path: Path) -> None:
    fen = chess.STARTING_FEN
    later = game.play(START, game.parse_move(START, "e2e4"))
    weights = {"e4": 9, "d4": 90, "c4": 2, "a3": 0}
    rows = [row(fen, f"{to[0]}2", to, weight) for to, weight in weights.items()]
    rows += [row(later.board.fen(), "e7", "e5", 1), row(later.board.fen(), "c7", "c5", 65_535)]
    path = written(tmp_path / "book.bin", *rows)
    assert drawn(path, BookMoveChoice(choice=BookChoice.BEST)) == {"d2d4"}
    assert drawn(path, BookMoveChoice(choice=BookChoice.EVEN)) == {"d2d4", "e2e4", "c2c4"}
    assert drawn(path, BookMoveChoice(choice=BookChoice.EVEN, min_weight=9)) == {"d2d4", "e2e4"}
    assert drawn(path, BookMoveChoice(choice=BookChoice.BEST, min_weight=91)) == set()
    assert drawn(path, BookMoveChoice(choice=BookChoice.EVEN, min_weight=0)) == {"d2d4", "e2e4", "c2c4"}
    assert drawn(path, BookMoveChoice(choice=BookChoice.BEST), later) == {"c7c5"}
    assert drawn(path, BookMoveChoice(side=0)) != set()
    assert drawn(path, BookMoveChoice(side=0), later) == set()
    assert drawn(path, BookMoveChoice(side=1)) == set()
    assert drawn(path, BookMoveChoice(side=1, choice=BookChoice.BEST), later) == {"c7c5"}
    assert drawn(path, BookMoveChoice(max_ply=1)) != set()
    assert drawn(path, BookMoveChoice(max_ply=1), later) == set()
    assert drawn(path, BookMoveChoice(max_ply=2), later) != set()
    best = PolyglotBook.open(path, BookMoveChoice(choice=BookChoice.BEST)).choose(START, random.Random(1))
    assert best is not None
    assert best.pick.origin == "book.bin, best: weight 90 of 101"


def test_a_book_of_a_variant(tmp_path: Path) -> None:
    atomic = get_rules("atomic")
    fen = chess.STARTING_FEN
    path = written(tmp_path / "atomic.bin", row(fen, "g1", "f3", 1))
    assert drawn(path, BookMoveChoice(game="atomic"), atomic.initial()) == {"g1f3"}


def test_moves_without_weight_are_no_moves(tmp_path: Path) -> None:
    path = written(tmp_path / "book.bin", row(chess.STARTING_FEN, "a2", "a3", 0))
    assert PolyglotBook.open(path).choose(START, random.Random(1)) is None


def test_where_a_move_is_from_is_recorded(tmp_path: Path) -> None:
    path = written(tmp_path / "book.bin", row(chess.STARTING_FEN, "a2", "a3", 7))
    strong = StrongOptions(sources={"chess": (PolyglotBook.open(path),)})
    decision = MoveChooser(
        strategy_named("strong"), game, TrapParams(), ReferenceSearcher(game), strong
    ).choose(START, Limits(2), StopFlag())
    verify(decision)
    assert decision.pick is not None
    assert decision.pick.origin == "book.bin, weighted: weight 7 of 7"
    assert Decision.from_record(decision.to_record()) == decision
    plain = replace(decision, pick=replace(decision.pick, origin=""))
    assert "origin" not in plain.to_record()["pick"]  # as in older records
    assert Decision.from_record(plain.to_record()) == plain


@pytest.mark.parametrize(
    ("fen", "start", "to", "promotion", "text"),
    [
        (CASTLES, "e1", "h1", 0, "e1g1"),
        (CASTLES, "e1", "a1", 0, "e1c1"),
        ("8/P6k/8/8/8/8/7K/8 w - - 0 1", "a7", "a8", 4, "a7a8q"),
        ("8/P6k/8/8/8/8/7K/8 w - - 0 1", "a7", "a8", 1, "a7a8n"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5", "d6", 0, "e5d6"),
        ("bnrkrqnb/pppppppp/8/8/8/8/PPPPPPPP/BNRKRQNB w ECec - 0 1", "g1", "f3", 0, "g1f3"),
    ],
)
def test_moves_as_polyglot_writes_them(
    tmp_path: Path, fen: str, start: str, to: str, promotion: int, text: str
) -> None:
    position = game.parse_position(fen)
    squares = chess.parse_square(start) << 6 | chess.parse_square(to) | promotion << 12
    key = chess.polyglot.zobrist_hash(position.board)
    found = PolyglotBook.open(written(tmp_path / "book.bin", (key, squares, 1))).choose(
        position, random.Random(1)
    )
    assert found is not None
    assert game.move_text(found.move) == text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: no such file"),
        (b"", "it is empty"),
        (b"x" * 17, "truncated, or not a Polyglot book"),
        (b"zz" * 8 + b"aa" * 8, "not a Polyglot book: its positions are not in order"),
    ],
)
def test_a_file_that_is_no_book(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "some.bin"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadSource, match=message) as caught:
        PolyglotBook.open(path)
    assert str(path) in str(caught.value)
    for path in (tmp_path, tmp_path / ("x" * 300)):
        with pytest.raises(BadSource, match="cannot be read"):
            PolyglotBook.open(path)


# --- Syzygy ---------------------------------------------------------------------------------------------


class FakeTables(chess.syzygy.Tablebase):
    """Answers by a position's pieces, side to move and castling rights; none for others."""

    def __init__(self, answers: Mapping[str, tuple[int, int]]) -> None:
        self.answers = answers

    def _answer(self, board: chess.Board) -> tuple[int, int]:
        return self.answers[" ".join(board.fen().split()[:3])]

    def probe_wdl(self, board: chess.Board) -> int:
        return self._answer(board)[0]

    def probe_dtz(self, board: chess.Board) -> int:
        assert board.halfmove_clock > 0  # nobody needs it after a capture or a pawn move
        return self._answer(board)[1]


class EveryAnswer(chess.syzygy.Tablebase):
    """The same for every position."""

    def probe_wdl(self, board: chess.Board) -> int:  # noqa: ARG002
        return 0

    def probe_dtz(self, board: chess.Board) -> int:  # noqa: ARG002
        return 0


def after(fen: str, move: str) -> str:
    """How `FakeTables` knows the position after a move."""
    board = chess.Board(fen)
    board.push_uci(move)
    return " ".join(board.fen().split()[:3])


def chosen(fen: str, answers: Mapping[str, tuple[int, int]]) -> tuple[str, DirectMove]:
    """The choice when the answers, for the opponent, are given by our moves; all other moves lose at once."""
    board = chess.Board(fen)
    legal = {after(fen, move.uci()): answers.get(move.uci(), (2, 3)) for move in board.legal_moves}
    found = SyzygyTables(FakeTables(legal), 5).choose(game.parse_position(fen), random.Random(1))
    assert found is not None
    assert found.mode == "tablebase"
    return game.move_text(found.move), found.pick


QUEEN = "8/8/8/3k4/8/8/1Q4P1/K7 w - - {clock} 60"
WON, LOST, DRAWN = (
    DirectMove(WIN_CENTI, 0, 100, True),
    DirectMove(-WIN_CENTI, 0, 100, True),
    DirectMove(0, 0, 100, True),
)
UNSURE = DirectMove(0, 0, 100, False)


@pytest.mark.parametrize(
    ("clock", "answers", "move", "pick"),
    [
        # The shortest way to a pawn move or capture, and one right now is the shortest of all.
        (0, {"b2c3": (-2, -9), "b2b5": (-2, -7), "b2a3": (1, 120)}, "b2b5", WON),
        (0, {"b2c3": (-2, -9), "g2g4": (-2, -30)}, "g2g4", WON),
        # With the clock at 90 the ninth ply after our own is still in time, whatever the table rounds.
        (89, {"b2c3": (-2, -9), "b2b5": (-2, -12)}, "b2c3", WON),
        (90, {"b2c3": (-2, -9)}, "b2c3", UNSURE),
        (91, {"b2c3": (-2, -9)}, "b2c3", DRAWN),
        (91, {"b2c3": (-2, -9), "g2g3": (-1, -101)}, "g2g3", DRAWN),
        # What wins but for the rule is better than a plain draw, which is better than what the rule saves.
        (0, {"b2c3": (-1, -110), "b2b5": (1, 120), "b2a3": (1, 130)}, "b2c3", DRAWN),
        (0, {"b2b5": (1, 120), "b2a3": (1, 130)}, "b2a3", DRAWN),
        (80, {"b2b5": (2, 20), "b2a3": (2, 15), "g2g4": (2, 3)}, "b2b5", DRAWN),
        # When all is lost, the longest way.
        (0, {"b2b5": (2, 60), "g2g4": (2, 80)}, "b2b5", LOST),
    ],
)
def test_a_choice_by_tables(
    clock: int, answers: dict[str, tuple[int, int]], move: str, pick: DirectMove
) -> None:
    assert chosen(QUEEN.format(clock=clock), answers) == (move, pick)


def test_mate_comes_before_all_else() -> None:
    move, pick = chosen("7k/5Q2/6K1/8/8/8/8/8 w - - 99 60", {"f7e6": (-2, -1)})
    board = chess.Board("7k/5Q2/6K1/8/8/8/8/8 w - - 99 60")
    board.push_uci(move)
    assert board.is_checkmate()
    assert pick == DirectMove(WIN_CENTI + 10_000 - 119, 0, 100, True)


def test_a_draw_is_played_where_most_replies_lose() -> None:
    fen = "4k3/8/8/8/8/8/R6r/1K6 w - - 0 60"
    answers: dict[str, tuple[int, int]] = {}
    board = chess.Board(fen)
    for move in list(board.legal_moves):
        board.push(move)
        answers[" ".join(board.fen().split()[:3])] = (0, 0)
        for number, reply in enumerate(list(board.legal_moves)):
            board.push(reply)
            # After Ka1 all replies but one lose; after the other moves one does.
            answers[" ".join(board.fen().split()[:3])] = (2 * ((move.uci() == "b1a1") == (number > 0)), 0)
            board.pop()
        board.pop()
    found = SyzygyTables(FakeTables(answers), 5).choose(game.parse_position(fen), random.Random(1))
    assert found is not None
    assert (game.move_text(found.move), found.pick) == ("b1a1", DRAWN)


def test_a_repetition_is_a_draw_whatever_the_table_says() -> None:
    """The shortest way would repeat the position for the third time."""
    shuffle = "d5d6 c3b2 d6d5"
    begun = "8/8/8/3k4/8/2Q5/6P1/K7 b - - 0 60"
    position = game.parse_position(f"{begun} moves {shuffle} b2c3 {shuffle}")
    fen = position.board.fen()
    legal = {after(fen, m.uci()): (-2, -20) for m in chess.Board(fen).legal_moves} | {
        after(fen, "b2c3"): (-2, -2)
    }
    found = SyzygyTables(FakeTables(legal), 5).choose(position, random.Random(1))
    assert found is not None
    assert game.move_text(found.move) != "b2c3"
    assert found.pick == WON


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/8/7P/4K2R w K - 0 1",  # castling rights
        "4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 1",  # too many pieces
    ],
)
def test_what_tables_do_not_know(fen: str) -> None:
    assert SyzygyTables(EveryAnswer(), 5).choose(game.parse_position(fen), random.Random(1)) is None
    small = game.parse_position("4k3/8/8/8/8/8/7P/4K3 w - - 0 1")
    assert SyzygyTables(EveryAnswer(), 5).choose(small, random.Random(1)) is not None
    assert (
        SyzygyTables(FakeTables({}), 5).choose(small, random.Random(1)) is None
    )  # such a table is not there


def test_folders_without_tables(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="no such folder"):
        SyzygyTables.open(tmp_path / "none")
    with pytest.raises(BadSource, match="cannot be read: File name too long"):
        SyzygyTables.open(tmp_path / ("x" * 300))
    with pytest.raises(BadSource, match=r"no Syzygy tables \(\*\.rtbw\)"):
        SyzygyTables.open(tmp_path)
    assert chess.Board.tbw_magic is not None
    whole = tmp_path / "KQvK.rtbw"
    whole.write_bytes(chess.Board.tbw_magic + bytes(76))
    with pytest.raises(BadSource, match=r"no Syzygy tables \(\*\.rtbz\)"):
        SyzygyTables.open(tmp_path)
    for content, message in ((b"no table", "not a Syzygy table"), (chess.Board.tbw_magic, "truncated")):
        (tmp_path / "KRvK.rtbw").write_bytes(content)
        with pytest.raises(BadSource, match=message):
            SyzygyTables.open(tmp_path)


def test_damage_that_shows_late_is_no_answer(tmp_path: Path) -> None:
    assert chess.Board.tbw_magic is not None
    assert chess.Board.tbz_magic is not None
    (tmp_path / "KQvK.rtbw").write_bytes(chess.Board.tbw_magic + bytes(76))
    (tmp_path / "KQvK.rtbz").write_bytes(chess.Board.tbz_magic + bytes(76))
    source = SyzygyTables.open(tmp_path)
    (tmp_path / "KQvK.rtbw").write_bytes(b"")
    assert source.choose(game.parse_position("8/8/8/3k4/8/8/1Q6/K7 w - - 0 1"), random.Random(1)) is None


# --- The player -----------------------------------------------------------------------------------------


def test_the_strong_player_asks_its_sources_in_order(tmp_path: Path) -> None:
    fen = "8/8/8/3k4/8/8/1Q4P1/K7 w - - 0 60"
    book = PolyglotBook.open(written(tmp_path / "book.bin", row(fen, "b2", "b3", 1)))
    tables = SyzygyTables(EveryAnswer(), 4)
    position = game.parse_position(fen)
    for sources, mode in (((tables, book), "tablebase"), ((book, tables), "book")):
        options = StrongOptions(sources={"chess": sources})
        player = MoveChooser(
            strategy_named("strong"), game, TrapParams(), ReferenceSearcher(game), options, random.Random(1)
        )
        decision = player.choose(position, Limits(2), StopFlag())
        assert decision.search_mode == mode
        full = complete(Decision.from_record(decision.to_record()), ReferenceSearcher(game), StopFlag())
        verify(full)
        assert full.is_complete
        standard = MoveChooser(
            strategy_named("standard"), game, TrapParams(), ReferenceSearcher(game), options
        )
        assert standard.choose(position, Limits(2), StopFlag()).search_mode == "exact"
