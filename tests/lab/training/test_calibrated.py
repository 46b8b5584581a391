"""Learning calibrated models: what was put in comes out, and the file says what the learner says."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.human.calibrated import FEATURES, CalibratedModel
from engine.human.onnx import OnnxNetwork
from lab.training import calibrated as training
from lab.training.calibrated import (
    FOLDS,
    ReplyRows,
    fit_part,
    folds_by_game,
    join,
    losses,
    softmax,
    to_onnx,
    tune,
    without_human,
)

TOLD = {"game": "othello", "name": "test", "licence": "none"}
LN_P, LOSS, GAP = (FEATURES.index(name) for name in ("ln_p", "loss", "gap_first"))


def made_up(positions: int, seed: int = 1, bend: float = 0.0) -> ReplyRows:
    """People who follow the model's probabilities but shun losses, and, with `bend`, large gaps."""
    rng = np.random.default_rng(seed)
    parts = []
    for number in range(positions):
        size = int(rng.integers(2, 8))
        features = np.zeros((size, len(FEATURES)), np.float32)
        features[:, LN_P] = np.log(rng.dirichlet(np.ones(size)) + 1e-4)
        features[:, LOSS] = rng.uniform(0, 0.6, size)
        features[:, GAP] = rng.uniform(0, 1, size)
        utility = features[:, LN_P] - 4 * features[:, LOSS] - bend * (features[:, GAP] > 0.5)
        probabilities = np.exp(utility - utility.max())
        parts.append((features, int(rng.choice(size, p=probabilities / probabilities.sum())), number // 4))
    return join(parts)


def nll(probabilities: NDArray[np.float64], rows: ReplyRows) -> float:
    return float(losses(probabilities, rows).mean())


def test_rows_of_some_positions() -> None:
    rows = made_up(10)
    some = rows.take(np.array([2, 7]))
    assert some.counts.tolist() == rows.counts[[2, 7]].tolist()
    assert (some.features[some.played] == rows.features[rows.played[[2, 7]]]).all()
    assert np.add.reduceat(softmax(np.arange(len(rows.features)) * 1.0, rows), rows.starts) == pytest.approx(
        1
    )


def test_weights_come_out_again() -> None:
    part = fit_part(made_up(3000), 1.0, 0, 1)
    assert part.weights[LN_P] == pytest.approx(1, abs=0.1)
    assert part.weights[LOSS] == pytest.approx(-4, abs=0.5)
    assert abs(part.weights[GAP]) < 0.3


def test_a_strong_penalty_leaves_the_human_move_model() -> None:
    part = fit_part(made_up(200), 1e9, 0, 1)
    assert part.weights[LN_P] == pytest.approx(1, abs=1e-3)
    assert np.delete(part.weights, LN_P) == pytest.approx(0, abs=1e-3)


def test_no_game_is_on_both_sides() -> None:
    rows = made_up(60)
    tested = []
    for train, test in folds_by_game(rows, 1):
        assert not set(rows.games[train]) & set(rows.games[test])
        tested += test.tolist()
    assert sorted(tested) == list(range(60))
    assert len(folds_by_game(rows, 1)) == FOLDS


def test_cross_validation_finds_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn", reason="needs the extra `lab`")
    monkeypatch.setattr(training, "L2_PENALTIES", (3.0, 30.0))
    monkeypatch.setattr(training, "TREES", (0, 4, 8))
    rows = made_up(400, bend=3.0)
    tried, probabilities = tune(rows, 1)
    human = softmax(rows.features[:, LN_P].astype(float), rows)
    assert nll(probabilities, rows) == pytest.approx(tried[0].nll)
    assert tried[0].nll < nll(human, rows) - 0.02
    assert tried == sorted(tried, key=lambda each: each.nll)
    again, _ = tune(rows, 1)
    assert tried == again


def test_the_file_says_what_was_learned() -> None:
    pytest.importorskip("sklearn", reason="needs the extra `lab`")
    rows = made_up(800, bend=3.0)
    alone = without_human(rows)
    parts = fit_part(rows, 3.0, 12, 1), fit_part(alone, 3.0, 5, 2)
    assert not alone.features[:, LN_P].any()
    model = CalibratedModel(OnnxNetwork.load(to_onnx(*parts, TOLD), "test"))
    starts, counts = rows.starts, rows.counts
    for has_human, part, given in ((True, parts[0], rows), (False, parts[1], alone)):
        expected = softmax(part.utilities(given.features), given)
        for at in range(20):
            inside = slice(starts[at], starts[at] + counts[at])
            assert model.probabilities(given.features[inside], has_human) == pytest.approx(
                expected[inside], abs=1e-5
            )


def test_trees_learn_what_a_line_cannot() -> None:
    pytest.importorskip("sklearn", reason="needs the extra `lab`")
    rows, other = made_up(1000, bend=3.0), made_up(500, seed=2, bend=3.0)
    line, trees = fit_part(rows, 3.0, 0, 1), fit_part(rows, 3.0, 15, 1)
    found = [nll(softmax(part.utilities(other.features), other), other) for part in (line, trees)]
    assert found[1] < found[0] - 0.005
