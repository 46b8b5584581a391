"""Reads networks in lc0's format, as published for Maia: gzipped Protocol Buffers, without a schema.

Only the parts that Maia uses are supported: 112 input planes, residual blocks with squeeze and excitation,
and a convolutional policy head. The value head is ignored. Field numbers are those of lc0's ``net.proto``::

    Net      1 magic (fixed32), 2 licence, 4 Format, 10 Weights
    Format   1 encoding of the weights, 2 NetworkFormat
    NetworkFormat  1 input, 2 output, 3 network, 4 policy, 5 value, 6 moves left
    Weights  1 input, 2 residual blocks, 3 policy, 11 policy's first convolution
    Block    1 and 2 convolutions, 3 SqueezeExcite (1 w1, 2 b1, 3 w2, 4 b2)
    Convolution    1 weights, 2 biases, 3 means, 4 variances, 5 scales, 6 shifts
    Layer    1 minimum, 2 maximum, 3 16-bit numbers scaled from minimum to maximum
"""

import hashlib
import io
import math
import struct
import zlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.human.model import BadModel
from engine.human.protobuf import ProtobufFields, message

MAGIC = 0x1C0
PLANES = 112
POLICY_PLANES = 80
MAX_MODEL_BYTES = 16 << 20
"""Size limit of a file; Maia's files are about 1.3 MB."""
MAX_UNPACKED_BYTES = 16 << 20
"""Size limit of the unpacked content; Maia's networks are about 1.7 MB."""

_VARIANCE_FLOOR = 1e-5  # of lc0's batch normalisation
_GZIP = b"\x1f\x8b"

Numbers = NDArray[np.float32]


class Convolution(NamedTuple):
    """A convolution with its batch normalisation folded in."""

    weights: Numbers
    """Shape (out, in, rows, columns)."""
    biases: Numbers
    """Shape (out,)."""


class SqueezeExcite(NamedTuple):
    """Computes each filter's scale (sigmoid of the outputs' first half) and shift (second half)."""

    w1: Numbers
    """Shape (hidden, filters)."""
    b1: Numbers
    w2: Numbers
    """Shape (2 * filters, hidden)."""
    b2: Numbers


class ResidualBlock(NamedTuple):
    """One residual block."""

    first: Convolution
    second: Convolution
    squeeze: SqueezeExcite


@dataclass(frozen=True, slots=True)
class Lc0Network:
    """The policy network in a file."""

    sha256: str
    """SHA-256 of the published file, in hexadecimal."""
    licence: str
    """The licence stated in the file; usually empty."""
    input: Convolution
    blocks: tuple[ResidualBlock, ...]
    policy_first: Convolution
    policy: Convolution

    @property
    def filters(self) -> int:
        return len(self.input.biases)


def read_network(data: bytes) -> Lc0Network:
    """Read the network from the content of a ``*.pb.gz`` file.

    Args:
        data: The whole file, as published.

    Raises:
        BadModel: The data are not a network of the supported kind; the message says what is wrong and
            where.
    """
    net = message(_unpacked(data), "the network")
    magic = net.get(1, [None])[0]
    if magic != MAGIC:
        found = "none" if magic is None else _shown(magic)
        raise BadModel(f"not an lc0 network: expected the magic number {MAGIC:#x}, found {found}")
    _check_format(_sub(net, 4, "the format"))
    weights = _sub(net, 10, "the weights")
    first = _convolution(_sub(weights, 1, "the input convolution"), "the input convolution", PLANES, 3)
    filters = len(first.biases)
    blocks = tuple(
        _block(block, f"block {number}", filters)
        for number, block in enumerate(_subs(weights, 2, "blocks"), start=1)
    )
    if not blocks:
        raise BadModel("the network has no residual blocks")
    where = "the policy's first convolution"
    policy_first = _convolution(_sub(weights, 11, where), where, filters, 3)
    where = "the policy's convolution"
    policy = _convolution(_sub(weights, 3, where), where, len(policy_first.biases), 3, POLICY_PLANES)
    licence = net.get(2, [b""])[0]
    return Lc0Network(
        sha256=hashlib.sha256(data).hexdigest(),
        licence=licence.decode(errors="replace") if isinstance(licence, bytes) else "",
        input=first,
        blocks=blocks,
        policy_first=policy_first,
        policy=policy,
    )


def _unpacked(data: bytes) -> bytes:
    if not data.startswith(_GZIP):
        raise BadModel("not compressed with gzip, unlike lc0 networks (*.pb.gz)")
    # By hand, because gzip's own reader has no size limit.
    source, out = io.BytesIO(data), bytearray()
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    while not unpacker.eof:
        piece = source.read(1 << 16)
        if not piece:
            raise BadModel(f"truncated: the compressed data ends prematurely after {len(data)} bytes")
        try:
            out += unpacker.decompress(piece, MAX_UNPACKED_BYTES + 1 - len(out))
        except zlib.error as error:
            raise BadModel(f"damaged: {error}") from None
        if len(out) > MAX_UNPACKED_BYTES:
            raise BadModel(
                f"unpacks to more than {MAX_UNPACKED_BYTES >> 20} MiB, too much for such a network"
            )
    if unpacker.unused_data or source.read(1):
        raise BadModel("extra data after the end of the compressed data")
    return bytes(out)


def _shown(value: int | bytes) -> str:
    return hex(value) if isinstance(value, int) else repr(value[:8])


def _subs(within: ProtobufFields, field: int, where: str) -> list[ProtobufFields]:
    fields = []
    for value in within.get(field, []):
        if not isinstance(value, bytes):
            raise BadModel(f"{where}: expected a message, found a number")
        fields.append(message(value, where))
    return fields


