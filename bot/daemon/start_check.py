"""The check of the database when a program starts: one malformed row must not stop it."""

import logging

from storage.database import Database
from storage.maintenance.malformed import needed_at_start, quarantine_malformed

logger = logging.getLogger(__name__)


async def check_at_start(database: Database) -> None:
    """Move malformed rows that the program would read to the quarantine, and log each.

    `desdemona db recheck` does so with all rows.
    """
    for row in await quarantine_malformed(database, needed_at_start()):
        logger.error("moved to the quarantine: %s; `desdemona db recheck` checks all rows", row.text)
