from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.formats.record import GameRecord
from engine.games import get_rules
from lab.analysis.recorded_games import (
    GivenGame,
    MoveFilter,
    half_of,
    is_within,
    read_games,
    select_moves,
    year_of,
)
from lab.analysis.reply_profiles import AnalysisError
from storage.research.archive import content_key
from tests.shared_data import shared_path

PGN = """[Event "A"]
[White "Anna"]
[Black "Bert"]
[Date "2021.10.01"]
[WhiteElo "1500"]
[BlackElo "1700"]
[TimeControl "60+0"]
[Result "1-0"]

1. e4 { [%clk 0:01:00] } 1... e5 { [%clk 0:00:59] } 2. Bc4 { [%clk 0:00:58] } 2... Nc6 { [%clk 0:00:57.5] }
3. Qh5 { [%clk 0:00:56] } 3... Nf6 { [%clk 0:00:55] } 4. Qxf7# { [%clk 0:00:54] } 1-0

[Event "B"]
[White "Clara"]
[Black "Anna"]
[Date "2022.01.02"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1

[Event "C"]
[White "Clara"]
[Black "Anna"]
[Result "*"]

1. e4 e9 *
"""

SET_UP = """[Event "S"]
[White "Anna"]
[Black "Bert"]
[WhiteElo "1500"]
[BlackElo "1700"]
[SetUp "1"]
[FEN "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"]
[Result "*"]

1... e5 2. Nf3 Nc6 3. Bb5 *
"""


def given_games(tmp_path: Path, text: str, on_bad: Callable[[str], None] = lambda _: None) -> list[GivenGame]:
    file = tmp_path / "games.pgn"
    file.write_text(text)
    return list(read_games([file], "chess", on_bad=on_bad))


@pytest.fixture
def games(tmp_path: Path) -> list[GivenGame]:
    return given_games(tmp_path, PGN)


def plies(games: list[GivenGame], **choice: object) -> list[tuple[str, int]]:
    found = select_moves(games, MoveFilter(**choice))  # type: ignore[arg-type]
    return [(each.game.record.event, each.ply) for each in found]


def test_games_with_their_clocks(games: list[GivenGame]) -> None:
    first, second = games  # the third has an illegal move and is left out
    assert first.record.clocks_s == (60, 59, 58, 57.5, 56, 55, 54)
    assert second.record.clocks_s == ()
    assert (first.key, first.year, first.source_format) == (content_key(first.record), 2021, "pgn")


def test_what_somebody_answered(games: list[GivenGame]) -> None:
    found = select_moves(games, MoveFilter())
    assert [(each.game.record.event, each.ply) for each in found] == [
        *(("A", ply) for ply in range(1, 7)),
        *(("B", ply) for ply in range(1, 4)),
    ]
    check = found[4]
    assert (check.ply, check.move, check.reply, check.side) == (5, "d1h5", "g8f6", 1)
    assert (check.rating, check.clock_s) == (1700, 57.5)
    game = get_rules("chess")
    root = game.parse_position(found[4].position)
    after = game.play(root, game.parse_move(root, found[4].move))
    assert game.parse_move(after, found[4].reply) in game.legal_moves(after)
    assert found[0].clock_s is None


def test_moves_can_be_chosen(games: list[GivenGame]) -> None:
    assert plies(games, from_ply=4, to_ply=5) == [("A", 4), ("A", 5)]
    assert plies(games, from_year=2022) == [("B", 1), ("B", 2), ("B", 3)]
    assert plies(games, to_year=2021, from_ply=6) == [("A", 6)]
    assert plies(games, to_year=0) == []
    assert plies(games, players=("anna",), from_ply=3) == [("A", 4), ("A", 6), ("B", 3)]
    assert plies(games, min_rating=1600) == [("A", 1), ("A", 3), ("A", 5)]
    assert plies(games, max_rating=1600) == [("A", 2), ("A", 4), ("A", 6)]
    some = plies(games, every=3)
    assert 2 <= len(some) <= 4
    assert plies(games, every=3) == some


