"""The Othello network: its layers, initial weights, and ONNX export.

Three kinds of features come from tables (a table is a layer that stores its output for each input, so it
costs one look-up where a convolution would cost thousands of multiplications):

- *Lines*: every row, column and diagonal of three squares or more is a base-three number. A table maps
  that number to `LINE` values for each square of the line. Rows and columns at the same distance from the
  edge share a table, and so do diagonals of the same length.
- *Surroundings*: the 3 x 3 block around each square yields `NEAR` values for it, like a first convolution.
- *Whole board*: `WHOLE` numbers from each line, summed over the board.

Two 3 x 3 convolutions with `TRUNK` channels, the second of them residual, process the planes of
`engine.human.othello` and the features of the lines. Finally, two layers shared by all squares (1 x 1
convolutions) compute each square's logit from all these features, the mean and maximum of the trunk, and
parameters of the square.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from engine.human.model import OTHELLO
from engine.human.onnx import PREFIX
from engine.human.othello import GAME, INPUT, OPENINGS, OTHER, OUTPUT, OWN, PLANES
from engine.human.othello_boards import SQUARES
from engine.human.othello_openings import OpeningTable

LINE, WHOLE, NEAR = 6, 24, 16
TRUNK, HIDDEN, SECOND = 16, 64, 32
FEATURES = PLANES + 4 * LINE + NEAR + TRUNK
"""Number of inputs of the last layers per square; the terms of the sum follow the inputs' order."""

TABLES = ("lines", "whole", "near")
"""The weights that are tables (most of the network); each number in them is stored in one byte."""
_SIDE = 8
_MIN_LINE_LENGTH = 3
_OPSET, _IR_VERSION = 13, 8
_QUANTILE = 0.9999
"""Proportion of a table's numbers within the represented range; outliers are clipped so that the other
numbers have a finer resolution."""

NetworkWeights = dict[str, NDArray[np.float32]]


def _lines() -> list[tuple[int, str, list[int]]]:
    """Every line as its direction (0 to 3), the name of its table, and its squares."""
    side = range(_SIDE)
    lines = [(0, f"straight {min(row, 7 - row)}", [8 * row + column for column in side]) for row in side]
    lines += [
        (1, f"straight {min(column, 7 - column)}", [8 * row + column for row in side]) for column in side
    ]
    for way in (2, 3):
        for number in range(2 * _SIDE - 1):
            # Squares with one difference, or sum, of row and column.
            columns = [row - number + 7 if way == 2 else number - row for row in side]
            squares = [8 * row + column for row, column in zip(side, columns, strict=True) if column in side]
            if len(squares) >= _MIN_LINE_LENGTH:
                lines.append((way, f"diagonal {len(squares)}", squares))
    return lines


def _layout() -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64], int]:
    lines = _lines()
    powers = np.zeros((SQUARES, len(lines)), dtype=np.float32)
    offsets: dict[str, int] = {}
    rows = 0
    base = np.zeros(len(lines), dtype=np.int64)
    slots = np.full((SQUARES, 4), _SIDE * len(lines), dtype=np.int64)
    for number, (way, table, squares) in enumerate(lines):
        if table not in offsets:
            offsets[table] = rows
            rows += 3 ** len(squares)
        base[number] = offsets[table]
        for place, square in enumerate(squares):
            powers[square, number] = 3**place
            slots[square, way] = _SIDE * number + place
    return powers, base, slots, rows


POWERS, BASE, SLOTS, ROWS = _layout()
"""`POWERS`: the contribution of a square's state (0 empty, 1 own, 2 opponent's) to each line's number, shape
(64, lines). `BASE`: each line's first row in the tables. `SLOTS`: each square's place in its four lines, as 8
* line + place (the last index means no line). `ROWS`: number of rows of the tables."""
LINES = len(BASE)


def _near_powers() -> NDArray[np.float32]:
    near_powers = np.zeros((SQUARES, SQUARES), dtype=np.float32)
    for square in range(SQUARES):
        for place in range(9):
            row, column = square // 8 + place // 3 - 1, square % 8 + place % 3 - 1
            if 0 <= row < 8 and 0 <= column < 8:
                near_powers[8 * row + column, square] = 3**place
    return near_powers


NEAR_POWERS = _near_powers()
"""The contribution of one square's state to the number of each square's surroundings, shape (64, 64)."""


