"""What a trial's report says of its blindness."""

from dataclasses import replace

import pytest

from bot.text.blindness_text import blindness_finding
from bot.views.statistics.blindness import blindness_table
from storage.evidence.inference.any_time import AnyTimeEstimate, estimate
from storage.evidence.inference.blindness import BlindnessReport
from storage.evidence.inference.trial import TrialTerms

ARMS = ("trappy", "standard")
DESIGN = TrialTerms().design(1000)
EARLY = estimate([0.5] * 4, [1, 2, 3, 4], DESIGN)
KNOWN = estimate([0.5, 0.25] * 100, [*range(200)], DESIGN)
BLIND = BlindnessReport(games=190, wait=KNOWN, auc=0.512, e_value=1.25, telling="longest waits")


@pytest.mark.parametrize(
    ("wait", "text"),
    [
        (EARLY, "too early: 4 of 100, P 4 of 30"),
        (estimate([], [], DESIGN), "\N{EN DASH}"),
        (KNOWN, "+0.38 s (+0.35 to +0.40)"),
    ],
)
def test_the_difference_in_waits(wait: AnyTimeEstimate, text: str) -> None:
    table = blindness_table(replace(BLIND, wait=wait), ARMS)
    assert table.rows[0] == ("mean wait for a move, trappy minus standard", text)
    assert [row[1] for row in table.rows[1:]] == ["190", "0.51", "1.2"]


def test_whether_the_strategy_can_be_recognised() -> None:
    assert blindness_finding(replace(BLIND, games=-3)).startswith("It is too early")
    assert blindness_finding(BLIND) == "Nothing that people see reveals the strategy so far."
    revealed = replace(BLIND, e_value=1000.0, auc=0.84)
    assert blindness_finding(revealed) == (
        "People can recognise the strategy, best from longest waits: in 190 games, a classifier reaches an "
        "AUC of 0.84. A blind trial is accused with a probability of at most 0.1%, however long it runs."
    )
    assert "best from" not in blindness_finding(replace(revealed, telling=""))
    assert blindness_table(revealed, ARMS).note == blindness_finding(revealed)
