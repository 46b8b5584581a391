"""One game's searches: limits from the clock, and a thread of the pool to search on."""

import asyncio
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from engine.decision import Decision
from engine.game import Game
from engine.limits import from_clock
from engine.players import Player
from engine.search import Searcher
from engine.stop import StopFlag
from storage.records import StoredGame

if TYPE_CHECKING:
    from bot.player import Services

UNTIMED_S = 86_400.0
"""Deadline of a move without a clock, in seconds: after all that have one."""


class Mind:
    """Thinks about one game.

    Args:
        services: What every game shares.
        tasks: Owns what is done on the opponent's time.
    """

    def __init__(self, services: "Services", tasks: asyncio.TaskGroup) -> None:
        self._services = services
        self._tasks = tasks

    async def decide(
        self,
        stored: StoredGame,
        game: Game[Any],
        position: Any,
        remaining_s: float | None,
        received_at: float,
    ) -> Decision:
        """Find a move; cancelling stops the search.

        Args:
            stored: The game in the books.
            remaining_s: On our clock when the turn began; None without one.
            received_at: When we heard of it, by the services' clock.
        """
        engine, clock = self._services.config.engine, self._services.clock

        def search(searcher: Searcher, stop: StopFlag) -> Decision:
            left_s = remaining_s
            if left_s is not None:  # the clock went on while the job was waiting for its turn
                left_s = max(0.0, left_s - (clock() - received_at))
            limits = from_clock(
                left_s,
                stored.clock_increment_s or 0,
                game.plies_left(position),
                max_depth=engine.max_depth,
                max_time_s=engine.max_time_s,
                overhead_s=engine.overhead_s,
            )
            kind, params, strong = stored.player, stored.params, self._services.strong
            lent = self._services.engines.lend(game.name) if kind == "trappy_uci" else nullcontext()
            with lent as source:
                player = Player(kind, game, params, searcher, strong, source=source)
                return player.choose(position, limits, stop)

        deadline = received_at + (UNTIMED_S if remaining_s is None else remaining_s)
        return await self._services.pool.run(search, game.name, deadline)
