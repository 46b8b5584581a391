"""The objects that the parts of a running arena share."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.arena.accounts import Accounts
from bot.arena.fairness.arena_time import ArenaTime
from bot.arena.http import RequestGate
from bot.arena.lobby import ArenaLobby
from bot.arena.referee import Referee
from bot.base.config import ArenaConfig
from storage.database import Database


@dataclass(slots=True)
class ArenaServices:
    """Objects that exist once per arena."""

    config: ArenaConfig
    site: str
    """The arena's name in the records of our own accounts."""
    base_url: str
    """The arena's public URL; empty until the arena listens, unless it is configured."""
    clock: Callable[[], float]
    """A clock in seconds that keeps running during outages."""
    time: ArenaTime
    database: Database
    accounts: Accounts
    referee: Referee
    lobby: ArenaLobby
    gate: RequestGate
