"""Caches a game's decisions, except those taken back or dropped, so that the ledger need not read back its
own writes.

Only one program's ledger writes a game's decisions, so the cache stays valid between its transactions.
A transaction works on a copy, which replaces the original after the commit, so the cache holds only stored
data. A failure empties the cache.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.human.reply_forecast import ReplyForecast
from storage.records import StoredDecision

MAX_CACHED_DECISIONS = 4
"""Maximum number of decisions cached in full; a chess decision takes a few hundred kilobytes."""


@dataclass(slots=True)
class CurrentDecisions:
    """The plies of a game's current decisions, and the latest of these decisions."""

    plies: frozenset[int] | None = None
    """Plies of the current decisions; None if unknown."""
    latest: dict[int, StoredDecision] = field(default_factory=dict)
    """The latest decisions, keyed by ply."""
    forecasts: dict[int, ReplyForecast] = field(default_factory=dict)
    """The forecasts stored with the latest decisions, keyed by the decision's key."""

    def copy(self) -> "CurrentDecisions":
        """Return a copy that a transaction may change."""
        return CurrentDecisions(self.plies, dict(self.latest), dict(self.forecasts))

    def knows_ply(self, ply: int) -> bool:
        """Whether the cache knows the current decision at a ply, or knows that none exists."""
        return ply in self.latest or (self.plies is not None and ply not in self.plies)

    def remember_all(self, stored: Iterable[StoredDecision]) -> None:
        """Remember all current decisions of the game."""
        in_order = sorted(stored, key=lambda each: each.ply)
        self.plies = frozenset(each.ply for each in in_order)
        self.latest = {each.ply: each for each in in_order[-MAX_CACHED_DECISIONS:]}
        self.forecasts = {}

    def add(self, stored: StoredDecision) -> None:
        """Remember a new decision."""
        if self.plies is not None:
            self.plies |= {stored.ply}
        self.latest[stored.ply] = stored
        for ply in sorted(self.latest)[:-MAX_CACHED_DECISIONS]:
            self.forecasts.pop(self.latest.pop(ply).id, None)

    def update(self, stored: StoredDecision) -> None:
        """Remember a changed decision, unless it was taken back or evicted in the meantime."""
        if self._remembers(stored):
            self.latest[stored.ply] = stored

    def current(self, stored: StoredDecision) -> StoredDecision:
        """Return the current state of a decision if it is cached, otherwise the argument unchanged."""
        return self.latest[stored.ply] if self._remembers(stored) else stored

    def add_forecast(self, stored: StoredDecision, made: ReplyForecast) -> None:
        """Remember the forecast stored with a decision."""
        if self._remembers(stored):
            self.forecasts[stored.id] = made

    def forget_from(self, ply: int) -> None:
        """Forget the decisions at a ply and later, because they were taken back."""
        if self.plies is not None:
            self.plies = frozenset(each for each in self.plies if each < ply)
        for each in [known for known in self.latest if known >= ply]:
            self.forecasts.pop(self.latest.pop(each).id, None)

    def _remembers(self, stored: StoredDecision) -> bool:
        known = self.latest.get(stored.ply)
        return known is not None and known.id == stored.id
