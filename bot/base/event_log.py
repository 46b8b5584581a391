"""Stores events in the database, cleaned so that every database accepts the text.

The wire modules clean names, keys and chat on arrival (`bot.servers.lichess_wire`, `bot.servers.ggs.wire`).
Other text in an event, such as a server's error message, can contain any characters, but PostgreSQL
rejects zero bytes and lone surrogates. All text is therefore cleaned here, before storage.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from bot.base.log import printable
from bot.base.metrics import Metrics
from storage.ledger.events import record_event
from storage.records import AccountKey


async def log_event(
    session: AsyncSession,
    owner: AccountKey,
    kind: str,
    detail: Mapping[str, Any],
    game_id: int | None = None,
    *,
    metrics: Metrics | None = None,
) -> None:
    """Call `record_event` with unprintable characters escaped.

    Args:
        metrics: The metrics in which to count the event, or None.
    """
    clean = {key: printable(value) if isinstance(value, str) else value for key, value in detail.items()}
    await record_event(session, owner, kind, clean, game_id)
    if metrics is not None:
        metrics.count_event(kind)
