"""`desdemona db backup`: copies a SQLite database into a file while the bot plays."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from bot.base.errors import DesdemonaError
from bot.base.log import printable
from bot.cli.common import UsageError, config_of
from bot.cli.progress import show_progress
from storage.maintenance.backups import OnPages, back_up, dump_command, sqlite_file


def backup_command(
    context: typer.Context,
    target: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="File to write, or a folder for a timestamped file (default: the database's folder).",
        ),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Keep only the latest N backups in FILE, a folder, created if missing.",
        ),
    ] = None,
) -> None:
    """Back up the database while the bot plays.

    With SQLite, the command writes a complete, checked backup, or none at all if it fails.

    With PostgreSQL, the command makes no backup: it prints PostgreSQL's own backup command and fails.
    """
    url = config_of(context).storage.url
    database = sqlite_file(url)
    if database is None:
        print(printable(dump_command(url, target)))
        raise DesdemonaError(
            "no backup was made: run the line above, which is PostgreSQL's own backup command; "
            "it reads the password from ~/.pgpass or PGPASSWORD"
        )
    is_folder = target is None or target.is_dir() or not (target.exists() or target.suffix)
    if keep is not None and not is_folder:
        raise UsageError(f"--keep: {target} is a file; give a folder")
    with _page_progress() as on_pages:
        backup = back_up(database, target, keep, on_pages=on_pages)
    print(printable(f"{backup.path}: {backup.size:,} bytes, checked"))
    for old in backup.removed:
        print(printable(f"removed {old}"))


@contextmanager
def _page_progress() -> Iterator[OnPages]:
    with show_progress("pages", None) as on_count:
        shown = 0

        def on_pages(done: int, _total: int) -> None:
            nonlocal shown
            on_count(done - shown)
            shown = done

        yield on_pages
