"""The table of `desdemona stats --calibration`."""

import io
from dataclasses import replace

import pytest
from bot.cli.stats.calibration import calibration_view
from rich.console import Console

from tests.storage.evidence.statistics.by_reply import calibrations_by_reply
from tests.storage.evidence.statistics.test_group_sums import GAME, REPLY


@pytest.mark.parametrize(
    ("forecast", "alarm"),
    [(0.2, "ALARM: people err more"), (0.4, "none"), (0.6, "ALARM: people err less")],
)
def test_drift_raises_the_alarm(forecast: float, alarm: str) -> None:
    """Errors in two replies of five."""
    games = [replace(GAME, id=number, person=number % 199) for number in range(1000)]
    replies = [
        replace(REPLY, game_id=game.id, erred=game.id % 5 < 2, error_expected=forecast) for game in games
    ]
    out = io.StringIO()
    Console(file=out, width=200).print(calibration_view(calibrations_by_reply(games, replies)))
    lines = {" ".join(line.replace("│", " ").split()) for line in out.getvalue().splitlines()}
    assert {"replies (opponents) 1000 (199)", "errors happened 400", f"alarm {alarm}"} <= lines
    assert f"errors expected {1000 * forecast:.1f}" in lines
    (ratio,) = (line for line in lines if line.startswith("expected / happened"))
    assert ratio.startswith(f"expected / happened {forecast / 0.4:.2f} (")
    assert ratio.endswith(")")
    assert "line: b -" in lines  # one probability determines no line


def test_few_people_have_no_interval() -> None:
    games = [replace(GAME, id=number, person=number % 29) for number in range(290)]
    replies = [
        replace(REPLY, game_id=game.id, erred=game.id % 5 < 2, error_expected=0.2 + game.id % 3 / 10)
        for game in games
    ]
    out = io.StringIO()
    Console(file=out, width=200).print(calibration_view(calibrations_by_reply(games, replies)))
    lines = [" ".join(line.replace("│", " ").split()) for line in out.getvalue().splitlines()]
    for name in ("expected / happened", "line: a", "line: b"):
        (line,) = (line for line in lines if line.startswith(name))
        assert line.endswith(", too early")
