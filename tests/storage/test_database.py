import asyncio
import os
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from storage import migrate
from storage.database import (
    LONG_BUSY_TIMEOUT_S,
    POSTGRES_SETTINGS,
    ROLE_CHECK_INTERVAL_S,
    ROLE_CHECK_TIMEOUT_S,
    Database,
    create_engine,
    parse_url,
)
from storage.errors import RoleLost, RoleTaken, StorageError
from storage.ledger.events import list_events, record_event
from storage.ledger.games import list_games
from tests.inline_sqlite import sqlite_threads
from tests.migrated_once import migrations
from tests.storage.busy import BusyWriter
from tests.storage.postgres import create_database
from tests.storage.samples import ARENA, opened


@pytest.fixture(autouse=True)
def _as_outside_tests() -> Iterator[None]:
    """Here SQLite's own waiting is the point, and what programs do that migrate one database at once."""
    with sqlite_threads(wanted=True), migrations(wanted=True):
        yield


async def test_opening_makes_all_that_is_missing(empty_url: str) -> None:
    database = await Database.open(empty_url)
    async with database.write() as session:
        await opened(session)
    await database.close()
    again = await Database.open(empty_url, upgrade=False)
    async with again.read() as session:
        assert len(await list_games(session)) == 1
    await again.close()


async def test_a_reader_sees_one_state(database: Database) -> None:
    """What others commit meanwhile must not be half there: a game, say, without its opponent."""
    async with database.read() as reading:
        assert await list_games(reading) == []
        async with database.write() as session:
            await opened(session)
        assert await list_games(reading) == []
    async with database.read() as reading:
        assert len(await list_games(reading)) == 1


async def test_a_write_that_raises_leaves_nothing(database: Database) -> None:
    async def fail() -> None:
        async with database.write() as session:
            await record_event(session, ARENA, "lost", {})
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        await fail()
    async with database.read() as session:
        assert await list_events(session) == []


async def test_many_writers_at_once_all_succeed(database: Database, url: str) -> None:
    other = await Database.open(url)  # as another process would

    async def write(number: int) -> None:
        async with (other if number % 4 == 0 else database).write() as session:
            before = len(await list_events(session))
            await record_event(session, ARENA, "connected", {"number": number, "before": before})

    async with asyncio.TaskGroup() as tasks:
        for number in range(24):
            tasks.create_task(write(number))
    await other.close()
    async with database.read() as session:
        assert {event.detail["number"] for event in await list_events(session)} == set(range(24))


