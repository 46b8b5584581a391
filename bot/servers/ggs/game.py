"""One game on GGS, rebuilt from its moves. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bot.base.errors import ProtocolError
from bot.base.events import EndReason, GameEnd, GameSnapshot, GameState
from bot.servers.ggs import wire
from bot.servers.ggs.lifecycle import GAME_TRANSITIONS, GgsGameEvent, GgsStatus, next_state
from bot.servers.ggs.wire import GgsClock
from engine.formats.ggf import GgfGame
from engine.game import margin_centi, replay
from engine.games.othello import Othello, OthelloPosition

RULES = Othello()
USUAL_START = RULES.position_text(RULES.initial())
RESIGNED_DISCS = 64.0
"""Black's result, in discs before komi, if white resigns; the negative of this if black resigns."""
KOMI_ROUNDING = 0.01
"""Tolerance in discs: the server rounds results to two decimals and the komi to three."""


@dataclass(slots=True)
class GgsGame:
    """One game."""

    about: GameSnapshot
    """The game as it started or, if it was adjourned, as it is stored in the database."""
    status: GgsStatus
    board: str = ""
    """The server's id of the game while it is live: ``.1``, or ``.3.0`` in a synchro match."""
    is_played: bool = True
    """Whether this program can play this kind of game."""
    clocks: tuple[GgsClock, GgsClock] = (wire.DEFAULT_CLOCK, wire.DEFAULT_CLOCK)
    """The clocks of the two sides."""
    komi: float = 0.0
    """Komi: discs subtracted from black's result."""
    moves: tuple[str, ...] = ()
    times_s: tuple[float, ...] = ()
    """Time charged for each move, in seconds."""
    position: OthelloPosition = field(default_factory=RULES.initial)
    turn_since_s: float = 0.0
    is_unheard: bool = False
    """Whether the game's events are withheld because it is not live or its start has not been reported."""
    is_stale: bool = False
    """Whether the known state may be outdated; if so, the current state has been requested."""
    sent: str = ""
    """Our move that the server has not confirmed yet."""
    refusal: str = ""
    """Why our last move was refused; empty if it was accepted or none was sent."""
    timed_out: str = ""
    """The player whose time and grace time have run out; ``t``: player unknown; empty: nobody."""
    result: float | None = None
    """Our result in discs; None until the server reports it, possibly before we have received all moves."""
    end: GameEnd | None = None

    def pass_to(self, event: GgsGameEvent) -> None:
        """Enter the state that follows an event.

        Raises:
            ProtocolError: The event cannot happen in the game's state.
        """
        self.status = next_state(GAME_TRANSITIONS, self.status, event)

    @property
    def match(self) -> str:
        """Id of the match that the game belongs to."""
        return match_of(self.board)

    @property
    def is_ours(self) -> bool:
        """Whether it is our turn."""
        return self.position.side == self.about.our_side

    @property
    def is_done(self) -> bool:
        """Whether the game is over according to the rules."""
        return not RULES.legal_moves(self.position)

    def state(self, now_s: float) -> GameState:
        """The current state; the remaining time is computed from the move times, without the grace time."""
        left = [float(clock.initial_s) for clock in self.clocks]
        first = start_of(self.about).side
        for ply, time_s in enumerate(self.times_s):
            side = (first + ply) % 2
            left[side] += self.clocks[side].increment_s - time_s
        if self.status is GgsStatus.LIVE and self.end is None:
            left[self.position.side] -= max(0.0, now_s - self.turn_since_s)
        remaining_s = (max(0.0, left[0]), max(0.0, left[1]))
        return GameState(self.moves, remaining_s, (False, False), (False, False), self.end)


