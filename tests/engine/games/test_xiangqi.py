"""Xiangqi against published counts, against Fairy-Stockfish's rules (pyffish), and the core against both.

A variant that pyffish does not know ends the process, so its name stands here once.
"""

import random
from itertools import pairwise
from typing import Any

import pyffish
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import _native
from engine.game import WIN_CENTI, BadPosition, Highlight, IllegalMove, replay
from engine.games.xiangqi import SQUARES, START, Xiangqi, XiangqiPosition
from engine.search.reference import INFINITY, minimax
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from tests.shared_data import shared_path

VARIANT = "xiangqi"
assert VARIANT in pyffish.variants()
assert pyffish.start_fen(VARIANT) == START

game = Xiangqi()
native: Any = make_searcher("xiangqi", 4)

# Few pieces, so that random play comes back to where it was; with checks, blocks and captures.
SPARSE = (
    "3k5/9/9/9/9/9/9/9/4R4/5K3 w - - 0 1",
    "3k5/4r4/9/9/9/9/9/9/4R4/5K3 b - - 3 40",
    "4k4/4a4/9/9/3C5/9/9/5c3/4A4/4K4 w - - 0 1",
    "3k5/9/3N5/9/9/9/9/5n3/9/5K3 w - - 0 1",
    "3ak4/9/9/2n6/9/9/6R2/9/4A4/4K4 b - - 0 9",
    "3k5/9/3r5/9/9/9/9/5R3/9/4K4 w - - 12 30",
    "2bak4/9/4b4/9/2P3p2/9/9/4B4/9/4KAB2 w - - 0 1",
)


def perft(position: XiangqiPosition, depth: int) -> int:
    moves = game.legal_moves(position)
    if depth == 1:
        return len(moves)
    return sum(perft(game.play(position, move), depth - 1) for move in moves)


def published_perft() -> list[tuple[str, list[int]]]:
    lines = shared_path("perft/xiangqi.txt").read_text().splitlines()
    return [
        (fen, [int(count) for count in counts.split()]) for _, fen, counts in (x.split("|") for x in lines)
    ]


def test_perft_of_the_rules() -> None:
    assert [perft(game.initial(), depth) for depth in (1, 2)] == [44, 1920]
    for fen, counts in published_perft():
        assert [perft(game.parse_position(fen), depth) for depth in (1, 2)] == counts[:2], fen


def test_perft_of_the_native_core() -> None:
    assert [_native.xiangqi_perft("startpos", depth) for depth in range(5)] == [1, 44, 1920, 79666, 3290240]
    for fen, counts in published_perft():
        for depth, count in enumerate(counts, start=1):
            if count < 20_000_000:
                assert _native.xiangqi_perft(fen, depth) == count, fen


# --- Against pyffish ------------------------------------------------------------------------------


def texts(moves: list[int] | tuple[int, ...]) -> set[str]:
    return {game.move_text(move) for move in moves}


def is_perpetual_check(start: str, moves: list[str]) -> bool:
    """Whether one side alone gave check with all its moves since the last position first stood there."""
    boards, checks = [], []
    for count in range(len(moves) + 1):
        boards.append(pyffish.get_fen(VARIANT, start, moves[:count]).split()[:2])
        checks.append(pyffish.gives_check(VARIANT, start, moves[:count]))
    times = [i for i, board in enumerate(boards) if board == boards[-1]]
    span = checks[times[-3] :]
    return all(span[::2]) != all(span[1::2])


def check_against_pyffish(start: str, moves: list[str], position: XiangqiPosition) -> None:
    """The position that the moves lead to: the same moves, the same FEN, the same end of the game."""
    board_moves = set(pyffish.legal_moves(VARIANT, start, moves))
    is_over, value = pyffish.is_optional_game_end(VARIANT, start, moves)
    assert game.board_text(position) == pyffish.get_fen(VARIANT, start, moves)
    if not board_moves:
        assert game.legal_moves(position) == ()
        assert game.result_centi(position) < -WIN_CENTI
        is_check = pyffish.gives_check(VARIANT, start, moves)
        assert game.ending(position).kind == ("mate" if is_check else "variantEnd")
    elif is_over:
        assert game.legal_moves(position) == ()
        result = game.result_centi(position)
        if value != 0 and not is_perpetual_check(start, moves):
            value = 0  # perpetual chase: a loss there, a draw here
        assert (result > 0) - (result < 0) == (value > 0) - (value < 0)
        assert game.ending(position).kind == ("variantEnd" if value else "draw")
    else:
        assert texts(game.legal_moves(position)) == board_moves


