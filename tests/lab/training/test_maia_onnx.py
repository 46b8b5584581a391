"""From lc0's format to ONNX: made-up networks, broken files, and the published networks where they are."""

import gzip
import hashlib
import struct
from collections.abc import Callable

import numpy as np
import onnx
import pytest

from engine.games.standard_chess import StandardChess
from engine.human.maia import MaiaModel
from engine.human.maia_planes import SLOTS, encode
from engine.human.model import BadModel
from engine.human.onnx import OnnxNetwork
from lab.training import lc0, maia_onnx
from lab.training.lc0 import read_network
from lab.training.maia_onnx import PUBLISHED, import_network, write_onnx
from tests.engine.human.test_maia_planes import played, random_game, unpacked
from tests.lab.training.lc0_files import (
    PLANES,
    Layer,
    Made,
    inner,
    layer,
    logits,
    number,
    packed,
    pawn_pusher,
    random_network,
)
from tests.shared_data import shared_path

GAME = StandardChess()
PUSHER = pawn_pusher().file()


def test_numbers_come_through() -> None:
    made = random_network()
    data = made.file(licence="CC0 ")
    network = read_network(data)
    assert network.sha256 == hashlib.sha256(data).hexdigest()
    assert network.licence == "CC0 "
    assert (network.filters, len(network.blocks)) == (5, 2)
    expected = made.policy.weights
    np.testing.assert_allclose(network.policy.weights, expected, atol=np.ptp(expected) / 65535)
    np.testing.assert_allclose(network.policy.biases, made.policy.rest[2], atol=1e-4)
    # A normalisation is worked in.
    rest = made.input.rest
    scale = rest[5] / np.sqrt(rest[4] + 1e-5)
    np.testing.assert_allclose(network.input.biases, rest[6] - rest[3] * scale, atol=1e-3)
    np.testing.assert_allclose(
        network.input.weights, made.input.weights * scale[:, None, None, None], atol=1e-3
    )


@pytest.mark.parametrize("count", [1, 2, 70])
def test_the_network_in_onnx_is_the_same_network(count: int) -> None:
    made = random_network()
    written = write_onnx(read_network(made.file()), "random", "none", None, is_published=False)
    game = random_game(count, plies=80)
    histories = [game[:end] for end in range(3, 3 + count)]
    planes = encode(histories)
    found = OnnxNetwork.load(written, "random").run("moves", planes._asdict())
    said = logits(made, unpacked(planes).astype(np.float64)).reshape(count, -1)[:, SLOTS]
    powers = np.exp(said - said.max(axis=1, keepdims=True))
    np.testing.assert_allclose(found, powers / powers.sum(axis=1, keepdims=True), rtol=0.01, atol=1e-4)


def test_an_imported_network_says_what_it_is() -> None:
    made = import_network(PUSHER, "maia-1234.pb.gz")
    assert (made.name, made.rating, made.licence, made.is_published) == ("maia-1234", 1234, "unknown", False)
    assert made.sha256 == hashlib.sha256(made.data).hexdigest()
    assert made.source_sha256 == hashlib.sha256(PUSHER).hexdigest()
    assert made.legal_mass == pytest.approx(1)
    model = onnx.load_model_from_string(made.data)
    onnx.checker.check_model(model, full_check=True)
    assert model.opset_import[0].version >= 13
    assert {entry.key: entry.value for entry in model.metadata_props} == {
        "desdemona.kind": "maia",
        "desdemona.game": "chess",
        "desdemona.name": "maia-1234",
        "desdemona.licence": "unknown",
        "desdemona.rating": "1234",
        "desdemona.source_sha256": made.source_sha256,
    }
    assert "not one of the published networks" in model.doc_string
    assert import_network(PUSHER, "maia-1234.pb.gz").data == made.data


@pytest.mark.parametrize(
    ("file", "name", "rating"),
    [
        ("maia-1500.pb.gz", "maia-1500", 1500),
        ("Maia 1.pb.gz", "Maia_1", None),
        ("net-192x15.pb.gz", "net-192x15", None),
        (".pb.gz", "maia", None),
    ],
)
def test_names(file: str, name: str, rating: int | None) -> None:
    made = import_network(pawn_pusher().file(licence="CC0-1.0"), file)
    assert (made.name, made.rating, made.licence) == (name, rating, "CC0-1.0")


