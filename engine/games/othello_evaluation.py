"""Static evaluation of Othello: patterns of squares with a learned weight for each configuration.

A *pattern* is a list of squares; each of the board's eight symmetries maps it to a *feature*.  The content
of a feature is a number in base three (0 empty, 1 the mover, 2 the opponent; the first square is the lowest
digit) that indexes one weight in the pattern's table. All features of a pattern share the table, and
mirror-image contents share one weight. Each side has one more table, indexed by its number of moves.
Each ply has its own set of tables. The weights are learned by ``python -m lab.training.othello_patterns``;
``othello_weights.json`` documents the training.

The C++ core (``engine/native/othello/patterns.hpp``) defines the patterns and evaluates positions;
``tests/engine/games/othello_mirror.py`` repeats both in readable Python.
"""

from functools import cache

from engine._native import OthelloEvaluation, OthelloSearch
from engine.games.program_files import open_program_file, read_compressed_file

WEIGHTS_FILE = "othello_weights.xz"
"""File name of the learned weights."""


def turned(square: int, symmetry: int) -> int:
    """The image of a square under one of the board's eight symmetries."""
    row, column = divmod(square, 8)
    if symmetry & 1:
        column = 7 - column
    if symmetry & 2:
        row = 7 - row
    return 8 * column + row if symmetry & 4 else 8 * row + column


@cache
def weight_bytes() -> bytes:
    """The learned weights of all stages: little-endian 16-bit integers.

    Mirror-image contents share the weight of the lower number.

    Raises:
        DamagedFile: The file is missing or damaged; the core checks its size.
    """
    return read_compressed_file(WEIGHTS_FILE)


@cache
def native_evaluation() -> OthelloEvaluation:
    """The weights in the core's format, shared by all searches of the process.

    Raises:
        DamagedFile: The file is missing or damaged.
    """
    with open_program_file(WEIGHTS_FILE):
        return OthelloEvaluation(weight_bytes())


@cache
def _core() -> OthelloSearch:
    return OthelloSearch(1, native_evaluation())


def evaluate_centi(mover: int, waiter: int) -> int:
    """Static evaluation of an unfinished game from both sides' bitboards, in centidiscs for the mover."""
    return _core().evaluate((mover, waiter))
