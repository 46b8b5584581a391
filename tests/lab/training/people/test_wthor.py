"""Tests of the reader of WTHOR games."""

import math
from pathlib import Path

import numpy as np
import pytest

from engine.games.othello import PASS, Othello
from engine.human.othello_boards import TURNED
from lab.training.people.positions import LAST_TO, NONE, HumanPositions, UnusableGames
from lab.training.people.wthor import is_program, read_othello
from tests.lab.training.othello_games import random_games, write_wthor


def test_wthor_positions_follow_the_rules(tmp_path: Path) -> None:
    games = random_games(4, seed=3)
    write_wthor(tmp_path / "WTH_2001.wtb", 2001, games)
    collection = read_othello([tmp_path])
    positions = collection.positions
    rules, number = Othello(), 0
    by_game_and_ply = {
        (int(g), int(p)): i for i, (g, p) in enumerate(zip(positions.game, positions.ply, strict=True))
    }
    for game, squares in enumerate(games):
        position, last = rules.initial(), NONE
        for ply, square in enumerate(squares):
            if rules.legal_moves(position) == (PASS,):
                position, last = rules.play(position, PASS), NONE
            legal = rules.legal_moves(position)
            if len(legal) > 1 and ply:
                row = by_game_and_ply[game, ply]
                check_oriented(positions, row, position.mover, position.waiter, last, square, legal)
                number += 1
            position, last = rules.play(position, square), square
    assert number == len(positions)


def check_oriented(
    positions: HumanPositions, row: int, own: int, other: int, last: int, square: int, legal: tuple[int, ...]
) -> None:
    """One symmetry maps the position to the stored one, and all of it."""
    codes = np.array([own >> at & 1 for at in range(64)]) + 2 * np.array(
        [other >> at & 1 for at in range(64)]
    )
    stored = positions.moves[positions.first[row] :][: positions.count[row]]
    for turn in TURNED:
        image = np.empty(64, dtype=np.int64)
        image[turn] = codes
        if (
            image.tolist() == positions.board[row].tolist()
            and turn[square] == stored[positions.played[row]]
            and sorted(turn[list(legal)].tolist()) == stored.tolist()
            and (NONE if last == NONE else turn[last]) == positions.marks[row, LAST_TO]
        ):
            return
    raise AssertionError(f"position {row} is no image of the game's")


def test_wthor_splits_by_year_and_knows_results_and_ratings(tmp_path: Path) -> None:
    for year in (2015, 2016):
        write_wthor(tmp_path / f"WTH_{year}.wtb", year, random_games(2, seed=year))
    collection = read_othello([tmp_path])
    positions = collection.positions
    assert np.array_equal(collection.held_out, positions.year == 2016)
    assert set(positions.result.tolist()) == {0.5}  # the files say 32 discs each
    first, second = positions.features[positions.game == 0][0], positions.features[positions.game == 1][0]
    assert first.tolist() == [0, 0, 0]
    assert second[2] == pytest.approx(math.log(2) / 5)


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("Edax", True), ("Zebra (Andersson)", True), ("Tamenori Hideshi", False), ("edaxis", False)],
)
def test_programs_are_known_by_name(name: str, is_one: bool) -> None:
    assert is_program(name) is is_one


def test_a_folder_without_games_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UnusableGames):
            read_othello([folder])