def _sub(within: ProtobufFields, field: int, where: str) -> ProtobufFields:
    found = _subs(within, field, where)
    if not found:
        raise BadModel(f"{where}: missing")
    return found[-1]


_WANTED = (
    # (field, what it is, Maia's value, names of the known values)
    (1, "input", 1, {0: "unknown", 1: "classical, 112 planes"}),
    (3, "network", 4, {
        0: "unknown", 1: "classical", 2: "squeeze and excitation", 3: "classical with head format",
        4: "squeeze and excitation with head format", 5: "ONNX", 6: "attention body with head format",
        7: "attention body with several heads",
    }),
    (4, "policy", 2, {0: "unknown", 1: "classical", 2: "convolution", 3: "attention"}),
)  # fmt: skip


def _check_format(form: ProtobufFields) -> None:
    encoding = form.get(1, [0])[0]
    if encoding != 1:
        raise BadModel(f"the weights' encoding is {encoding!r}; only 1 (16 bits, linear) is supported")
    kinds = _sub(form, 2, "the network's format")
    for field, what, wanted, names in _WANTED:
        value = kinds.get(field, [0])[-1]
        if value != wanted:
            name = names.get(value, "") if isinstance(value, int) else ""
            raise BadModel(
                f"the format of its {what} is {value!r}{name and f' ({name})'}; "
                f"only {wanted} ({names[wanted]}), as in Maia, is supported"
            )


def _layer(within: ProtobufFields, field: int, where: str) -> Numbers | None:
    """The numbers of a layer; None if the layer is missing."""
    found = _subs(within, field, where)
    if not found:
        return None
    layer = found[-1]
    raw = layer.get(3, [b""])[-1]
    if not isinstance(raw, bytes) or len(raw) % 2:
        raise BadModel(f"{where}: the numbers do not have 16 bits")
    ends = [_float(layer.get(number, [0])[-1]) for number in (1, 2)]
    if not all(map(math.isfinite, ends)) or ends[0] > ends[1]:
        raise BadModel(f"{where}: invalid range of numbers, {ends[0]:g} to {ends[1]:g}")
    parts = np.frombuffer(raw, dtype="<u2").astype(np.float64) / 65535
    return (ends[0] + (ends[1] - ends[0]) * parts).astype(np.float32)


def _float(bits: int | bytes) -> float:
    if isinstance(bits, bytes) or bits >> 32:
        return math.nan
    (value,) = struct.unpack("<f", bits.to_bytes(4, "little"))
    return float(value)


def _sized(layer: Numbers | None, size: int, where: str) -> Numbers:
    if layer is None:
        raise BadModel(f"{where}: missing")
    if len(layer) != size:
        raise BadModel(f"{where}: expected {size:,} numbers, found {len(layer):,}")
    return layer


def _convolution(
    within: ProtobufFields, where: str, inputs: int, width: int, outputs: int = 0
) -> Convolution:
    """A convolution with its normalisation folded in.

    Args:
        within: Protobuf message that contains the layer.
        where: Name of the layer for error messages.
        inputs: Number of input planes.
        width: Width of the kernel.
        outputs: Number of output planes; 0 to derive it from the number of weights.
    """
    weights = _layer(within, 1, f"{where}, weights")
    if weights is None:
        raise BadModel(f"{where}: no weights")
    each = inputs * width * width
    outputs = outputs or max(1, len(weights) // each)
    kernel = _sized(weights, outputs * each, f"{where}, weights").reshape(outputs, inputs, width, width)
    layers = {
        name: _layer(within, field, f"{where}, {name}")
        for field, name in enumerate(("biases", "means", "variances", "scales", "shifts"), start=2)
    }
    found = {name: _sized(x, outputs, f"{where}, {name}") for name, x in layers.items() if x is not None}
    biases = found.get("biases", np.zeros(outputs, np.float32))
    if "variances" not in found:
        return Convolution(kernel, biases)
    if found["variances"].min() < 0:
        raise BadModel(f"{where}, variances: {found['variances'].min():g} is negative")
    scale = found.get("scales", 1.0) / np.sqrt(found["variances"].astype(np.float64) + _VARIANCE_FLOOR)
    shift = (biases - found.get("means", 0.0)) * scale + found.get("shifts", 0.0)
    return Convolution((kernel * scale[:, None, None, None]).astype(np.float32), shift.astype(np.float32))


def _block(within: ProtobufFields, where: str, filters: int) -> ResidualBlock:
    convolutions = [
        _convolution(
            _sub(within, field, f"{where}, convolution {field}"),
            f"{where}, convolution {field}",
            filters,
            3,
            filters,
        )
        for field in (1, 2)
    ]
    squeeze = _sub(within, 3, f"{where}, squeeze and excitation")
    layers = [_layer(squeeze, field, f"{where}, squeeze and excitation {field}") for field in range(1, 5)]
    hidden = len(layers[1]) if layers[1] is not None else 0
    sizes = (hidden * filters, hidden, 2 * filters * hidden, 2 * filters)
    w1, b1, w2, b2 = (
        _sized(layer, size, f"{where}, squeeze and excitation {field}")
        for field, (layer, size) in enumerate(zip(layers, sizes, strict=True), start=1)
    )
    if not hidden:
        raise BadModel(f"{where}, squeeze and excitation: no numbers")
    clipped = SqueezeExcite(w1.reshape(hidden, filters), b1, w2.reshape(2 * filters, hidden), b2)
    return ResidualBlock(convolutions[0], convolutions[1], clipped)
