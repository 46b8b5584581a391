"""Stores events in the database, cleaned so that every database accepts the text.

Names, keys and chat are cleaned where they come in (`bot.servers.lichess_wire`, `bot.servers.ggs_wire`).
What an event tells besides, such as a server's own words in an error, may have anything in it, and PostgreSQL
refuses a zero byte or half a surrogate pair however often it is asked: so that is cleaned here, on its way
out.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from bot.base.log import printable
from storage.events import record_event


async def log_event(
    session: AsyncSession, site: str, kind: str, detail: Mapping[str, Any], game_id: int | None = None
) -> None:
    """`record_event`, with what cannot be printed shown as an escape."""
    clean = {key: printable(told) if isinstance(told, str) else told for key, told in detail.items()}
    await record_event(session, site, kind, clean, game_id)
