"""The operator's commands.  The one place that prints."""

import asyncio
import csv
import json
import sys
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console, RenderableType

from bot import tables
from bot.cli_engine import engine
from bot.config import Config, load_config, read_token, source_of
from bot.errors import DesdemonaError
from bot.servers import Server
from engine.games import GAMES
from engine.players import PLAYER_KINDS
from storage import migrate
from storage.database import Database, current_schema
from storage.games import list_games, list_games_by_site_id
from storage.records import Filters, StoredGame
from storage.report import GameReport, game_report
from storage.statistics import EngineStatistics, engine_statistics

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)
db = typer.Typer(no_args_is_help=True, help="The database's schema.", rich_markup_mode=None)
app.add_typer(db, name="db")
app.command()(engine)

T = TypeVar("T")
Rows = Sequence[dict[str, Any]]


class Format(StrEnum):
    """How a command writes its answer."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class GameFormat(StrEnum):
    """How `show` writes a game."""

    TABLE = "table"
    JSON = "json"


class UsageError(DesdemonaError):
    """What the operator typed makes no sense; the message says why."""


Site = Annotated[str | None, typer.Option(help="Only games on this site, for instance arena.")]
GameName = Annotated[str | None, typer.Option("--game", help="Only this game, for instance othello.")]
PlayerName = Annotated[
    str | None, typer.Option("--player", "--engine", help=f"Only {' or '.join(PLAYER_KINDS)}.")
]
Since = Annotated[str | None, typer.Option(help="Only games begun at or after this date or time (ISO 8601).")]
Until = Annotated[
    str | None, typer.Option(help="Only games begun before this time, or up to the end of this date.")
]
# Longer numbers are not for a database.
_MOST = 2**31 - 1
MinRating = Annotated[int | None, typer.Option(max=_MOST, help="Only opponents rated at least this.")]
MaxRating = Annotated[int | None, typer.Option(max=_MOST, help="Only opponents rated at most this.")]
Rated = Annotated[
    bool | None, typer.Option("--rated/--casual", help="Only rated games, or only casual ones.")
]
Output = Annotated[Format, typer.Option("--format", help="How to write it.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"desdemona {version('desdemona')}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option(help="Settings; without it config.toml here, if there is one.")
    ] = None,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """Desdemona plays board games against people online, sets traps, and writes down who falls in."""
    # Read by the commands, so that `--help` works with a broken file.
    context.obj = config


@app.command()
def run(context: typer.Context) -> None:
    """Play until SIGINT or SIGTERM.

    Opens the arena too, and prints the address of its page.
    """
    from bot import app as application

    raise typer.Exit(application.run(_config(context)))


@app.command()
def arena(context: typer.Context) -> None:
    """Run the arena alone, until SIGINT or SIGTERM."""
    from bot import log
    from bot.arena import server

    config = _config(context)
    log.set_up(config.log)
    asyncio.run(server.serve(config))


@app.command("add-bot")
def add_bot(
    context: typer.Context, name: Annotated[str, typer.Argument(help="Name of the account.")]
) -> None:
    """Make an arena account for another bot program.

    Prints its token; an account that exists already gets a new one.
    """
    from bot.arena.accounts import add_bot as add

    config = _config(context)
    if config.uses_arena and name.lower() == config.server.name.lower():
        raise UsageError(
            f"{name} is the bot's own account (server.name): `run` gives it a token at every start"
        )

    async def work() -> str:
        database = await Database.open(config.storage.url)
        try:
            return await add(database, name)
        finally:
            await database.close()

    token = asyncio.run(work())
    _note(f"Token of {name}; it is kept nowhere and not shown again:")
    print(token)


@app.command("upgrade-account")
def upgrade_account(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Make the account of the settings a bot account, for good.

    Sites let programs play with such accounts only; a person cannot play with it any more.
    """
    from bot.servers.adapters import make_server
    from bot.servers.dialects import get_dialect

    config = _config(context)
    if config.uses_arena:
        raise UsageError("the embedded arena makes the bot's account by itself")
    dialect = get_dialect(config.server.dialect)
    if dialect.protocol == "ggs":
        raise UsageError("GGS knows no accounts for programs: any account may be played by one")
    url = config.server.url or dialect.home
    token = read_token(config.server)

    async def at_server(work: Callable[[Server], Awaitable[T]]) -> T:
        server = make_server(config, dialect, url, token)
        try:
            return await work(server)
        finally:
            await server.close()

    account = asyncio.run(at_server(lambda server: server.account()))
    who = f"{account.name} at {url}"
    if account.is_bot:
        raise UsageError(f"{who} is a bot account already")
    if account.games:
        raise UsageError(
            f"{who} has played already (games: {account.games}), and only an account that never played can "
            "become a bot account: make a new one"
        )
    if not yes:
        typer.confirm(f"Make {who} a bot account?  This cannot be undone.", abort=True, err=True)
    asyncio.run(at_server(lambda server: server.upgrade()))
    print(f"{who} is a bot account now")


