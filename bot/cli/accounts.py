"""`desdemona arena-account add-bot` and `desdemona upgrade-account`: accounts for bot programs."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from bot.base.config import choose_accounts, read_token
from bot.base.dialects import Capability, get_dialect
from bot.base.game_server import Server
from bot.cli.common import T, UsageError, ask_database, config_of, print_note


def add_bot(
    context: typer.Context, name: Annotated[str, typer.Argument(help="Name of the account.")]
) -> None:
    """Create an arena account for another bot program.

    Prints the account's token; an existing account gets a new token.
    """
    from bot.arena.accounts import add_bot as add

    config = config_of(context)
    own = [each.server.name.lower() for each in config.by_account().values() if each.uses_arena]
    if name.lower() in own:
        raise UsageError(f"{name} is one of the bot's own accounts: `run` gives it a token at every start")
    token = ask_database(context, lambda database: add(database, name), upgrade=True)
    print_note(f"Token of {name}; it is not stored and will not be shown again:")
    print(token)


def upgrade_account(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Option("--account", metavar="NAME", help="Required if there are several accounts.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Skip the confirmation.")] = False,
) -> None:
    """Make the configured account a bot account, permanently.

    Sites require programs to use a bot account. People can no longer play from this account.
    """
    from bot.servers.adapters import make_server

    accounts = choose_accounts(config_of(context), [name] if name else [])
    if len(accounts) > 1:
        raise UsageError(f"there are several accounts ({', '.join(accounts)}): choose one with --account")
    (config,) = accounts.values()
    if config.uses_arena:
        raise UsageError("the embedded arena creates the bot's account itself")
    dialect = get_dialect(config.server.dialect)
    if Capability.UPGRADE not in dialect.capabilities:
        raise UsageError(f"{dialect.name} has no separate bot accounts")
    url = config.server.url or dialect.home
    token = read_token(config.server)

    async def at_server(work: Callable[[Server], Awaitable[T]]) -> T:
        server = make_server(config, dialect, url, token)
        try:
            return await work(server)
        finally:
            await server.close()

    account = asyncio.run(at_server(lambda server: server.account()))
    who = f"{account.name} at {url}"
    if account.is_bot:
        raise UsageError(f"{who} is already a bot account")
    if account.games:
        raise UsageError(
            f"{who} has played already (games: {account.games}); only an account that has never played can "
            "become a bot account: create a new one"
        )
    if not yes:
        typer.confirm(f"Make {who} a bot account?  This cannot be undone.", abort=True, err=True)
    asyncio.run(at_server(lambda server: server.upgrade()))
    print(f"{who} is a bot account now")
