"""Our running matches on GGS that the server has reported.  No I/O.

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
    """The server's latest message about the match."""
    is_heard: bool = False
    """Whether we received its start; otherwise the server only lists it as running."""
    change: int | None = None
    """Change of our rating, until the match's end arrives."""
    ended: dict[str, GgsGame | None] = field(default_factory=dict)
    """Boards that ended before the match; None: the board ended before we joined."""


class Matches:
    """Our running matches, by the server's ids.

    Args:
        name: Name of our account.
        out: Takes commands.
    """

    def __init__(self, name: str, out: Outbox) -> None:
        self._name = name
        self._out = out
        self.by_id: dict[str, GgsMatch] = {}
        self._known_at_query: deque[frozenset[str]] = deque(maxlen=MAX_QUERIES)
        """The matches known when each unanswered query was sent, oldest query first."""

    def __len__(self) -> int:
        return len(self.by_id)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self.by_id))

    def began(self, message: MatchBegan) -> None:
        """Record the start of a match; an earlier match with the same id is over."""
        self.by_id[message.id] = GgsMatch(message, is_heard=True)

    def ended(self, id_: str) -> GgsMatch | None:
        """Remove a match that is over and return it; None: we did not know it."""
        return self.by_id.pop(id_, None)

    def query(self) -> None:
        """Query the running matches; the answer may lack matches that begin before it arrives."""
        self._known_at_query.append(frozenset(self.by_id))
        self._out.ask("match")

    def listed(self, message: MatchList) -> frozenset[str]:
        """Apply the server's list; returns the matches that have disappeared."""
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
