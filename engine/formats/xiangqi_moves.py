"""Reads the moves of a game of xiangqi as its records write them."""

from collections.abc import Sequence

from engine.formats.record import BadGame
from engine.game import IllegalMove, continued_position
from engine.games.xiangqi import Xiangqi, XiangqiPosition

_RULES = Xiangqi()


def moves_of_words(start: XiangqiPosition, words: Sequence[str]) -> tuple[str, ...]:
    """The moves of the main line in the game's notation, one for each word.

    Coordinates count ranks from 1 or from 0, all in the same way.

    Args:
        words: The main line's words between blanks, without move numbers, comments and variations.

    Raises:
        BadGame: A word is not a legal move; the message gives the move's number.
    """
    failures = []
    for first_rank in (1, 0):
        moves: list[str] = []
        try:
            position = start
            for word in words:
                position, move = _play(position, word, first_rank)
                moves.append(move)
        except IllegalMove as error:
            failures.append((len(moves) + 1, error))
        else:
            return tuple(moves)
    number, worst = max(failures, key=lambda failure: failure[0])
    raise BadGame(f"move {number}: {worst}")


def _play(position: XiangqiPosition, word: str, first_rank: int) -> tuple[XiangqiPosition, str]:
    """The position after a move, and the move in the game's notation.

    Raises:
        IllegalMove: The word is not a legal move.
    """
    try:
        move = _RULES.parse_move(position, word, first_rank)
    except IllegalMove:  # a rule may have ended the game, which the players continued
        position = continued_position(_RULES, position)
        move = _RULES.parse_move(position, word, first_rank)
    return _RULES.play(position, move), _RULES.move_text(move)
