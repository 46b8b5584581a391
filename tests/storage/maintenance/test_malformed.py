"""Malformed rows are found, moved with all that belongs to them, and can be put back."""

from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from storage.database import Database
from storage.errors import StorageError
from storage.inserts import core_table
from storage.ledger.events import record_event
from storage.ledger.persons import forget_person, forgotten_at
from storage.maintenance.malformed import (
    MalformedRow,
    quarantine_malformed,
    quarantine_row,
    tables_needed_at_start,
    whole_database,
)
from storage.migrate import all_tables
from storage.records import DERIVED
from storage.tables.games import GameRow
from storage.tables.quarantine import QuarantineRow
from tests.storage.samples import ARENA, FELL, decision, opened, settled


async def filled(database: Database) -> list[int]:
    """Two games with three decisions, of which one has an outcome; an event belongs to the first game."""
    async with database.write() as session:
        first, second = await opened(session), await opened(session, "second", opponent_id="bert")
        await settled(session, first.id, 0, decision(), FELL)
        await settled(session, first.id, 2, decision(), None)
        await settled(session, second.id, 0, decision(), None)
        await record_event(session, ARENA, "takeback", {"ply": 2, "name": "é'"}, first.id)
    return [first.id, second.id]


async def contents(session: AsyncSession) -> dict[str, list[Any]]:
    """All rows as SQL literals, but for the quarantine's own."""
    literal = "quote" if session.get_bind().dialect.name == "sqlite" else "quote_nullable"
    found = {}
    for table in all_tables().sorted_tables:
        if table.name in DERIVED or table.name == "quarantine":
            continue
        values = ", ".join(
            f'hex("{column.name}")' if literal == "quote" else f'CAST("{column.name}" AS text)'
            for column in table.columns
        )
        found[table.name] = sorted(
            map(tuple, await session.execute(text(f'SELECT {values} FROM "{table.name}"')))
        )
    return found


async def put_back(session: AsyncSession) -> None:
    await ignore_checks(session)
    statements = select(QuarantineRow.statement).order_by(QuarantineRow.id.desc())
    for statement in list(await session.scalars(statements)):
        connection = await session.connection()
        await connection.exec_driver_sql(statement)


async def ignore_checks(session: AsyncSession) -> None:
    if session.get_bind().dialect.name == "sqlite":
        await session.execute(text("PRAGMA ignore_check_constraints = ON"))


async def count(session: AsyncSession, table: str) -> int:
    return await session.scalar(text(f"SELECT count(*) FROM {table}")) or 0


CHANGES = [
    ("sqlite", "record = x'01ff'"),
    ("postgresql", "record = '\\x01ff'"),
    ("sqlite", "state = 'lost'"),
    ("sqlite", "ply = 'two'"),
    ("sqlite", "ply = -1"),
    ("sqlite", "created_at = 'once'"),
    ("sqlite", "move = CAST(x'ff' AS TEXT)"),
    ("sqlite", "record = 'text'"),
    ("sqlite", "replies = '{'"),
]
"""PostgreSQL checks all but the contents of a record."""


@pytest.mark.parametrize(("backend", "change"), CHANGES)
async def test_a_malformed_decision_is_moved_with_its_outcome(database: Database, change: str) -> None:
    await filled(database)
    async with database.write() as session:
        await ignore_checks(session)
        await session.execute(text(f"UPDATE decisions SET {change} WHERE id = 1"))
        before = await contents(session)
    (row,) = await quarantine_malformed(database, whole_database())
    assert (row.table, row.id, row.moved) == ("decisions", 1, 2)
    async with database.write() as session:
        assert (await count(session, "decisions"), await count(session, "outcomes")) == (2, 0)
        assert await count(session, "quarantine") == 2
        await put_back(session)
        assert await contents(session) == before


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_program_starts_with_malformed_rows_of_open_games_out_of_the_way(database: Database) -> None:
    first, second = await filled(database)
    async with database.write() as session:
        await ignore_checks(session)
        await session.execute(text(f"UPDATE games SET state = 'lost' WHERE id = {first}"))
        await session.execute(text("UPDATE blocks SET name = 'x'"))
        await session.execute(text(f"UPDATE decisions SET nodes = 'x' WHERE game_id = {second}"))
    found = await quarantine_malformed(database, tables_needed_at_start())
    assert [(row.table, row.id, row.moved) for row in found] == [("games", first, 4), ("decisions", 3, 1)]


async def test_a_game_takes_its_decisions_and_cuts_its_events(database: Database) -> None:
    first, second = await filled(database)
    async with database.write() as session:
        before = await contents(session)
        assert await quarantine_row(session, core_table(GameRow), (first,), "odd\0") == 4
        games = list(await session.scalars(text("SELECT id FROM games")))
        events = list(await session.scalars(text("SELECT game_id FROM events")))
        assert (games, events, await count(session, "decisions")) == ([second], [None], 1)
        await put_back(session)
        assert await contents(session) == before


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_forgotten_person_stays_forgotten(database: Database) -> None:
    await filled(database)
    async with database.write() as session:
        person = await session.scalar(select(GameRow.opponent_id)) or 0
        await forget_person(session, person)
        await ignore_checks(session)
        await session.execute(text("UPDATE forgotten_persons SET forgotten_at = 'never'"))
    assert await quarantine_malformed(database, whole_database()) == []
    async with database.read() as session:
        assert await forgotten_at(session, person) is not None
        assert await count(session, "quarantine") == 0


async def test_a_sound_database_has_none(database: Database) -> None:
    await filled(database)
    for tables in (whole_database(), tables_needed_at_start()):
        assert await quarantine_malformed(database, tables) == []


def test_the_text_names_the_row() -> None:
    assert MalformedRow("games", 7, "odd", 1).text == "row 7 of games: odd"
    assert MalformedRow("games", 7, "odd", 3).text == "row 7 of games, with 2 dependent rows: odd"


@pytest.mark.parametrize(
    "change",
    [
        "games SET state = 'lost'",
        "games SET our_side = 2",
        "games SET our_rating = 100001",
        "decisions SET ply = -1",
        "decisions SET state = 'odd'",
        "outcomes SET cost = 10001",
        "outcomes SET cost = NULL",
        "outcomes SET kind = 'odd'",
        "games SET our_rating = 'x'",
        "games SET selection = '{'",
        "games SET started_at = 'once'",
        "games SET rated = 2",
        "decisions SET time_s = 'x'",
    ],
)
async def test_constraints_refuse_what_no_column_can_have(database: Database, change: str) -> None:
    await filled(database)
    with pytest.raises(StorageError):
        async with database.write() as session:
            await session.execute(text(f"UPDATE {change}"))
