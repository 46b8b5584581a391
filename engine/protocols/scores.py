"""Converts an engine's info lines to each move's score at each depth. Pure."""

from collections.abc import Iterable, Sequence

from engine.game import WIN_CENTI, lost_centi
from engine.protocols.link import InfoLine
from engine.protocols.process import EngineError


def plies_played(position_text: str) -> int:
    """Return the number of plies played before a chess or xiangqi position (`FEN moves m1 m2 ...`).

    Raises:
        ValueError: The FEN lacks the side to move or the move number.
    """
    fen, moves = split_position_text(position_text)
    if len(fen) < 6:
        raise ValueError(f"no move number in {position_text!r}")
    number, is_second = max(1, int(fen[-1])), fen[1] == "b"
    return 2 * (number - 1) + is_second + len(moves)


def split_position_text(position_text: str) -> tuple[list[str], list[str]]:
    """Return the fields of a position's FEN (some games have more than six) and the moves after the FEN."""
    words = position_text.split()
    end = next((at for at, word in enumerate(words) if word in ("moves", "line")), len(words))
    return words[:end], [word for word in words[end:] if word not in ("moves", "line")]


def score_to_centi(value: int, is_mate: bool, ply: int) -> int:
    """Convert an engine's score to a score of this program, from the side to move's point of view.

    Args:
        value: Centi-units or moves to mate: see `InfoLine.value`.
        ply: Plies from the start of the game to the searched position.
    """
    if not is_mate:
        # Anything but mate is undecided, whatever an engine claims from its endgame tablebases.
        return max(1 - WIN_CENTI, min(WIN_CENTI - 1, value))
    last_ply = ply + 2 * value - 1 if value > 0 else ply - 2 * value
    return -lost_centi(last_ply) if value > 0 else lost_centi(last_ply)


def scores_by_depth(
    lines: Iterable[InfoLine], moves: Sequence[str], depth: int, ply: int
) -> dict[str, tuple[int, ...]]:
    """Return each move's scores at depths 1 .. `depth`, from the side to move's point of view.

    Each line counts for the depth that it states; if several lines state the same move and depth, the last
    counts. After three seconds of search, Stockfish repeats the whole list with every update, mixing depths.

    If the engine omits a depth for a move, the score of the previous depth is used or, if there is none, the
    first score reported. The same applies to depths that are missing because the engine ended its search
    early, for instance because the move is forced or because it found a mate.

    Args:
        lines: The engine's output.
        moves: The moves that the engine was asked to search.
        depth: The requested depth.
        ply: Plies from the start of the game to the searched position.

    Raises:
        EngineError: A line begins with a move that is not in `moves`, or a move has no score.
    """
    known: dict[str, dict[int, int]] = {move: {} for move in moves}
    for line in lines:
        if 1 <= line.depth <= depth and line.variation:
            move = line.variation[0]
            if move not in known:
                raise EngineError(f"{move[:40]} got the score {line.value}, but is not a legal move")
            known[move][line.depth] = score_to_centi(line.value, line.is_mate, ply)
    return {move: _filled(scores, move, depth) for move, scores in known.items()}


def _filled(found: dict[int, int], move: str, depth: int) -> tuple[int, ...]:
    if not found:
        raise EngineError(f"the legal move {move} got no score")
    score = found[min(found)]
    scores = []
    for d in range(1, depth + 1):
        score = found.get(d, score)
        scores.append(score)
    return tuple(scores)
