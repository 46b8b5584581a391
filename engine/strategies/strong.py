"""The best move in the time available, from books, solved endgames, tables or the selective search."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from engine.decision import ContenderCheck, Decision, DirectMove, SearchMode
from engine.game import WIN_CENTI
from engine.human.opponent_model_search import OpponentModelSearch
from engine.search import contenders as nearly
from engine.search.searchers import NativeSearcher
from engine.stop import StopFlag, Stopped
from engine.strategies.known_moves import KnownMoves
from engine.strategies.move_context import MIN_SEARCH_S, MoveContext, share_of
from engine.strategies.records import verify_unscored_choice
from engine.strategies.technique import judged_move, think, without_repetition


@dataclass(frozen=True, kw_only=True)
class Strong(KnownMoves):
    """Uses selective search, or full-width search in games that have no selective search."""

    searches_selectively: ClassVar[bool] = True
    wins_plainly: ClassVar[bool] = False

    def search(self, context: MoveContext, people: OpponentModelSearch | None) -> Decision:
        """See `Strategy.search`."""
        searcher = context.use.searcher
        if not isinstance(searcher, NativeSearcher):
            return super().search(context, people)
        nodes_before = searcher.nodes
        decision = judged_move(context)
        try:
            nodes = searcher.nodes - nodes_before
            decision = think(context, searcher, decision, nodes, context.use.strong.depth)
        except Stopped:
            return context.with_variation(decision)
        return without_repetition(context, decision) if context.use.wins_plainly else decision

    def verifiers_by_mode(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `Strategy.verifiers_by_mode`."""
        return {**super().verifiers_by_mode(), SearchMode.STRONG: verify_unscored_choice}


MIN_TIME_S = 0.05
"""With less time, the best move is played: nothing would be left for the search."""


class ContenderChoice(ABC):
    """One decision among the moves that are nearly as good as the best by the selective search.

    If there are none, the search gets the rest of the limits, and its best move is played.

    Args:
        context: The position and the limits.
        searcher: The selective search.
    """

    root_share: float
    """The share of the move's time and nodes at which the search of the root ends."""
    contender_share: float
    """The share at which the search for contenders ends."""

    min_depth: int = 6
    """Least depth of the root's search, in plies, at which contenders are compared."""
    weighs_solved: bool = False
    """Whether there are contenders, of equal result, if the search solves the game and it is not won."""

    def __init__(self, context: MoveContext, searcher: NativeSearcher) -> None:
        self._context = context
        self._searcher = searcher
        self._game = context.use.game
        self._nodes_before = searcher.nodes

    @abstractmethod
    def judged(self) -> Decision:
        """The moves with exact scores, which serve to judge the replies."""

    @abstractmethod
    def is_settled(self, pick: DirectMove) -> bool:
        """Whether the best move is played whatever the contenders, given the root's result."""

    @abstractmethod
    def floor_centi(self, pick: DirectMove) -> int:
        """The least score of a move that might be preferred, given the root's result."""

    @abstractmethod
    def unweighed(self, decision: Decision, trouble: str) -> Decision:
        """The decision of a search whose best move is played, with the reason; empty if that is its score."""

    @abstractmethod
    def weigh(
        self, found: Decision, kept: Sequence[nearly.NearlyBest], plies: int, pick: DirectMove
    ) -> Decision:
        """The decision among contenders; the best move if a part of the analysis does not finish.

        Args:
            found: The decision of the root's search.
            kept: The contenders, the best move first.
            plies: The depth of their scores.
            pick: The root's result.
        """

    def decide(self) -> Decision:
        """The decision."""
        found = self._think(self.judged(), self.root_share)
        pick = found.pick
        if pick is None or pick.score_centi is None:
            return self.unweighed(found, "the search was too short")
        if not (pick.solved and self.weighs_solved) and (pick.solved or pick.score_centi <= -WIN_CENTI):
            return self.unweighed(found, "")
        if pick.depth < self.min_depth and not pick.solved:
            return self.best_move(found, "the search was too short")
        if self.is_settled(pick):
            return self.best_move(found, "")
        try:
            kept, plies = self.contenders(found, pick)
        except Stopped:
            return self.best_move(found, "there was no time to find contenders")
        return self.weigh(found, kept, plies, pick) if len(kept) > 1 else self.alone(found)

    def contenders(self, found: Decision, pick: DirectMove) -> tuple[list[nearly.NearlyBest], int]:
        """The best move and the other contenders, and the depth of their scores, in plies.

        Raises:
            Stopped: Their share of the limits was too short.
        """
        return nearly.contenders_within(
            self._game,
            self._searcher,
            self._context.root,
            found.move,
            pick.score_centi or 0,
            self.floor_centi(pick),
            pick.depth,
            self.until(self.contender_share).stop,
        )

    def alone(self, found: Decision) -> Decision:
        """The decision if no other move is nearly as good as the best."""
        return self.best_move(found, "")

    def checked(
        self,
        preferred: str,
        best: str,
        pick: DirectMove,
        depths: Iterable[int],
        least_of: Callable[[int], int],
        stop: StopFlag,
    ) -> ContenderCheck:
        """Scores of the preferred and the best move by deeper and deeper searches, while there is time.

        Args:
            preferred: A move that may be played instead of the best.
            best: The best move of the root's search.
            pick: That search's result.
            depths: Depths of the searches, in plies from the root.
            least_of: The least score of the preferred move, given the best move's, with which it is played.
            stop: Ends the searches.

        Raises:
            Stopped: Not even the first depth was complete.
        """
        best_after, after, guess = self.after(best), self.after(preferred), -(pick.score_centi or 0)
        check = None
        for depth in depths:
            try:
                guess = nearly.score_near(self._searcher, best_after, depth - 1, guess, stop)
                least = least_of(-guess)
                found = -self._searcher.probe(after, depth - 1, -least, 1 - least, stop)
            except Stopped:
                break
            check = ContenderCheck(preferred, found, -guess, depth, stood=found >= least)
        if check is None:
            raise Stopped("the check was stopped")
        return check

    def nodes(self) -> int:
        """Positions visited so far."""
        return self._searcher.nodes - self._nodes_before

    def until(self, share: float) -> MoveContext:
        """The context whose limits end at a share of the move's, counted from its start."""
        limits = share_of(self._context.limits, share)
        if limits.nodes is not None:
            limits = replace(limits, nodes=max(1, limits.nodes - self.nodes()))
        return self._context.within(limits)

    def best_move(self, found: Decision, trouble: str) -> Decision:
        """The decision with the best move of a search that gets the rest of the limits."""
        return self.unweighed(self._think(found, 1.0), trouble)

    def after(self, move: str) -> Any:
        """The position after a move."""
        return self._game.play(self._context.root, self._game.parse_move(self._context.root, move))

    def _think(self, decision: Decision, share: float) -> Decision:
        """The decision with the best move by the selective search, unless it was found by a deeper one."""
        until, now_s = self.until(share), self._context.stop.now_s()
        if until.limits.time_s is not None:
            left_s = max(MIN_SEARCH_S, until.limits.time_s - (now_s - until.began_s))
            until = replace(until, limits=replace(until.limits, time_s=left_s), began_s=now_s)
        try:
            found = think(until, self._searcher, decision, 0, self._context.use.strong.depth)
        except Stopped:
            return self._context.with_exact_choice(decision)
        before, now = decision.pick, found.pick
        if before is None or now is None or (before.solved, before.depth) <= (now.solved, now.depth):
            return found
        return decision


STRONG = Strong(name="strong")
