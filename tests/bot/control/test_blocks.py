"""Blocks while no program runs; `tests/bot/cli/control/test_program.py` has the command."""

import pytest

from bot.base.config import AccountConfig, Config
from bot.control.audit import OPERATOR_ACTION_EVENT
from bot.control.blocks import change_block_offline
from bot.control.control_socket import ControlError
from storage.database import Database
from storage.ledger.blocks import list_blocks
from storage.ledger.events import list_events


async def test_a_block_is_for_the_site_of_an_account(database: Database) -> None:
    accounts = (AccountConfig(name="aa", dialect="arena"), AccountConfig(name="bb", dialect="lichess"))
    config = Config(accounts=accounts)
    told = await change_block_offline(config, database, "Ben", "BB", is_blocked=True, by="me")
    assert told == "Ben is blocked at lichess, from the next start of the program"
    with pytest.raises(ControlError, match="choose one with --account"):
        await change_block_offline(config, database, "Ben", None, is_blocked=True, by="me")
    async with database.read() as session:
        assert await list_blocks(session, "lichess") == ["ben"]
        assert await list_blocks(session, "arena") == []
        refused, done = await list_events(session, kind=OPERATOR_ACTION_EVENT)
    assert (done.detail["by"], done.detail["account"], done.detail["result"]) == (
        "me",
        "BB",
        "Ben is blocked at lichess",
    )
    assert refused.detail["result"].startswith("refused: ")
