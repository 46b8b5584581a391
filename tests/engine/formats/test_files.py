"""Which format a file has, reading whichever it is, and from one format to another."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats import files, ggf, pgn
from engine.formats.encodings import text_lines
from engine.formats.files import GameFormat
from engine.formats.record import RESIGNED, BadGame, GameRecord
from tests.engine.formats.test_ggf import GGS, NBOARD
from tests.engine.formats.test_pgn import LICHESS, PLAYOK
from tests.engine.formats.test_wthor import header, record
from tests.engine.playouts import playouts


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (header(games=2) + record() * 2, GameFormat.WTHOR),
        (header(games=2) + record(), None),
        (f"1 {GGS}\n".encode(), GameFormat.GGF),
        (f"# NBoard\n\n{NBOARD}".encode(), GameFormat.GGF),
        (LICHESS.encode(), GameFormat.PGN),
        (("\ufeff\n" + PLAYOK).encode(), GameFormat.PGN),
        (b"1. e4 e5 *\n", GameFormat.PGN),
        (b"Games of 2021\n\n" + LICHESS.encode(), GameFormat.PGN),
        (LICHESS.encode("utf-16"), GameFormat.PGN),
        (b"year\tred\tblack\tresult\trecord\tmoves\n", GameFormat.TABLE),
        (b"\xef\xbb\xbfmoves\tresult\tred\tblack\tyear\n1999\t", GameFormat.TABLE),
        (b"year\tred\tblack\tmoves\n", None),
        (b"# openings\nF5d6c3\n", GameFormat.TRANSCRIPT),
        (b"f5 d6\nf5f5\n", GameFormat.TRANSCRIPT),
        (b"f5f5\nf5d6", GameFormat.TRANSCRIPT),
        (b"1. f5 f6 2. e6\n", GameFormat.TRANSCRIPT),
        (b"Read me first.\n", None),
        (b"", None),
        (b"\x7fELF\0\0\0", None),
    ],
)
def test_what_a_file_is(data: bytes, form: GameFormat | None) -> None:
    assert files.detect_format(data[: files.FORMAT_DETECTION_BYTES], len(data)) == form


def test_a_beginning_that_is_cut_in_a_letter() -> None:
    head = ("f5d6\n" + "# " + "é" * 4000).encode()[: files.FORMAT_DETECTION_BYTES]
    assert files.detect_format(head, 9000) is GameFormat.TRANSCRIPT


def test_bad_games_are_in_their_place() -> None:
    lines = [f"1 {GGS}", "1 (;GM[Go];)", f"2 {NBOARD}{NBOARD}", "(;BO[8 "]
    kinds = [type(game).__name__ for game in files.read(lines, GameFormat.GGF)]
    assert kinds == ["GameRecord", "BadGgf", "GameRecord", "GameRecord", "BadGgf"]
    kinds = [type(game).__name__ for game in files.read(["f5", "# x", "a1", "d3"], GameFormat.TRANSCRIPT)]
    assert kinds == ["GameRecord", "BadTranscript", "GameRecord"]
    kinds = [type(game).__name__ for game in files.read(["1. e4 *", "1. e5 *", "1. d4 *"], GameFormat.PGN)]
    assert kinds == ["GameRecord", "BadPgn", "GameRecord"]


def test_an_illegal_game_is_bad_in_every_format() -> None:
    illegal = NBOARD.replace("W[F6]", "W[A1]")
    (found,) = files.read([illegal], GameFormat.GGF)
    assert isinstance(found, BadGame)
    assert "move 2" in str(found)


def test_a_game_of_many_lines() -> None:
    (found,) = files.read(GGS.replace("]", "]\n").splitlines(), GameFormat.GGF)
    assert isinstance(found, GameRecord)
    assert found == ggf.to_record(ggf.parse(GGS))


def test_from_a_server_to_pgn_and_back() -> None:
    game = ggf.to_record(ggf.parse(GGS))
    assert (game.players, game.ratings, game.ending) == (("alice", "bob"), (1720, 2006.26), "agreed")
    assert game.evaluations == (1.46, -0.19, None, None)
    text = files.write(game, GameFormat.PGN)
    assert "1. e6 { [%eval 1.46] } 1... d6 { [%eval 0.19] [%emt 0:00:00.5] }" in text
    assert '[Result "27-37"]' in text
    (back,) = files.read(text.splitlines(), GameFormat.PGN)
    assert back == game
    assert files.write(game, GameFormat.GGF) == f"1 {ggf.write(ggf.parse(GGS))}\n"


def test_who_ran_out_of_time_has_lost_whatever_the_board_says() -> None:
    wiped_out = "(;PB[a]PW[b]TY[8]RE[-2.000:t]BO[8 " + "-" * 61 + "*O- *]B[h8];)"
    game = ggf.to_record(ggf.parse(wiped_out))
    assert (game.margin, game.points, game.ending) == (-2, 0.0, "timeout")
    (back,) = files.read(files.write(game, GameFormat.PGN).splitlines(), GameFormat.PGN)
    assert back == game
    stands = ggf.to_record(ggf.parse(wiped_out.replace("-2.000:t", "-2.000")))
    assert (stands.margin, stands.points) == (64, 1.0)


@pytest.mark.parametrize(
    ("tags", "margin"),
    [
        ("RE[+64.000:r]", 64),
        ("RE[-64]", -64),
        ("TY[8k]KM[2.000]RE[-66.000:t]", -66),
        ("RE[+65.000:r]", None),
        ("RE[-1000]", None),
        ("TY[8k]KM[1000]RE[-1000]", None),
        ("TY[8k]KM[2.000]RE[+66.500]", None),
    ],
)
def test_a_result_of_more_discs_than_there_are_is_none(tags: str, margin: float | None) -> None:
    usual = "BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]B[f5];)"
    (found,) = files.read([f"(;PB[a]PW[b]{tags}{usual}"], GameFormat.GGF)
    if margin is None:
        assert isinstance(found, BadGame)
        assert " discs is impossible" in str(found)
    else:
        assert isinstance(found, GameRecord)
        assert found.margin == margin


def test_a_komi_that_is_none_makes_no_result() -> None:
    """Of a game whose moves reach the end: their discs are not all that counts."""
    text = "(;TY[8k]KM[1e6]BO[8 " + "-" * 61 + "*O- *]B[h8];)"
    with pytest.raises(BadGame, match=r"a result of -999936 discs is impossible"):
        ggf.to_record(ggf.parse(text))


def test_a_komi_game_keeps_its_bids() -> None:
    text = GGS.replace("TY[8]", "TY[8k]KB[e6/3.00]KW[d3/-1.00/2.41]KM[1.500]")
    game = ggf.to_record(ggf.parse(text))
    (back,) = files.read(pgn.write(game).splitlines(), GameFormat.PGN)
    assert isinstance(back, GameRecord)
    assert ggf.from_record(back) == ggf.parse(text)


def test_clocks_of_chess_become_those_of_ggs() -> None:
    game = GameRecord(game="othello", clocks=("180+2", "3 days"))
    assert ggf.from_record(game).black_clock == "03:00/00:02/00:00"
    assert ggf.from_record(game).white_clock == "3 days"


@pytest.mark.parametrize(
    ("points", "margin", "ending", "result"),
    [
        (1.0, 12.0, "", "+12.000"),
        (0.0, None, "resigned", "-64.000:r"),
        (0.5, None, "agreed", "+0.000:s"),
        (None, None, "", None),
    ],
)
def test_results_in_ggf(points: float | None, margin: float | None, ending: str, result: str | None) -> None:
    game = GameRecord(game="othello", points=points, margin=margin, ending=ending)
    assert ggf.from_record(game).result == result


def test_other_games_have_no_ggf() -> None:
    with pytest.raises(BadGame, match="for Othello, not for chess"):
        files.write(GameRecord(game="chess"), GameFormat.GGF)


@given(playouts("othello", elsewhere=True))
def test_othello_through_ggf_and_back(game: GameRecord) -> None:
    (line,) = files.write(game, GameFormat.GGF).splitlines()
    (back,) = files.read([line], GameFormat.GGF)
    assert isinstance(back, GameRecord)
    if not game.ending and game.margin is None and game.points in (0.0, 1.0):
        game = replace(game, ending=RESIGNED)  # GGF has no other sign for such an end
    same = ("start", "moves", "points", "ending", "ratings", "evaluations", "times_s")
    assert [getattr(back, name) for name in same] == [getattr(game, name) for name in same]
    assert back.place == game.place.replace("]", ")")  # which GGF has no way to write


@given(st.binary(max_size=400))
def test_no_bytes_raise_another_error(data: bytes) -> None:
    files.detect_format(data, len(data))
    lines = list(text_lines([data]))
    for form in files.TEXTS:
        for found in files.read(lines, form):
            assert isinstance(found, GameRecord | BadGame)


def test_signs_of_windows_do_not_cut_lines() -> None:
    data = (
        b'[Event "Open 2019 \x85 A"]\r\n[White "M\xfcller"]\r\n[Black "B"]\r\n[Result "1-0"]\r\n\r\n'
        b"1. e4 e5 ; so\x85 gut\r\n2. Nf3 1-0\r\n"
    )
    assert files.detect_format(data, len(data)) is GameFormat.PGN
    (game,) = files.read(text_lines([data]), GameFormat.PGN)
    assert isinstance(game, GameRecord), game
    assert game.moves == ("e2e4", "e7e5", "g1f3")
