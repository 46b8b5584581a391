from storage.control.blocks import add_block, list_blocks, remove_block
from storage.database import Database


async def test_blocks_are_of_one_site_and_ignore_case(database: Database) -> None:
    async with database.write() as session:
        assert await add_block(session, "arena", "Ben")
        assert not await add_block(session, "arena", "bEN")
        assert await add_block(session, "arena", "anna")
        assert await add_block(session, "elsewhere", "ben")
        assert not await remove_block(session, "arena", "carl")
    async with database.write() as session:
        assert await list_blocks(session, "arena") == ["anna", "ben"]
        assert await remove_block(session, "arena", "BEN")
    async with database.read() as session:
        assert await list_blocks(session, "arena") == ["anna"]
        assert await list_blocks(session, "elsewhere") == ["ben"]
