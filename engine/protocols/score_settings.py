"""The engine for each game, and the limits of the engine's searches."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.errors import BadSettings
from engine.games.chess_variants import CHESS_VARIANTS

UCI_GAMES = ("chess", "xiangqi", *(game.name for game in CHESS_VARIANTS))
"""Games whose notation UCI or UCCI defines."""
PROTOCOLS = ("uci", "ucci")
MANAGED_OPTIONS = ("multipv", "ponder", "uci_variant", "uci_chess960")
"""Names of engine options that we set ourselves, in lower case."""


class MoveLimit(StrEnum):
    """What ends an engine's search for its own best move."""

    DEPTH = "depth"
    """A number of plies, given by `EngineSettings.depth`."""
    NODES = "nodes"
    """A number of positions, given by `EngineSettings.nodes`."""
    CLOCK = "clock"
    """The engine's own time management."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """The settings of one engine for one game."""

    game: str
    """One of `UCI_GAMES`."""
    command: tuple[str, ...]
    """The engine's program and its arguments."""
    protocol: str = "uci"
    """One of `PROTOCOLS`; engines of chess and its variants speak ``uci``."""
    options: tuple[tuple[str, str], ...] = ()
    """Names and values of engine options to set."""
    depth: int = 10
    """Maximum search depth at the root, at least 2; the replies are searched one ply less deeply."""
    window_centi: int = 50
    """A move is analysed if its root score is at most this far below the best score. The best score is the
    highest root score, corrected downwards if the replies to the analysed moves show it to be too high."""
    candidates: int = 8
    """Maximum number of moves to analyse, best first."""
    max_lines: int = 0
    """Maximum MultiPV value to use; 0 for the engine's own limit. More moves require several searches."""
    limit: MoveLimit = MoveLimit.DEPTH
    """The limit of the search for the engine's own best move; our time limits may end it earlier."""
    nodes: int = 100_000
    """Number of positions to visit if the limit is ``nodes``."""
    start_s: float = 10.0
    """Timeout for the engine's start, in seconds."""
    response_timeout_s: float = 30.0
    """Seconds of silence during a search after which the engine counts as hung."""

    def search_settings_record(self) -> dict[str, Any]:
        """The settings of the searches, as plain JSON values."""
        return {
            "command": self.command[0],
            "protocol": self.protocol,
            "options": dict(self.options),
            "depth": self.depth,
            "window_centi": self.window_centi,
            "candidates": self.candidates,
        }

    def move_settings_record(self) -> dict[str, Any]:
        """The settings of the search for the engine's own best move, as plain JSON values."""
        given: dict[str, Any] = {"limit": self.limit.value}
        return given | {"nodes": self.nodes} if self.limit is MoveLimit.NODES else given

    def __post_init__(self) -> None:
        if self.game not in UCI_GAMES:
            raise BadSettings(f"game is {self.game!r}, must be one of {', '.join(UCI_GAMES)}")
        if self.protocol not in PROTOCOLS:
            raise BadSettings(f"protocol is {self.protocol!r}, must be one of {', '.join(PROTOCOLS)}")
        if self.protocol == "ucci" and self.game != "xiangqi":
            raise BadSettings(f"protocol ucci is for xiangqi; {self.game} engines speak uci")
        if self.protocol == "ucci" and self.limit is MoveLimit.CLOCK:
            raise BadSettings("limit clock is for protocol uci")
        if not self.command or not self.command[0]:
            raise BadSettings("command is empty")
        for name, value in self.options:
            if name.lower().replace(" ", "_") in MANAGED_OPTIONS:
                raise BadSettings(f"options: {name} is set by Desdemona itself")
            if not name.strip() or any(sign in name + value for sign in "\r\n\0"):
                raise BadSettings(f"options: {name!r} = {value!r} cannot be sent")
        if self.depth < 2:
            raise BadSettings(f"depth is {self.depth}, must be at least 2: a trap needs a move and a reply")
        for key in ("window_centi", "max_lines"):
            if getattr(self, key) < 0:
                raise BadSettings(f"{key} is {getattr(self, key)}, must be 0 or more")
        for key in ("candidates", "nodes"):
            if getattr(self, key) < 1:
                raise BadSettings(f"{key} is {getattr(self, key)}, must be at least 1")
