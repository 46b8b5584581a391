"""`desdemona stats --calibration`: formats how well the forecasts predicted errors.  Prints nothing."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from bot.cli.rich_tables import NONE
from bot.cli.stats.tables import ACROSS
from bot.text.values_text import difference_interval
from storage.evidence.inference.any_time import AnyTimeEstimate
from storage.evidence.inference.fixed import FixedInterval
from storage.evidence.statistics.calibrations import GroupCalibration
from storage.evidence.statistics.groups import flat_row

# The terminal wraps it, so it is one line.
_LEGEND = (
    "Errors in the replies that `desdemona stats` counts, beside the forecasts made without knowledge of "
    "the replies. Expected / happened: 1 is right; above it people err less than forecast. Line: logit P "
    "= a + b logit p; a = 0 and b = 1 are right, b below 1: the forecasts are too extreme. These three "
    "have 95 % intervals for one analysis, planned beforehand, by opponent. Drift: errors that happened less "
    "those forecast, in points of a hundred; its interval is valid under continuous monitoring. The alarm is "
    "raised when it excludes 0."
)


def calibration_view(found: Sequence[GroupCalibration]) -> RenderableType:
    """Tables with a column for each model, and a legend."""
    parts = [_table(found[start : start + ACROSS]) for start in range(0, len(found), ACROSS)]
    return Group(*parts, _LEGEND)


def calibration_rows(found: Sequence[GroupCalibration]) -> list[dict[str, Any]]:
    """Flat rows; nested names are joined by ``_``."""
    return [flat_row(asdict(each)) for each in found]


def _table(found: Sequence[GroupCalibration]) -> Table:
    table = Table(title="Forecasts of errors")
    table.add_column("")
    for each in found:
        table.add_column("\n".join(each.group.values()), justify="right")
    errors = [each.errors for each in found]
    rows = {
        "replies (opponents)": [f"{each.n} ({each.drift.persons})" for each in errors],
        "errors expected": [f"{each.expected:.1f}" for each in errors],
        "errors happened": [str(each.happened) for each in errors],
        "expected / happened": [_interval(each.ratio) for each in errors],
        "line: a": [_interval(each.intercept) for each in errors],
        "line: b": [_interval(each.slope) for each in errors],
        "drift": [_drift(each.drift) for each in errors],
        "alarm": [_alarm(each.drift) for each in errors],
    }
    for name, texts in rows.items():
        table.add_row(name, *texts)
    return table


def _interval(found: FixedInterval) -> str:
    """For instance ``1.42 (1.10 to 1.84)``."""
    if found.value is None:
        return NONE
    if found.low is None or found.high is None:
        return f"{found.value:.2f}, too early"
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def _drift(found: AnyTimeEstimate) -> str:
    return difference_interval(found.mean, found.low, found.high)


def _alarm(drift: AnyTimeEstimate) -> str:
    if drift.mean is None or drift.too_early is not None:
        return "too early"
    if not drift.excludes_zero:
        return "none"
    return "ALARM: people err more" if drift.mean > 0 else "ALARM: people err less"
