"""Static evaluation of chess: a sum of learned weights, tapered from middlegame to endgame.

A *feature* is something on the board that can be counted for each side: a knight on d5, a passed pawn on the
sixth rank, a hanging queen. Its value is the count for the side to move minus the count for the other side.
The weights are learned by ``python -m lab.training.chess``; ``chess_weights.json`` holds and documents them.

Full-width searches have no quiescence search, so hanging pieces are features too, counted separately for the
side to move (which can save one of them) and for the waiting side (which loses one).

The C++ core (``engine/native/chess/chess_evaluation.hpp``) does the evaluation;
``tests/engine/games/chess_mirror.py`` is a readable copy of it in Python.
"""

from functools import cache

import chess

from engine._native import ChessEvaluation, ChessSearch
from engine.games.linear_weights import Groups, LinearWeights, own_weights

DANGERS = 32
"""Number of levels of king danger."""

THREATS = (
    "queen_hangs", "queen_by_pawn", "queen_by_minor", "rook_hangs", "queen_by_rook", "rook_by_pawn",
    "bishop_hangs", "knight_hangs", "rook_outnumbered", "bishop_by_pawn", "knight_by_pawn", "rook_by_minor",
    "minor_outnumbered", "pawn_hangs", "pawn_outnumbered",
)  # fmt: skip
"""Features for pieces that a side can lose to the next capture, most valuable piece first."""

GROUPS: Groups = {
    **{f"{piece}_square": 64 for piece in ("pawn", "knight", "bishop", "rook", "queen", "king")},
    "knight_mobility": 9,
    "bishop_mobility": 14,
    "rook_mobility": 15,
    "queen_mobility": 28,
    "danger_waiting_without_queen": DANGERS,  # of the waiting side's king; the attacker has no queen
    "danger_waiting_with_queen": DANGERS,
    "danger_moving_without_queen": DANGERS,
    "danger_moving_with_queen": DANGERS,
    "shield_on_file": 8,  # by the rank of the pawn, 0: none
    "shield_beside": 8,
    "storm_free": 8,
    "storm_blocked": 8,
    "supported": 8,  # from here on by the pawn's rank
    "phalanx": 8,
    "doubled": 1,
    "isolated": 2,  # with an enemy pawn ahead, without one
    "backward": 2,
    "passed": 8,
    "passed_free": 8,
    "passed_safe": 8,
    "passed_own_king": 8,  # by the distance of the king
    "passed_other_king": 8,
    "runner": 1,
    "bishop_pair": 1,
    "bishop_pawns": 1,
    "knight_pawns": 1,
    "rook_pawns": 1,
    "open_rook": 2,  # open file, half-open file
    "outpost": 2,  # of a knight, of a bishop
    **{
        f"threat_{whose}_{place}": len(THREATS)
        for whose in ("moving", "waiting")
        for place in ("first", "second", "more")
    },
    "push_threat": 2,  # against the side to move, against the waiting side
    "tempo": 1,
    "in_check": 1,
}
"""The groups of features; squares and ranks are relative to the side whose feature is counted."""


@cache
def weights() -> LinearWeights:
    """The learned weights.

    Raises:
        DamagedFile: The file is missing or damaged.
    """
    return own_weights("chess", GROUPS)


@cache
def native_evaluation() -> ChessEvaluation:
    """The weights in the core's format; all searches in the process share them."""
    return ChessEvaluation(weights().to_bytes())


@cache
def _core() -> ChessSearch:
    return ChessSearch(1, native_evaluation())


def evaluate_centi(position: str) -> int:
    """Static evaluation of an unfinished game's `Game.position_text`, in centipawns for the side to move."""
    return _core().evaluate(position)


def middle(board: chess.Board) -> int:
    """The game phase according to the pieces on the board, from 64 (middlegame) to 0 (endgame)."""
    pieces = (3, board.knights | board.bishops), (5, board.rooks), (10, board.queens)
    return min(64, sum(value * mask.bit_count() for value, mask in pieces))


def expected_scale_centi(board: chess.Board) -> float:
    """Return s, in centipawns; at x centipawns, equal players score 1 / (1 + exp(-x / s)) on average."""
    return weights().expected_scale_centi(middle(board))
