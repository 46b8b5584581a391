"""Keeps a game's positions while its move list grows."""

from collections.abc import Sequence
from typing import Any

from engine.game import Game, positions


class MoveList:
    """Builds each position only once, although the whole move list is passed in for every move.

    Args:
        game: The rules.
    """

    def __init__(self, game: Game[Any]) -> None:
        self._game = game
        self._moves: list[str] = []
        self._positions: list[Any] = [game.initial()]

    def begin(self, start: Any = None) -> None:
        """Begin a game from a position; None for the standard starting position."""
        self._moves, self._positions = [], [self._game.initial() if start is None else start]

    def positions(self, moves: Sequence[str]) -> Sequence[Any]:
        """See `engine.game.positions`.  Callers must not change the result.

        Raises:
            IllegalMove: A move is illegal.
        """
        known = len(self._moves)
        if list(moves[:known]) != self._moves:
            self._moves, self._positions, known = [], self._positions[:1], 0
        for text in moves[known:]:
            *_, last = positions(self._game, [text], self._positions[-1])
            self._moves.append(text)
            self._positions.append(last)
        return self._positions
