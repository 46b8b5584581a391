"""Which engine analyses which game, and with what limits."""

from dataclasses import dataclass
from typing import Any

from engine.errors import BadSettings
from engine.games.chess_variants import CHESS_VARIANTS

UCI_GAMES = ("chess", "xiangqi", *(game.name for game in CHESS_VARIANTS))
"""Games whose notation the protocols know."""
PROTOCOLS = ("uci", "ucci")
MANAGED_OPTIONS = ("multipv", "ponder", "uci_variant", "uci_chess960")
"""Options of an engine that are set by us, in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """One engine for one game."""

    game: str
    """One of `UCI_GAMES`."""
    command: tuple[str, ...]
    """Program and arguments."""
    protocol: str = "uci"
    """One of `PROTOCOLS`; engines of chess and its variants speak ``uci``."""
    options: tuple[tuple[str, str], ...] = ()
    """Names and values to set, of those that the engine offers."""
    depth: int = 10
    """Deepest search of the root, at least 2; the replies are searched one less."""
    window_centi: int = 50
    """Moves whose score at the root is at most this below the best are looked into.  The best is the highest
    score at the root, or less when the replies to what was looked into show that it was too high."""
    candidates: int = 8
    """So many moves are looked into at most, the best ones."""
    max_lines: int = 0
    """Most lines to ask for at once (MultiPV); 0: as many as the engine allows.  Of more moves, a part at a
    time is searched."""
    start_s: float = 10.0
    """Seconds that the engine may take to start."""
    silence_s: float = 30.0
    """Seconds without a word in the middle of a search, after which the engine counts as hung."""

    def asked(self) -> dict[str, Any]:
        """How the engine is asked, as plain JSON values."""
        return {
            "command": self.command[0],
            "protocol": self.protocol,
            "options": dict(self.options),
            "depth": self.depth,
            "window_centi": self.window_centi,
            "candidates": self.candidates,
        }

    def __post_init__(self) -> None:
        if self.game not in UCI_GAMES:
            raise BadSettings(f"game is {self.game!r}, must be one of {', '.join(UCI_GAMES)}")
        if self.protocol not in PROTOCOLS:
            raise BadSettings(f"protocol is {self.protocol!r}, must be one of {', '.join(PROTOCOLS)}")
        if self.protocol == "ucci" and self.game != "xiangqi":
            raise BadSettings(f"protocol ucci is for xiangqi, {self.game} engines speak uci")
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
        if self.candidates < 1:
            raise BadSettings(f"candidates is {self.candidates}, must be at least 1")
