"""Runs a game's side tasks, which may fail without costing a move or the game."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from bot.base.errors import ServerError
from storage.errors import StorageError

logger = logging.getLogger(__name__)


class SideTasks:
    """Small things that go on beside a game, and are not waited for when it is over.

    Args:
        game_id: For the log.
        tasks: Where they run.
    """

    def __init__(self, game_id: str, tasks: asyncio.TaskGroup) -> None:
        self._game_id = game_id
        self._tasks = tasks
        self._running: set[asyncio.Task[None]] = set()

    def start(self, what: str, call: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        """Do something while the game goes on.

        Args:
            what: What is done, for the log.
            call: Does it.
        """
        task = self._tasks.create_task(self.attempt(what, call))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def attempt(self, what: str, call: Callable[[], Awaitable[None]]) -> None:
        """Do something now; whatever goes wrong is only logged."""
        try:
            await call()
        except (ServerError, StorageError) as error:
            logger.info("game %s: %s: %s", self._game_id, what, error)
        except Exception:
            logger.exception("game %s: %s", self._game_id, what)

    def cancel(self) -> None:
        """What has not been done by now is not wanted any more."""
        for task in self._running:
            task.cancel()
