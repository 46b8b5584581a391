import asyncio
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import func, insert, inspect, select, text, update

from storage import migrate
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.events import record_event
from storage.maintenance import copied_rows, copying
from storage.maintenance.copying import copy_database
from storage.tables.arena import ArenaAccount, ArenaChatLine
from storage.tables.games import DecisionRow, EventRow, GameRow
from tests.storage.conftest import emptied_database
from tests.storage.maintenance.elsewhere import another_program
from tests.storage.maintenance.samples import FIRST, fill
from tests.storage.samples import ARENA

ROWS = 12
TABLES = len(migrate.all_tables().tables)


@pytest.fixture
def target_url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of the other kind than `url`, with all tables and no rows."""
    if backend == "postgresql":
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "target.db")
        return f"sqlite:///{tmp_path / 'target.db'}"
    folder, template = request.getfixturevalue("postgres"), request.getfixturevalue("postgres_template")
    return asyncio.run(emptied_database(folder, template))


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copied_rows, "COPY_BATCH", 5)
    monkeypatch.setattr(copying, "COPY_BATCH", 5)


@pytest.fixture
async def target(target_url: str) -> AsyncIterator[Database]:
    opened = await Database.open(target_url)
    yield opened
    await opened.close()


def first_of(row: tuple[object, ...]) -> str:
    return str(row[0])


async def count_of(database: Database, table: str) -> int:
    async with database.read() as session:
        return int((await session.execute(text(f"SELECT COUNT(*) FROM {table}"))).scalar_one())


async def test_every_table_is_copied_both_ways(
    database: Database, target: Database, url: str, target_url: str, tmp_path: Path, sqlite_template: Path
) -> None:
    await fill(database, ROWS)
    found = await copy_database(url, target_url)
    assert [(each.table, each.rows) for each in found.tables] == [
        (table.name, ROWS) for table in migrate.all_tables().sorted_tables
    ]
    assert (found.source, found.target) == (database.url, target.url)
    shutil.copy(sqlite_template, tmp_path / "again.db")
    again = await copy_database(target_url, f"sqlite:///{tmp_path / 'again.db'}")
    assert again.tables == found.tables


async def test_values_mean_the_same(database: Database, target: Database, url: str, target_url: str) -> None:
    await fill(database, ROWS)
    await copy_database(url, target_url)
    for row in (DecisionRow, GameRow, ArenaAccount):
        statement = select(row.__table__).order_by(row.id)
        async with database.read() as ours, target.read() as theirs:
            wanted = sorted((tuple(each) for each in await ours.execute(statement)), key=first_of)
            assert sorted((tuple(each) for each in await theirs.execute(statement)), key=first_of) == wanted
            assert len(wanted) == ROWS


async def test_nothing_of_the_copying_is_left(target_url: str, database: Database, url: str) -> None:
    await fill(database, 2)
    await copy_database(url, target_url)
    opened = await Database.open(target_url, upgrade=False)
    async with opened.snapshot() as connection:
        names = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
    assert sorted(names) == sorted([*migrate.all_tables().tables, "alembic_version"])
    await opened.close()


async def test_new_rows_follow_the_copied_ones(database: Database, target: Database, url: str) -> None:
    """PostgreSQL's sequences know nothing of rows inserted with their keys."""
    await fill(database, ROWS)
    await copy_database(url, _url_of(target))
    async with target.write() as session:
        await record_event(session, ARENA, "odd", {})
    async with target.read() as session:
        assert await session.scalar(select(func.max(EventRow.id))) == ROWS + 1


async def test_new_rows_of_an_empty_copy_begin_at_one(database: Database, target: Database, url: str) -> None:
    assert await count_of(database, "events") == 0
    await copy_database(url, _url_of(target))
    async with target.write() as session:
        await record_event(session, ARENA, "odd", {})
    async with target.read() as session:
        assert await session.scalar(select(EventRow.id)) == 1


def _url_of(database: Database) -> str:
    return database._url.render_as_string(hide_password=False)


async def test_missing_tables_are_made(database: Database, url: str, tmp_path: Path) -> None:
    await fill(database, 2)
    found = await copy_database(url, f"sqlite:///{tmp_path / 'folder' / 'new.db'}")
    assert len(found.tables) == TABLES


async def test_a_target_with_rows_is_refused(
    database: Database, target: Database, url: str, target_url: str
) -> None:
    await fill(database, 2)
    async with target.write() as session:
        await record_event(session, ARENA, "odd", {})
    with pytest.raises(StorageError, match="is not empty: its table events has rows; nothing was changed"):
        await copy_database(url, target_url)
    assert await count_of(target, "games") == 0
    await (await Database.open(target_url, upgrade=False)).close()


