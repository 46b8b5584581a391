"""Computes a study: baits, Figure 9, and the quality of predictors of errors.

The primary endpoint is the frequency with which baits were played, relative to the frequency that the
program's own forecast predicts (`lab.analysis.baits`). All other results are exploratory; their costs are
those of the analysis, at its depth, since they need the cost of every reply. Intervals are clustered by
person and need at least 30 effective persons.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.human.calibrated import FEATURES, CalibratedModel
from engine.params import Assessment, TrapParams
from lab.analysis.added_value import AddedValue, added_by_trappiness
from lab.analysis.baits import BaitTable
from lab.analysis.experience import ErrorBand, errors_by_experience
from lab.analysis.measures import (
    Bin,
    Estimate,
    PersonShare,
    Resamples,
    as_probabilities,
    mean_of,
    person_share,
    reliability,
    within_auc,
)
from lab.analysis.population import MIN_ERROR_SCORE_LOSS, Population
from lab.analysis.trap_counts import (
    Figure9,
    Temptation,
    falls,
    figure9,
    temptation,
    trap_kinds,
    trap_qualities,
    verdicts_of,
)
from storage.evidence.inference.persons import effective_persons

CALIBRATED, ALONE = "calibrated model", "calibrated, no human-move model"
PAPER = "trappiness, median"
"""Name of the paper's predictor."""

Probabilities = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class PredictorQuality:
    """The measured quality of one predictor."""

    name: str
    auc: Estimate
    """AUC pooled over all cases in all positions."""
    above: dict[str, Estimate]
    """The predictor's AUC minus that of each human-move model and the paper's trappiness, keyed by name."""
    within: Estimate | None
    """Mean AUC within positions (`lab.analysis.measures.within_auc`); None if each case is a position."""
    within_above: dict[str, Estimate]
    """The same differences as `above`, but between AUCs within positions."""
    is_probability: bool
    """Whether the scores are probabilities; if not, a logistic curve fitted on other people converts them."""
    brier: Estimate
    log_loss: Estimate
    curve: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Study:
    """The complete result of a study."""

    game: str
    positions: int
    games: int
    persons: int
    """Number of people who replied; each game without the person's name counts as a separate person."""
    effective_persons: float
    """Effective number of persons, P (`storage.evidence.inference.persons`); no intervals below 30."""
    replies: int
    bad_replies: int
    errors: PersonShare
    """Share of the replies played that were errors."""
    baits: BaitTable | None
    """The table of baits, including the primary endpoint; None if not requested."""
    experience: tuple[ErrorBand, ...]
    """Errors by the number of games that the person had played before; empty if that number is unknown."""
    mean_loss: Estimate
    nll: dict[str, Estimate]
    """Mean negative log-likelihood of the replies played, keyed by model name."""
    top1: dict[str, Estimate]
    """Share of the replies that were the model's most probable reply, keyed by model name."""
    figure9: tuple[Figure9, ...]
    human_models: tuple[str, ...]
    """Names of the human-move models among the predictors; the first one is the calibrated model's input."""
    temptation: dict[str, tuple[Temptation, ...]]
    """Frequencies of traps and other replies by cost, for each trap definition (`trap_kinds`)."""
    bad_reply: tuple[PredictorQuality, ...]
    """Quality of the predictors of "this bad reply is played", measured on all bad replies."""
    added: tuple[AddedValue, ...]
    """What trappiness adds to each human-move model; empty if there are too few persons."""
    error: tuple[PredictorQuality, ...]
    """Quality of the predictors of "this position provokes an error", over positions with a bad reply."""

    def to_json(self) -> dict[str, Any]:
        """The study as plain JSON values."""
        return asdict(self)


