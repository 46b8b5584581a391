"""Formats statistics as rich tables, or as rows of plain values.  Prints nothing."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from bot.base.rounding import percent
from bot.cli.rich_tables import NONE, performance_text
from bot.text.values_text import difference_interval
from storage.evidence.inference.any_time import AnyTimeEstimate
from storage.evidence.statistics.groups import Expected, GroupStatistics, flat_row

ACROSS = 4
"""Groups beside each other in a table."""

# The terminal wraps it, so it is one line.
_LEGEND = (
    "Replies in positions that were not decided, the first 50 games of each opponent. chance: of somebody "
    "who moves at random in the same positions; forecast: of people there, by the model of the game. An "
    "error costs 10 % of expected score or more. A bait is a likely error that looks at least as good as "
    "the best reply to a shorter search, confirmed by a longer one. Figure 9: the paper's traps (Gordon & "
    "Reda 2006), in expected score. Intervals (95 %) are valid under continuous monitoring, and allow for "
    "opponents who return; only that of the performance rating is valid for one analysis alone, and takes "
    "games as independent."
)


def groups_view(found: Sequence[GroupStatistics]) -> RenderableType:
    """Tables with a column for each group and a row for each number, and a legend."""
    parts = [_groups_table(found[start : start + ACROSS]) for start in range(0, len(found), ACROSS)]
    return Group(*parts, _LEGEND)


def _groups_table(found: Sequence[GroupStatistics]) -> Table:
    table = Table(title="Games and replies")
    table.add_column("")
    for each in found:
        table.add_column("\n".join(each.group.values()), justify="right")

    def add(name: str, values: Sequence[object], *, last: bool = False) -> None:
        table.add_row(name, *(str(value) for value in values), end_section=last)

    def add_expected(name: str, some: Sequence[Expected]) -> None:
        add(name, [percent(each.happened, 1) for each in some])
        add("  chance", [percent(each.chance, 1) for each in some])
        add("  forecast", [percent(each.model, 1) for each in some])
        add("  beyond chance", [_points(each.beyond_chance) for each in some])
        add("  beyond forecast", [_points(each.beyond_model) for each in some], last=True)

    add("games (opponents)", [f"{each.games} ({each.persons})" for each in found])
    add("won / drawn / lost", [f"{each.wins} / {each.draws} / {each.losses}" for each in found])
    add("unfinished", [each.unfinished for each in found])
    add("performance rating", [performance_text(each.performance) for each in found], last=True)
    add("replies judged", [each.replies for each in found])
    add("  optimal", [_part(each.optimal, each.replies) for each in found])
    add("in decided positions", [each.decided for each in found], last=True)
    add_expected("errors", [each.errors for each in found])
    add_expected("mean cost of a reply", [each.cost for each in found])
    add("baits answered", [each.baits_set for each in found])
    add_expected("bait taken", [each.baits for each in found])
    add("Figure 9: traps answered", [each.traps_set for each in found])
    add("  optimal", [each.traps_optimal for each in found])
    add("  fell", [each.traps_fell for each in found])
    add("    into the best trap", [each.traps_fell_for_best for each in found])
    add("  erred elsewhere", [each.traps_erred_elsewhere for each in found])
    add_expected("fell", [each.falls for each in found])
    return table


def group_rows(found: Sequence[GroupStatistics]) -> list[dict[str, Any]]:
    """Flat rows; nested names are joined by ``_``."""
    return [flat_row(asdict(each)) for each in found]


def _points(found: AnyTimeEstimate) -> str:
    return difference_interval(found.mean, found.low, found.high)


def _part(count: int, of: int) -> str:
    return NONE if not of else f"{count} = {percent(count / of, 1)}"
