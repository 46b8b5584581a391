"""The probabilities of a person's replies to a move of ours, from the best available models.

The calibrated model predicts if there is one, otherwise the human-move network; if both are missing or fail,
there is no prediction. The people model (`engine.human.person_prior`) then tilts the prediction according to
the person's rating and the game's speed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.decision import Candidate, ModelInfo, Person
from engine.game import Game
from engine.human.model import SHALLOW, BadModel, PredictionQuery, predictions_of
from engine.human.opponent_model_search import GameModels, query_model
from engine.human.person_prior import base_key, costs_of
from engine.human.reply_forecast import JudgeTilt
from engine.human.reply_model import checked_probabilities


@dataclass(frozen=True, slots=True)
class ReplyPrediction:
    """The probabilities of a person's replies to a move, and the models that predicted them."""

    replies: tuple[str, ...]
    """Every legal reply, in the game's order."""
    probabilities: tuple[float, ...]
    """Probability of each reply; the probabilities sum to 1."""
    base: tuple[float, ...]
    """The probabilities before the tilt, as `model` predicted them."""
    model: ModelInfo
    """A calibrated model or a human-move network."""
    human: ModelInfo | None
    """The human-move network whose predictions a calibrated `model` received; None if it received none or
    `model` is the network."""
    version: str
    """SHA-256 of the people model's card if the prediction was tilted; otherwise empty."""
    judge_tilt: JudgeTilt | None = None
    """See `ReplyForecast.judge_tilt`."""


def predict_replies(
    game: Game[Any],
    positions: Sequence[Any],
    candidate: Candidate,
    models: GameModels,
    person: Person,
    seconds: float | None = None,
) -> ReplyPrediction | None:
    """Predict a person's reply; can run in any thread to which `models` was lent.

    Args:
        game: The rules.
        positions: The game's latest positions, oldest first; the last one is the position after our move.
            Networks use as many as they can, and work with fewer.
        candidate: Our move with its complete profile.
        models: The game's models (`engine.human.registry.ModelRegistry.lend`).
        person: The person who replies.
        seconds: `engine.human.person_prior.estimated_side_time_s` of the game; None if unknown.

    Returns:
        The prediction; None if no model exists or answers (only the first of consecutive failures is logged),
        or if the move has no legal replies.

    Raises:
        IncompleteProfile: The candidate's profile is incomplete.
        ValueError: The candidate's replies are not the legal ones, in the game's order.
    """
    candidate.require_whole()
    after = positions[-1]
    replies = tuple(reply.reply for reply in candidate.replies)
    if replies != tuple(game.move_text(move) for move in game.legal_moves(after)):
        where = game.position_text(after)[:200]
        raise ValueError(f"the replies to {candidate.move} are not the legal ones of {where}")
    if not replies:
        return None
    failures = models.health.failures[0]
    human = _of_network(game, positions, models, person)
    prediction = _of_calibrated(game, after, candidate, models, human, person)
    judge_tilt = None
    if prediction is not None:
        model, base, beside = prediction
        judge_tilt = None if models.calibrated is None else models.calibrated.judge_tilt
    elif human is not None:
        model, base, beside = models.human.info, human, None
    else:
        return None
    if models.health.failures[0] == failures:  # both models that were asked
        models.health.record_success(game.name)
    key = base_key(model, beside)
    prior = models.person_prior
    if prior is None or key not in prior.bases:
        return ReplyPrediction(replies, base, base, model, beside, "", judge_tilt)
    costs = costs_of(candidate, game.expected_scale_centi(after), prior.bases[key].depth)
    tilted = prior.tilted(key, base, costs, person.rating, seconds)
    return ReplyPrediction(replies, tilted, base, model, beside, prior.version, judge_tilt)


def _of_network(
    game: Game[Any], positions: Sequence[Any], models: GameModels, person: Person
) -> tuple[float, ...] | None:
    model = models.human
    if model.info.kind == SHALLOW:
        return None
    query = PredictionQuery(tuple(positions[-max(1, model.max_history_positions) :]), person)
    try:
        return query_model(model.info.name, lambda: predictions_of(model, game, [query])[0])
    except BadModel as error:
        models.health.record_failure(game.name, error)
        return None


def _of_calibrated(
    game: Game[Any],
    after: Any,
    candidate: Candidate,
    models: GameModels,
    human: tuple[float, ...] | None,
    person: Person,
) -> tuple[ModelInfo, tuple[float, ...], ModelInfo | None] | None:
    """Return the calibrated model's info and answer, and the info of the network that it used."""
    model = models.calibrated
    if model is None:
        return None
    try:
        probabilities = query_model(
            model.info.name, lambda: checked_probabilities(model, game, after, candidate, human, person)
        )
    except BadModel as error:
        models.health.record_failure(game.name, error)
        return None
    answer = tuple(probabilities[reply.reply] for reply in candidate.replies)
    return model.info, answer, None if human is None else models.human.info
