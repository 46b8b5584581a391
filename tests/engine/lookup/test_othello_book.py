"""The opening book: symmetry, files of all kinds, and making one from end to end."""

import gzip
import json
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.formats import transcripts
from engine.game import Move
from engine.games.othello import PASS, SQUARES, Othello, OthelloPosition
from engine.games.othello_evaluation import turned
from engine.lookup.othello_book import (
    BadBook,
    Book,
    BookMove,
    canonical,
    parse_board,
    turned_board,
)
from engine.search.reference import exact_score, minimax
from engine.search.searchers import NativeOthelloSearcher
from engine.stop import StopFlag, Stopped
from lab.training import othello_book
from lab.training.given_games import BadGameFile, read_games
from lab.training.othello_book import board_text, write_book
from tests.engine.positions import positions
from tests.shared_data import shared_path

game = Othello()
TINY = ("--plies", "4", "--depth", "4", "--table-mb", "1")
SYMMETRIES = range(8)


def made(path: Path, *more: str) -> Book:
    othello_book.main(["--out", str(path), *TINY, *more])
    return Book.open(path)


@pytest.fixture(scope="module")
def tiny_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("book") / "tiny.gz"
    made(path)
    return path


@pytest.fixture(scope="module")
def tiny(tiny_file: Path) -> Book:
    return Book.open(tiny_file)


def turned_position(position: OthelloPosition, symmetry: int) -> OthelloPosition:
    return OthelloPosition(
        turned_board(position.mover, symmetry), turned_board(position.waiter, symmetry), position.side
    )


def played(*moves: str) -> OthelloPosition:
    position = game.initial()
    for move in moves:
        position = game.play(position, game.parse_move(position, move))
    return position


# --- Symmetry ---------------------------------------------------------------------------------------------


@given(st.integers(0, 2**64 - 1), st.sampled_from(SYMMETRIES))
def test_boards_turn_as_squares_do(board: int, symmetry: int) -> None:
    expected = sum(1 << turned(square, symmetry) for square in range(64) if board >> square & 1)
    assert turned_board(board, symmetry) == expected


@given(positions(game, 60))
@settings(deadline=None)
def test_all_turns_of_a_position_have_one_canonical_form(position: OthelloPosition) -> None:
    turns = [turned_position(position, symmetry) for symmetry in SYMMETRIES]
    assert len({canonical(turn.mover, turn.waiter)[0] for turn in turns}) == 1
    key, symmetries = canonical(position.mover, position.waiter)
    assert parse_board(board_text(key)) == key
    for symmetry in symmetries:
        assert turned_position(position, symmetry)[:2] == key


@given(positions(game, 40), st.sampled_from(SYMMETRIES), st.data())
@settings(deadline=None)
def test_moves_are_turned_back(position: OthelloPosition, symmetry: int, data: st.DataObject) -> None:
    """What stands in the book for a position is found, turned, in each of its eight turns."""
    legal = game.legal_moves(position)
    assume(legal != (PASS,))
    key, symmetries = canonical(position.mover, position.waiter)
    chosen = data.draw(st.sets(st.sampled_from(legal), min_size=1))
    scores = {twin: move for move in sorted(chosen) for twin in {turned(move, s) for s in symmetries}}
    book = Book({key: tuple(BookMove(move, score, 3) for move, score in scores.items())})
    turn = turned_position(position, symmetry)
    found = {(move.move, move.score_centi) for move in book.moves(turn)}
    assert found == {(turned(m.move, symmetry), m.score_centi) for m in book.moves(position)}
    assert {move for move, _ in found} <= set(game.legal_moves(turn))
    assert chosen <= {move.move for move in book.moves(position)}


# --- Asking -----------------------------------------------------------------------------------------------


def test_all_first_moves_are_alike(tiny: Book) -> None:
    moves = tiny.moves(game.initial())
    assert [game.move_text(move.move) for move in moves] == ["d3", "c4", "f5", "e6"]
    assert len({move.score_centi for move in moves}) == 1
    assert moves[0].depth >= 4


def test_a_position_that_is_not_there_has_no_move(tiny: Book) -> None:
    position = played("f5", "d6", "c3", "d3", "c4", "f4")
    assert tiny.moves(position) == ()
    assert tiny.choose(position, random.Random(1)) is None


def book_of(*moves: tuple[str, int, int]) -> tuple[Book, OthelloPosition]:
    """A book with one position, and that position."""
    position = played("f5", "d6", "c3")
    key, (symmetry,) = canonical(position.mover, position.waiter)
    entry = tuple(
        BookMove(turned(SQUARES.index(name), symmetry), score, 8, games) for name, score, games in moves
    )
    return Book({key: entry}), position