def study(
    people: Population,
    calibrated: CalibratedModel | None,
    *,
    baits: BaitTable | None = None,
    tilted: Mapping[str, NDArray[np.float64]] | None = None,
    games_before: Mapping[str, int] | None = None,
    threshold_percent: float = TrapParams().threshold_percent,
    resamples: int = 1000,
    seed: int = 1,
    on_step: Callable[[str], None] = lambda _: None,
) -> Study:
    """Run the study on a population.

    Args:
        calibrated: A calibrated model that was not fitted to these games, or None.
        baits: The table of baits (`lab.analysis.baits.bait_table`).
        tilted: Reply probabilities of models tilted to the person, keyed by model; used for `experience`.
        games_before: See `lab.analysis.experience.errors_by_experience`; None if unknown.
        threshold_percent: Minimum quality at which a trap counts as set (`TrapParams.threshold_percent`).
        resamples: Number of resamples of persons, for the intervals of AUC, Brier score and log-loss.
        on_step: Called with the name of each step before it begins.
    """
    on_step("models")
    probabilities = _model_probabilities(people, calibrated)
    on_step("traps")
    kinds = trap_kinds(threshold_percent)
    qualities = {name: trap_qualities(people, params) for name, params in kinds.items()}
    judged = {name: verdicts_of(people, params) for name, params in kinds.items()}
    bad = people.loss >= MIN_ERROR_SCORE_LOSS
    on_step("bad replies")
    of_replies = _reply_predictors(people, qualities, probabilities)
    bad_reply = _judge(
        {name: scores[bad] for name, scores in of_replies.items()},
        people,
        probabilities,
        people.is_played[bad],
        people.of_position[bad],
        resamples,
        seed,
        is_within=True,
    )
    on_step("what trappiness adds")
    added = added_by_trappiness(people, probabilities, seed)
    on_step("positions")
    has_bad = people.most(bad) > 0
    of_positions = _position_predictors(people, qualities, probabilities, bad)
    lost = people.loss[people.rows.played]
    error = _judge(
        {name: scores[has_bad] for name, scores in of_positions.items()},
        people,
        probabilities,
        lost[has_bad] >= MIN_ERROR_SCORE_LOSS,
        np.flatnonzero(has_bad),
        resamples,
        seed,
        is_within=False,
    )
    persons = people.persons
    return Study(
        game=people.game.name,
        positions=len(people.positions),
        games=int(people.games.max()) + 1,
        persons=int(persons.max()) + 1,
        effective_persons=effective_persons(np.bincount(persons).astype(np.float64)),
        replies=len(people.loss),
        bad_replies=int(bad.sum()),
        errors=person_share(lost >= MIN_ERROR_SCORE_LOSS, persons),
        baits=baits,
        experience=errors_by_experience(people, {**probabilities, **(tilted or {})}, games_before),
        mean_loss=mean_of(lost, persons),
        nll={
            name: mean_of(-np.log(np.maximum(p[people.rows.played], 1e-12)), persons)
            for name, p in probabilities.items()
        },
        top1={name: mean_of(_is_top(people, p), persons) for name, p in probabilities.items()},
        figure9=tuple(figure9(people, name, kinds[name], judged[name], probabilities) for name in kinds),
        human_models=tuple(people.models),
        temptation={name: temptation(people, falls(judged[name])) for name in kinds},
        bad_reply=bad_reply,
        added=tuple(added),
        error=error,
    )


def model_probabilities(people: Population, model: CalibratedModel, has_human: bool) -> NDArray[np.float64]:
    """A calibrated model's probability for each reply."""
    starts, counts = people.rows.starts, people.rows.counts
    return np.concatenate(
        [
            model.probabilities(people.rows.features[start : start + count], has_human)
            for start, count in zip(starts, counts, strict=True)
        ]
    )


def _model_probabilities(people: Population, calibrated: CalibratedModel | None) -> Probabilities:
    probabilities: Probabilities = dict(people.models)
    if calibrated is not None:
        if people.has_human:
            probabilities[CALIBRATED] = model_probabilities(people, calibrated, True)
        probabilities[ALONE] = model_probabilities(people, calibrated, False)
    return probabilities


