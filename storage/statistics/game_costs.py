"""What the judged replies in each game cost: the outcome of a trial that compares costs."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.damage import decoding
from storage.filters import Filters
from storage.records import GameStatus
from storage.statistics.facts import replies_of_games, selected
from storage.statistics.reply_sums import AT, Floats, reply_sums, unpacked
from storage.statistics.valid_summaries import is_valid
from storage.tables.games import GameRow
from storage.tables.summaries import GameSummaryRow


async def mean_costs(session: AsyncSession, filters: Filters | None = None) -> dict[int, float]:
    """The mean cost of the judged replies of each game that passes the filters, by the game's key.

    Replies in decided positions do not count, and a game without others is absent; so are aborted games.

    Raises:
        RecordError: Something that is stored is damaged; the message names the game or decision.
    """
    statement = select(GameRow.id, GameSummaryRow.sums).outerjoin(GameSummaryRow, is_valid())
    # Not by the session, which would make each row twice.
    chosen = statement.where(GameRow.state != GameStatus.ABORTED, *selected(filters))
    rows_read = await (await session.connection()).execute(chosen)
    packed = {row[0]: row[1] for row in rows_read}
    rows: dict[int, Floats] = {}
    for game, sums in packed.items():
        if sums is not None:
            with decoding(f"game {game}"):
                rows[game] = unpacked(sums)
    replies = await replies_of_games(session, [game for game in packed if game not in rows])
    rows |= {game: reply_sums(some).rows for game, some in replies.items()}
    counts = {game: (each[:, AT["replies"]].sum(), each[:, AT["cost"]].sum()) for game, each in rows.items()}
    return {game: float(cost / count) for game, (count, cost) in counts.items() if count}
