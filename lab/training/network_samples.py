"""Positions from self-play games, for training a network."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.games.networks import INPUT_UNIT, OUTPUT_UNIT
from lab.training.self_play import NetworkGame

HELD_OUT_ONE_IN = 50
"""One game in this many is held out for validation."""
_CHUNK_BYTES = 8_000_000
"""Number of bytes of records to expand at a time."""


class Samples:
    """Positions to learn from.

    Attributes:
        inputs: Indices of inputs, of shape (n, 2, 32), as seen by the mover, then by the other side; padded
            with the number of inputs.
        scores: The search's scores for the mover, in centi-units.
        linear: The linear evaluation's scores for the mover, in centi-units.
        results: Result for the mover: 0 loss, 1 draw, 2 win.
        held_out: Whether the position's game is held out for validation.
        files: Names and checksums of the files, for the card.
    """

    def __init__(self, game: NetworkGame, files: Sequence[Path]) -> None:
        """Read all games in these files.

        Raises:
            OSError: A file cannot be read.
            ValueError: A file does not contain self-play games.
        """
        parts: list[tuple[NDArray[Any], ...]] = []
        evaluation = game.evaluation()
        for path in files:
            for before, records in _pieces(path.read_bytes(), path):
                try:
                    inputs, scores, linear, results, games = game.samples(records, evaluation)
                except ValueError as exc:
                    raise ValueError(f"{path}: {exc}") from None
                places = np.frombuffer(games, np.uint32)
                parts.append(
                    (
                        np.frombuffer(inputs, np.uint16).reshape(-1, 2, 32),
                        np.frombuffer(scores, np.int16),
                        np.frombuffer(linear, np.int16),
                        np.frombuffer(results, np.uint8),
                        (places + before) % HELD_OUT_ONE_IN == 0,
                    )
                )
        if not parts or not sum(len(part[1]) for part in parts):
            raise ValueError("there are no positions to learn from")
        self.files = [
            {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()} for path in files
        ]
        self.inputs, self.scores, self.linear, self.results, self.held_out = (
            np.concatenate(part) for part in zip(*parts, strict=True)
        )


def _pieces(records: bytes, path: Path) -> list[tuple[int, bytes]]:
    """Split records into chunks of whole games, each with the number of games before it."""
    pieces = []
    start = end = before = games = 0
    while end < len(records):
        plies = int.from_bytes(records[end : end + 2], "little")
        end += 6 + 4 * plies
        games += 1
        if end > len(records):
            raise ValueError(f"{path}: the last game is truncated")
        if end - start >= _CHUNK_BYTES or end == len(records):
            pieces.append((before, records[start:end]))
            start, before = end, games
    return pieces


def to_bytes(
    inputs: NDArray[np.float32], bias: NDArray[np.float32], outputs: NDArray[np.float32],
    output_bias: NDArray[np.float32],
) -> bytes:  # fmt: skip
    """Learned weights in the core's format.

    Args:
        inputs: Weights of the first layer, of shape (inputs, WIDTH); see engine/native/network.hpp.
        bias: Biases of the first layer's sums.
        outputs: Weights of the second layer, limited to the core's range.
        output_bias: Bias of the second layer.
    """
    parts = [
        np.clip(np.rint(inputs * INPUT_UNIT), -32_000, 32_000).astype("<i2"),
        np.clip(np.rint(bias * INPUT_UNIT), -32_000, 32_000).astype("<i2"),
        np.clip(np.rint(outputs * OUTPUT_UNIT), -127, 127).astype("<i2"),
        np.rint(output_bias * INPUT_UNIT * OUTPUT_UNIT).astype("<i4"),
    ]
    return b"".join(part.tobytes() for part in parts)
