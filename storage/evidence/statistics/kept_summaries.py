"""Keeps the summaries of all games in memory from one request to the next, and reads only those that changed.

Every summary has a stamp that is drawn when it is written.  The database adds up those of each *block* of
games, which takes it a fraction of the time of handing the summaries over; a block whose sum is what it was
is not read again.
"""

from collections.abc import Iterator, Set

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.statistics.summary_rows import (
    SummaryPart,
    SummaryRows,
    shown_summaries,
    summaries_of_today,
)
from storage.evidence.statistics.valid_summaries import is_of_today
from storage.tables.summaries import GameSummaryRow

BLOCK = 500
"""Games whose keys are as close as this make a block."""


class KeptSummaries:
    """The summaries of one database's games, with one part; matches between programs are not kept.

    A game takes a hundred bytes for itself and a few hundred for its replies.

    Args:
        part: Which.
    """

    def __init__(self, part: SummaryPart) -> None:
        self._part = part
        self._sums: dict[int, int] = {}
        """Of the stamps of each block."""
        self._rows: SummaryRows | None = None

    async def shown_summaries(self, session: AsyncSession) -> SummaryRows:
        """What `storage.evidence.statistics.summary_rows.shown_summaries` gives; errors as there."""
        return await shown_summaries(session, self._part, read_today=self._read_today)

    async def _read_today(self, session: AsyncSession) -> SummaryRows:
        block = (GameSummaryRow.game_id // BLOCK).label("block")
        stamps = func.sum(GameSummaryRow.stamp).label("stamps")
        found = await session.execute(select(block, stamps).where(*is_of_today()).group_by(block))
        sums, known = {row.block: int(row.stamps) for row in found}, self._sums
        changed = {number for number in known.keys() | sums.keys() if known.get(number) != sums.get(number)}
        if self._rows is None:
            rows = await summaries_of_today(session, self._part)
        elif changed:
            rows = await self._reread(session, self._rows, changed)
        else:
            return self._rows
        # At the end, and both at once: whoever gives up in between leaves what there was.
        self._rows, self._sums = rows, sums
        return rows

    async def _reread(self, session: AsyncSession, known: SummaryRows, changed: Set[int]) -> SummaryRows:
        """What is known, with some blocks read anew."""
        is_changed = np.isin(known.games["id"] // BLOCK, np.array([*changed], np.int64))
        parts = [known.where(~is_changed)]
        for first, last in _ranges(changed):
            keys = GameSummaryRow.game_id.between(first * BLOCK, last * BLOCK + BLOCK - 1)
            parts.append(await summaries_of_today(session, self._part, keys))
        return SummaryRows.joined(parts)


def _ranges(numbers: Set[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of each stretch of successive numbers."""
    firsts = sorted(number for number in numbers if number - 1 not in numbers)
    lasts = sorted(number for number in numbers if number + 1 not in numbers)
    return zip(firsts, lasts, strict=True)
