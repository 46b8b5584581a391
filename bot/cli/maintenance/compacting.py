"""`desdemona db vacuum`: returns unused space of the database to the disk."""

from typing import Annotated

import typer

from bot.cli.common import ask_database
from storage.database import Database
from storage.maintenance.compacting import Sizes, compact


def vacuum_command(
    context: typer.Context,
    force: Annotated[
        bool, typer.Option("--force", help="Vacuum even a large SQLite database that a program is using.")
    ] = False,
) -> None:
    """Return unused space to the disk and refresh statistics.

    It may run while the bot plays.  On SQLite nobody can write meanwhile, so a large database that is in use
    is refused.
    """

    async def work(database: Database) -> Sizes:
        return await compact(database, force=force)

    sizes = ask_database(context, work)
    print(f"{sizes.before:,} bytes before, {sizes.after:,} after")
