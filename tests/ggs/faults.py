"""What can go wrong between the fake server and one who is logged in to it."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Fault(StrEnum):
    """Strikes one block that the server is about to send: a message, or a reply."""

    SPLIT = "split"
    """It comes in pieces of a few bytes."""
    GATHER = "gathered"
    """It waits, and comes with the next one in one segment."""
    LOSE = "lost"
    """It never comes; the server has too much for a slow reader."""
    ALERT = "alert"
    """It ends in ALERT in place of READY."""
    SLOW = "slow"
    """It comes late, and what comes after it waits."""
    LATE = "late"
    """It comes late, and what comes after it does not wait: a reply to a query is older than what was told
    before it."""
    CUT = "cut"
    """Half of it comes, and the connection breaks."""
    CLOSE = "closed"
    """The connection is closed in front of it."""
    SILENCE = "silence"
    """Neither it nor anything else comes on this connection, which stays open."""
    RESTART = "restart"
    """After it the service goes down, and is back a while later."""
    EVICT = "evicted"
    """After it somebody else logs in by the same name."""


LINK_FAULTS = (Fault.CUT, Fault.CLOSE, Fault.SILENCE, Fault.EVICT)
"""These cost the connection."""

Needs = Callable[[str], bool]


def anything(_: str) -> bool:
    return True


def holding(text: str) -> Needs:
    """Blocks with these words in them."""
    return lambda block: text in block


def any_list(block: str) -> bool:
    """Replies that list something: they may be older than what was told before them."""
    return block.lstrip("\r\n").startswith(LISTS)


LISTS = ("/os: match ", "/os: stored ", "/os: history ", "/os: finger ", "/os: who ")
"""Beginnings of the replies that `Fault.LATE` may strike; the order of all other news means something."""


class Plan(Protocol):
    """Says what happens to a block; it is asked once for each."""

    def strike(self, name: str, block: str) -> Fault | None: ...


@dataclass(slots=True)
class Strike:
    """One fault, at the first block that fits after so many of them."""

    fault: Fault
    needs: Needs = anything
    after: int = 0
    name: str | None = None
    """Whom it strikes; None: whoever comes first."""


class MoveCodec:
    """Strikes in any order, each once."""

    def __init__(self, *strikes: Strike) -> None:
        self.left = list(strikes)
        self.struck: Counter[Fault] = Counter()

    def strike(self, name: str, block: str) -> Fault | None:
        for strike in self.left:
            if strike.name in (None, name) and strike.needs(block):
                if strike.after == 0:
                    self.left.remove(strike)
                    self.struck[strike.fault] += 1
                    return strike.fault
                strike.after -= 1
        return None


class Chance:
    """Faults at random, by a seed.

    Args:
        seed: The same blocks meet the same faults.
        probabilities: Of each fault, for each block.
        names: Whom they strike.
        most: Of each fault altogether.
    """

    def __init__(
        self,
        seed: int,
        probabilities: Mapping[Fault, float],
        names: Iterable[str],
        most: Mapping[Fault, int] | None = None,
    ) -> None:
        self._random = random.Random(seed)
        self._probabilities = dict(probabilities)
        self._names = {*names}
        self._most = dict(most or {})
        self.struck: Counter[Fault] = Counter()

    def strike(self, name: str, block: str) -> Fault | None:
        if name not in self._names:
            return None
        drawn = self._random.random()
        for fault, probability in self._probabilities.items():
            drawn -= probability
            if drawn < 0:
                if fault is Fault.LATE and not any_list(block):
                    return None
                if self.struck[fault] >= self._most.get(fault, 1_000_000):
                    return None
                self.struck[fault] += 1
                return fault
        return None
