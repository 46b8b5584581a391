"""Runs a game's side tasks, which may fail without costing a move or the game."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from bot.base.errors import ServerError
from storage.errors import StorageError

logger = logging.getLogger(__name__)


class SideTasks:
    """Runs small tasks during a game; tasks unfinished at the game's end are not awaited.

    Args:
        game_id: For the log.
        tasks: The group in which the tasks run.
    """

    def __init__(self, game_id: str, tasks: asyncio.TaskGroup) -> None:
        self._game_id = game_id
        self._tasks = tasks
        self._running: set[asyncio.Task[None]] = set()

    def start(self, what: str, call: Callable[[], Awaitable[object]]) -> asyncio.Task[None]:
        """Start a call that runs while the game continues.

        Args:
            what: Description for the log.
            call: The function that does the work.
        """
        task = self._tasks.create_task(self.attempt(what, call))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def attempt(self, what: str, call: Callable[[], Awaitable[object]]) -> None:
        """Run a call now; errors are only logged."""
        try:
            await call()
        except (ServerError, StorageError) as error:
            logger.info("game %s: %s: %s", self._game_id, what, error)
        except Exception:
            logger.exception("game %s: %s", self._game_id, what)

    def cancel(self) -> None:
        """Cancel all unfinished tasks."""
        for task in self._running:
            task.cancel()
