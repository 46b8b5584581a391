import pytest
from sqlalchemy import text

from storage.database import Database, held_roles
from storage.errors import StorageError
from storage.maintenance.vacuum import size_of, vacuum
from tests.storage.maintenance.samples import fill


async def swell(database: Database) -> None:
    """Make rows and delete them again."""
    async with database.write() as session:
        numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 15000)"
        await session.execute(
            text(
                "INSERT INTO events (at, site, account, kind, detail) "
                f"{numbers} SELECT '2026-11-25 00:00:00', 'arena', 'desdemona', 'odd', '[1, 2, 3]' FROM n"
            )
        )
    async with database.write() as session:
        await session.execute(text("DELETE FROM events"))


async def test_room_is_given_back(database: Database) -> None:
    await fill(database, 2)
    await swell(database)
    found = await vacuum(database)
    assert found.after == await size_of(database)
    assert found.after < found.before
    async with database.write() as session:  # as before
        await session.execute(text("DELETE FROM events WHERE id = 1"))


async def test_a_large_database_in_use_is_not_rewritten(
    database: Database, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.maintenance.vacuum.MAX_ONLINE_VACUUM_BYTES", 1000)
    async with database.hold_role("bot x/y"):
        if backend == "postgresql":
            await vacuum(database)
            return
        assert held_roles(database.url) == ["bot x/y"]
        with pytest.raises(StorageError, match=r"is in use \(bot x/y\), and all writers would wait while"):
            await vacuum(database)
        await vacuum(database, force=True)
        monkeypatch.setattr("storage.maintenance.vacuum.MAX_ONLINE_VACUUM_BYTES", 1 << 30)
        await vacuum(database)
    assert held_roles(database.url) == []
    monkeypatch.setattr("storage.maintenance.vacuum.MAX_ONLINE_VACUUM_BYTES", 1000)
    await vacuum(database)
