"""`desdemona page opponent`: one opponent, with its results, progress, ratings, visits and suspect games."""

from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from bot.base.rounding import counted, percent
from bot.cli.common import ShowFormat, UsageError, ask_database, console, print_json

if TYPE_CHECKING:
    from rich.table import Table

    from storage.database import Database
    from storage.evidence.queries.opponent_report import OpponentReport
    from storage.evidence.statistics.reply_progress import GameProgress, ReplyQuality

_NAMED = 4
"""Accounts listed when a name matches several."""
_DAY = "%Y-%m-%d"


def opponent(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The account's name or key at the site, in any case.")],
    site: Annotated[str | None, typer.Option(help="Needed when accounts at two sites have the name.")] = None,
    output: Annotated[ShowFormat, typer.Option("--format", help="How to write it.")] = ShowFormat.TABLE,
) -> None:
    """Show one opponent: results, progress, ratings and visits.

    The dashboard's page of the opponent has the same numbers, with charts and the baits that it took.
    """

    async def read(database: "Database") -> "OpponentReport":
        from storage.evidence.queries.opponent_report import find_opponents, opponent_report

        async with database.read() as session:
            known = await find_opponents(session, name, site)
            exact = [each for each in known if each[1] == name] or known
            if not exact:
                where = "" if site is None else f" at {site}"
                raise UsageError(f"we have met no opponent {name!r}{where}")
            if len(exact) > 1:
                more = f" and {len(exact) - _NAMED} more" if len(exact) > _NAMED else ""
                shown = ", ".join(f"{key!r} at {where}" for where, key in exact[:_NAMED])
                raise UsageError(
                    f"several accounts have the name {name!r}: {shown}{more}; give the key, or --site"
                )
            report = await opponent_report(session, *exact[0])
        if report is None:
            raise UsageError(f"opponent {name!r} is gone")
        return report

    report = ask_database(context, read)
    if output is ShowFormat.JSON:
        print_json(report.to_json())
        return
    for line in _lines(report):
        console().print(line)
    for found in report.progress:
        console().print(_progress_table(found))
    if report.progress:
        from storage.evidence.statistics.reply_progress import LEAST_GAMES, LEAST_REPLIES

        console().print(
            "Replies in positions that were not decided, all games. An error costs 10 % of expected score or "
            f"more. Intervals (95 %) are by game; numbers need {LEAST_REPLIES} replies, as of "
            f"{LEAST_GAMES:g} games."
        )


def _lines(report: "OpponentReport") -> Iterator[str]:
    from bot.cli.rich_tables import printable_name

    account, line = report.account, report.line
    kind = "program" if account.is_bot else "person"
    key = "" if account.site_id == account.name else f" ({printable_name(account.site_id)})"
    blocked = "; blocked" if account.blocked_as is not None else ""
    yield f"{printable_name(account.name)}{key} at {account.site}: {kind}{blocked}"
    if account.former_names:
        yield f"formerly {', '.join(map(printable_name, account.former_names))}"
    if line is None:
        yield f"first seen {account.first_seen_at:{_DAY}}; no game but aborted ones"
        return
    score = "no result" if line.score is None else f"they score {percent(line.score)} of {line.decided}"
    yield (
        f"games: {line.games}, {line.first_at:{_DAY}} to {line.last_at:{_DAY}}; {score}; "
        f"baits taken: {line.baits_taken} of {line.baits_set}; slips: {line.slips}"
    )
    gaps = report.gaps
    middle = median(gaps) if gaps else 0
    apart = "day" if middle == 1 else "days"
    between = f", {middle:g} {apart} apart in the median, {max(gaps)} at most" if gaps else ""
    yield f"days with games: {len(report.visits)}{between}"
    for tally in report.tallies:
        side = "we moved first" if tally.our_side == 0 else "they moved first"
        without = f", without a result {tally.without_result}" if tally.without_result else ""
        yield (
            f"  {tally.game}, {tally.player}, {side}: {tally.games}; "
            f"won {tally.wins}, drawn {tally.draws}, lost {tally.losses}{without}"
        )
    for seen in report.ratings:
        ratings = [point.rating for point in seen.points]
        yield (
            f"  rating at {seen.game}, {seen.speed}: {ratings[0]} at first, now {ratings[-1]} "
            f"({min(ratings)} to {max(ratings)} in {counted(len(ratings), 'game')})"
        )
    if not account.is_bot:
        flags = ", ".join(f"{flag} {count}" for flag, count in report.flags.items())
        yield f"suspect games: {len(report.suspects)}{f' ({flags})' if flags else ''}"


def _progress_table(found: "GameProgress") -> "Table":
    from rich.table import Table

    table = Table(title=f"Progress at {found.game}")
    table.add_column("games")
    table.add_column("from")
    for kind in ("tempting", "elsewhere"):
        for what in ("replies", "errors", "cost"):
            table.add_column(f"{kind}\n{what}", justify="right")
    for block in (*(found.blocks if len(found.blocks) > 1 else ()), found.everything):
        name = "all" if block is found.everything else f"{block.first} to {block.last}"
        table.add_row(name, f"{block.since:{_DAY}}", *_cells(block.tempting), *_cells(block.elsewhere))
    return table


def _cells(found: "ReplyQuality") -> tuple[str, str, str]:
    if not found.is_shown:
        return str(found.replies), "too few", "too few"
    return (
        str(found.replies),
        _part(found.error_share, found.error_low, found.error_high),
        _part(found.cost, found.cost_low, found.cost_high),
    )


def _part(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "too few"
    interval = "" if low is None or high is None else f" ({100 * low:.1f} to {100 * high:.1f})"
    return f"{percent(value, 1)}{interval}"
