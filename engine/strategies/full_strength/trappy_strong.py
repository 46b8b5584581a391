"""The arithmetic of trappy minimax on scores of the selective search, whose horizon is farther away.

The selective search of the position (`engine.strategies.strong`) finds the best move and those whose score,
with the greatest bonus that the paper allows, could reach it: no trap could make another move the best. Each
reply to them gets scores by selective searches of 1, 2, .. plies, from a hash table without deeper ones.
The replies that look most like traps by the last of these scores get another, by a search as deep as that of
the move. From all these scores `engine.trappy` computes the moves' traps and values; a reply without the deep
score counts as no trap. A preferred move must remain the best by a search as deep as the root's.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from engine.decision import (
    Candidate,
    Decision,
    DirectMove,
    ReplyProfile,
    SearchMode,
    StrongTraps,
)
from engine.errors import RecordError
from engine.game import WIN_CENTI
from engine.human.opponent_model_search import OpponentModelSearch
from engine.params import TrapParams
from engine.search import contenders as nearly
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag, Stopped
from engine.strategies.move_context import MoveContext
from engine.strategies.records import verify_candidates, verify_unscored_choice
from engine.strategies.strong import MIN_TIME_S, ContenderChoice, Strong
from engine.strategies.technique import is_won, judged_move, without_repetition
from engine.trappy import best_standing, bonus_cap, is_swindle, reply_quality, utility, with_trap

_SHALLOW_SHARE, _DEEP_SHARE, _CHECK_SHARE = 0.77, 0.92, 0.97
"""Shares of the move's time and nodes at which the parts of the analysis end."""
_TABLE_MB = 2
"""Size of the hash table of the shallow searches."""
_MIN_SHALLOW_DEPTH = 2
"""Least depth of the last shallow scores, in plies: the reply's consequences begin there."""
_DEEP_REPLIES = 3
"""Number of replies to a move that get a deep score."""


