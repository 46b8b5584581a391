"""Notes how many summaries a module's functions read."""

from types import ModuleType
from typing import Any

import pytest

from storage.evidence.statistics.summary_rows import SummaryRows


def note_rows(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[int]:
    """How many rows each call of a module's function gives from now on."""
    found: list[int] = []
    read = getattr(module, name)

    async def noted(*args: Any) -> SummaryRows:
        rows: SummaryRows = await read(*args)
        found.append(len(rows))
        return rows

    monkeypatch.setattr(module, name, noted)
    return found
