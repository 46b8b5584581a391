"""Exports for other programs: games, decisions, outcomes, baits, replies, records and events.

Column names and meanings do not change between versions. Flags are 0 or 1; times are text in UTC, such as
``2026-11-30 18:00:05``; costs and probabilities range from 0 to 1; scores named ``_centi`` are hundredths of
a disc or pawn, from the opponent's point of view. Decisions taken back or never played are excluded. People
are named only on request; without their names, ``opponent_id`` tells them apart.
"""

from collections.abc import AsyncGenerator, Collection
from enum import StrEnum

from sqlalchemy.ext.asyncio import AsyncConnection

from storage.errors import decoding
from storage.evidence.exports.columns import Export, Value
from storage.evidence.exports.decisions import BAITS, DECISIONS, OUTCOMES, RECORDS, REPLIES
from storage.evidence.exports.events import EVENTS
from storage.evidence.exports.games import GAMES
from storage.filters import Filters

EXPORT_BATCH_ROWS = 1000
"""Maximum number of rows in memory at a time."""


class ExportName(StrEnum):
    """The name of an export."""

    GAMES = "games"
    DECISIONS = "decisions"
    OUTCOMES = "outcomes"
    BAITS = "baits"
    REPLIES = "replies"
    RECORDS = "records"
    EVENTS = "events"


EXPORTS = {
    ExportName.GAMES: GAMES,
    ExportName.DECISIONS: DECISIONS,
    ExportName.OUTCOMES: OUTCOMES,
    ExportName.BAITS: BAITS,
    ExportName.REPLIES: REPLIES,
    ExportName.RECORDS: RECORDS,
    ExportName.EVENTS: EVENTS,
}
"""All exports, by name."""


async def export_rows(
    connection: AsyncConnection,
    export: Export,
    filters: Filters,
    only_games: Collection[int] | None = None,
    without_games: Collection[int] = (),
    *,
    with_names: bool = False,
) -> AsyncGenerator[list[tuple[Value, ...]], None]:
    """Yield the rows for all games (or events) that match the filters, in batches.

    Args:
        connection: A connection that reads one snapshot of the database (`Database.snapshot`).
        export: One of `EXPORTS`.
        filters: The filters that select the games or events.
        only_games: Export only the matching games with these keys; None for all matching games.
        without_games: Keys of games to leave out.
        with_names: Whether people's names and IDs are written; those of programs always are.

    Raises:
        RecordError: A row is damaged; the message names it and the reason.
    """
    statement = export.statement.where(*export.selected(filters))
    async with connection.stream(statement, execution_options={"yield_per": EXPORT_BATCH_ROWS}) as result:
        async for some in result.partitions():
            rows: list[tuple[Value, ...]] = []
            for row in some:
                is_wanted = only_games is None or row.game_id in only_games
                if is_wanted and row.game_id not in without_games:
                    with decoding(f"row {row.id}"):
                        rows += export.rows(row, with_names)
            if rows:
                yield rows
