"""Runs an account's slow work in the background, so that its event stream is always read."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from bot.base.errors import AuthError, ServerError
from bot.base.event_log import log_event
from bot.game.services import GameServices
from storage.errors import StorageError

logger = logging.getLogger(__name__)


class BackgroundTasks:
    """Starts tasks and tracks the unfinished ones, for which shutdown must wait.

    Args:
        services: The services that all games share.
        changed: Called whenever a task starts or ends.
    """

    tasks: asyncio.TaskGroup
    """The group in which the tasks run; set by the owner."""

    def __init__(self, services: GameServices, changed: Callable[[], None]) -> None:
        self._owner = services.owner
        self._database = services.database
        self._metrics = services.metrics
        self._changed = changed
        self._running = 0

    @property
    def is_idle(self) -> bool:
        """Whether all started tasks have ended."""
        return not self._running

    def start(self, what: str, call: Callable[[], Awaitable[None]]) -> None:
        """Run a call in the background.

        Args:
            what: Description for the log.
            call: The function that does the work.
        """
        self._running += 1
        self._changed()
        self.tasks.create_task(self._run(what, call))

    async def _run(self, what: str, call: Callable[[], Awaitable[None]]) -> None:
        try:
            await self.attempt(what, call)
        finally:
            self._running -= 1
            self._changed()

    async def attempt(self, what: str, call: Callable[[], Awaitable[None]]) -> None:
        """Run a call now; every error except `AuthError` is only logged."""
        try:
            await call()
        except AuthError:
            raise
        except ServerError as error:
            logger.info("%s: %s", what, error)
        except StorageError as error:
            logger.error("%s: %s", what, error)
        except Exception as error:
            logger.exception("%s: failed", what)
            await self.record_event("event_failed", {"event": what, "error": f"{error!r:.500}"})

    async def record_event(self, kind: str, detail: Mapping[str, str | None]) -> None:
        """Record an event of the account, if the database is available."""
        try:
            async with self._database.write() as session:
                await log_event(session, self._owner, kind, detail, metrics=self._metrics)
        except StorageError as error:
            logger.error("cannot record %s %s: %s", kind, detail, error)
