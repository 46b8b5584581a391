"""Chess endgames from Syzygy tablebases, read by python-chess.

A table tells who wins (WDL), and how many plies the winner needs to the next capture or pawn move that keeps
the win (DTZ).  A winner who always takes the shortest way there wins, within the fifty-move rule when that is
possible at all; not always in the way that looks best, for a table does not know how far off mate is.
"""

import random
import struct
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple, Protocol

import chess.syzygy

from engine.decision import Pick
from engine.game import WIN_CENTI, Move
from engine.games.standard_chess import FIFTY_MOVES, ChessPosition, StandardChess
from engine.lookup.source import BadSource, LookupMove


class Tables(Protocol):
    """What is asked of python-chess's `Tablebase`."""

    def probe_wdl(self, board: chess.Board) -> int:
        """2 won, 1 won but for the fifty-move rule, 0 drawn, -1 and -2 lost likewise, for the side to move.

        Raises:
            KeyError: There is no table of these pieces.
        """

    def probe_dtz(self, board: chess.Board) -> int:
        """Plies to the next capture or pawn move, with the sign of WDL; may be 1 too few, when that is safe.

        Raises:
            KeyError: There is no table of these pieces.
        """


# KeyError says that there is no such table; the rest python-chess raises when a file is damaged further in.
_NO_ANSWER = (LookupError, OSError, ValueError, struct.error, AssertionError)


class _Outcome(IntEnum):
    """How a game goes on after a move of ours, the worst first."""

    LOST = -2
    SAVED_BY_RULE = -1
    """Lost, but for the fifty-move rule."""
    DRAWN = 0
    WON_BUT_FOR_RULE = 1
    WON = 2


class _Judged(NamedTuple):
    """A move: the greater, the better."""

    outcome: _Outcome
    merit: float
    """Among moves of the same outcome."""
    is_sure: bool
    """The outcome is the true one; not so when a ply more or less decides about the fifty-move rule."""


class SyzygyTables:
    """Tables in a folder; never change, so all players share them."""

    def __init__(self, tables: Tables, most_pieces: int) -> None:
        """
        Args:
            tables: Asked by any number of threads.
            most_pieces: With more on the board, kings included, they are not asked.
        """
        self._tables = tables
        self._most_pieces = most_pieces
        self._game = StandardChess()

    @classmethod
    def open(cls, folder: Path) -> "SyzygyTables":
        """Take all the tables in a folder, after a look at each file's first bytes and size.

        Raises:
            BadSource: There is no such folder, no table of either kind in it, or a file is no table.
        """
        if not folder.is_dir():
            raise BadSource(f"{folder}: no such folder")
        try:
            tables = chess.syzygy.open_tablebase(str(folder))
            for path in sorted(folder.iterdir()):
                _check(path)
        except OSError as error:
            raise BadSource(f"{folder}: cannot be read: {error.strerror or error}") from None
        for found, suffix in ((tables.wdl, chess.Board.tbw_suffix), (tables.dtz, chess.Board.tbz_suffix)):
            if not found:
                raise BadSource(f"{folder}: no Syzygy tables of the kind *{suffix} there")
        return cls(tables, max(len(name) - len("v") for name in tables.wdl))

    @property
    def about(self) -> str:
        return f"Syzygy tables of up to {self._most_pieces} pieces"

    def choose(self, position: ChessPosition, rng: random.Random) -> LookupMove | None:
        """A move that keeps the result (see `engine.lookup.source.RootSource`).

        A win is taken the shortest way to the next capture or pawn move, a loss the longest; of drawing moves
        the one after which the largest part of the replies lose.
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
        return LookupMove(move, "tablebase", Pick(self._score(position, move, best), 0, 100, best.is_sure))

    def _score(self, position: ChessPosition, move: Move, judged: _Judged) -> int:
        after = self._game.play(position, move)
        if not self._game.legal_moves(after):
            return -self._game.result_centi(after)
        return {_Outcome.WON: WIN_CENTI, _Outcome.LOST: -WIN_CENTI}.get(judged.outcome, 0)

    def _judge(self, after: ChessPosition) -> _Judged:
        """What a move of ours is worth that led to a position."""
        if not self._game.legal_moves(after):
            mate = self._game.result_centi(after) != 0
            return _Judged(_Outcome.WON, 1, True) if mate else _Judged(_Outcome.DRAWN, 0, True)
        board = after.board.copy(stack=False)
        ours = -self._tables.probe_wdl(board)
        if ours == 0:
            return _Judged(_Outcome.DRAWN, self._slips(board), True)
        # From here: the next capture or pawn move, unless ours was one.
        clock = board.halfmove_clock
        plies = abs(self._tables.probe_dtz(board)) if clock else 0
        # On that ply the clock stands below the limit only if they add up to the limit at most; and a ply may
        # be missing in the table.
        is_sure = abs(ours) == 1 or clock + plies != FIFTY_MOVES
        in_time = abs(ours) == 2 and clock + plies < FIFTY_MOVES
        if ours > 0:
            outcome = _Outcome.WON if in_time else _Outcome.WON_BUT_FOR_RULE
            return _Judged(outcome, -plies, is_sure)
        return _Judged(_Outcome.LOST if in_time else _Outcome.SAVED_BY_RULE, plies, is_sure)

    def _slips(self, board: chess.Board) -> float:
        """The part of the opponent's replies that lose; changes the board meanwhile."""
        replies = list(board.legal_moves)
        losing = 0
        for reply in replies:
            board.push(reply)
            losing += self._tables.probe_wdl(board) == 2
            board.pop()
        return losing / len(replies)


def _check(path: Path) -> None:
    """Whether a file with a table's name has a table's form."""
    magic = {chess.Board.tbw_suffix: chess.Board.tbw_magic, chess.Board.tbz_suffix: chess.Board.tbz_magic}
    if path.suffix not in magic:
        return
    with path.open("rb") as file:
        start = file.read(4)
    if start != magic[path.suffix]:
        raise BadSource(f"{path}: not a Syzygy table")
    if path.stat().st_size % 64 != 16:
        raise BadSource(f"{path}: truncated")
