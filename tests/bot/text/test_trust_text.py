"""The sentences on trust."""

import pytest

from bot.base.rounding import percent
from bot.text.trust_text import trust_text
from engine.opponents.exploit_value import MIN_ANALYSIS_TRUST
from engine.opponents.trust import UNKNOWN, ExploitFacts

PLAYS_BEST = f" Below {percent(MIN_ANALYSIS_TRUST)} the bot plays the best moves, whatever the model says."


@pytest.mark.parametrize(
    ("facts", "rating", "says"),
    [
        (None, 1500, f"Trust 50 %: nothing is known of this person yet.{PLAYS_BEST}"),
        (
            ExploitFacts(UNKNOWN, 0.0, UNKNOWN),
            1500,
            f"Trust 50 %: nothing is known of this person yet.{PLAYS_BEST}",
        ),
        (
            ExploitFacts(0.44, 9.0, UNKNOWN, 21, -0.2),
            1500,
            "Trust 44 % (50 % before): over 21 replies the moves fit good play better than the model of a "
            f"person rated 1500.{PLAYS_BEST}",
        ),
        (
            ExploitFacts(0.98, 0.0, 0.98, 1, 0.5),  # its limit
            None,
            "Trust 98 % (98 % before): over 1 reply the moves fit the model of people better than good play.",
        ),
        (
            # From the limit, the last of four replies counts in full; together they speak for the model.
            ExploitFacts(0.83, 0.0, 0.9, 4, 4.6),
            None,
            "Trust 83 % (90 % before): over 4 replies the moves fit the model of people better than good "
            "play.",
        ),
        (
            ExploitFacts(0.1, 0.0, 0.1, 0),
            None,
            f"Trust 10 %, as after an earlier game: no reply says more yet.{PLAYS_BEST}",
        ),
    ],
)
def test_people(facts: ExploitFacts | None, rating: int | None, says: str) -> None:
    assert trust_text(facts, is_bot=False, rating=rating) == says


def test_programs() -> None:
    simulated = trust_text(ExploitFacts(0.8, 0.0, 0.5, 3, 1.4), is_bot=True, rating=None)
    assert simulated.startswith("Trust 80 % (50 % before)")
    said = trust_text(ExploitFacts(0.0, 0.0), is_bot=True, rating=2700)
    assert said == "Trust 0 %: the site says that this is a program."
