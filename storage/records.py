"""Frozen dataclasses and enumerations that storage and the other packages exchange."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from engine.decision import Decision, Outcome
from engine.params import TrapParams
from engine.strategies.registry import STRATEGIES

T = TypeVar("T")


def _names(kind: Any) -> list[str]:
    return [field.name for field in fields(kind)]


def from_row(kind: type[T], row: Any, **others: Any) -> T:
    """Build a dataclass instance from a row; each field takes the value of the column of the same name.

    Args:
        kind: The dataclass.
        row: A row of a table or of a statement.
        others: Values for fields that differ from their columns in name or form.
    """
    return kind(**{name: getattr(row, name) for name in _names(kind) if name not in others}, **others)


def columns_of(value: Any, *without: str) -> dict[str, Any]:
    """Return the values of a dataclass's fields, except those in `without`, keyed by column name."""
    return {name: getattr(value, name) for name in _names(type(value)) if name not in without}


class GameStatus(StrEnum):
    """A game's state."""

    OPEN = "open"
    """In progress, as far as this program knows."""
    FINISHED = "finished"
    """Over; played to a result."""
    ABORTED = "aborted"
    """Ended too early to count as a game; its traps and their outcomes are still counted."""


class GameResult(StrEnum):
    """Result of a finished game, from our point of view."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"


class Endpoint(StrEnum):
    """The endpoint of a trial."""

    SCORE = "score"
    """A game's result for us: 1, 1/2 or 0 points."""
    COST = "cost"
    """The mean cost of the opponent's judged replies in a game."""


class DecisionState(StrEnum):
    """The delivery status of a decision's move."""

    COMMITTED = "committed"
    """The decision is stored; whether its move was sent is unknown."""
    SENT = "sent"
    """The server accepted the move."""
    CONFIRMED = "confirmed"
    """The server's list of moves shows the move."""
    DROPPED = "dropped"
    """The game ended before the server accepted the move: it was never played and has no outcome."""


class BaitOutcome(StrEnum):
    """The outcome of a bait."""

    TAKEN = "taken"
    HELD = "held"
    """The opponent played another reply."""
    UNANSWERED = "unanswered"
    """The game ended before a reply."""

    @classmethod
    def of(cls, is_taken: bool | None) -> "BaitOutcome":
        """Return the outcome of a bait; `is_taken` is None if there was no reply."""
        return cls.UNANSWERED if is_taken is None else cls.TAKEN if is_taken else cls.HELD


@dataclass(frozen=True, slots=True)
class AccountKey:
    """One of our accounts, as the owner of games and events."""

    site: str
    """Key of the server, for instance ``arena``."""
    name: str = ""
    """The account's name at the site, in lower case; empty for a match on this machine, or a record from
    before accounts were recorded."""


MIN_RATING, MAX_RATING = -10_000, 100_000
"""Range of plausible ratings, far wider than any rating system's; any other rating is a site's error."""


