"""Challenges between two players, and the allowed clocks and variants."""

from dataclasses import dataclass
from enum import StrEnum

from bot.arena.game import ArenaRefusal
from bot.arena.variants import ArenaVariant
from bot.base.events import Clock, DeclineReason
from storage.arena.accounts import AccountRecord

OFFERED_CLOCKS = (Clock(60, 1), Clock(180, 2), Clock(300, 3), Clock(600, 5), Clock(900, 10), Clock(1800, 20))
"""The clocks that the page offers."""

_SHORT_LIMITS = (0, 15, 30, 45, 60, 90)
_MAX_LIMIT_S, _MAX_INCREMENT_S = 10_800, 60


class ServerBusy(ArenaRefusal):
    """There are too many games or unanswered challenges; retry after `wait_s` seconds."""

    def __init__(self, message: str, wait_s: int, key: str = "challenge.waiting") -> None:
        super().__init__(message)
        self.wait_s = wait_s
        self.key = key


class ChallengeStatus(StrEnum):
    CREATED = "created"
    CANCELED = "canceled"
    DECLINED = "declined"
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class ArenaChallenge:
    """A challenge from one player to another."""

    id: str
    """Id of the challenge, and of its game once it is accepted."""
    challenger: AccountRecord
    opponent: AccountRecord
    variant: ArenaVariant
    rated: bool
    clock: Clock | None
    colour: str
    """The challenger's choice: white, black or random."""
    challenger_side: int
    """The challenger's side; if the choice is random, it is drawn when the challenge is created."""
    rematch_of: str | None
    deadline: float
    """When the challenge expires, by the arena's clock."""
    address: str = ""
    """The challenger's network address; if it is empty, limits by address do not apply."""
    status: ChallengeStatus = ChallengeStatus.CREATED
    reason: DeclineReason | None = None
    """Why the challenge was declined; None if it was not."""
    initial_fen: str | None = None
    """The starting position chosen by the challenger, or None for the standard one; it also says which odds
    one player gives the other (`engine.opponents.odds.odds_from_start`)."""

    def by_side(self) -> tuple[AccountRecord, AccountRecord]:
        """The players in the order in which they move."""
        pair = (self.challenger, self.opponent)
        return pair if self.challenger_side == 0 else pair[::-1]


def show(clock: Clock) -> str:
    """The clock in the common notation, such as ``5+3``, with fractions of a minute as on Lichess."""
    minutes = {15: "¼", 30: "½", 45: "¾", 90: "1.5"}.get(clock.initial_s, str(clock.initial_s // 60))
    return f"{minutes}+{clock.increment_s}"


def check(variant: ArenaVariant, clock: Clock | None, *, rated: bool, is_at_odds: bool = False) -> None:
    """Check the terms, including Lichess's rules for clocks.

    Games at odds are not rated: a rating says what a player does from the usual start, and a result at odds
    measures the estimated worth of the odds as much as the players.

    Raises:
        ArenaRefusal: The terms are not allowed; the message states the problem.
    """
    if rated and is_at_odds:
        raise ArenaRefusal("Games at odds cannot be rated")
    if rated and not variant.is_rated:
        raise ArenaRefusal(f"Games of the variant {variant.name} cannot be rated")
    if clock is None:
        if rated:
            raise ArenaRefusal("A rated game needs a clock: clock.limit and clock.increment")
        return
    limit_s = clock.initial_s
    if limit_s not in _SHORT_LIMITS and (limit_s % 60 or not 0 < limit_s <= _MAX_LIMIT_S):
        raise ArenaRefusal(
            f"clock.limit is {limit_s}; allowed: 0, 15, 30, 45, 60, 90, or whole minutes up to {_MAX_LIMIT_S}"
        )
    if not 0 <= clock.increment_s <= _MAX_INCREMENT_S:
        raise ArenaRefusal(f"clock.increment is {clock.increment_s}; allowed: 0 to {_MAX_INCREMENT_S}")
    if limit_s == 0 and clock.increment_s == 0:
        raise ArenaRefusal("clock.limit and clock.increment cannot both be 0")
