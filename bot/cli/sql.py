"""`desdemona sql`: read-only queries in SQL."""

import csv
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from bot.base.errors import DesdemonaError
from bot.base.log import printable
from bot.cli.common import CommandFormat, FormatOption, UsageError, config_of, console, print_json, print_note

if TYPE_CHECKING:
    from storage.sql.question import Answer

_MAX_TABLE_WIDTH = 1_000_000
"""Maximum width of a table, in characters, when the output goes to a pipe."""


def sql(
    context: typer.Context,
    question: Annotated[
        str, typer.Argument(metavar="SQL", help="One SELECT on the views; - reads it from standard input.")
    ] = "",
    views: Annotated[bool, typer.Option("--views", help="List views and their columns and exit.")] = False,
    examples: Annotated[bool, typer.Option("--examples", hidden=True)] = False,
    limit_s: Annotated[
        float, typer.Option("--limit-s", min=0.1, max=3600, help="Time limit for the query, in seconds.")
    ] = 60.0,
    rows: Annotated[int, typer.Option(min=1, max=1_000_000, help="Maximum number of rows.")] = 10_000,
    output: FormatOption = CommandFormat.TABLE,
) -> None:
    """Run a read-only SQL query.

    The views keep their columns from version to version; docs/sql.md has twenty example queries.
    Queries may run while the bot plays.
    """
    if views:
        _print_views()
        return
    if examples:
        print_note("The twenty example questions are in docs/sql.md.")
        return
    if not question:
        raise UsageError("give a query, or --views")
    text = sys.stdin.read() if question == "-" else question
    answer = _ask(context, text, limit_s, rows)
    if output is CommandFormat.JSON:
        print_json(answer.records())
    elif output is CommandFormat.CSV:
        from storage.evidence.exports.csv_cells import cells

        lines = csv.writer(sys.stdout, lineterminator="\n")
        lines.writerows(map(cells, [answer.columns, *answer.rows]))
    elif answer.rows:
        _print_table(answer)
    else:
        print_note("No rows.")
    if answer.is_cut:
        print_note(f"More than {rows} rows; --rows shows more.")


def _print_table(found: "Answer") -> None:
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for name, cells in zip(found.columns, zip(*found.rows, strict=True), strict=True):
        is_number = all(cell is None or isinstance(cell, (int, float)) for cell in cells)
        table.add_column(Text(printable(name)), justify="right" if is_number else "left")
    for row in found.rows:
        table.add_row(*(Text("" if cell is None else printable(str(cell))) for cell in row))
    screen = console()
    if not screen.is_terminal:  # a pipe is as wide as the answer
        width = Measurement.get(screen, screen.options.update(max_width=_MAX_TABLE_WIDTH), table).maximum
        screen.width = max(width, screen.width)
    screen.print(table)


def _ask(context: typer.Context, text: str, limit_s: float, rows: int) -> "Answer":
    import asyncio

    from storage.database import Database
    from storage.sql.question import BadQuestion, ask

    url = config_of(context).storage.url

    async def open_and_close() -> None:  # its errors are clear
        await (await Database.open(url, upgrade=False)).close()

    try:
        asyncio.run(open_and_close())
        return ask(url, text, limit_s=limit_s, most_rows=rows)
    except BadQuestion as error:
        raise UsageError(str(error)) from None
    except KeyboardInterrupt:
        raise DesdemonaError("stopped") from None


def _print_views() -> None:
    from storage.sql.views import VIEWS

    for name, view in VIEWS.items():
        print(f"{name}: {view.about}")
        width = max(map(len, view.columns))
        for column, meaning in view.columns.items():
            print(f"  {column:{width}}  {meaning}")
        print()
