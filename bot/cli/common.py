"""Options, settings, database access and output shared by the operator's commands."""

import csv
import json
import math
import sys
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from bot.base.errors import DesdemonaError
from bot.base.log import printable
from engine.player_kinds import PLAYER_KINDS

# Slow imports are inside functions, so that `--help` does not wait for them.
if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from bot.base.config import Config
    from storage.database import Database
    from storage.records import Filters

T = TypeVar("T")
Rows = Sequence[dict[str, Any]]


class OutputFormat(StrEnum):
    """Output format of a command."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class ShowFormat(StrEnum):
    """Output format of commands without rows."""

    TABLE = "table"
    JSON = "json"


class UsageError(DesdemonaError):
    """The arguments are invalid; the message says why."""


Site = Annotated[str | None, typer.Option(help="Only games on this site, for instance arena.")]
AccountName = Annotated[
    str | None, typer.Option("--account", help="Only games of our account of this name, in any case.")
]
GameName = Annotated[str | None, typer.Option("--game", help="Only this game, for instance othello.")]
PlayerName = Annotated[
    str | None, typer.Option("--player", "--engine", help=f"Only {' or '.join(PLAYER_KINDS)}.")
]
OpponentOption = Annotated[
    str | None, typer.Option(help="Only games against the opponent of exactly this name, in any case.")
]
MatchId = Annotated[
    str | None, typer.Option("--match", metavar="ID", help="Only games of the match of this name.")
]
Since = Annotated[str | None, typer.Option(help="Only games begun at or after this date or time (ISO 8601).")]
Until = Annotated[
    str | None, typer.Option(help="Only games begun before this time, or up to the end of this date.")
]
# The largest number that every database stores as an integer.
MOST = 2**31 - 1
MinRating = Annotated[int | None, typer.Option(max=MOST, help="Only opponents rated at least this.")]
MaxRating = Annotated[int | None, typer.Option(max=MOST, help="Only opponents rated at most this.")]
Rated = Annotated[
    bool | None, typer.Option("--rated/--casual", help="Only rated games, or only casual ones.")
]
FormatOption = Annotated[OutputFormat, typer.Option("--format", help="How to write it.")]


def config_of(context: typer.Context) -> "Config":
    """The settings that the command runs with."""
    from bot.base.config import load_config

    return load_config(context.obj)


def ask_database(
    context: typer.Context, read: "Callable[[Database], Awaitable[T]]", url: str | None = None
) -> T:
    """Run a query on the database, which must already exist.

    Args:
        url: The database's URL; None: the configured one.
    """
    import asyncio

    from storage.database import Database

    async def work() -> T:
        database = await Database.open(url or config_of(context).storage.url, upgrade=False)
        try:
            return await read(database)
        finally:
            await database.close()

    return asyncio.run(work())


def filters_of(
    player: str | None,
    site: str | None,
    game: str | None,
    since: str | None,
    until: str | None,
    min_rating: int | None,
    max_rating: int | None,
    rated: bool | None,
    *,
    account: str | None,
    opponent: str | None,
    match: str | None = None,
) -> "Filters":
    """Make filters from the options; raises `UsageError` for unknown names."""
    from engine.games import GAMES
    from storage.records import Filters

    require_known("--player", player, PLAYER_KINDS)
    require_known("--game", game, GAMES)
    return Filters(
        player=player,
        site=site,
        account=account,
        game=game,
        opponent=opponent,
        match=match,
        since=None if since is None else moment_of("--since", since),
        until=None if until is None else moment_of("--until", until, end_of_day=True),
        min_opponent_rating=min_rating,
        max_opponent_rating=max_rating,
        rated=rated,
    )


def require_known(option: str, name: str | None, names: Collection[str]) -> None:
    """Raise `UsageError` unless the option's value is one of these names."""
    if name is not None and name not in names:
        raise UsageError(f"{option}: {name!r} is not known; known: {', '.join(names)}")


def moment_of(option: str, text: str, *, end_of_day: bool = False) -> datetime:
    """Parse an ISO 8601 time, in this machine's time zone unless it names one."""
    try:
        moment = datetime.fromisoformat(text)
        is_date = len(text) <= 10 and moment.time() == time()
        if is_date and end_of_day:
            moment += timedelta(days=1)
        moment = moment.astimezone()
        moment.astimezone(UTC)  # as the database requires
    except (ValueError, OverflowError):  # OverflowError: at the ends of the calendar
        raise UsageError(
            f"{option}: {text!r} is no date or time; write 2026-11-30 or 2026-11-30T18:00"
        ) from None
    return moment


def console() -> "Console":
    """The console for tables."""
    from rich.console import Console

    # Names come from outside, so no markup.  A pipe has no width of its own: wide enough for every table.
    plain = Console(markup=False, highlight=False)
    return plain if plain.is_terminal else Console(markup=False, highlight=False, width=140)


def note(text: str) -> None:
    """Print one line to standard error; it may contain names from outside."""
    print(printable(text), file=sys.stderr)


def write(
    output: OutputFormat, table: "RenderableType", rows: Rows, *, nested: Rows, filters: "Filters"
) -> None:
    """Write a result about games as a table, as flat rows (CSV), or as nested rows (JSON).

    Args:
        filters: Those that the games passed.
    """
    from storage.records import Filters

    if output is OutputFormat.JSON:
        print_json(nested)
    elif output is OutputFormat.TABLE:
        if rows:
            console().print(table)
        else:
            note("No games yet." if filters == Filters() else "No game passes these filters.")
    elif rows:
        writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def print_json(value: object) -> None:
    """Write a result as JSON, with null for undefined numbers: JSON has no NaN."""
    print(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
