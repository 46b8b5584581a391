"""Strategies that use a UCI or UCCI engine's scores or moves, or our own if that engine does not answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from engine.decision import Candidate, Decision, SearchMode
from engine.errors import RecordError
from engine.human.opponent_model_search import OpponentModelSearch
from engine.lookup.source import LookupMove
from engine.protocols.engine_source import EngineAnalysis, EngineMove
from engine.strategies.calibrated import Calibrated
from engine.strategies.known_moves import KnownMoves
from engine.strategies.move_context import MoveContext
from engine.strategies.opponent_model import OpponentModel
from engine.strategies.records import verify_unscored_choice
from engine.strategies.strategy import Strategy
from engine.strategies.trappy import Trappy
from engine.trappy import with_trap


@dataclass(frozen=True, kw_only=True)
class OnEngineScores(Strategy):
    """A mixin that lets a strategy use an external engine's scores instead of ours."""

    asks_engine: ClassVar[bool] = True
    wins_plainly: ClassVar[bool] = False
    is_compared: ClassVar[bool] = False

    def search(self, context: MoveContext, people: OpponentModelSearch | None) -> Decision:
        """See `Strategy.search`."""
        answer = context.ask_engine(
            lambda engine, left: engine.analyse(context.position, context.params, left, context.stop, people)
        )
        return (
            super().search(context.with_remaining_time(), people)
            if answer is None
            else self._by_engine(context, answer)
        )

    def _by_engine(self, context: MoveContext, found: EngineAnalysis) -> Decision:
        """The decision from the engine's scores, with the chosen move's profile already complete."""
        candidates = found.candidates
        if not self.counts_bonus:
            candidates = tuple(with_trap(c, context.params, swindle=True) for c in candidates)
        move = self.best_move(candidates, context.params)
        return context.decision(
            move,
            candidates,
            found.depth,
            principal_variation=found.variation or (move,),
            nodes=found.info.nodes,
            profile_source=found.info.name,
            search_mode=SearchMode.ENGINE,
            source=found.info,
        )

    def verifiers_by_mode(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `Strategy.verifiers_by_mode`."""
        return {**super().verifiers_by_mode(), SearchMode.ENGINE: self.verify_window}

    def verify_window(self, decision: Decision) -> None:
        """Check a choice made from the engine's scores, which prove nothing about unanalysed moves.

        The moves not analysed must be exactly those below the record's floor; all other moves must have
        complete profiles, unless an opponent model selected the relevant replies.
        """
        self.verify_choice(decision)
        if decision.source is None:
            raise RecordError("the scores came from an engine, but the engine is not in the record")
        for candidate in decision.candidates:
            if not candidate.raw_is_bound:
                if not candidate.is_whole and (self.counts_bonus or candidate.move == decision.move):
                    raise RecordError(f"{candidate.move} was analysed, but its profile is incomplete")
            elif candidate.replies or candidate.complete:
                raise RecordError(f"{candidate.move} was not analysed, but has a profile")
            elif candidate.raw_centi > decision.source.floor_centi:
                raise RecordError(
                    f"{candidate.move} was not analysed, but at {candidate.raw_centi} it is above the floor, "
                    f"{decision.source.floor_centi}"
                )


@dataclass(frozen=True, kw_only=True)
class TrappyOnEngine(OnEngineScores, Trappy):
    """The trappy strategy, based on an external engine's scores."""

    plays_engine_games: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class OpponentModelOnEngine(OnEngineScores, OpponentModel):
    """The opponent_model strategy, based on an external engine's scores."""


@dataclass(frozen=True, kw_only=True)
class CalibratedOnEngine(OnEngineScores, Calibrated):
    """The calibrated strategy, based on an external engine's scores."""


@dataclass(frozen=True, kw_only=True)
class EngineMoves(KnownMoves):
    """Plays the best move of the engine's own search; sets no traps."""

    asks_engine: ClassVar[bool] = True
    wins_plainly: ClassVar[bool] = False
    plays_engine_moves: ClassVar[bool] = True
    plays_engine_games: ClassVar[bool] = True

    def search(self, context: MoveContext, people: OpponentModelSearch | None) -> Decision:
        """See `Strategy.search`."""
        answer = context.ask_engine(lambda engine, left: engine.play(context.position, left, context.stop))
        if answer is not None and answer.replies is not None:
            return self._by_engine(context, answer)
        context = context.with_remaining_time()
        if answer is None:
            return super().search(context, people)
        move = context.use.game.parse_move(context.position, answer.move)
        known = LookupMove(move, SearchMode.ENGINE_MOVE, answer.pick)
        return replace(self.decide_from_lookup(context, known), source=answer.info)

    def _by_engine(self, context: MoveContext, found: EngineMove) -> Decision:
        """The decision for an engine's own move, with the engine's profiles of the replies."""
        game, replies = context.use.game, found.replies or ()
        # The engine's search says that no other move is better.
        bound = found.info.floor_centi
        candidates = tuple(
            with_trap(
                Candidate(move, found.raw_centi, False, 0.0, replies=replies, complete=True)
                if move == found.move
                else Candidate(move, bound, raw_is_bound=True, adjusted_centi=0.0),
                context.params,
                swindle=True,
            )
            for move in map(game.move_text, game.legal_moves(context.position))
        )
        return context.decision(
            found.move,
            candidates,
            found.depth,
            principal_variation=found.variation or (found.move,),
            nodes=found.info.nodes,
            profile_source=found.info.name,
            search_mode=SearchMode.ENGINE_MOVE,
            pick=found.pick,
            source=found.info,
        )

    def verifiers_by_mode(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `Strategy.verifiers_by_mode`."""
        return {**super().verifiers_by_mode(), SearchMode.ENGINE_MOVE: _verify_engine_move}


def _verify_engine_move(decision: Decision) -> None:
    """Check that the record of an engine's own move has the engine, its score and the complete profile."""
    verify_unscored_choice(decision)
    source, pick = decision.source, decision.pick
    if source is None:
        raise RecordError(f"{decision.move} came from an engine, but the engine is not in the record")
    if decision.profile_source != source.name:
        return  # judged by exact scores
    if not decision.chosen.is_whole:
        raise RecordError(f"{decision.move} was judged by {source.name}, but its profile is incomplete")
    if pick is not None and pick.score_centi not in (None, source.floor_centi):
        raise RecordError(
            f"{decision.move}: {source.name} found {pick.score_centi}, not {source.floor_centi}"
        )
    for other in decision.candidates:
        is_bound = other.raw_is_bound and not other.replies and other.raw_centi == source.floor_centi
        if other.move != decision.move and not is_bound:
            raise RecordError(f"{other.move} was not analysed, but is not bounded by {source.floor_centi}")


TRAPPY_UCI = TrappyOnEngine(name="trappy_uci")
STANDARD_UCI = EngineMoves(name="standard_uci")
OPPONENT_MODEL_UCI = OpponentModelOnEngine(name="opponent_model_uci")
CALIBRATED_UCI = CalibratedOnEngine(name="calibrated_uci")
