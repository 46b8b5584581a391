"""`desdemona db prune`: shortens the records of decisions in old games."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from bot.base.rounding import plural
from bot.cli.common import UsageError, ask_database
from bot.cli.progress import show_progress
from storage.database import Database
from storage.maintenance.pruning import Pruning, count_old, prune

_UNIT_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def prune_command(
    context: typer.Context,
    keep_profiles: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Leave games younger than this unchanged, e.g. 90d, 12w, 6m (30-day months) or 1y.",
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Change the database; this cannot be undone.")] = False,
) -> None:
    """Shorten the records of old decisions; changes require --yes.

    Without --yes, the command only reports how much space would be freed.

    The profiles of moves that were not chosen are removed; the choice, its whole profile, the reply and all
    statistics remain. A shortened decision can no longer be recomputed; `db recheck` counts it as pruned. The
    command may run while the bot plays; you can stop it and run it again at any time.
    """
    before = _time_before(datetime.now(UTC), keep_profiles)

    async def work(database: Database) -> Pruning:
        with show_progress("decisions", await count_old(database, before)) as on_count:
            return await prune(database, before, really=yes, on_count=on_count)

    _print_result(ask_database(context, work), before, is_done=yes)


def _time_before(now: datetime, text: str) -> datetime:
    match = re.fullmatch(r"([0-9]{1,5})([dwmy])", text)
    if match is None:
        raise UsageError(f"--keep-profiles: {text!r} is not an age; write 90d, 12w, 6m or 1y")
    try:
        return now - timedelta(days=int(match[1]) * _UNIT_DAYS[match[2]])
    except OverflowError:
        raise UsageError(f"--keep-profiles: {text} is too long") from None


def _print_result(found: Pruning, before: datetime, *, is_done: bool) -> None:
    what = "pruned" if is_done else "would be pruned"
    print(
        f"games that ended before {before:%Y-%m-%d %H:%M} UTC: {plural(found.decisions, 'decision')} {what}"
    )
    print(f"their records: {found.bytes_before:,} bytes before, {found.bytes_after:,} after")
    left = {
        "already pruned": found.already,
        "with an incomplete profile, which `db recheck` completes": found.incomplete,
        "damaged, which `db recheck` names": found.damaged,
        "changed meanwhile": found.changed,
    }
    for reason, count in left.items():
        if count:
            print(f"left as they are: {count:,} {reason}")
    if not is_done:
        print("nothing was changed; --yes makes the change, which cannot be undone")
    elif found.decisions:
        print("`desdemona db vacuum` returns the space to the disk")
