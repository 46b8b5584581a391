"""Whether a strategy can be recognised, in words."""

from dataclasses import replace

from bot.text.blindness_text import blindness_finding
from storage.evidence.inference.any_time import estimate
from storage.evidence.inference.blindness import BlindnessReport
from storage.evidence.inference.trial import TrialTerms

WAIT = estimate([], [], TrialTerms().design(1000))
BLIND = BlindnessReport(games=190, wait=WAIT, auc=0.512, e_value=1.25, best_feature="longest waits")


def test_whether_the_strategy_can_be_recognised() -> None:
    assert blindness_finding(replace(BLIND, games=-3)).startswith("It is too early")
    assert blindness_finding(BLIND) == "Nothing that people see reveals the strategy so far."
    revealed = replace(BLIND, e_value=1000.0, auc=0.84)
    assert blindness_finding(revealed) == (
        "People can recognise the strategy, best from longest waits: in 190 games, a classifier reaches an "
        "AUC of 0.84. A blind trial is accused with a probability of at most 0.1%, however long it runs."
    )
    assert "best from" not in blindness_finding(replace(revealed, best_feature=""))
