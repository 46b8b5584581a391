"""Our running matches on GGS, as far as the server has reported them.  No I/O.

A match has one board, or two if it is a synchro match.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.servers import ggs_wire as wire
from bot.servers.ggs_game import GgsGame
from bot.servers.ggs_lifecycle import MATCH, MatchEvent, MatchState, after

MAX_QUERIES = 8
"""Most unanswered queries for the running matches that are remembered."""


@dataclass(slots=True)
class GgsMatch:
    """One match."""

    began: wire.MatchBegan
    """The server's latest message about it."""
    state: MatchState = MatchState.UNKNOWN
    change: int | None = None
    """Change of our rating, until the match's end arrives."""
    ended: dict[str, GgsGame | None] = field(default_factory=dict)
    """Boards that ended before the match; None: the board ended before we joined."""

    @property
    def is_heard(self) -> bool:
        """Whether we have received its beginning."""
        return self.state is MatchState.HEARD

    def pass_to(self, event: MatchEvent) -> None:
        """Enter the state after an event."""
        self.state = after(MATCH, self.state, event)


class Matches:
    """Our running matches, by the server's ids.

    Args:
        name: Of our account.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._matches: dict[str, GgsMatch] = {}
        self._known_at_query: deque[frozenset[str]] = deque(maxlen=MAX_QUERIES)
        """For each unanswered query, the oldest first: the matches known when it was sent."""

    def __len__(self) -> int:
        return len(self._matches)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._matches))

    def __getitem__(self, id_: str) -> GgsMatch:
        return self._matches[id_]

    def find(self, id_: str) -> GgsMatch | None:
        """A running match; None: we do not know it."""
        return self._matches.get(id_)

    def began(self, message: wire.MatchBegan) -> None:
        """A match has begun; one that had its id is over."""
        match = self._matches[message.id] = GgsMatch(message)
        match.pass_to(MatchEvent.BEGAN)

    def ended(self, id_: str) -> GgsMatch | None:
        """A match is over; return it, or None if we did not know it."""
        match = self._matches.pop(id_, None)
        if match is not None:
            match.pass_to(MatchEvent.ENDED)
        return match

    def queried(self) -> None:
        """We query the running matches: the answer may lack matches that begin before it arrives."""
        self._known_at_query.append(frozenset(self._matches))

    def listed(self, message: wire.MatchList) -> frozenset[str]:
        """Apply the server's list; return the matches that are gone."""
        known = self._known_at_query.popleft() if self._known_at_query else frozenset(self._matches)
        heard = {match.id: match for match in message.matches if self._name in match.names}
        gone = known - heard.keys() if message.is_whole else frozenset()
        for id_ in gone:
            self.ended(id_)
        for id_, began in heard.items():
            match = self._matches.setdefault(id_, GgsMatch(began))
            match.began = began
            match.pass_to(MatchEvent.LISTED)
        return gone

    def lost(self) -> None:
        """Clear everything after the connection or service was lost."""
        self._matches.clear()
        self._known_at_query.clear()
