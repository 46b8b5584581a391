"""Plots a study's curves."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.analysis.study import ALONE, CALIBRATED, PredictorQuality, Study
from lab.analysis.svg_files import svg_files

_COLOURS = {CALIBRATED: "#1b6ca8", ALONE: "#5b8c5a"}
_HUMAN_COLOURS = ("#c8553d", "#e0a458", "#8d5b4c")
_OTHER = "#8a8a8a"


def draw(found: Study, folder: Path, name: str) -> list[Path]:
    """Write the plots (AUC, reliability, temptation by traps) to a folder, which is created if needed.

    Raises:
        OSError: A file cannot be written.
    """
    written = []
    with svg_files(folder) as (pyplot, write):
        for what, figure in (
            ("auc", _areas(pyplot, found)),
            ("reliability", _reliability(pyplot, found)),
            ("traps", _temptation(pyplot, found)),
        ):
            if figure is not None:
                written.append(write(figure, f"study-{name}-{what}"))
    return written


def _colours(found: Study) -> dict[str, str]:
    return {**_COLOURS, **dict(zip(found.human_models, _HUMAN_COLOURS, strict=False))}


def _plain(name: str) -> str:
    """Escape a name so that matplotlib does not read it as a formula."""
    return name.replace("$", r"\$")


def _areas(pyplot: Any, found: Study) -> Any:
    """Plot the AUC of each predictor with its interval."""
    sides = [
        ("which bad reply is played", found.bad_reply),
        ("which position provokes an error", found.error),
    ]
    sides = [(title, rows) for title, rows in sides if rows]
    if not sides:
        return None
    colours = _colours(found)
    figure, axes = pyplot.subplots(1, len(sides), figsize=(5 * len(sides), 4.2), squeeze=False)
    for axis, (title, rows) in zip(axes[0], sides, strict=True):
        ordered = sorted(rows, key=lambda row: row.auc.value)
        for at, row in enumerate(ordered):
            colour = colours.get(row.name, _OTHER)
            axis.plot([row.auc.low, row.auc.high], [at, at], color=colour, linewidth=2)
            axis.plot([row.auc.value], [at], "o", color=colour, markersize=4)
            if row.within is not None:
                axis.plot([row.within.value], [at], "o", color=colour, markersize=5, fillstyle="none")
        axis.set_yticks(range(len(ordered)), [_plain(row.name) for row in ordered])
        axis.axvline(0.5, color="#cccccc", linewidth=1, zorder=0)
        axis.set_xlim(0.4, 1.0)
        axis.set_xlabel("AUC, 95 % by persons; hollow: within positions")
        axis.set_title(title)
    figure.tight_layout()
    return figure


def _reliability(pyplot: Any, found: Study) -> Any:
    """Plot each model's predicted frequencies against the actual ones, by decile."""
    sides: list[tuple[str, Sequence[PredictorQuality]]] = [
        ("this bad reply is played", found.bad_reply),
        ("this position provokes an error", found.error),
    ]
    colours = _colours(found)
    drawn = [(title, [row for row in rows if row.name in colours]) for title, rows in sides]
    drawn = [(title, rows) for title, rows in drawn if rows]
    if not drawn:
        return None
    figure, axes = pyplot.subplots(1, len(drawn), figsize=(4.2 * len(drawn), 3.8), squeeze=False)
    for axis, (title, rows) in zip(axes[0], drawn, strict=True):
        most = 0.0
        for row in rows:
            bins = [each for each in row.curve if each.actual.share is not None]
            xs = [each.predicted for each in bins]
            ys = [each.actual.share or 0.0 for each in bins]
            lows = [
                0.0 if each.actual.low is None else y - each.actual.low
                for y, each in zip(ys, bins, strict=True)
            ]
            highs = [
                0.0 if each.actual.high is None else each.actual.high - y
                for y, each in zip(ys, bins, strict=True)
            ]
            colour = colours[row.name]
            axis.errorbar(
                xs,
                ys,
                yerr=[lows, highs],
                fmt="o-",
                color=colour,
                label=_plain(row.name),
                markersize=3,
                linewidth=1,
            )
            most = max(most, *xs, *ys, *(each.actual.high or 0.0 for each in bins))
        axis.plot([0, most], [0, most], color="#cccccc", linewidth=1, zorder=0)
        axis.set_xlabel("predicted")
        axis.set_ylabel("happened, 95 %")
        axis.set_title(title)
    axes[0][0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    return figure


def _temptation(pyplot: Any, found: Study) -> Any:
    """Plot how often traps and other replies of equal cost are played."""
    count = len(found.temptation)
    figure, axes = pyplot.subplots(1, count, figsize=(3 * count, 3), sharey=True)
    for axis, (name, rows) in zip(axes, found.temptation.items(), strict=True):
        for stop, colour, label in ((-0.1, "#c8553d", "traps"), (0.1, _OTHER, "others")):
            for at, row in enumerate(rows):
                each = row.trap if label == "traps" else row.other
                if each.share is None:
                    continue
                if each.low is not None and each.high is not None:
                    axis.plot([at + stop] * 2, [100 * each.low, 100 * each.high], color=colour, linewidth=2)
                axis.plot([at + stop], [100 * each.share], "o", color=colour, markersize=4)
            axis.plot([], [], "o", color=colour, markersize=4, label=label)
        axis.set_xticks(range(len(rows)), [f"{100 * row.low:.0f}-{100 * row.high:.0f}" for row in rows])
        axis.set_xlabel("cost, % of expected score")
        axis.set_title(name)
        axis.set_yscale("symlog", linthresh=0.1)
    axes[0].set_ylabel("% played")
    axes[0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    return figure
