"""The experiment on exploit: wrong models are wrong as they say, and the report compares what was paired."""

from collections.abc import Sequence

import pytest

from engine.decision import ModelInfo, Person
from engine.games import get_rules
from engine.human.model import PredictionQuery
from lab.experiments.experiment import Size
from lab.experiments.experiment_report import ClaimVerdict
from lab.experiments.full_strength.reach import (
    INVERTED,
    OPPONENT_MODEL,
    TRAPPY_STRONG,
    UNIFORM,
    UNRELATED,
    FullStrengthReach,
    MistakenModel,
)

OTHELLO = get_rules("othello")
PEOPLE = "othello, three corners"


class Right:
    """Says .7, .2, .1, 0 and remembers the ratings it was asked for."""

    game, info, max_history_positions = "othello", ModelInfo("people", "right", ""), 1

    def __init__(self) -> None:
        self.ratings: list[int | None] = []

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        """See `engine.human.model.HumanModel.predict`."""
        self.ratings += [ask.person.rating for ask in asks]
        return [(0.7, 0.2, 0.1, 0.0) for _ in asks]


@pytest.mark.parametrize(("mistake", "ratings"), [(UNIFORM, [1900]), (UNRELATED, [1900]), (INVERTED, [800])])
def test_a_model_is_wrong_as_it_says(mistake: str, ratings: list[int]) -> None:
    right = Right()
    query = PredictionQuery((OTHELLO.initial(),), Person(1900))
    [found] = MistakenModel(right, mistake).predict([query])
    assert right.ratings == ratings
    assert sum(found) == pytest.approx(1)
    if mistake == UNIFORM:
        assert set(found) == {0.25}
    else:
        assert sorted(found) == [0.0, 0.1, 0.2, 0.7]
    assert MistakenModel(right, mistake).predict([query]) == [found]  # the same in the same position


def test_a_partial_run_begins_with_people() -> None:
    names = [job.name for job in FullStrengthReach().jobs(Size.FULL)]
    parts = [2 * ("other people" in name) + (" v strong" in name) for name in names]
    assert parts == sorted(parts)
    assert set(parts) == {0, 1, 2}
    assert len(names) == len(set(names))
    traps = [name for name in names if "other people" in name and TRAPPY_STRONG in name]
    assert len(traps) == 70  # a hundred games against each of seven
    few = [name for name in names if OPPONENT_MODEL in name and name.startswith("chess")]
    assert len(few) == 10  # of forty


def results(exploit: float, strong: float) -> dict[str, dict[str, list[list[float]]]]:
    def games(points: float) -> dict[str, list[list[float]]]:
        return {"games": [[points, 2.0], [1.0, -2.0]] * 5}

    found = {}
    for first in range(0, 100, 5):
        found[f"{PEOPLE}: exploit, pairs {first}"] = games(exploit if first % 10 else 0.5)
        found[f"{PEOPLE}: strong, pairs {first}"] = games(strong)
        found[f"othello v strong, uniform: exploit, pairs {first}"] = games(0.0)
    found["othello v strong, inverted: exploit, pairs 0"] = games(0.0)
    return found


def test_the_report_compares_the_same_openings() -> None:
    report = FullStrengthReach().report(results(1.0, 0.0), Size.FULL)
    gain, cost = report.claims
    assert gain.verdict is ClaimVerdict.HOLDS
    # .75 and 1 in turn, less .5
    assert gain.found.startswith("+37.5 (")
    assert cost.verdict is ClaimVerdict.HOLDS
    assert cost.found.startswith("+0 (")
    assert cost.found.endswith("150 games")  # of all models that are wrong
    table, by_opponent = report.tables
    exploit = table.rows[0]
    assert exploit[:3] == (PEOPLE, "exploit", "+150 =50 -0")
    assert exploit[-1] == "+0.0 (+0.0 to +0.0)"
    kinds = {row[0]: row[2] for row in by_opponent.rows if row[1] == "exploit"}
    assert kinds == {  # of every five pairs, in turn three or two are against the first
        f"{PEOPLE}: human:temperature=0.5,rating=2300": "+70 =30 -0",
        f"{PEOPLE}: human:plies=4,percent=3": "+80 =20 -0",
    }


def test_nothing_yet_is_a_report() -> None:
    report = FullStrengthReach().report({}, Size.FULL)
    assert report.claims == ()
    assert report.tables[0].rows == ()