def first_weights(seed: int) -> NetworkWeights:
    """Initial weights: small random numbers, so that at first all moves are about equally likely."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int, scale: float | None = None) -> NDArray[np.float32]:
        spread = (2 / np.prod(shape[1:])) ** 0.5 if scale is None else scale
        return (spread * rng.standard_normal(shape)).astype(np.float32)

    seen, joined = PLANES + 4 * LINE, WHOLE + 2 * TRUNK
    return {
        "lines": normal(ROWS, _SIDE * LINE, scale=0.1),
        "whole": normal(ROWS, WHOLE, scale=0.05),
        "near": normal(3**9, NEAR, scale=0.1),
        "trunk": normal(TRUNK, seen, 3, 3),
        "trunk_place": normal(TRUNK, 8, 8, scale=0.05),
        "residual": 0.5 * normal(TRUNK, TRUNK, 3, 3),
        "residual_bias": normal(TRUNK, scale=0.0),
        "join": normal(HIDDEN, FEATURES),
        "join_whole": normal(HIDDEN, joined),
        "join_place": normal(SQUARES, HIDDEN, scale=0.1),
        "second": normal(SECOND, HIDDEN),
        "second_bias": normal(SECOND, scale=0.0),
        "last": normal(1, SECOND, scale=0.02),
        "direct": normal(1, FEATURES, scale=0.0),
        "prior": normal(SQUARES, scale=0.0),
    }


class _OthelloGraph:
    """Nodes and constants of an ONNX graph, with generated names for internal values."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def add(self, kind: str, *inputs: str | NDArray[Any], output: str = "", **attributes: Any) -> str:
        names = [self.constant(item) if isinstance(item, np.ndarray) else item for item in inputs]
        output = output or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, names, [output], **attributes))
        return output

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, dtype=np.int64))

    def looked_up(self, table: NDArray[np.float32], index: str) -> str:
        """Look up rows of a table that stores one byte per number."""
        scale = np.maximum(np.quantile(np.abs(table), _QUANTILE, axis=0), 1e-6).astype(np.float32) / 127
        small = np.clip(np.rint(table / scale), -127, 127).astype(np.int8)
        rows = self.add("Gather", small, index, axis=0)
        return self.add("Mul", self.add("Cast", rows, to=TensorProto.FLOAT), scale)


def to_onnx(
    weights: Mapping[str, NDArray[np.float32]],
    name: str,
    licence: str,
    text: str = "",
    openings: OpeningTable | None = None,
) -> bytes:
    """The network as the content of an ONNX file.

    Args:
        weights: Weights with the shapes of `first_weights`.
        name: Display name of the network.
        licence: Licence of the file.
        text: Description to store in the file.
        openings: Table of openings to store with the network.
    """
    graph = _OthelloGraph()
    add = graph.add
    cells = add(
        "Add",
        add("Gather", INPUT, np.array(OWN), axis=2),
        add("Mul", add("Gather", INPUT, np.array(OTHER), axis=2), np.array(2, dtype=np.float32)),
    )
    number = add("Add", add("MatMul", cells, POWERS), BASE.astype(np.float32))
    index = add("Cast", number, to=TensorProto.INT64)
    # Each line's table has a row of eight squares; a square then collects the entries of its four lines.
    said = add("Reshape", graph.looked_up(weights["lines"], index), graph.ints(-1, _SIDE * LINES, LINE))
    said = add("Pad", said, graph.ints(0, 0, 0, 0, 1, 0))
    said = add("Gather", said, SLOTS.reshape(-1), axis=1)
    said = add("Reshape", said, graph.ints(-1, SQUARES, 4 * LINE))
    seen = add("Concat", INPUT, said, axis=2)
    board = add("Transpose", seen, perm=[0, 2, 1])
    board = add("Reshape", board, graph.ints(-1, PLANES + 4 * LINE, 8, 8))
    trunk = add("Conv", board, weights["trunk"], pads=[1] * 4)
    trunk = add("Relu", add("Add", trunk, weights["trunk_place"]))
    more = add("Conv", trunk, weights["residual"], weights["residual_bias"], pads=[1] * 4)
    trunk = add("Relu", add("Add", trunk, more))
    trunk = add("Reshape", trunk, graph.ints(-1, TRUNK, SQUARES))
    trunk = add("Transpose", trunk, perm=[0, 2, 1])
    whole = add("ReduceSum", graph.looked_up(weights["whole"], index), graph.ints(1), keepdims=1)
    mean = add("ReduceMean", trunk, axes=[1], keepdims=1)
    most = add("ReduceMax", trunk, axes=[1], keepdims=1)
    whole = add("MatMul", add("Concat", whole, mean, most, axis=2), weights["join_whole"].T)
    near_index = add("Cast", add("MatMul", cells, NEAR_POWERS), to=TensorProto.INT64)
    features = add("Concat", seen, graph.looked_up(weights["near"], near_index), trunk, axis=2)
    joined = add("Add", add("MatMul", features, weights["join"].T), whole)
    joined = add("Relu", add("Add", joined, weights["join_place"]))
    joined = add("Relu", add("Add", add("MatMul", joined, weights["second"].T), weights["second_bias"]))
    logits = add(
        "Add", add("MatMul", joined, weights["last"].T), add("MatMul", features, weights["direct"].T)
    )
    logits = add("Reshape", logits, graph.ints(-1, SQUARES))
    add("Add", logits, weights["prior"], output=OUTPUT)
    metadata = {"kind": OTHELLO, "game": GAME, "name": name, "licence": licence}
    if openings is not None:
        metadata[OPENINGS] = openings.text()
    return _file(graph, metadata, text)


def _file(graph: _OthelloGraph, metadata: Mapping[str, str], text: str) -> bytes:
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "human_othello",
            [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["n", SQUARES, PLANES])],
            [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["n", SQUARES])],
            graph.constants,
        ),
        producer_name="desdemona",
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        doc_string=text,
    )
    helper.set_model_props(model, {PREFIX + key: value for key, value in metadata.items()})
    onnx.checker.check_model(model)
    data: bytes = model.SerializeToString(deterministic=True)
    return data
