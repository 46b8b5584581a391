"""Writes matplotlib figures as small, reproducible SVG files; matplotlib comes with the extra ``lab``."""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def svg_files(folder: Path) -> Iterator[tuple[Any, Callable[[Any, str], Path]]]:
    """Return matplotlib's `pyplot` and a function that writes a figure to the folder, creating it if needed.

    Raises:
        OSError: A file cannot be written.
    """
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    folder.mkdir(parents=True, exist_ok=True)

    def write(figure: Any, name: str) -> Path:
        path = folder / f"{name}.svg"
        figure.savefig(path, metadata={"Date": None, "Creator": None}, bbox_inches="tight")
        pyplot.close(figure)
        return path

    with matplotlib.rc_context({"svg.hashsalt": "desdemona", "font.size": 9, "svg.fonttype": "none"}):
        yield pyplot, write
