"""Reads WTHOR games of Othello: folders with ``.wtb`` files and the ``.jou`` file of the players' names.

The collection has no ratings: they are computed from the results, in the order of years. Moves of programs,
recognised by their names, are left out.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.formats.wthor import BadWthor, WthorFile, WthorGame, parse_games, parse_names
from engine.human.othello_boards import (
    SQUARES,
    TURNED,
    Boards,
    bits,
    flips_masks,
    moves_masks,
    square_bits,
    turned,
    upright,
)
from lab.training.people.collection import Collection, person_features, results_of
from lab.training.people.elo import rate
from lab.training.people.positions import LAST_TO, NONE, HumanPositions, UnusableGames

LEARNED_TO = 2015
"""The last year to learn from; later games measure."""
LEAST_GAMES = 10
"""Number of games from which on a person has a vector."""
_SOURCE = "WTHOR, the database of tournament games of the French Othello Federation"
_PROGRAMS = frozenset({"edax", "logistello", "zebra", "ntest", "saio", "cassio"})
_START = (0x0000000810000000, 0x0000001008000000)
_DRAWN_SCORE = 32
_PLIES = 60


class _DatedGame(NamedTuple):
    """One game, and its year."""

    year: int
    record: WthorGame


class _ReplayedPly(NamedTuple):
    """One ply of every game that reaches it."""

    game: NDArray[np.int64]
    own: Boards
    other: Boards
    last: NDArray[np.int64]
    """Square of the disc placed last; `NONE` after a pass."""
    side: NDArray[np.int64]
    square: NDArray[np.int64]
    """The move that was played."""


def read_othello(folders: Sequence[Path]) -> Collection:
    """Read positions with a choice from folders of WTHOR files.

    Raises:
        UnusableGames: A folder has no games, or a file is damaged.
    """
    games, names = _read(folders)
    years = np.array([game.year for game in games], dtype=np.int16)
    sides = [(game.record.black, game.record.white) for game in games]
    points = [_points(game.record) for game in games]
    order = np.argsort(years, kind="stable").tolist()
    plies = list(_plies(games))
    game, side = (np.concatenate([getattr(ply, name) for ply in plies]) for name in ("game", "side"))
    player = np.array(sides, dtype=np.int64)[game, side]
    positions = _positions(plies, years)
    positions = HumanPositions(
        **vars(positions)
        | {
            "features": person_features(rate(sides, points, order), game, side),
            "result": results_of(points, game, side),
            "person": _persons(sides, years)[player],
        }
    )
    is_person = np.array([not is_program(name) for name in names] or [True])
    is_chosen = positions.has_choice & is_person[np.minimum(player, len(is_person) - 1)]
    chosen = positions.of(is_chosen)
    return Collection(
        chosen,
        held_out=chosen.year > LEARNED_TO,
        source=_SOURCE,
        scale="Elo over the results of the WTHOR games (start 1500)",
        split=f"games to {LEARNED_TO} to learn, later ones to measure; programs left out",
    )


def is_program(name: str) -> bool:
    """Whether a player of WTHOR is a program; programs' names often have their operator in brackets."""
    return "(" in name or name.lower() in _PROGRAMS


def _read(folders: Sequence[Path]) -> tuple[list[_DatedGame], tuple[str, ...]]:
    games: list[_DatedGame] = []
    names: tuple[str, ...] = ()
    for folder in folders:
        try:
            for file in sorted(folder.iterdir()):
                suffix = file.suffix.lower()
                if suffix == ".jou":
                    names = max(names, parse_names(file.read_bytes(), suffix), key=len)
                elif suffix == ".wtb":
                    games += _games_of(parse_games(file.read_bytes()))
        except (OSError, BadWthor) as error:
            raise UnusableGames(f"{folder}: {error}") from None
    if not games:
        raise UnusableGames(f"{', '.join(map(str, folders))}: no games in .wtb files")
    return games, names


