"""ONNX files of models: what they say of themselves, and what is wrong with those that are none."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from engine.human import onnx as onnx_files
from engine.human.model import BadModel, within_move
from engine.human.model_files import open_model
from engine.human.onnx import OnnxNetwork, read_model_file
from engine.human.protobuf import message
from tests.lab.training.lc0_files import fixed32, inner, number, varint

SAYS = {"kind": "maia", "game": "chess", "name": "tiny", "licence": "CC0-1.0"}


def tiny(kind: str = "Relu", says: dict[str, str] | None = None, **others: Any) -> bytes:
    """A network of one node, from x to y."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy")
    graph = helper.make_graph([helper.make_node(kind, ["x"], ["y"])], "tiny", [x], [y])
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, doc_string="A card."
    )
    metadata = {f"desdemona.{key}": text for key, text in (SAYS if says is None else says).items()}
    helper.set_model_props(model, metadata | others)
    data: bytes = model.SerializeToString()
    return data


def test_a_network_says_what_it_is() -> None:
    network = OnnxNetwork.load(tiny(author="nobody"), "tiny.onnx")
    assert (network.kind, network.game, network.card) == ("maia", "chess", "A card.")
    assert network.metadata == SAYS
    assert (network.info.kind, network.info.name) == ("maia", "tiny")
    assert network.info.sha256 == network.sha256
    found = network.run("y", {"x": np.array([-1, 2], np.float32)})
    assert found.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it lacks desdemona.kind, desdemona.game, desdemona.name, desdemona.licence"),
        (b"not a network", "not an ONNX network"),
        (tiny()[:-7], "not an ONNX network: the model: cut off"),
        (tiny(says={}), "not a network for this program"),
        (tiny(says=SAYS | {"licence": ""}), "it lacks desdemona.licence$"),
        (tiny(says=SAYS | {"name": "x" * 81}), "its name is longer than 80 characters"),
        (tiny(says=SAYS | {"name": "a\x1b[31mb"}), "its name has characters that cannot be printed"),
        (tiny(says=SAYS | {"licence": "CC0\a"}), "its licence has characters that cannot be printed"),
        (tiny(says=SAYS | {"source": "here\nthere"}), "its source has characters that cannot be printed"),
        (tiny("PageNotFound"), "an ONNX network that cannot be run: .*PageNotFound"),
        (tiny("Relu")[:2] + tiny("Relu")[2:].replace(b"Relu", b"Add\0"), "cannot be run"),
    ],
)
def test_what_is_none(data: bytes, why: str) -> None:
    with pytest.raises(BadModel, match=rf"(?s)^some\.onnx: .*{why}"):
        OnnxNetwork.load(data, "some.onnx")


def test_answers_are_finite_numbers() -> None:
    network = OnnxNetwork.load(tiny("Log"), "log.onnx")
    for value in (0.0, -1.0):
        with pytest.raises(BadModel, match=r"log\.onnx: its output y is not finite"):
            network.run("y", {"x": np.array([value], np.float32)})
    with pytest.raises(BadModel, match=r"log\.onnx: cannot be run"):
        network.run("z", {"x": np.array([1], np.float32)})
    with pytest.raises(BadModel, match=r"log\.onnx: cannot be run"):
        network.run("y", {"x": np.array([[1]], np.float32)})
    with pytest.raises(BadModel, match=r"log\.onnx: cannot be run"):
        network.run("y", {"x": np.array([1], np.int64)})


class Endless:
    """A session whose runs end only when they are told to."""

    def run(self, _outputs: list[str], _inputs: dict[str, Any], options: Any) -> list[Any]:
        while not options.terminate:
            pass
        raise RuntimeError("terminated")


def test_a_network_that_takes_too_long_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    network, inputs = OnnxNetwork.load(tiny(), "slow.onnx"), {"x": np.array([1], np.float32)}
    session = network._session
    monkeypatch.setattr(onnx_files, "MAX_RUN_S", 0.01)
    monkeypatch.setattr(onnx_files, "REST", 1e9)
    monkeypatch.setattr(network, "_session", Endless())
    with pytest.raises(BadModel, match=r"slow\.onnx: no answer in 0.01 s"):
        network.run("y", inputs)
    monkeypatch.setattr(network, "_session", session)
    with pytest.raises(BadModel, match=r"slow\.onnx: it lately took too long"):
        network.run("y", inputs)
    monkeypatch.setattr(network, "_rests_until_s", 0.0)  # a minute later
    assert network.run("y", inputs).tolist() == [1]


def test_no_run_takes_a_whole_move(monkeypatch: pytest.MonkeyPatch) -> None:
    network, inputs = OnnxNetwork.load(tiny(), "slow.onnx"), {"x": np.array([1], np.float32)}
    monkeypatch.setattr(onnx_files, "MAX_RUN_S", 1e9)
    monkeypatch.setattr(network, "_session", Endless())
    with within_move(0.4), pytest.raises(BadModel, match=r"no answer in 0.2 s"):
        network.run("y", inputs)
    monkeypatch.setattr(onnx_files, "MAX_RUN_S", 0.01)
    monkeypatch.setattr(network, "_rests_until_s", 0.0)
    with within_move(None), pytest.raises(BadModel, match=r"no answer in 0.01 s"):
        network.run("y", inputs)


