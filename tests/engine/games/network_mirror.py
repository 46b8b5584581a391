"""A readable mirror of a network's arithmetic (`engine.games.networks`)."""

from collections.abc import Sequence

import numpy as np

from engine.games.networks import BUCKETS, INPUT_UNIT, INPUTS, OUTPUT_UNIT, SCORE_UNIT, WIDTH


class Network:
    """The weights as arrays."""

    def __init__(self, game: str, weights: bytes) -> None:
        """From the core's form.

        Raises:
            ValueError: The length is wrong.
        """
        inputs = INPUTS[game]
        shapes: list[tuple[str, tuple[int, ...]]] = [
            ("<i2", (inputs, WIDTH)), ("<i2", (WIDTH,)), ("<i2", (BUCKETS, 2, WIDTH)), ("<i4", (BUCKETS,)),
        ]  # fmt: skip
        sizes = [int(np.dtype(kind).itemsize * np.prod(shape)) for kind, shape in shapes]
        if len(weights) != sum(sizes):
            raise ValueError(f"a network of {game} has {sum(sizes)} bytes, not {len(weights)}")
        group_offsets = np.cumsum([0, *sizes])
        parts = [
            np.frombuffer(weights, kind, int(np.prod(shape)), int(start)).reshape(shape).astype(np.int64)
            for (kind, shape), start in zip(shapes, group_offsets, strict=False)
        ]
        self.inputs, self.bias, self.outputs, self.output_bias = parts

    def correction_centi(self, mover: Sequence[int], other: Sequence[int]) -> int:
        """The correction to the evaluation, for the side to move.

        Args:
            mover: Inputs of the side to move: one for each piece of either colour.
            other: The same as the other side sees them.
        """
        bucket = min((len(mover) - 1) // 4, BUCKETS - 1)
        total = 0
        for view, outputs in zip((mover, other), self.outputs[bucket], strict=True):
            sums = self.bias + self.inputs[list(view)].sum(axis=0)
            limited = np.clip(sums, 0, INPUT_UNIT)
            total += int((limited * limited * outputs).sum())
        score = _towards_zero(total, INPUT_UNIT) + int(self.output_bias[bucket])
        return _towards_zero(score * SCORE_UNIT, INPUT_UNIT * OUTPUT_UNIT)


def _towards_zero(number: int, divisor: int) -> int:
    return number // divisor if number >= 0 else -(-number // divisor)
