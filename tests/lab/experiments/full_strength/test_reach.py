"""The experiment on exploit: wrong models are wrong as they say, and the report compares what was paired."""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from bot.base.errors import DesdemonaError
from engine.decision import ModelInfo, Person
from engine.games import get_rules
from engine.human.model import BadModel, PredictionQuery
from lab.experiments.estimates_text import in_points, mean_of
from lab.experiments.experiment import Size
from lab.experiments.experiment_report import ClaimVerdict
from lab.experiments.full_strength import reach
from lab.experiments.full_strength.reach import (
    INVERTED,
    OPPONENT_MODEL,
    TRAPPY_STRONG,
    UNIFORM,
    UNRELATED,
    FullStrengthReach,
    MistakenModel,
)
from tests.engine.human.fakes import FakeModel, OneModel

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


def results(pairs: int) -> dict[str, dict[str, list[list[float]]]]:
    """As many pairs against people; only our points in the first game of a pair vary."""
    found = {}
    for first in range(0, 200, 5):
        for arm, points in (("exploit", (1.0, 0.5)), ("strong", (0.0, 0.5, 1.0))):
            games = [
                game
                for at in range(first, min(first + 5, pairs))
                for game in ([points[at % len(points)], 2.0], [1.0, -2.0])
            ]
            if games:
                found[f"{PEOPLE}: {arm}, pairs {first}"] = {"games": games}
    for mistake in ("uniform", "unrelated", "inverted"):
        for first in range(0, 67, 5):
            games = [[points, 2.0] for points in (0.0, 1.0)] * min(5, 67 - first)
            found[f"othello v strong, {mistake}: exploit, pairs {first}"] = {"games": games}
    return found


def test_the_report_compares_the_same_openings() -> None:
    report = FullStrengthReach().report(results(200), Size.FULL)
    gain, cost = report.claims
    # One after the other 1 and .5, less 0, .5 and 1, in one of two games. Unpaired, the interval is another.
    paired = [((1.0, 0.5)[at % 2] - (0.0, 0.5, 1.0)[at % 3]) / 2 for at in range(200)]
    assert gain.verdict is ClaimVerdict.HOLDS
    assert gain.found == f"{in_points(mean_of(np.array(paired)))} percentage points, 400 of 400 games each"
    assert cost.verdict is ClaimVerdict.HOLDS
    assert cost.found == "+0 (-3 to +3) Elo, 402 of 402 games"  # of all models that are wrong
    table, by_opponent = report.tables
    exploit = table.rows[0]
    assert exploit[:3] == (PEOPLE, "exploit", "+300 =100 -0")
    assert exploit[-1] == "+0.0 (+0.0 to +0.0)"
    kinds = {row[0]: row[2] for row in by_opponent.rows if row[1] == "exploit"}
    assert kinds == {  # they take turns, pair by pair
        f"{PEOPLE}: human:temperature=0.5,rating=2300": "+200 =0 -0",
        f"{PEOPLE}: human:plies=4,percent=3": "+100 =100 -0",
    }


def test_there_is_no_verdict_before_the_last_game() -> None:
    """Whoever looks after every game finds a difference sooner or later."""
    gain, cost = FullStrengthReach().report(results(199), Size.FULL).claims
    assert gain.verdict is ClaimVerdict.INCONCLUSIVE
    assert gain.found.endswith("398 of 400 games each")
    assert cost.verdict is ClaimVerdict.HOLDS
    few = {name: games for name, games in results(200).items() if "inverted" not in name}
    assert FullStrengthReach().report(few, Size.FULL).claims[1].verdict is ClaimVerdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("is_forfeit", "fails", "says"),
    [(True, False, "game 0: the network is broken"), (False, True, "game 0: the model of people failed")],
)
def test_a_failure_is_no_win(
    monkeypatch: pytest.MonkeyPatch, is_forfeit: bool, fails: bool, says: str
) -> None:
    """Of the simulated person, or of the model that we have of them."""
    reason = "the network is broken" if is_forfeit else ""
    finished = SimpleNamespace(is_forfeit=is_forfeit, reason=reason, points=1.0, margin=None)
    models = OneModel(FakeModel("othello")).models("othello")
    if fails:
        models.health.record_failure("othello", BadModel("no answer"))
    player = SimpleNamespace(close=lambda: None)
    for name, value in (("OurPlayer", player), ("make_player", player), ("open_models", models)):
        monkeypatch.setattr(reach, name, lambda *_, value=value, **__: value)
    monkeypatch.setattr(reach, "play_game", lambda *_, **__: SimpleNamespace(finished=finished))
    job = FullStrengthReach().jobs(Size.SMALL)[0]
    with pytest.raises(DesdemonaError, match=says):
        FullStrengthReach().run(job.arguments, 1)


def test_nothing_yet_is_a_report() -> None:
    report = FullStrengthReach().report({}, Size.FULL)
    assert report.claims == ()
    assert report.tables[0].rows == ()
