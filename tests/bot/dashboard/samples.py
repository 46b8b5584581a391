"""Games for the dashboard's pages: met baits, hostile names, and many people."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from storage.records import StoredGame
from storage.tables.games import GameRow, OpponentRow
from tests.bot.tempted import tempting_game

NAMES = (
    "<img src=x onerror=alert(1)>",
    "\N{RIGHT-TO-LEFT OVERRIDE}gnorw\N{ARABIC LETTER ALEF}",
    "W" * 200,
    "{{ 7 * 7 }}' \"&amp;",
)
"""Names that a site may send."""


async def met_bait(
    session: AsyncSession,
    key: str,
    reply: str = "d7d5",
    *,
    opponent: str = "anna",
    rating: int | None = 1600,
    at: datetime | None = None,
    **changes: Any,
) -> StoredGame:
    """A game with one bait (`TEMPTS` of tests.bot.tempted), met by an opponent of this name.

    Args:
        changes: Columns of the game.
    """
    game = await tempting_game(session, reply, key=key)
    row = OpponentRow(site="arena", site_id=key, name=opponent, is_bot=False, first_seen_at=game.started_at)
    session.add(row)
    await session.flush()
    values = {"opponent_id": row.id, "opponent_rating": rating, **changes}
    if at is not None:
        values["started_at"] = at
    await session.execute(update(GameRow).where(GameRow.id == game.id).values(**values))
    return replace(game, opponent_name=opponent)