def next_move(
    position: XiangqiPosition, own_last: dict[int, int], rng: random.Random, retreats: float
) -> int:
    """A random move; with that probability it takes back the side's last one, if it can."""
    legal = game.legal_moves(position)
    last = own_last.get(position.side, 0)
    back = last >> 7 | (last & 127) << 7
    move = own_last[position.side] = back if back in legal and rng.random() < retreats else rng.choice(legal)
    return move


def random_game(start: str, seed: int, plies: int, retreats: float) -> list[XiangqiPosition]:
    """Positions of one game, every one compared; see `next_move`."""
    rng = random.Random(seed)
    positions = [game.parse_position(start)]
    moves: list[str] = []
    own_last: dict[int, int] = {}
    for _ in range(plies):
        position = positions[-1]
        check_against_pyffish(start, moves, position)
        if not game.legal_moves(position):
            break
        move = next_move(position, own_last, rng, retreats)
        moves.append(game.move_text(move))
        positions.append(game.play(position, move))
    return positions


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_random_games_are_those_of_pyffish(seed: int) -> None:
    random_game(START, seed, plies=60, retreats=0.0)


def test_random_walks_end_as_those_of_pyffish() -> None:
    ends = [random_game(SPARSE[seed % len(SPARSE)], seed, 40, 0.8)[-1] for seed in range(40)]
    found = {game.ending(end).text for end in ends if not game.legal_moves(end)}
    assert "The same position for the third time." in found
    assert "The same position for the third time: perpetual check loses." in found


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 60))
def test_names_of_moves_are_those_of_pyffish(seed: int, plies: int) -> None:
    rng = random.Random(seed)
    position = game.initial()
    for _ in range(plies):
        position = game.play(position, rng.choice(game.legal_moves(position)))
        if not game.legal_moves(position):
            return
    fen = game.board_text(position)
    for move in game.legal_moves(position):
        ours = game.move_name(position, move)
        theirs = pyffish.get_san(VARIANT, fen, game.move_text(move), False, pyffish.NOTATION_XIANGQI_WXF)
        if ours[1] in "+-" and theirs[1].isdigit():  # which leaves it out where the twin could not move so
            theirs = theirs[0] + ours[1] + theirs[2:]
        assert ours == theirs


def test_names_of_crowded_files() -> None:
    for fen in (
        "3k5/4P4/4P4/4P4/2P6/2P6/9/4B4/4A4/4KA3 w - - 0 1",
        "3k5/4P4/4P4/4P4/4P4/4P4/9/4B4/4A4/4KA3 w - - 0 1",
        "3k5/4P4/4P4/9/2R6/2R6/9/C3B4/C8/2B2K3 w - - 0 1",
        "4ka3/4a4/9/9/9/9/9/2p1p4/2p1p4/3K5 b - - 0 1",
    ):
        position = game.parse_position(fen)
        for move in game.legal_moves(position):
            name = pyffish.get_san(VARIANT, fen, game.move_text(move), False, pyffish.NOTATION_XIANGQI_WXF)
            assert game.move_name(position, move) == name
            assert game.parse_move(position, name) == move


# --- How games end --------------------------------------------------------------------------------


def after(fen: str, moves: str) -> XiangqiPosition:
    return replay(game, moves.split(), game.parse_position(fen))


PERPETUAL = "e2d2 d10e10 d2e2 e10d10"
CHECKER = "3k5/9/9/9/9/9/9/9/4R4/5K3 w - - 0 1"


