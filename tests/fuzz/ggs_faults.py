"""Random schedules of faults at GGS: of the bot's connection, the Othello service, and the opponents."""

import random
from dataclasses import dataclass
from enum import StrEnum, auto


class Place(StrEnum):
    """Where something goes wrong."""

    LINK = auto()
    """The bot's connection."""
    SERVICE = auto()
    """The Othello service."""
    OPPONENT = auto()


class Kind(StrEnum):
    """What goes wrong."""

    CUT = auto()
    """The connection is lost, as is each one that is made meanwhile."""
    REFUSED = auto()
    """The connection is lost, and no other can be made."""
    HANG = auto()
    """Nothing arrives, either way."""
    DELAY = auto()
    """Everything arrives late, in order, either way."""
    REORDER = auto()
    """Lists, and news of who is there, arrive late; other lines overtake them."""
    LOSE = auto()
    """Messages to the bot are dropped, but no requests, and the next one ends in ALERT."""
    ALERT = auto()
    """Messages to the bot end in ALERT although nothing is dropped: the server is short of memory or disk."""
    GONE = auto()
    """The service ends, or an opponent hangs up; it comes back at the end."""


PLACES = {kind: Place.LINK for kind in Kind if kind is not Kind.GONE}
"""Where faults of a kind happen; `Kind.GONE` happens everywhere else."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault, for a while."""

    kind: Kind
    place: Place
    begins_s: float
    ends_s: float
    share: float
    """Share of the messages that it hits."""
    is_for_good: bool
    """A hanging connection stays so until the bot gives it up; an opponent does not come back."""
    is_unnoticed: bool
    """The server notices `delay_s` later that a connection is lost."""
    delay_s: float

    def __str__(self) -> str:
        more = [
            f"{self.share:.0%}",
            *(["for good"] if self.is_for_good else []),
            *(["unnoticed"] if self.is_unnoticed else []),
            f"{self.delay_s:.1f} s",
        ]
        return f"{self.begins_s:6.1f}-{self.ends_s:5.1f} s {self.place:8s} {self.kind} ({', '.join(more)})"


MAX_S = 60.0
LAST_BEGIN_S = 100.0


def schedule(rng: random.Random) -> list[Fault]:
    """Draw the faults of one run, with times in seconds since its beginning."""
    return [_fault(rng) for _ in range(rng.randint(1, 6))]


def _fault(rng: random.Random) -> Fault:
    # Two places share one kind, and few messages can be late.
    kind = rng.choice([*Kind, Kind.GONE, Kind.REORDER])
    begins_s = rng.uniform(0.0, LAST_BEGIN_S)
    return Fault(
        kind=kind,
        place=PLACES.get(kind) or rng.choice([Place.SERVICE, Place.OPPONENT]),
        begins_s=begins_s,
        ends_s=begins_s + MAX_S * rng.random() ** 2,
        share=rng.choice([0.3, 0.7, 1.0]),
        is_for_good=rng.random() < 0.3,
        is_unnoticed=rng.random() < 0.3,
        delay_s=rng.uniform(0.2, 8.0),
    )
