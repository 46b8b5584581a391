"""The judge: what a reply cost the person who played it, by a deep search of fixed size.

The scores of a decision are as deep as its strategy searched, and differ between strategies. What is said to
people, and every statistic of costs and errors, needs one measure for all of them. The judge values the
positions after the reply and after the best reply, each by a selective search of `NODES` positions with an
empty table (by the rules if the game is over, exactly if the search solves it or an endgame tablebase has
it), and compares the expected scores. The best reply is that of a search of the position before it; its value
is the mean of both searches, since the first is too high on average: it is the highest of many estimates. So,
apart from tablebases, a cost depends on the position, the reply and `JUDGE_VERSION` alone, and can be
computed again. The paper's counts (`engine.figure_9`) keep the paper's arithmetic on the decision's own
scores.

``python -m bench.judge`` prints how many verdicts stand with eight times as many nodes, and the time
(docs/numbers.md): at chess, 89 % of the words stand, and 87 % with half as many nodes. Xiangqi has chess's
number of nodes, Connect Four Othello's.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final

from engine.decision import SearchMode
from engine.errors import RecordError
from engine.expected import WHOLE, expected_score
from engine.figure_9 import MIN_ERROR_COST
from engine.game import WIN_CENTI, Game
from engine.games import get_rules
from engine.lookup.source import RootSource
from engine.plain_values import Range
from engine.search.reference import Searcher, exact_score
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag, Stopped

JUDGE_VERSION = 4
"""Increased when the costs of any reply change (with `NODES`, a search or an evaluation), or the rule by
which they make baits (`engine.bait_rule`)."""

NODES: Final = {"othello": 400_000, "chess": 200_000, "xiangqi": 200_000, "connect4": 400_000}
"""Positions that the search of one position visits; other games use `_OTHER_NODES`."""
_OTHER_NODES = 20_000
_TABLE_MB = 4

MIN_SMALL_COST = 500
"""Minimum cost of a reply that is not good, in hundredths of a per cent of expected score. With a
smaller one fewer words stand with more nodes, however many nodes there are. Lichess's inaccuracies begin
here, too, and its mistakes at `MIN_ERROR_COST`."""
EQUAL_COST = 200
"""Replies that cost less are as good as the best one, within the errors of the judge."""


class ReplyWord(StrEnum):
    """What a reply is called."""

    GOOD = "good"
    """It is the best reply, or gives up little."""
    SMALL = "small"
    """It gives up something, but is no error."""
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class PositionValue:
    """The value of a position for the side to move."""

    best: str | None
    """The best move; None if the game is over."""
    score_centi: int
    depth: int
    """Depth in plies of the deepest completed search; 0 if the value is known without one."""
    is_solved: bool
    """Whether the score is the game's true value."""


@dataclass(frozen=True, slots=True)
class ReplyCost:
    """What one reply costs."""

    reply: str
    score_centi: int
    """Score after the reply, for the person who replies."""
    cost: Annotated[int, Range(0, WHOLE)]
    """Cost compared with the best reply, at least 0, in hundredths of a per cent of expected score."""
    depth: int
    """The comparison holds to this depth in plies, counted from the position before the reply."""
    is_solved: bool
    """Whether the cost is the true cost, whatever the depth."""

    @property
    def is_best(self) -> bool:
        """Whether the reply is the best one, or as good."""
        return self.cost < EQUAL_COST

    @property
    def word(self) -> ReplyWord:
        """What the reply is called."""
        if self.cost >= MIN_ERROR_COST:
            return ReplyWord.ERROR
        return ReplyWord.SMALL if self.cost >= MIN_SMALL_COST else ReplyWord.GOOD


@dataclass(frozen=True, slots=True)
class ReplyCosts:
    """What some of the replies to a move cost."""

    version: int
    """The `JUDGE_VERSION` of the costs."""
    best: ReplyCost
    """The best reply; its score is that of the position before the reply."""
    replies: tuple[ReplyCost, ...]
    """The replies asked for, in that order, without repetitions; `best` only if it was asked for."""

    @property
    def depth(self) -> int:
        """The depth in plies to which all of these costs hold; 0 if no reply was asked for."""
        return min((each.depth for each in self.replies), default=0)

    def of(self, reply: str) -> ReplyCost:
        """The cost of a reply.

        Raises:
            RecordError: The reply was not judged.
        """
        for each in (self.best, *self.replies):
            if each.reply == reply:
                return each
        raise RecordError(f"the reply {reply} was not judged")


def nodes_for(game_name: str) -> int:
    """The number of positions that the search of one position visits."""
    return NODES.get(game_name, _OTHER_NODES)