def test_perpetual_check_loses_at_the_third_occurrence() -> None:
    end = after(CHECKER, f"{PERPETUAL} {PERPETUAL}")
    assert game.legal_moves(end) == ()
    assert game.result_centi(end) == -(WIN_CENTI + 10_000 - 8)  # red, who gave check, is to move
    assert game.ending(end) == ("variantEnd", "The same position for the third time: perpetual check loses.")
    assert game.legal_moves(after(CHECKER, f"{PERPETUAL} e2d2 d10e10 d2e2"))  # stands there twice only
    # Without the first move it is the other side that is to move when the circle closes.
    first, rest = PERPETUAL.split(" ", 1)
    checked = "3k5/9/9/9/9/9/9/9/3R5/5K3 b - - 1 1"
    end = after(checked, f"{rest} {first} {rest} {first}")
    assert game.result_centi(end) == WIN_CENTI + 10_000 - 9


def test_a_quiet_move_in_the_circle_makes_it_a_draw() -> None:
    fen = "3k5/9/9/9/9/9/9/9/R8/5K3 w - - 0 1"
    circle = "a2d2 d10e10 d2a2 e10d10"
    end = after(fen, f"{circle} {circle}")
    assert game.legal_moves(end) == ()
    assert game.result_centi(end) == 0
    assert game.ending(end).kind == "draw"


def test_perpetual_chase_is_a_draw_here() -> None:
    fen = "3k5/9/9/9/2n6/9/9/9/2R6/5K3 b - - 0 1"
    circle = "c6e5 c2e2 e5c6 e2c2"
    end = after(fen, f"{circle} {circle}")
    assert pyffish.is_optional_game_end(VARIANT, fen, f"{circle} {circle}".split()) == (True, 32000)
    assert game.result_centi(end) == 0


def test_a_hundred_plies_without_a_capture_are_a_draw() -> None:
    last = game.parse_position("3k5/9/9/9/9/9/4P4/9/9/5K3 w - - 99 80")
    end = game.play(last, game.parse_move(last, "e4e5"))  # a soldier's step does not count
    assert game.legal_moves(end) == ()
    assert game.result_centi(end) == 0
    with pytest.raises(IllegalMove):
        game.play(end, game.parse_move(last, "e4e5"))
    mate = game.parse_position("3k5/5R3/9/9/9/9/9/9/3R5/4K4 b - - 100 80")
    assert game.legal_moves(mate) == ()
    assert game.result_centi(mate) < -WIN_CENTI  # it came before the draw
    assert game.ending(mate) == ("mate", "Checkmate.")


def test_stalemate_loses() -> None:
    position = game.parse_position("3k5/5R3/9/9/9/9/9/9/9/4K4 b - - 0 30")
    assert game.legal_moves(position) == ()
    assert game.highlights(position) == ()
    assert game.result_centi(position) == -(WIN_CENTI + 10_000 - 59)
    assert game.ending(position) == ("variantEnd", "Black has no legal move and loses.")


def test_long_games_do_not_make_a_win_a_loss() -> None:
    position = game.parse_position("3k5/5R3/9/9/9/9/9/9/9/4K4 b - - 0 9999")
    assert game.result_centi(position) == -(WIN_CENTI + 2_000)
    assert game.score_text(game.result_centi(position), position) == "lost"


@pytest.mark.parametrize(
    ("score", "text"),
    [(35, "+0.35"), (-1234.0, "-12.34"), (0, "+0.00"), (110_000 - 13, "#2"), (-(110_000 - 14), "#-2")],
)
def test_scores_as_text(score: float, text: str) -> None:
    position = game.parse_position(CHECKER.replace(" 0 1", " 0 6"))  # ply 10
    assert game.score_text(score, position) == text


# --- Searched lines -------------------------------------------------------------------------------


def test_a_line_counts_only_the_game_before_it() -> None:
    quiet = "f1f2 d10d9 f2f1 d9d10"
    fen = "3k5/9/9/9/9/9/9/9/R8/5K3 w - - 0 1"
    once = game.for_search(game.parse_position(fen))
    for move in f"{quiet} {quiet} {quiet}".split():  # round and round, and no end of it
        once = game.play(once, game.parse_move(once, move))
        assert game.legal_moves(once)
    twice = game.for_search(after(fen, quiet))
    assert game.legal_moves(twice)  # the root itself stands there for the second time
    line = replay(game, quiet.split(), twice)
    assert game.legal_moves(line) == ()
    assert game.result_centi(line) == 0
    assert game.for_search(twice) == twice
    assert game.for_search(line) == line