def with_node(node: onnx.NodeProto, **functions: Any) -> bytes:
    """The same with another node."""
    model = onnx.load_model_from_string(tiny())
    model.graph.node.append(node)
    model.functions.extend(functions.values())
    data: bytes = model.SerializeToString()
    return data


def a_graph() -> onnx.GraphProto:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy")
    return helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "inner", [x], [y])


CALL = helper.make_node("Endless", ["x"], ["z"], domain="here")
FUNCTION = helper.make_function(
    "here", "Endless", ["x"], ["y"], [helper.make_node("Loop", ["x"], ["y"])], [helper.make_opsetid("", 13)]
)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (with_node(helper.make_node("Loop", ["x"], ["z"], body=a_graph())), r"control flow \(Loop\)"),
        (with_node(helper.make_node("Scan", ["x"], ["z"])), r"control flow \(Scan\)"),
        (with_node(helper.make_node("If", ["x"], ["z"])), r"control flow \(If\)"),
        (with_node(helper.make_node("Search", ["x"], ["z"], decoder=a_graph())), "a graph within another"),
        (with_node(helper.make_node("Search", ["x"], ["z"], all=[a_graph()])), "a graph within another"),
        (with_node(CALL, call=FUNCTION), "functions of its own"),
        (tiny() + inner(7, inner(1, inner(4, b"Loop"))), r"control flow \(Loop\)"),
        (tiny() + inner(7, inner(1, inner(5, inner(6, b"")))), "a graph within another"),
    ],
)
def test_a_network_that_might_never_end_is_refused(data: bytes, why: str) -> None:
    """When it is opened: nobody could stop it later."""
    with pytest.raises(BadModel, match=rf"^some\.onnx: a network with {why}, which might never terminate$"):
        OnnxNetwork.load(data, "some.onnx", start=False)


def test_fields_have_small_numbers() -> None:
    """Some readers see field 7 here."""
    hidden = varint((1 << 34 | 7) << 3 | 2) + varint(0)
    with pytest.raises(BadModel, match=r"not an ONNX network: the model: .*\(field 17179869191 before"):
        OnnxNetwork.load(tiny() + hidden, "some.onnx", start=False)


def test_fields_that_nobody_wants_are_passed_over() -> None:
    data = number(1, 5) + inner(2, b"abc") + fixed32(3, b"\1\0\0\0") + inner(1, b"x")
    assert message(data, "it", (1,)) == {1: [5, b"x"]}
    assert message(data, "it") == {1: [5, b"x"], 2: [b"abc"], 3: [1]}
    with pytest.raises(BadModel, match="it: cut off: 3 bytes should follow byte 4, there are 2"):
        message(data[:6], "it", (1,))


def test_a_network_may_wait() -> None:
    network = OnnxNetwork.load(tiny("PageNotFound"), "some.onnx", start=False)
    assert network.kind == "maia"
    with pytest.raises(BadModel, match="cannot be run"):
        network.run("y", {"x": np.array([1], np.float32)})


def test_the_same_network_runs_once() -> None:
    one, other, third = (OnnxNetwork.load(data, "x") for data in (tiny(), tiny(), tiny("Neg")))
    assert one._session is other._session
    assert one._session is not third._session
    x = {"x": np.array([3], np.float32)}
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda network: network.run("y", x).tolist(), [one, other, third] * 20))
    assert found == [[3], [3], [-3]] * 20


def test_only_regular_files_of_some_size_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"12345")
    for path in (tmp_path / "pipe", tmp_path / "folder", Path("/dev/zero")):
        with pytest.raises(BadModel, match=f"{path}: not a regular file"):
            read_model_file(path)
    with pytest.raises(BadModel, match="nothing: No such file"):
        read_model_file(tmp_path / "nothing")
    with pytest.raises(BadModel, match="not a file name"):
        read_model_file(Path("a\0b"))
    assert read_model_file(tmp_path / "file", 5) == b"12345"
    monkeypatch.setattr(onnx_files, "MAX_MODEL_BYTES", 1 << 20)
    with pytest.raises(BadModel, match="file: longer than 0 MiB"):
        read_model_file(tmp_path / "file", 4)


def test_models_of_other_kinds_are_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "odds.onnx"
    path.write_bytes(tiny(says=SAYS | {"kind": "odds"}))
    with pytest.raises(BadModel, match="a network of the kind 'odds', which is not a human-move model"):
        open_model(path)
    path.write_bytes(tiny(says=SAYS | {"game": "shogi"}))
    with pytest.raises(BadModel, match="a network of kind 'maia' for 'shogi', not 'maia' for 'chess'"):
        open_model(path)
