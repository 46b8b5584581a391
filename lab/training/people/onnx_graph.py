"""Writes a trained network as ONNX: plain convolutions, with the normalisation folded into them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from engine.human.onnx import PREFIX
from lab.training.people.shapes import BOARD, KEY, MOVES, PLANES, VALUE, WHO, NetworkSize

_OPSET, _IR_VERSION = 17, 8
_EPSILON = np.float32(1e-5)
"""Of PyTorch's batch normalisation."""

Weights = Mapping[str, NDArray[np.float32]]


class _Graph:
    """Nodes and constants of an ONNX graph, made from weights named as in `lab.training.people.network`."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, dtype=np.int64))

    def normalised_convolution(self, x: str, name: str) -> str:
        """A 3 x 3 convolution and its normalisation."""
        w = self._weights
        scale = w[f"{name}.1.weight"] / np.sqrt(w[f"{name}.1.running_var"] + _EPSILON)
        bias = w[f"{name}.1.bias"] - w[f"{name}.1.running_mean"] * scale
        kernel = w[f"{name}.0.weight"] * scale[:, None, None, None]
        return self.add(
            "Conv", x, self.constant(kernel), self.constant(bias), pads=[1] * 4, kernel_shape=[3, 3]
        )

    def convolution(self, x: str, name: str) -> str:
        """A 1 x 1 convolution."""
        kernel, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return self.add("Conv", x, self.constant(kernel), self.constant(bias), kernel_shape=[1, 1])

    def linear(self, x: str, name: str) -> str:
        kernel, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return self.add("Gemm", x, self.constant(kernel), self.constant(bias), transB=1)

    def relu(self, x: str) -> str:
        return self.add("Relu", x)


def to_onnx(weights: Weights, size: NetworkSize, metadata: Mapping[str, str], text: str) -> onnx.ModelProto:
    """The network in single precision.

    Args:
        weights: As `lab.training.people.training.TrainingRun.averaged` returns them.
        size: The network's size.
        metadata: Keys without the prefix, and their texts.
        text: Description for human readers.
    """
    shape, graph = size.shape, _Graph(weights)
    person = graph.relu(graph.linear(graph.relu(graph.linear(WHO, "person.0")), "person.2"))
    x = graph.relu(graph.normalised_convolution(BOARD, "stem"))
    for number in range(size.blocks):
        x = _block(graph, x, person, f"blocks.{number}", size.channels)
    policy = graph.convolution(graph.relu(graph.convolution(x, "policy")), "moves")
    squares = shape.squares
    if shape.moves_have_origin:
        policy = graph.add("Reshape", policy, graph.ints(-1, 2 * KEY, squares))
        origin, target = _halves(graph, policy)
        origin = graph.add("Transpose", origin, perm=[0, 2, 1])
        product = graph.add("MatMul", origin, target)
        graph.add("Mul", product, graph.constant(np.array(KEY**-0.5, dtype=np.float32)), output=MOVES)
        output = helper.make_tensor_value_info(MOVES, TensorProto.FLOAT, ["n", squares, squares])
    else:
        planes = 1 + size.person_planes
        graph.add("Reshape", policy, graph.ints(-1, planes, squares), output=PLANES)
        output = helper.make_tensor_value_info(PLANES, TensorProto.FLOAT, ["n", planes, squares])
    value = graph.add("Flatten", graph.relu(graph.convolution(x, "value_planes")))
    value = graph.relu(graph.linear(graph.add("Concat", value, person, axis=1), "value_hidden"))
    graph.add("Reshape", graph.linear(value, "value"), graph.ints(-1), output=VALUE)
    inputs = [
        helper.make_tensor_value_info(
            BOARD, TensorProto.FLOAT, ["n", shape.planes, shape.rows, shape.columns]
        ),
        helper.make_tensor_value_info(WHO, TensorProto.FLOAT, ["n", len(shape.who_columns)]),
    ]
    outputs = [output, helper.make_tensor_value_info(VALUE, TensorProto.FLOAT, ["n"])]
    model = helper.make_model(
        helper.make_graph(graph.nodes, f"people_{shape.name}", inputs, outputs, graph.constants),
        producer_name="desdemona",
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        doc_string=text,
    )
    set_metadata(model, metadata)
    onnx.checker.check_model(model)
    return model


def set_metadata(model: onnx.ModelProto, metadata: Mapping[str, str]) -> None:
    """Replace the model's metadata; keys get the program's prefix."""
    del model.metadata_props[:]
    helper.set_model_props(model, {PREFIX + key: value for key, value in metadata.items()})


def _block(graph: _Graph, x: str, person: str, name: str, channels: int) -> str:
    h = graph.relu(graph.normalised_convolution(x, f"{name}.first"))
    h = graph.normalised_convolution(h, f"{name}.second")
    film = graph.add("Reshape", graph.linear(person, f"{name}.film"), graph.ints(-1, 2 * channels, 1, 1))
    scale, shift = _halves(graph, film)
    h = graph.add("Mul", h, graph.add("Sigmoid", scale))
    return graph.relu(graph.add("Add", graph.add("Add", x, h), shift))


def _halves(graph: _Graph, x: str) -> tuple[str, str]:
    """Split axis 1 in two."""
    names = f"{x}_first", f"{x}_second"
    graph.nodes.append(helper.make_node("Split", [x], list(names), axis=1))
    return names
