"""`desdemona sql`: questions in SQL, read-only."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from bot.base.errors import DesdemonaError
from bot.base.log import printable
from bot.cli.common import FormatOption, OutputFormat, UsageError, config_of, console, note, write

if TYPE_CHECKING:
    from storage.ask.question import Answer


def sql(
    context: typer.Context,
    question: Annotated[
        str, typer.Argument(metavar="SQL", help="One SELECT on the views; - reads it from standard input.")
    ] = "",
    views: Annotated[
        bool, typer.Option("--views", help="List the views and what their columns mean, instead.")
    ] = False,
    examples: Annotated[bool, typer.Option("--examples", help="Print example questions, instead.")] = False,
    limit_s: Annotated[
        float, typer.Option("--limit-s", min=0.1, max=3600, help="Seconds that it may take.")
    ] = 60.0,
    rows: Annotated[int, typer.Option(min=1, max=1_000_000, help="Rows at most.")] = 10_000,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Answer a question in SQL, without changing anything.

    The views have plain columns that are kept from version to version: docs/sql.md has twenty examples.  It
    may be asked while the bot plays.
    """
    if views:
        _print_views()
        return
    if examples:
        _print_examples()
        return
    if not question:
        raise UsageError("give a question, or one of --views and --examples")
    text = sys.stdin.read() if question == "-" else question
    found = _ask(context, text, limit_s, rows)
    if not found.rows and output is OutputFormat.TABLE:
        note("No rows.")
        return
    records = found.records()
    from rich.table import Table

    table = Table()
    for column in found.columns:
        table.add_column(printable(column))
    for row in found.rows:
        table.add_row(*("" if cell is None else printable(str(cell)) for cell in row))
    if output is OutputFormat.TABLE:
        console().print(table)
    else:
        write(output, table, records, nested=records)
    if found.is_cut:
        note(f"There are more rows than {rows}; --rows asks for more.")


def _ask(context: typer.Context, text: str, limit_s: float, rows: int) -> "Answer":
    import asyncio

    from storage.ask.question import ask
    from storage.database import Database

    url = config_of(context).storage.url

    async def work() -> "Answer":
        await (await Database.open(url, upgrade=False)).close()  # its errors are clear
        return await ask(url, text, limit_s=limit_s, most_rows=rows)

    try:
        return asyncio.run(work())
    except KeyboardInterrupt:
        raise DesdemonaError("stopped") from None


def _print_views() -> None:
    from storage.ask.views import VIEWS

    for name, view in VIEWS.items():
        print(f"{name}: {view.about}")
        width = max(map(len, view.columns))
        for column, meaning in view.columns.items():
            print(f"  {column:{width}}  {meaning}")
        print()


def _print_examples() -> None:
    from storage.ask.examples import EXAMPLES

    for question, text in EXAMPLES.items():
        print(f"-- {question}\n{text};\n")
