"""Chess endgames from Syzygy tablebases, read by python-chess.

A table gives the outcome (WDL) and the distance in plies to the next capture or pawn move that preserves the
win (DTZ). A winner who always takes the shortest way to that move wins, within the fifty-move rule if
possible, but not always in the most natural way, because the tables lack the distance to mate.
"""

import random
import struct
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import chess.syzygy

from engine.decision import DirectMove, SearchMode
from engine.game import WIN_CENTI, Move
from engine.games.standard_chess import FIFTY_MOVE_RULE_PLIES, ChessPosition, StandardChess
from engine.lookup.source import BadSource, LookupMove

# KeyError: there is no such table; python-chess raises the others when a file is damaged further in.
_NO_ANSWER = (LookupError, OSError, ValueError, struct.error, AssertionError)


class _Outcome(IntEnum):
    """Outcomes of our moves, worst first."""

    LOST = -2
    SAVED_BY_RULE = -1
    """A loss that the fifty-move rule turns into a draw."""
    DRAWN = 0
    WON_BUT_FOR_RULE = 1
    WON = 2


class _TableResult(NamedTuple):
    """The value of a move; greater is better."""

    outcome: _Outcome
    merit: float
    """Tie-break among moves with the same outcome."""
    is_sure: bool
    """Whether the outcome is certain even if the table's number of plies is one too low."""


class SyzygyTables:
    """The tables in a folder; they are immutable, so all players can share them."""

    def __init__(self, tables: chess.syzygy.Tablebase, most_pieces: int) -> None:
        """
        Args:
            tables: The tables, which any number of threads may use.
            most_pieces: Positions with more pieces, kings included, are not probed.
        """
        self._tables = tables
        self._most_pieces = most_pieces
        self._game = StandardChess()

    @classmethod
    def open(cls, folder: Path) -> "SyzygyTables":
        """Open all the tables in a folder, after checking each file's first bytes and size.

        Raises:
            BadSource: The folder does not exist or lacks WDL or DTZ tables, or a file is not a table.
        """
        try:
            if not folder.is_dir():
                raise BadSource(f"{folder}: no such folder")
            tables = chess.syzygy.open_tablebase(str(folder))
            for path in sorted(folder.iterdir()):
                _check(path)
        except OSError as error:
            raise BadSource(f"{folder}: cannot be read: {error.strerror or error}") from None
        for files, suffix in ((tables.wdl, chess.Board.tbw_suffix), (tables.dtz, chess.Board.tbz_suffix)):
            if not files:
                raise BadSource(f"{folder}: no Syzygy tables (*{suffix}) there")
        return cls(tables, max(len(name) - len("v") for name in tables.wdl))

    @property
    def description(self) -> str:
        return f"Syzygy tables of up to {self._most_pieces} pieces"

    def choose(self, position: ChessPosition, rng: random.Random) -> LookupMove | None:
        """A move that keeps the result (see `engine.lookup.source.RootSource`).

        When winning, we take the shortest way to the next capture or pawn move; when losing, the longest.
        Among drawing moves we choose the one after which the largest share of the replies lose.
        """
        board = position.board
        if board.castling_rights or chess.popcount(board.occupied) > self._most_pieces:
            return None
        moves = self._game.legal_moves(position)
        try:
            judged = [self._judge(self._game.play(position, move)) for move in moves]
        except _NO_ANSWER:
            return None
        best = max(judged)
        move = rng.choice([move for move, other in zip(moves, judged, strict=True) if other == best])
        return LookupMove(
            move, SearchMode.TABLEBASE, DirectMove(self._score(position, move, best), 0, 100, best.is_sure)
        )

    def _score(self, position: ChessPosition, move: Move, judged: _TableResult) -> int:
        after = self._game.play(position, move)
        if not self._game.legal_moves(after):
            return -self._game.result_centi(after)
        return {_Outcome.WON: WIN_CENTI, _Outcome.LOST: -WIN_CENTI}.get(judged.outcome, 0)

    def _judge(self, after: ChessPosition) -> _TableResult:
        """The value of our move that led to a position."""
        if not self._game.legal_moves(after):
            mate = self._game.result_centi(after) != 0
            return _TableResult(_Outcome.WON, 1, True) if mate else _TableResult(_Outcome.DRAWN, 0, True)
        board = after.board.copy(stack=False)
        ours = -self._tables.probe_wdl(board)
        if ours == 0:
            return _TableResult(_Outcome.DRAWN, self._losing_reply_share(board), True)
        # From here: the next capture or pawn move, unless ours was one.
        clock = board.halfmove_clock
        plies = abs(self._tables.probe_dtz(board)) if clock else 0
        # At that ply the counter is below the limit only if the sum is at most the limit; and the table may
        # be one ply too low.
        is_sure = abs(ours) == 1 or clock + plies != FIFTY_MOVE_RULE_PLIES
        in_time = abs(ours) == 2 and clock + plies < FIFTY_MOVE_RULE_PLIES
        if ours > 0:
            outcome = _Outcome.WON if in_time else _Outcome.WON_BUT_FOR_RULE
            return _TableResult(outcome, -plies, is_sure)
        return _TableResult(_Outcome.LOST if in_time else _Outcome.SAVED_BY_RULE, plies, is_sure)

    def _losing_reply_share(self, board: chess.Board) -> float:
        """The share of the opponent's replies that lose; changes the board temporarily."""
        replies = list(board.legal_moves)
        losing = 0
        for reply in replies:
            board.push(reply)
            losing += self._tables.probe_wdl(board) == 2
            board.pop()
        return losing / len(replies)


def _check(path: Path) -> None:
    """Check that a file named like a table has a table's format."""
    magic = {chess.Board.tbw_suffix: chess.Board.tbw_magic, chess.Board.tbz_suffix: chess.Board.tbz_magic}
    if path.suffix not in magic:
        return
    with path.open("rb") as file:
        start = file.read(4)
    if start != magic[path.suffix]:
        raise BadSource(f"{path}: not a Syzygy table")
    if path.stat().st_size % 64 != 16:
        raise BadSource(f"{path}: truncated")