def position_value(
    game: Game[Any],
    position: Any,
    stop: StopFlag,
    nodes: int | None = None,
    sources: Sequence[RootSource] = (),
) -> PositionValue:
    """Value a position.

    Args:
        game: The rules.
        position: Any position; earlier moves do not count (`Game.for_search`).
        stop: Ends the search.
        nodes: Number of positions to visit; None for `nodes_for`.
        sources: Tablebases for the game, used before a search; books are not.

    Raises:
        Stopped: The flag was set before the value was known.
    """
    root = game.for_search(position)
    moves = game.legal_moves(root)
    if not moves:
        return PositionValue(None, game.result_centi(root), 0, is_solved=True)
    if (known := _value_in_tables(game, root, sources)) is not None:
        return known
    limit = nodes_for(game.name) if nodes is None else nodes
    searcher = make_searcher(game.name, _TABLE_MB)
    if not isinstance(searcher, NativeSearcher):
        return _plain_value(game, searcher, root, limit, stop)
    # Never a search that was cut short: a cost must not depend on when it was computed.
    found = searcher.think(root, game.deepest_search, None, stop, nodes=limit)
    if stop.is_set():
        raise Stopped("the judge was stopped")
    is_solved = found.solved or abs(found.score_centi) >= WIN_CENTI
    return PositionValue(found.move, found.score_centi, found.depth, is_solved)


def _value_in_tables(game: Game[Any], root: Any, sources: Sequence[RootSource]) -> PositionValue | None:
    for source in sources:
        found = source.choose(root, random.Random(0))  # noqa: S311 - of equal moves any will do
        if found is None or found.mode is not SearchMode.TABLEBASE or not found.pick.solved:
            continue  # a table is not sure beside the limit of fifty moves
        if found.pick.score_centi is not None:
            return PositionValue(game.move_text(found.move), found.pick.score_centi, 0, is_solved=True)
    return None


def _plain_value(game: Game[Any], searcher: Searcher, root: Any, nodes: int, stop: StopFlag) -> PositionValue:
    """The value by full-width searches of growing depth, for games without a selective search."""
    limit = StopFlag()
    limit.set_node_limit(nodes)
    found: PositionValue | None = None
    most = min(game.most_plies_left(root), game.deepest_search)
    for depth in range(1, most + 1):
        if stop.is_set():
            raise Stopped("the judge was stopped")
        try:
            scores = {
                move: -exact_score(searcher, game.play(root, move), depth - 1, limit if depth > 1 else stop)
                for move in game.legal_moves(root)
            }
        except Stopped:
            break
        move = max(scores, key=scores.__getitem__)
        found = PositionValue(game.move_text(move), scores[move], depth, depth == game.most_plies_left(root))
    if found is None:
        raise Stopped("the judge was stopped")
    return found


def reply_costs(
    game_name: str,
    position: Any,
    replies: Iterable[str],
    stop: StopFlag,
    nodes: int | None = None,
    known: ReplyCosts | None = None,
    sources: Sequence[RootSource] = (),
) -> ReplyCosts:
    """Judge some replies in a position.

    Args:
        game_name: Key of the game.
        position: The position after our move, in which the person replies; the game must not be over.
        replies: The replies to judge, in the game's notation.
        stop: Ends the work.
        nodes: See `position_value`.
        known: Costs in the same position, which are not searched again if this version found them.
        sources: See `position_value`.

    Raises:
        Stopped: The flag was set before the work was done.
        IllegalMove: A reply is not legal.
        ValueError: The game is over.
    """
    game = get_rules(game_name)
    root = game.for_search(position)
    if known is not None and known.version != JUDGE_VERSION:
        known = None
    best = _best_reply(game, root, stop, nodes, sources) if known is None else known.best
    found = {each.reply: each for each in (best, *(() if known is None else known.replies))}
    scale = game.expected_scale_centi(root)
    whole = expected_score(best.score_centi, scale)
    asked = tuple(dict.fromkeys(replies))
    for reply in asked:
        if reply in found:
            continue
        after = position_value(game, game.play(root, game.parse_move(root, reply)), stop, nodes, sources)
        cost = max(0, whole - expected_score(-after.score_centi, scale))
        parts = ((best.depth, best.is_solved), (after.depth + 1, after.is_solved))
        # A solved value holds to any depth.
        limits = [depth for depth, is_solved in parts if not is_solved]
        depth = min(limits or [depth for depth, _ in parts])
        found[reply] = ReplyCost(reply, -after.score_centi, cost, depth, is_solved=not limits)
    return ReplyCosts(JUDGE_VERSION, best, tuple(found[reply] for reply in asked))


def _best_reply(
    game: Game[Any], root: Any, stop: StopFlag, nodes: int | None, sources: Sequence[RootSource]
) -> ReplyCost:
    before = position_value(game, root, stop, nodes, sources)
    if before.best is None:
        raise ValueError("the game is over: there is no reply to judge")
    if before.is_solved:
        return ReplyCost(before.best, before.score_centi, 0, before.depth, is_solved=True)
    move = game.parse_move(root, before.best)
    after = position_value(game, game.play(root, move), stop, nodes, sources)
    if after.is_solved:  # another reply may be better
        return ReplyCost(before.best, -after.score_centi, 0, before.depth, is_solved=False)
    score_centi = round((before.score_centi - after.score_centi) / 2)
    return ReplyCost(before.best, score_centi, 0, min(before.depth, after.depth + 1), is_solved=False)
