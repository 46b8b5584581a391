"""Every experiment from its jobs to its report, smaller still than `--small`."""

import json
from typing import Any

import pytest

from bot.match.openings import Opening, random_opening
from engine.games import get_rules
from engine.search.reference import minimax
from engine.search.searchers import make_searcher
from lab.experiments import ablation, blog_400, deeper_search, opponent_depth, pathology, table_1
from lab.experiments.catalogue import EXPERIMENTS, get_experiment
from lab.experiments.experiment import Size
from lab.experiments.experiment_report import ClaimVerdict, report_json, report_text
from lab.experiments.full_strength import reach
from lab.experiments.gordon_reda import figure_6, figure_8, paper_on_strong, trap_replies
from lab.experiments.slides import IDEAS

FOUND = {
    "figure-6": "| trappy 3 | original 3 |",
    "figure-8": "| holds | move 4 of White: d2 for f2 |",
    "figure-9": "| Traps set | 198 |",
    "figures-3-to-5": "| 0.25 | 0.1875 | 0.2000 | 0.8000 |",
    "table-1": "| trappy:assessment=last,nodes=200 | standard:nodes=200 |",
    "opponent-depth": "| 5 | ",
    "pathology": "| 4 | 5 | 6 | 0.0228 | 0.0655 | 1.74e-66 |",
    "deeper-search": "| othello | 3 v 2 |",
    "blog-400": "| built-in estimate | +",
    "slides": "| move order | 20 | the same |",
    "paper-on-strong": "| trappy_strong | strong, nodes / 8 | +",
    "full-strength": "| othello v strong, uniform | exploit | ",
    "ablation": "| temptation for assessment | +",
}
"""Part of each report."""
HOLDS, FAILS, OPEN = ClaimVerdict.HOLDS, ClaimVerdict.FAILS, ClaimVerdict.INCONCLUSIVE
SLIDES = {
    "The 35^40 lines of a chess game outnumber the atoms in the universe": FAILS,
    "The game tree is a graph with joins but without cycles": FAILS,
    "In chess, pruning reduces 35 branches to 6": OPEN,  # from two positions
    "In Reversi it is best to have the fewest discs in the middlegame": OPEN,  # from few games
}
"""Verdicts on the slides, where they do not hold."""
ENDING = Opening("r3k3/8/8/8/8/8/8/R3K3 w - - 88 60", ())
"""Chess that the fifty moves end soon."""


@pytest.fixture
def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_6, "EQUAL", ((3, 3),))
    monkeypatch.setattr(figure_6, "SHALLOWER", ((3, 2),))
    monkeypatch.setattr(figure_6, "PLIES", 40)  # what is left of the games is short
    monkeypatch.setattr(figure_8, "DEPTH", 4)
    monkeypatch.setattr(table_1, "GAME", "connect4")  # its games are short
    monkeypatch.setattr(table_1, "_DEPTHS", {Size.SMALL: (2,)})
    monkeypatch.setattr(table_1, "_NODES", {Size.SMALL: (200,)})
    monkeypatch.setattr(paper_on_strong, "PLIES", 40)
    monkeypatch.setattr(paper_on_strong, "opening", lambda _: random_opening("othello", 7, 0, plies=40))
    monkeypatch.setattr(reach, "_SMALL_NODES", 20_000)
    monkeypatch.setattr(pathology, "BATCH", 2)
    monkeypatch.setattr(pathology, "_BOARDS", {Size.SMALL: 2})
    monkeypatch.setattr(deeper_search, "_ORACLE", {Size.SMALL: {"othello": 4}})
    monkeypatch.setattr(blog_400, "random_opening", lambda *_: ENDING)
    monkeypatch.setattr(blog_400, "_MATE_NODES", 200)
    late = random_opening("othello", 7, 0, plies=40)
    monkeypatch.setattr(ablation, "opening", lambda _: late)
    monkeypatch.setattr(trap_replies, "random_opening", lambda *_: late)
    monkeypatch.setattr(opponent_depth, "_PAIRS", {Size.SMALL: {"othello": 1}})


