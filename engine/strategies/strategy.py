"""Defines `Strategy`, the base class of all strategies."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from engine.decision import Candidate, Decision, SearchMode
from engine.errors import RecordError
from engine.human.opponent_model_search import OpponentModelSearch
from engine.lookup.source import LookupMove
from engine.params import TrapParams
from engine.search.profiles import Profiler
from engine.search.reference import INFINITY
from engine.search.searchers import NativeSearcher
from engine.strategies.move_context import Analysis, MoveContext
from engine.strategies.proof import proved, unproved, verify_proof, with_reserve
from engine.strategies.records import verify_candidates, verify_pruned_candidates, verify_variety_draw
from engine.strategies.technique import LOOKUP_MODES, verify_known_win, verify_won_game, with_technique
from engine.trappy import is_swindle


@dataclass(frozen=True, kw_only=True)
class Strategy(ABC):
    """One kind of player: its requirements, its choice, and the verification of its records.

    `engine.move_chooser.MoveChooser` runs a strategy under limits. Records, settings and messages carry the
    strategy's name; code never compares names, but uses the properties of the named strategy
    (`engine.strategies.registry`). Adding a strategy takes one module and one line in the registry.
    """

    name: str
    """The strategy's name in records, settings and messages."""

    sets_traps: ClassVar[bool] = False
    """Whether the strategy sets traps on purpose; other strategies set traps only by accident."""
    counts_bonus: ClassVar[bool] = False
    """Whether candidates' adjusted values include the bonus for a trap (`engine.trappy`)."""
    is_calibrated: ClassVar[bool] = False
    """Whether the strategy uses reply probabilities learned from games (`engine.human.calibrated`)."""
    models_opponent: ClassVar[bool] = False
    """Whether the strategy needs a model of the opponent."""
    weighs_errors: ClassVar[bool] = False
    """Whether the strategy weighs the opponent's errors (`engine.opponents.exploit_value`)."""
    searches_selectively: ClassVar[bool] = False
    """Whether the strategy uses the selective search."""
    looks_up: ClassVar[bool] = False
    """Whether the strategy uses books and tables (`engine.lookup`)."""
    asks_engine: ClassVar[bool] = False
    """Whether the strategy uses another engine (UCI, UCCI), with our own search as a fallback."""
    plays_engine_moves: ClassVar[bool] = False
    """Whether the strategy plays the best move of the other engine's own search."""
    plays_engine_games: ClassVar[bool] = False
    """Whether the strategy also plays the games that need another engine (`engine.games.ENGINE_GAMES`)."""
    draws_decisions: ClassVar[bool] = False
    """Whether, against people, the strategy decides some moves between trap and no trap at random
    (`engine.randomised`)."""
    imitates_people: ClassVar[bool] = False
    """Whether the strategy plays as people of a rating do (`engine.strategies.like`)."""
    has_level: ClassVar[bool] = False
    """Whether the strategy plays below full strength, at a level (`engine.variety.LEVELS`)."""
    wins_plainly: ClassVar[bool] = True
    """Whether the strategy may win a won game without traps (`engine.strategies.technique`)."""
    is_compared: ClassVar[bool] = False
    """Whether comparisons include the strategy when the settings name no strategies."""

    @property
    def uses_people_models(self) -> bool:
        """Whether the strategy needs human-move models: of the opponent, or of the people it imitates."""
        return self.models_opponent or self.imitates_people

    # --- Choosing ---------------------------------------------------------------------------------------

    def for_position(self, expected_scale_centi: float) -> Self:  # noqa: ARG002
        """Return the strategy with the game's own logistic function, if it needs one and none is set.

        Args:
            expected_scale_centi: `Game.expected_scale_centi` of the position.
        """
        return self

    def choose(self, context: MoveContext) -> Decision:
        """Choose a move. The caller fills in the time and, for our own searches, the nodes.

        A stopped search falls back on the deepest completed iteration.  The first iteration, of two plies,
        always completes, so there is always a decision.
        """
        known = context.look_up() if self.looks_up else None
        if known is not None:
            return self.decide_from_lookup(context, known)
        return with_technique(context, self._decide) if self.wins_plainly else self._decide(context)

    def _decide(self, context: MoveContext) -> Decision:
        return context.draw_for_variety() or self.decide_with_proof(context)

    def decide_with_proof(self, context: MoveContext) -> Decision:
        """`decide`, and the proof of a preferred move if moves are to be proved, within the same limits."""
        # Strategies that search selectively compare the moves by deeper searches themselves.
        is_proved = context.use.proves and self.sets_traps and not self.asks_engine
        is_proved = is_proved and not self.searches_selectively
        if not is_proved or not isinstance(context.use.searcher, NativeSearcher):
            return self.decide(context)
        return proved(context, self.decide(with_reserve(context)), self.max_cost)

    def decide(self, context: MoveContext) -> Decision:
        """Choose a move when no book or table has the position and no line must be avoided."""
        return self.search(context, None)

    def search(self, context: MoveContext, people: OpponentModelSearch | None) -> Decision:
        """Choose a move from scores.

        Args:
            context: The position and the limits.
            people: Values the moves with the human-move model; None if there is no model.

        Raises:
            BadModel: A model did not return a prediction.
            Stopped: The search was stopped before a model had judged the moves of the first iteration.
        """
        candidates, depth = context.deepen(self.analysis(context, people), context.own_limits())
        return context.with_variation(self.decision_from(context, candidates, depth))

    def decision_from(self, context: MoveContext, candidates: Sequence[Candidate], depth: int) -> Decision:
        """Make the record of the choice that follows from the candidates."""
        return context.decision(self.best_move(candidates, context.params), candidates, depth)

    def decide_from_lookup(self, context: MoveContext, known: LookupMove) -> Decision:
        """Make the record of a move from a book or table."""
        raise NotImplementedError(f"{self.name} players use no books, but got {known}")

    @abstractmethod
    def analysis(self, context: MoveContext, people: OpponentModelSearch | None) -> Analysis:
        """Return the analysis on which the choice depends."""

    @abstractmethod
    def best_move(self, candidates: Sequence[Candidate], params: TrapParams) -> str:
        """The move that the candidates determine; a move with only a bound on its raw value is never chosen.

        Args:
            candidates: Every legal move, in the game's order, with the scores known so far.
            params: Parameters of the trap arithmetic.
        """

    def max_cost(self, decision: Decision, best: int) -> float | None:  # noqa: ARG002
        """The most that a preferred move may cost; None if the strategy prefers no move to the best one.

        Args:
            decision: The record with the parameters.
            best: Our expected score after the best move. This and the result are in hundredths of a per cent.
        """
        return None

    def rank_candidates(self, profiler: Profiler, depth: int, params: TrapParams) -> list[Candidate]:  # noqa: ARG002
        """Candidates with exact raw values of all moves, for ranking and choosing."""
        return profiler.raw_candidates(depth, INFINITY)

    # --- Verifying --------------------------------------------------------------------------------------

    def verify(self, decision: Decision) -> None:
        """Recompute a choice from its record; see `engine.verification.verify`.

        Raises:
            RecordError: The choice does not follow from the record; the message states the discrepancy.
            BadSettings: The record lacks parameters that the strategy's arithmetic needs.
            IncompleteProfile: The record lacks scores that the check needs.
        """
        if decision.trial_draw is not None:
            raise RecordError(
                f"there was a random draw, but {decision.move} was chosen by {decision.search_mode.value!r}"
            )
        if decision.proof is not None:
            verify_proof(decision, decision.proof, self.max_cost)
            decision = unproved(decision)
        verify_candidates(decision, counts_bonus=self.counts_bonus)
        verify_mode = self.verifiers_by_mode().get(decision.search_mode)
        if verify_mode is None:
            raise RecordError(f"{self.name} players do not choose by {decision.search_mode.value!r}")
        verify_mode(decision)

    def verifiers_by_mode(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """The search modes of the strategy's choices, each with the function that checks such a choice."""
        won: dict[SearchMode, Callable[[Decision], None]] = {}
        if self.wins_plainly:
            won = {SearchMode.STRONG: verify_won_game, **dict.fromkeys(LOOKUP_MODES, verify_known_win)}
        return {SearchMode.EXACT: self.verify_scores, SearchMode.VARIETY_DRAW: verify_variety_draw, **won}

    def verify_scores(self, decision: Decision) -> None:
        """Check a choice that was made from our own exact scores."""
        self.verify_choice(decision)
        swindle = is_swindle(decision.candidates, decision.params)
        verify_pruned_candidates(decision, counts_bonus=self.counts_bonus, swindle=swindle)

    def verify_choice(self, decision: Decision) -> None:
        """Check that the move is the one that the recorded candidates determine."""
        follows = self.best_move(decision.candidates, decision.params)
        if decision.move != follows:
            raise RecordError(f"{decision.move} was played, but {follows} follows")