async def test_a_database_of_something_else_is_refused(
    database: Database, url: str, empty_url: str, backend: str
) -> None:
    assert database.dialect == backend
    other, _ = await Database.open_unchecked(empty_url, create=True) if backend == "postgresql" else (None, 0)
    if other is None:
        Path(empty_url.removeprefix("sqlite:///")).parent.mkdir()
        other, _ = await Database.open_unchecked(empty_url, create=True)
    async with other.write() as session:
        await session.execute(text("CREATE TABLE letters (id INTEGER)"))
    await other.close()
    with pytest.raises(StorageError, match="has tables of another program: letters"):
        await copy_database(url, empty_url)


async def test_an_older_schema_is_refused(database: Database, target: Database, url: str) -> None:
    assert await count_of(database, "games") == 0
    async with target.write() as session:
        await session.execute(text("UPDATE alembic_version SET version_num = '0011'"))
    with pytest.raises(StorageError, match=rf"is 0011, not {migrate.newest_revision()}: use an empty one"):
        await copy_database(url, _url_of(target))


async def test_a_database_is_not_copied_to_itself(database: Database, url: str) -> None:
    assert await count_of(database, "games") == 0
    with pytest.raises(StorageError, match="cannot be copied to itself"):
        await copy_database(url, url)


class _Interrupted(Exception):
    pass


def interrupting(table: str, rows: int) -> copying.OnStep:
    """Stops a copy when so many rows of a table are written."""

    def on_step(what: str, name: str, done: int) -> None:
        if (what, name) == ("copy", table) and done >= rows:
            raise _Interrupted

    return on_step


async def test_an_interrupted_copy_begins_again_with_what_the_source_has_now(
    database: Database, target: Database, url: str, target_url: str
) -> None:
    await fill(database, ROWS)
    with pytest.raises(_Interrupted):
        await copy_database(url, target_url, interrupting("decisions", 5))
    assert await count_of(target, "decisions") == 5
    async with database.write() as session:
        await session.execute(update(GameRow).where(GameRow.id == 2).values(moves="e6 f4", ended_at=FIRST))
        await session.execute(update(DecisionRow).where(DecisionRow.id == 3).values(record={"now": 1}))
        await session.execute(text("DELETE FROM arena_chat WHERE id = 7"))
        await record_event(session, ARENA, "odd", {})
    found = await copy_database(url, target_url)
    rows = {each.table: each.rows for each in found.tables}
    assert (rows["arena_chat"], rows["events"], rows["decisions"]) == (ROWS - 1, ROWS + 1, ROWS)
    async with target.read() as session:
        assert await session.scalar(select(GameRow.moves).where(GameRow.id == 2)) == "e6 f4"
        assert await session.scalar(select(DecisionRow.record).where(DecisionRow.id == 3)) == {"now": 1}


async def test_no_program_opens_an_unfinished_copy(database: Database, url: str, target_url: str) -> None:
    await fill(database, 2)
    with pytest.raises(_Interrupted):
        await copy_database(url, target_url, interrupting("games", 1))
    for upgrade in (True, False):
        with pytest.raises(StorageError, match="unfinished copy of another database; `desdemona db copy`"):
            await Database.open(target_url, upgrade=upgrade)


async def test_an_unfinished_copy_of_an_earlier_schema_is_refused(
    database: Database, target: Database, url: str, target_url: str
) -> None:
    await fill(database, 2)
    async with target.write() as session:
        await session.execute(text("UPDATE alembic_version SET version_num = 'unfinished copy 0011'"))
    with pytest.raises(StorageError, match=r"is unfinished copy 0011, not .*: use an empty one"):
        await copy_database(url, target_url)


async def test_two_programs_do_not_fill_one_database(
    database: Database, target: Database, url: str, target_url: str
) -> None:
    await fill(database, 2)
    async with target.hold_role(copying.ROLE):
        with pytest.raises(StorageError, match="another program already runs the copy"):
            await copy_database(url, target_url)


