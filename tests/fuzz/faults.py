"""Random schedules of faults: which calls and streams fail, how, and from when to when."""

import random
from dataclasses import dataclass, replace
from enum import StrEnum, auto


class Place(StrEnum):
    """The calls and streams of the protocol."""

    ACCOUNT = auto()
    PLAYING = auto()
    EVENTS = auto()
    """The account's stream."""
    GAME = auto()
    """The stream of a game."""
    MOVE = auto()
    ACCEPT = auto()
    DECLINE = auto()
    CHAT = auto()
    ACT = auto()
    """Any other action in a game."""
    EXPORT = auto()


class Kind(StrEnum):
    """What goes wrong."""

    BAD_REQUEST = auto()
    NOT_FOUND = auto()
    TOO_MANY = auto()
    BAD_GATEWAY = auto()
    HANG = auto()
    DELAY = auto()
    REORDER = auto()
    CUT = auto()
    PROXY = auto()
    """A proxy answers a request with a page and status 200."""
    IGNORED = auto()
    """The request is answered with "ok" and has no effect."""


ANSWERED = (Place.MOVE, Place.ACCEPT, Place.DECLINE, Place.ACT)
"""Requests whose answer is "ok"."""
_FALSE_OKS = (Kind.PROXY, Kind.IGNORED)


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault at one place, for a while."""

    kind: Kind
    place: Place
    begins_s: float
    ends_s: float
    share: float
    """Share of the requests, or of a stream's lines, that it hits."""
    is_after: bool
    """The request takes effect, and only its answer is lost or late."""
    is_dead: bool
    """A connection that hangs does so until the client gives up, even beyond the end of the fault."""
    is_html: bool
    """The answer comes from a proxy, not from the site."""
    asked_s: int | None
    """The pause that a 429 demands; None: it does not say."""
    in_header: bool
    """It says so in Retry-After instead of the body."""
    delay_s: float

    def __str__(self) -> str:
        more = [
            f"{self.share:.0%}",
            *(["after the effect"] if self.is_after else []),
            *(["for good"] if self.is_dead else []),
            *(["from a proxy"] if self.is_html else []),
            *([f"pause {self.asked_s} s"] if self.kind is Kind.TOO_MANY else []),
            *([f"{self.delay_s:.1f} s"] if self.kind in (Kind.DELAY, Kind.REORDER) else []),
        ]
        return f"{self.begins_s:6.1f}-{self.ends_s:5.1f} s {self.place:8s} {self.kind} ({', '.join(more)})"


MAX_S = 60.0
LAST_BEGIN_S = 90.0


def schedule(rng: random.Random) -> list[Fault]:
    """Draw the faults of one run, with times in seconds since its beginning."""
    return [_fault(rng) for _ in range(rng.randint(1, 8))]


def schedule_of_acts(rng: random.Random) -> list[Fault]:
    """Like `schedule`, with answers that are false as well, and mostly of requests."""
    faults = schedule(rng)
    for _ in range(rng.randint(1, 4)):
        place = rng.choice([*ANSWERED, Place.ACT, Place.ACT])
        faults.append(replace(_fault(rng), kind=rng.choice(_FALSE_OKS), place=place))
    return faults


def _fault(rng: random.Random) -> Fault:
    # The streams and moves matter most.
    place = rng.choice([*Place, Place.EVENTS, Place.GAME, Place.GAME, Place.MOVE, Place.MOVE])
    begins_s = rng.uniform(0.0, LAST_BEGIN_S)
    return Fault(
        kind=rng.choice([kind for kind in Kind if kind not in _FALSE_OKS]),
        place=place,
        begins_s=begins_s,
        ends_s=begins_s + MAX_S * rng.random() ** 2,
        share=rng.choice([0.3, 0.7, 1.0, 1.0]),
        is_after=rng.random() < 0.5,
        is_dead=rng.random() < 0.3,
        is_html=rng.random() < 0.4,
        asked_s=rng.choice([None, 2, 5, 20, 40]),
        in_header=rng.random() < 0.5,
        delay_s=rng.uniform(0.2, 8.0),
    )
