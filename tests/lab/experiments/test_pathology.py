from math import comb

import pytest

from lab.experiments import pathology
from lab.experiments.board_splitting import NUMBER, TRAPS, Shape, fair_chance
from lab.experiments.experiment import Result, Size
from lab.experiments.experiment_report import ClaimVerdict, report_json, report_text
from lab.experiments.pathology import FIGURES, Pathology, steps, trap_chances

ARGUMENTS = {"b": 3, "d": 5, "first": 0}


@pytest.fixture(autouse=True)
def few_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pathology, "BATCH", 4)
    monkeypatch.setattr(pathology, "_BOARDS", {Size.SMALL: 4, Size.FULL: 8})


def test_a_job_depends_on_its_seed_alone() -> None:
    first = Pathology().run(ARGUMENTS, 1)
    assert Pathology().run(ARGUMENTS, 1) == first
    assert Pathology().run(ARGUMENTS, 2) != first
    assert set(first["wins"]) == {
        f"{n} {e} {k}" for n in (1, 2) for e in "NY" for k in FIGURES[n - 1].look_ahead
    }
    assert {len(digits) for digits in first["wins"].values()} == {4}


def test_batches_are_the_boards_of_one_series() -> None:
    whole = [Pathology().run({**ARGUMENTS, "first": first}, 1) for first in (0, 4)]
    pathology.BATCH = 8
    both = Pathology().run(ARGUMENTS, 1)
    assert both["wins"] == {key: whole[0]["wins"][key] + whole[1]["wins"][key] for key in both["wins"]}


def test_moves_at_random_are_on_the_boards_whose_first_move_matters() -> None:
    found, random_network = (Pathology().run({**ARGUMENTS, **more}, 1) for more in ({}, {"is_random": True}))
    assert list(random_network["random"]) == ["1 N", "1 Y"]
    for evaluation in "NY":
        chances = random_network["random"][f"1 {evaluation}"]
        # With the deepest look-ahead Y is right on every board whose first move matters.
        assert len(found["right"][f"1 {evaluation} 6"]) == len(chances) > 0
        assert set(chances) <= {0.333333, 0.666667}


@pytest.mark.parametrize(
    ("chosen", "verdict"),
    [(0.9, ClaimVerdict.HOLDS), (0.4, ClaimVerdict.INCONCLUSIVE), (0.1, ClaimVerdict.FAILS)],
)
def test_deep_first_moves_beside_moves_at_random(chosen: float, verdict: ClaimVerdict) -> None:
    spread = [(-1) ** at / 20 for at in range(40)]
    right = {f"2 N {k}": [(0.5 if k == 1 else chosen) + each for each in spread] for k in (1, 7)}
    wins = won(dict.fromkeys((1, 3, 5, 7), "10"), NUMBER, 2) | won(
        dict.fromkeys((1, 3, 5, 7), "11"), TRAPS, 2
    )
    boards, random_network = Pathology().jobs(Size.SMALL)
    results = {
        boards.name: {"wins": wins, "right": right},
        random_network.name: {"random": {"1 N": [0.4] * 40}},
    }
    report = Pathology().report(results, Size.SMALL)
    claim = next(each for each in report.claims if each.says.endswith("is better than a random one"))
    assert claim.verdict is verdict
    assert f"% are right, 40.0 (40.0 to 40.0) % at random: {100 * (chosen - 0.4):+.1f} (" in claim.found
    assert claim.found.endswith("40 boards whose first move matters")
    assert report.tables[0].rows[-1] == ("a random move", "", "", "", "40.0 (40.0 to 40.0)", "-")
    assert "(40 with N, 0 with Y)" in report.tables[0].note
    del results[random_network.name]
    assert not any("a random one" in each.says for each in Pathology().report(results, Size.SMALL).claims)


def won(look_ahead: dict[int, str], evaluation: str, figure: int) -> Result:
    return {f"{figure} {evaluation} {k}": digits for k, digits in look_ahead.items()}


def test_a_fall_beyond_chance_is_pathology() -> None:
    falling = {0: "1" * 40, 2: "1" * 40, 4: "0" * 20 + "1" * 20, 6: "1" * 20 + "0" * 20, 8: "1" * 40}
    flat = dict.fromkeys((0, 2, 4, 6, 8), "1" * 39 + "0")
    results = {
        job.name: {"wins": won(falling, NUMBER, 3) | won(flat, TRAPS, 3), "right": {"3 N 0": [0.5, 1.0]}}
        for job in Pathology().jobs(Size.SMALL)
        if "is_random" not in job.arguments
    }
    report = Pathology().report(results, Size.SMALL)
    verdicts = {claim.says: claim.verdict for claim in report.claims}
    assert verdicts["Figure 3: N is pathological: wins fall as search deepens"] is ClaimVerdict.HOLDS
    assert (
        verdicts["Figure 3: Y is not pathological"] is ClaimVerdict.INCONCLUSIVE
    )  # neither a rise nor a fall
    assert (
        verdicts["When H sees level 10 of 12 at her first move, N wins 66 of 100 games"] is ClaimVerdict.FAILS
    )
    assert report.tables[0].rows[0][4:] == ("75.0 (0.0 to 100.0)", "-")
    assert "50.0 (35.2 to 64.8)" in report_text(report)
    assert report_json(report)["charts"][0]["name"] == "figure-3"


def test_steps_are_paired_and_hold_together() -> None:
    wins = {
        f"1 N {k}": list(map(int, digits))
        for k, digits in {0: "0101", 2: "0111", 4: "0111", 6: "1111"}.items()
    }
    found = steps(FIGURES[0], NUMBER, wins)
    assert [step.value for step in found] == [0.25, 0.0, 0.25]
    assert found[0].high - found[0].value == pytest.approx(
        4.85666 * 0.5 / 2
    )  # t of 3 degrees, Bonferroni over three


def test_chances_of_traps_by_the_paper_s_formulas() -> None:
    """Against sums over the number of traps among the children, as the paper begins."""
    shape = Shape(3, 3)
    p = fair_chance(3)
    (k, trap, missed, error), (_, small_trap, small_missed, small_error) = trap_chances(shape)
    for side, found, chance in ((9, trap, missed), (3, small_trap, small_missed)):
        assert found == pytest.approx(1 - (1 - p**side) ** side)
        wanted = sum((3 - i) / 3 * comb(3, i) * found**i * (1 - found) ** (3 - i) for i in (1, 2))
        assert chance == pytest.approx(wanted)
    assert k == 0
    assert error == missed
    above = small_missed**3
    assert small_error == pytest.approx((1 - above) - (1 - above) ** 3)