@app.command()
def check(context: typer.Context) -> None:
    """Try everything that playing needs.

    Configuration, database, engine and account; the exit status is 1 when one of them fails.
    """
    from bot import check as checking

    findings = asyncio.run(checking.check(_config(context), source_of(context.obj)))
    for finding in findings:
        print(f"{'ok  ' if finding.is_good else 'FAIL'}  {finding.what}: {finding.text}")
    raise typer.Exit(0 if all(finding.is_good for finding in findings) else 1)


@app.command()
def stats(
    context: typer.Context,
    player: PlayerName = None,
    site: Site = None,
    game: GameName = None,
    since: Since = None,
    until: Until = None,
    min_rating: MinRating = None,
    max_rating: MaxRating = None,
    rated: Rated = None,
    output: Output = Format.TABLE,
) -> None:
    """Results and traps (Figure 9), for each player.

    With performance ratings, and with intervals that hold the truth 19 times in 20.
    """
    filters = _filters(player, site, game, since, until, min_rating, max_rating, rated)

    async def read(database: Database) -> list[EngineStatistics]:
        async with database.read() as session:
            return await engine_statistics(session, filters)

    found = _ask(context, read)
    table, rows = tables.statistics_table(found), tables.statistics_rows(found)
    _write(output, table, rows, nested=[row.to_json() for row in found])


@app.command()
def games(
    context: typer.Context,
    player: PlayerName = None,
    site: Site = None,
    game: GameName = None,
    since: Since = None,
    until: Until = None,
    min_rating: MinRating = None,
    max_rating: MaxRating = None,
    rated: Rated = None,
    limit: Annotated[int, typer.Option(min=1, max=_MOST, help="At most so many, the latest first.")] = 20,
    output: Output = Format.TABLE,
) -> None:
    """List the latest games."""
    filters = _filters(player, site, game, since, until, min_rating, max_rating, rated)

    async def read(database: Database) -> list[StoredGame]:
        async with database.read() as session:
            return await list_games(session, filters, limit)

    found = _ask(context, read)
    rows = tables.games_rows(found)
    _write(output, tables.games_table(found), rows, nested=rows)


@app.command()
def show(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="The site's key of the game, as `games` shows it.")],
    site: Annotated[str | None, typer.Option(help="Needed when two sites use the same key.")] = None,
    traps: Annotated[bool, typer.Option("--traps", help="Only the moves that set a trap.")] = False,
    output: Annotated[GameFormat, typer.Option("--format", help="How to write it.")] = GameFormat.TABLE,
) -> None:
    """Tell a game and its traps, move by move.

    Board, moves, and for each move of ours what it was worth, its trap, and the reply.
    """

    async def read(database: Database) -> GameReport:
        async with database.read() as session:
            found = [
                known for known in await list_games_by_site_id(session, game) if site in (None, known.site)
            ]
            if not found:
                raise UsageError(f"no game {game!r} is known{'' if site is None else f' on {site}'}")
            if len(found) > 1:
                sites = ", ".join(known.site for known in found)
                raise UsageError(f"game {game!r} is on several sites ({sites}): say which with --site")
            report = await game_report(session, found[0].site, game)
            assert report is not None, "it has just been read"  # noqa: S101
            return report

    report = _ask(context, read)
    if output is GameFormat.JSON:
        _print_json(report.to_json())
    else:
        _console().print(tables.game_view(report, traps_only=traps))


