"""The conditions that all games of a match share, and the match id derived from them."""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from bot.match.player_specs import ExternalSpec, HumanSpec, MatchError, OurSpec, PlayerSpec
from engine import SEARCH_REVISION
from engine.protocols.settings import Allowance

DEFAULT_MOVE_S = 0.1
"""Default time for a move, in seconds."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


@dataclass(frozen=True, slots=True)
class GameClock:
    """A Fischer clock."""

    initial_s: float
    increment_s: float
    """Seconds added to a side's clock after each of its moves."""

    def __str__(self) -> str:
        return f"{self.initial_s:g}+{self.increment_s:g}"


@dataclass(frozen=True, slots=True)
class AdjudicationRule:
    """When to end a game before the rules do."""

    centi: int
    """Lead required for adjudication, in centi-units."""
    plies: int
    """Number of consecutive evaluations, by both players in turn, that must agree on the leader."""

    def __str__(self) -> str:
        return f"{self.centi},{self.plies}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The conditions of every game of a match."""

    game: str
    """Name in `engine.games`."""
    a: PlayerSpec
    b: PlayerSpec
    clock: GameClock | None = None
    """The clock, or None if each move has a time or depth limit instead."""
    move_s: float | None = None
    """Seconds per move, unless the player's specification sets another value."""
    depth: int | None = None
    """Maximum search depth in plies, unless the player's specification sets another value."""
    grace_s: float = 1.0
    """Seconds by which a move can exceed its time limit before the player loses; ignored with a clock."""
    adjudication: AdjudicationRule | None = None
    """The adjudication rule, or None if games always end by their own rules."""
    openings: str
    """Source of the openings: the seed or a file's fingerprint."""
    odds: str = ""
    """Name of the odds that A gives in every game (`engine.opponents.odds`); empty for none."""
    engine_version: str = SEARCH_REVISION
    """Revision of the search that our own players use and that balances openings."""

    def __post_init__(self) -> None:
        if self.clock is not None and self.move_s is not None:
            raise MatchError("a clock and a time per move cannot be combined")
        if self.clock is None and self.move_s is None and self.depth is None:
            raise MatchError("there is no limit: give a clock, a time or a depth")
        for spec in (self.a, self.b):
            if self.clock is not None and spec.move_s is not None:
                raise MatchError(f"player {spec.text!r}: a time per move cannot be combined with a clock")
            if self.clock is not None and (spec.cpu_s is not None or spec.nodes is not None):
                raise MatchError(f"player {spec.text!r}: with a clock, do not limit processor time or nodes")
            allowance = self.allowance(spec, (1.0, 1.0))
            if isinstance(spec, OurSpec):
                if allowance.depth is not None and allowance.depth < 2:
                    raise MatchError(f"player {spec.text!r}: its depth must be 2 or more")
            elif spec.kind == "gtp" and allowance.move_s is not None and allowance.move_s < 1:
                raise MatchError(
                    f"player {spec.text!r}: GTP counts in whole seconds and cannot express "
                    f"{allowance.move_s:g} s a move; set a time of 1 or more, or set a level in its own "
                    "arguments and add `depth=`, which here means no time limit"
                )

    def spec(self, player: int) -> PlayerSpec:
        """The specification of player 0 (A) or 1 (B)."""
        return self.b if player else self.a

    def allowance(self, spec: PlayerSpec, clocks_s: tuple[float, float]) -> Allowance:
        """Limits for a player's next move.

        Args:
            clocks_s: Time left on each side's clock; ignored without a clock.
        """
        depth = spec.depth or self.depth
        if spec.cpu_s is not None or spec.nodes is not None:
            return Allowance(cpu_s=spec.cpu_s, nodes=spec.nodes)
        if isinstance(spec, HumanSpec) and self.clock is None:
            return Allowance()  # nothing is searched: its time measures only the machine's load
        if self.clock is not None:
            return Allowance(remaining_s=clocks_s, increment_s=self.clock.increment_s, depth=depth)
        if spec.depth is not None or spec.move_s is not None:
            return Allowance(move_s=spec.move_s, depth=spec.depth)
        return Allowance(move_s=self.move_s, depth=self.depth)

    @property
    def limits_our_cpu(self) -> bool:
        """Whether any of our players has a limit on processor time."""
        return any(isinstance(spec, OurSpec) and spec.cpu_s is not None for spec in (self.a, self.b))

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; equal conditions have equal values."""
        terms = {
            "game": self.game,
            "a": self.a.text,
            "b": self.b.text,
            "clock": None if self.clock is None else str(self.clock),
            "time_s": self.move_s,
            "depth": self.depth,
            "grace_s": self.grace_s,
            "adjudication": None if self.adjudication is None else str(self.adjudication),
            "openings": self.openings,
            "engine_version": self.engine_version,
        }
        return {**terms, "odds": self.odds} if self.odds else terms

    def match_id(self) -> str:
        """The match's identifier; matches with equal conditions have equal identifiers."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:12]


def opponent_name(spec: PlayerSpec) -> str:
    """The opponent's name in the database."""
    return (spec.name if isinstance(spec, ExternalSpec | HumanSpec) else None) or spec.text


def player_label(spec: PlayerSpec, which: int) -> str:
    """A player's name in messages: its configured name or, if it has none, its program."""
    name = (spec.name or spec.command[0]) if isinstance(spec, ExternalSpec) else opponent_name(spec)
    return f"{'AB'[which]} ({name})"


def parse_id(text: str) -> str:
    """Validate a match identifier that the operator chose.

    Raises:
        MatchError: The text is not a valid identifier.
    """
    if not _ID.fullmatch(text):
        raise MatchError(f"--id: {text!r} is not a valid match id; use up to 40 letters, digits, . _ and -")
    return text


def parse_clock(text: str) -> GameClock:
    """Parse a clock such as ``60+0.6``: initial seconds and increment.

    Raises:
        MatchError: The text is not a clock.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?", text.strip())
    clock = GameClock(float(match[1]), float(match[2] or 0)) if match else None
    if clock is None or not 0 < clock.initial_s <= 86_400 or clock.increment_s > 3600:
        raise MatchError(f"--tc: {text!r} is not a clock; write seconds and increment, for instance 60+0.6")
    return clock


def parse_adjudication(text: str) -> AdjudicationRule:
    """Parse an adjudication rule such as ``900,6``: centi-units, plies.

    Raises:
        MatchError: The text is not an adjudication rule.
    """
    match = re.fullmatch(r"(\d{1,6}),(\d{1,3})", text.strip())
    if match is None or int(match[1]) < 1 or int(match[2]) < 1:
        raise MatchError(f"--adjudicate: {text!r} is not CENTI,PLIES, for instance 900,6")
    return AdjudicationRule(int(match[1]), int(match[2]))
