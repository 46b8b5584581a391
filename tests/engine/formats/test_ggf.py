import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats import ggf
from engine.formats.ggf import BadGgf, GgfGame, GgfMove, GgfResult
from engine.formats.record import clean
from engine.games.othello import SQUARES, Othello, OthelloPosition
from tests.shared_data import shared_path

OTHELLO = Othello()
GGS = (
    "(;GM[Othello]PC[GGS/os]DT[2026.11.21_09:33:18.UTC]PB[alice]PW[bob]RB[1720]RW[2006.26]TI[05:00//02:00]"
    "TY[8]RE[-10.000:s]BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]"
    "B[E6/1.46]W[D6/-0.19/0.50]B[c7//2.00]W[f4];)"
)
NBOARD = (
    "(;GM[Othello]PC[NBoard]DT[2014-02-21 20:52:27 GMT]PB[./mEdax]PW[chris]RE[?]TI[15:00]TY[8]"
    "BO[8 ---------------------------O*------*O--------------------------- *]B[F5]W[F6];)"
)
START = "BO[8 ---------------------------O*------*O--------------------------- *]"


def test_what_a_server_prints_is_read() -> None:
    assert ggf.parse(GGS) == GgfGame(
        black="alice",
        white="bob",
        kind="8",
        start="8/8/8/3wb3/3bw3/8/8/8 b",
        moves=(
            GgfMove("e6", 1.46),
            GgfMove("d6", -0.19, 0.5),
            GgfMove("c7", None, 2.0),
            GgfMove("f4"),
        ),
        result="-10.000:s",
        date="2026.11.21_09:33:18.UTC",
        place="GGS/os",
        black_rating=1720,
        white_rating=2006.26,
        black_clock="05:00//02:00",
        white_clock="05:00//02:00",
    )


def test_a_game_is_written_as_a_server_prints_it() -> None:
    assert ggf.write(ggf.parse(GGS)) == GGS.replace("c7//", "C7//").replace("[f4]", "[F4]")


def test_a_board_without_blanks_and_an_unfinished_game() -> None:
    game = ggf.parse(NBOARD)
    assert game.start == "8/8/8/3wb3/3bw3/8/8/8 b"
    assert game.result is None
    assert ggf.stated_result(game) is None
    assert OTHELLO.side_to_move(ggf.replay(game)) == 0
    assert ggf.played_result(game) is None


def test_line_breaks_between_tags_do_not_count() -> None:
    assert ggf.parse("\n" + GGS.replace("]", "]\r\n") + "\n") == ggf.parse(GGS)


def test_clocks_may_differ_and_komi_has_its_tags() -> None:
    header = "(;GM[Othello]PB[a]PW[b]TB[05:00]TW[03:00]TY[8k]KB[F5/3.00/0.80]KW[D3/-1.00/2.41]KM[1.000]RE[?]"
    game = ggf.parse(f"{header}{START};)")
    assert (game.black_clock, game.white_clock) == ("05:00", "03:00")
    assert game.black_komi_move == GgfMove("f5", 3.0, 0.8)
    assert game.white_komi_move == GgfMove("d3", -1.0, 2.41)
    assert game.komi == 1.0
    assert ggf.write(game).startswith(header)


@pytest.mark.parametrize(
    "date", ["2000-4-16 11:13 EST", "945277754", "2003.12.15_12:33:18.MST", "2026.11.21_09:33:18.UTC"]
)
def test_dates_of_every_age_are_kept(date: str) -> None:
    assert ggf.parse(f"(;DT[{date}]{START};)").date == date


def test_tags_without_a_field_are_kept() -> None:
    game = ggf.parse(f"(;GM[Othello]CO[ well\nplayed ]{START}EV[Cup];)")
    assert game.other == (("CO", "well played"), ("EV", "Cup"))
    assert ggf.parse(ggf.write(game)) == game


@pytest.mark.parametrize("spelling", ["PA", "pa", "pass", "PASS", "Pa//0.00"])
def test_passes_of_every_spelling(spelling: str) -> None:
    assert ggf.parse(f"(;{START}B[{spelling}];)").moves[0].move == "pass"