def _is_top(people: Population, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    return (probabilities[people.rows.played] >= people.most(probabilities) - 1e-12).astype(np.float64)


# --- Predictors -----------------------------------------------------------------------------------------


def _column(people: Population, name: str) -> NDArray[np.float64]:
    return people.rows.features[:, FEATURES.index(name)].astype(np.float64)


def _reply_predictors(
    people: Population, qualities: dict[str, NDArray[np.float64]], probabilities: Probabilities
) -> dict[str, NDArray[np.float64]]:
    """Each predictor's score for each reply; a higher score means that the reply is more probable."""
    return {
        **{f"trappiness, {kind}": _column(people, f"trappiness_{kind}") for kind in Assessment},
        **{f"trappiness x profit ({name})": quality for name, quality in qualities.items()},
        "shallow score, 2 plies": -_column(people, "gap_first"),
        "shallow score, median": -_column(people, "gap_median"),
        "shallow score, best": -_column(people, "gap_best"),
        "score at full depth": -people.loss,
        **probabilities,
    }


def _position_predictors(
    people: Population,
    qualities: dict[str, NDArray[np.float64]],
    probabilities: Probabilities,
    bad: NDArray[np.bool_],
) -> dict[str, NDArray[np.float64]]:
    """Each predictor's score for each position; a higher score means that an error is more probable."""
    never = -1e9
    return {
        **{
            f"trappiness, {kind}": people.most(np.where(bad, _column(people, f"trappiness_{kind}"), never))
            for kind in Assessment
        },
        **{f"trappiness x profit ({name})": people.most(quality) for name, quality in qualities.items()},
        **{
            f"shallow score, {text}": people.most(np.where(bad, -_column(people, name), never))
            for text, name in (("2 plies", "gap_first"), ("median", "gap_median"), ("best", "gap_best"))
        },
        "bad replies' share": people.sums(bad) / people.rows.counts,
        **{name: people.sums(np.where(bad, p, 0.0)) for name, p in probabilities.items()},
    }


def _judge(
    predictors: dict[str, NDArray[np.float64]],
    people: Population,
    probabilities: Probabilities,
    hits: NDArray[np.bool_],
    positions: NDArray[np.int64],
    count: int,
    seed: int,
    *,
    is_within: bool,
) -> tuple[PredictorQuality, ...]:
    """Measure how well each predictor separates cases in which the predicted event occurred from the others.

    Args:
        positions: The index of each case's position, in ascending order.
        is_within: Whether positions have several cases each; only then is an AUC within positions defined.
    """
    if not len(hits) or hits.all() or not hits.any():
        return ()
    persons = np.unique(people.persons[positions], return_inverse=True)[1].astype(np.int64)
    resamples = Resamples(persons, count, seed)
    areas = {name: resamples.auc(scores, hits) for name, scores in predictors.items()}
    inside = {name: within_auc(scores, hits, positions) for name, scores in predictors.items() if is_within}
    ranked = people.persons[np.unique(positions)]
    judged = []
    for name, scores in predictors.items():
        given = scores if name in probabilities else as_probabilities(scores, hits, persons)
        others = [other for other in (*people.models, PAPER) if other != name]
        judged.append(
            PredictorQuality(
                name,
                areas[name].estimate,
                {other: areas[name].minus(areas[other]).estimate for other in others},
                _mean_known(inside[name], ranked) if is_within else None,
                {other: _mean_known(inside[name] - inside[other], ranked) for other in others if is_within},
                name in probabilities,
                resamples.brier(given, hits).estimate,
                resamples.log_loss(given, hits).estimate,
                tuple(reliability(given, hits, persons)),
            )
        )
    return tuple(judged)


def _mean_known(values: NDArray[np.float64], persons: NDArray[np.int64]) -> Estimate:
    known = np.isfinite(values)
    return mean_of(values[known], persons[known])
