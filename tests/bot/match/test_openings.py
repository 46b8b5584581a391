import random
from contextlib import suppress

import pytest

from bot.match.openings import (
    Opening,
    fingerprint,
    odds_opening,
    position_after,
    random_opening,
    read_openings,
    shuffle_openings,
)
from bot.match.player_specs import MatchError
from engine.games import get_rules
from engine.opponents.odds import ODDS
from engine.search.reference import exact_score
from engine.search.searchers import make_searcher
from engine.stop import StopFlag

EN_PASSANT = "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 2"


@pytest.mark.parametrize("game_name", ["othello", "chess", "xiangqi", "connect4", "tictactoe"])
def test_random_openings(game_name: str) -> None:
    """They differ, can be made again one by one, and leave a game that goes on."""
    game = get_rules(game_name)
    openings = [random_opening(game_name, 7, index) for index in range(4)]
    assert len(set(openings)) > 1
    assert random_opening(game_name, 7, 2) == openings[2]
    for opening in openings:
        start, position = position_after(game, opening)
        assert start == game.initial()
        assert game.legal_moves(position)


def test_random_openings_of_othello_are_nearly_balanced() -> None:
    game, judge = get_rules("othello"), make_searcher("othello", 8)
    for index in range(4):
        opening = random_opening("othello", 1, index)
        assert len(opening.moves) == 10
        _, position = position_after(game, opening)
        assert abs(exact_score(judge, position, 8, StopFlag())) <= 800


def test_other_seeds_make_other_openings() -> None:
    assert random_opening("othello", 1, 0) != random_opening("othello", 2, 0)


def test_openings_at_odds_keep_the_odds() -> None:
    """A gives them in every game; the openings differ, and can be made again one by one."""
    game = get_rules("othello")
    for number in range(4):
        opening = odds_opening("othello", "2-corners", 7, number)
        assert opening.start == ODDS["othello"][1].starts[number % 2]
        assert len(opening.moves) == 8
        assert odds_opening("othello", "2-corners", 7, number) == opening
        _, position = position_after(game, opening)
        taker = "wb"[number % 2]
        rows = game.board_rows(position)
        assert (rows[0][0], rows[7][7]) == (taker, taker)
    assert (
        odds_opening("othello", "2-corners", 7, 0).moves != odds_opening("othello", "2-corners", 7, 2).moves
    )


@pytest.mark.parametrize(("game_name", "name"), [("chess", "2-corners"), ("connect4", "queen")])
def test_odds_that_a_game_does_not_have(game_name: str, name: str) -> None:
    with pytest.raises(MatchError, match=f"{game_name} has no odds '{name}'; known: (pawn, knight|none)"):
        odds_opening(game_name, name, 1, 0)


def test_a_file_of_positions_and_moves() -> None:
    text = f"""\
# two ways of writing

{EN_PASSANT}
e2e4 e7e5
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1
"""
    first, second, third = read_openings(text.encode(), "chess", "openings.txt")
    assert first.start is not None
    assert first.start.startswith(EN_PASSANT[:40])
    assert second == Opening(None, ("e2e4", "e7e5"))
    assert third == Opening(None, ())  # the usual start, which some protocols know no other than


def test_odds_have_a_start_for_either_colour() -> None:
    """The second of a line is played where A moves second."""
    lacking = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1"
    text = f"{lacking} | e2e4 e7e5\ne2e4\n"
    odds, plain = read_openings(text.encode(), "chess", "x")
    assert odds.of_game(4) == odds
    assert odds.start == lacking
    assert odds.of_game(5) == Opening(None, ("e2e4", "e7e5"))
    assert plain.of_game(4) == plain.of_game(5) == Opening(None, ("e2e4",))
    assert len({fingerprint([odds]), fingerprint([Opening(lacking, ())]), fingerprint([plain])}) == 3


def test_transcripts_of_othello() -> None:
    found = read_openings(b"f5d6c3d3c4\nF5 f6 e6\n", "othello", "x", max_plies=4)
    assert found == [Opening(None, ("f5", "d6", "c3", "d3")), Opening(None, ("f5", "f6", "e6"))]


def test_games_as_openings() -> None:
    pgn = b'[Event "?"]\n[Result "*"]\n\n1. e4 e5 2. Nf3 *\n\n[Event "?"]\n[Result "*"]\n\n1. d4 d5 *\n'
    assert read_openings(pgn, "chess", "x.pgn", max_plies=2) == [
        Opening(None, ("e2e4", "e7e5")),
        Opening(None, ("d2d4", "d7d5")),
    ]
    board = "-" * 27 + "O*" + "-" * 6 + "*O" + "-" * 27
    ggf = f"(;GM[Othello]PC[GGS]PB[a]PW[b]TY[8]BO[8 {board} *]B[f5]W[d6];)\n"
    assert read_openings(ggf.encode(), "othello", "x.ggf") == [Opening(None, ("f5", "d6"))]


@pytest.mark.parametrize(
    ("text", "game", "says"),
    [
        ("", "othello", "x: the file has no openings"),
        ("# nothing\n", "chess", "the file has no openings"),
        ("f5d6\nhello\n", "othello", "x: line 2: neither a position .* nor moves"),
        ("f5f5\n", "othello", "x: line 1"),
        ("f5d6\nf5 | d3 | c4\n", "othello", "x: line 2: more than two openings on a line"),
        ("f5 d6 z9 foo\n", "othello", "x: line 1: 'z9' is not a move"),
        ("F5 d6 12 c3 -- then | c4\n", "othello", "x: line 1: 'then' is not a move"),
        ("f5 |\n", "othello", "x: line 1: nothing after the bar"),
        ("f5\n | f5\n", "othello", "x: line 2: nothing before the bar"),
        ("|\n", "othello", "x: line 1: nothing before the bar"),
        ("f5 | f9\n", "othello", "x: line 1: neither a position"),
        ("e2e5\n", "chess", "x: line 1"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\n", "chess", "x: line 1: the game is already over"),
        ('[Event "?"]\n\n1. e5 *\n', "chess", "x: game 1"),
    ],
)
def test_bad_files(text: str, game: str, says: str) -> None:
    with pytest.raises(MatchError, match=says):
        read_openings(text.encode(), game, "x")


def test_the_seed_decides_the_order() -> None:
    openings = [Opening(None, (str(number),)) for number in range(20)]
    assert shuffle_openings(openings, 1) == shuffle_openings(openings, 1) != shuffle_openings(openings, 2)
    assert sorted(shuffle_openings(openings, 1), key=repr) == sorted(openings, key=repr)
    assert fingerprint(openings) == fingerprint(list(openings)) != fingerprint(shuffle_openings(openings, 1))


def test_any_bytes_are_openings_or_an_error() -> None:
    rng = random.Random(5)
    for _ in range(200):
        data = bytes(rng.choice(b'f5d6e4 ()[];BO*-\n\0\xff"1.') for _ in range(rng.randrange(60)))
        with suppress(MatchError):
            assert read_openings(data, "othello", "x")
