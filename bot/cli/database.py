"""`desdemona db`: the schema of the database."""

import asyncio

import typer

from bot.cli.common import config_of
from storage import migrate
from storage.database import Database, current_schema


def upgrade(context: typer.Context) -> None:
    """Create the database if it is missing, and upgrade its schema (`run` does so too)."""

    async def work() -> str:
        database = await Database.open(config_of(context).storage.url)
        await database.close()
        return database.url

    print(f"{asyncio.run(work())}: schema {migrate.head()}, up to date")


def current(context: typer.Context) -> None:
    """Print the schema of the database and the newest one."""
    found = asyncio.run(current_schema(config_of(context).storage.url))
    state = "up to date" if found == migrate.head() else f"newest {migrate.head()}"
    print(f"schema {found or 'empty'}, {state}")
