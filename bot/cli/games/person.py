"""`desdemona person`: shows what the program has learned of a person, and forgets it."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.base.rounding import plural
from bot.cli.common import ShowFormat, UsageError, ask_database, print_json, print_note

if TYPE_CHECKING:
    from bot.text.person_report import PersonGameReport, PersonReport
    from engine.person.site_state import SiteState
    from storage.database import Database
    from storage.ledger.sites import SiteKey

SiteArgument = Annotated[str, typer.Argument(metavar="SITE", help="Key of the site, such as arena.")]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The person's name or key at the site.")]


def show(
    context: typer.Context,
    site: SiteArgument,
    name: NameArgument,
    output: Annotated[ShowFormat, typer.Option("--format", help="Output format.")] = ShowFormat.TABLE,
) -> None:
    """Show what the program has learned of a person.

    Also show what is known of the people of the same site. The JSON format has everything that is stored of
    the person, for one who requests it.
    """
    from bot.text.person_data import load_person
    from bot.text.site_text import site_texts
    from storage.ledger.sites import list_sites

    async def read(database: "Database") -> "tuple[PersonReport, dict[SiteKey, SiteState]]":
        report = await load_person(database, await _person(database, site, name))
        async with database.read() as session:
            return report, await list_sites(session)

    report, sites = ask_database(context, read)
    if output is ShowFormat.JSON:
        print_json(report.to_json())
        return
    print_note(f"{report.name} at {report.site}")
    if report.forgotten_at is not None:
        print_note(f"forgotten on {report.forgotten_at:%Y-%m-%d}: nothing is learned of this person")
    elif not report.games:
        print_note("nothing has been learned of this person yet")
    for each in report.games:
        _print_game(each)
        for text in site_texts(sites, report.site, each.game):
            print(text)


def forget(context: typer.Context, site: SiteArgument, name: NameArgument) -> None:
    """Forget a person, and learn nothing of them any more.

    The person's games stay. The command can be used while the bot plays.
    """
    from bot.text.person_data import forget_person_everywhere

    async def work(database: "Database") -> bool:
        return await forget_person_everywhere(database, await _person(database, site, name))

    is_new = ask_database(context, work)
    print_note(f"{name} at {site} {'is' if is_new else 'was already'} forgotten")


async def _person(database: "Database", site: str, name: str) -> int:
    """The database key of a person's account.

    Raises:
        UsageError: We have met no such person, or several.
    """
    from storage.ledger.persons import find_persons

    async with database.read() as session:
        found = await find_persons(session, site, name)
    if not found:
        raise UsageError(f"we have met nobody named {name!r} at {site}")
    if len(found) > 1:
        keys = ", ".join(repr(each[1]) for each in found[:4])
        raise UsageError(f"several accounts have the name {name!r}: give the key, which is one of {keys}")
    return found[0][0]


def _print_game(report: "PersonGameReport") -> None:
    from bot.text.person_report import MIN_REPLIES

    replies = plural(report.replies, "judged reply", "judged replies")
    print(f"{report.title}: {replies} in {plural(report.games, 'game')}")
    for statement in report.statements:
        where = "" if statement.error is None else f" (game {statement.error.game})"
        print(f"  {statement.text}{where}")
    if report.replies < MIN_REPLIES:
        print(f"  Too early: {report.replies} of {MIN_REPLIES} replies.")
