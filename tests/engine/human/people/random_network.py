"""Networks of people's moves with random weights."""

import numpy as np

from lab.training.people.onnx_graph import Weights, to_onnx
from lab.training.people.shapes import EMBEDDING, KEY, POLICY, VALUE_HIDDEN, VALUE_PLANES, NetworkSize


def _weights(size: NetworkSize) -> Weights:
    rng, shape, channels = np.random.default_rng(5), size.shape, size.channels
    outputs = 2 * KEY if shape.moves_have_origin else 1 + size.person_planes
    layers = {
        "person.0": (EMBEDDING, len(shape.who_columns)),
        "person.2": (EMBEDDING, EMBEDDING),
        "policy": (POLICY, channels, 1, 1),
        "moves": (outputs, POLICY, 1, 1),
        "value_planes": (VALUE_PLANES, channels, 1, 1),
        "value_hidden": (VALUE_HIDDEN, VALUE_PLANES * shape.squares + EMBEDDING),
        "value": (1, VALUE_HIDDEN),
    }
    convolutions = {"stem": shape.planes}
    for number in range(size.blocks):
        convolutions |= {f"blocks.{number}.{name}": channels for name in ("first", "second")}
        layers[f"blocks.{number}.film"] = (2 * channels, EMBEDDING)
    weights = {}
    for name, dimensions in layers.items():
        spread = 1.5 / np.sqrt(np.prod(dimensions[1:]))
        weights[f"{name}.weight"] = rng.normal(0, spread, dimensions)
        weights[f"{name}.bias"] = rng.normal(0, 0.5, dimensions[0])
    for name, before in convolutions.items():
        weights[f"{name}.0.weight"] = rng.normal(0, 0.5 / np.sqrt(before), (channels, before, 3, 3))
        for part, values in (("weight", 1.0), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1.0)):
            weights[f"{name}.1.{part}"] = np.full(channels, values)
    return {name: values.astype(np.float32) for name, values in weights.items()}


def random_network(size: NetworkSize, **metadata: str) -> bytes:
    """The content of a network's file.

    Args:
        size: Its size.
        metadata: Entries to add or replace, under keys without the prefix.
    """
    known = {
        "kind": "people",
        "game": size.game,
        "name": "by-lot",
        "licence": "none",
        "who": ",".join(size.shape.who_columns),
        "orientations": "canonical",
    }
    model = to_onnx(_weights(size), size, known | metadata, "Random weights.")
    return bytes(model.SerializeToString())
