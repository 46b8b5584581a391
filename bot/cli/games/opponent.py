"""The command `desdemona page opponent`, which shows one opponent as the dashboard does."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.common import ShowFormat, UsageError, ask_database, print_json, print_parts

if TYPE_CHECKING:
    from bot.views.opponent import OpponentView
    from storage.database import Database

_MAX_NAMED = 4
"""Number of accounts listed when a name matches several."""


def opponent(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The opponent's name or key at the site, ignoring case.")],
    site: Annotated[str | None, typer.Option(help="Required if the name is ambiguous.")] = None,
    output: Annotated[ShowFormat, typer.Option("--format", help="Output format.")] = ShowFormat.TABLE,
) -> None:
    """Show one opponent: results, progress, ratings and visits.

    The dashboard's page about the opponent has the same numbers, with charts and boards.
    """

    async def read(database: "Database") -> "OpponentView":
        from bot.views.opponent import load
        from bot.views.page import Query
        from storage.evidence.queries.opponent_report import find_opponents

        async with database.read() as session:
            known = await find_opponents(session, name, site)
        exact = [each for each in known if each[1] == name] or known
        if not exact:
            where = "" if site is None else f" at {site}"
            raise UsageError(f"we have met no opponent {name!r}{where}")
        if len(exact) > 1:
            more = f" and {len(exact) - _MAX_NAMED} more" if len(exact) > _MAX_NAMED else ""
            shown = ", ".join(f"{key!r} at {where}" for where, key in exact[:_MAX_NAMED])
            raise UsageError(
                f"several accounts have the name {name!r}: {shown}{more}; give the key, or --site"
            )
        return await load(database, Query(own=dict(zip(("site", "id"), exact[0], strict=True))))

    view = ask_database(context, read)
    if output is ShowFormat.JSON:
        print_json(view.report.to_json())
    else:
        print_parts(view.parts)
