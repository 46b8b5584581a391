"""ONNX files of human-move models: read with what they say of themselves, and run in one thread.

A file names its kind, game, name and licence in ONNX's own ``metadata_props``, under keys that begin with
``desdemona.``, so that it needs nothing beside it.
"""

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from engine.human.model import BadModel, ModelInfo

PREFIX = "desdemona."
MOST_BYTES = 256 << 20
"""Longest file read; those of this program have a few MB."""

_FATAL_ONLY = 4


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


@dataclass(frozen=True, slots=True)
class Network:
    """A network that is ready to be asked.  For one thread at a time."""

    session: Any
    """onnxruntime's."""
    sha256: str
    """Of the file, in hexadecimal."""
    metadata: Mapping[str, str]
    """What the file says of itself, without `PREFIX`: ``kind``, ``game``, ``name``, ``licence`` and more."""
    where: str
    """The file, for people."""

    @classmethod
    def open(cls, path: Path) -> Self:
        """The network of a file.

        Raises:
            BadModel: It cannot be read, is no ONNX, or says nothing of itself.
        """
        return cls.load(read_model_file(path), str(path))

    @classmethod
    def load(cls, data: bytes, where: str) -> Self:
        """The network of a file's content.

        Raises:
            BadModel: See `open`.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _FATAL_ONLY  # errors come as exceptions, and need not be told twice
        try:
            session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
            metadata = session.get_modelmeta().custom_metadata_map
        except Exception as error:  # onnxruntime's have no common class of their own
            raise BadModel(f"{where}: no network of ONNX that can be run: {_first_line(error)}") from None
        own = {key.removeprefix(PREFIX): text for key, text in metadata.items() if key.startswith(PREFIX)}
        if lacking := [key for key in ("kind", "game", "name", "licence") if not own.get(key)]:
            raise BadModel(
                f"{where}: a network of ONNX, but not one of this program's: it does not say "
                + ", ".join(PREFIX + key for key in lacking)
            )
        return cls(session, hashlib.sha256(data).hexdigest(), own, where)

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
        try:
            (found,) = self.session.run([output], dict(inputs))
        except Exception as error:  # as above
            raise BadModel(f"{self.where}: cannot be run: {_first_line(error)}") from None
        if not isinstance(found, np.ndarray) or found.dtype != np.float32:
            raise BadModel(f"{self.where}: its output {output} is not of single precision")
        if not np.isfinite(found).all():
            raise BadModel(f"{self.where}: its output {output} is not finite")
        return found


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0][:300]
