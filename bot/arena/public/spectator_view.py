"""The spectators' view of a game; it contains nothing that would help a player of a running game.  No I/O.

Fields are listed one by one, so that spectators do not see a new player field by accident.
"""

from collections.abc import Sequence

from bot.arena import board_view as views
from bot.arena import wire
from bot.arena.game import ReplayedGame
from bot.arena.wire import Json

_FULL = ("id", "variant", "speed", "rated", "createdAt", "white", "black", "initialFen", "odds", "clock")
_PLAYER = ("id", "name", "title", "rating", "provisional")
_STATE = ("wtime", "btime", "winc", "binc", "status", "winner")


def spectator_view(
    game: ReplayedGame,
    now: float,
    first_move_s: float,
    keep_alive_s: float,
    *,
    files: Sequence[str] = (),
    are_clocks_stopped: bool = False,
) -> Json:
    """Build the full view of a game for spectators: board, clocks, moves, and the result once it is over.

    The result has the structure of a player's `gameFull` with the view that the page draws.

    Args:
        game: The game.
        now: The current time of the arena.
        first_move_s: Maximum time for each side's first move, in seconds.
        keep_alive_s: Seconds between keep-alives on a quiet stream.
        files: Formats in which the finished game can be downloaded.
        are_clocks_stopped: Whether an outage stops the clocks.
    """
    full = wire.game_full(game, now, first_move_s)
    shown = {key: full[key] for key in _FULL if key in full}
    for colour in ("white", "black"):
        shown[colour] = {key: full[colour][key] for key in _PLAYER if key in full[colour]}
    state = {key: full["state"][key] for key in _STATE if key in full["state"]}
    state["view"] = _view(game, are_clocks_stopped=are_clocks_stopped)
    fields: Json = {"type": "watch", **shown, "keepAlive": keep_alive_s, "state": state}
    return fields | ({"files": list(files)} if game.is_over else {})


def _view(game: ReplayedGame, *, are_clocks_stopped: bool) -> Json:
    rules = game.variant.rules
    shown = views.public_view(game) | {
        "title": rules.title,
        "colours": dict(zip(rules.sides, game.variant.colours, strict=True)),
        "legal": [],
    }
    if are_clocks_stopped:
        shown["clocksStand"] = True
    if not game.is_over and not any(map(rules.move_squares, rules.legal_moves(game.position))):
        shown["mustPass"] = True
    return shown
