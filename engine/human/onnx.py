"""Opens ONNX files of human-move models with their metadata, and runs them in one thread.

A file states its kind, game, name and licence in ONNX's own ``metadata_props``, under keys that begin with
``desdemona.``, so that it needs no companion file. Evaluation must terminate on any input, so we refuse
networks with control flow: we could not interrupt a loop.
"""

import hashlib
import os
import stat
import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Self
from weakref import WeakValueDictionary

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from engine.decision import ModelInfo
from engine.human.model import MOVE_S, BadModel
from engine.human.protobuf import ProtobufFields, message

PREFIX = "desdemona."
MAX_MODEL_BYTES = 256 << 20
"""Size limit for a file; this program's own files are a few MB."""

MAX_RUN_S = 3.0
"""A run that takes longer is stopped; thirty-two positions take the bundled networks ten milliseconds."""
_MOVE_SHARE, _MIN_RUN_S = 0.5, 0.1
"""The share of a move's time after which a run is stopped while the move is chosen, but not before this."""
REST = 20
"""How long a network that exceeded its time limit is not run, as a multiple of that limit."""
_WATCH_S = 0.1
"""How often the watch looks for runs that take too long."""

_FATAL_ONLY = 4
_SHOWN_METADATA = ("name", "licence", "source")
"""Keys of the metadata that is printed in logs and on terminals."""
MAX_NAME_LENGTH = 80
"""Length limit for a network's name, in characters."""

_CONTROL_FLOW = (b"Loop", b"Scan", b"If")

