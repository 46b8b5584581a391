"""Networks that correct the evaluation in the strong search of chess and xiangqi: their files and sizes.

A network's inputs are the pieces from each side's point of view; its output is added to the linear
evaluation; engine/native/network.hpp documents the computation and the file's layout. The files
``chess_network.xz`` and ``xiangqi_network.xz`` are compressed; the cards beside them, ``chess_network.json``
and ``xiangqi_network.json``, document how the weights were learned (`lab.training.networks`).
"""

import lzma
from functools import cache
from pathlib import Path

from engine.games.program_files import read_compressed_file

WIDTH, BUCKETS = 128, 8
INPUT_UNIT, OUTPUT_UNIT, SCORE_UNIT = 255, 64, 400
"""Must match engine/native/network.hpp."""

INPUTS = {"chess": 2 * 6 * 64, "xiangqi": 2 * 7 * 90}
"""Number of inputs of a network, by game."""


def read(path: Path) -> bytes:
    """Read a network file and decompress it to the format of the native core.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is not compressed with LZMA.
    """
    try:
        return lzma.decompress(path.read_bytes())
    except lzma.LZMAError as exc:
        raise ValueError(f"{path}: {exc}") from None


@cache
def weights(game: str) -> bytes:
    """The program's own network for a game in `INPUTS`, in the core's format.

    Raises:
        DamagedFile: The file is missing or damaged; the core checks its size.
    """
    return read_compressed_file(network_file(game))


def network_file(game: str) -> str:
    """File name of the program's own network for a game."""
    return f"{game}_network.xz"
