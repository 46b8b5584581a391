"""Builds a table that shows how accurately each model forecasts errors."""

from collections.abc import Sequence

from bot.base.rounding import NO_VALUE, plural
from bot.parts.values import Column, TableCell, TablePart
from bot.text.values_text import number
from bot.views.statistics.groups import points
from storage.evidence.inference.any_time import AnyTimeEstimate
from storage.evidence.inference.fixed import FixedInterval
from storage.evidence.statistics.calibrations import GroupCalibration

_HEADS = (
    "Replies",
    "Errors expected",
    "Errors happened",
    "Expected / happened",
    "Line: a",
    "Line: b",
    "Drift",
)
_NOTE = (
    "Errors in the replies that `desdemona stats` counts, compared with forecasts made before the replies "
    "were known. Expected / happened: 1 is ideal; above 1, people err less than forecast. Line: logit P = a "
    "+ b logit p; a = 0 and b = 1 are ideal; if b is below 1, the forecasts are too extreme. The ratio, "
    "a and b have 95 % intervals, clustered by opponent and valid at one planned analysis. Drift: actual "
    "minus forecast errors, in percentage points; its interval is valid under continuous monitoring. An "
    "alarm is raised when the interval excludes 0."
)


def calibration_table(groups: Sequence[GroupCalibration]) -> TablePart:
    """Build a table with a row for each model."""
    columns = (Column("Group", is_text=True), *map(Column, _HEADS), Column("Alarm", is_text=True))
    rows: list[tuple[TableCell | str, ...]] = []
    for each in groups:
        found = each.errors
        rows.append(
            (
                ", ".join(each.group.values()),
                TableCell(number(found.n), plural(found.drift.persons, "opponent")),
                number(found.expected, 1),
                number(found.happened),
                *map(_interval, (found.ratio, found.intercept, found.slope)),
                points(found.drift),
                _alarm(found.drift),
            )
        )
    return TablePart("Forecasts of errors", columns, tuple(rows), _NOTE)


def _interval(found: FixedInterval) -> str:
    """Format a value with its interval, for instance ``1.42 (1.10 to 1.84)``."""
    if found.value is None:
        return NO_VALUE
    if found.low is None or found.high is None:
        return f"{found.value:.2f}, too early"
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def _alarm(drift: AnyTimeEstimate) -> str:
    if drift.mean is None or drift.too_early is not None:
        return "too early"
    if not drift.excludes_zero:
        return "none"
    return "ALARM: people err more" if drift.mean > 0 else "ALARM: people err less"
