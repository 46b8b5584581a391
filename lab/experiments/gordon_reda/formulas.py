"""Gordon & Reda 2006, Figures 3, 4, 5 and 8: the printed and the corrected functions, and their values."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, ClassVar

from engine.trappy import scale, trappiness
from lab.experiments.experiment import Experiment, Job, Result, Size
from lab.experiments.experiment_report import Chart, ClaimVerdict, Line, PaperClaim, Report, Table

STEPS = 64
"""Number of points on a curve."""
FIGURE_4 = ((7, 7, 6, 6, 5, 6, 6), -12, 6)
"""A reply's shallow scores (median 6 in the paper), its score at full depth, and the move's raw value."""


def trappiness_minimising(upper: float, final: float, margin: float = 0) -> float:
    """Figure 3's column for the minimiser, with both scores from the point of view of the side that sets the
    trap.
    """
    return trappiness(-upper, -final, margin)


class Formulas(Experiment):
    """Evaluates the paper's functions."""

    name: ClassVar = "figures-3-to-5"
    title: ClassVar = "The trap arithmetic, as printed and as corrected"
    source: ClassVar = "Gordon & Reda 2006, Figures 3, 4, 5 and 8"
    version: ClassVar = "1"

    def jobs(self, size: Size) -> Sequence[Job]:  # noqa: ARG002 - as for every experiment
        """See `Experiment.jobs`."""
        return [Job("curves", {})]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:  # noqa: ARG002
        """The curves, each as a list of points, and the paper's worked numbers."""
        gaps = [5.0 * at / STEPS for at in range(STEPS + 1)]
        qualities = [2.5 * at / STEPS for at in range(STEPS + 1)]
        shallow, final, raw = FIGURE_4
        found = trappiness(median(shallow), final)
        profit = -final - raw
        return {
            "figure-3": [[gap, trappiness(1 + gap, 1)] for gap in gaps],
            "minimising": [[gap, trappiness_minimising(-1 - gap, -1)] for gap in gaps],
            "figure-5": [[quality, scale(quality, 1)] for quality in qualities],
            "figure-5-printed": [[quality, printed_scale(quality, 1)] for quality in qualities],
            "figure-4": [found, profit, profit * found],
            "figure-8": [400 + scale(60, 400), 400 + scale(0, 400), -50 + scale(100, -50)],
            "joints": [scale(0.25, 1), scale(0.25 + 1e-9, 1), scale(2 - 1e-9, 1), scale(2, 1)],
        }

    def report(self, results: Mapping[str, Result], size: Size) -> Report:  # noqa: ARG002
        """See `Experiment.report`."""
        found = results["curves"]
        t, profit, quality = found["figure-4"]
        e6, f5, c2 = found["figure-8"]
        joints = found["joints"]
        claims = (
            _claim(
                "Figure 4 (U = 6, M = -12): trappiness 0.792, profit 6, quality 4.75",
                (t, profit, quality),
                (0.792, 6, 4.75),
                5e-4,
            ),
            _claim(
                "Figure 8: E6 448, F5 400, C2 -37.5, if their traps have the qualities 60, 0 and 100 (not "
                "printed)",
                (e6, f5, c2),
                (448, 400, -37.5),
                1e-9,
            ),
            _claim(
                "Figure 5 is continuous at M/4 and 2M: 0.2 M and 0.25 M", joints, (0.2, 0.2, 0.25, 0.25), 1e-8
            ),
            PaperClaim(
                "Figure 5 as printed gives what the text says: never more than 25 % of the move's value",
                ClaimVerdict.FAILS,
                f"it jumps to {max(y for _, y in found['figure-5-printed']):.2f} M just above 0",
            ),
        )
        table = Table(
            "Figures 3 and 5 at some points (in units of M)",
            ("U - M or T", "trappiness", "bonus, corrected", "bonus, printed"),
            tuple(_row(at) for at in (0.1, 0.25, 0.5, 1.0, 1.75, 2.0, 4.0, 5.0)),
            "Corrected: 0.8 T up to M/4, then 0.2 M + 0.05 (T - M/4) / 1.75, and 0.25 M from 2M on. "
            "Printed: the first piece is the constant .2M / .25, the second has .2 instead of .2M and T - M "
            "instead of T - M/4, and the conditions are reversed.",
        )
        charts = (
            _chart("figure-3", "Figure 3: trappiness", "(U - M) / |M|", found, ("figure-3", "minimising")),
            _chart("figure-5", "Figure 5: bonus", "T / |M|", found, ("figure-5", "figure-5-printed")),
        )
        return Report(claims, (table,), charts)


def printed_scale(quality: float, raw: float) -> float:
    """The bonus as printed in Figure 5; its conditions are consistent only in this reading."""
    size = abs(raw)
    if quality <= 0:
        return 0.0
    if quality <= 0.25 * size:
        return 0.2 * size / 0.25
    if quality < 2 * size:
        return 0.2 + 0.05 * (quality - size) / 1.75
    return 0.25 * size


def _row(at: float) -> tuple[str, ...]:
    values: Sequence[Callable[[], float]] = (
        lambda: trappiness(1 + at, 1),
        lambda: scale(at, 1),
        lambda: printed_scale(at, 1),
    )
    return f"{at:g}", *(f"{value():.4f}" for value in values)


def _claim(says: str, found: Sequence[float], wanted: Sequence[float], within: float) -> PaperClaim:
    is_same = all(abs(ours - theirs) <= within for ours, theirs in zip(found, wanted, strict=True))
    return PaperClaim(
        says,
        ClaimVerdict.HOLDS if is_same else ClaimVerdict.FAILS,
        ", ".join(f"{each:.5g}" for each in found),
    )


def _chart(name: str, title: str, x: str, found: Result, curves: Sequence[str]) -> Chart:
    lines = tuple(Line(curve, tuple((a, b, None, None) for a, b in found[curve])) for curve in curves)
    return Chart(name, title, x, "share", lines)