def drawn(book: Book, position: OthelloPosition) -> dict[str, int]:
    counts: dict[str, int] = {}
    for seed in range(400):
        move = book.choose(position, random.Random(seed))
        assert move is not None
        assert move == book.choose(position, random.Random(seed))
        name = game.move_text(move.move)
        counts[name] = counts.get(name, 0) + 1
    return counts


def test_only_nearly_best_moves_are_chosen_the_better_the_likelier() -> None:
    book, position = book_of(("d3", 20, 0), ("f4", 0, 0), ("f6", -30, 0), ("f3", -31, 0))
    counts = drawn(book, position)
    assert set(counts) == {"d3", "f4", "f6"}
    assert counts["d3"] > counts["f4"] > counts["f6"]


def test_moves_of_many_games_are_likelier() -> None:
    book, position = book_of(("d3", 20, 10), ("f4", 0, 1000))
    counts = drawn(book, position)
    assert counts["f4"] > 10 * counts["d3"] > 0


def test_moves_that_are_turns_of_one_another_share_a_weight() -> None:
    """In a position that is its own mirror image, a pair of moves is drawn as often as one on the axis."""
    position = game.parse_position("8/8/2w1b3/3wbw2/2bbbb2/3wb3/8/8 w")
    key, symmetries = canonical(position.mover, position.waiter)
    moves = {turned(move, symmetries[0]) for move in game.legal_moves(position)}
    book = Book({key: tuple(BookMove(move, 0, 8) for move in moves)})
    counts = drawn(book, position)
    assert set(counts) == {"d2", "f2", "b4", "b6", "f6"}
    for pair in (("d2", "b4"), ("f2", "b6"), ("f6",)):
        assert sum(counts[move] for move in pair) == pytest.approx(400 / 3, abs=30)


# --- Files ------------------------------------------------------------------------------------------------


def test_a_file_reads_back(tmp_path: Path) -> None:
    start = game.initial()
    key, _ = canonical(start.mover, start.waiter)
    moves = (BookMove(19, 12, 9), BookMove(26, -3, 10, 523, 0.5), BookMove(37, -3, 10, 2, None))
    path = tmp_path / "book.gz"
    write_book(path, {key: moves}, {"by": "hand"})
    book = Book.open(path)
    assert book.moves(start) == moves
    assert '"made": {"by": "hand"}' in gzip.decompress(path.read_bytes()).decode()
    assert len(book) == 1
    before = path.read_bytes()
    write_book(path, {key: moves}, {"by": "hand"})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


HEADER = '{"format": "desdemona book", "version": 1, "game": "othello", "entries": 1, "made": {}}'
START = "-" * 27 + "OX" + "-" * 6 + "XO" + "-" * 27


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "empty"),
        (["hello"], "line 1: not JSON"),
        (["[1]"], "line 1: not the header"),
        (['{"format": "another"}'], "line 1: not the header"),
        ([HEADER.replace("1,", "2,")], "line 1: version 2 of the format; this program reads 1"),
        ([HEADER.replace("othello", "chess")], "line 1: a book for 'chess'"),
        ([HEADER.replace('"entries": 1, ', "")], "line 1: the header lacks"),
        ([HEADER], "ends after 0 of 1 entries"),
        ([HEADER, "[]"], "line 2: not an entry"),
        ([HEADER, f'["{START}", []]'], "line 2: not an entry"),
        ([HEADER, f'["{START[1:]}", [["d3", 1, 2]]]'], "line 2: not a board"),
        ([HEADER, f'["{"?" * 64}", [["d3", 1, 2]]]'], "line 2: not a board"),
        ([HEADER, f'["{START[:-1]}X", [["d3", 1, 2]]]'], "line 2: not the board's canonical form"),
        ([HEADER, f'["{START}", [["d3", 1]]]'], "line 2: not a move"),
        ([HEADER, f'["{START}", [["d3", 1.5, 2]]]'], "line 2: not a move"),
        ([HEADER, f'["{START}", [["d3", 1, 2, 3, "x"]]]'], "line 2: not a move"),
        ([HEADER, f'["{START}", [["a1", 1, 2]]]'], "line 2: 'a1' is not a legal move"),
        ([HEADER, f'["{START}", [["z9", 1, 2]]]'], "line 2: 'z9' is not a legal move"),
        ([HEADER, f'["{START}", [["d3", 1, 0]]]'], "line 2: a number is out of range"),
        ([HEADER, f'["{START}", [["d3", 1, 2, 3, NaN]]]'], "line 2: a number is out of range"),
        ([HEADER, f'["{START}", [["d3", {10**7}, 2]]]'], "line 2: a number is out of range"),
        ([HEADER, f'["{START}", [["d3", 1, 2], ["d3", 1, 2]]]'], "line 2: a move occurs twice"),
        ([HEADER, *[f'["{START}", [["d3", 1, 2]]]'] * 2], "line 3: this position occurs twice"),
        ([HEADER, "[" * 100_000], "line 2: not"),
        ([HEADER, "\xe9"], "after line 0: not text"),
    ],
)
def test_foreign_and_garbled_lines_are_named(tmp_path: Path, lines: list[str], complaint: str) -> None:
    path = tmp_path / "book.gz"
    path.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode()))
    with pytest.raises(BadBook, match=complaint) as caught:
        Book.open(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda _: b"f5d6c3", "not a book"),
        (lambda _: b"", "empty"),
        (lambda data: data[: len(data) // 2], "truncated"),
        (lambda data: data[:-1], "truncated"),
        (lambda data: data + b"more", "damaged"),
        (lambda data: data[:-8] + b"12345678", "CRC"),
    ],
)
def test_damaged_files_are_told(
    tiny_file: Path, tmp_path: Path, damage: Callable[[bytes], bytes], complaint: str
) -> None:
    path = tmp_path / "book.gz"
    path.write_bytes(damage(tiny_file.read_bytes()))
    with pytest.raises(BadBook, match=complaint) as caught:
        Book.open(path)
    assert str(path) in str(caught.value)


