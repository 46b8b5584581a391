"""The table of `desdemona stats --calibration`."""

from dataclasses import replace

import pytest

from bot.base.rounding import NO_VALUE
from bot.parts.values import TableCell
from bot.views.statistics.calibration import calibration_table
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
        replace(REPLY, game_id=game.id, cost=(game.id % 5 < 2) / 2, error_expected=forecast) for game in games
    ]
    (row,) = calibration_table(calibrations_by_reply(games, replies)).rows
    replies_told, expected, happened, ratio, a, _, _, said = row[1:]
    assert replies_told == TableCell("1,000", "199 opponents")
    assert (expected, happened, said) == (f"{1000 * forecast:.1f}", "400", alarm)
    assert str(ratio).startswith(f"{forecast / 0.4:.2f} (")
    assert str(ratio).endswith(")")
    assert a == NO_VALUE  # one probability determines no line


def test_few_people_have_no_interval() -> None:
    games = [replace(GAME, id=number, person=number % 29) for number in range(290)]
    replies = [
        replace(REPLY, game_id=game.id, cost=(game.id % 5 < 2) / 2, error_expected=0.2 + game.id % 3 / 10)
        for game in games
    ]
    (row,) = calibration_table(calibrations_by_reply(games, replies)).rows
    assert all(str(each).endswith(", too early") for each in row[4:7])