def test_a_pass_that_the_writer_left_out_is_put_in() -> None:
    moves = ggf.parse(f"(;{START}W[f5]W[d6]B[c3];)").moves
    assert [move.move for move in moves] == ["pass", "f5", "pass", "d6", "c3"]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("+12.000", GgfResult(12)),
        ("-64.000:r", GgfResult(-64, "r")),
        ("0", GgfResult(0)),
        ("+2 : t", GgfResult(2, "t")),
        ("-3.5:s", GgfResult(-3.5, "s")),
    ],
)
def test_results(text: str, stated: GgfResult) -> None:
    assert ggf.stated_result(ggf.parse(f"(;RE[{text}]{START};)")) == stated


@pytest.mark.parametrize("text", ["won", "+", "1.2.3", "+1:x"])
def test_a_result_that_is_none_is_said_to_be_so(text: str) -> None:
    with pytest.raises(BadGgf, match="is no"):
        ggf.stated_result(ggf.parse(f"(;RE[{text}]{START};)"))


def test_komi_is_taken_off_the_result() -> None:
    # White's last disc is gone after this one move.
    game = ggf.parse("(;KM[1.5]TY[8k]BO[8 " + "-" * 61 + "*O- *]B[h8];)")
    assert ggf.played_result(game) == 62.5


def test_archive_lines_hold_a_match() -> None:
    one, two = ggf.parse(GGS), ggf.parse(NBOARD)
    assert ggf.parse_line(f"1 {GGS}\r\n") == (one,)
    assert ggf.parse_line(f"2 {GGS}{NBOARD}") == (one, two)
    assert ggf.parse_line(GGS) == (one,)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "begins with"),
        ("2 ", "begins with"),
        (f"2 {NBOARD}", "2 games are announced, but 1 follow"),
        (f"1 {NBOARD}{NBOARD}", "1 games are announced, but 2 follow"),
        (f"1 {NBOARD} and more", "begins with"),
    ],
)
def test_lines_that_are_no_match(text: str, why: str) -> None:
    with pytest.raises(BadGgf, match=why):
        ggf.parse_line(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "begins with"),
        (NBOARD + NBOARD, "after the game"),
        (NBOARD[:-2], "expected a tag or the end"),
        ("(;GM[Chess];)", "a game of 'Chess'"),
        ("(;PB[a];)", r"\(BO\) is missing"),
        ("(;BO[10 " + "-" * 100 + " *];)", "size '10'"),
        ("(;BO[8 " + "-" * 63 + " *];)", "64 squares"),
        ("(;BO[8 " + "-" * 64 + " *];)", "no discs"),
        (f"(;{START}B[i9];)", "is not a move"),
        (f"(;{START}B[f5/1/2/3];)", "more than an evaluation and a time"),
        (f"(;{START}B[f5/nan];)", "is not a number"),
        (f"(;{START}KM[x];)", "is not a komi"),
        (f"(;{START}{'B[pa]' * 401};)", "more than 400 moves"),
    ],
)
def test_texts_that_are_no_game(text: str, why: str) -> None:
    with pytest.raises(BadGgf, match=why):
        ggf.parse(text)


def test_illegal_moves_are_found_by_replaying_only() -> None:
    game = ggf.parse(f"(;{START}B[f5]W[f5];)")
    with pytest.raises(BadGgf, match="move 2: 'f5' is not a legal move"):
        ggf.replay(game)


def test_an_archive_with_a_bad_game_gives_the_others() -> None:
    found = list(ggf.find(f"rubbish\n1 {GGS}\n1 (;PB[x]B[i9];)\n2 {NBOARD}{NBOARD}\n(; nothing"))
    assert [type(game) for game in found] == [GgfGame, BadGgf, GgfGame, GgfGame, BadGgf]


# What survives a round trip: no closing bracket, single blanks, and nothing that is no sign.
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="]"), max_size=12).map(clean)
NUMBERS = st.none() | st.floats(-1e6, 1e6, allow_nan=False)
MOVES = st.builds(GgfMove, st.sampled_from([*SQUARES, "pass"]), NUMBERS, NUMBERS)


@st.composite
def positions(draw: st.DrawFn) -> str:
    cells = draw(st.lists(st.sampled_from("bw."), min_size=64, max_size=64).filter(lambda c: set(c) != {"."}))
    masks = [sum(1 << i for i, cell in enumerate(cells) if cell == disc) for disc in "bw"]
    return OTHELLO.position_text(OthelloPosition(masks[0], masks[1], draw(st.sampled_from([0, 1]))))


