"""`desdemona db copy`: copies a database into another one."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console

from bot.base.log import printable
from bot.base.rounding import plural
from bot.cli.common import print_note
from storage.maintenance.copying import CopyReport, OnStep, copy_database


def copy_command(
    source: Annotated[str, typer.Argument(metavar="FROM", help="URL of the database to copy.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="URL of the target database; must be empty.")],
) -> None:
    """Copy a database within or between SQLite and PostgreSQL.

    The target must be empty.

    URLs are sqlite:///folder/file.db and postgresql://user@host/name; keep passwords in ~/.pgpass. A bot may
    use the source during the copy, which is a snapshot. After an interruption, the same command
    starts over. At the end all rows are compared; until then, Desdemona refuses to open the copy.
    """
    with _copy_progress() as on_step:
        report = asyncio.run(copy_database(source, target, on_step))
    _print_report(report)


def _print_report(found: CopyReport) -> None:
    for each in found.tables:
        if each.rows:
            print(f"{each.table}: {plural(each.rows, 'row')}, SHA-256 {each.sha256[:16]}")
    rows = sum(each.rows for each in found.tables)
    print(printable(f"{found.target} is a copy of {found.source}: {plural(rows, 'row')}, all compared"))


@contextmanager
def _copy_progress() -> Iterator[OnStep]:
    """Show progress on standard error: continuously on a terminal, otherwise at the beginning of each
    step."""
    console = Console(stderr=True, markup=False, highlight=False)
    if console.is_terminal:
        with console.status("") as status:
            yield lambda what, table, rows: status.update(f"{what}: {table}, {rows:,} rows")
        return
    begun = set[str]()

    def on_step(what: str, _table: str, _rows: int) -> None:
        if what not in begun:
            begun.add(what)
            print_note(f"{what} ...")

    yield on_step