def test_a_flipped_bit_never_shows(tiny_file: Path, tmp_path: Path) -> None:
    good, path, rng = tiny_file.read_bytes(), tmp_path / "book.gz", random.Random(1)
    told = 0
    for _ in range(200):
        place = rng.randrange(10, len(good))  # gzip's own header says nothing that matters
        path.write_bytes(good[:place] + bytes([good[place] ^ 1 << rng.randrange(8)]) + good[place + 1 :])
        try:
            Book.open(path)
        except BadBook:
            told += 1
        else:  # a spare bit at the end of the compressed data
            assert gzip.decompress(path.read_bytes()) == gzip.decompress(good)
    assert told > 190


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none.gz", tmp_path):
        with pytest.raises(BadBook, match=f"{path}: cannot be read"):
            Book.open(path)


# --- Making by search -------------------------------------------------------------------------------------


def test_scores_are_minimax_over_the_whole_tree(tmp_path: Path) -> None:
    """With every move let in, a book of 3 plies with leaves of 2 plies is a search of 4."""
    wide = ("--plies", "3", "--depth", "2", "--width-centi", "100000", "--total-centi", "1000000")
    book = made(tmp_path / "book.gz", *wide)
    for position in (game.initial(), played("f5"), played("f5", "f6")):
        placed = (position.mover | position.waiter).bit_count() - 4
        found = {move.move: move.score_centi for move in book.moves(position)}
        assert set(found) == set(game.legal_moves(position))
        for move, score in found.items():
            assert score == -minimax(game, game.play(position, move), 2 - placed + 1)
    assert {move.depth for move in book.moves(game.initial())} == {4}


def test_moves_are_within_the_width_and_the_tree_goes_on_after_them(tmp_path: Path) -> None:
    book = made(tmp_path / "book.gz", "--width-centi", "150", "--total-centi", "150")
    seen = set()

    def visit(position: OthelloPosition, loss: int, placed: int) -> None:
        moves = book.moves(position)
        assert moves, "a position of the book is missing"
        assert moves[0].score_centi - moves[-1].score_centi <= 150
        seen.add(canonical(position.mover, position.waiter)[0])
        for move in moves:
            lost = loss + moves[0].score_centi - move.score_centi
            if lost <= 150 and placed < 3:
                visit(game.play(position, move.move), lost, placed + 1)

    visit(game.initial(), 0, 0)
    assert len(book) >= len(seen) > 4


def test_passes_and_the_end_are_stepped_over() -> None:
    pass_follows = game.parse_position("wb6/8/8/8/8/8/8/w7 w")
    key, symmetries = canonical(pass_follows.mover, pass_follows.waiter)
    only = turned(SQUARES.index("c1"), symmetries[0])
    assert othello_book.child_of(key, only) is None  # the last disc of the other colour is turned
    again = game.parse_position("wb4bw/8/8/8/8/8/8/8 w")
    key, symmetries = canonical(again.mover, again.waiter)
    child = othello_book.child_of(key, turned(SQUARES.index("c1"), symmetries[0]))
    assert child is not None
    assert (child.sign, child.plies) == (1, 2)


