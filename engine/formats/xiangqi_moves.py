"""Reads the moves of a game of xiangqi as its records write them."""

from collections.abc import Sequence

from engine.formats.record import GameRecord, steps
from engine.games import GAMES
from engine.games.xiangqi import XiangqiPosition


def moves_of_words(start: XiangqiPosition, words: Sequence[str]) -> tuple[str, ...]:
    """The moves of the main line in the game's notation, one for each word.

    Args:
        words: The main line's words between blanks, without move numbers, comments and variations.

    Raises:
        BadGame: A word is not a legal move; the message gives the move's number.
    """
    game = GAMES["xiangqi"]
    record = GameRecord(game="xiangqi", start=game.position_text(start), moves=tuple(words))
    return tuple(game.move_text(move) for _, move in steps(record))
