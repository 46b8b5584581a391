"""`desdemona page month`: the report on a month as a single HTML file."""

import re
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.base.files import write_atomically
from bot.cli.common import UsageError, ask_database, print_note
from bot.cli.filters import game_filter_options

if TYPE_CHECKING:
    from storage.database import Database
    from storage.evidence.inference.verdict import TrialVerdict
    from storage.evidence.statistics.monthly import MonthlyReport
    from storage.filters import Filters


@game_filter_options
def report_command(
    context: typer.Context,
    filters: "Filters",
    month: Annotated[
        str | None, typer.Option(metavar="YYYY-MM", help="Month in UTC; by default, the current month.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to write; by default, stdout, which must not be a terminal."),
    ] = None,
) -> None:
    """Write a month's results, traps and trials as one HTML file.

    The file works offline and without scripts, and can be printed. Use --since and --until instead of --month
    for another period.
    """
    from bot.base.dialects import rating_list_of
    from bot.parts.document import document
    from bot.views.month import month_parts
    from storage.evidence.queries.trial_report import trial_verdicts
    from storage.evidence.statistics.monthly import monthly_report

    now = datetime.now(UTC)
    filters, title = _time_of(filters, month, now)

    async def read(database: "Database") -> "tuple[MonthlyReport, dict[str, TrialVerdict]]":
        async with database.read() as session:
            report = await monthly_report(session, filters, rating_list_of)
        return report, await trial_verdicts(database, [trial for trial, _ in report.trials], now)

    report, verdicts = ask_database(context, read)
    parts = month_parts(report, title, _selected(filters), now, verdicts)
    page = document(f"Desdemona: {title}", parts).encode()
    if out is None:
        if is_terminal():
            raise UsageError("--out: name a file; the report is not written to a terminal")
        sys.stdout.flush()
        sys.stdout.buffer.write(page)
        sys.stdout.buffer.flush()
        return
    try:
        write_atomically({out: page})
    except OSError as error:
        raise UsageError(f"--out: {out} cannot be written: {error.strerror}") from None
    print_note(f"{out}: {len(page):,} bytes")


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def _time_of(filters: "Filters", month: str | None, now: datetime) -> "tuple[Filters, str]":
    """The filters with the report's period set, and a title for the period."""
    if filters.since is not None or filters.until is not None:
        if month is not None:
            raise UsageError("--month: not with --since or --until")
        if filters.since is None:
            raise UsageError("--until: give --since, too")
        until = filters.until or now
        if until <= filters.since:
            raise UsageError("--until is before --since")
        since = filters.since.astimezone(UTC)
        return replace(filters, since=since, until=until), f"{since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M}"
    text = month or f"{now:%Y-%m}"
    match = re.fullmatch(r"([0-9]{4})-(0[1-9]|1[0-2])", text)
    if match is None or match[1] in ("0000", "9999"):
        raise UsageError(f"--month: {text!r} is not a month; use the form YYYY-MM")
    year, number = int(match[1]), int(match[2])
    since = datetime(year, number, 1, tzinfo=UTC)
    until = datetime(year + number // 12, number % 12 + 1, 1, tzinfo=UTC)
    if since <= now < until:  # days to come have no games, which is no news
        until = now
    return replace(filters, since=since, until=until), f"{since:%B %Y}"


def _selected(filters: "Filters") -> str:
    """Describe the filters, except the period."""
    from storage.evidence.queries.filter_language import filter_texts

    texts = filter_texts(replace(filters, since=None, until=None))
    return ", ".join(f"{name} {text}" for name, text in texts.items())
