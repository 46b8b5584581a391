"""The services that all games share."""

import asyncio
import hashlib
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from bot.base.config import Config
from bot.base.game_server import Server
from bot.base.metrics import Metrics
from bot.game.assignment import DRAW_BITS
from bot.game.repetition import NonWins
from bot.game.saved_games import SavedGames
from bot.game.shared_game_limit import SharedGameLimit
from bot.threads.search_pool import SearchPool
from engine.human.registry import ModelRegistry
from engine.lookup.source import LookupMove
from engine.protocols.engine_source import EnginePool
from engine.randomised import SEED_BITS
from engine.strategies.move_context import StrongOptions
from storage.database import Database, Role
from storage.records import AccountKey, NewGame, StoredGame


class MoveLookup(Protocol):
    """Looks up moves at a site when it is our turn (`bot.servers.online_lookup`)."""

    async def find(
        self,
        game_name: str,
        position: Any,
        remaining_s: float | None,
        avoid: Collection[str] = (),
        *,
        tables_only: bool = False,
    ) -> LookupMove | None:
        """Find a move for an unfinished game; return None if no move was found in time.

        Args:
            game_name: Name in `engine.games`.
            position: A position of that game.
            remaining_s: Time on our clock, in seconds; None without a clock.
            avoid: Moves that the look-up should avoid, because they would repeat earlier games.
            tables_only: Whether to look only in endgame tables.
        """

    async def close(self) -> None:
        """Close all connections."""


@dataclass
class GameServices:
    """The services shared by all games of an account."""

    server: Server
    database: Database
    pool: SearchPool
    config: Config
    """The account's settings; some change while it plays (`bot.account.lobby.Lobby.reload`)."""
    bot_name: str
    strong: StrongOptions = field(default_factory=StrongOptions)
    """Settings of the strong strategy."""
    rng: random.Random = field(default_factory=random.Random)
    """Random generator for retry jitter and, if the settings have a seed, for assigning strategies."""
    clock: Callable[[], float] = time.monotonic
    """Monotonic clock, in seconds."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    engines: EnginePool = field(default_factory=EnginePool)
    """External engines, for the strategies that need one."""
    models: ModelRegistry = field(default_factory=ModelRegistry)
    """Models of human players, for our strategies that use one."""
    saved_games: SavedGames | None = None
    """Writes finished games to files; None if games are not written to files."""
    online: MoveLookup | None = None
    """Looks up moves at a site; None if moves are not looked up."""
    role: Role = field(default_factory=lambda: Role(""))
    """Ensures that only this process plays on the account."""
    shared_limit: SharedGameLimit = field(default_factory=SharedGameLimit)
    """The limit on simultaneous games of all accounts together."""
    non_wins: NonWins = field(default_factory=NonWins)
    """The account's games that must not be repeated against any opponent."""
    metrics: Metrics = field(default_factory=Metrics)
    """The counters."""
    settling: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, 1))
    """Held while a game is settled that ended before we started: a backlog of many must not delay running
    games."""
    on_settled: Callable[[], None] = lambda: None
    """Called when a game is over and its decisions have been judged and forecast."""
    search_errors: set[str] = field(default_factory=set)
    """Errors of searches that have been logged; each is logged once."""

    @property
    def owner(self) -> AccountKey:
        """Our account, as the key of its games and events."""
        return AccountKey(self.server.site, self.bot_name.lower())

    def draw_number(self) -> int:
        """A random number for choosing the strategy.

        It cannot be predicted from the numbers for other games, unless the settings have a seed (for tests).
        """
        if self.config.assignment.seed:
            return self.rng.getrandbits(DRAW_BITS)
        return secrets.randbits(DRAW_BITS)

    def decision_seed(self, game: NewGame, position: str) -> int | None:
        """64 random bits with which the strategy may randomise a decision (`engine.randomised`).

        The bits are unpredictable, unless the settings have a seed (for tests); then they depend on the seed,
        the game's id and the position. None if decisions are not randomised or, except for a strategy that
        draws all its moves, the opponent is a program.
        """
        is_needed = game.imitates_people or (game.draws_decisions and not game.opponent_is_bot)
        if not is_needed:
            return None
        if not self.config.assignment.seed:
            return secrets.randbits(SEED_BITS)
        known = f"{self.config.assignment.seed} {game.site_game_id} {position}"
        return int.from_bytes(hashlib.sha256(known.encode()).digest()[: SEED_BITS // 8])

    def is_blind(self, game: NewGame) -> bool:
        """Whether a game's strategy and its random choices are secret from everyone except the operator."""
        return game.is_drawn and not self.config.trial.reveal

    def holds_moves(self, game: StoredGame) -> bool:
        """Whether each move of a game takes its planned time, because faster or slower moves would reveal the
        strategy."""
        return self._hides_times(game) and self.config.trial.hold_s > 0

    def report_delay_s(self, game: StoredGame) -> float:
        """Seconds between the end of a game and its farewell and report; 0: as soon as possible."""
        return self.config.trial.report_delay_s if self._hides_times(game) else 0.0

    def _hides_times(self, game: StoredGame) -> bool:
        return game.trial_id is not None and self.is_blind(game)