_lock = threading.Lock()
_running: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""Sessions, keyed by the checksum of their file. A session is large and thread-safe, so all users of a file
share one."""
_runs: dict[Any, float] = {}
"""Until when each run may take, by its options."""


def _watch() -> None:
    """Stop runs that take too long."""
    while True:
        time.sleep(_WATCH_S)
        now_s = time.monotonic()
        for options, until_s in list(_runs.items()):
            if now_s > until_s:
                options.terminate = True


@cache
def _start_watch() -> None:
    threading.Thread(target=_watch, name="network watch", daemon=True).start()


def read_model_file(path: Path, max_bytes: int = MAX_MODEL_BYTES) -> bytes:
    """Read a regular file.

    Raises:
        BadModel: The file cannot be read, is a device, pipe or folder, or exceeds the limit.
    """
    try:
        # Checked before opening: a pipe would block, and opening some devices has side effects.
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise BadModel(f"{path}: not a regular file")
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise BadModel(f"{path}: {error.strerror or os.strerror(error.errno or 0)}") from None
    except ValueError:  # a zero byte in the name
        raise BadModel(f"{str(path)!r}: not a file name") from None
    if len(data) > max_bytes:
        raise BadModel(f"{path}: longer than {max_bytes >> 20} MiB")
    return data


class OnnxNetwork:
    """A network that can be evaluated; use it in one thread at a time.

    Args:
        data: The content of an ONNX file.
        where: The file's name in messages.

    Raises:
        BadModel: The data is not ONNX, might not terminate, lacks its metadata, or has metadata that cannot
            be displayed.
    """

    def __init__(self, data: bytes, where: str) -> None:
        self.where = where
        self.sha256 = hashlib.sha256(data).hexdigest()
        """SHA-256 of the file, in hexadecimal."""
        try:
            model = message(data, "the model", (_CARD, _GRAPH, _METADATA, _FUNCTIONS))
            metadata, flow = _metadata(model), _control_flow(model)
        except BadModel as error:
            raise BadModel(f"{where}: not an ONNX network: {error}") from None
        self.metadata, self.card = metadata
        """The file's metadata, with `PREFIX` removed from its keys (``kind``, ``game``, ``name``, ``licence``
        and more), and the file's card, a description for human readers."""
        if lacking := [key for key in ("kind", "game", "name", "licence") if not self.metadata.get(key)]:
            raise BadModel(
                f"{where}: not a network for this program: it lacks "
                + ", ".join(PREFIX + key for key in lacking)
            )
        if len(self.metadata["name"]) > MAX_NAME_LENGTH:
            raise BadModel(f"{where}: its name is longer than {MAX_NAME_LENGTH} characters")
        if odd := [key for key in _SHOWN_METADATA if not self.metadata.get(key, "").isprintable()]:
            raise BadModel(f"{where}: its {odd[0]} has characters that cannot be printed")
        if flow:
            raise BadModel(f"{where}: a network with {flow}, which might never terminate")
        self._data = data
        self._session: Any = None
        self._rests_until_s = 0.0

    @classmethod
    def open(cls, path: Path, *, start: bool = True) -> Self:
        """Open the network in a file.

        Args:
            path: The file.
            start: Load the network now, not lazily; this takes about ten times the file's size in memory.

        Raises:
            BadModel: The file cannot be read, or is not a network; with `start`, the network cannot be run.
        """
        return cls.load(read_model_file(path), str(path), start=start)

    @classmethod
    def load(cls, data: bytes, where: str, *, start: bool = True) -> Self:
        """Open the network from a file's content; see `open`."""
        network = cls(data, where)
        if start:
            network.start()
        return network

    def start(self) -> None:
        """Load the network, unless it is already loaded.

        Raises:
            BadModel: The network cannot be run.
        """
        if self._session is None:
            with _lock:  # one of two threads that need the same one waits
                _start_watch()
                self._session = _running.get(self.sha256) or self._started()
                _running[self.sha256] = self._session

    def _started(self) -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # Reject any other format too, because we have not checked it.
        options.add_session_config_entry("session.load_model_format", "ONNX")
        options.log_severity_level = _FATAL_ONLY  # errors come as exceptions, and need no log line
        try:
            return onnxruntime.InferenceSession(self._data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's exceptions have no common class
            raise BadModel(
                f"{self.where}: an ONNX network that cannot be run: {_first_line(error)}"
            ) from None

    @property
    def kind(self) -> str:
        return self.metadata["kind"]

    @property
    def game(self) -> str:
        return self.metadata["game"]

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(self.kind, self.metadata["name"], self.sha256)

    def require(self, kind: str, game: str) -> None:
        """Raise `BadModel` if the network is of another kind or for another game."""
        if (self.kind, self.game) != (kind, game):
            raise BadModel(
                f"{self.where}: a network of kind {self.kind!r} for {self.game!r}, not {kind!r} for {game!r}"
            )

    def run(self, output: str, inputs: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Compute one output, and check that it has single precision and finite values.

        A network that takes too long is stopped, and left alone for a while.

        Args:
            output: The output's name.
            inputs: The inputs, keyed by name.

        Raises:
            BadModel: The network rejects the inputs or takes too long, or its output is malformed.
        """
        if time.monotonic() < self._rests_until_s:
            raise BadModel(f"{self.where}: it lately took too long")
        self.start()
        options, longest_s = onnxruntime.RunOptions(), MAX_RUN_S
        if (move_s := MOVE_S.get()) is not None:
            longest_s = max(_MIN_RUN_S, min(MAX_RUN_S, _MOVE_SHARE * move_s))
        _runs[options] = time.monotonic() + longest_s
        try:
            (values,) = self._session.run([output], dict(inputs), options)
        except Exception as error:  # as above
            if options.terminate:
                self._rests_until_s = time.monotonic() + REST * longest_s
                raise BadModel(f"{self.where}: no answer in {longest_s:.2g} s") from None
            raise BadModel(f"{self.where}: cannot be run: {_first_line(error)}") from None
        finally:
            del _runs[options]
        if not isinstance(values, np.ndarray) or values.dtype != np.float32:
            raise BadModel(f"{self.where}: its output {output} is not in single precision")
        if not np.isfinite(values).all():
            raise BadModel(f"{self.where}: its output {output} is not finite")
        return values


# Fields of ONNX's ModelProto.
_CARD = 6  # doc_string
_GRAPH = 7
_METADATA = 14  # metadata_props
_FUNCTIONS = 25


def _metadata(model: ProtobufFields) -> tuple[dict[str, str], str]:
    """The metadata with this program's prefix, and the card."""
    entries = [message(raw, "metadata_props") for raw in _messages(model, _METADATA)]
    texts = {_text(entry.get(1)): _text(entry.get(2)) for entry in entries}
    own = {key.removeprefix(PREFIX): text for key, text in texts.items() if key.startswith(PREFIX)}
    return own, _text(model.get(_CARD))


def _control_flow(model: ProtobufFields) -> str:
    """The construct in the network that might not terminate; empty if there is none.

    All occurrences of a field are read, because protobuf parsers merge repeated fields. Weights are skipped:
    we read ``node`` of GraphProto (field 1), ``op_type`` (4) and ``attribute`` (5) of NodeProto, and the
    graphs of AttributeProto (``g``, 6, and ``graphs``, 11).
    """
    if model.get(_FUNCTIONS):
        return "functions of its own"
    for graph in _messages(model, _GRAPH):
        for raw in _messages(message(graph, "the graph", (1,)), 1):
            node = message(raw, "a node", (4, 5))
            if kinds := [kind for kind in _CONTROL_FLOW if kind in node.get(4, [])]:
                return f"control flow ({kinds[0].decode()})"
            if any(message(attribute, "an attribute", (6, 11)) for attribute in _messages(node, 5)):
                return "a graph within another"
    return ""


def _messages(fields: ProtobufFields, number: int) -> list[bytes]:
    return [raw for raw in fields.get(number, []) if isinstance(raw, bytes)]


def _text(values: list[int | bytes] | None) -> str:
    value = values[-1] if values else b""
    return value.decode(errors="replace") if isinstance(value, bytes) else ""


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0][:300]
