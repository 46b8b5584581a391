"""`desdemona db vacuum` as the operator types it."""

import re
from pathlib import Path

import pytest

from tests.bot.conftest import Command


def test_sizes_are_told(desdemona: Command, migrated_file: Path) -> None:
    status, told, _ = desdemona("db", "vacuum")
    assert status == 0
    found = re.fullmatch(r"([\d,]+) bytes before, ([\d,]+) after\n", told)
    assert found is not None
    assert int(found[2].replace(",", "")) == migrated_file.stat().st_size


def test_a_large_database_may_be_forced(
    desdemona: Command, migrated_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.maintenance.vacuum.MAX_ONLINE_VACUUM_BYTES", 10)
    monkeypatch.setattr("storage.maintenance.vacuum.held_roles", lambda _path: ["bot"])
    status, _, told = desdemona("db", "vacuum")
    assert status == 3
    assert f"{migrated_file} is in use (bot)" in told
    assert desdemona("db", "vacuum", "--force")[0] == 0
