"""ONNX files of human-move models: read with what they say of themselves, and run in one thread.

A file names its kind, game, name and licence in ONNX's own ``metadata_props``, under keys that begin with
``desdemona.``, so that it needs nothing beside it.
"""

import hashlib
import os
import stat
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self
from weakref import WeakValueDictionary

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from engine.human.model import BadModel, ModelInfo
from engine.human.wire import message

PREFIX = "desdemona."
MOST_BYTES = 256 << 20
"""Longest file read; those of this program have a few MB."""

_FATAL_ONLY = 4
_TOLD = ("name", "licence", "source")
"""Texts that people are shown, in logs and on terminals."""
LONGEST_NAME = 80
"""Of a network, in characters."""

_lock = threading.Lock()
_running: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""Sessions by their file's checksum, shared by all who have the same one: they take memory, and may be asked
from several threads at a time."""


def read_model_file(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """What is in a regular file.

    Raises:
        BadModel: It cannot be read, is a device, pipe or folder, or is longer.
    """
    try:
        # Asked before it is opened: a pipe would be waited for, and some devices do things when opened.
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise BadModel(f"{path}: not a regular file")
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except OSError as error:
        raise BadModel(f"{path}: {error.strerror or os.strerror(error.errno or 0)}") from None
    except ValueError:  # a zero byte in the name
        raise BadModel(f"{str(path)!r}: no name of a file") from None
    if len(data) > most_bytes:
        raise BadModel(f"{path}: longer than {most_bytes >> 20} MiB")
    return data


class Network:
    """A network that can be asked.  For one thread at a time.

    Args:
        data: The content of an ONNX file.
        where: The file, for people.

    Raises:
        BadModel: It is no ONNX, or says nothing of itself, or something that cannot be shown to people.
    """

    def __init__(self, data: bytes, where: str) -> None:
        self.where = where
        self.sha256 = hashlib.sha256(data).hexdigest()
        """Of the file, in hexadecimal."""
        self.metadata, self.card = _metadata(data, where)
        """What the file says of itself, without `PREFIX`: ``kind``, ``game``, ``name``, ``licence``, more.
        And its card, for people."""
        if lacking := [key for key in ("kind", "game", "name", "licence") if not self.metadata.get(key)]:
            raise BadModel(
                f"{where}: not a network of this program's: it does not say "
                + ", ".join(PREFIX + key for key in lacking)
            )
        if len(self.metadata["name"]) > LONGEST_NAME:
            raise BadModel(f"{where}: its name is longer than {LONGEST_NAME} characters")
        if odd := [key for key in _TOLD if not self.metadata.get(key, "").isprintable()]:
            raise BadModel(f"{where}: its {odd[0]} has signs that cannot be printed")
        self._data = data
        self._session: Any = None

    @classmethod
    def open(cls, path: Path, *, start: bool = True) -> Self:
        """The network of a file.

        Args:
            path: Of the file.
            start: At once, else when it is first asked: a started one takes some ten times its file's memory.

        Raises:
            BadModel: It cannot be read, or is none; where it is started, it cannot be run.
        """
        return cls.load(read_model_file(path), str(path), start=start)

    @classmethod
    def load(cls, data: bytes, where: str, *, start: bool = True) -> Self:
        """The network of a file's content; see `open`."""
        network = cls(data, where)
        if start:
            network.start()
        return network

    def start(self) -> None:
        """Make it ready, if it is not.

        Raises:
            BadModel: It cannot be run.
        """
        if self._session is None:
            with _lock:  # so that of two threads that ask for the same one, one waits
                self._session = _running.get(self.sha256) or self._started()
                _running[self.sha256] = self._session

    def _started(self) -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _FATAL_ONLY  # errors come as exceptions, and need not be told twice
        try:
            return onnxruntime.InferenceSession(self._data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's have no common class of their own
            raise BadModel(
                f"{self.where}: a network of ONNX that cannot be run: {_first_line(error)}"
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
        """Raises `BadModel` unless it is a network of this kind for this game."""
        if (self.kind, self.game) != (kind, game):
            raise BadModel(
                f"{self.where}: a network of kind {self.kind!r} for {self.game!r}, not {kind!r} for {game!r}"
            )

    def run(self, output: str, inputs: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """One output as numbers of single precision, all of them finite.

        Args:
            output: Its name.
            inputs: By name.

        Raises:
            BadModel: The network cannot be run on that, or answers with anything else.
        """
        self.start()
        try:
            (found,) = self._session.run([output], dict(inputs))
        except Exception as error:  # as above
            raise BadModel(f"{self.where}: cannot be run: {_first_line(error)}") from None
        if not isinstance(found, np.ndarray) or found.dtype != np.float32:
            raise BadModel(f"{self.where}: its output {output} is not of single precision")
        if not np.isfinite(found).all():
            raise BadModel(f"{self.where}: its output {output} is not finite")
        return found


def _metadata(data: bytes, where: str) -> tuple[dict[str, str], str]:
    """Of ONNX's ModelProto this program's texts in ``metadata_props`` (field 14), and ``doc_string`` (6)."""
    try:
        model = message(data, "the model")
        entries = [message(raw, "metadata_props") for raw in model.get(14, []) if isinstance(raw, bytes)]
    except BadModel as error:
        raise BadModel(f"{where}: not a network of ONNX: {error}") from None
    texts = {_text(entry.get(1)): _text(entry.get(2)) for entry in entries}
    own = {key.removeprefix(PREFIX): text for key, text in texts.items() if key.startswith(PREFIX)}
    return own, _text(model.get(6))


def _text(values: list[int | bytes] | None) -> str:
    value = values[-1] if values else b""
    return value.decode(errors="replace") if isinstance(value, bytes) else ""


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0][:300]
