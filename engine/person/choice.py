"""What is known of the person who replies, for the choice of a move, and the verification of its record."""

import logging
from collections.abc import Sequence
from typing import Any

from engine.decision import AdaptedReplies, Candidate, Decision, Person, StateUse
from engine.errors import RecordError
from engine.game import Game
from engine.games import get_rules
from engine.human.model import CALIBRATED
from engine.human.opponent_model_search import AdaptedPrediction, GameModels
from engine.person.card import PersonModel
from engine.person.faced import person_model_of, planes_of, reply_costs_of
from engine.person.known import present_tilts
from engine.person.prediction import predict_from_memory, predict_person, verify_person_use
from engine.person.state import FacedPosition, KnownPerson
from engine.person.tilt import Weights

logger = logging.getLogger(__name__)

_Planes = tuple[tuple[float, ...], ...] | None


class ReplyAdapter:
    """Predicts the person's replies in one decision; an `engine.human.opponent_model_search.PersonAdapter`.

    If the person's state cannot be used (other models are rebuilding it, or something in it is damaged), the
    probabilities of people in general are.

    Args:
        known: What is known of the person; its `ply` is that of the reply.
        seconds: `engine.human.person_prior.estimated_side_time_s` of the game; None if unknown.
    """

    def __init__(self, known: KnownPerson, seconds: float | None) -> None:
        self._known = known
        self._seconds = seconds
        self._is_usable = True
        self._model: PersonModel | None = None
        self._weights: Weights = ()
        self._planes: dict[str, _Planes] = {}

    @property
    def version(self) -> str:
        """See `StateUse`."""
        return self._known.state.version

    @property
    def games(self) -> int:
        """See `StateUse`."""
        return self._known.state.games

    def adapted(
        self,
        game: Game[Any],
        positions: Sequence[Any],
        models: GameModels,
        person: Person,
        move: str,
        base: Sequence[float],
        profile: Candidate | None,
    ) -> AdaptedPrediction | None:
        """See `engine.human.opponent_model_search.PersonAdapter.adapted`."""
        if not self._is_usable:
            return None
        known, after = self._known, positions[-1]
        try:
            if self._model is None:
                self._model = person_model_of(game.name, models)
            model = self._model
            if model is None or known.state.version != model.version:
                self._is_usable = False
                return None
            text, replies = game.position_text(after), tuple(map(game.move_text, game.legal_moves(after)))
            if profile is None:
                found = predict_from_memory(model, known.state, text, known.ply, replies, base)
            else:
                if move not in self._planes:  # they do not depend on the depth
                    self._planes[move] = planes_of(game, positions, models, model, person)
                self._weights = self._weights or present_tilts(known, model, person.rating, self._seconds)
                faced = FacedPosition(
                    position=text,
                    ply=known.ply,
                    replies=replies,
                    base=tuple(base),
                    costs=reply_costs_of(game, after, profile, model),
                    planes=self._planes[move],
                )
                found = predict_person(model, known.state, faced, self._weights)
        except Exception as error:  # the game matters more
            self._is_usable = False
            logger.warning(
                "%s: what is known of a person cannot be used for this move: %s: %s",
                game.name,
                type(error).__name__,
                error,
            )
            return None
        if found is None:
            return None
        return AdaptedPrediction(found.probabilities, AdaptedReplies(move, found.base, found.use))


def verify_state_use(decision: Decision, model: PersonModel) -> None:
    """Recompute the probabilities of the replies to the chosen and the best move from the record alone.

    A decision that used no state, or whose use of it was erased at the person's request, is not checked.

    Args:
        decision: May be pruned; then only the moves with their replies are checked.
        model: The model that made the prediction (`engine.person.card.person_model`).

    Raises:
        RecordError: The probabilities do not follow from the record; the message says where.
    """
    use = None if decision.model_use is None else decision.model_use.state
    if use is None:
        return
    is_calibrated = decision.model is not None and decision.model.kind == CALIBRATED
    known = {each.move: each for each in use.moves}
    preferred = decision.move if decision.proof is None else decision.proof.preferred
    if is_calibrated and preferred not in known and _has_choice(decision, preferred):
        raise RecordError(f"{preferred}: the record does not say how its replies were adapted to the person")
    candidates = {each.move: each for each in decision.candidates}
    for move, replies in known.items():
        candidate = candidates.get(move)
        if decision.is_pruned and (candidate is None or not candidate.replies):
            continue
        if candidate is None:
            raise RecordError(f"{move}: its replies were adapted to the person, but it is not a candidate")
        try:
            _verify_replies(decision, candidate, replies, use, model, is_calibrated=is_calibrated)
        except RecordError as error:
            raise RecordError(f"{move}: {error}") from error


def _has_choice(decision: Decision, move: str) -> bool:
    """Whether probabilities of two replies or more to a move are recorded."""
    return any(
        each.move == move and len(each.replies) > 1 and each.replies[0].probability is not None
        for each in decision.candidates
    )


def _verify_replies(
    decision: Decision,
    candidate: Candidate,
    replies: AdaptedReplies,
    use: StateUse,
    model: PersonModel,
    *,
    is_calibrated: bool,
) -> None:
    person = replies.person
    if (person.version, person.games) != (use.version, use.games):
        raise RecordError("its replies were adapted by another state of the person")
    costs: tuple[float, ...] = ()
    if is_calibrated:
        game = get_rules(decision.game)
        position = game.parse_position(decision.position)
        after = game.play(position, game.parse_move(position, candidate.move))
        costs = reply_costs_of(game, after, candidate, model)
    if person.costs != costs:
        raise RecordError("the costs of the replies are not those of the decision")
    verify_person_use(
        model,
        [each.reply for each in candidate.replies],
        replies.base,
        [-1.0 if each.probability is None else each.probability for each in candidate.replies],
        person,
    )
