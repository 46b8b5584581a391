import pytest

from bot.account.stored_blocks import StoredBlocks
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.blocks import add_block


async def test_the_list_stays_when_the_database_fails(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise StorageError("away")

    blocks = StoredBlocks(database, "arena")
    async with database.write() as session:
        await add_block(session, "arena", "Ben")
    assert blocks.names() == frozenset()
    await blocks.refresh()
    monkeypatch.setattr(database, "read", fail)
    await blocks.refresh()
    await blocks.refresh()
    assert blocks.names() == {"ben"}
    assert caplog.text.count("cannot read the blocked accounts: away") == 1
