from collections.abc import Mapping

import numpy as np
import pytest

from lab.experiments.experiment import Size
from lab.experiments.experiment_report import ClaimVerdict, Report
from lab.experiments.gordon_reda.figure_6 import Figure6
from lab.experiments.matches import Cell, Games, MatchExperiment, paired

CELL = Cell("tictactoe", "standard:depth=2", "standard:depth=3", 7)


class Few(MatchExperiment):
    """Seven pairs of tic-tac-toe."""

    name = "few"
    title = source = version = "x"

    def cells(self, size: Size) -> list[Cell]:  # noqa: ARG002
        return [CELL]

    def report(self, results: object, size: Size) -> Report:
        raise NotImplementedError


def test_pairs_are_split_among_jobs_and_put_together_again() -> None:
    few = Few()
    jobs = few.jobs(Size.SMALL)
    assert [(job.arguments["first"], job.arguments["pairs"]) for job in jobs] == [(0, 5), (5, 2)]
    results = {job.name: few.run(job.arguments, 1) for job in jobs}
    games = few.games(results, Size.SMALL)[CELL.name]
    assert (len(games.single), len(games.points), len(games.margins)) == (14, 7, 0)
    assert games.score.value == pytest.approx(sum(points for points, _ in games.single) / 14)
    assert games.nodes[1] > games.nodes[0] > 0
    assert few.games({jobs[1].name: results[jobs[1].name]}, Size.SMALL)[CELL.name].tally.count("+") == 1
    assert few.games({}, Size.SMALL) == {}


def test_a_rating_that_is_not_known_has_no_limits() -> None:
    points, nothing = np.ones(3), np.array([])
    assert Games(points, nothing, nothing.astype(int), ((1.0, None),) * 6, (0, 0)).words()[2] == "-"


def won(points: float, margin: float, pairs: int) -> dict[str, object]:
    games = [[points, margin + number % 3, 60] for number in range(2 * pairs)]
    return {"games": games, "nodes": [10, 10], "moves": [1, 1]}


def one_sided(margins: Mapping[str, float]) -> Report:
    """Figure 6 with the same job of each match, and these margins by the start of its name."""
    experiment = Figure6()
    results = {}
    for cell in experiment.cells(Size.FULL):
        match = f"{cell.a} v {cell.b}"
        given = next((each for name, each in margins.items() if match.startswith(name)), None)
        if given is not None and cell.plies != 0:
            results[f"{cell.name}: pairs 5"] = won(0.0 if given < 0 else 1.0, given, 5)
    return experiment.report(results, Size.FULL)


def test_differences_are_of_the_openings_that_both_played() -> None:
    experiment = Figure6()
    a, b = (
        next(cell.name for cell in experiment.cells(Size.FULL) if cell.plies and cell.a == player)
        for player in ("trappy:decided=paper,depth=10", "standard:depth=10")
    )
    results = {f"{a}: pairs {first}": won(1.0, first, 5) for first in (0, 10)}
    results |= {f"{b}: pairs {first}": won(1.0, 4, 5) for first in (5, 10)}
    games = experiment.games(results, Size.FULL)
    found = paired(games[a], games[b])
    assert (found.value, found.n) == (6.0, 5)  # of the openings 10 to 14 only


def test_figure_6_reads_each_row_from_the_right_game() -> None:
    experiment = Figure6()
    results: dict[str, dict[str, object]] = {}
    for cell in experiment.cells(Size.FULL):
        if cell.plies == 0:
            more = 2 if cell.a.startswith("trappy:depth") else 0
            games = [[1.0, 10 + more, 60], [0.0, -20 - more, 60]]
            results[f"{cell.name}: pairs 0"] = {"games": games, "nodes": [10, 10], "moves": [1, 1]}
    rows = {row[0]: row[6:] for row in experiment.report(results, Size.FULL).tables[0].rows}
    # Black leads by 10 where A is black; A, white, trails by 20, so that Black has 42.
    assert rows["1"] == rows["4"] == ("37:27", "37:27")
    assert rows["2"] == ("37:27", "38:26")  # the last is the player with the default rule
    assert rows["3"] == rows["7"] == rows["21"] == ("42:22", "43:21")
    assert rows["6"] == ("42:22", "42:22")


def test_figure_6_plays_the_paper_s_options_first() -> None:
    cells = Figure6().cells(Size.FULL)
    assert (cells[0].a, cells[0].b) == ("trappy:decided=paper,depth=8", "standard:depth=8")
    assert [cell.a.startswith("trappy:depth") for cell in cells] == [False] * 21 + [True] * 12
    assert not any(cell.a.startswith("trappy:depth") for cell in Figure6().cells(Size.SMALL))


def test_figure_6_s_claims_are_about_the_paper_s_options() -> None:
    report = one_sided(
        {"trappy:decided=paper,depth=8 v standard:depth=8": -5, "trappy:decided=paper": 8, "trappy": -40,
         "standard": 4}
    )  # fmt: skip
    verdicts = {claim.says.split(", trappy")[0]: claim.verdict for claim in report.claims}
    assert verdicts["(a) At equal depth (8)"] is ClaimVerdict.HOLDS
    assert verdicts["(a) At equal depth (9)"] is ClaimVerdict.FAILS
    assert verdicts["(b) Against a shallower opponent (9 v 7)"] is ClaimVerdict.HOLDS
    count, cases, first = report.claims[:3]
    assert (count.verdict, count.found) == (
        ClaimVerdict.FAILS,
        "by the paper's table, trappy won 3 of 6 (9, 16, 17)",
    )
    assert (cases.verdict, cases.found) == (
        ClaimVerdict.INCONCLUSIVE,
        "4 of 6 rows (5, 12, 19, 21): 66.7 (30.0 to 90.3) %",
    )
    assert first.found.endswith("; 10 of 200 games")
    assert "better in 5 of 5, worse in 0" in report.claims[-1].found
    assert [line.name for line in report.charts[0].lines] == [
        "trappy minus standard, the paper's options",
        "trappy minus standard, the default rule",
    ]
    rules = report.tables[-1].rows
    assert (rules[0][:3], rules[0][3][:5]) == (("8", "8", "10"), "+35.0")
    nothing = Figure6().report({}, Size.FULL)
    assert {(claim.verdict, claim.found) for claim in nothing.claims[2:]} == {
        (ClaimVerdict.INCONCLUSIVE, "not played")
    }