@dataclass(frozen=True, slots=True)
class BoardRecord:
    """A board from the server, with its moves replayed."""

    id: str
    """The server's id of the board."""
    record: GgfGame
    our_side: int
    moves: tuple[str, ...]
    times_s: tuple[float, ...]
    """Time charged for each move, in seconds."""
    position: OthelloPosition
    clocks: tuple[GgsClock, GgsClock]

    @property
    def match(self) -> str:
        """Id of the match that the board belongs to."""
        return match_of(self.id)

    @property
    def is_played(self) -> bool:
        """Whether this program can play this kind of game."""
        type_ = type_of(self.record.kind)
        return type_ is not None and type_.is_supported and all(clock.is_plain for clock in self.clocks)

    @property
    def awaits_bids(self) -> bool:
        """Whether this is a komi game whose players have yet to bid."""
        type_ = type_of(self.record.kind)
        return type_ is not None and type_.is_komi and self.record.komi is None

    @property
    def is_done(self) -> bool:
        """Whether the game is over according to the rules."""
        return not RULES.legal_moves(self.position)


def read_board(id_: str, record: GgfGame, name: str) -> BoardRecord:
    """Replay the moves of a board of our account.

    Raises:
        BadPosition: The start is not a valid position.
        IllegalMove: A move is illegal.
        ProtocolError: A clock cannot be parsed.
    """
    moves = tuple(move.move for move in record.moves)
    return BoardRecord(
        id=id_,
        record=record,
        our_side=0 if record.black == name else 1,
        moves=moves,
        times_s=tuple(move.time_s or 0.0 for move in record.moves),
        position=replay(RULES, moves, RULES.parse_position(record.start)),
        clocks=(wire.parse_clock(record.black_clock or ""), wire.parse_clock(record.white_clock or "")),
    )


def match_of(board: str) -> str:
    """Return the id of the match that a board belongs to: ``.3`` for ``.3.0``."""
    return f".{board.split('.')[1]}" if board.count(".") == 2 else board


def board_of(game_id: str) -> str:
    """Extract from our game id the server's original id of the board: ``.1`` from ``20261122T003000-.1``."""
    return "-".join(game_id.split("-")[1:2])


def end_of(game: GgsGame, ours: float) -> GameEnd:
    """Determine from a game's moves and the server's result how the game ended.

    The server reports only the result, preceded by a time-out message if time decided the game. A player
    whose grace time also runs out loses by at least two discs, whatever the board shows.

    Args:
        game: The game with all its moves.
        ours: Our result in discs.
    """
    us = game.about.our_side
    winner = None if ours == 0 else us if ours > 0 else 1 - us
    status = f"{ours:+.2f}"
    if game.timed_out:
        return GameEnd(EndReason.TIME, winner, f"{status} by time")
    if game.is_done:
        side, margin = game.position.side, RULES.margin_discs(game.position)
        margin_black = (margin if side == 0 else -margin) - game.komi
        best = None if margin_black == 0 else 0 if margin_black > 0 else 1
        return GameEnd(EndReason.NORMAL if best == winner else EndReason.TIME, winner, status)
    blacks_discs = (ours if us == 0 else -ours) + game.komi
    if abs(abs(blacks_discs) - RESIGNED_DISCS) < KOMI_ROUNDING:
        return GameEnd(EndReason.RESIGNATION, winner, f"{status} resigned")
    return GameEnd(EndReason.OTHER, winner, status)


def discs(score_centi: int) -> float:
    """Convert a score to the final disc difference, the unit of GGS."""
    return max(-RESIGNED_DISCS, min(RESIGNED_DISCS, margin_centi(score_centi) / 100))


def start_of(about: GameSnapshot) -> OthelloPosition:
    return RULES.parse_position(about.initial_position or USUAL_START)


def is_same_game(game: GgsGame, record: GgfGame, our_side: int) -> bool:
    """Whether the opponent, side and starting position of a record match a game; ignores the moves."""
    about = game.about
    return (
        game.is_played
        and about.our_side == our_side
        and about.opponent.id == (record.black, record.white)[1 - our_side]
        and start_of(about) == RULES.parse_position(record.start)
    )


def is_common_prefix(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether one list of moves is a prefix of the other."""
    both = min(len(ours), len(theirs))
    return list(ours[:both]) == list(theirs[:both])


def type_of(text: str) -> wire.GameType | None:
    try:
        return wire.parse_type(text)
    except ProtocolError:
        return None


def colourless(text: str) -> wire.GameType | str:
    """Remove the requested colour, if any, from a match type; return an unknown type unchanged."""
    type_ = type_of(text)
    return text if type_ is None else replace(type_, colour="")