def test_a_line_is_judged_by_the_game_before_it() -> None:
    root = game.for_search(after(CHECKER, PERPETUAL))
    line = replay(game, PERPETUAL.split(), root)
    assert game.result_centi(line) < -WIN_CENTI
    # On another way, without check, to the same position: the same score.
    other = replay(game, ["e2a2", "d10d9", "a2e2", "d9d10"], root)
    assert other.board == line.board
    assert game.result_centi(other) == game.result_centi(line)


def test_the_past_ends_with_a_move_that_cannot_be_taken_back() -> None:
    position = after(START, "h3e3 h10g8 h1g3 i10h10")
    assert len(position.past) == 4
    forward = game.play(position, game.parse_move(position, "c4c5"))
    assert forward.past == ()
    assert forward.quiet_plies == 5
    capture = game.play(position, game.parse_move(position, "e3e7"))
    assert capture.past == ()
    assert capture.quiet_plies == 0


@settings(max_examples=40, deadline=None)
@given(st.sampled_from((START, *SPARSE)), st.integers(0, 2**32 - 1), st.integers(0, 12), st.integers(0, 8))
def test_the_core_understands_games_and_lines(
    start: str, seed: int, game_plies: int, line_plies: int
) -> None:
    """Text and back, of a game and of a line in it; the core finds the same moves, and the same result."""
    rng = random.Random(seed)
    own_last: dict[int, int] = {}
    position = game.parse_position(start)
    for ply in range(game_plies + line_plies + 1):
        if ply == game_plies:
            assert game.parse_position(game.position_text(position)) == position
            root = position
            position = game.for_search(position)
            assert game.position_text(position) == game.position_text(root)
        text = game.position_text(position)
        legal = game.legal_moves(position)
        read = game.parse_position(text)
        assert read.board == position.board
        assert game.legal_moves(read) == legal
        assert native.search(position, 0, -INFINITY, INFINITY, StopFlag()) == minimax(game, position, 0)
        if not legal:
            assert game.result_centi(read) == game.result_centi(position)
            return
        assert _native.xiangqi_perft(text, 1) == len(legal)
        native.scores_after(position, legal, 0, 0, StopFlag())  # refuses moves that are not legal
        if position.line:
            assert read == position
        position = game.play(position, next_move(position, own_last, rng, 0.7))


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(SPARSE), st.integers(0, 2**32 - 1), st.integers(0, 30))
def test_the_core_searches_as_the_reference_does(start: str, seed: int, plies: int) -> None:
    """Near repetitions, so that lines end by them."""
    rng = random.Random(seed)
    own_last: dict[int, int] = {}
    position = game.parse_position(start)
    for _ in range(plies):
        following = game.play(position, next_move(position, own_last, rng, 0.9))
        if not game.legal_moves(following):
            break
        position = following
    score = native.search(position, 2, -INFINITY, INFINITY, StopFlag())
    assert score == minimax(game, game.for_search(position), 2)


def test_text_of_a_line() -> None:
    text = f"{CHECKER} moves e2d2 d10e10 line d2e2 e10d10"
    assert game.position_text(game.parse_position(text)) == text
    for start in ("startpos", "startpos moves", "startpos line", f"  {START}  moves  "):
        assert game.parse_position(start) == game.initial()
        assert _native.xiangqi_perft(start, 1) == 44
    assert game.position_text(game.parse_position("startpos moves h3e3")) == f"{START} moves h3e3"


# --- Text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["h3e3", "H2-E2", "h2-e2", "C2=5"])
def test_moves_in_many_hands(text: str) -> None:
    assert game.move_text(game.parse_move(game.initial(), text)) == "h3e3"


