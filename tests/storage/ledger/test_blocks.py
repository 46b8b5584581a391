from storage.database import Database
from storage.ledger.blocks import add_block, blocked_as, list_blocks, remove_block


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


async def test_under_which_name_an_account_is_blocked(database: Database) -> None:
    async with database.write() as session:
        await add_block(session, "arena", "Anna_K")
        assert await blocked_as(session, "arena", "u1", "ANNA_K") == "ANNA_K"
        assert await blocked_as(session, "arena", "anna") is None
        assert await blocked_as(session, "lichess", "u1", "anna_k") is None
        await add_block(session, "arena", "U1")
        assert await blocked_as(session, "arena", "u1", "anna_k") == "u1"  # the first that is blocked