GAMES = st.builds(
    GgfGame,
    black=TEXTS,
    white=TEXTS,
    kind=TEXTS.filter(bool),
    start=positions(),
    moves=st.lists(MOVES, max_size=12).map(tuple),
    result=st.none() | TEXTS.filter(lambda text: text not in ("", "?")),
    date=TEXTS,
    place=TEXTS,
    black_rating=NUMBERS,
    white_rating=NUMBERS,
    black_clock=TEXTS,
    white_clock=TEXTS,
    komi=NUMBERS,
    black_komi_move=st.none() | MOVES,
    white_komi_move=st.none() | MOVES,
    other=st.lists(st.tuples(st.sampled_from(["CO", "EV", "X9"]), TEXTS), max_size=3).map(tuple),
)


@given(GAMES)
def test_what_is_written_is_read_again(game: GgfGame) -> None:
    assert ggf.parse(ggf.write(game)) == game


@given(GAMES, st.text(max_size=10))
def test_brackets_and_line_breaks_in_names_break_nothing(game: GgfGame, name: str) -> None:
    named = replace(game, black=f"{name}];)(;\n{name}")
    assert replace(ggf.parse(ggf.write(named)), black=named.black) == named


FRAGMENTS = st.sampled_from(
    ["(;", ";)", "GM[", "BO[8 ", "*]", "]", "B[", "f5", "/", "KM[", "1e999", "TY[8]", " ", "\n", "2", START]
)


@given(st.text() | st.lists(FRAGMENTS | st.text(max_size=3), max_size=20).map("".join))
def test_no_text_raises_another_error(text: str) -> None:
    list(ggf.find(text))
    for read in (ggf.parse, ggf.parse_line, ggf.parse_move, ggf.parse_board):
        with suppress(BadGgf):
            read(text)
    with suppress(BadGgf):
        game = ggf.parse(f"(;RE[{text}]{START}B[{text}];)")
        ggf.played_result(game)
        ggf.stated_result(game)


def _captured(folder: Path) -> Iterator[tuple[str, str]]:
    """Every game that a server printed, with how it was announced."""
    for path in sorted(folder.glob("*.jsonl")):
        streams: dict[str, str] = {}
        for line in path.read_text(encoding="latin-1").splitlines():
            told = json.loads(line)
            if told.get("dir") == "<":
                streams[told["who"]] = streams.get(told["who"], "") + told["raw"]
        for stream in streams.values():
            text = stream.replace("\r\n", "\n").replace("\n|", "\n")
            yield from re.findall(
                r"/os: (join \S+|look)\s+((?:[12] )?\(;.*?;\)(?:\(;.*?;\))?)\n", text, re.DOTALL
            )


def test_every_game_that_a_real_server_printed_replays() -> None:
    joined = looked = 0
    for announced, text in _captured(shared_path("ggs-transcripts")):
        for game in ggf.parse_line(text):
            result, stated = ggf.played_result(game), ggf.stated_result(game)
            assert ggf.parse(ggf.write(game)) == game
            if announced == "look":
                looked += 1
                assert ggf.write(game).lower() in text.lower()
            else:
                joined += 1
            if stated and not stated.how:
                assert stated.discs == result
    assert (joined > 10, looked > 3) == (True, True)


def test_what_a_graphical_program_sent_replays() -> None:
    text = shared_path("ggs-transcripts/nboard_ntest.txt").read_text(encoding="latin-1")
    found = list(ggf.find(text))
    games = [game for game in found if isinstance(game, GgfGame)]
    assert len(games) >= 4
    assert [str(bad)[-36:] for bad in found if isinstance(bad, BadGgf)] == [
        "is not 64 squares and a side to move"  # one was sent with a row too many
    ]
    for game in games:
        ggf.replay(game)


def test_games_that_begin_within_others_are_not_read_over_and_over() -> None:
    assert len(list(ggf.find("(;GM[Othello]" + "A[(;C[x]" * 2000))) < 50
    broken = f"(;GM[Othello]PB[a{GGS}\n"
    found = [each for each in ggf.find(broken * 3) if isinstance(each, GgfGame)]
    assert len(found) == 3