def test_scorer_keeps_the_last_whole_depth_of_the_same_parity() -> None:
    searcher = NativeOthelloSearcher(1)
    measure = othello_book.make_measure(searcher, 100)
    position = played("f5", "d6", "c3")
    depth, scores = othello_book.make_scorer(measure, 60, node_limit=3000)(position)
    assert 2 <= depth < 20
    assert depth % 2 == 0
    for move, score in scores.items():
        assert score == -exact_score(searcher, game.play(position, move), depth - 1, StopFlag())
    assert othello_book.make_scorer(measure, 5, time_s=1e-9)(position)[0] == 3


def test_a_book_by_the_strong_search(tmp_path: Path) -> None:
    book = made(tmp_path / "book.gz", "--confidence", "73", "--depth", "6")
    assert len(book) > 3
    assert {move.depth for move in book.moves(game.initial())} == {9}
    measure = othello_book.make_measure(NativeOthelloSearcher(1), 73)
    stop = StopFlag()
    stop.set_node_limit(1000)
    with pytest.raises(Stopped):
        measure(game.initial(), 20, stop)
    over = game.parse_position("bb6/8/8/8/8/8/8/8 w")
    assert measure(over, 3, StopFlag()) == game.result_centi(over)
    with pytest.raises(ValueError, match="confidence must be one of"):
        othello_book.make_measure(NativeOthelloSearcher(1), 50)


# --- Going on ---------------------------------------------------------------------------------------------


