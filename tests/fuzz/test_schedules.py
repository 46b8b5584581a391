"""The bot against the simulated Lichess and GGS, under fixed schedules of faults."""

import pytest

from tests.fuzz import ggs_play
from tests.fuzz.play import play, play_acts

FOUND = (42, 47, 54, 110)
"""Schedules that found faults of the bot: streams refused with 400, and retried too late after a 404."""


@pytest.mark.parametrize("seed", [*range(24), *FOUND])
def test_what_must_hold_whatever_fails(seed: int) -> None:
    outcome = play(seed)
    assert not outcome.violations, "\n".join([*map(str, outcome.faults), *outcome.story])


@pytest.mark.parametrize("seed", range(12))
def test_every_act_has_its_effect_whatever_is_answered(seed: int) -> None:
    """Between them, the bot aborts, claims, resigns, and answers draws and takebacks."""
    outcome = play_acts(seed)
    assert not outcome.violations, "\n".join([*map(str, outcome.faults), *outcome.story])


def test_the_same_seed_gives_the_same_run() -> None:
    assert play(7).story == play(7).story


@pytest.mark.parametrize("seed", [26, 35, 42, 77])
def test_what_must_hold_at_ggs(seed: int) -> None:
    """Between them these short schedules have faults at every place, and most kinds of them."""
    outcome = ggs_play.play(seed)
    assert not outcome.violations, "\n".join([*map(str, outcome.faults), *outcome.story])
