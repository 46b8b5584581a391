"""The parts of the trap arithmetic, each replaced, and what they add to replies that people made."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.decision import Candidate, ReplyProfile
from engine.params import TrapParams
from engine.strategies.registry import strategy_named
from engine.trappy import with_trap
from lab.experiments import ablation, ablation_replies, given_games
from lab.experiments.ablation import ARMS, COST, PAPER, TEMPTATION, Ablation, chosen
from lab.experiments.ablation_replies import COLUMNS, PARTS, PRIMARY, gains
from lab.experiments.estimates_text import MeanEstimate
from lab.experiments.experiment import Size
from lab.experiments.experiment_report import ClaimVerdict

PARAMS = TrapParams()
SOME = (PRIMARY, "rank at depth 2")
SCALE = 500.0


def move(name: str, *replies: tuple[int, ...]) -> Candidate:
    profiles = tuple(ReplyProfile(f"{name}{at}", scores) for at, scores in enumerate(replies))
    raw = min(scores[-1] for scores in replies)
    return with_trap(Candidate(name, raw, False, 0.0, replies=profiles, complete=True), PARAMS)


TABLE = (
    move("safe", (300, 300, 300), (310, 310, 310)),
    # It looks bad for us at first, and costs a little; but another reply looks better still.
    move("paper", (280, 280, 280), (250, 270, 900), (-900, -900, 280)),
    # The same, and nothing looks better.
    move("tempting", (270, 270, 270), (150, 160, 900)),
)


def test_the_paper_s_arm_is_the_paper_s_choice() -> None:
    assert chosen(TABLE, PARAMS, PAPER, SCALE) == strategy_named("trappy").best_move(TABLE, PARAMS)


def test_temptation_counts_replies_that_look_better_than_the_best() -> None:
    hidden = move("hidden", (290, 290, 290), (300, 300, 900))  # never looks better than the best reply
    assert chosen((TABLE[0], hidden), PARAMS, PAPER, SCALE) == "hidden"
    assert chosen((TABLE[0], hidden), PARAMS, TEMPTATION, SCALE) == "safe"
    assert chosen((TABLE[0], TABLE[2]), PARAMS, TEMPTATION, SCALE) == "tempting"


def test_an_expected_cost_counts_replies_as_often_as_they_are_expected() -> None:
    many = [(0, 0, 900)] + [(295, 295, 295)] * 3  # tempting enough
    rare = [(300, 280, 900)] + [(100, 100, 295)] * 20  # twenty replies look better
    for profiles, wanted in ((many, "trap"), (rare, "safe")):
        table = (TABLE[0], move("trap", *profiles))
        assert chosen(table, PARAMS, PAPER, SCALE) == "trap"
        assert chosen(table, PARAMS, COST, SCALE) == wanted


def test_lost_positions_are_swindled_in_every_arm() -> None:
    lost = [replace(each, raw_centi=-100_500) for each in TABLE]
    assert {chosen(lost, PARAMS, arm, SCALE) for arm in ARMS} == {chosen(lost, PARAMS, PAPER, SCALE)}


def recorded(much: float, count: int = 400) -> dict[str, Any]:
    """Replies of sixty persons who like trappiness so much, and are otherwise indifferent."""
    rng = np.random.default_rng(5)
    columns = {name: rng.normal(size=3 * count) for name in COLUMNS}
    weights = np.exp(much * columns[PRIMARY]).reshape(-1, 3)
    played = [int(rng.choice(3, p=each / each.sum())) for each in weights]
    return {
        "persons": [f"person {at % 60}" for at in range(count)],
        "counts": [3] * count,
        "played": played,
        "columns": {name: values.tolist() for name, values in columns.items()},
    }


@pytest.mark.parametrize(("much", "verdict"), [(1.0, ClaimVerdict.HOLDS), (0.0, ClaimVerdict.FAILS)])
def test_the_endpoint_is_the_gain_of_the_paper_s_trappiness(
    much: float, verdict: ClaimVerdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ablation, "MIN_USEFUL_GAIN_NATS", 0.05)  # few replies
    monkeypatch.setattr(ablation_replies, "PARTS", {name: PARTS[name] for name in SOME})
    monkeypatch.setattr(ablation, "PARTS", {name: PARTS[name] for name in SOME})
    parts = {"replies: chess 0": recorded(much)}
    report = Ablation().report(parts, Size.FULL)
    [claim] = report.claims
    assert claim.verdict is verdict
    assert "400 replies by 60 persons" in claim.found
    assert [row[0] for row in report.tables[0].rows] == list(SOME)


@pytest.mark.parametrize(
    ("low", "high", "verdict", "words"),
    [
        (0.005, 0.009, ClaimVerdict.HOLDS, "worth having"),
        (0.001, 0.003, ClaimVerdict.FAILS, "measurable, but not worth having"),
        (-0.001, 0.003, ClaimVerdict.FAILS, "not measurable, and not worth having"),
        (0.001, 0.005, ClaimVerdict.INCONCLUSIVE, "measurable; unclear whether it is worth having"),
        (
            -0.001,
            0.009,
            ClaimVerdict.INCONCLUSIVE,
            "not measurable; unclear whether it is worth having",
        ),
    ],
)
def test_a_small_gain_is_measurable_but_not_worth_having(
    low: float, high: float, verdict: ClaimVerdict, words: str
) -> None:
    gain = MeanEstimate((low + high) / 2, low, high, 9)
    assert ablation.usefulness_verdict(gain) == (verdict, words)


def test_the_endpoint_has_the_wider_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablation_replies, "PARTS", {name: PARTS[name] for name in SOME})
    wide, narrow = gains([recorded(0.5)], 1, 0.025), gains([recorded(0.5)], 1, 0.05)
    assert wide is not None
    assert narrow is not None
    assert wide.of[PRIMARY].low < narrow.of[PRIMARY].low
    assert wide.of["rank at depth 2"] == narrow.of["rank at depth 2"]
    assert gains([{**recorded(0.0), "persons": ["one"] * 400}], 1, 0.05) is None


def test_differences_in_play_are_taken_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablation, "_PAIRS", {Size.FULL: 4})
    results = {}
    for job in Ablation().jobs(Size.FULL):
        if "arm" in job.arguments:
            better = job.arguments["arm"] == PAPER
            points = [[0.5 * better + 0.25 * (at // 2 % 2), 10 * better + at // 2] for at in range(8)]
            results[job.name] = {"games": points}
    report = Ablation().report(results, Size.FULL)
    assert {claim.verdict for claim in report.claims} == {ClaimVerdict.HOLDS}
    assert report.claims[0].found == "+50.0 (+50.0 to +50.0) percentage points, 24 games each"
    rows = {row[0]: row for row in report.tables[-1].rows}
    assert rows[PAPER][4:] == ("+50.0 (+50.0 to +50.0)", "+10.0 (+10.0 to +10.0)", "", "")
    assert len(report.charts[0].lines[0].marks) == len(ARMS)
    assert ablation.opening(0) != ablation.opening(1)


def test_covariates_of_recorded_replies(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "games.pgn").write_text(
        "\n".join(
            f'[Event "{at}"]\n[White "Ann"]\n[Black "Bea"]\n[Result "*"]\n\n1. e4 e5 2. Qh5 {reply} 3. d3 *\n'
            for at, reply in enumerate(("Nc6", "g6", "Ke7", "Nf6", "d6", "Qf6"))
        )
    )
    monkeypatch.setattr(ablation_replies, "DEPTHS", {"chess": 3})
    monkeypatch.setattr(given_games, "FROM_PLY", {"chess": 3})
    monkeypatch.setattr(ablation_replies, "_human", lambda *_: None)
    monkeypatch.setattr(ablation_replies, "query_of", lambda *_: None)
    monkeypatch.setattr(
        ablation_replies,
        "predictions_of",
        lambda _, game, queries: [[1.0] * 200 for _ in queries],  # noqa: ARG005
    )
    monkeypatch.setattr(
        ablation_replies,
        "_stored",
        lambda at, each, human, real=ablation_replies._stored: _even(real(at, each, human)),
    )
    found = ablation_replies.replies("chess", str(tmp_path), 1, 0, 3, 4)
    again = ablation_replies.replies("chess", str(tmp_path), 1, 1, 2, 4)
    assert len(found["persons"]) == 3
    assert found["persons"][1:] == again["persons"]
    assert set(found["persons"]) <= {"Ann", "Bea"}
    assert all(len(values) == sum(found["counts"]) for values in found["columns"].values())
    assert min(found["columns"]["cost"]) == 0
    assert set(found["columns"]["tempting"]) <= {0.0, 1.0}
    past_the_end = ablation_replies.replies("chess", str(tmp_path), 1, 400, 3, 4)
    assert past_the_end["persons"] == []


def _even(stored: Any) -> Any:
    count = len(stored.found.replies)
    return replace(stored, human=(1 / count,) * count)