@db.command()
def upgrade(context: typer.Context) -> None:
    """Make the database if there is none, and bring its schema up to date (`run` does so too)."""

    async def work() -> str:
        database = await Database.open(_config(context).storage.url)
        await database.close()
        return database.url

    print(f"{asyncio.run(work())}: schema {migrate.head()}, up to date")


@db.command()
def current(context: typer.Context) -> None:
    """Print the schema of the database and the newest one."""
    found = asyncio.run(current_schema(_config(context).storage.url))
    state = "up to date" if found == migrate.head() else f"newest {migrate.head()}"
    print(f"schema {found or 'empty'}, {state}")


def _config(context: typer.Context) -> Config:
    return load_config(context.obj)


def _ask(context: typer.Context, read: Callable[[Database], Awaitable[T]]) -> T:
    """What a function finds in the database, which has to be there already."""

    async def work() -> T:
        database = await Database.open(_config(context).storage.url, upgrade=False)
        try:
            return await read(database)
        finally:
            await database.close()

    return asyncio.run(work())


def _filters(
    player: str | None,
    site: str | None,
    game: str | None,
    since: str | None,
    until: str | None,
    min_rating: int | None,
    max_rating: int | None,
    rated: bool | None,
) -> Filters:
    _known("--player", player, PLAYER_KINDS)
    _known("--game", game, GAMES)
    return Filters(
        player=player,
        site=site,
        game=game,
        since=None if since is None else _moment("--since", since),
        until=None if until is None else _moment("--until", until, end_of_day=True),
        min_opponent_rating=min_rating,
        max_opponent_rating=max_rating,
        rated=rated,
    )


def _known(option: str, name: str | None, names: Collection[str]) -> None:
    if name is not None and name not in names:
        raise UsageError(f"{option}: {name!r} is not known; known: {', '.join(names)}")


def _moment(option: str, text: str, *, end_of_day: bool = False) -> datetime:
    """A moment from ISO 8601, in this machine's time zone unless it names one."""
    try:
        moment = datetime.fromisoformat(text)
        is_date = len(text) <= 10 and moment.time() == time()
        if is_date and end_of_day:
            moment += timedelta(days=1)
        moment = moment.astimezone()
        moment.astimezone(UTC)  # as the database asks for it
    except (ValueError, OverflowError):  # OverflowError: at the ends of the calendar
        raise UsageError(
            f"{option}: {text!r} is no date or time; write 2026-11-30 or 2026-11-30T18:00"
        ) from None
    return moment


def _console() -> Console:
    # Names come from outside, so no markup.  A pipe has no width of its own: wide enough for every table.
    console = Console(markup=False, highlight=False)
    return console if console.is_terminal else Console(markup=False, highlight=False, width=140)


def _note(text: str) -> None:
    print(text, file=sys.stderr)


def _write(output: Format, table: RenderableType, rows: Rows, *, nested: Rows) -> None:
    """Write an answer as a table, as flat rows (CSV), or as the same rows with their structure (JSON)."""
    if output is Format.JSON:
        _print_json(nested)
    elif output is Format.TABLE:
        if rows:
            _console().print(table)
        else:
            _note("No game has been played that passes these filters.")
    elif rows:
        writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


from bot import cli_formats as cli_formats  # noqa: E402 - its commands need what is defined above
from bot import cli_match as cli_match  # noqa: E402
