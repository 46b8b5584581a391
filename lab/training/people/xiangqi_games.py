"""Reads xiangqi games of masters: tables as in `engine.formats.tables`, plain or gzipped.

The collection has no ratings: they are computed from the results, in the order of years.
"""

import gzip
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from engine.formats.record import split_lines
from engine.formats.tables import BadGameTable, TableRow, rows
from engine.human.xiangqi import MIRROR, should_mirror
from lab._training import xiangqi_human_positions
from lab.training.people.collection import Collection, from_native, person_features, results_of
from lab.training.people.elo import rate
from lab.training.people.positions import LAST_TO, NONE, HumanPositions, UnusableGames
from lab.training.people.shapes import XIANGQI

LEARNED_TO = 2003
"""The last year to learn from; later games measure."""
_SOURCE = "Chinese Chess Practical Dataset (Tseng and Chen, 2026), CC BY 4.0"


def read_xiangqi(paths: Sequence[Path]) -> Collection:
    """Read positions with a choice from collections of xiangqi games.

    Raises:
        UnusableGames: A file is unreadable, is another kind of file, or has an illegal move.
    """
    games = [row for path in paths for row in _rows(path)]
    if not games:
        raise UnusableGames(f"{', '.join(map(str, paths))}: no games")
    native = from_native(XIANGQI, xiangqi_human_positions([row.moves for row in games]))
    if not native.is_whole.all():
        raise UnusableGames(f"game {int(native.is_whole.argmin()) + 1} has an illegal move")
    years = np.array([row.year or 0 for row in games], dtype=np.int16)
    points = [row.points for row in games]
    # Games without a year cannot be put in order; their players count as unknown.
    order = [number for number in np.argsort(years, kind="stable").tolist() if years[number]]
    players = rate([(row.red or None, row.black or None) for row in games], points, order)
    positions = native.positions
    side = positions.ply & 1
    positions = replace(
        positions,
        features=person_features(players, positions.game, side),
        result=results_of(points, positions.game, side),
        year=years[positions.game],
    )
    chosen = canonical(positions)
    chosen = chosen.of(chosen.has_choice)
    return Collection(
        chosen,
        held_out=chosen.year > LEARNED_TO,
        source=_SOURCE,
        scale="Elo over the results of the games (start 1500)",
        split=f"games to {LEARNED_TO} and games without a year to learn, later ones to measure",
    )


def canonical(positions: HumanPositions) -> HumanPositions:
    """Mirror the positions that `engine.human.xiangqi` mirrors; all positions as read, not a subset."""
    last = positions.marks[:, : LAST_TO + 1]
    mirror = should_mirror(positions.board, last)
    mirrored_marks = positions.marks.copy()
    mirrored_marks[:, : LAST_TO + 1] = np.where(last == NONE, NONE, MIRROR[np.minimum(last, len(MIRROR) - 1)])
    origin, target = positions.moves // XIANGQI.squares, positions.moves % XIANGQI.squares
    of_move = np.repeat(mirror, positions.count)
    moves = np.where(of_move, MIRROR[origin] * XIANGQI.squares + MIRROR[target], positions.moves)
    return replace(
        positions,
        board=np.where(mirror[:, None], positions.board[:, MIRROR], positions.board),
        marks=np.where(mirror[:, None], mirrored_marks, positions.marks),
        moves=moves.astype(np.int16),
    )


def _rows(path: Path) -> list[TableRow]:
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
        found = list(rows(split_lines(text)))
    except (OSError, EOFError, UnicodeDecodeError, BadGameTable) as error:
        raise UnusableGames(f"{path}: {error}") from None
    if bad := next((row for row in found if isinstance(row, BadGameTable)), None):
        raise UnusableGames(f"{path}: {bad}")
    return [row for row in found if isinstance(row, TableRow)]
