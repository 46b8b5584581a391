import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.charts.boards import BoardMark, MarkKind, board_description, board_shapes, board_svg
from bot.charts.themes import theme_of
from engine.games import GAMES, get_rules
from tests.bot.charts.parsing import Element, numbers_of, parsed, polylines, texts, with_class
from tests.bot.charts.samples import MARKS, MOVES, rows_after

DRAWN = ("othello", "chess", "xiangqi", "connect4")
START = {game: get_rules(game).board_rows(get_rules(game).initial()) for game in GAMES}


def board(game: str, *, rows: tuple[str, ...] | None = None, **options: object) -> Element:
    drawn = board_svg(game, rows or START[game], title="A <board>", **options)  # type: ignore[arg-type]
    (svg,) = parsed(drawn)
    return svg


def pieces(svg: Element) -> dict[tuple[float, float], str]:
    """By place: the letter of the piece there."""
    uses = [each for each in svg.iter("use") if each.get("x") is not None]
    return {
        (float(each.get("x", "")), float(each.get("y", ""))): each.get("href", "").rpartition("-")[2]
        for each in uses
    }


@pytest.mark.parametrize("game", DRAWN)
def test_every_piece_is_on_its_square(game: str) -> None:
    for side in (0, 1):
        svg = board(game, side=side)
        rows = START[game]
        if side and theme_of(game).turns:
            rows = tuple(row[::-1] for row in rows[::-1])
        placed = {
            (x, y): letter for y, row in enumerate(rows) for x, letter in enumerate(row) if letter != "."
        }
        assert pieces(svg) == placed


def test_which_boards_turn() -> None:
    assert [game for game in DRAWN if theme_of(game).turns] == ["chess", "xiangqi"]


@given(st.sampled_from(DRAWN), st.integers(0, 2**32), st.integers(0, 60), st.booleans(), st.integers(0, 1))
@settings(deadline=None, max_examples=40)
def test_positions_of_games_can_be_drawn(game: str, seed: int, plies: int, is_large: bool, side: int) -> None:
    rules, random_ = get_rules(game), random.Random(seed)
    position = rules.initial()
    squares: tuple[str, ...] = ()
    for _ in range(plies):
        moves = rules.legal_moves(position)
        if not moves:
            break
        move = random_.choice(moves)
        position, squares = rules.play(position, move), rules.move_squares(move)
    moves = rules.legal_moves(position)
    marks = tuple(BoardMark(kind, rules.move_squares(random_.choice(moves))) for kind in MarkKind if moves)
    rows = rules.board_rows(position)
    svg = board(game, rows=rows, last_move=squares, marks=marks, is_large=is_large, side=side)
    assert all(-1 <= number <= 11 for number in numbers_of(svg))
    assert len(pieces(svg)) == len("".join(rows).replace(".", ""))
    assert len(with_class(svg, f"last-{theme_of(game).surface}")) == len(set(squares))
    drawn = [mark for mark in marks if mark.squares]
    assert sum((each.get("class") or "").startswith(("ring-", "arrow-")) for each in svg.iter()) == len(drawn)


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_a_board(game: str) -> None:
    svg = board(game)
    assert svg.findtext("title") == "A <board>"
    assert svg.get("role") == "img"
    count = len("".join(START[game]).replace(".", ""))
    letters = [each for each in svg.iter("text") if each.get("class") == "letter"]
    assert len(pieces(svg)) + len(letters) == count
    assert bool(count and letters) == (game not in DRAWN and not theme_of(game).pieces and count > 0)


def test_games_without_a_look_have_letters() -> None:
    svg = board("tictactoe", rows=("x.o", "...", "..o"), last_move=("c3",))
    assert texts(svg) == ["X", "O", "O"]
    assert {each.get("class") for each in svg.iter("rect")} == {"frame-felt", "felt", "last-felt"}
    assert board_description("tictactoe", ("x.o", "...", "..o")) == "O: c1 c3. X: a1."


