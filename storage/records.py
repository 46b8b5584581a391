"""Frozen values that cross the boundary between storage and the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from engine.decision import Decision, Outcome
from engine.params import TrapParams


class GameStatus(StrEnum):
    """Where the story of a game stands."""

    OPEN = "open"
    """Still being played, as far as we know."""
    FINISHED = "finished"
    """Over, with a result."""
    ABORTED = "aborted"
    """Over before it counted: not among a player's games, though what happened to its traps is told."""


class GameResult(StrEnum):
    """How a finished game went, our view."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"


class DecisionState(StrEnum):
    """How far a decision has come on its way to the server."""

    COMMITTED = "committed"
    """Written down; the move may or may not have been sent."""
    SENT = "sent"
    """The server took the move."""
    CONFIRMED = "confirmed"
    """The server's list of moves shows it."""
    DROPPED = "dropped"
    """The game ended before the server took the move: it was never played and has no outcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGame:
    """All that is known when a game begins; written before the first move."""

    site: str
    """Key of the server, for instance ``arena``."""
    site_game_id: str
    """The site's own key of the game."""
    game: str
    """Name in `engine.games`."""
    variant: str
    """The site's key of the variant."""
    initial_position: str | None
    """Text of the start; None: the usual one."""
    our_side: int
    """0: we move first; 1: the opponent does."""
    rated: bool
    speed: str
    """Speed class in the site's words."""
    clock_initial_s: int | None
    """None: no real-time clock."""
    clock_increment_s: int | None
    opponent_id: str
    """The site's stable key of the opponent's account."""
    opponent_name: str
    opponent_is_bot: bool
    our_rating: int | None
    opponent_rating: int | None
    """At the start of the game; None when the site does not tell."""
    player: str
    """``standard`` or ``trappy``."""
    params: TrapParams
    engine_version: str
    selection: Mapping[str, Any]
    """Why this player was chosen; plain JSON values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGame(NewGame):
    """A game as the database knows it."""

    id: int
    moves: tuple[str, ...]
    """Every move that the server has shown, passes included."""
    state: GameStatus
    result: GameResult | None
    """None while open, and when aborted."""
    end_reason: str | None
    rating_diff: int | None
    """Change of our rating; None when unrated or not known."""
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A standing (not taken back) decision of a game."""

    id: int
    game_id: int
    ply: int
    """Moves made in the game before it, passes included; 0 for the first."""
    state: DecisionState
    decision: Decision
    is_complete: bool
    """The chosen move's whole profile is in the record."""
    is_trap: bool | None
    """The move sets a trap; None until the profile is complete."""
    outcome: Outcome | None
    """None until it is settled."""
    created_at: datetime
    sent_at: datetime | None
    confirmed_at: datetime | None


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """Something worth remembering that is no move: a lost link, a declined challenge."""

    id: int
    at: datetime
    site: str
    kind: str
    detail: Mapping[str, Any]
    game_id: int | None


MATCH_SITE = "match"
"""Site of the games that programs play here among themselves; no person has seen their traps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which games to look at; None everywhere: all of them."""

    player: str | None = None
    site: str | None = None
    game: str | None = None
    opponent_id: str | None = None
    """The site's key of the opponent's account."""
    opponent: str | None = None
    """The opponent's name, in capitals or not."""
    match: str | None = None
    """Name of the match that a game belongs to."""
    since: datetime | None = None
    """Started at or after this moment (aware)."""
    until: datetime | None = None
    """Started before this moment (aware)."""
    min_opponent_rating: int | None = None
    """An opponent whose rating is not known passes no limit."""
    max_opponent_rating: int | None = None
    rated: bool | None = None
    has_result: bool | None = None
    """True: won, drawn or lost; False: still open, aborted, or without a word of who won."""
