"""Sites' notations of moves and start positions that differ from `engine.games`.

A `Notation` is a pair of pure functions that convert one move in one position; a `MoveCodec` applies them to
the whole list of moves in each message, and remembers the game's position.
"""

import re
from collections.abc import Sequence
from typing import Any

import chess

from bot.base.errors import ProtocolError
from engine.game import BadPosition, Game, IllegalMove, continued_position, starting_position


class Notation:
    """A site's notation of a game; this base class is the program's own notation."""

    needs_positions = False
    """Whether `read` and `write` depend on the position; if not, they return their text unchanged."""

    def start(self, text: str) -> str:
        """Convert a starting position from the site's text to ours.

        Raises:
            BadPosition: The site's text is not a position.
        """
        return text

    def read(self, game: Game[Any], position: Any, text: str) -> str | None:  # noqa: ARG002
        """Convert a move from the site's text to ours; None if the move does not change the position.

        Raises:
            IllegalMove: The rules do not allow the move.
        """
        return text

    def write(self, game: Game[Any], position: Any, move: str) -> str:  # noqa: ARG002
        """Convert a move from our text to the site's.

        Raises:
            IllegalMove: The rules do not allow the move.
        """
        return move


class RookCastling(Notation):
    """Chess with castling always written as the king capturing its own rook, as on Lichess.

    Our notation of castling in standard chess is the king's move of two squares; `read` returns this.
    """

    needs_positions = True

    def read(self, game: Game[Any], position: Any, text: str) -> str:
        return game.move_text(game.parse_move(position, text))

    def write(self, game: Game[Any], position: Any, move: str) -> str:
        game.parse_move(position, move)
        board: chess.Board = position.board
        return board.uci(chess.Move.from_uci(move), chess960=True)


class DropNotation(Notation):
    """Othello in the notation of Fairy-Stockfish's ``flipello``.

    Black is called white (``P``) and moves first.  Placing a disc is a drop, ``P@d3``, with ranks counted
    from the bottom.  A pass moves the mover's first disc, counted from a1 along the ranks, onto its own
    square. When neither side can move, flipello still lets both sides pass; in our rules, the game is over.
    """

    needs_positions = True

    def start(self, text: str) -> str:
        board, side = (*text.split(), "", "")[:2]
        board = board.partition("[")[0]  # the rest lists the discs in hand
        if not re.fullmatch("[pP1-8/]+", board) or side not in ("w", "b"):
            raise BadPosition(f"{text!r} is not a flipello position")
        return f"{board.translate(str.maketrans('Pp', 'bw'))} {'b' if side == 'w' else 'w'}"

    def read(self, game: Game[Any], position: Any, text: str) -> str | None:
        if re.fullmatch("P@[a-h][1-8]", text):
            return _flip_rank(text[2:])
        if not re.fullmatch(r"([a-h][1-8])\1", text):
            raise IllegalMove(text, game.position_text(position))
        return "pass" if game.legal_moves(position) else None

    def write(self, game: Game[Any], position: Any, move: str) -> str:
        game.parse_move(position, move)
        if move != "pass":
            return f"P@{_flip_rank(move)}"
        disc = "bw"[game.side_to_move(position)]
        rows = game.board_rows(position)  # from the top, which is our first and their eighth rank
        square = next(
            f"{file}{rank}"
            for rank, row in enumerate(reversed(rows), start=1)
            for file, cell in zip("abcdefgh", row, strict=True)
            if cell == disc
        )
        return square * 2


def _flip_rank(square: str) -> str:
    return f"{square[0]}{9 - int(square[1])}"


PLAIN_NOTATION = Notation()
ROOK_CASTLING = RookCastling()
DROP_NOTATION = DropNotation()


class MoveCodec:
    """The moves of one game in a site's notation and in ours.

    Args:
        notation: The site's notation.
        game: The rules.
        start: The starting position in our notation, or None for the standard one.

    Raises:
        BadPosition: The start is not a position.
    """

    def __init__(self, notation: Notation, game: Game[Any], start: str | None) -> None:
        self._notation = notation
        self._game = game
        self._start = starting_position(game, start)
        self._position = self._start
        self._site_moves: tuple[str, ...] = ()
        self._moves: list[str] = []

    def read(self, site_moves: Sequence[str]) -> tuple[str, ...]:
        """Convert the whole list of moves to our notation.

        Raises:
            ProtocolError: One of the moves is illegal.
        """
        site_moves = tuple(site_moves)
        if not self._notation.needs_positions:
            return site_moves
        if site_moves[: len(self._site_moves)] != self._site_moves:  # after a takeback
            self._position, self._site_moves, self._moves = self._start, (), []
        for text in site_moves[len(self._site_moves) :]:
            try:
                move = self._notation.read(self._game, self._position, text)
                if move is not None:
                    number = self._game.parse_move(self._position, move)
                    position = self._game.play(self._position, number)
                    # The server may continue a game that is a draw by our rules.
                    self._position = continued_position(self._game, position)
                    self._moves.append(move)
            except IllegalMove as error:
                raise ProtocolError(f"the server shows an impossible game: {error}", site_moves) from error
            self._site_moves = (*self._site_moves, text)
        return tuple(self._moves)

    def write(self, move: str) -> str:
        """Convert a move of ours in the current position to the site's text.

        An illegal move is returned unchanged, since the server will refuse it.
        """
        try:
            return self._notation.write(self._game, self._position, move)
        except IllegalMove:
            return move
