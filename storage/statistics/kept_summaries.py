"""Keeps the summaries of all games in memory from one request to the next, and reads only those that changed.

Every summary has a checksum.  The database adds up those of each *block* of games, which takes it a twentieth
of the time of handing the summaries over; a block whose sum is what it was is not read again.
"""

from typing import NamedTuple

import numpy as np
from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.statistics.summary_rows import SummaryPart, SummaryRows, all_summaries, summaries_of_today
from storage.statistics.valid_summaries import is_of_today
from storage.tables.summaries import GameSummaryRow

BLOCK = 500
"""Games whose keys are as close as this make a block."""
_MOST_BLOCKS = 10
"""In one statement."""


class _Check(NamedTuple):
    """What is the same for a block only if its summaries are."""

    games: int
    checksums: int


class KeptSummaries:
    """The summaries of all games of one database, with one part.

    A game keeps a hundred bytes for itself and a few hundred for its replies.

    Args:
        part: Which.
    """

    def __init__(self, part: SummaryPart) -> None:
        self._part = part
        self._checks: dict[int, _Check] = {}
        self._rows: SummaryRows | None = None

    async def all_summaries(self, session: AsyncSession) -> SummaryRows:
        """What `storage.statistics.summary_rows.all_summaries` gives; errors as there."""
        return await all_summaries(session, self._part, self._read_valid)

    async def _read_valid(self, session: AsyncSession) -> SummaryRows:
        """What `summaries_of_today` gives."""
        block = (GameSummaryRow.game_id // BLOCK).label("block")
        sums = select(
            block, func.count().label("games"), func.sum(GameSummaryRow.checksum).label("checksums")
        )
        found = await session.execute(sums.where(*is_of_today()).group_by(block))
        checks = {row.block: _Check(row.games, int(row.checksums)) for row in found}
        known = self._checks if self._rows is not None else {}
        stale = {number for number in known.keys() | checks.keys() if known.get(number) != checks.get(number)}
        if stale or self._rows is None:
            # Both at once, at the end: whoever gives up in between leaves what there was.
            self._rows, self._checks = await self._reread(session, sorted(stale)), checks
        return self._rows

    async def _reread(self, session: AsyncSession, stale: list[int]) -> SummaryRows:
        """What is known, with some blocks read anew."""
        parts = []
        if self._rows is not None:
            blocks = self._rows.games["id"] // BLOCK
            parts.append(self._rows.where(~np.isin(blocks, np.array(stale, np.int64))))
        for start in range(0, max(len(stale), 1), _MOST_BLOCKS):
            some = [
                GameSummaryRow.game_id.between(block * BLOCK, block * BLOCK + BLOCK - 1)
                for block in stale[start : start + _MOST_BLOCKS]
            ]
            parts.append(await summaries_of_today(session, self._part, or_(False, *some)))
        return SummaryRows.joined(parts)
