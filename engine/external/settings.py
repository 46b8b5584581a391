"""Which program to start, and how long it may take for a move."""

from dataclasses import dataclass, replace
from typing import Self

from engine.errors import BadSettings

PROTOCOL_GAMES = {
    "nboard": ("othello",),
    "gtp": ("othello",),
    "uci": ("chess", "xiangqi"),
    "ucci": ("xiangqi",),
}
"""The games that each protocol is spoken for here, the usual one first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalSettings:
    """One program, for one game."""

    game: str
    protocol: str
    """One of `PROTOCOL_GAMES`."""
    command: tuple[str, ...]
    """Program and arguments."""
    options: tuple[tuple[str, str], ...] = ()
    """Names and values to set; only UCI and UCCI have options."""
    directory: str | None = None
    """Where the program is started; None: here."""
    start_s: float = 10.0
    """Seconds that it may take to start, or to make itself ready for a new game."""
    silence_s: float = 30.0
    """Seconds beyond the time that it was given for a move, after which it counts as hung; where it was given
    no time, seconds without a word."""
    longest_s: float = 3600.0
    """Seconds that a move may take altogether where it was given no time: also of a program that goes on
    talking."""

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOL_GAMES:
            raise BadSettings(f"protocol is {self.protocol!r}, must be one of {', '.join(PROTOCOL_GAMES)}")
        games = PROTOCOL_GAMES[self.protocol]
        if self.game not in games:
            raise BadSettings(f"protocol {self.protocol} is for {' and '.join(games)}, not for {self.game}")
        if not self.command or not self.command[0]:
            raise BadSettings("command is empty")
        if self.options and self.protocol not in ("uci", "ucci"):
            raise BadSettings(
                f"protocol {self.protocol} has no options; give them to the program as arguments"
            )
        for name, value in self.options:
            if not name.strip() or any(sign in name + value for sign in "\r\n\0"):
                raise BadSettings(f"options: {name!r} = {value!r} cannot be sent")
        for key in ("start_s", "silence_s", "longest_s"):
            if not getattr(self, key) > 0:
                raise BadSettings(f"{key} is {getattr(self, key)}, must be above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What one move may cost: a clock, a time, a depth, or a depth with one of the two."""

    remaining_s: tuple[float, float] | None = None
    """On the clocks, in seconds, by side (`Game.side_to_move`); None: no clock."""
    increment_s: float = 0.0
    """Added to a clock after each move of its side."""
    move_s: float | None = None
    """Seconds for this move; None: not said."""
    depth: int | None = None
    """Deepest search in plies; None: not said.  GTP cannot say it; NBoard must, and then says 12."""

    def __post_init__(self) -> None:
        if self.remaining_s is not None and self.move_s is not None:
            raise BadSettings("a clock and a time for the move: only one of them can be given")
        if self.move_s is not None and not self.move_s > 0:
            raise BadSettings(f"move_s is {self.move_s}, must be above 0")
        if self.depth is not None and self.depth < 1:
            raise BadSettings(f"depth is {self.depth}, must be at least 1")

    def limit_s(self, side: int) -> float | None:
        """Seconds after which that side must have moved; None: no limit."""
        if self.remaining_s is not None:
            return max(0.0, self.remaining_s[side])
        return self.move_s

    def less(self, spent_s: float, side: int) -> Self:
        """The same after that side's clock has run for so long."""
        if self.remaining_s is None:
            return self
        left = list(self.remaining_s)
        left[side] = max(0.0, left[side] - spent_s)
        return replace(self, remaining_s=(left[0], left[1]))


@dataclass(frozen=True, slots=True)
class ChosenMove:
    """A move that an engine chose."""

    move: str
    """A legal one, in the game's notation."""
    evaluation_centi: int | None
    """What the engine thinks of its position, own view, in centi-units; a mate that it has counted out is
    beyond `engine.game.WIN_CENTI`.  None: it did not say."""
    variation: tuple[str, ...]
    """The line that it expects, as far as it is legal; its first move is `move`."""
    depth: int | None
    """As the engine counts it; None: it did not say."""
    time_s: float
    """Seconds from the question to the answer, restarts included."""