def test_a_game_that_is_there_twice_counts_once(tmp_path: Path, games: list[GivenGame]) -> None:
    copies = [*games, *given_games(tmp_path, PGN.replace('[WhiteElo "1500"]\n', "")), *games]
    found = select_moves(copies, MoveFilter())
    assert found == select_moves(games, MoveFilter())
    assert {each.rating for each in found if each.game.record.event == "A" and each.side == 0} == {1500}
    whole = plies(copies, sample=9, seed=7)
    assert sorted(whole) == plies(games)
    assert whole == plies(games, sample=9, seed=7)


def test_who_replied_in_a_game_from_a_set_up_position(tmp_path: Path) -> None:
    """Black moves first there, so black makes the even plies."""
    (given,) = given_games(tmp_path, SET_UP)
    found = [(each.ply, each.side, each.rating) for each in select_moves([given], MoveFilter())]
    assert found == [(1, 0, 1500), (2, 1, 1700), (3, 0, 1500)]
    assert plies([given], min_rating=1600) == [("S", 2)]
    assert plies([given], max_rating=1600) == plies([given], players=("ann",)) == [("S", 1), ("S", 3)]


def test_a_larger_sample_holds_the_smaller(games: list[GivenGame]) -> None:
    whole = plies(games, sample=9, seed=7)
    assert sorted(whole) == plies(games)
    for size in range(1, 9):
        assert plies(games, sample=size, seed=7) == whole[:size]
    assert plies(games, sample=50, seed=7) == whole
    assert plies(games, sample=9, seed=8) != whole


def test_forced_replies_are_no_answers() -> None:
    # After the check the king has only one square.
    record = GameRecord(
        game="chess", start="7k/8/8/8/8/8/1R6/R6K w - - 0 1", moves=("a1a8", "h8g7", "b2b7"), date="1999"
    )
    given = GivenGame(record, content_key(record), "x", "pgn")
    found = select_moves([given], MoveFilter())
    assert [each.ply for each in found] == [1, 2]
    forced = replace(record, start="7k/5K2/8/8/8/8/R7/8 w - - 0 1", moves=("a2h2",))
    assert select_moves([GivenGame(forced, content_key(forced), "x", "pgn")], MoveFilter()) == []


def test_halves_are_even_and_by_seed() -> None:
    keys = [str(number) for number in range(1000)]
    assert 420 < sum(half_of(key, 1) for key in keys) < 580
    assert [half_of(key, 1) for key in keys] != [half_of(key, 2) for key in keys]


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ("2016", 2016),
        ("2021.10.01", 2021),
        ("3/4/1998", 1998),
        ("", None),
        ("????.??.??", None),
        ("12345", None),
    ],
)
def test_years(date: str, year: int | None) -> None:
    assert year_of(date) == year


@pytest.mark.parametrize(
    ("year", "first", "last", "is_in"),
    [
        (2016, None, None, True),
        (None, None, None, True),
        (None, 0, None, False),
        (2016, 2016, 2016, True),
        (2016, 2017, None, False),
        (2016, None, 2015, False),
        (2016, 0, None, True),
        (2016, None, 0, False),
    ],
)
def test_years_that_count(year: int | None, first: int | None, last: int | None, is_in: bool) -> None:
    assert is_within(year, first, last) == is_in


def test_bad_games_are_told_of(tmp_path: Path) -> None:
    told: list[str] = []
    bad = '[White "x"]\n\n1. e9 *\n\n' * 6
    assert len(given_games(tmp_path, bad + PGN, told.append)) == 2
    path = tmp_path / "games.pgn"
    assert [line.startswith(f"{path}: ") for line in told] == [True] * 6
    assert told[5] == f"{path}: and 2 more bad games"


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match=r"none\.pgn: No such file"):
        list(read_games([tmp_path / "none.pgn"], "chess"))
    (tmp_path / "odd.bin").write_bytes(b"\0\1\2")
    with pytest.raises(AnalysisError, match="cannot detect the format"):
        list(read_games([tmp_path / "odd.bin"], "chess"))


def test_a_year_of_the_base() -> None:
    file = shared_path("wthor/WTH_2016.wtb")
    games = list(read_games([file], "othello"))
    assert len(games) > 500
    assert games[0].year == 2016
    found = select_moves(games, MoveFilter(sample=20, from_ply=10, to_ply=50))
    assert len(found) == 20
    assert {each.rating for each in found} == {None}
