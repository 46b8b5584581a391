from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.decision import ModelInfo
from engine.human.calibrated import FEATURES, CalibratedModel
from engine.human.onnx import OnnxNetwork
from engine.trappy import reply_trappiness
from lab.analysis.baits import bait_table, forecasters, judged
from lab.analysis.measures import mean_of, within_auc
from lab.analysis.population import MIN_ERROR_SCORE_LOSS, Portion, population
from lab.analysis.recorded_games import half_of_person
from lab.analysis.study import ALONE, CALIBRATED, PAPER, Study, model_probabilities, study
from lab.analysis.study_report import study_text, table
from lab.analysis.trap_counts import trap_kinds
from lab.training.calibrated import Part, to_onnx
from tests.lab.analysis.samples import costs_of, made_up, position

# The first reply is best; the second looks good until the last ply but is bad; the third is bad at once.
TRAP = ([0, 0, 0], [-300, -400, 400], [500, 500, 500])


def calibrated(**weights: float) -> CalibratedModel:
    part = Part(np.array([weights.get(name, 0.0) for name in FEATURES]))
    told = {"game": "othello", "name": "test", "licence": "none"}
    return CalibratedModel(OnnxNetwork.load(to_onnx(part, part, told), "test"))


@pytest.fixture(scope="module")
def found() -> Study:
    people = population(
        "othello", made_up(300), "net", {"other net": dict.fromkeys(range(300), (0.2, 0.3, 0.5))}
    )
    return study(people, calibrated(ln_p=1.0, loss=-3.0), resamples=50)


def test_figure9_counts_what_people_did() -> None:
    played = [0, 1, 1, 2, 0]
    people = population(
        "othello", [position(n, TRAP, each, (0.5, 0.3, 0.2)) for n, each in enumerate(played)], "net"
    )
    found = study(people, None, resamples=20)
    median = found.figure9[0]
    assert median.trap == "paper, median"
    assert (median.set, median.optimal.count, median.fell.count, median.elsewhere.count) == (5, 2, 2, 1)
    assert median.fell_for_best.count == 2
    assert median.plain_optimal.of == 0
    assert median.expected["net"].value == pytest.approx(5 * 0.3 / 2)
    assert (found.errors.count, found.bad_replies, found.games) == (3, 10, 2)
    # The second costs 19 %, the third 23 %.
    rows = found.temptation["paper, median"]
    assert [(row.trap.count, row.trap.of, row.other.count, row.other.of) for row in rows] == [
        (0, 0, 0, 0),
        (2, 5, 0, 0),
        (0, 0, 1, 5),
        (0, 0, 0, 0),
    ]


def test_predictors_are_the_paper_s() -> None:
    people = population("othello", [position(0, TRAP, 1)])
    params = trap_kinds(100)["paper, median"]
    expected = [reply_trappiness(row, params) for row in TRAP]
    column = people.rows.features[:, FEATURES.index("trappiness_median")]
    assert column.tolist() == pytest.approx(expected)
    assert people.loss[0] == 0
    assert people.loss[1] == pytest.approx(0.5 - 1 / (1 + np.exp(400 / 500)))
    assert not people.has_human


def test_a_study_ranks_its_predictors(found: Study) -> None:
    assert (found.positions, found.games, found.replies) == (300, 100, 900)
    assert found.human_models == ("net", "other net")
    by_name = {each.name: each for each in found.bad_reply}
    assert set(by_name) >= {"net", "other net", CALIBRATED, ALONE, PAPER}
    best, net = by_name[CALIBRATED], by_name["net"]
    assert best.auc.value > net.auc.value > by_name["other net"].auc.value
    assert best.above["net"].value == pytest.approx(best.auc.value - net.auc.value)
    assert best.auc.low < best.auc.value < best.auc.high
    assert found.nll[CALIBRATED].value < found.nll["net"].value
    assert best.is_probability
    assert not by_name[PAPER].is_probability
    assert sum(each.actual.of for each in best.curve) == found.bad_replies
    assert best.within is not None
    assert by_name["net"].within is not None
    assert best.within_above["net"].value == pytest.approx(best.within.value - by_name["net"].within.value)
    assert best.within.low < best.within.value < best.within.high
    errors = {each.name: each for each in found.error}
    assert errors[CALIBRATED].auc.value > 0.5
    assert errors[CALIBRATED].within is None
    assert (found.persons, found.errors.persons) == (100, 100)
    assert (found.baits, found.experience) == (None, ())


def test_within_positions_each_person_is_left_out_with_their_own_positions() -> None:
    given = [replace(each, name=f"player {at**2 % 23}") for at, each in enumerate(made_up(200))]
    people = population("othello", given, "net")
    net = next(each for each in study(people, None, resamples=20).bad_reply if each.name == "net")
    bad = people.loss >= MIN_ERROR_SCORE_LOSS
    positions = people.of_position[bad]
    values = within_auc(people.models["net"][bad], people.is_played[bad], positions)
    persons = people.persons[np.unique(positions)]
    assert len(persons) < 200, "some positions have no bad reply"
    known = np.isfinite(values)
    # As text, since its bounds are no numbers here, which equal nothing.
    assert repr(net.within) == repr(mean_of(values[known], persons[known]))


