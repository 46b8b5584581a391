"""Games are moved to their places in weeks: in order, each with all its times, and none into the future."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import select

from bench.screenshots.spread_over_weeks import AT_ARENA, LEFT_S, OF_GAMES, spread
from storage.database import Database
from storage.evidence.summaries import repair_summaries
from storage.ledger.events import record_event
from storage.ledger.games import finish_game
from storage.records import GameResult
from storage.tables.arena import ArenaAccount
from storage.tables.base import Base
from storage.tables.games import DecisionRow, EventRow, GameRow, OpponentRow
from storage.tables.summaries import GameSummaryRow
from storage.tables.types import UtcDateTime
from tests.storage.samples import ARENA, FELL, decision, opened, settled

BEGAN = datetime(2026, 11, 25, 12, tzinfo=UTC)
NOW = BEGAN + timedelta(hours=1)
TOOK = timedelta(seconds=20)


async def told(database: Database) -> list[list[timedelta]]:
    """By game: from its beginning to its end, its decision, and its event."""
    async with database.read() as session:
        rows = await session.execute(
            select(GameRow.started_at, GameRow.ended_at, DecisionRow.created_at, EventRow.at)
            .join(DecisionRow, DecisionRow.game_id == GameRow.id)
            .join(EventRow, EventRow.game_id == GameRow.id)
            .order_by(GameRow.id)
        )
        return [[time - row[0] for time in row[1:] if time is not None] for row in rows]


async def test_games_keep_their_order_and_durations(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/desdemona.db"
    database = await Database.open(url)
    async with database.write() as session:
        for number in range(3):
            at = BEGAN + timedelta(minutes=number**2)
            game = await opened(session, f"g{number}", at=at)
            await settled(session, game.id, 0, decision(), FELL)
            await finish_game(session, game.id, result=GameResult.WIN, end_reason="normal", at=at + TOOK)
            await record_event(session, ARENA, "game_link_lost", {}, game.id)
        session.add(
            ArenaAccount(id="anna", name="Anna", is_bot=False, token_hash="0", created_at=BEGAN - TOOK)
        )
    before = await told(database)
    await spread(url, 2, NOW)
    assert await told(database) == before
    last = NOW - timedelta(seconds=LEFT_S)
    weeks = [last - timedelta(weeks=2), last - timedelta(weeks=1), last]
    async with database.read() as session:
        assert list(await session.scalars(select(GameRow.started_at).order_by(GameRow.id))) == weeks
        assert await session.scalar(select(OpponentRow.first_seen_at)) == weeks[0]
        assert await session.scalar(select(ArenaAccount.created_at)) == weeks[0] - TOOK
    async with database.write() as session:
        ids = list(await session.scalars(select(GameSummaryRow.game_id)))
        assert len(ids) == len(weeks)
        assert await repair_summaries(session, ids) == [], "summaries have the games' new times"
    await database.close()


ALSO_MOVED = {"arena_accounts.created_at", "events.at", "opponents.first_seen_at", "trials.started_at"}
NOT_OF_GAMES = {
    *("arena_elapsed.saved_at", "blocks.at", "experiment_results.finished_at", "imported_games.imported_at"),
    *("quarantine.at", "training_reviews.due_at", "trials.ended_at"),
    # States of persons are rebuilt when a game's end is not what they were built from.
    *("forgotten_persons.forgotten_at", "person_states.last_ended_at"),
}


def test_no_time_of_a_game_is_forgotten() -> None:
    times = {
        f"{table.name}.{column.name}"
        for table in Base.metadata.sorted_tables
        for column in table.columns
        if isinstance(column.type, UtcDateTime)
    }
    moved = {f"{table.__tablename__}.{name}" for table, names in (*OF_GAMES, *AT_ARENA) for name in names}
    assert times == moved | ALSO_MOVED | NOT_OF_GAMES
