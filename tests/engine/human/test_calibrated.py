from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.decision import Candidate, Person, ReplyProfile
from engine.expected import WHOLE, expected_score
from engine.games.othello import Othello
from engine.human.calibrated import (
    FEATURES,
    CalibratedModel,
    expected,
    open_calibrated,
    reply_features,
    trappiness_of,
)
from engine.human.model import BadModel
from engine.human.onnx import OnnxNetwork
from engine.human.reply_forecast import JudgeTilt
from engine.human.reply_model import checked_probabilities, default_path
from engine.trappy import trappiness
from lab.training.calibrated import Part, to_onnx

GAME = Othello()
AFTER = GAME.play(GAME.initial(), GAME.parse_move(GAME.initial(), "f5"))
SCORES = np.array([[50, 300, -100], [-20, -30, 40], [-400, -500, 600]])
MOVE = Candidate(
    "f5",
    -100,
    False,
    -100.0,
    replies=tuple(
        ReplyProfile(text, tuple(row)) for text, row in zip(("d6", "f4", "f6"), SCORES.tolist(), strict=True)
    ),
    complete=True,
)
HUMAN = (0.5, 0.3, 0.2)


def model(weights: dict[str, float], alone: dict[str, float] | None = None, **told: str) -> CalibratedModel:
    def of(given: dict[str, float]) -> Part:
        return Part(np.array([given.get(name, 0.0) for name in FEATURES]))

    metadata = {"game": "othello", "name": "test", "licence": "none", **told}
    return CalibratedModel(OnnxNetwork.load(to_onnx(of(weights), of(alone or {}), metadata), "test"))


def column(features: NDArray[np.float32], name: str) -> list[float]:
    found: list[float] = features[:, FEATURES.index(name)].tolist()
    return found


@given(st.integers(-120_000, 120_000), st.floats(50, 2000))
def test_expected_scores_are_those_of_the_core(score: int, logistic: float) -> None:
    found = expected(np.array([score]), logistic)[0]
    assert found * WHOLE == pytest.approx(expected_score(score, logistic), abs=0.51)


@given(st.integers(-3000, 3000), st.integers(-3000, 3000))
def test_trappiness_is_that_of_the_paper(upper: int, final: int) -> None:
    found = trappiness_of(np.array([upper - final]), np.array([abs(final)]))[0]
    assert found == pytest.approx(trappiness(upper, final))


def test_features_of_the_person_view() -> None:
    features = reply_features(SCORES, 200.0, 30, HUMAN, Person(1900, 60.0))
    assert features.shape == (3, len(FEATURES))
    worth = expected(-SCORES, 200.0)
    assert column(features, "loss") == pytest.approx((worth[0, 2] - worth[:, 2]).tolist(), abs=1e-6)
    assert column(features, "is_best") == [1, 0, 0]
    assert column(features, "gap_first") == pytest.approx((worth[2, 0] - worth[:, 0]).tolist(), abs=1e-6)
    assert column(features, "drop_best")[2] == pytest.approx(worth[2, 1] - worth[2, 2], abs=1e-6)
    assert column(features, "seen") == [1, 1, 0]  # at both depths the third looks far better
    assert column(features, "ln_p") == pytest.approx(np.log(HUMAN).tolist())
    assert column(features, "ln_p*rating") == pytest.approx(np.log(HUMAN).tolist())
    assert column(features, "ln_p*clock") == [0, 0, 0]


def test_what_is_not_known_counts_nothing() -> None:
    features = reply_features(SCORES, 200.0, 30, None, Person())
    assert np.isfinite(features).all()
    for name in FEATURES:
        if name.startswith("ln_p") or name.endswith(("*rating", "*beyond", "*clock", "*phase")):
            assert column(features, name) == [0, 0, 0], name


@pytest.mark.parametrize(
    ("rating", "slope", "bend"), [(1500, 0, 0), (1900, 1, 0), (2100, 1.5, 0.5), (2300, 2, 1), (3000, 2, 2)]
)
def test_people_above_every_network_have_a_term_of_their_own(rating: int, slope: float, bend: float) -> None:
    features = reply_features(SCORES, 200.0, 30, HUMAN, Person(rating))
    for name in ("ln_p", "loss", "gap_first", "gap_best", "drop_best"):
        of_replies = np.array(column(features, name))
        assert column(features, f"{name}*rating") == pytest.approx((slope * of_replies).tolist())
        assert column(features, f"{name}*beyond") == pytest.approx((bend * of_replies).tolist())


def test_profiles_of_two_plies_have_no_shallow_scores() -> None:
    features = reply_features(SCORES[:, :1], 200.0, 30, HUMAN, Person())
    assert np.isfinite(features).all()
    assert column(features, "drop_best") == [0, 0, 0]


def test_probabilities() -> None:
    told = model({"ln_p": 1.0}, {"loss": -3.0})
    probabilities = checked_probabilities(told, GAME, AFTER, MOVE, HUMAN, Person())
    assert probabilities == pytest.approx(dict(zip(("d6", "f4", "f6"), HUMAN, strict=True)))
    alone = checked_probabilities(told, GAME, AFTER, MOVE, None, Person())
    assert alone["d6"] > alone["f4"] > alone["f6"]
    assert (told.game, told.info.kind, told.info.name) == ("othello", "calibrated", "test")


def test_another_program_s_features_are_refused() -> None:
    with pytest.raises(
        BadModel, match=r"test: trained on features of version '1', not '2', .*`desdemona lab fit`"
    ):
        model({}, features="1")
    with pytest.raises(BadModel, match="kind 'maia', not 'calibrated'"):
        model({}, kind="maia")


def test_what_the_judge_adds_stands_in_the_file() -> None:
    assert model({}).judge_tilt is None
    told = model({}, judge_tilt='{"power": 0.8, "constant": 0.3, "per_cost": 18.7}')
    assert told.judge_tilt == JudgeTilt(0.8, 0.3, 18.7)
    for wrong in ("", "[]", '{"constant": 0.3}', '{"power": 1.0, "constant": "a", "per_cost": 1.0}'):
        with pytest.raises(BadModel, match="test: judge_tilt: "):
            model({}, judge_tilt=wrong)


def test_files(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="No such file"):
        open_calibrated(tmp_path / "none.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"no network")
    with pytest.raises(BadModel, match=r"bad\.onnx"):
        open_calibrated(tmp_path / "bad.onnx")


@pytest.mark.parametrize("game", ["chess", "othello", "xiangqi"])
def test_the_models_that_come_with_the_program(game: str) -> None:
    found = open_calibrated(default_path(game))
    assert found.game == game
    assert (found.judge_tilt is not None) is (game == "xiangqi")  # fitted to masters, who see errors
    rng = np.random.default_rng(1)
    features = reply_features(rng.integers(-400, 400, (9, 6)), 150.0, 30, (1 / 9,) * 9, Person(1500, 30.0))
    for has_human in (True, False):
        probabilities = found.probabilities(features, has_human)
        assert probabilities.sum() == pytest.approx(1)
        assert probabilities.min() >= 0
