"""Analysis of a position from a finished game by our own search: the best moves with their lines.

The search is limited by the number of positions, so that its cost and quality do not depend on the machine's
load.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

from bot.arena.game import ReplayedGame
from bot.arena.wire import Json
from bot.text.chinese_names import with_chinese_names
from engine.game import Game, replay
from engine.params import TrapParams
from engine.search.profiles import Profiler
from engine.search.reference import Searcher, principal_variation
from engine.search.searchers import make_searcher
from engine.stop import StopFlag, Stopped

MAX_NODES = 200_000
"""Number of positions to search for the scores; the search takes 0.1 to 0.2 seconds."""
MAX_LINE_NODES = 20_000
"""Number of positions to search for the line of each move; most are already in the transposition table."""
MAX_DEPTH = 16
MAX_LINES = 3
MAX_LINE_LOSS_CENTI = 150
"""A move's line is shown only if the move loses at most this much compared with the best move."""
_MIN_DEPTH = 2
_TABLE_MB = 16


def is_position_being_played(game: ReplayedGame, ply: int, running: Iterable[ReplayedGame]) -> bool:
    """Whether a rated game is currently at this position, in which case an analysis would help its players.

    Args:
        game: The game to analyse.
        ply: Number of moves before the position to analyse; at most the number of moves in the game.
        running: Games that are not over.
    """
    asked = _on_board(game, _position_after(game, ply))
    return any(
        each.record.rated
        and each.variant.game_name == game.variant.game_name
        and _on_board(each, each.position) == asked
        for each in running
    )


def _on_board(game: ReplayedGame, position: Any) -> list[str]:
    """The board and the side to move, as a key for comparisons.

    The comparison ignores move counters and castling rights, which rarely change the best move.
    """
    return game.variant.rules.board_text(position).split()[:2]


def _position_after(game: ReplayedGame, ply: int) -> Any:
    start = game.variant.start(game.record.initial_fen)
    return replay(game.variant.rules, game.record.moves[:ply], start)


def analyse(game: ReplayedGame, ply: int) -> Json:
    """The best moves for the side to move after `ply` moves of a game; calls must not overlap.

    Args:
        game: The game.
        ply: Number of moves before the position to analyse; at most the number of moves in the game.
    """
    rules, position = game.variant.rules, _position_after(game, ply)
    fields: Json = {"ply": ply, "depth": 0, "toMove": rules.sides[rules.side_to_move(position)], "lines": []}
    if not rules.legal_moves(position):
        return fields
    searcher = _searcher(rules.name)
    depth, best = _best(rules, searcher, position)
    return fields | {
        "depth": depth,
        "lines": [_line(rules, searcher, position, move, score, depth) for move, score in best],
    }


@cache
def _searcher(game_name: str) -> Searcher:
    return make_searcher(game_name, _TABLE_MB)


def _best(rules: Game[Any], searcher: Searcher, position: Any) -> tuple[int, list[tuple[str, int]]]:
    """The depth reached, and the best moves at that depth with their scores, best first."""
    first = Profiler(rules, searcher, position, TrapParams(), StopFlag())
    depth, candidates = _MIN_DEPTH, first.raw_candidates(_MIN_DEPTH, MAX_LINE_LOSS_CENTI)
    stop = StopFlag()
    stop.set_node_limit(MAX_NODES)
    profiler = Profiler(rules, searcher, position, TrapParams(), stop)
    try:
        for deeper in range(_MIN_DEPTH + 1, min(MAX_DEPTH, rules.deepest_search) + 1):
            candidates, depth = profiler.raw_candidates(deeper, MAX_LINE_LOSS_CENTI), deeper
    except Stopped:
        pass
    exact = sorted((c for c in candidates if not c.raw_is_bound), key=lambda c: -c.raw_centi)
    return depth, [(c.move, c.raw_centi) for c in exact[:MAX_LINES]]


def _line(
    rules: Game[Any], searcher: Searcher, position: Any, text: str, score_centi: int, depth: int
) -> Json:
    move = rules.parse_move(position, text)
    line = {
        "move": text,
        "squares": list(rules.move_squares(move)),
        "score": rules.score_text(score_centi, position),
        "score_centi": score_centi,
    }
    names, after = [rules.move_name(position, move)], rules.play(position, move)
    stop = StopFlag()
    stop.set_node_limit(MAX_LINE_NODES)
    try:
        rest = (
            principal_variation(rules, searcher, after, depth - 1, stop) if rules.legal_moves(after) else ()
        )
    except Stopped:
        rest = ()
    for each in rest:
        reply = rules.parse_move(after, each)
        names.append(rules.move_name(after, reply))
        after = rules.play(after, reply)
    return {**line, **with_chinese_names({"names": names})}
