"""`desdemona db`: the schema of the database."""

import asyncio

import typer

from bot.base.game_summaries import make_summaries, outdated_notice
from bot.cli.common import config_of
from storage import migrate
from storage.database import LONG_BUSY_TIMEOUT_S, Database


def upgrade(context: typer.Context) -> None:
    """Create the database or upgrade its schema and summaries.

    `run` also does this, and computes the summaries while it plays.
    """

    async def work() -> str:
        database = await Database.open(config_of(context).storage.url, busy_timeout_s=LONG_BUSY_TIMEOUT_S)
        try:
            if summaries := await make_summaries(database):
                print(f"summaries made: {summaries}")
            if notice := await outdated_notice(database):
                print(notice)
        finally:
            await database.close()
        return database.url

    print(f"{asyncio.run(work())}: schema {migrate.newest_revision()}, up to date")


def current(context: typer.Context) -> None:
    """Print the database's schema version and the newest version."""

    async def schema() -> str | None:
        database, revision = await Database.open_unchecked(config_of(context).storage.url)
        await database.close()
        return revision

    revision = asyncio.run(schema())
    state = "up to date" if revision == migrate.newest_revision() else f"newest {migrate.newest_revision()}"
    print(f"schema {revision or 'empty'}, {state}")
