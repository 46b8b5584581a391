"""`desdemona db recheck` as the operator types it."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import delete, select, update

from bot.game.game_runner import GameRunner
from bot.threads.reply_judge import ROLE
from engine.judge import JUDGE_VERSION
from storage.database import Database
from storage.tables.games import DecisionRow, OutcomeRow
from tests.bot.conftest import Command
from tests.bot.fakes import GAME_ID, FakeServer, picker, services


@pytest.fixture
def decisions(migrated_file: Path) -> int:
    """A finished game, and how many decisions it has; their outcomes are gone."""

    async def fill() -> int:
        database = await Database.open(f"sqlite:///{migrated_file}")
        try:
            server = FakeServer(pick=picker(1))
            async with services(server, database) as given:
                await GameRunner(GAME_ID, given).run()
            async with database.write() as session:
                await session.execute(delete(OutcomeRow))
                return len((await session.execute(select(DecisionRow.id))).all())
        finally:
            await database.close()

    return asyncio.run(fill())


def forge(path: Path) -> None:
    """Give the first decision another move than follows from its record."""

    async def work() -> None:
        database = await Database.open(f"sqlite:///{path}")
        try:
            async with database.write() as session:
                first = (await session.scalars(select(DecisionRow).order_by(DecisionRow.id).limit(1))).one()
                forged = update(DecisionRow).where(DecisionRow.id == first.id)
                await session.execute(forged.values(record={**first.record, "move": "\x1b[2J"}))
        finally:
            await database.close()

    asyncio.run(work())


def test_what_was_left_is_judged(desdemona: Command, decisions: int) -> None:
    status, told, progress = desdemona("db", "recheck")
    assert status == 0
    assert told == (
        f"decisions verified: {decisions}, wrong: 0\n"
        f"classified now: {decisions}, profiles completed: 0, forecasts made: 0\n"
        f"games judged now (version {JUDGE_VERSION}): 1\n"
    )
    assert progress.splitlines()[-2:] == [f"decisions: {decisions} of {decisions}", "games judged: 1 of 1"]
    status, told, _ = desdemona("db", "recheck", "--format", "json")
    assert status == 0
    assert json.loads(told) == {
        "verified": decisions,
        "pruned": 0,
        "judged": 0,
        "forecast": 0,
        "completed": 0,
        "wrong": [],
        "summaries": 0,
        "games_judged": 0,
        "games_left": 0,
        "games_learned": 0,
        "forgotten": 0,
        "restored": 0,
        "quarantined": [],
        "damaged": [],
        "left": {},
    }


@pytest.mark.usefixtures("decisions")
def test_a_wrong_record_is_listed(desdemona: Command, database_file: Path) -> None:
    with closing(sqlite3.connect(database_file)) as connection, connection:
        connection.execute("UPDATE decisions SET move = 'a' || char(27) WHERE ply = 0")
    status, told, _ = desdemona("db", "recheck")
    assert status == 1
    assert told.splitlines()[0].startswith(f"WRONG  arena game {GAME_ID}, ply 0: move is ")
    assert "\x1b" not in told
    status, told, _ = desdemona("db", "recheck", "--format", "json")
    (wrong,) = json.loads(told)["wrong"]
    assert (status, wrong["site"], wrong["game"], wrong["ply"]) == (1, "arena", GAME_ID, 0)


def test_a_record_that_is_none_is_moved_to_the_quarantine(
    desdemona: Command, decisions: int, database_file: Path
) -> None:
    forge(database_file)
    status, told, _ = desdemona("db", "recheck")
    assert status == 1
    moved, counts, *_ = told.splitlines()
    assert moved.startswith("QUARANTINED  row 1 of decisions")
    assert moved.endswith("not the record of a decision: \\x1b[2J is not among the candidates")
    assert counts == f"decisions verified: {decisions - 1}, wrong: 0"
    status, told, _ = desdemona("db", "recheck", "--format", "json")
    assert (status, json.loads(told)["verified"]) == (0, decisions - 1)


@pytest.mark.usefixtures("decisions")
def test_a_running_program_judges_what_is_left(desdemona: Command, database_file: Path) -> None:
    async def while_another_judges() -> tuple[int, str, str]:
        database = await Database.open(f"sqlite:///{database_file}")
        try:
            async with database.hold_role(ROLE):
                return await asyncio.to_thread(desdemona, "db", "recheck")
        finally:
            await database.close()

    status, told, _ = asyncio.run(while_another_judges())
    assert status == 0
    assert told.splitlines()[-2:] == [
        f"games judged now (version {JUDGE_VERSION}): 0",
        "games left to judge, which the running program does: 1",
    ]


def test_without_a_database(desdemona: Command) -> None:
    status, told, complaint = desdemona("db", "recheck")
    assert (status, told) == (3, "")
    assert "there is no database" in complaint