async def test_a_writer_goes_on_meanwhile(database: Database, url: str, target_url: str) -> None:
    """What is copied is one moment: nothing that refers to what came later, nothing by halves."""
    await fill(database, ROWS)
    written = 0

    async def play(source: Database) -> None:
        nonlocal written
        written += 1
        key = f"later{written}"
        account = {"id": key, "name": key, "is_bot": False, "token_hash": key, "created_at": FIRST}
        line = {"game_id": "Z1", "account_id": key, "room": "player", "text": key, "created_at": FIRST}
        async with source.write() as session:
            await session.execute(insert(ArenaAccount).values(**account))
            await session.execute(insert(ArenaChatLine).values(**line))
            await session.execute(update(GameRow).where(GameRow.id == 1).values(moves=key))

    async def moves_of(stored: Database) -> str:
        async with stored.read() as session:
            return str(await session.scalar(select(GameRow.moves).where(GameRow.id == 1)))

    before = await moves_of(database)
    with another_program(url) as elsewhere:

        def on_step(what: str, _table: str, rows: int) -> None:
            if (what, rows) == ("copy", ROWS):
                elsewhere(play)

        found = await copy_database(url, target_url, on_step)
    assert {each.rows for each in found.tables} == {ROWS}
    assert written >= TABLES  # while each of them was copied
    assert await moves_of(database) == f"later{written}"
    target = await Database.open(target_url, upgrade=False)
    assert await moves_of(target) == before
    await target.close()


async def test_another_writer_to_the_target_is_noticed(database: Database, url: str, target_url: str) -> None:
    await fill(database, ROWS)

    async def disturb(target: Database) -> None:
        async with target.write() as session:
            await session.execute(text("UPDATE games SET moves = 'x' WHERE id = 4"))

    with another_program(target_url) as elsewhere:

        def on_step(what: str, table: str, rows: int) -> None:
            if (what, table, rows) == ("copy", "games", ROWS):
                elsewhere(disturb)

        with pytest.raises(StorageError, match=r"differs from its source at row 4 of games: is another"):
            await copy_database(url, target_url, on_step)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (
            "UPDATE games SET started_at = 'soon' WHERE id = 7",
            r"cannot be copied \(ValueError",
        ),
        (
            "UPDATE games SET moves = CAST(x'ff' AS TEXT) WHERE id = 8",
            r"a row of games cannot be copied \(Could not decode",
        ),
        ("UPDATE games SET our_side = 'left' WHERE id = 9", "row 9 of games cannot be copied: .*left"),
        ("UPDATE games SET selection = '{' WHERE id = 2", "row 2 of games cannot be copied: .*json"),
        ("UPDATE games SET moves = 'a' || char(0) WHERE id = 3", "row 3 of games cannot be copied: .*0x00"),
    ],
)
async def test_a_value_that_cannot_be_is_named(
    postgres: str, postgres_template: str, tmp_path: Path, sqlite_template: Path, damage: str, told: str
) -> None:
    url = f"sqlite:///{shutil.copy(sqlite_template, tmp_path / 'damaged.db')}"
    database = await Database.open(url)
    await fill(database, ROWS)
    async with database.write() as session:
        await session.execute(text("PRAGMA ignore_check_constraints = ON"))
        await session.execute(text(damage))
    await database.close()
    with pytest.raises(StorageError, match=re.compile(told, re.IGNORECASE)):
        await copy_database(url, await emptied_database(postgres, postgres_template))


async def test_damaged_records_are_copied_as_they_are(
    postgres: str, postgres_template: str, tmp_path: Path, sqlite_template: Path
) -> None:
    url = f"sqlite:///{shutil.copy(sqlite_template, tmp_path / 'damaged.db')}"
    database = await Database.open(url)
    await fill(database, ROWS)
    async with database.write() as session:
        await session.execute(text("PRAGMA ignore_check_constraints = ON"))
        await session.execute(text("UPDATE decisions SET record = x'01020304' WHERE id = 1"))
    await database.close()
    target_url = await emptied_database(postgres, postgres_template)
    await copy_database(url, target_url)
    target = await Database.open(target_url)
    async with target.read() as session:
        found = await session.execute(text("SELECT record FROM decisions WHERE id = 1"))
        assert [each.record for each in found] == [b"\x01\x02\x03\x04"]
    await target.close()


_KILLED = """
import asyncio, os, signal, sys
from storage.maintenance import copied_rows, copying
copied_rows.BATCH = copying.BATCH = 5
def on_step(what, table, rows):
    if (what, table) == (sys.argv[3], sys.argv[4]):
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(copying.copy_database(sys.argv[1], sys.argv[2], on_step))
"""


@pytest.mark.parametrize(("what", "table"), [("copy", "decisions"), ("verify", "games")])
async def test_a_killed_copy_begins_again(
    database: Database, url: str, target_url: str, what: str, table: str
) -> None:
    await fill(database, ROWS)
    killed = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", _KILLED, url, target_url, what, table], cwd=Path.cwd()
    )
    assert killed.returncode == -signal.SIGKILL
    found = await copy_database(url, target_url)
    assert {each.rows for each in found.tables} == {ROWS}
