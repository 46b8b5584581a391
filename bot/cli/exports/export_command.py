"""The part of `desdemona export` that writes tables: csv, jsonl and parquet."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import IO, TYPE_CHECKING

import typer

from bot.cli.common import ask_database
from bot.cli.exports.writers import RowsFormat, rows_writer
from storage.evidence.exports.rows import EXPORTS, ExportName, export_rows
from storage.evidence.statistics.suspect_rows import suspect_games

if TYPE_CHECKING:
    from storage.database import Database
    from storage.filters import Filters

Target = Callable[[], AbstractContextManager[IO[bytes]]]


def export_table(
    context: typer.Context,
    what: ExportName,
    form: RowsFormat,
    filters: "Filters",
    suspect: bool | None,
    target: Target,
    *,
    with_names: bool = False,
) -> int:
    """Write the rows of the selected games, read from one database snapshot; return the number of rows.

    Args:
        context: Context of the command.
        what: Kind of rows.
        form: Output format.
        filters: The games to select.
        suspect: True selects only suspect games, False only the other games, None all games.
        target: Called to open the file to write.
        with_names: Whether to write people's names.

    Raises:
        DesdemonaError: pyarrow is not installed, or a record is damaged.
        StorageError: The database failed.
    """
    export = EXPORTS[what]

    async def work(database: "Database") -> int:
        flags = set[int]()
        if suspect is not None:
            async with database.read() as session:
                flags = {key for key in await suspect_games(session) if isinstance(key, int)}
        count = 0
        with target() as file, rows_writer(form, file, export.columns) as write:
            async with database.snapshot() as connection:
                only, without = (flags if suspect else None), (flags if suspect is False else ())
                found = export_rows(connection, export, filters, only, without, with_names=with_names)
                async for rows in found:
                    write(rows)
                    count += len(rows)
        return count

    return ask_database(context, work)
