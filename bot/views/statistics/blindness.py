"""Whether a trial is blind: the difference in waits, and how well a classifier recognises the strategy."""

from bot.base.rounding import NO_VALUE
from bot.parts.values import Column, TablePart
from bot.text.blindness_text import blindness_finding
from bot.text.values_text import number, signed_number
from storage.evidence.inference.any_time import AnyTimeEstimate
from storage.evidence.inference.blindness import BlindnessReport


def blindness_table(report: BlindnessReport, arms: tuple[str, ...]) -> TablePart:
    """Build the table; `arms` are the two strategies, in the order of the comparison."""
    rows = (
        (f"mean wait for a move, {arms[0]} minus {arms[1]}", _seconds(report.wait)),
        ("games in which the strategy was guessed", number(max(0, report.games))),
        ("AUC of the guesses (0.5: chance)", NO_VALUE if report.auc is None else f"{report.auc:.2f}"),
        ("e-value against blindness (alarm: 1,000)", f"{report.e_value:.2g}"),
    )
    columns = (Column("", is_text=True), Column(""))
    return TablePart("Blindness", columns, rows, note=blindness_finding(report), style="facts")


def _seconds(found: AnyTimeEstimate) -> str:
    """A difference in seconds with its interval, valid at any time."""
    if found.mean is None or found.low is None or found.high is None:
        return f"too early: {found.too_early}" if found.n else NO_VALUE
    mean, low, high = (signed_number(each, 2) for each in (found.mean, found.low, found.high))
    return f"{mean} s ({low} to {high})"