@pytest.mark.usefixtures("smaller")
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_jobs_and_report(name: str) -> None:
    experiment = get_experiment(name)
    assert experiment.name == name
    jobs = experiment.jobs(Size.SMALL)
    assert len({job.name for job in jobs}) == len(jobs)
    results = {job.name: experiment.run(job.arguments, 7) for job in jobs}
    assert json.loads(json.dumps(results)) == results
    report = experiment.report(results, Size.SMALL)
    assert FOUND[name] in report_text(report)
    if name == "slides":
        assert {each.says: each.verdict for each in report.claims if each.verdict is not HOLDS} == SLIDES
    json.dumps(report_json(report))
    assert experiment.run(jobs[-1].arguments, 7) == results[jobs[-1].name]
    if len(jobs) > 1:
        report_text(experiment.report({jobs[-1].name: results[jobs[-1].name]}, Size.SMALL))


@pytest.mark.parametrize(
    ("name", "found", "says", "never"),
    [
        ("minimax", {"slide": 5, "scores": [0, 0, 0, 7]}, "side is worth 0 and", "loses by force"),
        ("minimax", {"slide": 5, "scores": [0, 0, 0, 7]}, "search says 0 and 7", "the same"),
        ("bags", {"value": 1, "plain": 2, "seen": [1]}, "a different choice", "the same"),
        ("alpha-beta", {"plain": [1, 9, 0], "pruned": [2, 5, 1]}, "a different score", "the same"),
        ("move order", {"best": [1, 2, 3], "given": [1, 3, 4], "worst": [2, 4, 5]}, "scores differ", "none"),
        ("negascout", {"nodes": [9, 5], "best": [1, 2]}, "a different score", "the same"),
        (
            "exchanges",
            {"plain": ["e1e2"], "score": 7, "quiet": ["d2d6"], "quiet_score": 8, "core": "d2d6"},
            "with a quiescence search d2d6",
            "not played",
        ),
        ("horizon", {"plain": ["h1h2"], "quiet": 2, "costs": [1, 0, 0]}, "at depth 4 is h1h2", "seems"),
        (
            "transpositions",
            {"lines": 4, "positions": 4, "is_cycle": False, "depth": 2, "nodes": [1, 1]},
            "joins: no, 4 lines",
            "in chess lead back",
        ),
        (
            "library",
            {"move": "d2d4", "depths": [0, 4], "solved": [1, 2], "is_solved": False},
            "not solved, with a different score than",
            "plays e2e4",
        ),
        ("contempt", {"chosen": [["e7e6", 0], ["f6g8", 0]]}, "Black plays on (e7e6", "Black repeats"),
    ],
)
def test_a_slide_that_fails_says_nothing_that_would_hold(
    name: str, found: dict[str, Any], says: str, never: str
) -> None:
    verdict, words = next(idea for idea in IDEAS if idea.name == name).judge(found)
    assert verdict is FAILS
    assert says in words
    assert never not in words


def test_the_paper_s_numbers_are_verdicts() -> None:
    experiment = get_experiment("figures-3-to-5")
    verdicts = [
        claim.verdict for claim in experiment.report({"curves": experiment.run({}, 1)}, Size.FULL).claims
    ]
    assert verdicts == [ClaimVerdict.HOLDS, ClaimVerdict.HOLDS, ClaimVerdict.HOLDS, ClaimVerdict.FAILS]


def test_equal_searches_are_found_equal() -> None:
    assert table_1.equality(2, 1, 0) == {"value": True, "trappy": True}


def test_every_line_is_minimax() -> None:
    game, core = get_rules("tictactoe"), make_searcher("tictactoe", 1)
    position = game.for_search(game.play(game.initial(), game.legal_moves(game.initial())[1]))
    for depth in range(5):
        assert table_1.every_line(core, game, position, depth) == minimax(game, position, depth)


def test_first_moves_cost_nothing_at_the_judge_s_own_depth() -> None:
    costs = deeper_search.first_move_costs("connect4", 1, 0, 5)
    assert len(costs) == 4
    assert costs[-1] == 0
    assert min(costs) >= 0
