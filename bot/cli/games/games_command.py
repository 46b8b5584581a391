"""`desdemona games` and `show`: reports on the games in the database."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.common import (
    MAX_OPTION_VALUE,
    CommandFormat,
    FormatOption,
    ShowFormat,
    UsageError,
    ask_database,
    print_json,
    print_parts,
    print_result,
)
from bot.cli.filters import Suspects, game_filter_options

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from bot.text.trap_report import GameReport
    from storage.database import Database
    from storage.evidence.inference.suspects import Flags
    from storage.filters import Filters
    from storage.records import StoredGame

_MAX_NAMED_GAMES = 4
"""Maximum number of keys listed in the error message when a prefix matches several games."""


@game_filter_options
def games(
    context: typer.Context,
    filters: "Filters",
    suspect: Suspects = None,
    limit: Annotated[
        int, typer.Option(min=1, max=MAX_OPTION_VALUE, help="Maximum number of games to list, latest first.")
    ] = 20,
    output: FormatOption = CommandFormat.TABLE,
) -> None:
    """List the latest games.

    With --suspect, or as JSON or CSV, the list includes the reasons why games are suspect.
    """
    from bot.views.games import stored_games_table, stored_record
    from storage.evidence.statistics.suspect_rows import suspect_games
    from storage.filters import Filters
    from storage.ledger.games import list_games

    async def read(database: "Database") -> "tuple[list[StoredGame], Flags | None]":
        async with database.read() as session:
            needs_flags = suspect is not None or output is not CommandFormat.TABLE
            flags = await suspect_games(session) if needs_flags else None
            latest = await list_games(session, filters, limit if suspect is None else None)
            if flags is None:
                return latest, None
            chosen = [game for game in latest if suspect is None or (game.id in flags) is suspect]
            return chosen[:limit], flags

    found, flags = ask_database(context, read)
    rows = [stored_record(game, (flags or {}).get(game.id, ())) for game in found]
    print_result(
        output,
        (stored_games_table(found, flags if suspect else None),),
        [{**row, "suspect": ", ".join(row["suspect"])} for row in rows],
        nested=rows,
        is_filtered=suspect is not None or filters != Filters(),
    )


def show(
    context: typer.Context,
    game: Annotated[
        str,
        typer.Argument(help="The game's key, as shown by `games`, or a unique prefix of it."),
    ],
    site: Annotated[str | None, typer.Option(help="Site; required if two sites use the same key.")] = None,
    account: Annotated[
        str | None, typer.Option(help="Our account; required if two of our accounts played each other.")
    ] = None,
    traps: Annotated[
        bool, typer.Option("--traps", help="Show only the moves that set a bait, and a table of baits.")
    ] = False,
    output: Annotated[ShowFormat, typer.Option("--format", help="Output format.")] = ShowFormat.TABLE,
) -> None:
    """Show a game and its traps, move by move.

    Shows the board, the moves and, for each of our moves, its value, baits, the paper's trap and the reply.
    """
    from bot.text.trap_report import game_report
    from bot.views.game import trust_record
    from bot.views.game_decisions import report_parts
    from engine.opponents.trust import ExploitFacts
    from storage.evidence.queries.game_list import MoveMark, list_marks
    from storage.ledger.exploit_facts import exploit_facts

    async def read(database: "Database") -> "tuple[GameReport, list[MoveMark], ExploitFacts | None]":
        async with database.read() as session:
            stored = await _find(session, game, site, account)
            marks = await list_marks(session, stored.id)
            return await game_report(session, stored), marks, await exploit_facts(session, stored)

    report, marks, facts = ask_database(context, read)
    if output is ShowFormat.JSON:
        print_json(report.to_json() | {"trust": trust_record(facts)})
    else:
        print_parts(report_parts(report, marks, facts, traps_only=traps))


async def _find(session: "AsyncSession", key: str, site: str | None, account: str | None) -> "StoredGame":
    """Find the game with the given key, or the only game whose key starts with the given one.

    Args:
        session: A database session.
        key: The site's key of the game, or a prefix of the key; an exact match takes precedence over longer
            keys.
        site: Site of the game; None for any site.
        account: Name of our account, ignoring case; None for any account.

    Raises:
        UsageError: No game matches, or several games match; in the latter case the message lists some.
    """
    from storage.ledger.games import list_games_by_site_id

    if not key:
        raise UsageError("the game's key is empty; `desdemona games` lists the keys")
    known = await list_games_by_site_id(session, key)
    if not known:
        known = await list_games_by_site_id(session, key, is_prefix=True)
    matching = [
        each
        for each in known
        if site in (None, each.site) and (account is None or each.account.casefold() == account.casefold())
    ]
    if not matching:
        where = "" if site is None else f" on {site}"
        whose = "" if account is None else f" of {account}"
        raise UsageError(f"unknown game {key!r}{where}{whose}; `desdemona games` lists the keys")
    if len(keys := sorted({each.site_game_id for each in matching})) > 1:
        more = f" and {len(keys) - _MAX_NAMED_GAMES} more" if len(keys) > _MAX_NAMED_GAMES else ""
        raise UsageError(
            f"{len(keys)} games have keys that begin with {key!r}: {', '.join(keys[:_MAX_NAMED_GAMES])}{more}"
        )
    if len(sites := {each.site for each in matching}) > 1:
        raise UsageError(
            f"game {key!r} is on several sites ({', '.join(sorted(sites))}): choose one with --site"
        )
    if len(matching) > 1:
        accounts = ", ".join(each.account for each in matching)
        raise UsageError(f"game {key!r} belongs to several accounts ({accounts}): choose one with --account")
    return matching[0]