def test_an_interrupted_book_goes_on_and_becomes_the_same(
    tiny_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Interrupted again and again after a few searches; each position is searched once in all."""
    path, asked = tmp_path / "tiny.gz", list[OthelloPosition]()
    original = othello_book.make_scorer

    def scorer(*arguments: object) -> othello_book.Scorer:
        score, left = original(*arguments), 3  # type: ignore[arg-type]

        def interrupted(position: OthelloPosition) -> tuple[int, dict[Move, int]]:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            asked.append(position)
            return score(position)

        return interrupted

    monkeypatch.setattr(othello_book, "make_scorer", scorer)
    ends: list[object] = []
    while not path.exists() and len(ends) < 100:
        try:
            made(path)
        except SystemExit as end:
            ends.append(end.code)
            with othello_book.part_of(path).open("ab") as part:
                part.write(b'["---')  # as if killed while writing the next line
    assert len(ends) > 2
    assert set(ends) == {130}
    assert len(asked) == len(set(asked))
    assert "continuing after 3 positions" in capsys.readouterr().out
    ours, theirs = (gzip.decompress(p.read_bytes()).splitlines()[1:] for p in (path, tiny_file))
    assert ours == theirs
    assert not othello_book.part_of(path).exists()


def test_a_killed_program_goes_on(tmp_path: Path) -> None:
    """`kill -9` in the middle: all but the position in work is kept."""
    path = tmp_path / "book.gz"
    command = [sys.executable, "-m", "lab.training.othello_book", "--out", str(path)]
    command += ["--plies", "8", "--depth", "8", "--table-mb", "1"]
    part = othello_book.part_of(path)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(4):
            assert "positions searched" in process.stdout.readline()
        process.kill()
    assert not path.exists()
    kept = part.read_bytes().count(b"\n") - 1
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f"continuing after {kept} positions" in told
    assert len(Book.open(path)) > kept


def test_searches_by_other_settings_are_not_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "book.gz"
    part = othello_book.part_of(path)
    part.write_text('{"format": "desdemona book searches", "version": 1, "depth": 99}\n')
    with pytest.raises(SystemExit):
        made(path)
    assert "its searches were not made with the settings" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["garbage", "[1, 2, 3]", f'["{START}", 4, {{"d3": 1}}]'])
def test_damaged_searches_are_named(tmp_path: Path, line: str) -> None:
    settings_used = {"depth": 4}
    part = tmp_path / "book.gz.part"
    header = json.dumps({"format": othello_book.SEARCHES, "version": 1, **settings_used}, sort_keys=True)
    part.write_text(f"{header}\n{line}\n")
    with pytest.raises(BadBook, match="line 2: damaged"):
        othello_book.Searches(part, settings_used, lambda _: (4, {}))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--depth", "1"], "2 .. 60"),
        (["--plies", "0"], "must be 1 or more"),
        (["--time", "nan"], "greater than 0"),
        (["--out", "/nowhere/at/all.gz"], "not a folder"),
        (["--from-games", "/nowhere/games.wtb"], "cannot be read"),
    ],
)
def test_bad_settings_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    with pytest.raises(SystemExit):
        made(tmp_path / "book.gz", *arguments)
    assert complaint in capsys.readouterr().err


# --- Making from games ------------------------------------------------------------------------------------


def wthor(*games: tuple[str, int]) -> bytes:
    """A WTHOR file of games by transcript and black's score."""
    data = struct.pack("<4BIHH4B", 19, 84, 1, 1, len(games), 0, 1984, 8, 0, 22, 0)
    for text, score in games:
        squares = [SQUARES.index(move) for move in transcripts.parse(text).moves if move != "pass"]
        placed = bytes(10 * (square // 8 + 1) + square % 8 + 1 for square in squares)
        data += struct.pack("<3H2B", 0, 1, 2, score, score) + placed.ljust(60, b"\0")
    return data


def test_a_book_from_games(tmp_path: Path) -> None:
    """Turned games count together, rare moves are left out, and results are the mover's."""
    games = tmp_path / "games.WTB"
    games.write_bytes(
        wthor(("f5d6c3", 40), ("f5d6c3", 32), ("d3c5f6", 20), ("c4e3f6", 64), ("f5f6e6", 30), ("e6f4c3", 64))
    )
    book = made(tmp_path / "book.gz", "--from-games", str(games), "--min-games", "3", "--width-centi", "9999")
    first = book.moves(game.initial())
    assert {game.move_text(move.move) for move in first} == {"d3", "c4", "f5", "e6"}
    assert {(move.games, move.mean_result) for move in first} == {(6, round(3.5 / 6, 4))}
    (second,) = book.moves(played("f5"))
    assert game.move_text(second.move) == "d6"
    assert (second.games, second.mean_result) == (5, 0.3)
    assert book.choose(played("d3"), random.Random(1)) is not None


def test_a_book_from_texts(tmp_path: Path) -> None:
    texts = tmp_path / "games.txt"
    texts.write_text("# two games\n\nf5d6c3\nF5 D6 C4\n[Event x]\n")
    book = made(tmp_path / "book.gz", "--from-games", str(texts), "--min-games", "2", "--width-centi", "9999")
    (move,) = book.moves(played("f5"))
    assert (game.move_text(move.move), move.games, move.mean_result) == ("d6", 2, None)
    assert book.moves(played("f5", "d6")) == ()


def test_real_games_are_read(tmp_path: Path) -> None:
    records = list(read_games(shared_path("wthor/WTH_1984.wtb")))
    assert len(records) > 500
    copy = tmp_path / "games.txt"
    copy.write_text("\n".join("".join(SQUARES[s] for s in record.squares) for record in records[:20]))
    for read, record in zip(read_games(copy), records, strict=False):
        assert read.squares == record.squares
        assert read.margin in (None, record.margin)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.wtb", b"short", "5 bytes are not a WTHOR file"),
        ("a.wtb", wthor(("f5", 40))[:-1], "1 games are 84"),
        ("a.wtb", wthor(("f5", 40))[:12] + b"\x0a" + wthor(("f5", 40))[13:], "10 x 10"),
        ("a.wtb", wthor(("f5", 40))[:-60] + b"\x63" * 60, "game 1 has an invalid square"),
        ("a.wtb", wthor(("f5", 65)), "game 1 has an invalid square or score"),
        ("a.txt", b"f5d6\nf5f5\n", "game 2: disc 2: 'f5' is not a legal move"),
        ("a.txt", b"f5d6\nhello\n", "game 2: no move"),
        ("a.txt", b"\xff\xfe\x00", "cannot detect the format"),
    ],
)
def test_bad_games_are_named(tmp_path: Path, name: str, content: bytes, complaint: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadGameFile, match=complaint) as caught:
        list(read_games(path))
    assert str(path) in str(caught.value)


def test_a_game_against_the_rules_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "games.wtb"
    games.write_bytes(wthor(("f5d6", 40))[:-60] + bytes([56, 56]) + bytes(58))
    with pytest.raises(SystemExit):
        made(tmp_path / "book.gz", "--from-games", str(games))
    assert "game 1: disc 2 cannot be placed on f5" in capsys.readouterr().err
