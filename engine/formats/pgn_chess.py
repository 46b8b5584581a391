"""Reads the movetext of chess and its variants with python-chess's reader.

That reader ignores whatever it does not understand.  Here, words that could be moves are errors instead, so
that no move is lost without a trace.
"""

import io
import re
from collections.abc import Iterable

import chess
import chess.pgn
from chess.pgn import MOVETEXT_REGEX

from engine.formats.record import BadGame
from engine.games.standard_chess import ChessPosition

_BESIDE_MOVES = re.compile(r"[0-9.+#=]*(?:e\.?p\.?)?")
"""What may remain of a word without python-chess's tokens: a move number, a check, a capture en passant."""
_NOT_BESIDE_MOVES = re.compile(r"[^\s0-9.+#=]")
_COMMENT = re.compile(r"\{[^}]*\}?")
_LIKE_A_MOVE = re.compile(r".*[a-hA-H][0-9].*|.*[oO0]-[oO0].*|[KQRBNP]?[a-h]?[1-8]?[x:]?[a-h]?")
_REMARKS = frozenset("ND")
"""Signs for a novelty and a diagram; signs without letters and digits, such as ``+/-``, need no list."""


def is_read_whole(movetext: str) -> bool:
    """Whether the reader certainly ignores no word; quick, and always false if there are variations."""
    text = _COMMENT.sub(" ", movetext)
    return "(" not in text and _NOT_BESIDE_MOVES.search(MOVETEXT_REGEX.sub("", text)) is None


def find_unread_words(words: Iterable[str]) -> list[int]:
    """The indices of the main line's words that the reader ignores and that are more than signs.

    Raises:
        BadGame: Such a word could be a move.
    """
    unread, moves = [], 0
    for index, word in enumerate(words):
        tokens = MOVETEXT_REGEX.findall(word)
        has_move = any(token[0] for token in tokens)
        moves += has_move
        if _BESIDE_MOVES.fullmatch(MOVETEXT_REGEX.sub("", word)):
            continue
        if has_move or (word not in _REMARKS and _LIKE_A_MOVE.fullmatch(word)):
            raise BadGame(f"move {moves + (not has_move)}: {word[:20]!r} is not a move")
        if word not in _REMARKS and any(sign.isalnum() for sign in word):
            unread.append(index)
    return unread


def read_moves(start: ChessPosition, movetext: str) -> tuple[list[str], list[str]]:
    """The main line's moves in UCI notation, and for each the comments that follow it.

    Args:
        movetext: As in `engine.formats.pgn_splitter.PgnText`.

    Raises:
        BadGame: A move is illegal; the message gives its number.
    """
    reader = _MainLineReader(start)
    # One comment a line: python-chess copies the rest of the line after each.  An empty line ends its game.
    text = re.sub(r"\}\s*", "}\n", movetext)
    chess.pgn.read_game(io.StringIO(text), Visitor=lambda: reader)
    return reader.moves, reader.comments


class _StartHeaders(chess.pgn.Headers):
    """Headers of a game that begins in a given position, which may be one of a variant."""

    def __init__(self, start: ChessPosition) -> None:
        super().__init__({"FEN": start.start})
        self._board = start.board

    def variant(self) -> type[chess.Board]:
        return type(self._board)

    def is_chess960(self) -> bool:
        return self._board.chess960


class _MainLineReader(chess.pgn.BaseVisitor[None]):
    def __init__(self, start: ChessPosition) -> None:
        self.moves: list[str] = []
        self.comments: list[str] = []
        self._headers = _StartHeaders(start)

    def begin_headers(self) -> chess.pgn.Headers:
        return self._headers

    def begin_variation(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def parse_san(self, board: chess.Board, san: str) -> chess.Move:
        try:
            try:
                move = board.parse_san(san)
            except ValueError:
                move = board.parse_uci(san)  # castling in Chess960
            if move or not board.is_check():
                return move
        except ValueError:
            pass
        number = len(self.moves) + 1
        raise BadGame(f"move {number}: {san[:20]!r} is not a legal move in {board.fen()!r}")

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:  # noqa: ARG002
        self.moves.append(move.uci())
        self.comments.append("")

    def visit_comment(self, comment: str) -> None:
        if self.moves:
            self.comments[-1] += f" {comment}"

    def handle_error(self, error: Exception) -> None:
        raise error

    def result(self) -> None:
        return None
