"""Our running matches on GGS, as far as the server has reported them.  No I/O.

A match has one board, or two if it is a synchro match.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.servers.ggs.actions import Outbox
from bot.servers.ggs.game import GgsGame
from bot.servers.ggs.wire import MatchBegan, MatchList

MAX_QUERIES = 8
"""Maximum number of unanswered queries for the running matches that are remembered."""


@dataclass(slots=True)
class GgsMatch:
    """One match."""

    began: MatchBegan
    """The server's latest message about it."""
    is_heard: bool = False
    """We have received its beginning; otherwise the server only lists it as running."""
    change: int | None = None
    """Change of our rating, until the match's end arrives."""
    ended: dict[str, GgsGame | None] = field(default_factory=dict)
    """Boards that ended before the match; None: the board ended before we joined."""


class Matches:
    """Our running matches, by the server's ids.

    Args:
        name: Of our account.
        out: Takes commands.
    """

    def __init__(self, name: str, out: Outbox) -> None:
        self._name = name
        self._out = out
        self.by_id: dict[str, GgsMatch] = {}
        self._known_at_query: deque[frozenset[str]] = deque(maxlen=MAX_QUERIES)
        """For each unanswered query, the oldest first: the matches known when it was sent."""

    def __len__(self) -> int:
        return len(self.by_id)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self.by_id))

    def began(self, message: MatchBegan) -> None:
        """A match has begun; one that had its id is over."""
        self.by_id[message.id] = GgsMatch(message, is_heard=True)

    def ended(self, id_: str) -> GgsMatch | None:
        """A match is over; return it, or None if we did not know it."""
        return self.by_id.pop(id_, None)

    def query(self) -> None:
        """Query the running matches: the answer may lack matches that begin before it arrives."""
        self._known_at_query.append(frozenset(self.by_id))
        self._out.ask("match")

    def listed(self, message: MatchList) -> frozenset[str]:
        """Apply the server's list; return the matches that are gone."""
        known = self._known_at_query.popleft() if self._known_at_query else frozenset(self.by_id)
        heard = {match.id: match for match in message.matches if self._name in match.names}
        gone = known - heard.keys() if message.is_whole else frozenset()
        for id_ in gone:
            self.ended(id_)
        for id_, began in heard.items():
            self.by_id.setdefault(id_, GgsMatch(began)).began = began
        return gone

    def lost(self) -> None:
        """Clear everything after the connection or service was lost."""
        self.by_id.clear()
        self._known_at_query.clear()
