import numpy as np
import pytest

from bot.experiments.experiment import Size
from bot.experiments.gordon_reda.figure_6 import Figure6
from bot.experiments.matches import Cell, MatchExperiment, paired
from bot.experiments.report import ClaimVerdict, Report

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


def test_differences_are_of_the_openings_that_both_played() -> None:
    found = paired(np.array([3.0, 5.0, 9.0]), np.array([1.0, 1.0]))
    assert (found.value, found.n) == (3.0, 2)


def won(points: float, margin: int, pairs: int) -> list[list[float]]:
    return [[points, margin + number % 3, 60] for number in range(2 * pairs)]


def test_figure_6_reads_each_row_from_the_right_game() -> None:
    experiment = Figure6()

    def result(games: list[list[float]]) -> dict[str, object]:
        return {"games": games, "nodes": [10, 10], "moves": [1, 1]}

    results = {}
    for cell in experiment.cells(Size.FULL):
        if cell.plies == 0:
            results[f"{cell.name}: pairs 0"] = result([[1.0, 10, 60], [0.0, -20, 60]])
        else:
            margin = 8 if cell.a.startswith("trappy") else 4
            if cell.b.endswith(cell.a[-2:]):
                margin = -5
            results[f"{cell.name}: pairs 0"] = result(won(1.0, margin, 5))
    report = experiment.report(results, Size.FULL)
    printed = {row[0]: row[6] for row in report.tables[0].rows}
    # Black leads by 10 where A is black; A, white, trails by 20, so that Black has 42.
    assert (printed["1"], printed["2"], printed["3"], printed["6"], printed["7"], printed["21"]) == (
        "37:27", "37:27", "42:22", "42:22", "42:22", "42:22",
    )  # fmt: skip
    verdicts = [claim.verdict for claim in report.claims]
    assert verdicts[:3] == [ClaimVerdict.HOLDS] * 3
    assert verdicts[3:] == [ClaimVerdict.HOLDS] * 3
