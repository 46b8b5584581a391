"""State shared by the parts of a GGS account: games, matches, requests and output."""

from bot.servers.ggs.actions import Outbox
from bot.servers.ggs.archive import Archive
from bot.servers.ggs.ggs_games import GgsGames
from bot.servers.ggs.matches import Matches
from bot.servers.ggs.requests import Requests


class GgsState:
    """The shared state.

    Args:
        name: Name of our account.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.out = Outbox()
        """Collects commands and events."""
        self.games = GgsGames(name, self.out)
        self.requests = Requests(name, self.out)
        self.matches = Matches(name, self.out)
        self.archive = Archive(name, self.games, self.out)
