"""What estimates say of a claim, and the verdicts of reports that rest on several of them."""

from typing import Any

import numpy as np
import pytest

from lab.experiments.deeper_search import DeeperSearch
from lab.experiments.estimates_text import (
    MeanEstimate,
    in_points,
    mean_of,
    percent,
    share_percent,
    verdict_above,
    with_interval,
)
from lab.experiments.experiment import Result, Size
from lab.experiments.experiment_report import ClaimVerdict
from lab.experiments.matches import paired_jobs
from lab.experiments.table_1 import Table1
from storage.evidence.intervals import share

HOLDS, FAILS, OPEN = ClaimVerdict.HOLDS, ClaimVerdict.FAILS, ClaimVerdict.INCONCLUSIVE
SURE, LOW, UNSURE = (
    MeanEstimate(*each, 9) for each in ((1.0, 0.9, 1.1), (0.2, 0.1, 0.3), (1.2, -10.6, 13.0))
)


@pytest.mark.parametrize(
    ("found", "level", "verdict"),
    [
        ((SURE, LOW), 0.0, HOLDS),
        ((SURE, UNSURE), 0.0, OPEN),  # the smaller value is sure, the greater is not
        ((SURE, LOW), 0.1, OPEN),
        ((SURE, LOW), 0.5, FAILS),  # one is enough
        ((UNSURE, LOW), 0.5, FAILS),
        ((), 0.0, OPEN),
    ],
)
def test_every_estimate_must_be_above(
    found: tuple[MeanEstimate, ...], level: float, verdict: ClaimVerdict
) -> None:
    assert verdict_above(found, level) is verdict


def test_estimates_without_an_interval() -> None:
    nothing, one, two = (mean_of(np.arange(1.0, n + 1)) for n in range(3))
    assert [each.has_interval for each in (nothing, one, two)] == [False, False, True]
    assert [with_interval(each, 1, 1) for each in (nothing, one, -one)] == ["-", "1.0", "-1.0"]
    assert in_points(two) == "+150.0 (-485.3 to +785.3)"
    assert percent(mean_of(np.array([1.0, 1.0, 0.5]))) == "83.3 (11.6 to 100.0)"  # no share is greater
    assert verdict_above((one,), 0.0) is OPEN
    assert [share_percent(share(n, 2 * n)) for n in (0, 50)] == ["-", "50.0 (40.4 to 59.6)"]


def test_jobs_are_paired_when_every_player_has_played() -> None:
    results: dict[str, Result] = {"a 0": {"of": "a"}, "b 0": {"of": "b"}, "a 5": {}}
    assert paired_jobs(results, {"b": "b 0", "a": "a 0"}) == {"b": {"of": "b"}, "a": {"of": "a"}}
    assert paired_jobs(results, {"a": "a 5", "b": "b 5"}) == {}


def games(points: float, pairs: int, lost: int = 0) -> dict[str, Any]:
    """Pairs in which A scores so much, and some that A loses."""
    won = [[[points, None, 9]] * 2] * pairs + [[[0.0, None, 9]] * 2] * lost
    return {"games": [game for pair in won for game in pair], "nodes": [9, 9], "moves": [1, 1]}


@pytest.mark.parametrize(
    ("won", "lost", "verdict"), [(60, 40, HOLDS), (54, 46, OPEN), (46, 54, OPEN), (40, 60, FAILS)]
)
def test_trappy_beats_plain_alpha_beta_from_half_the_points_on(
    won: int, lost: int, verdict: ClaimVerdict
) -> None:
    experiment = Table1()
    cell = experiment.cells(Size.FULL)[0].name
    report = experiment.report({f"{cell}: pairs 0": games(1.0, won, lost)}, Size.FULL)
    [claim] = [each for each in report.claims if each.says.startswith("Trappy beats")]
    assert claim.verdict is verdict
    assert claim.found.endswith("; the paper's cells: 62 to 69 %")
    text = report.claims[0]
    assert (text.verdict, "the table 64.9, 64.7, 68.0, 65.9 %" in text.found) == (FAILS, True)


def deeper(scores: list[tuple[int, int]], costs: list[list[float]]) -> dict[str, ClaimVerdict]:
    """Verdicts on Othello, from pairs won and lost at depths from 3 v 2 on, and costs of first moves."""
    experiment = DeeperSearch()
    cells = [cell.name for cell in experiment.cells(Size.FULL)]
    results = {f"{cell}: pairs 0": games(1.0, *each) for cell, each in zip(cells, scores, strict=False)}
    results["othello: first moves 0, judged at depth 4"] = {"costs": costs}
    claims = experiment.report(results, Size.FULL).claims
    return {claim.says.split(":")[0]: claim.verdict for claim in claims}


def test_deeper_search_must_win_and_gain_at_each_depth() -> None:
    sure = [[0.3 + at % 2 / 100, 0.2, 0.1 - at % 2 / 100] for at in range(20)]
    unsure = [[each[0] + 9 * (-1) ** at, *each[1:]] for at, each in enumerate(sure)]  # the greater step
    worse = [[0.3, 0.1 + at % 2 / 100, 0.2] for at in range(20)]
    wins, gains = "Deeper search plays better", "Each further ply finds better first moves"
    for scores, costs, of_wins, of_gains in (
        ([(60, 9), (50, 9)], sure, HOLDS, HOLDS),
        ([(60, 9), (10, 9)], unsure, OPEN, OPEN),
        ([(60, 9), (9, 60)], worse, FAILS, FAILS),
    ):
        found = deeper(scores, costs)
        assert (found[wins], found[gains]) == (of_wins, of_gains)