@pytest.mark.parametrize("game", DRAWN)
def test_a_page_has_each_shape_once(game: str) -> None:
    shapes = parsed(board_shapes([*DRAWN, "tictactoe", "crazyhouse", *DRAWN]))
    ids = [each.get("id") for each in shapes.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    used = {each.get("href", "").removeprefix("#") for each in board(game).iter("use")}
    own = {each.get("id") for each in parsed(board_shapes([game])).iter()}
    assert used <= own
    assert used <= set(ids)
    fills = {each.get("fill", "") for each in shapes.iter()} | {"url(#ball-wood)"}
    assert {fill[5:-1] for fill in fills if fill.startswith("url(#")} <= set(ids)


def test_games_that_look_the_same_share_their_shapes() -> None:
    assert board_shapes(["chess", "crazyhouse"]) == board_shapes(["chess"])
    assert board_shapes(["othello", "chess"]) == board_shapes(["chess", "othello"])
    assert not list(parsed(board_shapes(["tictactoe"])).iter("g"))


@pytest.mark.parametrize("game", DRAWN)
def test_boards_are_small(game: str) -> None:
    rows, last = rows_after(game, MOVES[game])
    whole = board_svg(game, rows, title="a title", last_move=last, marks=MARKS[game], is_large=True)
    assert len(whole.encode()) <= 6_000
    assert len(board_shapes([game]).encode()) <= 6_000


def test_placements_are_ringed_and_moves_have_arrows() -> None:
    marks = (
        BoardMark(MarkKind.BAIT, ("a1",)),
        BoardMark(MarkKind.GOOD, ("h8",)),
        BoardMark(MarkKind.PLAYED, ()),
    )
    svg = board("othello", marks=marks)
    (bait,), (sound,) = with_class(svg, "ring-bait"), with_class(svg, "ring-good")
    assert (bait.get("cx"), bait.get("cy")) == ("0.5", "0.5")
    assert (sound.get("cx"), sound.get("cy")) == ("7.5", "7.5")
    assert not with_class(svg, "ring-played")


@pytest.mark.parametrize("side", [0, 1])
def test_an_arrow_points_from_start_to_goal(side: int) -> None:
    svg = board("chess", marks=(BoardMark(MarkKind.BAIT, ("f3", "e5")),), side=side)
    (shaft,), (head,) = with_class(svg, "arrow-bait"), with_class(svg, "head-bait")
    start, goal = ((2.5, 2.5), (3.5, 4.5)) if side else ((5.5, 5.5), (4.5, 3.5))
    path = re.findall(r"-?[\d.]+", shaft.get("d", ""))
    x, y = float(path[0]), float(path[1])
    assert abs(x - start[0]) + abs(y - start[1]) < 0.5
    tip = re.findall(r"-?[\d.]+", head.get("d", ""))
    assert abs(float(tip[0]) - goal[0]) + abs(float(tip[1]) - goal[1]) < 0.2
    length = ((float(tip[0]) - x) ** 2 + (float(tip[1]) - y) ** 2) ** 0.5
    assert length == pytest.approx(5**0.5 - 0.3 - 0.12, abs=0.02)


def test_castling_and_the_like_are_marked_from_first_to_last() -> None:
    svg = board("chess", marks=(BoardMark(MarkKind.GOOD, ("a1", "b1", "a1")),))
    assert with_class(svg, "ring-good")


def labels(game: str, side: int) -> list[tuple[str, str, str]]:
    svg = board(game, side=side, is_large=True)
    return [(each.text or "", each.get("x", ""), each.get("y", "")) for each in with_class(svg, "coordinate")]


def test_coordinates_name_the_squares() -> None:
    files, *ranks = labels("chess", 0)
    assert files[0] == "abcdefgh"
    assert files[1].split()[0] == "0.5"
    assert [each[0] for each in ranks] == list("87654321")
    assert [float(each[2]) for each in ranks] == sorted(float(each[2]) for each in ranks)
    files, *ranks = labels("chess", 1)
    assert (files[0], files[1].split()[0]) == ("abcdefgh", "7.5")
    assert [each[0] for each in sorted(ranks, key=lambda each: float(each[2]))] == list("12345678")
    files, *ranks = labels("othello", 1)
    assert (files[0], files[1].split()[0]) == ("abcdefgh", "0.5")
    assert [each[0] for each in ranks] == list("12345678")
    files, *ranks = labels("connect4", 0)
    assert files[0] == "abcdefg"
    assert [each[0] for each in ranks] == list("654321")


def test_each_side_of_xiangqi_counts_from_its_right() -> None:
    for side in (0, 1):
        far, near = labels("xiangqi", side)
        x = [float(each) for each in far[1].split()]
        assert float(far[2]) < 0 < float(near[2])
        from_left = [digit for _, digit in sorted(zip(x, far[0], strict=True))]
        assert from_left == list("123456789")
        x = [float(each) for each in near[1].split()]
        assert [digit for _, digit in sorted(zip(x, near[0], strict=True))] == list("987654321")


def test_positions_are_told_in_words() -> None:
    rows, last = rows_after("chess", MOVES["chess"])
    said = board_description("chess", rows, last_move=last, marks=MARKS["chess"])
    assert said == (
        "White: king e1, queen d1, rooks a1 h1, bishops c1 c4, knights b1 f3, pawns a2 b2 c2 d2 e4 f2 g2 h2. "
        "Black: king e8, queen d8, rooks a8 h8, bishops c8 f8, knights d4 g8, pawns a7 b7 c7 d7 e5 f7 g7 h7. "
        "Last move: c6 to d4. Bait: f3 to e5. Good: f3 to d4."
    )
    assert board_description("othello", START["othello"]) == "Black: d5 e4. White: d4 e5."
    assert board_description("othello", START["othello"], last_move=("d3",)).endswith("Last move: d3.")
    assert board_description("connect4", START["connect4"]) == ""
    assert "Red: general e1, advisors d1 f1" in board_description("xiangqi", START["xiangqi"])
    assert "chariots a10 i10" in board_description("xiangqi", START["xiangqi"])
    assert board("chess").findtext("desc") == board_description("chess", START["chess"])


@pytest.mark.parametrize(
    "rows", [(), ("",), ("........",) * 7, ("........",) * 7 + (".......",), ("." * 9,) * 8]
)
def test_bad_rows_are_named(rows: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="not a board of chess: "):
        board_svg("chess", rows, title="t")
    with pytest.raises(ValueError, match="not a board of chess: "):
        board_description("chess", rows)


def test_ranks_beyond_nine_come_last() -> None:
    empty = "........."
    rows = ("R........", "R........", *(empty,) * 7, "R........")
    assert board_description("xiangqi", rows) == "Red: chariots a1 a9 a10."


def test_rings_fit_their_squares() -> None:
    svg = board("othello", marks=(BoardMark(MarkKind.BAIT, ("a1",)),))
    assert [float(each.get("r", "")) < 0.5 for each in svg.iter("circle")] == [True, True]


def test_a_board_wider_than_the_alphabet_is_refused() -> None:
    board_svg("go", ("." * 26,), title="t")
    for rows in ((), ("",)):
        with pytest.raises(ValueError, match="not a board of go: "):
            board_svg("go", rows, title="t")
    with pytest.raises(ValueError, match="not a board of go: "):
        board_svg("go", ("." * 27,), title="t")


@pytest.mark.parametrize("square", ["", "a", "a0", "a9", "i1", "11", "A1", "a1 ", "a-1", "a²"])
def test_bad_squares_are_named(square: str) -> None:
    with pytest.raises(ValueError, match="is not a square of a board of 8 by 8"):
        board_svg("chess", START["chess"], title="t", last_move=(square,))
    with pytest.raises(ValueError, match="is not a square of a board of 8 by 8"):
        board_svg("chess", START["chess"], title="t", marks=(BoardMark(MarkKind.BAIT, (square,)),))


def test_hostile_letters_stay_letters() -> None:
    svg = board("tictactoe", rows=("<>&", "'\".", "..."))
    assert texts(svg) == ["<", ">", "&", "'", '"']
    assert polylines("M1 2l3 4") == [[(1, 2), (4, 6)]]
