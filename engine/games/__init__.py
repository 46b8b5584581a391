"""The registry of games, keyed by name."""

from typing import Any

from engine.game import Game, starting_position
from engine.games.chess_variants import CHESS_VARIANTS
from engine.games.connect4 import Connect4
from engine.games.othello import Othello
from engine.games.standard_chess import StandardChess
from engine.games.tictactoe import TicTacToe
from engine.games.xiangqi import Xiangqi

GAMES: dict[str, Game[Any]] = {
    game.name: game
    for game in (Othello(), StandardChess(), Xiangqi(), Connect4(), TicTacToe(), *CHESS_VARIANTS)
}
ENGINE_GAMES = frozenset(game.name for game in CHESS_VARIANTS)
"""Games that need an external engine: our own searches do not play them well."""


def get_rules(name: str) -> Game[Any]:
    """The rules of the game with this name.

    Raises:
        KeyError: No game has this name; the message lists the known names.
    """
    try:
        return GAMES[name]
    except KeyError:
        raise KeyError(f"no game named {name!r}; known: {', '.join(GAMES)}") from None


def first_side(game: str, initial_position: str | None) -> int:
    """The side, 0 or 1, that moves first from a starting position (None: the standard one).

    Raises:
        KeyError: No game has this name.
        BadPosition: The position is invalid.
    """
    rules = get_rules(game)
    return rules.side_to_move(starting_position(rules, initial_position))
