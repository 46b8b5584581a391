"""Draws an experiment's charts as small, reproducible SVG files; matplotlib is in the extra ``fit``."""

import importlib
from pathlib import Path
from typing import Any

from bot.experiments.report import Chart

EXTRA = "fit"
_COLOURS = ("#1b6ca8", "#c8553d", "#5b8c5a", "#8d5b4c", "#e0a458", "#8a8a8a")


class NoCharts(Exception):
    """matplotlib is not installed; the message says how to install it."""


def draw(charts: tuple[Chart, ...], folder: Path, name: str) -> list[Path]:
    """Write the charts to a folder, created if needed.

    Raises:
        NoCharts: matplotlib is not installed.
        OSError: A file cannot be written.
    """
    try:
        matplotlib: Any = importlib.import_module("matplotlib")
    except ImportError as error:
        raise NoCharts(
            f"drawing needs matplotlib: install the extra {EXTRA!r}, "
            f"`pip install 'desdemona[{EXTRA}]'` ({error})"
        ) from None
    matplotlib.use("Agg")
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with matplotlib.rc_context({"svg.hashsalt": "desdemona", "font.size": 9, "svg.fonttype": "none"}):
        for chart in charts:
            path = folder / f"{name}-{chart.name}.svg"
            figure = _figure(pyplot, chart)
            figure.savefig(path, metadata={"Date": None, "Creator": None}, bbox_inches="tight")
            pyplot.close(figure)
            written.append(path)
    return written


def _figure(pyplot: Any, chart: Chart) -> Any:
    figure, axes = pyplot.subplots(figsize=(4.8, 3.2))
    for line, colour in zip(chart.lines, _COLOURS * len(chart.lines), strict=False):
        x, y, low, high = zip(*line.points, strict=True)
        axes.plot(x, y, marker="o", markersize=3, color=colour, label=line.name)
        if None not in low and None not in high:
            axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set(title=chart.title, xlabel=chart.x, ylabel=chart.y)
    axes.title.set_fontsize(8)
    axes.legend(frameon=False)
    return figure