@pytest.mark.parametrize(("file", "rating"), [("maia-000.pb.gz", 0), ("maia_5001.pb.gz", 5001)])
def test_a_name_tells_of_a_rating_that_people_have(file: str, rating: int) -> None:
    with pytest.raises(
        BadModel, match=f"rating in its name, {rating}, is out of range: ratings are 1 to 5000"
    ):
        import_network(PUSHER, file)
    assert import_network(PUSHER, "maia-5000.pb.gz").rating == 5000


def test_a_published_network_has_to_play_like_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PUBLISHED, hashlib.sha256(PUSHER).hexdigest(), 1500)
    with pytest.raises(
        BadModel, match=r"maia-1500: the first move e2e4 has probability 0\.\d+, expected 0\.652"
    ):
        import_network(PUSHER, "anything.pb.gz")
    monkeypatch.setitem(PUBLISHED, hashlib.sha256(PUSHER).hexdigest(), 1300)
    made = import_network(PUSHER, "anything.pb.gz")
    assert (made.name, made.rating, made.licence, made.is_published) == ("maia-1300", 1300, "GPL-3.0", True)
    assert "maia-1300.pb.gz as published" in onnx.load_model_from_string(made.data).doc_string


def test_a_network_that_prefers_illegal_moves_is_none() -> None:
    with pytest.raises(BadModel, match=r"maia-1: in openings legal moves have only 0\.\d+ of"):
        import_network(random_network().file(), "maia-1.pb.gz")


def test_a_network_of_endless_numbers_is_none() -> None:
    made = pawn_pusher()
    made.policy.weights = made.policy.weights * 1e30
    made.input.weights = made.input.weights * 1e30
    with pytest.raises(BadModel, match="not finite"):
        import_network(made.file(), "maia-1.pb.gz")


