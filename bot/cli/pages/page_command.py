"""`desdemona page`: a page of the dashboard in the terminal."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.common import (
    CommandFormat,
    FormatOption,
    UsageError,
    ask_database,
    print_csv,
    print_json,
    print_parts,
)
from bot.cli.filters import move_filter_options

if TYPE_CHECKING:
    from bot.views.page import Page, View
    from storage.database import Database
    from storage.filters import Filters

_SHOWN_BY_OTHER_COMMANDS = ("now", "opponent", "games", "game")


@move_filter_options
def page_command(
    context: typer.Context,
    filters: "Filters",
    name: Annotated[
        str,
        typer.Argument(
            metavar="[PAGE]",
            help="Page to show: questions (default), works, results, traps, opponents, events or ratings.",
        ),
    ] = "",
    sort: Annotated[str, typer.Option(help="Sort order on the pages `traps` and `opponents`.")] = "",
    outcome: Annotated[str, typer.Option(help="Traps to show: all, taken, or held (left alone).")] = "",
    by: Annotated[str, typer.Option(metavar="NAMES", help="How to group results, as in `stats --by`.")] = "",
    days: Annotated[str, typer.Option(help="Show the events of this many past days.")] = "",
    kind: Annotated[str, typer.Option(help="Show only events of this kind.")] = "",
    arms: Annotated[str, typer.Option(metavar="A,B", help="Strategies to compare on the page `works`.")] = "",
    number: Annotated[str, typer.Option("--page", help="Which page of a long list to show.")] = "",
    table: Annotated[str, typer.Option(help="Table to write as CSV (default: the first).")] = "",
    output: FormatOption = CommandFormat.TABLE,
) -> None:
    """Show a page of the dashboard, or ten questions that the pages answer.

    The bot need not be running.  Filters, options and numbers are the same as on the page.
    """
    if name in ("", "questions"):
        _print_questions()
        return
    own = {"sort": sort, "outcome": outcome, "by": by, "days": days, "kind": kind, "arms": arms}
    page = _page(name)
    own["number" if "number" in page.parameters else "page"] = number
    view = _load(context, page, filters, own)
    if output is CommandFormat.JSON:
        print_json(_plain(view.to_json()))
    elif output is CommandFormat.CSV:
        _print_csv(view, table)
    else:
        print_parts(view.parts)


def _page(name: str) -> "Page":
    from bot.views.menu import pages

    known = {page.name: page for page in pages() if page.name not in _SHOWN_BY_OTHER_COMMANDS}
    if name not in known:
        raise UsageError(f"page: {name!r} is not known; known: {', '.join(known)}")
    return known[name]


def _load(context: typer.Context, page: "Page", filters: "Filters", own: Mapping[str, str]) -> Any:
    """Load the page's view, given the filters and the page's own options."""
    from bot.views.page import BadQuery
    from storage.errors import FilterError
    from storage.evidence.queries.filter_language import filter_texts

    given = {**filter_texts(filters), **{name: text for name, text in own.items() if text}}

    async def read(database: "Database") -> "View":
        return await page.load(database, page.query(given, {}))

    try:
        return ask_database(context, read)
    except (BadQuery, FilterError) as error:
        raise UsageError(f"page {page.name}: {error}") from None


def _plain(value: object) -> object:
    """A view as JSON, with times and similar values as text, formatted as on the page."""
    import json

    plain: object = json.loads(json.dumps(value, default=str))
    return plain


def _print_csv(view: "View", name: str) -> None:
    tables = view.tables()
    if name and name not in tables:
        raise UsageError(f"--table: {name!r} is not known; known: {', '.join(tables)}")
    print_csv(tables[name or next(iter(tables))])


def _print_questions() -> None:
    from bot.views.questions import questions

    for number, question in enumerate(questions(datetime.now().astimezone()), 1):
        print(f"{number:2}. {question.text}\n    desdemona {question.command}\n    {question.link}")