@pytest.mark.parametrize("text", ["h2e2", "h3e3 ", "h3h3", "C2=8", "h3e11", "h0e0", "", "H3-E3"])
def test_other_texts_are_no_moves(text: str) -> None:
    with pytest.raises(IllegalMove):
        game.parse_move(game.initial(), text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (START.replace("9/1c5c1", "8/1c5c1", 1), "row 9"),
        (START.replace("rnb", "xnb"), "row 10"),
        (START.replace(" w ", " x "), "w, r or b"),
        ("9/" + START, "ten rows"),
        (START.replace("- -", "- e3"), "two dashes"),
        (START.replace(" 0 1", " 0 x"), "number"),
        (START.replace("9/9", "P8/9", 1), "red has 6"),
        (START.replace("K", "1"), "red has 0"),
        (START.replace("P1P1P1P1P/1C5C1", "2P1P1P1P/PC5C1"), "soldier cannot stand on a3"),
        ("3k5/9/9/9/1P7/9/P8/1P7/9/4K4 w - - 0 1", "soldier cannot stand on b3"),
        ("3k5/9/9/9/9/9/9/9/3A5/4K4 w - - 0 1", "advisor cannot stand on d2"),
        ("3k5/9/9/9/9/4B4/9/9/9/4K4 w - - 0 1", "elephant cannot stand on e5"),
        ("3k5/9/9/9/9/9/4K4/9/9/9 w - - 0 1", "general cannot stand on e4"),
        ("4k4/9/9/9/9/9/9/9/9/4K4 w - - 0 1", "could take the general"),
        ("3k5/9/9/9/9/9/9/9/3R5/4K4 w - - 0 1", "could take the general"),
        (f"{START} moves h3e3 h3e3", "h3e3"),
        (f"{START} line h3e3 h3e3", "h3e3"),
        (f"{CHECKER} moves {PERPETUAL} {PERPETUAL} e2d2", "e2d2"),
    ],
)
def test_bad_positions_say_what_is_wrong(text: str, complaint: str) -> None:
    with pytest.raises(BadPosition, match=complaint):
        game.parse_position(text)
    with pytest.raises(ValueError, match=r"\w"):
        _native.xiangqi_perft(text, 1)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="rnbakcpRNBAKCP123456789/ wb-moveslinh", max_size=80), st.integers(0, len(START)))
def test_the_core_refuses_what_the_rules_refuse(noise: str, at: int) -> None:
    text = START[:at] + noise + START[at + len(noise) :]
    try:
        position = game.parse_position(text)
    except BadPosition:
        with pytest.raises(ValueError, match=r"\w"):
            _native.xiangqi_perft(text, 1)
    else:
        assert _native.xiangqi_perft(text, 1) >= len(game.legal_moves(position))


# --- For the board --------------------------------------------------------------------------------


def test_highlights() -> None:
    assert game.highlights(game.initial()) == ()
    between = game.parse_position("4k4/9/9/9/9/4P4/9/9/9/4K4 w - - 0 1")
    (facing,) = game.highlights(between)
    assert facing.kind == "facing"
    assert facing.squares == ("e1", "e5", "e10")
    assert "soldier on e5" in facing.text
    checked = game.parse_position("4k4/9/9/9/9/4R4/9/9/9/4K4 b - - 0 1")
    kinds = [highlight.kind for highlight in game.highlights(checked)]
    assert kinds == ["check", "facing"]
    assert game.highlights(checked)[0] == Highlight("check", ("e10",), "Black is in check.")
    assert game.highlights(game.parse_position("4k4/9/9/4p4/9/4P4/9/9/9/4K4 w - - 0 1")) == ()


def test_board_and_squares() -> None:
    rows = game.board_rows(game.initial())
    assert rows[0] == "rnbakabnr"
    assert rows[9] == "RNBAKABNR"
    assert SQUARES[0] == "a1"
    assert SQUARES[89] == "i10"
    assert game.move_squares(game.parse_move(game.initial(), "h3e3")) == ("h3", "e3")


def test_plies_left() -> None:
    start = game.initial()
    assert game.most_plies_left(start) == 100 + 100 * 30
    positions = [start]
    for move in ["h3e3", "h8e8", "e3e7"]:
        positions.append(game.play(positions[-1], game.parse_move(positions[-1], move)))
    for one, following in pairwise(positions):
        assert game.most_plies_left(one) > game.most_plies_left(following)
        assert game.plies_left(one) >= 1
