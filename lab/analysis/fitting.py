"""Fits a calibrated model to a database's analyses, and rejects it if it is not an improvement.

A new model is accepted only if it predicts unseen moves significantly better than the model that it replaces,
in cross-validation over whole games. Its part for positions without a human-move model must not be
significantly worse.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.base.errors import DesdemonaError
from engine.human.calibrated import FEATURES_VERSION, CalibratedModel
from engine.human.onnx import OnnxNetwork
from lab.analysis.measures import Estimate, Resamples
from lab.analysis.population import MIN_ERROR_SCORE_LOSS, Population
from lab.analysis.study import model_probabilities
from lab.training.calibrated import (
    FOLDS,
    Part,
    ReplyRows,
    ValidatedSettings,
    fit_part,
    losses,
    softmax,
    to_onnx,
    tune,
    without_human,
)

MIN_POSITIONS, MIN_GAMES, MIN_ERRORS = 500, 100, 50
"""Minimum amounts of data; with less, a model would learn noise."""
LICENCE = "GPL-3.0-or-later"
_NAMES = {True: "with a human-move model", False: "without a human-move model"}


class FitRefused(DesdemonaError):
    """The new model was rejected; the message states the reason with numbers."""


@dataclass(frozen=True, slots=True)
class Validated:
    """The cross-validation result for one of a model's two parts."""

    part: str
    penalty: float
    trees: int
    nll: float
    """Mean negative log-likelihood (in nats) of the replies played in held-out games."""
    against: str
    against_nll: float
    better: Estimate
    """Improvement in log-loss per reply over the model to beat."""
    auc: Estimate
    """AUC for "this bad reply is played", over all bad replies."""
    auc_better: Estimate
    """Improvement in this AUC over the model to beat."""
    tried: tuple[ValidatedSettings, ...]


@dataclass(frozen=True, slots=True)
class FittedModel:
    """A fitted model with its validation."""

    data: bytes
    """The ONNX file."""
    model: CalibratedModel
    human: str
    """Name of the human-move model among its inputs; empty if there is none."""
    validated: tuple[Validated, ...]

    def card(self, about: dict[str, Any]) -> dict[str, Any]:
        """The model's card as plain JSON values, beginning with `about`."""
        return {
            **about,
            "human_model": self.human,
            "sha256": self.model.info.sha256,
            "features": FEATURES_VERSION,
            "method": "conditional logit with L2 penalty, and boosted trees; a softmax over the replies",
            "cross_validation": [
                {**asdict(each), "tried": [asdict(one) for one in each.tried[:5]]} for each in self.validated
            ],
        }


def fit(
    people: Population,
    *,
    name: str,
    against: CalibratedModel | None,
    seed: int = 1,
    resamples: int = 1000,
    on_step: Callable[[str], None] = lambda _: None,
) -> FittedModel:
    """Fit a model and validate it.

    Args:
        against: The model to beat; by default the human-move model or, without one, equal probabilities for
            all replies.
        on_step: Called with the name of each step before it begins.

    Raises:
        FitRefused: Too little data, no improvement, or a worse part for positions without a human-move model.
    """
    _require_enough(people)
    parts: dict[bool, Part] = {}
    validated = []
    for has_human in (True, False) if people.has_human else (False,):
        on_step(f"learning {_NAMES[has_human]}")
        rows = people.rows if has_human else without_human(people.rows)
        tried, probabilities = tune(rows, seed)
        validated.append(_validated(people, rows, has_human, tried, probabilities, against, resamples, seed))
        parts[has_human] = fit_part(rows, tried[0].penalty, tried[0].trees, seed)
    human = next(iter(people.models), "")
    metadata = {
        "human": human,
        "game": people.game.name,
        "name": name,
        "licence": LICENCE,
        "date": date.today().isoformat(),  # noqa: DTZ011 - a day, for people
    }
    # Without a human-move model to learn from, both parts are the same.
    data = to_onnx(parts.get(True, parts[False]), parts[False], metadata)
    _accept_model(validated)
    return FittedModel(data, CalibratedModel(OnnxNetwork.load(data, name)), human, tuple(validated))


def _require_enough(people: Population) -> None:
    games = int(people.games.max()) + 1
    errors = int((people.loss[people.rows.played] >= MIN_ERROR_SCORE_LOSS).sum())
    for what, found, least in (
        ("positions", len(people.positions), MIN_POSITIONS),
        ("games", games, MIN_GAMES),
        ("errors", errors, MIN_ERRORS),
    ):
        if found < least:
            raise FitRefused(
                f"too little to learn from: {len(people.positions)} positions of {games} games with {errors} "
                f"errors; at least {least} {what} are needed"
            )


def _validated(
    people: Population,
    rows: ReplyRows,
    has_human: bool,
    tried: list[ValidatedSettings],
    probabilities: NDArray[np.float64],
    against: CalibratedModel | None,
    resamples: int,
    seed: int,
) -> Validated:
    if against is not None:
        name = f"{against.info.name} {against.info.sha256[:12]}"
        other = model_probabilities(people, against, has_human)
    elif has_human:
        name, other = next(iter(people.models.items()))
    else:
        name, other = "equal probabilities", softmax(np.zeros(len(rows.features)), rows)
    drawn = Resamples(people.games, resamples, seed)
    ours, theirs = losses(probabilities, rows), losses(other, rows)
    bad = people.loss >= MIN_ERROR_SCORE_LOSS
    games = np.unique(people.games[people.of_position[bad]], return_inverse=True)[1].astype(np.int64)
    of_bad = Resamples(games, resamples, seed)
    played = people.is_played[bad]
    area, other_area = of_bad.auc(probabilities[bad], played), of_bad.auc(other[bad], played)
    return Validated(
        part=_NAMES[has_human],
        penalty=tried[0].penalty,
        trees=tried[0].trees,
        nll=float(ours.mean()),
        against=name,
        against_nll=float(theirs.mean()),
        better=drawn.mean(theirs - ours).estimate,
        auc=area.estimate,
        auc_better=area.minus(other_area).estimate,
        tried=tuple(tried),
    )


def _accept_model(validated: list[Validated]) -> None:
    """Accept a model whose first part is significantly better and whose second is not significantly worse.

    The first part is used wherever its inputs exist, the second part where there is no human-move model.

    Raises:
        FitRefused: The new model is not accepted.
    """
    for at, each in enumerate(validated):
        if at == 0 and not each.better.low > 0:
            what = "not significantly better"
        elif each.better.high < 0:
            what = "significantly worse"
        else:
            continue
        raise FitRefused(
            f"the model {each.part} is {what} than {each.against}: "
            f"{FOLDS}-fold cross-validation by game gives a log-loss of {each.nll:.4f} per reply instead of "
            f"{each.against_nll:.4f}, an improvement of {each.better.value:+.4f} "
            f"({each.better.low:+.4f} to {each.better.high:+.4f}, 95 %); it was not saved"
        )
