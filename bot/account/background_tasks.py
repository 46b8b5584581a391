"""Runs an account's slow work in the background, so that nothing keeps us from reading its event stream."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from bot.base.errors import AuthError, ServerError
from bot.base.event_log import log_event
from bot.game.services import Services
from storage.errors import StorageError

logger = logging.getLogger(__name__)


class BackgroundTasks:
    """Runs them, and counts those that nobody should leave without.

    Args:
        services: What every game shares.
        changed: Called when one has begun, or is done.
    """

    tasks: asyncio.TaskGroup
    """Where they run; set by the one who starts them."""

    def __init__(self, services: Services, changed: Callable[[], None]) -> None:
        self._site = services.server.site
        self._database = services.database
        self._changed = changed
        self._running = 0

    @property
    def is_idle(self) -> bool:
        """Nothing that was started is still to be done."""
        return not self._running

    def start(self, what: str, call: Callable[[], Awaitable[None]]) -> None:
        """Do something while we go on listening.

        Args:
            what: What is done, for the log.
            call: Does it.
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
        """Do something now; whatever goes wrong is only logged, except that the account is refused."""
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
        """Write an event of the account down, if the database is there."""
        try:
            async with self._database.write() as session:
                await log_event(session, self._site, kind, detail)
        except StorageError as error:
            logger.error("cannot note %s %s: %s", kind, detail, error)
