"""How sites write a game's moves and start positions, where they differ from `engine.games`.

A `Notation` is a pair of pure functions on one move in one position; a `Script` applies them to a game's
whole list, as each message tells it, and remembers where the game stands.
"""

import re
from collections.abc import Sequence
from typing import Any, Protocol

import chess

from bot.base.errors import ProtocolError
from engine.game import BadPosition, Game, IllegalMove, if_it_goes_on


class Notation(Protocol):
    """How one site writes one game."""

    needs_positions: bool
    """Whether `read` and `write` differ from the identity, for which the game has to be followed."""

    def start(self, text: str) -> str:
        """Our text of a start from the site's.

        Raises:
            BadPosition: The site's text is none.
        """

    def read(self, game: Game[Any], position: Any, text: str) -> str | None:
        """Our text of a move in a position; None: it is none, and the position stays as it is.

        Raises:
            IllegalMove: The rules do not allow it.
        """

    def write(self, game: Game[Any], position: Any, move: str) -> str:
        """The site's text of a move in our words.

        Raises:
            IllegalMove: The rules do not allow it.
        """


class Plain(Notation):
    """As this program writes."""

    needs_positions = False

    def start(self, text: str) -> str:
        return text

    def read(self, game: Game[Any], position: Any, text: str) -> str | None:  # noqa: ARG002
        return text

    def write(self, game: Game[Any], position: Any, move: str) -> str:  # noqa: ARG002
        return move


class RookCastling(Plain):
    """Chess where castling is the king taking its own rook in every position, as Lichess tells it.

    In positions of standard chess ours is the king's move of two squares: reading makes moves comparable.
    """

    needs_positions = True

    def read(self, game: Game[Any], position: Any, text: str) -> str:
        return game.move_text(game.parse_move(position, text))

    def write(self, game: Game[Any], position: Any, move: str) -> str:
        game.parse_move(position, move)
        board: chess.Board = position.board
        return board.uci(chess.Move.from_uci(move), chess960=True)


class Drops(Notation):
    """Othello as Fairy-Stockfish's ``flipello``.

    Black is called white (``P``) and moves first.  Placing a disc is a drop, ``P@d3``, ranks counted from
    below.  A pass moves a disc of the mover onto its own square: its first one, counted from a1 along the
    ranks.  When neither side can move, both may still pass there, which the game's end here has not.
    """

    needs_positions = True

    def start(self, text: str) -> str:
        board, side = (*text.split(), "", "")[:2]
        board = board.partition("[")[0]  # behind it stand the discs that are still to come
        if not re.fullmatch("[pP1-8/]+", board) or side not in ("w", "b"):
            raise BadPosition(f"{text!r} is no position of flipello")
        return f"{board.translate(str.maketrans('Pp', 'bw'))} {'b' if side == 'w' else 'w'}"

    def read(self, game: Game[Any], position: Any, text: str) -> str | None:
        if re.fullmatch("P@[a-h][1-8]", text):
            return _upside_down(text[2:])
        if not re.fullmatch(r"([a-h][1-8])\1", text):
            raise IllegalMove(text, game.position_text(position))
        return "pass" if game.legal_moves(position) else None

    def write(self, game: Game[Any], position: Any, move: str) -> str:
        game.parse_move(position, move)
        if move != "pass":
            return f"P@{_upside_down(move)}"
        disc = "bw"[game.side_to_move(position)]
        rows = game.board_rows(position)  # the top one, our first and their eighth, in front
        square = next(
            f"{file}{rank}"
            for rank, row in enumerate(reversed(rows), start=1)
            for file, cell in zip("abcdefgh", row, strict=True)
            if cell == disc
        )
        return square * 2


def _upside_down(square: str) -> str:
    return f"{square[0]}{9 - int(square[1])}"


PLAIN = Plain()
ROOK_CASTLING = RookCastling()
DROPS = Drops()


class Script:
    """The moves of one game in a site's words and in ours.

    Args:
        notation: The site's.
        game: The rules.
        start: Where the game begins, in our words; None: as usual.

    Raises:
        BadPosition: It begins nowhere.
    """

    def __init__(self, notation: Notation, game: Game[Any], start: str | None) -> None:
        self._notation = notation
        self._game = game
        self._start = game.initial() if start is None else game.parse_position(start)
        self._position = self._start
        self._told: tuple[str, ...] = ()
        self._moves: list[str] = []

    def read(self, told: Sequence[str]) -> tuple[str, ...]:
        """The whole list of moves in our words.

        Raises:
            ProtocolError: The rules do not allow it.
        """
        told = tuple(told)
        if not self._notation.needs_positions:
            return told
        if told[: len(self._told)] != self._told:  # moves were taken back
            self._position, self._told, self._moves = self._start, (), []
        for text in told[len(self._told) :]:
            try:
                move = self._notation.read(self._game, self._position, text)
                if move is not None:
                    number = self._game.parse_move(self._position, move)
                    position = self._game.play(self._position, number)
                    # The server may play on where our rules see a draw.
                    self._position = if_it_goes_on(self._game, position)
                    self._moves.append(move)
            except IllegalMove as error:
                raise ProtocolError(f"the server shows an impossible game: {error}", told) from error
            self._told = (*self._told, text)
        return tuple(self._moves)

    def write(self, move: str) -> str:
        """The site's text of a move of ours where the game stands.

        A move that is not legal there stays as it is: the server will refuse it.
        """
        try:
            return self._notation.write(self._game, self._position, move)
        except IllegalMove:
            return move
