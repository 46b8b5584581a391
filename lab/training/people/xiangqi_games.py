"""Reads xiangqi games of masters: tab-separated files, plain or gzipped, one game a line after the header.

Columns: ``year``, ``red``, ``black`` (each may be empty), ``result`` and ``moves`` (``b1a3 b10c8 ...``). The
collection has no ratings: they are computed from the results, in the order of years.
"""

import csv
import gzip
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from engine.human.xiangqi import MIRROR, should_mirror
from lab._training import xiangqi_human_positions
from lab.training.people.collection import POINTS, Collection, from_native, person_features, results_of
from lab.training.people.elo import rate
from lab.training.people.positions import LAST_TO, NONE, HumanPositions, UnusableGames
from lab.training.people.shapes import XIANGQI

LEARNED_TO = 2003
"""The last year to learn from; later games measure."""
_SOURCE = "Chinese Chess Practical Dataset (Tseng and Chen, 2026), CC BY 4.0"
_COLUMNS = ("year", "red", "black", "result", "moves")


def read_xiangqi(paths: Sequence[Path]) -> Collection:
    """Read positions with a choice from collections of xiangqi games.

    Raises:
        UnusableGames: A file is unreadable, is another kind of file, or has an illegal move.
    """
    rows = [row for path in paths for row in _rows(path)]
    if not rows:
        raise UnusableGames(f"{', '.join(map(str, paths))}: no games")
    native = from_native(XIANGQI, xiangqi_human_positions([row["moves"] for row in rows]))
    if not native.is_whole.all():
        raise UnusableGames(f"game {int(native.is_whole.argmin()) + 1} has an illegal move")
    years = np.array([int(row["year"] or 0) for row in rows], dtype=np.int16)
    points = [POINTS.get(row["result"]) for row in rows]
    # Games without a year cannot be put in order; their players count as unknown.
    order = [number for number in np.argsort(years, kind="stable").tolist() if years[number]]
    players = rate([(row["red"] or None, row["black"] or None) for row in rows], points, order)
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


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UnusableGames(f"{path}: {error}") from None
    reader = csv.DictReader(io.StringIO(text), delimiter="\t")
    if missing := _missing(reader.fieldnames or ()):
        raise UnusableGames(f"{path}: no column {missing}")
    rows = list(reader)
    for number, row in enumerate(rows, start=2):
        if row["moves"] is None or (row["year"] and not row["year"].isdecimal()):
            raise UnusableGames(f"{path}: line {number} is not a game")
    return rows


def _missing(names: Iterable[str]) -> str:
    return ", ".join(name for name in _COLUMNS if name not in set(names))
