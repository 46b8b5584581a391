"""One game on GGS, rebuilt from its moves.  No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from bot.base.errors import ProtocolError
from bot.base.events import EndReason, GameEnd, GameSnapshot, GameState
from bot.servers import ggs_wire as wire
from bot.servers.ggs_wire import GgsClock
from engine.formats.ggf import GgfGame
from engine.game import margin_centi
from engine.games.othello import Othello, OthelloPosition

RULES = Othello()
USUAL = RULES.position_text(RULES.initial())
WIPE_OUT = 64.0
"""The result of a game that was given up, in discs."""


class Status(Enum):
    """Where a game stands; see the module."""

    LIVE = auto()
    AWAY = auto()
    DOUBTFUL = auto()
    """The server does not list it any more: it is away or over, which the next list of stored games tells."""
    OVER = auto()


@dataclass(slots=True)
class GgsGame:
    """One game."""

    about: GameSnapshot
    """As it began; its state is that of the books for one that is away."""
    status: Status
    board: str = ""
    """The server's id as long as it is live: ``.1``, or ``.3.0`` in a synchro match."""
    is_played: bool = True
    """False: of a kind that this program does not play."""
    clocks: tuple[GgsClock, GgsClock] = (wire.DEFAULT_CLOCK, wire.DEFAULT_CLOCK)
    """Of both sides."""
    moves: tuple[str, ...] = ()
    times_s: tuple[float, ...] = ()
    """As charged for each move, in seconds."""
    position: OthelloPosition = field(default_factory=RULES.initial)
    turn_since_s: float = 0.0
    is_unheard: bool = False
    """It is away, or was: nobody is told what happens in it."""
    is_stale: bool = False
    """We have asked where it stands."""
    sent: str = ""
    """The move of ours that the server has not shown yet."""
    refusal: str = ""
    """Why the last move was not taken; empty: it was, or none was sent."""
    timed_out: str = ""
    """Whose time, with the grace, is over."""
    result: float | None = None
    """Ours in discs, as told when its board ended: known before the last moves, when those were lost."""
    end: GameEnd | None = None

    @property
    def match(self) -> str:
        """The match that it belongs to."""
        return match_of(self.board)

    @property
    def is_ours(self) -> bool:
        """It is our turn."""
        return self.position.side == self.about.our_side

    @property
    def is_done(self) -> bool:
        """By the rules."""
        return not RULES.legal_moves(self.position)

    def state(self, now_s: float) -> GameState:
        """Where it stands, with the time left by the moves' own times; the grace does not count."""
        left = [float(clock.initial_s) for clock in self.clocks]
        first = start_of(self.about).side
        for ply, time_s in enumerate(self.times_s):
            side = (first + ply) % 2
            left[side] += self.clocks[side].increment_s - time_s
        if self.status is Status.LIVE and self.end is None:
            left[self.position.side] -= max(0.0, now_s - self.turn_since_s)
        remaining_s = (max(0.0, left[0]), max(0.0, left[1]))
        return GameState(self.moves, remaining_s, (False, False), (False, False), self.end)


def match_of(board: str) -> str:
    """The match that a board belongs to: ``.3`` of ``.3.0``."""
    return f".{board.split('.')[1]}" if board.count(".") == 2 else board


def end_of(game: GgsGame, ours: float) -> GameEnd:
    """How a game ended, by its moves and the server's result.

    The server tells the result only, and a fatal time-out beforehand.  Out of time with a grace, one loses by
    two discs at least, whatever the board says.

    Args:
        game: With all its moves.
        ours: Our result in discs.
    """
    us = game.about.our_side
    winner = None if ours == 0 else us if ours > 0 else 1 - us
    status = f"{ours:+.2f}"
    if game.timed_out:
        return GameEnd(EndReason.TIME, winner, f"{status} by time")
    if game.is_done:
        side, margin = game.position.side, RULES.margin_discs(game.position)
        best = None if margin == 0 else side if margin > 0 else 1 - side
        return GameEnd(EndReason.NORMAL if best == winner else EndReason.TIME, winner, status)
    if abs(ours) == WIPE_OUT:
        return GameEnd(EndReason.RESIGNATION, winner, f"{status} resigned")
    return GameEnd(EndReason.OTHER, winner, status)


def discs(score_centi: int) -> float:
    """A score as the final difference in discs, which is what GGS counts in."""
    return max(-WIPE_OUT, min(WIPE_OUT, margin_centi(score_centi) / 100))


def start_of(about: GameSnapshot) -> OthelloPosition:
    return RULES.parse_position(about.initial_position or USUAL)


def is_same(game: GgsGame, told: GgfGame, our_side: int) -> bool:
    """Whether a record can be of a game, whatever its moves: the same opponent, side and start."""
    about = game.about
    return (
        game.is_played
        and about.our_side == our_side
        and about.opponent.id == (told.black, told.white)[1 - our_side]
        and start_of(about) == RULES.parse_position(told.start)
    )


def agree(known: Sequence[str], told: Sequence[str]) -> bool:
    """Whether one list of moves begins with the other."""
    both = min(len(known), len(told))
    return list(known[:both]) == list(told[:both])


def type_of(text: str) -> wire.GameType | None:
    try:
        return wire.parse_type(text)
    except ProtocolError:
        return None


def colourless(text: str) -> wire.GameType | str:
    """A type without the colour that somebody asked for."""
    type_ = type_of(text)
    return text if type_ is None else replace(type_, colour="")
