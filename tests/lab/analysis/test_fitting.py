from importlib.util import find_spec

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.human.calibrated import FEATURES
from lab.analysis import fitting
from lab.analysis.fitting import FitRefused, fit
from lab.analysis.population import population
from lab.training import calibrated as training
from tests.engine.human.test_calibrated import model
from tests.lab.analysis.samples import made_up, position

pytestmark = pytest.mark.skipif(find_spec("sklearn") is None, reason="needs the extra `lab`")


@pytest.fixture(autouse=True)
def _little_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few settings to try: that takes a tenth of the time."""
    monkeypatch.setattr(training, "L2_PENALTIES", (3.0, 100.0))
    monkeypatch.setattr(training, "TREES", (0, 2))


def test_too_little_is_refused() -> None:
    people = population("othello", made_up(60), "net")
    with pytest.raises(FitRefused, match=r"60 positions of 20 games .* at least 500 positions are needed"):
        fit(people, name="x", against=None)


def test_people_who_never_err_teach_nothing() -> None:
    alike = [position(number, ([0, 0, 0],) * 3, number % 3) for number in range(600)]
    with pytest.raises(FitRefused, match="with 0 errors; at least 50 errors are needed"):
        fit(population("othello", alike), name="x", against=None)


def test_noise_is_refused_with_numbers() -> None:
    """These people play exactly by the human-move model."""
    people = population("othello", made_up(510, shun=0.0), "net")
    with pytest.raises(
        FitRefused, match=r"not significantly better than net: .* log-loss of \d\.\d{4} .* not saved"
    ):
        fit(people, name="x", against=None, resamples=100)


def test_what_is_learned_has_to_beat_what_was() -> None:
    people = population("othello", made_up(510, shun=6.0), "net")
    fitted = fit(people, name="first", against=None, resamples=100)
    with_human, alone = fitted.validated
    assert with_human.better.low > 0
    assert with_human.against == "net"
    assert alone.against == "equal probabilities"
    assert with_human.nll < alone.nll
    assert (fitted.model.game, fitted.model.info.name, fitted.human) == ("othello", "first", "net")
    card = fitted.card({"seed": 1})
    assert card["cross_validation"][0]["better"]["low"] > 0
    assert card["sha256"] == fitted.model.info.sha256
    again = fit(people, name="first", against=None, resamples=100)
    assert again.data == fitted.data
    with pytest.raises(FitRefused, match="not significantly better than first"):
        fit(people, name="second", against=fitted.model, resamples=100)


def test_what_is_worse_without_a_human_move_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    people = population("othello", made_up(510, shun=6.0), "net")
    against = model({}, {"loss": -6.0})

    def tune(
        rows: training.ReplyRows, seed: int
    ) -> tuple[list[training.ValidatedSettings], NDArray[np.float64]]:
        """A fit that learns nothing without a human-move model."""
        tried, probabilities = training.tune(rows, seed)
        has_human = rows.features[:, FEATURES.index("ln_p")].any()
        return tried, probabilities if has_human else training.softmax(np.zeros(len(probabilities)), rows)

    monkeypatch.setattr(fitting, "tune", tune)
    with pytest.raises(
        FitRefused,
        match=r"the model without a human-move model is significantly worse than test .* not saved",
    ):
        fit(people, name="alone worse", against=against, resamples=100)
