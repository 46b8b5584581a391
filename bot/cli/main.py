"""`desdemona`: the root command, and `run`, `check`, `stats`, `games`, `show`, `db` and accounts."""

import asyncio
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from bot.base.config import read_token, source_of
from bot.base.dialects import Ability
from bot.base.log import printable
from bot.cli import rich_tables as tables
from bot.cli.analyse import analyse_command
from bot.cli.common import (
    MOST,
    FormatOption,
    GameName,
    MatchId,
    MaxRating,
    MinRating,
    OpponentOption,
    OutputFormat,
    PlayerName,
    Rated,
    ShowFormat,
    Since,
    Site,
    T,
    Until,
    UsageError,
    ask_database,
    config_of,
    console,
    filters_of,
    note,
    print_json,
    write,
)
from bot.cli.engine import engine
from bot.cli.formats import export_games, import_games
from bot.cli.match import match_command
from bot.cli.model import model
from bot.cli.recheck import recheck_command
from bot.cli.study import fit_command, study_command
from bot.servers import Server
from storage import migrate
from storage.database import Database, current_schema
from storage.games import list_games, list_games_by_site_id
from storage.records import StoredGame
from storage.report import GameReport, game_report
from storage.statistics import EngineStatistics, engine_statistics

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)
db = typer.Typer(no_args_is_help=True, help="The database: schema and records.", rich_markup_mode=None)
app.add_typer(db, name="db")
db.command("recheck")(recheck_command)
app.add_typer(model, name="model")
app.command("analyse")(analyse_command)
app.command()(engine)
app.command("export")(export_games)
app.command("import")(import_games)
app.command("match")(match_command)
app.command("study")(study_command)
model.command("fit")(fit_command)


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
    from bot import daemon as application

    raise typer.Exit(application.run(config_of(context)))


@app.command()
def arena(context: typer.Context) -> None:
    """Run the arena alone, until SIGINT or SIGTERM."""
    from bot.arena import server
    from bot.base import log

    config = config_of(context)
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

    config = config_of(context)
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
    note(f"Token of {name}; it is kept nowhere and not shown again:")
    print(token)


@app.command("upgrade-account")
def upgrade_account(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Make the account of the settings a bot account, for good.

    Sites let programs play with such accounts only; a person cannot play with it any more.
    """
    from bot.base.dialects import get_dialect
    from bot.servers.adapters import make_server

    config = config_of(context)
    if config.uses_arena:
        raise UsageError("the embedded arena makes the bot's account by itself")
    dialect = get_dialect(config.server.dialect)
    if Ability.UPGRADE not in dialect.abilities:
        raise UsageError(f"{dialect.name} has no accounts of a kind of their own for programs")
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
    from bot.cli import check as checking

    findings = asyncio.run(checking.check(config_of(context), source_of(context.obj)))
    for finding in findings:
        print(printable(f"{'ok  ' if finding.is_good else 'FAIL'}  {finding.what}: {finding.text}"))
    raise typer.Exit(0 if all(finding.is_good for finding in findings) else 1)


@app.command()
def stats(
    context: typer.Context,
    player: PlayerName = None,
    site: Site = None,
    game: GameName = None,
    opponent: OpponentOption = None,
    match: MatchId = None,
    since: Since = None,
    until: Until = None,
    min_rating: MinRating = None,
    max_rating: MaxRating = None,
    rated: Rated = None,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Results and traps (Figure 9), for each player.

    With performance ratings, and with intervals that hold the truth 19 times in 20.
    """
    filters = filters_of(
        player, site, game, since, until, min_rating, max_rating, rated, opponent=opponent, match=match
    )

    async def read(database: Database) -> list[EngineStatistics]:
        async with database.read() as session:
            return await engine_statistics(session, filters)

    found = ask_database(context, read)
    table, rows = tables.statistics_table(found), tables.statistics_rows(found)
    write(output, table, rows, nested=[row.to_json() for row in found])


@app.command()
def games(
    context: typer.Context,
    player: PlayerName = None,
    site: Site = None,
    game: GameName = None,
    opponent: OpponentOption = None,
    match: MatchId = None,
    since: Since = None,
    until: Until = None,
    min_rating: MinRating = None,
    max_rating: MaxRating = None,
    rated: Rated = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="At most so many, the latest first.")] = 20,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """List the latest games."""
    filters = filters_of(
        player, site, game, since, until, min_rating, max_rating, rated, opponent=opponent, match=match
    )

    async def read(database: Database) -> list[StoredGame]:
        async with database.read() as session:
            return await list_games(session, filters, limit)

    found = ask_database(context, read)
    rows = tables.games_rows(found)
    write(output, tables.games_table(found), rows, nested=rows)


@app.command()
def show(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="The site's key of the game, as `games` shows it.")],
    site: Annotated[str | None, typer.Option(help="Needed when two sites use the same key.")] = None,
    traps: Annotated[bool, typer.Option("--traps", help="Only the moves that set a trap.")] = False,
    output: Annotated[ShowFormat, typer.Option("--format", help="How to write it.")] = ShowFormat.TABLE,
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

    report = ask_database(context, read)
    if output is ShowFormat.JSON:
        print_json(report.to_json())
    else:
        console().print(tables.game_view(report, traps_only=traps))


@db.command()
def upgrade(context: typer.Context) -> None:
    """Make the database if there is none, and bring its schema up to date (`run` does so too)."""

    async def work() -> str:
        database = await Database.open(config_of(context).storage.url)
        await database.close()
        return database.url

    print(f"{asyncio.run(work())}: schema {migrate.head()}, up to date")


@db.command()
def current(context: typer.Context) -> None:
    """Print the schema of the database and the newest one."""
    found = asyncio.run(current_schema(config_of(context).storage.url))
    state = "up to date" if found == migrate.head() else f"newest {migrate.head()}"
    print(f"schema {found or 'empty'}, {state}")
