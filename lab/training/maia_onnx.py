"""Converts a published Maia network to ONNX, and verifies the result.

The ONNX network takes ``now`` and ``past`` (`engine.human.maia_planes.InputPlanes`) and outputs ``moves`` (n,
1858): probabilities in the order of `engine.human.maia_planes.SLOTS`. The value head is dropped, because it
is not used.

Convolutions use Winograd's method (Lavin & Gray 2016, Fast Algorithms for Convolutional Neural Networks): the
board is multiplied by a matrix from both sides, each of the resulting 10 x 10 numbers is multiplied
separately, and another matrix maps the products back.  That takes 100 multiplications instead of 576, so
onnxruntime's matrix products are faster than its convolutions; and because the layout is rank, file, filter,
position, no transposition is needed.  A file stores the plain weights; onnxruntime transforms them when it
loads the network.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from engine.formats.record import clean
from engine.games.standard_chess import StandardChess
from engine.human.maia import MaiaModel, openings
from engine.human.maia_planes import EMPTY, MOVES, NOW, PAST, SLOTS
from engine.human.model import MAIA, BadModel
from engine.human.onnx import PREFIX, OnnxNetwork
from lab.training.lc0 import POLICY_PLANES, Convolution, Lc0Network, SqueezeExcite, read_network

Matrix = NDArray[Any]

OPSET = 13
_IR_VERSION = 8  # of the same age, so that older runtimes can also read it

PUBLISHED = {
    "e1cf1cd0c96b8a4fa6a275f4b9fd54ed1ffebf9fe44641b9fceded310e9619c4": 1100,
    "ead4ba953f233ae732999ebc1e2b675378148527ebcfad2f0acbc5e4c224d98e": 1200,
    "36195f87bf4761834baa0bf87472b18509a7261a9d7d6f1a8443261369a733f2": 1300,
    "d5353ea6766356dad2d28920c6692f37a5f30963767f1a3105d33b4d0af011e8": 1400,
    "35ab6f20421d59e1df3b17c5a5016947af4c6761368ef84044a9a9c7619a9a00": 1500,
    "d2c9e5948581acf4b9fc0b1e720c5dc0fe64ce80cfc4a239d3f8a42e1176c876": 1600,
    "d277eacd792d340a30abb464dc65127254e65cac57abca17facc469889b96478": 1700,
    "0031ad7c4256b1fd09fbebd28418d644d68b26cd2a45df4967ccf5c7ec9c4965": 1800,
    "e2f565f42d7cd9f122557e6dc4eb84e5bbaedceda1d404dc485d3611c7c97a12": 1900,
}
"""Rating of each ``maia-<rating>.pb.gz`` published at CSSLab/maia-chess, keyed by SHA-256."""

LICENCE = "GPL-3.0"
"""Licence of CSSLab/maia-chess; the files themselves state none."""

START_MOVES = {1500: {"e2e4": 0.652, "d2d4": 0.229}, 1900: {"e2e4": 0.564, "d2d4": 0.289}}
"""Probabilities of first moves, keyed by a published network's rating, from an independent converter."""
_START_TOLERANCE = 0.002
_MAX_RATING = 5000  # as for people


@dataclass(frozen=True, slots=True)
class ImportedNetwork:
    """A verified network in ONNX format."""

    name: str
    rating: int | None
    """Rating of the people whom the network imitates; None if unknown."""
    licence: str
    sha256: str
    """SHA-256 of the ONNX file."""
    source_sha256: str
    is_published: bool
    """Whether the source is, byte for byte, one of `PUBLISHED`."""
    legal_mass: float
    """Minimum total probability of the legal moves, over the positions tested."""
    data: bytes
    """The ONNX file."""


def import_network(data: bytes, file_name: str) -> ImportedNetwork:
    """Convert a published network to ONNX and verify it.

    Args:
        data: The file, as published.
        file_name: Name of the file (``maia-1234.pb.gz``), which determines the name and rating of a network
            that is not in `PUBLISHED`.

    Raises:
        BadModel: The file is not a network, the network fails the tests, or the name's rating is invalid.
    """
    network = read_network(data)
    rating = PUBLISHED.get(network.sha256)
    licence = clean(network.licence)[:100] or (LICENCE if rating else "unknown")
    stem = re.sub(r"[^\w.-]", "_", re.sub(r"(?:\.pb)?(?:\.gz)?$", "", file_name)) or "maia"
    name = f"maia-{rating}" if rating else stem
    is_published = rating is not None
    if rating is None and (match := re.search(r"maia[-_]?(\d{3,4})(?!\d)", stem)):
        rating = int(match[1])
        if not 1 <= rating <= _MAX_RATING:
            raise BadModel(
                f"the rating in its name, {rating}, is out of range: ratings are 1 to {_MAX_RATING}"
            )
    written = write_onnx(network, name, licence, rating, is_published=is_published)
    model = MaiaModel(OnnxNetwork.load(written, name))
    mass = verify_network(model, rating if is_published else None)
    return ImportedNetwork(
        name, rating, licence, model.info.sha256, network.sha256, is_published, mass, written
    )


