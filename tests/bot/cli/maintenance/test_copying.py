"""`desdemona db copy` as the operator types it."""

import asyncio
from pathlib import Path

from storage.database import Database
from tests.bot.conftest import Command
from tests.storage.maintenance.samples import fill


def filled(path: Path) -> None:
    async def work() -> None:
        database = await Database.open(f"sqlite:///{path}")
        await fill(database, 3)
        await database.close()

    asyncio.run(work())


def test_a_copy_is_told_by_table(desdemona: Command, migrated_file: Path, tmp_path: Path) -> None:
    filled(migrated_file)
    status, told, progress = desdemona(
        "db", "copy", f"sqlite:///{migrated_file}", f"sqlite:///{tmp_path / 'new.db'}"
    )
    assert status == 0
    lines = told.splitlines()
    assert any(line.startswith("games: 3 rows, SHA-256 ") for line in lines)
    assert lines[-1] == (
        f"{tmp_path / 'new.db'} is a copy of {migrated_file}: {3 * (len(lines) - 1)} rows, all compared"
    )
    assert progress.splitlines() == ["copy ...", "verify ..."]


def test_a_target_with_rows_is_refused(desdemona: Command, migrated_file: Path, tmp_path: Path) -> None:
    filled(migrated_file)
    url = f"sqlite:///{tmp_path / 'new.db'}"
    desdemona("db", "copy", f"sqlite:///{migrated_file}", url)
    status, _, told = desdemona("db", "copy", f"sqlite:///{migrated_file}", url)
    assert status == 3
    assert "is not empty: its table " in told
