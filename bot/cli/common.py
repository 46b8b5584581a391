"""Options, settings, database access and output shared by the operator's commands."""

import json
import math
import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from bot.base.errors import DesdemonaError
from bot.base.log import printable
from bot.base.old_names import add_old_keys

# Slow imports are inside functions, so that `--help` does not wait for them.
if TYPE_CHECKING:
    import asyncio

    from rich.console import Console

    from bot.base.config import Config
    from bot.parts.values import Part
    from storage.database import Database

T = TypeVar("T")
Rows = Sequence[Mapping[str, Any]]


class CommandFormat(StrEnum):
    """Output format of a command."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class ShowFormat(StrEnum):
    """Output format of commands whose result cannot be written as CSV rows."""

    TABLE = "table"
    JSON = "json"


class UsageError(DesdemonaError):
    """The arguments are invalid; the message says why."""


# The largest number that every database stores as an integer.
MAX_OPTION_VALUE = 2**31 - 1
FormatOption = Annotated[CommandFormat, typer.Option("--format", help="Output format.")]


def config_of(context: typer.Context) -> "Config":
    """The settings of the current command."""
    from bot.base.config import load_config

    return load_config(context.obj)


def ask_database(
    context: typer.Context,
    read: "Callable[[Database], Awaitable[T]]",
    url: str | None = None,
    *,
    upgrade: bool = False,
) -> T:
    """Run a query on the database.

    Args:
        context: Context of the command.
        read: Runs the query.
        url: The database's URL; None means the configured database.
        upgrade: Whether to create or upgrade the database; otherwise it must already exist.

    Raises:
        StorageError: The database failed.
        DesdemonaError: A record in the database is damaged.
    """
    import asyncio

    from storage.database import Database

    async def work() -> T:
        database = await Database.open(url or config_of(context).storage.url, upgrade=upgrade)
        try:
            with report_damage():
                return await read(database)
        finally:
            await database.close()

    return asyncio.run(work())


def stop_on_signals() -> "tuple[asyncio.Event, list[int]]":
    """Return an event that SIGINT and SIGTERM set, and the signals received; needs a running event loop."""
    import asyncio
    import signal

    stop, received = asyncio.Event(), list[int]()

    def on_signal(number: int) -> None:
        received.append(number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, on_signal, number)
    return stop, received


@contextmanager
def report_damage() -> Iterator[None]:
    """Report a damaged record in one line if the `with` block fails to read a record.

    Only exceptions that `storage` raises while decoding a record are reported this way. Any other exception
    is a bug and passes through with its traceback.

    Raises:
        DesdemonaError: A record is damaged; the message names the record and the reason, if known.
    """
    from engine.errors import RecordError
    from storage.errors import UnreadableRow

    try:
        yield
    except (RecordError, UnreadableRow) as error:
        from storage.errors import damage_text

        raise DesdemonaError(damage_text(error)) from error


def require_known(option: str, name: str | None, names: Collection[str]) -> None:
    """Raise `UsageError` if an option's value is given but is not a known name."""
    if name is not None and name not in names:
        raise UsageError(f"{option}: {name!r} is not known; known: {', '.join(names)}")


def console() -> "Console":
    """The console for tables."""
    from rich.console import Console

    # Names come from outside, so no markup.  A pipe has no width of its own: wide enough for every table.
    plain = Console(markup=False, highlight=False)
    return plain if plain.is_terminal else Console(markup=False, highlight=False, width=140)


def print_parts(parts: "Iterable[Part]") -> None:
    """Print a view, given as its parts, to the terminal."""
    from bot.parts.terminal import terminal

    screen = console()
    for part in terminal(parts):
        screen.print(part)


def print_rows(rows: Rows) -> None:
    """Print flat rows as a table with the keys as column headings; times are in UTC."""
    from bot.parts.values import Column, TablePart

    heads = ((key.replace("_at", " (UTC)").replace("_", " "), value) for key, value in rows[0].items())
    columns = (Column(head, is_text=isinstance(value, str)) for head, value in heads)
    cells = (tuple("" if each is None else str(each) for each in row.values()) for row in rows)
    print_parts([TablePart("", tuple(columns), tuple(cells))])


def print_note(text: str) -> None:
    """Print one line to standard error; the line may contain untrusted names."""
    print(printable(text), file=sys.stderr)


def print_result(
    output: CommandFormat,
    parts: "Iterable[Part]",
    rows: Rows,
    *,
    nested: Rows,
    is_filtered: bool = False,
) -> None:
    """Write a result about games as a view, as flat rows (CSV), or as nested rows (JSON).

    Args:
        is_filtered: Whether filters may have excluded games.
    """
    if output is CommandFormat.JSON:
        print_json(nested)
    elif output is CommandFormat.TABLE:
        if rows:
            print_parts(parts)
        else:
            print_note("No games match these filters." if is_filtered else "No games yet.")
    else:
        print_csv(rows)


def print_csv(rows: Rows) -> None:
    """Print flat rows as CSV with a header; print nothing if there are no rows."""
    from storage.evidence.exports.csv_cells import csv_text

    print(csv_text(add_old_keys(rows)), end="")


def print_json(value: object) -> None:
    """Print a result as JSON, with null for undefined numbers, because JSON has no NaN."""
    is_ascii = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")  # JSON has its own escapes
    print(json.dumps(_replace_nan(add_old_keys(value)), indent=2, ensure_ascii=is_ascii, allow_nan=False))


def _replace_nan(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _replace_nan(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replace_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
