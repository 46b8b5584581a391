"""The audit trail: an event for each action of the operator, with the caller, the request and the outcome."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bot.base.errors import DesdemonaError
from bot.base.event_log import log_event
from bot.base.metrics import Metrics
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.events import PROGRAM
from storage.records import AccountKey

logger = logging.getLogger(__name__)

COMMAND_LINE_ACTOR = "command line"
"""The caller of actions that change the database while no program runs."""
OPERATOR_ACTION_EVENT = "operator_action"
"""Kind of the events that record operators' actions."""


@dataclass
class AuditEntry:
    """The event that records an operator's action."""

    owner: AccountKey
    """The account that the action concerned, or `PROGRAM` if it concerned no account."""
    detail: dict[str, Any]
    """The request and the caller: ``action``, ``by``, and the arguments."""
    result: str = ""
    """The outcome, in one line."""


class Audit:
    """Records the operator's actions in the database.

    Args:
        database: Stores the events.
        metrics: The metrics in which to count the events; None if they are not counted.
    """

    def __init__(self, database: Database, metrics: Metrics | None = None) -> None:
        self._database = database
        self._metrics = metrics

    @asynccontextmanager
    async def recording(self, action: str, by: str, **detail: object) -> AsyncIterator[AuditEntry]:
        """Record the outcome of an action, even if the action failed or was cancelled.

        Args:
            action: The action's name.
            by: The caller.
            detail: The arguments; None for an argument that was not given.
        """
        given = {key: shortened(value) for key, value in detail.items() if value is not None}
        note = AuditEntry(PROGRAM, {"action": action, "by": shortened(by), **given})
        try:
            yield note
        except asyncio.CancelledError:
            note.result = "cancelled"
            raise
        except (DesdemonaError, StorageError) as error:
            note.result = f"refused: {error}"
            raise
        except Exception as error:
            note.result = f"crashed: {error!r:.200}"
            raise
        finally:
            await self.record(note)

    async def record(self, note: AuditEntry) -> None:
        """Record an action; if the database fails, record it only in the log."""
        action, by = note.detail["action"], note.detail["by"]
        logger.info("operator (%s): %s: %s", by, action, note.result)
        try:
            async with self._database.write() as session:
                detail = {**note.detail, "result": note.result[:500]}
                await log_event(session, note.owner, OPERATOR_ACTION_EVENT, detail, metrics=self._metrics)
        except StorageError as error:  # the action is done all the same
            logger.error("cannot record the operator's action %s: %s", action, error)


def shortened(value: object) -> object:
    """A value from outside the program, shortened for storage in an event."""
    return value[:200] if isinstance(value, str) else value
