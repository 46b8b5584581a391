"""Xiangqi moves as people and other programs write them: every legal move is read back from each."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import _native
from engine.game import IllegalMove, replay
from engine.games.xiangqi import SQUARES, START, Xiangqi, XiangqiPosition

game = Xiangqi()
SIMPLIFIED = str.maketrans("馬車進後帥將", "马车进后帅将")
OTHER_CHARACTERS = str.maketrans("馬車炮後將", "傌俥砲后将")
WIDE = str.maketrans("123456789+-=", "１２３４５６７８９＋－＝")  # noqa: RUF001 - what such files contain
CROWDED = (
    "3k5/4P4/4P4/4P4/2P6/2P6/9/4B4/4A4/4KA3 w - - 0 1",
    "3k5/4P4/4P4/4P4/4P4/4P4/9/4B4/4A4/4KA3 w - - 0 1",
    "3k5/4P4/4P4/4P4/4P4/9/P8/4B4/4A4/4KA3 w - - 0 1",
    "3k5/4P4/4P4/9/2R6/2R6/9/C3B4/C8/2B2K3 w - - 0 1",
    "4ka3/4a4/9/9/9/9/2p1p4/2p1p4/2p6/5K3 b - - 0 1",
    "2bak4/9/3a5/9/2b6/9/9/9/9/3K5 b - - 0 1",
    "3k5/9/9/2N6/9/2N6/9/4B4/9/4KAB2 w - - 0 1",
)


def name(fen: str, move: str) -> str:
    position = game.parse_position(fen)
    return game.move_name(position, game.parse_move(position, move)).chinese


def read(fen: str, text: str) -> str:
    position = game.parse_position(fen)
    return game.move_text(game.parse_move(position, text))


def shifted(square: str) -> str:
    return f"{square[0]}{int(square[1:]) - 1}"


def check_every_move(position: XiangqiPosition) -> None:
    """Each legal move, in each notation."""
    legal = game.legal_moves(position)
    names = {move: game.move_name(position, move).chinese for move in legal}
    assert len(set(names.values())) == len(legal)
    for move in legal:
        squares = [SQUARES[move & 127], SQUARES[move >> 7]]
        low = [shifted(square) for square in squares]
        wxf = game.move_name(position, move)
        texts = {wxf, wxf.translate(WIDE), names[move], names[move].translate(WIDE)}
        texts |= {names[move].translate(SIMPLIFIED), names[move].translate(OTHER_CHARACTERS)}
        texts |= {"-".join(low).upper(), "".join(squares), "".join(squares).upper()}
        assert {text: game.parse_move(position, text) for text in texts} == dict.fromkeys(texts, move)
        letter = position.board[move & 127].upper()
        for text in ("".join(low), f"{letter}{low[0]}-{low[1]}"):
            assert game.parse_move(position, text, first_rank=0) == move
        assert game.parse_move(position, f"{letter}{squares[0]}{squares[1]}") == move


@settings(max_examples=25, deadline=None)
@given(st.sampled_from((START, *CROWDED)), st.integers(0, 2**32 - 1), st.integers(0, 90))
def test_every_move_is_read_back(start: str, seed: int, plies: int) -> None:
    rng = random.Random(seed)
    position = game.parse_position(start)
    for _ in range(plies):
        following = game.play(position, rng.choice(game.legal_moves(position)))
        if not game.legal_moves(following):
            break
        position = following
    check_every_move(position)


@pytest.mark.parametrize("fen", CROWDED)
def test_every_move_is_read_back_on_crowded_files(fen: str) -> None:
    check_every_move(game.parse_position(fen))


@pytest.mark.parametrize(
    ("fen", "move", "chinese"),
    [
        (START, "h3e3", "炮二平五"),
        (START, "b1c3", "馬八進七"),
        (START.replace(" w ", " b "), "h10g8", "馬8進7"),
        (START.replace(" w ", " b "), "i10i9", "車9進1"),
        (CROWDED[0], "e9f9", "前五平四"),
        (CROWDED[0], "e8f8", "中五平四"),
        (CROWDED[0], "e7f7", "後五平四"),
        (CROWDED[0], "c5c6", None),
        (CROWDED[0], "c6c7", "前七進一"),
        (CROWDED[1], "e8f8", "二兵平四"),
        (CROWDED[1], "e6f6", "四兵平四"),
        (CROWDED[3], "c6d6", "前車平六"),
        (CROWDED[3], "e3g5", "相五進三"),
        (CROWDED[4], "c3d3", "中3平4"),
        (CROWDED[4], "e4f4", "後5平6"),
    ],
)
def test_names_that_books_would_print(fen: str, move: str, chinese: str | None) -> None:
    if chinese is None:  # its own soldier is in the way
        with pytest.raises(IllegalMove):
            name(fen, move)
    else:
        assert name(fen, move) == chinese


@pytest.mark.parametrize(
    ("fen", "text", "move"),
    [
        (START, "炮2平5", "h3e3"),  # red's numbers as digits
        (START, "砲二平５", "h3e3"),  # or mixed
        (START, "c2.5", "h3e3"),
        (START, "N8+7", "b1c3"),
        (START, "M7+5", "c1e3"),
        (START.replace(" w ", " b "), "马八进七", "h10g8"),
        (CROWDED[3], "車前平六", "c6d6"),
        (CROWDED[3], "R+=6", "c6d6"),
        (CROWDED[3], "+R=6", "c6d6"),
        (CROWDED[3], "前車七平六", "c6d6"),
        (CROWDED[0], "+5=4", "e9f9"),
        (CROWDED[0], "一兵平四", "e9f9"),  # soldiers by number: files from the right, then from the front
        (CROWDED[0], "Pc=4", "e7f7"),
        (CROWDED[0], "四兵平八", "c6b6"),
        (CROWDED[0], "中兵平四", "e8f8"),
        (CROWDED[5], "士4退5", "d8e9"),  # only the one in front can go back
        (CROWDED[6], "前馬進八", "c7b9"),
        (START, "後炮平五", None),  # neither is behind the other
        ("3k5/9/9/2N6/6N2/9/9/9/9/4K4 w - - 0 1", "後馬進二", "g6h8"),  # on different files, too
    ],
)
def test_other_ways_of_writing(fen: str, text: str, move: str | None) -> None:
    if move is None:
        with pytest.raises(IllegalMove):
            read(fen, text)
    else:
        assert read(fen, text) == move


@pytest.mark.parametrize(
    "text",
    ["炮二平", "炮二平二", "炮五平二", "炮二平五五", "炮炮平五", "前前平五", "馬二平三", "象二進四",
     "兵二進一", "車一退一", "車一進九", "帥五進四", "R--1", "99+9", "Che9", "He3", "前",
     "炮二口五", "炮〇平五"],
)  # fmt: skip
def test_texts_that_are_no_moves(text: str) -> None:
    with pytest.raises(IllegalMove):
        game.parse_move(game.initial(), text)


def test_a_text_with_two_meanings_is_refused() -> None:
    with pytest.raises(IllegalMove):
        read(CROWDED[3], "車七平六")
    with pytest.raises(IllegalMove):
        read(CROWDED[0], "前兵平六")  # of which file?


def test_moves_of_two_origins() -> None:
    moves = "b2e2 h9g7 b0c2 i9h9"
    position = game.initial()
    for text in moves.split():
        position = game.play(position, game.parse_move(position, text, first_rank=0))
    assert position == replay(game, ["b3e3", "h10g8", "b1c3", "i10h10"])
    with pytest.raises(IllegalMove):
        game.parse_move(game.initial(), "b2e2")


@pytest.mark.parametrize(
    "fen",
    [
        START.replace(" w ", " r "),
        START.replace(" w - - 0 1", " r"),
        START.replace("n", "h").replace("N", "H"),
        START.replace("b", "e").replace("B", "E"),
        "rheakaehr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RHEAKAEHR r - - 0 1",
    ],
)
def test_other_letters_in_fens(fen: str) -> None:
    assert game.parse_position(fen) == game.initial()
    assert _native.xiangqi_perft(fen, 2) == 1920
    assert game.position_text(game.parse_position(f"{fen} moves h3e3")) == f"{START} moves h3e3"
