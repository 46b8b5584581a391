"""`desdemona games` and `show`: reports on the games in the database."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.base.errors import DesdemonaError
from bot.cli.common import (
    MOST,
    FormatOption,
    OutputFormat,
    ShowFormat,
    UsageError,
    ask_database,
    console,
    damage_told,
    print_json,
    write,
)
from bot.cli.filters import Suspects, selects_games
from storage.errors import StorageError

if TYPE_CHECKING:
    from storage.database import Database
    from storage.filters import Filters
    from storage.records import StoredGame
    from storage.report import GameReport
    from storage.statistics.suspect_rows import Flags


@selects_games
def games(
    context: typer.Context,
    filters: "Filters",
    suspect: Suspects = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="Most games to list, the latest first.")] = 20,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """List the latest games.

    JSON and CSV name the reasons for which games are suspect, as --suspect does.
    """
    from bot.cli import rich_tables
    from storage.filters import Filters
    from storage.games import list_games, require_readable
    from storage.statistics.suspect_rows import suspect_games

    async def read(database: "Database") -> "tuple[list[StoredGame], Flags | None]":
        async with database.read() as session:
            needs_flags = suspect is not None or output is not OutputFormat.TABLE
            flags = await suspect_games(session) if needs_flags else None
            latest = await list_games(session, filters, limit if suspect is None else None)
            for game in latest:
                require_readable(game)
            if flags is None:
                return latest, None
            chosen = [game for game in latest if suspect is None or (game.id in flags) is suspect]
            return chosen[:limit], flags

    found, flags = ask_database(context, read)
    with damage_told():
        write(
            output,
            rich_tables.games_table(found, flags if suspect else None),
            rich_tables.games_rows(found, flags or {}, flat=True),
            nested=rich_tables.games_rows(found, flags or {}),
            is_filtered=suspect is not None or filters != Filters(),
        )


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
    from storage.games import list_games_by_site_id, require_readable
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
            require_readable(found[0])
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
    with damage_told():
        if output is ShowFormat.JSON:
            print_json(report.to_json())
        else:
            console().print(rich_tables.game_view(report, traps_only=traps))
