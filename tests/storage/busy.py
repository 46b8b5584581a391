"""A SQLite database that another program writes to."""

import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

import storage.database


class BusyWriter:
    """Another program in the middle of a write; it ends it when SQLite has refused us so many times.

    Each refusal takes us 20 seconds, on a clock of ours.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path, refusals: int) -> None:
        self.refusals = 0
        self._most = refusals
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(
            "storage.database.STATEMENT_BUSY_TIMEOUT_MS", 1
        )  # of connections made from now on
        monkeypatch.setattr("storage.database._WAL_RETRY_INTERVAL_S", 0)
        monkeypatch.setattr(
            "storage.database.time", SimpleNamespace(monotonic=lambda: 1000.0 + 20 * self.refusals)
        )
        is_busy = storage.database._is_busy

        def refused(error: BaseException | None) -> bool:
            told = is_busy(error)
            self.refusals += told
            if self.refusals == self._most:
                self.end()
            return told

        monkeypatch.setattr("storage.database._is_busy", refused)

    def end(self) -> None:
        """Let others write."""
        self._connection.close()