def verify_network(model: MaiaModel, rating: int | None) -> float:
    """Test a network in a few openings; return the minimum total probability of the legal moves.

    Args:
        model: The converted network.
        rating: Rating of a published network, whose known first moves are checked; None for other networks.

    Raises:
        BadModel: The first moves' probabilities are wrong, or illegal moves get too much probability.
    """
    mass = model.start()
    start = openings()[0]
    answer = model.ask([start])[0][0]
    game, position = StandardChess(), start[-1]
    for text, known in START_MOVES.get(rating or 0, {}).items():
        p = answer[position.legal.index(game.parse_move(position, text))]
        if abs(p - known) > _START_TOLERANCE:
            raise BadModel(
                f"{model.info.name}: the first move {text} has probability {p:.3f}, expected {known:.3f}"
            )
    return mass


def write_onnx(
    network: Lc0Network, name: str, licence: str, rating: int | None, *, is_published: bool
) -> bytes:
    """The network in ONNX, with its metadata.

    Raises:
        BadModel: The weights do not form a network.
    """
    graph = _MaiaGraph()
    first = network.input.weights
    parts = [
        graph.convolution(name, first[:, planes], f"input.{name}")
        for name, planes in (("now", NOW), ("past", PAST))
    ]
    at = graph.relu(graph.biased(graph.add("Add", parts), network.input, "input"))
    for number, block in enumerate(network.blocks, start=1):
        inner = graph.relu(graph.layer(at, block.first, f"block{number}.1"))
        inner = graph.layer(inner, block.second, f"block{number}.2")
        inner = graph.clipped(inner, block.squeeze, f"block{number}.se")
        at = graph.relu(graph.add("Add", [inner, at]))
    at = graph.relu(graph.layer(at, network.policy_first, "policy.1"))
    at = graph.layer(at, network.policy, "policy.2")
    at = graph.add("Reshape", [at, graph.whole("flat", 64 * POLICY_PLANES, -1)])
    at = graph.add("Gather", [at, graph.whole("slots", *(SLOTS % 64 * POLICY_PLANES + SLOTS // 64))], axis=0)
    at = graph.add("Transpose", [at], perm=[1, 0])
    graph.nodes.append(helper.make_node("Softmax", [at], ["moves"], axis=1))
    now = helper.make_tensor_value_info("now", TensorProto.FLOAT, [8, 8, len(NOW), "n"])
    past = helper.make_tensor_value_info("past", TensorProto.FLOAT, [8, 8, len(PAST), "n or 1"])
    moves = helper.make_tensor_value_info("moves", TensorProto.FLOAT, ["n", MOVES])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "maia", [now, past], [moves], graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=_IR_VERSION,
        producer_name="desdemona",
        doc_string=_card(name, is_published=is_published),
    )
    metadata = {"kind": MAIA, "game": "chess", "name": name, "licence": licence}
    metadata |= {"source_sha256": network.sha256, "rating": "" if rating is None else str(rating)}
    helper.set_model_props(model, {PREFIX + key: text for key, text in metadata.items()})
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # onnx raises several classes
        raise BadModel(f"{name}: not a valid network: {str(error).splitlines()[0]}") from None
    data: bytes = model.SerializeToString(deterministic=True)
    return data


def _card(name: str, *, is_published: bool) -> str:
    source = (
        f"The policy of {name}.pb.gz as published at CSSLab/maia-chess, known by its SHA-256"
        if is_published
        else "The policy of a network in lc0's format, not one of those published at CSSLab/maia-chess"
    )
    return (
        f"{source}; its numbers unchanged, but for normalisations worked into convolutions."
        "  McIlroy-Young et al. 2020, Aligning Superhuman AI with Human Behavior: Chess as a Model System,"
        " doi:10.1145/3394486.3403219."
    )


def _winograd() -> tuple[Matrix, Matrix, Matrix]:
    """The Winograd matrices for 8 input numbers, for the 3 numbers of a kernel, and for the output.

    Toom-Cook method: a convolution is a product of polynomials, determined by its values at 10 points, the
    last of them infinity. A search chose the points to minimise rounding errors in single precision: 1.5e-5
    of the mean result, compared with 5e-5 or more for the usual points (0, 1, -1, 2, -2 and so on).

    Returns:
        Three matrices, with the shapes (10, 8), (10, 3) and (8, 10).
    """
    points = np.array([0, 0.4, -0.4, 0.8, -0.8, 1.25, -1.25, 2.5, -2.5])

    def values(size: int) -> Matrix:
        """Vandermonde matrix that evaluates polynomials with this many coefficients at the points."""
        return np.vstack([np.vander(points, size, increasing=True), np.eye(1, size, size - 1)])

    into, kernel, back = np.linalg.inv(values(10)).T, values(3), values(8).T
    # Scaled so that both ways have numbers of similar size; the kernel's matrix compensates.
    large, wide = np.abs(into).max(axis=1), np.abs(back).max(axis=0)
    # Outside the board are zeros, so the first and last of ten numbers in a row can be dropped.
    return (into / large[:, None])[:, 1:9], kernel * (large * wide)[:, None], back / wide


class _MaiaGraph:
    """A graph under construction: its nodes in topological order, and its constants."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        for name, matrix in zip(("into", "kernel", "back"), _winograd(), strict=True):
            self.constant(name, matrix)
        # Zeros, one for each position: adding biases with them is three times as fast.
        flat = self.add("Reshape", ["now", self.whole("rows", 64 * len(NOW), -1)])
        self._zeros = self.add("Gather", [flat, self.whole("empty", NOW.index(EMPTY))], axis=0)

    def constant(self, name: str, numbers: NDArray[Any]) -> str:
        numbers = np.ascontiguousarray(numbers, dtype=np.float32)
        self.constants.append(numpy_helper.from_array(numbers, name))
        return name

    def whole(self, name: str, *numbers: int) -> str:
        self.constants.append(numpy_helper.from_array(np.array(numbers, np.int64), name))
        return name

    def add(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        output = f"x{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def relu(self, at: str) -> str:
        return self.add("Relu", [at])

    def layer(self, at: str, layer: Convolution, name: str) -> str:
        return self.biased(self.convolution(at, layer.weights, name), layer, name)

    def biased(self, at: str, layer: Convolution, name: str) -> str:
        biases = self.constant(f"{name}.biases", layer.biases[:, None])
        return self.add("Add", [at, self.add("Add", [biases, self._zeros])])

    def convolution(self, at: str, weights: Matrix, name: str) -> str:
        """Add a convolution without its biases; weights have the shape (out, in, 3, 3)."""
        outputs, inputs = weights.shape[:2]
        kernel = self.constant(f"{name}.weights", weights.transpose(2, 3, 0, 1))
        kernel = self._both_ways("kernel", kernel, 3, 10, [10, 10, outputs, inputs], name, "kernel")
        at = self._both_ways("into", at, 8, 10, [10, 10, inputs, -1], name, "into")
        return self._both_ways(
            "back", self.add("MatMul", [kernel, at]), 10, 8, [8, 8, outputs, -1], name, "back"
        )

    def _both_ways(
        self, matrix: str, at: str, size: int, becomes: int, shape: list[int], name: str, what: str
    ) -> str:
        """Multiply the ranks and then the files by a matrix: (size, size, ...) -> (becomes, becomes, ...)."""
        for rows in ([size], [becomes, size]):
            flat = self.whole(f"{name}.{what}.{len(rows)}", *rows, -1)
            at = self.add("MatMul", [matrix, self.add("Reshape", [at, flat])])
        return self.add("Reshape", [at, self.whole(f"{name}.{what}.3", *shape)])

    def clipped(self, at: str, layer: SqueezeExcite, name: str) -> str:
        """Squeeze and excitation: scale and shift each filter according to the means over the board."""
        means = self.add("ReduceMean", [at], axes=[0, 1], keepdims=0)
        hidden = self.relu(self._matrix(means, layer.w1, layer.b1, f"{name}.1"))
        filters = len(layer.b2) // 2
        scale = self._matrix(hidden, layer.w2[:filters], layer.b2[:filters], f"{name}.scale")
        shift = self._matrix(hidden, layer.w2[filters:], layer.b2[filters:], f"{name}.shift")
        return self.add("Add", [self.add("Mul", [at, self.add("Sigmoid", [scale])]), shift])

    def _matrix(self, at: str, weights: Matrix, biases: Matrix, name: str) -> str:
        inputs = [
            self.constant(f"{name}.weights", weights),
            at,
            self.constant(f"{name}.biases", biases[:, None]),
        ]
        return self.add("Gemm", inputs)