def plausible_rating(rating: int | None) -> int | None:
    """Return the rating that a site sent, or None if it is implausible."""
    return rating if rating is not None and MIN_RATING <= rating <= MAX_RATING else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGame:
    """What is known about a game when it begins; stored before the first move."""

    site: str
    """See `AccountKey`."""
    account: str = ""
    """See `AccountKey`."""
    site_game_id: str
    """The site's key for the game."""
    game: str
    """The game's name in `engine.games`."""
    variant: str
    """The site's key for the variant."""
    initial_position: str | None
    """Text of the starting position; None for the standard one."""
    our_side: int
    """0 if we play the side that moves first from the standard starting position, such as white in chess."""
    rated: bool
    speed: str
    """The speed class as the site names it."""
    clock_initial_s: int | None
    """Initial time on each clock, in seconds; None: no real-time clock."""
    clock_increment_s: int | None
    opponent_id: str
    """The site's stable key for the opponent's account."""
    opponent_name: str
    opponent_is_bot: bool
    our_rating: int | None
    opponent_rating: int | None
    """The rating at the start of the game; None if the site does not report it."""
    strategy: str
    """The strategy's name, for instance ``trappy``; in matches it can be another program's name."""
    params: TrapParams
    engine_version: str
    selection: Mapping[str, Any]
    """How this strategy was chosen, as plain JSON values."""
    trial_id: int | None = None
    """Key of the game's trial (`storage.evidence.trials`); None: the game belongs to no trial."""

    @property
    def owner(self) -> AccountKey:
        """Our account that owns the game."""
        return AccountKey(self.site, self.account)

    @property
    def draws_decisions(self) -> bool:
        """Whether the strategy randomises single moves (`engine.randomised`)."""
        kind = STRATEGIES.get(self.strategy)
        return kind is not None and kind.draws_decisions

    @property
    def imitates_people(self) -> bool:
        """Whether the strategy draws each move as people of a rating play (`engine.strategies.like`)."""
        kind = STRATEGIES.get(self.strategy)
        return kind is not None and kind.imitates_people

    @property
    def is_drawn(self) -> bool:
        """Whether the strategy or any of its moves was chosen at random."""
        return bool(self.drawn_from) or self.draws_decisions

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the strategies that a trial must compare to include this game; empty if no trial can."""
        return self.drawn_from or ((self.strategy,) if self.draws_decisions else ())

    @property
    def drawn_from(self) -> tuple[str, ...]:
        """Names of the strategies from which one was chosen at random; empty if none was chosen at random."""
        # Draws of earlier versions stored counts for all players and the chance of only one.
        known = self.selection.get("chances", self.selection.get("against_opponent"))
        players = sorted(known) if isinstance(known, Mapping) else []
        return tuple(players) if len(players) > 1 else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGame(NewGame):
    """A game in the database."""

    id: int
    moves: tuple[str, ...]
    """Every move in the server's list, including passes."""
    state: GameStatus
    is_settled: bool
    """Whether judging and forecasting its decisions is complete; always false for an open game."""
    result: GameResult | None
    """The result; None if the game is open or aborted, or the site does not report it."""
    end_reason: str | None
    rating_diff: int | None
    """Change in our rating; None if the game is unrated or the change unknown."""
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class NonWinLine:
    """The moves of a game that we lost or drew."""

    game_id: int
    initial_position: str | None
    """The starting position; None for the standard one."""
    our_side: int
    moves: tuple[str, ...]
    """Every move, including passes."""


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A decision in a game; decisions that were taken back are excluded."""

    id: int
    game_id: int
    ply: int
    """Number of moves before this one, including passes."""
    state: DecisionState
    decision: Decision
    is_complete: bool
    """Whether the record has the chosen move's complete profile."""
    is_trap: bool | None
    """Whether the move sets a trap; None until the profile is complete."""
    outcome: Outcome | None
    """The outcome; None until it is known."""
    created_at: datetime
    sent_at: datetime | None
    confirmed_at: datetime | None


class TimeSource(StrEnum):
    """Who measured the time that a reply took."""

    SERVER = "server"
    """Measured by the server, which deducted this time from the opponent's clock."""
    MEASURED = "measured"
    """Measured by us, from when our move was shown until the reply was shown, minus the known lag."""


@dataclass(frozen=True, slots=True)
class ReplyTime:
    """How long the opponent took to reply."""

    time_s: float
    """The time in seconds, 0 or more."""
    source: TimeSource


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """A recorded event other than a move, for instance a lost connection or a declined challenge."""

    id: int
    at: datetime
    site: str
    account: str
    kind: str
    detail: Mapping[str, Any]
    game_id: int | None


ARENA_SITE = "arena"
"""Site of games on the embedded server."""
MATCH_SITE = "match"
"""The site name recorded for matches between programs on this machine."""


DERIVED = frozenset({"game_summaries", "game_baits", "person_states", "games_to_fold", "site_states"})
"""Names of tables computed from other tables; if any row is wrong, the whole table is recomputed."""
