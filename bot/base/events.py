"""Events from game servers, as frozen values independent of the site and its wire format.

Moves are in the game's own notation (``f5``, ``pass``), sides are 0 (moves first from the standard starting
position) and 1, and times are in seconds. Adapters translate each site's own terms; sessions see these terms
only where a field says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MAX_CHAT_LENGTH = 140
"""Longest chat line that servers of the Lichess family accept, in characters."""


class Speed(StrEnum):
    """Speed classes by estimated duration: initial time + 40 increments, as on Lichess."""

    ULTRABULLET = "ultraBullet"
    BULLET = "bullet"
    BLITZ = "blitz"
    RAPID = "rapid"
    CLASSICAL = "classical"
    CORRESPONDENCE = "correspondence"


@dataclass(frozen=True, slots=True)
class Clock:
    """A Fischer clock."""

    initial_s: int
    """Initial time in seconds."""
    increment_s: int
    """Time added after each move, in seconds."""


# Upper bounds of the estimated duration in seconds (lila).
_SPEED_BOUNDS_S = ((30, Speed.ULTRABULLET), (180, Speed.BULLET), (480, Speed.BLITZ), (1500, Speed.RAPID))


def speed_of(clock: Clock | None) -> Speed:
    """The speed class; a game without a clock counts as correspondence, as on Lichess."""
    if clock is None:
        return Speed.CORRESPONDENCE
    estimate_s = clock.initial_s + 40 * clock.increment_s
    return next((speed for limit_s, speed in _SPEED_BOUNDS_S if estimate_s < limit_s), Speed.CLASSICAL)


@dataclass(frozen=True, slots=True)
class Opponent:
    """The opponent's account."""

    id: str
    """The site's stable key for the account."""
    name: str
    rating: int | None
    """None: unknown."""
    is_bot: bool


CHESS960, FROM_POSITION, OTHELLO_RANDOM = "chess960", "from_position", "othello_random"
"""Kinds of challenges in addition to the game names in `engine.games`."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge from or to the account."""

    id: str
    challenger: Opponent | None
    """The challenger's account; None when the challenge is anonymous."""
    game: str | None
    """Name of the game in `engine.games`; None when this program does not play it."""
    variant: str
    """The site's key for the game, kept for reference."""
    kind: str
    """The kind in the settings (`challenges.variants`): the game's name, ``chess960``, ``from_position`` or
    ``othello_random``; empty when this program does not play it."""
    rated: bool
    speed: Speed
    clock: Clock | None
    """The game's clock; None if there is no real-time clock (correspondence or unlimited)."""
    days_per_turn: int | None
    """Days per move in a correspondence game; None if the game is real-time or unlimited."""
    initial_position: str | None
    """Starting position as text (`Game.parse_position`); None for the standard one."""
    is_ours: bool
    """Whether we sent the challenge."""
    our_rating: int | None = None
    """The challenged account's rating for this kind of game; None if unknown."""
    boards: int = 1
    """Number of games that begin simultaneously when the challenge is accepted."""
    can_abort: bool = True
    """Whether its rules let the players abort the game (at Lichess: no rule ``noAbort``)."""


class DeclineReason(StrEnum):
    """Reasons for declining a challenge; the values are Lichess's keys."""

    GENERIC = "generic"
    LATER = "later"
    TOO_FAST = "tooFast"
    TOO_SLOW = "tooSlow"
    TIME_CONTROL = "timeControl"
    RATED = "rated"
    CASUAL = "casual"
    STANDARD = "standard"
    VARIANT = "variant"
    NO_BOT = "noBot"
    ONLY_BOT = "onlyBot"


class EndReason(StrEnum):
    """How a game ended, in terms common to all sites."""

    NORMAL = "normal"
    """The game ended under its rules: full board, mate, no moves."""
    RESIGNATION = "resignation"
    TIME = "time"
    """A clock ran out."""
    LEFT = "left"
    """A player left and the other claimed victory."""
    AGREEMENT = "agreement"
    """The players agreed to a draw, or one player claimed a draw."""
    ABORTED = "aborted"
    """No result: the game was aborted, or a side never made its first move."""
    OTHER = "other"
    UNKNOWN = "unknown"
    """The site reports the end without a reason."""


UNRECORDED = "unrecorded"
"""`GameEnd.status` of a game of which the site keeps no record, because it was too short to count."""


# --- The event stream of an account ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChallengeReceived:
    challenge: Challenge


