"""Asks a game's models about a position that a person faces, to predict their reply or to learn from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.decision import Candidate, Person
from engine.game import Game
from engine.human.model import NO_MODEL, SHALLOW, BadModel, PredictionQuery
from engine.human.opponent_model_search import GameModels, query_model
from engine.human.person_prior import base_key, costs_of
from engine.human.reply_probabilities import ReplyPrediction, predict_replies
from engine.person.card import PersonModel, person_model
from engine.person.state import FacedPosition


@dataclass(frozen=True, slots=True)
class Faced:
    """A position that a person faces, and the models' answers."""

    model: PersonModel
    """How the person is predicted with these models."""
    position: FacedPosition
    prediction: ReplyPrediction
    """The prediction for a person of whom nothing but the rating is known."""


def person_model_of(game_name: str, models: GameModels) -> PersonModel | None:
    """How the persons of a game are predicted if all of its models work; None without a model of people.

    Raises:
        BadModel: A model or the card cannot be read.
    """
    human = models.human.info
    if human.kind == NO_MODEL:
        raise BadModel(f"the models of {game_name} cannot be opened")
    network = None if human.kind == SHALLOW else human
    model = network if models.calibrated is None else models.calibrated.info
    if model is None:
        return None
    base = base_key(model, None if models.calibrated is None else network)
    return person_model(game_name, models.person_prior, base)


def face(
    game: Game[Any],
    positions: Sequence[Any],
    candidate: Candidate,
    models: GameModels,
    person: Person,
    ply: int,
    seconds: float | None = None,
) -> Faced | None:
    """Ask the models about the position after a move of ours.

    Args:
        game: The rules.
        positions: See `engine.human.reply_probabilities.predict_replies`, as for the next three.
        candidate: Our move with its complete profile.
        models: The game's models.
        person: The person who replies.
        ply: Number of plies before the reply.
        seconds: `engine.human.person_prior.estimated_side_time_s` of the game; None if unknown.

    Returns:
        The answers; None if no model answers.

    Raises:
        IncompleteProfile: The candidate's profile is incomplete.
        ValueError: The candidate's replies are not the legal ones, in the game's order.
        BadModel: The card of the game's persons is missing or damaged.
    """
    prediction = predict_replies(game, positions, candidate, models, person, seconds)
    if prediction is None:
        return None
    model = person_model(game.name, models.person_prior, base_key(prediction.model, prediction.human))
    after = positions[-1]
    faced = FacedPosition(
        position=game.position_text(after),
        ply=ply,
        replies=prediction.replies,
        base=prediction.base,
        costs=reply_costs_of(game, after, candidate, model),
        planes=planes_of(game, positions, models, model, person),
    )
    return Faced(model, faced, prediction)


def reply_costs_of(
    game: Game[Any], after: Any, candidate: Candidate, model: PersonModel
) -> tuple[float, ...]:
    """What each reply costs, from 0 to 1, by the depth that the prior of the tilt was fitted to.

    Args:
        game: The rules.
        after: The position in which the person replies.
        candidate: Our move with its complete profile.
        model: Has the prior.

    Raises:
        IncompleteProfile: The candidate's profile is incomplete.
    """
    return costs_of(candidate, game.expected_scale_centi(after), model.tilt.depth)


def planes_of(
    game: Game[Any], positions: Sequence[Any], models: GameModels, model: PersonModel, person: Person
) -> tuple[tuple[float, ...], ...] | None:
    """The values of the network's person planes for each reply; None if the network does not work, or is not
    the one with which vectors are learned.

    Args:
        game: The rules.
        positions: See `face`, as for `models` and `person`.
        models: Has the network.
        model: Has the prior of the vector.
        person: The person who replies.
    """
    network, prior = models.planes, model.card.vector
    if network is None or prior is None or network.info.sha256 != prior.network:
        return None
    query = PredictionQuery(tuple(positions[-2:]), person)
    try:
        return query_model(network.info.name, lambda: network.planes(query))
    except BadModel as error:
        models.health.record_failure(game.name, error)
        return None