def test_a_study_in_words(found: Study) -> None:
    text = study_text(found)
    assert "300 positions of 100 games, 100 persons (P 100), 900 replies" in text
    assert "[-]: no interval below 30 effective persons." in text
    assert "Too early" not in text
    few = replace(found, effective_persons=29.9)
    assert study_text(few).endswith(
        "Too early for intervals: 29 of 30 effective persons (docs/statistics.md).\n"
    )
    assert "Which bad reply is played" in text
    assert "AUC within positions" in text
    assert "Primary endpoint" not in text
    assert all(line == line.rstrip() for line in text.splitlines())
    assert table([["a", "b"], ["ccc", "10"]]) == "a     b\nccc  10"


def test_baits_and_experience_in_words() -> None:
    given = [replace(each, name=f"player {at % 40}") for at, each in enumerate(made_up(300))]
    people = population("othello", given, "net")
    costs = [costs_of(0, 1900, 2300)] * 300
    made = forecasters(people, calibrated(ln_p=1.0), ModelInfo("othello", "net", "e" * 64), None)
    text = study_text(
        study(
            people,
            None,
            baits=bait_table(people, judged(people, made, costs), costs),
            tilted={"tilted": people.models["net"]},
            games_before={"player 1": 5},
            resamples=20,
        )
    )
    first, *rest = text.split("\n\n")
    assert "40 persons" in first
    assert rest[0].startswith("Primary endpoint, baits, calibrated model: ")
    assert rest[1].startswith("Everything below is exploratory")
    assert "games before: 1-30" in text
    assert "decided positions left out: 0; judge " in rest[0]
    assert "errors by the judge: " in rest[0]


def test_plots_are_the_same_when_they_are_drawn_again(found: Study, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra `lab`")
    from lab.analysis.plots import draw

    first = draw(found, tmp_path / "a", "othello")
    assert [path.name for path in first] == [
        f"study-othello-{what}.svg" for what in ("auc", "reliability", "traps")
    ]
    again = draw(found, tmp_path / "b", "othello")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert all(path.stat().st_size < 200_000 for path in first)


def test_a_name_is_no_formula(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra `lab`")
    from lab.analysis.plots import draw

    people = population("othello", made_up(60), r"a$\frac$ \$")
    for path in draw(study(people, None, resamples=20), tmp_path, "othello")[:2]:
        assert r"a$\frac$ \$" in path.read_text()


def test_probabilities_of_positions_are_of_their_own_replies() -> None:
    people = population("othello", made_up(10), "net")
    probabilities = model_probabilities(people, calibrated(ln_p=1.0), True)
    assert probabilities == pytest.approx(people.models["net"], abs=1e-5)
    assert people.sums(probabilities) == pytest.approx(1)
    assert (people.loss >= MIN_ERROR_SCORE_LOSS).any()


def test_positions_of_which_nobody_spoke_are_left_out_when_others_were_spoken_of() -> None:
    given = [*made_up(5), position(9, TRAP, 0)]
    people = population("othello", given, "net")
    assert (len(people.positions), people.left_out) == (5, 1)
    people = population("othello", given[5:], "net")
    assert (people.models, people.left_out) == ({}, 0)
    partly = population("othello", given, "net", {"late": {0: (1, 0, 0)}})
    assert list(partly.models) == ["net"]


def test_portions() -> None:
    given = made_up(120)
    halves = [{each.id for each in given if Portion(half=half).holds(each)} for half in (0, 1)]
    assert halves[0] | halves[1] == set(range(120))
    assert not halves[0] & halves[1]
    assert min(map(len, halves)) > 30
    for half in halves:  # whole games
        assert {number // 3 for number in half} & {number // 3 for number in set(range(120)) - half} == set()
    years = [int(each.date) for each in given if Portion(from_year=2005, to_year=2007).holds(each)]
    assert set(years) == {2005, 2006, 2007}
    assert not any(Portion(to_year=0).holds(each) for each in given)
    named = [replace(each, name=f"player {at % 40}") for at, each in enumerate(given)]
    named += [replace(given[0], name=name) for name in ("", "Zebra (a)")]
    persons = [
        {each.name for each in named if Portion(person_half=half, seed=2).holds(each)} for half in (0, 1)
    ]
    assert persons[0] | persons[1] == {f"player {at}" for at in range(40)}
    assert not persons[0] & persons[1]
    assert all(half_of_person(name, 2) == 1 for name in persons[1])
    assert all((each.found.rating or 0) >= 1550 for each in given if Portion(min_rating=1550).holds(each))