@dataclass(frozen=True, slots=True)
class Proposal:
    """The terms of a game that we request."""

    variant: str
    """The site's key for the game."""
    rated: bool
    clock: Clock
    side: int | None = None
    """0: we move first; 1: the opponent moves first; None: the site chooses at random."""
    initial_position: str | None = None
    """Starting position of a casual game as text (`Game.parse_position`), where the site takes one
    (`bot.base.dialects.Dialect.set_positions`); None for the standard one."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of one of our challenges."""

    challenge_id: str
    """On most sites, the game has the same id as the accepted challenge; see `GameStarted.challenge_id`."""
    accepted: bool | None
    """Whether the challenge was accepted; None while it is open and unanswered."""
    reason: str
    """The site's answer, such as ``declined`` or ``canceled``, or a note that the site gave no answer."""


@dataclass(frozen=True, slots=True)
class Bot:
    """Another program that is online."""

    id: str
    name: str
    ratings: Mapping[str, int]
    """Ratings, except provisional ones, keyed by the site's rating list
    (`bot.servers.Server.rating_list`)."""


@dataclass(frozen=True, slots=True)
class ListedGame:
    """A finished game in a site's list of our games."""

    game_id: str
    opponent: str
    """The opponent's name; empty if anonymous."""
    began_at: datetime
    """Timezone-aware."""


@dataclass(frozen=True, slots=True)
class Tournament:
    """A site's description of a tournament."""

    name: str
    game: str | None
    """Name of the game in `engine.games`; None when this program does not play it."""
    variant: str
    """The site's key for the game."""
    is_over: bool


@dataclass(frozen=True, slots=True)
class ChallengeGone:
    """A challenge was withdrawn or declined, or it expired."""

    challenge_id: str


@dataclass(frozen=True, slots=True)
class GameStarted:
    """A game is running. Servers repeat this event for all current games whenever a stream is opened."""

    game_id: str
    is_played_here: bool
    """Whether this program plays the game."""
    challenge_id: str = ""
    """The challenge's id if it differs from the game's; empty if it is the same or there was no challenge."""
    game: str = ""
    """The game's name in `engine.games`; empty if the site does not report it."""
    is_tournament: bool = False
    """Whether a tournament paired the game; sites do not abort tournament games."""


@dataclass(frozen=True, slots=True)
class GameFinished:
    """A game has ended; its own stream has the details.  Disconnected clients may miss this event."""

    game_id: str
    rating_diff: int | None
    """Change in our rating; None if the game is unrated or the change is unknown."""


AccountEvent = ChallengeReceived | ChallengeGone | GameStarted | GameFinished


# --- The stream of one game -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GameEnd:
    """The end of a game as the server reports it."""

    reason: EndReason
    winner: int | None
    """The winning side; None if the game was drawn or aborted."""
    status: str
    """The site's own term, kept for reference."""


@dataclass(frozen=True, slots=True)
class GameState:
    """The full state of a game: a client that missed messages needs only the latest state."""

    moves: tuple[str, ...]
    """Every move since the start, passes included."""
    remaining_s: tuple[float, float] | None
    """Time left for sides 0 and 1; None without a clock."""
    draw_offered_by: tuple[bool, bool]
    takeback_offered_by: tuple[bool, bool]
    end: GameEnd | None
    """How the game ended; None while the game is running."""


@dataclass(frozen=True, slots=True)
class GameSnapshot:
    """The first message of every game stream, repeated after each reconnect."""

    game_id: str
    game: str
    variant: str
    initial_position: str | None
    """Starting position as text (`Game.parse_position`); None for the standard one."""
    our_side: int
    rated: bool
    speed: Speed
    clock: Clock | None
    opponent: Opponent
    our_rating: int | None
    state: GameState
    days_per_turn: int | None = None
    """Days per move in a correspondence game."""
    is_tournament: bool = False
    """As `GameStarted.is_tournament`."""


@dataclass(frozen=True, slots=True)
class GameAdjourned:
    """The site has adjourned and stored the game; a later `GameStarted` resumes it."""

    reason: str
    """The site's message, or our description of the cause."""


@dataclass(frozen=True, slots=True)
class MoveInfo:
    """The evaluation that we send with a move, to sites that accept evaluations."""

    score_centi: int | None
    """Score of the move from the mover's point of view, in the game's own unit; None if not disclosed."""
    time_s: float
    """Time since the turn began, in seconds."""


@dataclass(frozen=True, slots=True)
class OpponentGone:
    gone: bool
    claim_win_in_s: float | None


class Room(StrEnum):
    """The audience of a game's chat line."""

    PLAYER = "player"
    """The two players."""
    SPECTATOR = "spectator"
    """The spectators."""


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A line in a game's chat."""

    name: str
    """The author's name on the site, also for the bot's own lines."""
    room: Room
    text: str
    by_site: bool = False
    """Whether the site itself wrote the line."""


GameEvent = GameSnapshot | GameState | GameAdjourned | OpponentGone | ChatLine
