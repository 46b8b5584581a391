"""The services that all games share."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bot.base.config import Config
from bot.game.saved_games import SavedGames
from bot.game.search_pool import SearchPool
from bot.servers import Server
from bot.servers.online_lookup import OnlineLookup
from engine.human.registry import ModelRegistry
from engine.players import StrongOptions
from engine.uci.source import EnginePool
from storage.database import Database


@dataclass(frozen=True)
class Services:
    """What every game shares."""

    server: Server
    database: Database
    pool: SearchPool
    config: Config
    bot_name: str
    strong: StrongOptions = field(default_factory=StrongOptions)
    """Settings of the strong player."""
    rng: random.Random = field(default_factory=random.Random)
    """For selecting players and for retry jitter."""
    clock: Callable[[], float] = time.monotonic
    """Seconds of a monotonic clock."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    engines: EnginePool = field(default_factory=EnginePool)
    """Other engines, for the players that need one."""
    models: ModelRegistry = field(default_factory=ModelRegistry)
    """Models of human players, for our players that use one."""
    saved_games: SavedGames | None = None
    """Where finished games are written; None: nowhere."""
    online: OnlineLookup | None = None
    """Looks moves up at a site; None: nothing is."""
