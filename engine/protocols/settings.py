"""Settings of an external program, and the limits for one move."""

from dataclasses import dataclass, replace
from typing import Self

from engine.errors import BadSettings

PROTOCOL_GAMES = {
    "nboard": ("othello",),
    "gtp": ("othello",),
    "uci": ("chess", "xiangqi"),
    "ucci": ("xiangqi",),
}
"""The games that we support over each protocol, the default game first."""

STOPPABLE_PROTOCOLS = ("uci", "ucci")
"""Protocols that can limit a search by nodes and have a command to stop a search and get its move. No
protocol can limit processor time: we send that command when the limit is reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalSettings:
    """An external program that plays one game."""

    game: str
    protocol: str
    """One of `PROTOCOL_GAMES`."""
    command: tuple[str, ...]
    """Program and arguments."""
    options: tuple[tuple[str, str], ...] = ()
    """Names and values of options to set; only UCI and UCCI have options."""
    directory: str | None = None
    """The program's working directory; None for ours."""
    start_s: float = 10.0
    """Timeout in seconds for starting the program, and for preparing a new game."""
    response_timeout_s: float = 30.0
    """The program counts as hung this many seconds after the time for a move or, without a time limit, after
    this many seconds without output."""
    longest_s: float = 3600.0
    """Maximum seconds for a move that has no time limit of its own, even if the program keeps printing."""

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
        for key in ("start_s", "response_timeout_s", "longest_s"):
            if not getattr(self, key) > 0:
                raise BadSettings(f"{key} is {getattr(self, key)}, must be above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The limits of one move: nodes, processor time, a clock, a time or a depth; only a depth can be
    combined with a clock or a time."""

    remaining_s: tuple[float, float] | None = None
    """Clocks in seconds, indexed by side (`Game.side_to_move`); None for no clock."""
    increment_s: float = 0.0
    """Seconds added to a clock after each move of its side."""
    move_s: float | None = None
    """Seconds for this move; None if unspecified."""
    depth: int | None = None
    """Maximum depth in plies; None if unspecified (12 for NBoard, which requires a depth).  Not for GTP."""
    nodes: int | None = None
    """Approximate number of positions to visit; None if unspecified. Allowed for other programs only with a
    protocol in `STOPPABLE_PROTOCOLS`."""
    cpu_s: float | None = None
    """Seconds of processor time for this move, all threads together; None if unspecified.  Likewise."""

    def __post_init__(self) -> None:
        alone = [limit for limit in (self.nodes, self.cpu_s) if limit is not None]
        others = (self.remaining_s, self.move_s, self.depth)
        if alone and (len(alone) > 1 or any(limit is not None for limit in others)):
            raise BadSettings("a limit of nodes or processor time excludes all other limits")
        if self.nodes is not None and self.nodes < 1:
            raise BadSettings(f"nodes is {self.nodes}, must be at least 1")
        if self.cpu_s is not None and not self.cpu_s > 0:
            raise BadSettings(f"cpu_s is {self.cpu_s}, must be above 0")
        if self.remaining_s is not None and self.move_s is not None:
            raise BadSettings("a move can have a clock or a time, not both")
        if self.move_s is not None and not self.move_s > 0:
            raise BadSettings(f"move_s is {self.move_s}, must be above 0")
        if self.depth is not None and self.depth < 1:
            raise BadSettings(f"depth is {self.depth}, must be at least 1")

    def limit_s(self, side: int) -> float | None:
        """Wall-clock seconds within which the given side must move; None for no limit."""
        if self.remaining_s is not None:
            return max(0.0, self.remaining_s[side])
        return self.move_s

    def after_spending(self, spent_s: float, side: int) -> Self:
        """The allowance after the given side's clock has run for the given time."""
        if self.remaining_s is None:
            return self
        left = list(self.remaining_s)
        left[side] = max(0.0, left[side] - spent_s)
        return replace(self, remaining_s=(left[0], left[1]))


@dataclass(frozen=True, slots=True)
class ChosenMove:
    """A move that an engine chose."""

    move: str
    """A legal move, in the game's notation."""
    evaluation_centi: int | None
    """The engine's own evaluation in centi-units; a forced mate is beyond `engine.game.WIN_CENTI`. None if
    not reported."""
    variation: tuple[str, ...]
    """The legal prefix of the engine's principal variation; the first move is `move`."""
    depth: int | None
    """Depth as reported by the engine; None if not reported."""
    time_s: float
    """Seconds from query to answer, including restarts."""
    cpu_s: float | None = None
    """Seconds of processor time for the move, all threads together; None if unknown."""
    nodes: int | None = None
    """Number of positions visited, as reported by the engine; None if not reported."""
