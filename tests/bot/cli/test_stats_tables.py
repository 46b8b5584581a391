"""The tables of `stats`: their legends."""

from itertools import pairwise

import pytest
from bot.cli.stats.calibration import calibration_view
from bot.cli.stats.tables import groups_view
from rich.console import Console


@pytest.mark.parametrize("width", [60, 80, 100])
def test_legends_are_wrapped_once(width: int) -> None:
    """No word of a line would have fitted on the one before."""
    for view in (groups_view([]), calibration_view([])):
        console = Console(width=width, markup=False)
        with console.capture() as capture:
            console.print(view)
        shown = [line.rstrip() for line in capture.get().splitlines()]
        assert len(shown) > 3
        assert all(len(line) + 1 + len(after.split()[0]) > width for line, after in pairwise(shown))
