"""`desdemona games` and `show`: reports on the games in the database."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.base.errors import DesdemonaError
from bot.cli.common import (
    MOST,
    AccountName,
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
    Until,
    UsageError,
    ask_database,
    console,
    filters_of,
    print_json,
    write,
)
from storage.errors import StorageError

if TYPE_CHECKING:
    from storage.database import Database
    from storage.records import StoredGame
    from storage.report import GameReport


def games(
    context: typer.Context,
    player: PlayerName = None,
    site: Site = None,
    account: AccountName = None,
    game: GameName = None,
    opponent: OpponentOption = None,
    match: MatchId = None,
    since: Since = None,
    until: Until = None,
    min_rating: MinRating = None,
    max_rating: MaxRating = None,
    rated: Rated = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="Most games to list, the latest first.")] = 20,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """List the latest games."""
    from bot.cli import rich_tables
    from storage.games import list_games

    filters = filters_of(
        player,
        site,
        game,
        since,
        until,
        min_rating,
        max_rating,
        rated,
        account=account,
        opponent=opponent,
        match=match,
    )

    async def read(database: "Database") -> "list[StoredGame]":
        async with database.read() as session:
            return await list_games(session, filters, limit)

    found = ask_database(context, read)
    rows = rich_tables.games_rows(found)
    write(output, rich_tables.games_table(found), rows, nested=rows, filters=filters)


def show(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="The site's key of the game, as `games` shows it.")],
    site: Annotated[str | None, typer.Option(help="Needed when two sites use the same key.")] = None,
    account: Annotated[
        str | None, typer.Option(help="Needed when two of our accounts played each other.")
    ] = None,
    traps: Annotated[bool, typer.Option("--traps", help="Only the moves with a bait.")] = False,
    output: Annotated[ShowFormat, typer.Option("--format", help="How to write it.")] = ShowFormat.TABLE,
) -> None:
    """Show a game and its traps, move by move.

    Board, moves, and for each move of ours its value, its baits, the paper's trap, and the reply.
    """
    from bot.cli import rich_tables
    from storage.games import list_games_by_site_id
    from storage.report import game_report

    async def read(database: "Database") -> "GameReport":
        async with database.read() as session:
            found = [
                known
                for known in await list_games_by_site_id(session, game)
                if site in (None, known.site)
                and (account is None or known.account.casefold() == account.casefold())
            ]
            if not found:
                where = "" if site is None else f" on {site}"
                whose = "" if account is None else f" of {account}"
                raise UsageError(f"no game {game!r} is known{where}{whose}")
            if len(sites := {known.site for known in found}) > 1:
                raise UsageError(
                    f"game {game!r} is on several sites ({', '.join(sorted(sites))}): choose one with --site"
                )
            if len(found) > 1:
                accounts = ", ".join(known.account for known in found)
                raise UsageError(
                    f"game {game!r} is of several accounts ({accounts}): choose one with --account"
                )
            try:
                return await game_report(session, found[0])
            except StorageError:
                raise
            except Exception as error:  # a damaged record may contain anything
                raise DesdemonaError(
                    f"game {game}: one of its records is damaged ({type(error).__name__}: {error!s:.200}); "
                    "`desdemona db recheck` lists all such records"
                ) from error

    report = ask_database(context, read)
    if output is ShowFormat.JSON:
        print_json(report.to_json())
    else:
        console().print(rich_tables.game_view(report, traps_only=traps))
