"""`GameRecord`: a game independent of file formats, with players, place, moves and result."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from engine._native import othello_moves_mask
from engine.game import BadPosition, Game, IllegalMove, Move, continued_position, starting_position
from engine.games import GAMES
from engine.games.othello import PASS, SQUARES, Othello, OthelloPosition
from engine.games.standard_chess import StandardChess

_OTHELLO = Othello()
_SQUARES = len(SQUARES)

MAX_GAME_TEXT_LENGTH = 16 << 20
"""Maximum number of characters in the text of one game, annotations included."""

RESIGNED, TIMEOUT, AGREED = "resigned", "timeout", "agreed"


NULL_MOVE = "0000"
"""In records of chess: a turn without a move, with which annotators show a threat."""


class BadGame(ValueError):
    """The text or file is not a valid game in its format; the message says what is wrong and where."""


def split_lines(text: str) -> list[str]:
    """Split text into lines; `str.splitlines` would also split at characters within words in old files."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One game.  Pairs are in the order of `Game.sides`: black first in Othello, white in chess."""

    game: str
    """Name in `engine.games`."""
    players: tuple[str, str] = ("", "")
    start: str | None = None
    """Position before the first move, in the form of `Game.position_text`; None for the standard one."""
    moves: tuple[str, ...] = ()
    """Moves in the game's notation, passes included; all are legal."""
    points: float | None = None
    """The first side's points: 1, 1/2 or 0; None if unfinished or unknown."""
    margin: float | None = None
    """Othello: the first side's disc lead at the end, minus komi; empty squares count for the winner."""
    ending: str = ""
    """`RESIGNED`, `TIMEOUT` or `AGREED`; empty if the game ended under its rules or in an unknown way."""
    event: str = ""
    place: str = ""
    round: str = ""
    date: str = ""
    """Date as written in the source."""
    ratings: tuple[float | None, float | None] = (None, None)
    clocks: tuple[str, str] = ("", "")
    """Clocks as written in the source."""
    evaluations: tuple[float | None, ...] = ()
    """Each mover's own evaluation of the position, in discs or pawns; empty: not recorded."""
    times_s: tuple[float | None, ...] = ()
    """Thinking time of each move in seconds; empty: not recorded."""
    clocks_s: tuple[float | None, ...] = field(default=(), compare=False)
    """The mover's remaining time after each move, in seconds; empty: not recorded. Not written or stored."""
    tags: tuple[tuple[str, str], ...] = ()
    """Other data from the source, under the names used there."""


def clean(text: str) -> str:
    """Put text on one line, and remove characters that move a terminal's cursor or that databases reject."""
    if not text.isprintable():
        text = "".join(sign if sign.isprintable() else " " for sign in text)
    return " ".join(text.split())


def margin_points(margin: float | None) -> float | None:
    """The first side's points, given its margin; None without a margin."""
    return None if margin is None else 1.0 if margin > 0 else 0.5 if margin == 0 else 0.0


def is_margin(margin: float, komi: float = 0.0) -> bool:
    """Whether a game of Othello can end with this margin.

    Args:
        komi: Discs deducted from the margin; a resigned game may have a margin of 64 discs plus the komi.
    """
    return abs(komi) <= _SQUARES and abs(margin) <= _SQUARES + abs(komi)


def values_or_empty(values: Iterable[float | None]) -> tuple[float | None, ...]:
    """The values as a tuple, one for each move; empty if all values are None."""
    numbers = tuple(values)
    return numbers if any(value is not None for value in numbers) else ()


def start_position(record: GameRecord) -> Any:
    """The game's first position.

    Raises:
        BadGame: The record's start is not a valid position.
    """
    try:
        return starting_position(GAMES[record.game], record.start)
    except BadPosition as error:
        raise BadGame(f"start: {error}") from None


def steps(record: GameRecord) -> Iterator[tuple[Any, Move]]:
    """Each move with the position before it; the move of a `NULL_MOVE` is 0, which is no legal move.

    Raises:
        BadGame: A move is illegal; the message gives the move's number.
    """
    game: Game[Any] = GAMES[record.game]
    position = start_position(record)
    for number, text in enumerate(record.moves, start=1):
        try:
            if text == NULL_MOVE and isinstance(game, StandardChess):
                passed = game.pass_turn(position)
                yield position, 0
                position = passed
                continue
            position = continued_position(game, position)
            move = game.parse_move(position, text)
            yield position, move
            position = game.play(position, move)
        except IllegalMove as error:
            raise BadGame(f"move {number}: {error}") from None


def squares_to_moves(
    squares: Iterable[int], start: OthelloPosition | None = None
) -> tuple[tuple[str, ...], OthelloPosition]:
    """Return the moves for Othello squares in playing order, with passes inserted, and the final position.

    Raises:
        BadGame: A disc cannot be placed; the message gives the move's number.
    """
    position = _OTHELLO.initial() if start is None else start
    moves: list[str] = []
    for number, square in enumerate(squares, start=1):
        if not othello_moves_mask(position.mover, position.waiter):
            position = OthelloPosition(position.waiter, position.mover, 1 - position.side)
            moves.append("pass")
        try:
            position = _OTHELLO.play(position, square)
        except IllegalMove as error:
            raise BadGame(f"disc {number}: {error}") from None
        moves.append(SQUARES[square])
    return tuple(moves), position


def played(moves: Iterable[str], start: OthelloPosition) -> OthelloPosition:
    """The Othello position after these moves, which must include passes.

    Raises:
        BadGame: A move is illegal; the message gives the move's number.
    """
    position = start
    for number, text in enumerate(moves, start=1):
        try:
            position = _OTHELLO.play(position, PASS if text == "pass" else _SQUARE_OF.get(text, -1))
        except IllegalMove as error:
            raise BadGame(f"move {number}: {error}") from None
    return position


def black_margin(end: OthelloPosition) -> int | None:
    """Black's final discs minus white's, empty squares counted for the winner; None if unfinished."""
    if othello_moves_mask(end.mover, end.waiter) or othello_moves_mask(end.waiter, end.mover):
        return None
    return _OTHELLO.margin_discs(end) * (1 if end.side == 0 else -1)


_SQUARE_OF = {name: square for square, name in enumerate(SQUARES)}
