"""Our running matches on GGS, as reported by the server. No I/O.

A match has one board; a synchro match has two.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from bot.servers.ggs.actions import Outbox
from bot.servers.ggs.game import GgsGame
from bot.servers.ggs.wire import MatchBegan, MatchList
from engine.formats.ggf import GgfGame

MAX_QUERIES = 8
"""Maximum number of unanswered queries that we remember; each asks for the running matches."""


@dataclass(slots=True)
class GgsMatch:
    """One match."""

    began: MatchBegan
    """The server's latest message about the match."""
    is_heard: bool = False
    """Whether we received the match's start message; if not, the match was only in the server's list."""
    change: int | None = None
    """Change in our rating, kept until the server reports the end of the match."""
    ended: dict[str, GgsGame | None] = field(default_factory=dict)
    """Boards that ended before the match did; None for a board that ended before we joined."""
    bidding: dict[str, tuple[GgfGame, float, datetime]] = field(default_factory=dict)
    """Komi games by board whose players have yet to bid, with the times at which they began; see
    `bot.servers.ggs.boards`."""


class Matches:
    """Our running matches, keyed by the server's ids.

    Args:
        name: Name of our account.
        out: Receives the commands for the server.
    """

    def __init__(self, name: str, out: Outbox) -> None:
        self._name = name
        self._out = out
        self.by_id: dict[str, GgsMatch] = {}
        self._known_at_query: deque[frozenset[str]] = deque(maxlen=MAX_QUERIES)
        """For each unanswered query, the matches known when it was sent; oldest query first."""

    def __len__(self) -> int:
        return len(self.by_id)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self.by_id))

    def began(self, message: MatchBegan) -> None:
        """Record the start of a match; it replaces an earlier match with the same id, which must be over."""
        self.by_id[message.id] = GgsMatch(message, is_heard=True)

    def ended(self, id_: str) -> GgsMatch | None:
        """Remove and return a finished match; None if we did not know it."""
        return self.by_id.pop(id_, None)

    def query(self) -> None:
        """Ask for the running matches; matches that begin before the answer arrives can be absent from it."""
        self._known_at_query.append(frozenset(self.by_id))
        self._out.ask("match")

    def listed(self, message: MatchList) -> dict[str, GgsMatch | None]:
        """Apply the server's list and return, by id, the matches that have disappeared from it.

        A match is None if it has ended since the query.
        """
        known = self._known_at_query.popleft() if self._known_at_query else frozenset(self.by_id)
        heard = {match.id: match for match in message.matches if self._name in match.names}
        gone = known - heard.keys() if message.is_whole else frozenset()
        ended = {id_: self.ended(id_) for id_ in gone}
        for id_, began in heard.items():
            self.by_id.setdefault(id_, GgsMatch(began)).began = began
        return ended

    def lost(self) -> None:
        """Forget the queries and matches after a loss of the connection or service.

        A komi game in which the players have yet to bid is kept: it goes on, or has ended without
        a record on the server.
        """
        self.by_id = {id_: match for id_, match in self.by_id.items() if match.bidding}
        self._known_at_query.clear()
