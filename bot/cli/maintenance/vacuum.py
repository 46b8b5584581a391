"""`desdemona db vacuum`: returns the database's unused space to the disk."""

from functools import partial
from typing import Annotated

import typer

from bot.cli.common import ask_database
from storage.maintenance.vacuum import vacuum


def vacuum_command(
    context: typer.Context,
    force: Annotated[
        bool, typer.Option("--force", help="Vacuum even a large SQLite database that a program is using.")
    ] = False,
) -> None:
    """Return unused space to the disk and refresh statistics.

    The command may run while the bot plays. With SQLite, it blocks all writers, so it refuses a large
    database that is in use.
    """
    sizes = ask_database(context, partial(vacuum, force=force))
    print(f"{sizes.before:,} bytes before, {sizes.after:,} after")
