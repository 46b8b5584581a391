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
BLIND = BlindnessReport(games=190, wait=KNOWN, auc=0.512, e_value=1.25, best_feature="longest waits")


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


def test_the_note_is_the_finding() -> None:
    for e_value in (1.0, 1000.0):
        report = replace(BLIND, e_value=e_value)
        assert blindness_table(report, ARMS).note == blindness_finding(report)
