"""A background task that needs a role: of the programs that share a database, only one does it."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

from storage.database import Database, Role
from storage.errors import RoleTaken, StorageError

logger = logging.getLogger(__name__)

RETRY_S = 60.0
"""Seconds until the next attempt, after an error of the database or while another program has the role, and
until this program looks for work by other programs."""


class RoleWorker(ABC):
    """Works while it holds a role on the database; call `run` in a task of its own.

    Args:
        database: Open.
        role: The role's name.
        task: What it does, as in "cannot TASK for now".
        sleep: As `asyncio.sleep`.
    """

    def __init__(
        self, database: Database, role: str, task: str, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._database = database
        self._role = role
        self._task = task
        self._sleep = sleep
        self._has_work = asyncio.Event()

    def wake(self) -> None:
        """Announce more work."""
        self._has_work.set()

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            try:
                await self._run_with_role()
            except StorageError as error:
                logger.warning("cannot %s for now: %s", self._task, error)
            await self._sleep(RETRY_S)

    @abstractmethod
    async def _work(self, role: Role) -> None:
        """Do all the work there is."""

    async def _wait_for_role(self) -> None:  # noqa: B027 - a hook
        """Called whenever another program has the role."""

    async def _run_with_role(self) -> None:
        """Work until cancelled; return if another program has the role."""
        try:
            async with self._database.hold_role(self._role) as role:
                while True:
                    self._has_work.clear()
                    await self._work(role)
                    await self._next_work()
        except RoleTaken:
            await self._wait_for_role()

    async def _next_work(self) -> None:
        """Wait for work by this program; work by other programs is only looked for."""
        waits = [asyncio.ensure_future(each) for each in (self._has_work.wait(), self._sleep(RETRY_S))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