async def test_a_failing_statement_is_told_in_one_line(database: Database) -> None:
    with pytest.raises(StorageError) as caught:
        async with database.read() as session:
            await session.execute(text("SELECT * FROM no_such_table"))
    assert "no_such_table" in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_sqlite_is_set_up_to_survive_a_power_cut(tmp_path: Path) -> None:
    database = await Database.open(f"sqlite:///{tmp_path / 'x.db'}")
    async with database.read() as session:
        found = [
            await session.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    await database.close()
    assert found == ["wal", 2, 1]


async def test_a_newer_schema_is_refused(database: Database, url: str) -> None:
    async with database.write() as session:
        await session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for upgrade in (True, False):
        with pytest.raises(StorageError, match="schema 9999 is newer than this program"):
            await Database.open(url, upgrade=upgrade)


async def test_without_upgrade_an_empty_database_is_refused(empty_url: str, backend: str) -> None:
    expected = "there is no database at" if backend == "sqlite" else "run `desdemona db upgrade`"
    with pytest.raises(StorageError, match=expected):
        await Database.open(empty_url, upgrade=False)


async def test_two_programs_may_start_at_once(empty_url: str) -> None:
    async with asyncio.TaskGroup() as tasks:
        opening = [tasks.create_task(Database.open(empty_url)) for _ in range(3)]
    for task in opening:
        await task.result().close()
    engine = create_engine(parse_url(empty_url))
    assert await migrate.current_revision(engine) == migrate.newest_revision()
    await engine.dispose()


async def test_a_role_is_held_by_one_program_at_a_time(empty_url: str) -> None:
    first, second = await Database.open(empty_url), await Database.open(empty_url)
    for database in (first, second, first):
        async with database.hold_role("arena"):
            other = second if database is first else first
            with pytest.raises(RoleTaken, match="already runs the arena"):
                async with other.hold_role("arena"):
                    pass
            async with other.hold_role("account a/b at lichess"):
                pass
    await first.close()
    await second.close()


async def test_a_link_to_a_database_is_that_database(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to("file.db")
    file, link = [await Database.open(f"sqlite:///{tmp_path}/{name}.db") for name in ("file", "link")]
    async with file.hold_role("arena"):
        with pytest.raises(RoleTaken):
            async with link.hold_role("arena"):
                pass
    await file.close()
    await link.close()


async def test_a_role_is_lost_with_its_connection(postgres: str) -> None:
    url = await create_database(postgres, "roles")
    first, second = await Database.open(url), await Database.open(url)
    async with first.hold_role("arena") as role:
        async with first.write() as session:
            await role.verify(session)
            await session.execute(
                text("SELECT pg_terminate_backend(pid, 60000) FROM pg_locks WHERE locktype = 'advisory'")
            )
        async with second.hold_role("arena") as taken:  # as soon as the server has noticed
            with pytest.raises(RoleLost, match="the arena role was lost"):
                async with first.write() as session:
                    await role.verify(session)
            async with second.write() as session:
                await taken.verify(session)
            with pytest.raises(RoleLost, match="the arena role was lost"):
                await role.watch(sleep=no_sleep)
    await first.close()
    await second.close()


async def test_a_role_whose_server_is_silent_is_lost(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.database.ROLE_CHECK_TIMEOUT_S", 0.0)
    database = await Database.open(await create_database(postgres, "silent"))
    async with database.hold_role("arena") as role:
        with pytest.raises(RoleLost):
            await role.watch(sleep=no_sleep)
    await database.close()


async def test_a_gone_machines_connections_are_dropped(postgres: str) -> None:
    """By its keep-alive probes, and only after the program itself has given its roles up."""
    database = await Database.open(await create_database(postgres, "probes"))
    async with database.read() as session:
        for name, value in POSTGRES_SETTINGS.items():
            reset = await session.scalar(text(f"SELECT reset_val FROM pg_settings WHERE name = '{name}'"))
            assert reset == value
    await database.close()
    probes = (value for name, value in POSTGRES_SETTINGS.items() if name.startswith("tcp_keepalives"))
    idle_s, interval_s, count = map(int, probes)
    assert ROLE_CHECK_INTERVAL_S + ROLE_CHECK_TIMEOUT_S < idle_s + interval_s * count <= 12


async def no_sleep(_seconds: float) -> None:
    await asyncio.sleep(0)


async def test_an_odd_option_of_a_url(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="url has an option"):
        await Database.open(f"postgresql://postgres@/x?host={tmp_path}&prepared_statement_cache_size=abc")


@pytest.mark.parametrize("option", ["mode=ro", "uri=true", "timeout=5"])
async def test_options_of_a_sqlite_url_are_refused(tmp_path: Path, option: str) -> None:
    url = f"sqlite:///{tmp_path}/x.db?{option}"
    with pytest.raises(StorageError, match=r"storage\.url: a SQLite URL takes no options"):
        await Database.open(url)
    with pytest.raises(StorageError, match=r"storage\.url: a SQLite URL takes no options"):
        await Database.open_unchecked(url)
    assert os.listdir(tmp_path) == []


async def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("This is a shopping list and no database. " * 100)
    before = path.read_bytes()
    with pytest.raises(StorageError, match=r"notes\.db: file is not a database"):
        await Database.open(f"sqlite:///{path}")
    assert path.read_bytes() == before


async def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="it is a folder"):
        await Database.open(f"sqlite:///{tmp_path}")


async def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StorageError, match="cannot create the folder of the database"):
        await Database.open(f"sqlite:///{tmp_path / 'data' / 'desdemona.db'}")


@pytest.mark.parametrize(
    "url", ["mysql://u:secret@host/x", "no url", "", "sqlite", "postgresql://u:secret@h:x/"]
)
async def test_a_url_of_no_known_kind(url: str) -> None:
    with pytest.raises(StorageError, match=r"storage\.url is not understood") as caught:
        await Database.open(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
async def test_memory_is_no_place_to_remember(url: str) -> None:
    with pytest.raises(StorageError, match=r"storage\.url names no file"):
        await Database.open(url)


async def test_nobody_listens_and_the_password_stays_secret() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(StorageError, match=rf"127\.0\.0\.1:{port}.*refused") as caught:
        await Database.open(f"postgresql://me:secret@127.0.0.1:{port}/desdemona")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_socket_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file or directory"):
        await Database.open(f"postgresql://postgres@/x?host={tmp_path}")


async def test_no_such_database_on_the_server(postgres: str) -> None:
    with pytest.raises(StorageError, match='database "nowhere" does not exist'):
        await Database.open(f"postgresql://postgres@/nowhere?host={postgres}")


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_patient_writer_waits_for_another_program(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.database.STATEMENT_BUSY_TIMEOUT_MS", 1)
    database = await Database.open(url, busy_timeout_s=LONG_BUSY_TIMEOUT_S)
    writer = BusyWriter(monkeypatch, path_of(url), refusals=4)
    async with database.write() as session:
        await record_event(session, ARENA, "connected", {})
    async with database.read() as session:
        assert len(await list_events(session)) == 1
    await database.close()
    assert writer.refusals == 4


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_where_a_move_is_waited_for_a_writer_is_not_patient(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.database.STATEMENT_BUSY_TIMEOUT_MS", 1)
    database = await Database.open(url)
    writer = BusyWriter(monkeypatch, path_of(url), refusals=100)
    with pytest.raises(StorageError, match="database is locked"):
        async with database.write() as session:
            await record_event(session, ARENA, "connected", {})
    writer.end()
    async with database.write() as session:
        await record_event(session, ARENA, "connected", {})
    await database.close()
    assert writer.refusals == 1


async def test_opening_waits_for_a_program_that_makes_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "desdemona.db"
    sqlite3.connect(path).execute("PRAGMA journal_mode = WAL").connection.close()
    writer = BusyWriter(monkeypatch, path, refusals=4)
    await (await Database.open(f"sqlite:///{path}")).close()
    assert writer.refusals == 4


async def test_opening_waits_to_switch_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "desdemona.db"
    writer = BusyWriter(monkeypatch, path, refusals=4)
    await (await Database.open(f"sqlite:///{path}")).close()
    assert writer.refusals == 4


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
async def test_opening_does_not_wait_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str
) -> None:
    path = tmp_path / "desdemona.db"
    sqlite3.connect(path).execute(f"PRAGMA journal_mode = {journal}").connection.close()
    writer = BusyWriter(monkeypatch, path, refusals=100)
    with pytest.raises(StorageError, match=r"cannot open the database .*: database is locked"):
        await Database.open(f"sqlite:///{path}")
    writer.end()
    assert writer.refusals == LONG_BUSY_TIMEOUT_S / 20


async def test_a_ping(database: Database) -> None:
    assert 0 <= await database.ping() < 60
    await database.close()


def modes_of(folder: Path) -> dict[str, int]:
    return {each.name: each.stat().st_mode & 0o777 for each in folder.iterdir()}


async def test_only_we_may_read_a_new_sqlite_database(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    database = await Database.open(f"sqlite:///{path}")
    try:
        async with database.write() as session:
            await session.execute(text("DELETE FROM events"))
        async with database.hold_role("arena"):
            modes = modes_of(tmp_path)
    finally:
        await database.close()
    assert len(modes) >= 3  # the database, its journal, the role's lock
    assert set(modes.values()) == {0o600}