@dataclass(frozen=True, kw_only=True)
class TrappyStrong(Strong):
    """Plays `strong`'s move in won, lost and solved positions, and where the time is too short for traps."""

    sets_traps: ClassVar[bool] = True

    def search(self, context: MoveContext, people: OpponentModelSearch | None) -> Decision:
        """See `engine.strategies.strategy.Strategy.search`."""
        searcher, time_s = context.use.searcher, context.limits.time_s
        is_short = context.stop.is_set() or (time_s is not None and time_s < MIN_TIME_S)
        if not isinstance(searcher, NativeSearcher) or is_short:
            decision = super().search(context, people)
            return decision if decision.pick is None else _plain(decision, "there was no time for traps")
        decision = _TrapChoice(context, searcher).decide()
        return without_repetition(context, decision) if context.use.wins_plainly else decision

    def verifiers_by_mode(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `engine.strategies.strategy.Strategy.verifiers_by_mode`."""
        return {**super().verifiers_by_mode(), SearchMode.STRONG_TRAPS: _verify}


def _plain(decision: Decision, trouble: str) -> Decision:
    """The decision of a search whose best move is played, with the reason."""
    return replace(decision, strong_traps=StrongTraps(trouble=trouble))


class _TrapChoice(ContenderChoice):
    """One decision among contenders, by the paper's arithmetic."""

    root_share: float = 0.45
    contender_share: float = 0.62

    def __init__(self, context: MoveContext, searcher: NativeSearcher) -> None:
        super().__init__(context, searcher)
        self._replies: NativeSearcher | None = None

    def nodes(self) -> int:
        """See `ContenderChoice.nodes`."""
        return super().nodes() + (0 if self._replies is None else self._replies.nodes)

    def judged(self) -> Decision:
        """See `ContenderChoice.judged`."""
        return judged_move(self._context)

    def is_settled(self, pick: DirectMove) -> bool:
        """See `ContenderChoice.is_settled`."""
        use, root_centi = self._context.use, pick.score_centi or 0
        return root_centi >= WIN_CENTI or (
            use.wins_plainly and is_won(self._game, self._context.root, root_centi)
        )

    def floor_centi(self, pick: DirectMove) -> int:
        """See `ContenderChoice.floor_centi`: with less, the greatest bonus does not reach the best move."""
        params, root_centi = self._context.params, pick.score_centi or 0
        scores = range(1 - WIN_CENTI, root_centi + 1)
        return scores[
            bisect_left(
                scores,
                float(utility(root_centi, params)),
                key=lambda score: utility(score, params) + bonus_cap(score, params),
            )
        ]

    def unweighed(self, decision: Decision, trouble: str) -> Decision:
        """See `ContenderChoice.unweighed`."""
        return replace(_plain(decision, trouble), nodes=self.nodes())

    def weigh(
        self, found: Decision, kept: Sequence[nearly.NearlyBest], plies: int, pick: DirectMove
    ) -> Decision:
        """See `ContenderChoice.weigh`."""
        try:
            contenders, shallow_depth = self._with_traps(kept, plies)
            use = StrongTraps(contenders, plies, shallow_depth)
            preferred, best = _preferred_of(use, self._context.params), contenders[0]
            if preferred is not best:
                check = self.checked(
                    preferred.move,
                    best.move,
                    pick,
                    (pick.depth, pick.depth + 1),
                    lambda best_centi: _least_centi(preferred, best, best_centi, self._context.params),
                    self.until(_CHECK_SHARE).stop,
                )
                use = replace(use, check=check)
        except Stopped:
            return self.best_move(found, "there was no time for the replies")
        move = preferred.move if use.check is not None and use.check.stood else best.move
        decision = replace(
            found,
            move=move,
            principal_variation=found.principal_variation if move == best.move else (move,),
            search_mode=SearchMode.STRONG_TRAPS,
            strong_traps=use,
            nodes=self.nodes(),
        )
        return self._context.with_exact_choice(decision)

    def _with_traps(self, kept: Sequence[nearly.NearlyBest], plies: int) -> tuple[tuple[Candidate, ...], int]:
        """The contenders with their traps, and the depth of the shallow scores.

        Raises:
            Stopped: The limits were reached before the best move had its traps.
        """
        shallow, depth = self._shallow([each.move for each in kept], plies - 3)
        deep, stop = max(depth + 1, plies - 2), self.until(_DEEP_SHARE).stop
        contenders: list[Candidate] = []
        for each, replies in zip(kept, shallow, strict=True):
            try:
                profiles = self._deep(each, replies, deep, stop)
            except Stopped:
                if not contenders:
                    raise
                profiles = ()
            contenders.append(Candidate(each.move, each.score_centi, False, 0.0, replies=profiles))
        params = self._context.params
        swindle = is_swindle(contenders, params)
        return tuple(with_trap(each, params, swindle) for each in contenders), depth

    def _deep(
        self,
        contender: nearly.NearlyBest,
        shallow: Mapping[str, tuple[int, ...]],
        plies: int,
        stop: StopFlag,
    ) -> tuple[ReplyProfile, ...]:
        """The replies that look most like traps by their shallow scores, with their deep scores.

        Raises:
            Stopped: The flag was set before all had their scores.
        """
        params, after = self._context.params, self.after(contender.move)
        least = min(scores[-1] for scores in shallow.values())
        quality = {reply: reply_quality(scores, least, params) for reply, scores in shallow.items()}
        found = []
        for reply in sorted(quality, key=lambda each: -quality[each])[:_DEEP_REPLIES]:
            position = self._game.play(after, self._game.parse_move(after, reply))
            if quality[reply] == 0:
                break
            if self._game.legal_moves(position):
                score = nearly.score_near(self._searcher, position, plies, shallow[reply][-1], stop)
            else:
                score = self._game.result_centi(position)
            if score > contender.score_centi:
                found.append(ReplyProfile(reply, (*shallow[reply], score)))
        return tuple(found)

    def _shallow(self, moves: Sequence[str], most: int) -> tuple[list[dict[str, tuple[int, ...]]], int]:
        """Scores of all replies to each move by searches of 1, 2, .. plies, and the last depth.

        Raises:
            Stopped: The limits were reached before there were enough.
        """
        game, stop = self._game, self.until(_SHALLOW_SHARE).stop
        searcher = make_searcher(game.name, _TABLE_MB)
        if not isinstance(searcher, NativeSearcher):
            raise TypeError(f"{game.name} has no selective search")
        self._replies = searcher
        listed, positions = [], []
        for at, move in enumerate(moves):
            after = self.after(move)
            for reply in game.legal_moves(after):
                if stop.is_set():
                    raise Stopped("there was no time for the shallow scores")
                listed.append((at, game.move_text(reply)))
                positions.append(game.play(after, reply))
        scores = nearly.scores_by_depth(game, searcher, positions, max(_MIN_SHALLOW_DEPTH, most), stop)
        if len(scores) < _MIN_SHALLOW_DEPTH:
            raise Stopped("there was no time for the shallow scores")
        found: list[dict[str, tuple[int, ...]]] = [{} for _ in moves]
        for (at, text), of_reply in zip(listed, zip(*scores, strict=True), strict=True):
            found[at][text] = of_reply
        return found, len(scores)


def _value(contender: Candidate, score_centi: int, params: TrapParams) -> float:
    """A contender's value with another score, but the same replies; it never falls as the score rises."""
    return with_trap(replace(contender, raw_centi=score_centi), params).adjusted_centi


def _least_centi(preferred: Candidate, best: Candidate, best_centi: int, params: TrapParams) -> int:
    """The least score with which a contender is worth more than the best move with its score."""
    scores, value = range(1 - WIN_CENTI, WIN_CENTI), _value(best, best_centi, params)
    return scores.start + bisect_right(scores, value, key=lambda score: _value(preferred, score, params))


def _preferred_of(use: StrongTraps, params: TrapParams) -> Candidate:
    move = best_standing(use.contenders, params, is_swindle(use.contenders, params))
    return next(each for each in use.contenders if each.move == move)


def _verify(decision: Decision) -> None:
    """Check a choice among contenders: all arithmetic, as of trappy, and the choice.

    Raises:
        RecordError: The choice does not follow from the record.
    """
    verify_unscored_choice(decision)
    use, params = decision.strong_traps, decision.params
    if use is None or not use.contenders:
        raise RecordError(f"{decision.move}: the contenders are not in the record")
    # A reply's scores are those of 3 .. shallow_depth + 2 plies and the deep one: one fewer than trappy's.
    verify_candidates(
        replace(decision, candidates=use.contenders, depth=use.shallow_depth + 2), counts_bonus=True
    )
    best, preferred, check = use.contenders[0], _preferred_of(use, params), use.check
    if decision.root is not None and decision.root.line[:1] != (best.move,):
        raise RecordError(f"the search found {decision.root.line[:1]}, not the first contender")
    if (check is None) is not (preferred is best):
        raise RecordError(f"{preferred.move} was preferred, but the check is {check}")
    move = best.move
    if check is not None:
        least = _least_centi(preferred, best, check.best_centi, params)
        if check.preferred != preferred.move or check.stood is not (check.preferred_centi >= least):
            raise RecordError(f"{preferred.move}: {check} does not follow from its scores")
        move = preferred.move if check.stood else move
    if decision.move != move:
        raise RecordError(f"{decision.move} was played, but {move} follows")


TRAPPY_STRONG = TrappyStrong(name="trappy_strong")
