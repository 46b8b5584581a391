"""Plays as people of a rating do: each move is drawn from a model of their moves (`engine.person.draw`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from engine.decision import UNKNOWN_PERSON, Candidate, Decision, PersonDraw, ReplyProfile, SearchMode
from engine.human.model import PredictionQuery, predictions_of
from engine.human.shallow import ShallowModel
from engine.params import TrapParams
from engine.person.draw import MIN_PROBABILITY, SEED_BITS, drawn_move, verify_person_draw, win_share
from engine.search.profiles import scores_after
from engine.stop import StopFlag, Stopped
from engine.strategies.move_context import RAW_ANALYSIS, Analysis, MoveContext, best_raw_move
from engine.strategies.strategy import Strategy
from engine.trappy import utility

if TYPE_CHECKING:  # it loads numpy, which takes a while: only when used
    from engine.human.reply_probabilities import ReplyPrediction

_FIRST_DEPTH, _MAX_DEPTH = 1, 4  # plies searched after each move, for what it costs
_TIME_SHARE = 0.5  # of the move's time; the rest is for the models
_GROWTH = 6.0  # the greatest ratio between the times of two depths


@dataclass(frozen=True, kw_only=True)
class Like(Strategy):
    """Imitates `Background.imitated`; without a human-move model, by the estimate from shallow searches.

    The costs of the moves, which calibrated models and the people model's tilt need, come from searches of
    `_MAX_DEPTH` plies after each move; they also give the exact scores with which replies are judged.
    """

    imitates_people: ClassVar[bool] = True
    wins_plainly: ClassVar[bool] = False

    def _decide(self, context: MoveContext) -> Decision:
        return self.decide(context)  # earlier games are not avoided: people repeat theirs

    def decide(self, context: MoveContext) -> Decision:
        """See `Strategy.decide`."""
        use, background = context.use, context.background
        person = background.imitated or UNKNOWN_PERSON
        scores = _scores_after_moves(context)
        moves = use.game.legal_moves(context.root)
        candidates = [
            Candidate(
                use.game.move_text(move),
                -each[-1],
                raw_is_bound=False,
                adjusted_centi=utility(-each[-1], context.params),
                complete=not use.game.legal_moves(use.game.play(context.root, move)),
            )
            for move, each in zip(moves, scores, strict=True)
        ]
        profile = _profile(candidates, scores)
        predicted = _prediction(context, profile)
        seed = use.rng.getrandbits(SEED_BITS) if context.seed is None else context.seed
        draw = PersonDraw(
            person,
            predicted.model,
            predicted.human,
            predicted.version,
            predicted.probabilities,
            win_share(person.rating),
            MIN_PROBABILITY,
            f"{seed:016x}",
        )
        move = drawn_move(candidates, draw)
        # Searching n plies after a move is a search of n + 1 plies.
        return context.decision(
            move, candidates, len(scores[0]), search_mode=SearchMode.PERSON, person_draw=draw
        )

    def analysis(self, context: MoveContext, people: object) -> Analysis:  # noqa: ARG002
        """See `Strategy.analysis`."""
        return RAW_ANALYSIS

    def best_move(self, candidates: Sequence[Candidate], params: TrapParams) -> str:  # noqa: ARG002
        """See `Strategy.best_move`."""
        return best_raw_move(candidates)

    def verifiers_by_mode(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `Strategy.verifiers_by_mode`."""
        return {SearchMode.PERSON: verify_person_draw}


def _scores_after_moves(context: MoveContext) -> list[tuple[int, ...]]:
    """For each legal move, the opponent's exact scores after it, by searches of 0, 1, 2 ... plies."""
    game, searcher, stop, root = context.use.game, context.use.searcher, context.stop, context.root
    moves = game.legal_moves(root)

    def search(least: int, most: int, flag: StopFlag) -> Sequence[tuple[int, ...]]:
        return scores_after(game, searcher, root, moves, least, most, flag)

    scores = [tuple(each) for each in search(0, _FIRST_DEPTH, StopFlag())]
    limit_s = context.limits.time_s
    for depth in range(_FIRST_DEPTH + 1, min(_MAX_DEPTH, context.limits.depth - 1) + 1):
        began_s = stop.now_s()
        try:
            more = search(depth, depth, stop)
        except Stopped:
            break
        scores = [known + tuple(each) for known, each in zip(scores, more, strict=True)]
        now_s = stop.now_s()
        next_end_s = now_s - context.began_s + _GROWTH * (now_s - began_s)
        if limit_s is not None and next_end_s > _TIME_SHARE * limit_s:
            break
    return scores


def _profile(candidates: Sequence[Candidate], scores: Sequence[tuple[int, ...]]) -> Candidate:
    """Our moves as the replies to a move of the opponent's, whose view the scores have."""
    replies = tuple(ReplyProfile(each.move, found) for each, found in zip(candidates, scores, strict=True))
    least = min(reply.final_centi for reply in replies)
    return Candidate("", least, raw_is_bound=False, adjusted_centi=0.0, replies=replies, complete=True)


def _prediction(context: MoveContext, profile: Candidate) -> "ReplyPrediction":
    """The share of people who play each of our moves."""
    from engine.human.reply_probabilities import ReplyPrediction, predict_replies

    use, background = context.use, context.background
    person = background.imitated or UNKNOWN_PERSON
    positions = (*background.before, context.position)
    if use.models is not None:
        found = predict_replies(use.game, positions, profile, use.models, person, background.side_time_s)
        if found is not None:
            return found
    model = ShallowModel(use.game.name, searcher=use.searcher)
    [probabilities] = predictions_of(model, use.game, [PredictionQuery(positions[-1:], person)])
    moves = tuple(reply.reply for reply in profile.replies)
    return ReplyPrediction(moves, probabilities, probabilities, model.info, None, "")


LIKE = Like(name="like")
