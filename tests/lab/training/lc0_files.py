"""Made-up networks in lc0's format, so that nobody's own are needed: a small writer of Protocol Buffers."""

import gzip
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

MAGIC = 0x1C0
PLANES, POLICY_PLANES = 112, 80


def varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def number(key: int, value: int) -> bytes:
    return varint(key << 3) + varint(value)


def fixed32(key: int, value: bytes) -> bytes:
    return varint(key << 3 | 5) + value


def inner(key: int, value: bytes) -> bytes:
    return varint(key << 3 | 2) + varint(len(value)) + value


def layer(key: int, numbers: Numbers) -> bytes:
    """Numbers of 16 bits between the least and the greatest."""
    low, high = float(numbers.min()), float(numbers.max())
    parts = (numbers.ravel() - low) / ((high - low) or 1) * 65535
    ends = fixed32(1, struct.pack("<f", low)) + fixed32(2, struct.pack("<f", high))
    return inner(key, ends + inner(3, np.round(parts).astype("<u2").tobytes()))


@dataclass
class Layer:
    """A convolution as networks are trained: with a normalisation that still is one, or with biases."""

    weights: Numbers
    """Shape (out, in, 3, 3)."""
    rest: dict[int, Numbers] = field(default_factory=dict)
    """By their field: 2 biases, 3 means, 4 variances, 5 scales, 6 shifts."""

    def content(self) -> bytes:
        return layer(1, self.weights) + b"".join(layer(key, x) for key, x in self.rest.items())


@dataclass
class Made:
    """A network."""

    input: Layer
    blocks: list[tuple[Layer, Layer, list[Numbers]]]
    policy_first: Layer
    policy: Layer

    def weights(self) -> bytes:
        found = inner(1, self.input.content())
        for first, second, squeeze in self.blocks:
            excite = b"".join(layer(key, x) for key, x in enumerate(squeeze, start=1))
            found += inner(2, inner(1, first.content()) + inner(2, second.content()) + inner(3, excite))
        return found + inner(3, self.policy.content()) + inner(11, self.policy_first.content())

    def file(self, **changes: Any) -> bytes:
        return packed(self.weights(), **changes)


def packed(
    weights: bytes,
    *,
    magic: int | None = MAGIC,
    encoding: int = 1,
    kinds: Mapping[int, int] | None = None,
    licence: str = "",
) -> bytes:
    """A whole file; `kinds` by field: 1 input, 2 output, 3 network, 4 policy, 5 value."""
    network_format = {1: 1, 2: 2, 3: 4, 4: 2, 5: 2} | dict(kinds or {})
    form = number(1, encoding) + inner(2, b"".join(number(k, v) for k, v in network_format.items()))
    head = b"" if magic is None else fixed32(1, struct.pack("<I", magic))
    named = inner(2, licence.encode()) if licence else b""
    return gzip.compress(head + named + inner(4, form) + inner(10, weights), mtime=0)


def pawn_pusher(eagerness: float = 40.0) -> Made:
    """Plays any pawn one square ahead if that is empty, each as likely as the next, and nothing else.

    The first filter says where own pawns are, the second where anything is; the blocks leave both alone.
    """
    first = np.zeros((2, PLANES, 3, 3))
    first[0, 0, 1, 1] = first[1, :12, 1, 1] = 1
    none, same = np.zeros((2, 2, 3, 3)), np.zeros((2, 2, 3, 3))
    same[0, 0, 1, 1] = same[1, 1, 1, 1] = 1
    policy = np.zeros((POLICY_PLANES, 2, 3, 3))
    policy[0, 0, 1, 1] = eagerness  # a pawn here
    policy[0, 1, 2, 1] = -2 * eagerness  # something ahead: rows go from the first rank up
    normal = {key: np.full(2, x) for key, x in ((3, 3.0), (4, 4.0 - 1e-5), (5, 2.0), (6, 3.0))}
    squeeze = [np.zeros((1, 2)), np.zeros(1), np.zeros((4, 1)), np.zeros(4)]
    biases = {2: np.zeros(POLICY_PLANES)}
    return Made(
        Layer(first, normal),
        [(Layer(none), Layer(none), squeeze)],
        Layer(same, normal),
        Layer(policy, biases),
    )


def random_network(seed: int = 1, filters: int = 5, hidden: int = 3, blocks: int = 2) -> Made:
    """A network of which nothing is known but that all of it counts."""
    rng = np.random.default_rng(seed)

    def any_layer(outputs: int, inputs: int, *, biases: bool = False) -> Layer:
        weights = rng.normal(size=(outputs, inputs, 3, 3)) / np.sqrt(9 * inputs)
        if biases:
            return Layer(weights, {2: rng.normal(size=outputs)})
        normal = {3: rng.normal(size=outputs), 4: rng.uniform(0.5, 2, outputs)}
        return Layer(weights, normal | {5: rng.uniform(0.5, 2, outputs), 6: rng.normal(size=outputs)})

    def any_block() -> tuple[Layer, Layer, list[Numbers]]:
        shapes = ((hidden, filters), (hidden,), (2 * filters, hidden), (2 * filters,))
        return (
            any_layer(filters, filters),
            any_layer(filters, filters),
            [rng.normal(size=shape) for shape in shapes],
        )

    return Made(
        any_layer(filters, PLANES),
        [any_block() for _ in range(blocks)],
        any_layer(filters, filters),
        any_layer(POLICY_PLANES, filters, biases=True),
    )


def logits(made: Made, planes: Numbers) -> Numbers:
    """What a network says of planes (n, 112, 8, 8): (n, 80, 8, 8); as plainly as it can be told."""

    def convolution(x: Numbers, what: Layer) -> Numbers:
        wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        y = np.zeros((len(x), len(what.weights), 8, 8))
        for i in range(3):
            for j in range(3):
                y += np.einsum("oc,ncrf->norf", what.weights[:, :, i, j], wide[:, :, i : i + 8, j : j + 8])
        rest = {key: numbers[:, None, None] for key, numbers in what.rest.items()}
        y = y + rest.get(2, 0)
        if 4 in rest:
            y = (y - rest[3]) / np.sqrt(rest[4] + 1e-5) * rest[5] + rest[6]
        return y

    x = np.maximum(convolution(planes, made.input), 0)
    for first, second, (w1, b1, w2, b2) in made.blocks:
        y = convolution(np.maximum(convolution(x, first), 0), second)
        means = y.mean(axis=(2, 3))
        both = np.maximum(means @ w1.T + b1, 0) @ w2.T + b2
        half = both.shape[1] // 2
        scales, shifts = 1 / (1 + np.exp(-both[:, :half])), both[:, half:]
        x = np.maximum(y * scales[:, :, None, None] + shifts[:, :, None, None] + x, 0)
    return convolution(np.maximum(convolution(x, made.policy_first), 0), made.policy)
