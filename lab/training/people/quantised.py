"""Static quantisation of a network's convolutions to 8 bits, per channel, in ONNX's QDQ form."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnxruntime.quantization import (
    CalibrationDataReader,
    CalibrationMethod,
    QuantFormat,
    QuantType,
    quantize_static,
)

from lab.training.people.shapes import BOARD, WHO

CALIBRATION_POSITIONS = 512
_BATCH = 64


class _Calibration(CalibrationDataReader):  # type: ignore[misc]  # onnxruntime has no types
    """Feeds positions to the calibration, a batch at a time."""

    def __init__(self, board: NDArray[np.float32], who: NDArray[np.float32]) -> None:
        self._batches: Iterator[dict[str, Any]] = iter(
            {BOARD: board[at : at + _BATCH], WHO: who[at : at + _BATCH]}
            for at in range(0, len(board), _BATCH)
        )

    def get_next(self) -> dict[str, Any] | None:
        return next(self._batches, None)


def quantised(
    model: onnx.ModelProto, board: NDArray[np.float32], who: NDArray[np.float32]
) -> onnx.ModelProto:
    """The network with its convolutions in 8 bits.

    Args:
        model: The network in single precision.
        board: Input of some typical positions, by which the ranges of activations are chosen.
        who: Likewise.
    """
    with tempfile.TemporaryDirectory() as folder:
        full, path = Path(folder) / "full.onnx", Path(folder) / "int8.onnx"
        onnx.save(model, full)  # given the model itself, onnxruntime would change it
        quantize_static(
            str(full),
            str(path),
            _Calibration(board, who),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=["Conv"],
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            calibrate_method=CalibrationMethod.MinMax,
        )
        return onnx.load(path)
