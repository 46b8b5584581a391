"""Progress of a long command, on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bot.base.log import printable
from bot.cli.common import print_note


@contextmanager
def show_progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show progress on standard error: a bar on a terminal, otherwise a line for every 10 %."""
    what = printable(what)
    console = Console(stderr=True, markup=False, highlight=False)
    if not console.is_terminal:
        yield _report_tenths(what, total)
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda more: bar.advance(task, more)


def _report_tenths(what: str, total: int | None) -> Callable[[int], None]:
    count = reported = 0

    def on_count(more: int) -> None:
        nonlocal count, reported
        count += more
        if total and count * 10 // total > reported:
            reported = count * 10 // total
            print_note(f"{what}: {count} of {total}")

    return on_count