def _games_of(content: WthorFile) -> Iterator[_DatedGame]:
    return (_DatedGame(content.year, game) for game in content.games() if not isinstance(game, BadWthor))


def _points(game: WthorGame) -> float:
    """Black's points."""
    return float(np.sign(game.black_score - _DRAWN_SCORE) / 2 + 0.5)


def _persons(sides: Sequence[tuple[int, int]], years: NDArray[np.int16]) -> NDArray[np.int32]:
    """Each player's number as a person with a vector; 0 for those with too few games to learn one."""
    players = np.array(sides, dtype=np.int64)
    counts = np.bincount(players[years <= LEARNED_TO].reshape(-1), minlength=int(players.max()) + 1)
    known = counts >= LEAST_GAMES
    return np.where(known, np.cumsum(known), 0).astype(np.int32)


def _plies(games: Sequence[_DatedGame]) -> Iterator[_ReplayedPly]:
    """Replay all games ply by ply; a game with an illegal move ends before it."""
    squares = np.full((len(games), _PLIES), -1, dtype=np.int64)
    for row, game in zip(squares, games, strict=True):
        row[: len(game.record.squares)] = game.record.squares
    own, other = (np.full(len(games), board, dtype=np.uint64) for board in _START)
    last = np.full(len(games), NONE)
    side = np.zeros(len(games), dtype=np.int64)
    active = np.arange(len(games))
    for ply in range(_PLIES):
        active = active[squares[active, ply] >= 0]
        stuck = active[moves_masks(own[active], other[active]) == 0]
        own[stuck], other[stuck] = other[stuck], own[stuck]
        side[stuck], last[stuck] = 1 - side[stuck], NONE
        move = square_bits(squares[active, ply])
        flips = flips_masks(own[active], other[active], move)
        is_legal = (flips != 0) & (move & (own[active] | other[active]) == 0)
        active, move, flips = active[is_legal], move[is_legal], flips[is_legal]
        square = squares[active, ply]
        yield _ReplayedPly(active, own[active], other[active], last[active], side[active], square)
        own[active], other[active] = other[active] & ~flips, own[active] | flips | move
        side[active], last[active] = 1 - side[active], square


def _positions(plies: Sequence[_ReplayedPly], years: NDArray[np.int16]) -> HumanPositions:
    """The positions in their canonical orientation, with unknown persons and results."""
    parts = [_oriented(ply, number) for number, ply in enumerate(plies)]
    board, last, played, legal, ply, game = (np.concatenate(values) for values in zip(*parts, strict=True))
    counts = legal.sum(axis=1, dtype=np.int64)
    rows, squares = np.nonzero(legal)
    n = len(board)
    marks = np.full((n, 4), NONE, dtype=np.uint8)
    marks[:, LAST_TO] = last
    return HumanPositions(
        board=board,
        marks=marks,
        first=np.cumsum(counts, dtype=np.int64) - counts,
        count=counts.astype(np.int16),
        # The place of the played square: the number of legal squares before it.
        played=np.bincount(rows, weights=squares < played[rows], minlength=n).astype(np.int16),
        features=np.empty((n, 0), dtype=np.float32),
        result=np.empty(n, dtype=np.float32),
        game=game.astype(np.int32),
        ply=ply,
        year=years[game],
        person=np.zeros(n, dtype=np.int32),
        moves=squares.astype(np.int16),
    )


def _oriented(ply: _ReplayedPly, number: int) -> tuple[NDArray[Any], ...]:
    """Board, last square, played square, legal squares, ply and game of one ply's positions."""
    turn = upright(ply.own, ply.other).argmax(axis=0)
    own, other = turned(ply.own, turn), turned(ply.other, turn)
    last = np.where(ply.last == NONE, NONE, TURNED[turn, np.minimum(ply.last, SQUARES - 1)])
    return (
        bits(own) + 2 * bits(other),
        last.astype(np.uint8),
        TURNED[turn, ply.square],
        bits(moves_masks(own, other)),
        np.full(len(turn), number, dtype=np.int16),
        ply.game,
    )
