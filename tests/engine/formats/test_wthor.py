import struct
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats import wthor
from engine.formats.record import BadGame, black_margin, squares_to_moves
from engine.formats.wthor import BadWthor, WthorGame
from engine.games.othello import SQUARES
from tests.shared_data import shared_path

EVERY = 32
"""One of so many real games is replayed here."""


def header(*, games: int = 0, names: int = 0, year: int = 1984, size: int = 8, depth: int = 22) -> bytes:
    return struct.pack("<4BIHH4B", 19, 84, 1, 1, games, names, year, size, 0, depth, 0)


def record(
    moves: str = "f5d6c3", score: int = 40, theoretical: int = 33, numbers: tuple[int, int, int] = (0, 1, 2)
) -> bytes:
    squares = [SQUARES.index(moves[i : i + 2]) for i in range(0, len(moves), 2)]
    places = bytes(10 * (square // 8 + 1) + square % 8 + 1 for square in squares)
    return struct.pack("<3H2B60s", *numbers, score, theoretical, places)


def names(length: int, *texts: bytes) -> bytes:
    return header(names=len(texts)) + b"".join(text.ljust(length, b"\0") for text in texts)


def test_a_game_with_its_names() -> None:
    base = wthor.parse_games(header(games=1) + record())
    players = wthor.parse_names(names(20, b"???", b"Ren\xe9 Dupont", b"Tastet Marc"), ".jou")
    tournaments = wthor.parse_names(names(26, b"Diverses parties"), ".trn")
    assert (base.year, base.depth, base.count) == (1984, 22, 1)
    (game,) = base.games()
    assert game == WthorGame(0, 1, 2, 40, 33, (37, 43, 18))
    assert game.margin == 16
    told = wthor.to_record(game, base, players, tournaments)
    assert told.players == ("René Dupont", "Tastet Marc")
    assert (told.event, told.date, told.moves) == ("Diverses parties", "1984", ("f5", "d6", "c3"))
    assert (told.margin, told.points) == (16, 1.0)
    assert told.tags == (("TheoreticalScore", "33 at 22"),)


def test_numbers_stand_for_names_that_are_missing() -> None:
    base = wthor.parse_games(header(games=1, size=0, depth=0) + record(numbers=(9, 70, 2)))
    (game,) = base.games()
    assert isinstance(game, WthorGame)
    told = wthor.to_record(game, base, ("a", "b"), ())
    assert (told.players, told.event) == (("#70", "#2"), "#9")
    assert base.depth == 22


def test_a_bad_game_leaves_the_others() -> None:
    bad = record()[:-60] + bytes([99]) * 60
    found = list(wthor.parse_games(header(games=3) + record() + bad + record("d3")).games())
    assert [type(game) for game in found] == [WthorGame, BadWthor, WthorGame]
    assert str(found[1]) == "game 2 has an invalid square or score"


def test_a_game_against_the_rules_is_named() -> None:
    base = wthor.parse_games(header(games=1) + record("f5f5"))
    (game,) = base.games()
    assert isinstance(game, WthorGame)
    with pytest.raises(BadGame, match="disc 2: 'f5' is not a legal move"):
        wthor.to_record(game, base)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "0 bytes are not a WTHOR file"),
        (header(games=1), "16 bytes; 1 games are 84"),
        (header(size=10), "10 x 10"),
    ],
)
def test_files_that_are_none(data: bytes, why: str) -> None:
    with pytest.raises(BadWthor, match=why):
        wthor.parse_games(data)


def test_names_of_another_length_are_refused() -> None:
    with pytest.raises(BadWthor, match="36 bytes; 1 names are 42"):
        wthor.parse_names(names(20, b"x"), ".trn")


@given(st.binary(max_size=300))
def test_no_bytes_raise_another_error(data: bytes) -> None:
    readers: list[Callable[[bytes], object]] = [wthor.parse_games]
    readers += [partial(wthor.parse_names, suffix=suffix) for suffix in (".jou", ".trn")]
    for read in readers:
        try:
            read(data)
        except BadWthor:
            continue
    games = len(data) // wthor.GAME_BYTES
    base = wthor.parse_games(header(games=games) + data[: games * wthor.GAME_BYTES])
    for game in base.games():
        if isinstance(game, WthorGame):
            try:
                wthor.to_record(game, base)
            except BadGame:
                continue


def test_real_games_replay_to_their_scores() -> None:
    folder = shared_path("wthor")
    players = wthor.parse_names((folder / "WTH.JOU").read_bytes(), ".jou")
    tournaments = wthor.parse_names((folder / "WTH.TRN").read_bytes(), ".trn")
    paths = sorted(folder.glob("*.wtb"))
    years, finished = set(), 0
    for path in paths:
        base = wthor.parse_games(path.read_bytes())
        years.add(base.year)
        for number, game in enumerate(base.games()):
            assert isinstance(game, WthorGame), path
            assert max(game.black, game.white) < len(players)
            assert game.tournament < len(tournaments)
            if number % EVERY == 0:
                margin = black_margin(squares_to_moves(game.squares)[1])
                finished += margin is not None
                assert margin in (None, game.margin), (path, number)
    assert len(paths) == len(years) == 43
    assert finished > 3500
    assert "Tastet Marc" in players
    assert "World Championship" in tournaments
