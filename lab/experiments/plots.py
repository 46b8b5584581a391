"""Draws an experiment's charts."""

from pathlib import Path
from typing import Any

from lab.analysis.svg_files import svg_files
from lab.experiments.experiment_report import Chart

_MAX_TICKS = 12
_COLOURS = ("#1b6ca8", "#c8553d", "#5b8c5a", "#8d5b4c", "#e0a458", "#8a8a8a")


def draw(charts: tuple[Chart, ...], folder: Path, name: str) -> list[Path]:
    """Write the charts to a folder, creating it if needed.

    Raises:
        OSError: A file cannot be written.
    """
    with svg_files(folder) as (pyplot, write):
        return [write(_figure(pyplot, chart), f"{name}-{chart.name}") for chart in charts]


def _figure(pyplot: Any, chart: Chart) -> Any:
    figure, axes = pyplot.subplots(figsize=(4.8, 3.2))
    for line, colour in zip(chart.lines, _COLOURS * len(chart.lines), strict=False):
        x, y, low, high = zip(*line.marks, strict=True)
        axes.plot(x, y, marker="o", markersize=3, color=colour, label=line.name)
        if None not in low and None not in high:
            axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set(title=chart.title, xlabel=chart.x, ylabel=chart.y)
    axes.title.set_fontsize(8)
    places = sorted({mark[0] for line in chart.lines for mark in line.marks})
    if len(places) <= _MAX_TICKS and all(place.is_integer() for place in places):
        axes.set_xticks(places)  # plies are whole numbers
    # Below the axes, where it covers nothing.
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.18))
    return figure
