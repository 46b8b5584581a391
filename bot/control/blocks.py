"""Blocks and unblocks accounts by command, also while our account is not signed in or no program runs."""

from bot.base.config import Config
from bot.control.arguments import find_account, word
from bot.control.audit import Audit
from bot.control.control_socket import ControlError
from storage.database import Database
from storage.ledger.blocks import add_block, remove_block


async def change_block(database: Database, site: str, name: str, *, is_blocked: bool) -> str:
    """Block or unblock an account at a site, and return a line that says so.

    Raises:
        ControlError: The account to unblock was not blocked by command.
    """
    async with database.write() as session:
        if is_blocked:
            what = "is blocked" if await add_block(session, site, name) else "was blocked already"
            return f"{name} {what} at {site}"
        if await remove_block(session, site, name):
            return f"{name} may play again at {site}"
    raise ControlError(
        f"{name} was not blocked at {site} by command; "
        "see also the settings challenges.block, block_file and block_urls"
    )


async def change_block_offline(
    config: Config, database: Database, name: str, account: str | None, *, is_blocked: bool, by: str
) -> str:
    """Block or unblock an account while no program runs; takes effect when the program starts.

    Args:
        config: All settings.
        name: See `change_block`.
        account: One of our accounts, whose site counts; None for the only one.
        by: The caller, for the audit trail.

    Raises:
        ControlError: As for `change_block`; or the name is invalid, or `account` is unknown or missing.
    """
    action = "block" if is_blocked else "unblock"
    async with Audit(database).recording(action, by, name=name, account=account) as note:
        accounts = config.by_account()
        site = accounts[find_account(account, accounts)].server.dialect
        note.result = await change_block(database, site, word(name), is_blocked=is_blocked)
    return f"{note.result}, from the next start of the program"