def gz(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def damaged(data: bytes) -> bytes:
    return data[:-6] + bytes([data[-6] ^ 255]) + data[-5:]


def changed(change: Callable[[Made], object]) -> bytes:
    made = pawn_pusher()
    change(made)
    return made.file()


def squeezed_with(part: int, numbers: int) -> Callable[[Made], object]:
    def change(made: Made) -> None:
        made.blocks[0][2][part] = np.zeros(numbers)

    return change


def endless(value: float) -> bytes:
    ends = b"\x0d" + struct.pack("<f", value) + b"\x15" + struct.pack("<f", 1.0)
    return packed(inner(1, inner(1, ends + inner(3, bytes(2 * 9 * PLANES)))))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(b"", "not compressed with gzip", id="empty"),
        pytest.param(b"PK\3\4 something else", "not compressed with gzip", id="zip"),
        pytest.param(gzip.decompress(PUSHER), "not compressed with gzip", id="unpacked"),
        pytest.param(gz(b""), "expected the magic number 0x1c0, found none", id="nothing packed"),
        pytest.param(
            PUSHER[:200], "truncated: the compressed data ends prematurely after 200 bytes", id="cut off"
        ),
        pytest.param(damaged(PUSHER), "damaged: .*incorrect data check", id="checksum"),
        pytest.param(b"\x1f\x8b rubbish", "damaged: ", id="rubbish"),
        pytest.param(PUSHER + b"x", "after the end of the compressed data", id="more"),
        pytest.param(gz(b"not a message"), "wire type 6", id="text"),
        pytest.param(gz(bytes([0x80] * 12)), "a number of more than ten bytes", id="long number"),
        pytest.param(gz(b"\x0d\1"), "cut off: 4 bytes should follow byte 1, there are 1", id="message cut"),
        pytest.param(gz(b"\x0a\xff\xff\3"), "cut off: 65535 bytes should follow", id="text cut"),
        pytest.param(gz(b"\x08"), "the network: cut off at byte 1", id="number cut"),
        pytest.param(pawn_pusher().file(magic=None), "magic number 0x1c0, found none", id="no magic"),
        pytest.param(pawn_pusher().file(magic=7), "magic number 0x1c0, found 0x7", id="other magic"),
        pytest.param(pawn_pusher().file(encoding=0), "encoding is 0; only 1", id="encoding"),
        pytest.param(pawn_pusher().file(kinds={1: 3}), "format of its input is 3; only 1", id="input"),
        pytest.param(
            pawn_pusher().file(kinds={4: 1}),
            r"format of its policy is 1 \(classical\); only 2 \(convolution\)",
            id="policy",
        ),
        pytest.param(
            pawn_pusher().file(kinds={3: 6}),
            r"network is 6 \(attention body with head format\)",
            id="network",
        ),
        pytest.param(
            gz(b"\x0d\xc0\1\0\0" + inner(4, number(1, 1))), "the network's format: missing", id="format"
        ),
        pytest.param(gz(b"\x0d\xc0\1\0\0"), "the format: missing", id="no format"),
        pytest.param(
            gz(b"\x0d\xc0\1\0\0" + number(4, 1)), "expected a message, found a number", id="no message"
        ),
        pytest.param(packed(b""), "the input convolution: missing", id="no weights"),
        pytest.param(packed(inner(1, b"")), "the input convolution: no weights", id="empty convolution"),
        pytest.param(
            packed(inner(1, layer(1, np.zeros(100)))),
            "the input convolution, weights: expected 1,008 numbers, found 100",
            id="few numbers",
        ),
        pytest.param(
            packed(inner(1, inner(1, inner(3, b"odd")))),
            "the input convolution, weights: the numbers do not have 16 bits",
            id="odd bytes",
        ),
        pytest.param(endless(np.nan), "invalid range of numbers, nan to 1", id="nan"),
        pytest.param(endless(-np.inf), "invalid range of numbers, -inf to 1", id="infinite"),
        pytest.param(endless(2.0), "invalid range of numbers, 2 to 1", id="turned round"),
        pytest.param(changed(lambda made: made.blocks.clear()), "no residual blocks", id="no blocks"),
        pytest.param(
            changed(lambda made: made.input.rest.update({4: np.full(2, -1.0)})),
            "the input convolution, variances: -1 is negative",
            id="variance",
        ),
        pytest.param(
            changed(lambda made: made.input.rest.update({6: np.zeros(3)})),
            "the input convolution, shifts: expected 2 numbers, found 3",
            id="shifts",
        ),
        pytest.param(
            changed(lambda made: made.blocks.append((*made.blocks[0][:2], []))),
            "block 2, squeeze and excitation 1: missing",
            id="no squeeze",
        ),
        pytest.param(
            changed(squeezed_with(2, 5)),
            "block 1, squeeze and excitation 3: expected 4 numbers, found 5",
            id="squeeze",
        ),
        pytest.param(
            changed(lambda made: setattr(made, "policy", Layer(np.zeros((79, 2, 3, 3))))),
            "the policy's convolution, weights: expected 1,440 numbers, found 1,422",
            id="policy planes",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_named(data: bytes, why: str) -> None:
    with pytest.raises(BadModel, match=why):
        import_network(data, "maia-1500.pb.gz")


def test_little_that_unpacks_to_much_is_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lc0, "MAX_UNPACKED_BYTES", 1 << 20)
    with pytest.raises(BadModel, match="unpacks to more than 1 MiB"):
        read_network(gz(bytes((1 << 20) + 1)))


def test_the_published_are_known() -> None:
    assert sorted(PUBLISHED.values()) == list(range(1100, 2000, 100))
    for line in shared_path("maia/SHA256SUMS").read_text().splitlines():
        checksum, name = line.split()
        assert f"maia-{PUBLISHED[checksum]}.pb.gz" == name


@pytest.mark.parametrize(
    ("rating", "after_e4"),
    [(1500, {"e7e5": 0.50, "c7c5": 0.17}), (1900, {"c7c5": 0.30, "e7e5": 0.26}), (1100, {})],
)
def test_published_networks(rating: int, after_e4: dict[str, float]) -> None:
    data = shared_path(f"maia/maia-{rating}.pb.gz").read_bytes()
    made = import_network(data, "x.pb.gz")  # which compares first moves
    assert (made.name, made.rating, made.licence) == (f"maia-{rating}", rating, "GPL-3.0")
    assert made.is_published
    assert made.legal_mass >= 0.997
    model = MaiaModel(OnnxNetwork.load(made.data, made.name))
    history = played("e2e4")
    ((answer,), _) = model.ask([history])
    for text, p in after_e4.items():
        place = history[-1].legal.index(GAME.parse_move(history[-1], text))
        assert answer[place] == pytest.approx(p, abs=0.006)


def test_known_first_moves_are_of_published_networks() -> None:
    assert maia_onnx.START_MOVES.keys() <= set(PUBLISHED.values())
