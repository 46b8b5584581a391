import ast
import re
import sqlite3
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from enum import StrEnum
from importlib import import_module
from io import StringIO
from itertools import product
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import (
    Column,
    Connection,
    LargeBinary,
    delete,
    func,
    inspect,
    select,
    text,
    type_coerce,
    update,
)
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.schema import CreateTable

import migrations
from engine.bait_rule import forecast
from engine.decision import Decision
from engine.errors import RecordError
from engine.figure_9 import expected_scale_centi
from engine.game import WIN_CENTI
from engine.params import Scale, TrapParams
from storage import migrate
from storage.database import Database, create_engine, parse_url
from storage.errors import StorageError
from storage.evidence.trials import NewTrial, start_trial
from storage.ledger.decisions import mark_dropped, mark_taken_back, reply_scores
from storage.ledger.events import record_event
from storage.ledger.forecasts import forecasts_of_game
from storage.ledger.games import (
    assign_account_to_records,
    finish_game,
    list_games,
    list_unsettled_games,
    load_game,
)
from storage.ledger.outcomes import record_reply_time
from storage.packing.records import COLUMNS, PLAIN, unpack
from storage.records import DERIVED, GameResult, GameStatus, ReplyTime, TimeSource
from storage.tables.base import members_of
from storage.tables.games import DecisionRow, EngineConfigRow, ForecastRow, OutcomeRow, ReplyTimeRow
from storage.tables.types import EnumText, as_stored
from tests import migrated_once
from tests.storage.samples import (
    ARENA,
    ERRED,
    FELL,
    FELL_ELSE,
    OPTIMAL,
    UNANSWERED,
    commit_decision,
    decision,
    drawn_decision,
    opened,
    settled,
    store_forecast,
)

WITHOUT_KEYS = {"sqlite_before_begin": "PRAGMA foreign_keys = OFF"}
"""As while upgrading: a table of SQLite is altered by copying it."""
SCRIPTS = sorted((Path(migrations.__file__).parent / "versions").glob("*.py"))


@pytest.fixture(autouse=True)
def _migrations() -> Iterator[None]:
    """Here they are the point."""
    with migrated_once.migrations(wanted=True):
        yield


async def test_the_tables_that_other_tests_get_are_those_of_the_migrations(tmp_path: Path) -> None:
    """Line by line, but for their order, which Alembic chooses anew; and neither kind has other rows."""
    made = []
    for is_migrated in (True, False):
        path = tmp_path / f"{is_migrated}.db"
        with migrated_once.migrations(wanted=is_migrated):
            await (await Database.open(f"sqlite:///{path}")).close()
        with closing(sqlite3.connect(path)) as connection:
            lines = "\n".join(connection.iterdump()).splitlines()
            made.append(sorted(line.strip("\t ,;") for line in lines))
    assert made[0] == made[1]


async def test_the_migrated_schema_is_what_the_models_say(url: str) -> None:
    engine = create_engine(parse_url(url))
    await migrate.check(engine)
    await engine.dispose()


def checks_of(lines: Iterable[str]) -> dict[str, str]:
    """The conditions by the checks' names, from statements that make tables."""
    found = re.findall(r"CONSTRAINT (ck_\w+) CHECK \((.+)\)", "\n".join(lines))
    return dict(found)


def require_same_checks(models: dict[str, str], migrated: dict[str, str]) -> None:
    for name in sorted(models.keys() | migrated.keys()):
        wanted, made = models.get(name), migrated.get(name)
        assert wanted == made, f"a new migration must change {name}: the models want {wanted}, not {made}"


async def migrated_checks(path: Path) -> dict[str, str]:
    await (await Database.open(f"sqlite:///{path}")).close()
    with closing(sqlite3.connect(path)) as connection:
        return checks_of(row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql > ''"))


async def test_the_checks_of_the_models_are_those_of_the_migrations(tmp_path: Path) -> None:
    tables = migrate.all_tables().sorted_tables
    models = checks_of(str(CreateTable(table).compile(dialect=sqlite_dialect())) for table in tables)
    assert len(models) > len(tables) - len(DERIVED)
    require_same_checks(models, await migrated_checks(tmp_path / "migrated.db"))


async def test_a_new_member_of_an_enumeration_needs_a_migration(tmp_path: Path) -> None:
    longer = StrEnum("longer", {**{each.name: each.value for each in GameStatus}, "PAUSED": "paused"})  # type: ignore[misc]
    migrated = await migrated_checks(tmp_path / "migrated.db")
    models = {**migrated, "ck_games_state": members_of(Column("state", EnumText(longer)))}
    told = "a new migration must change ck_games_state: the models want .*'paused'"
    with pytest.raises(AssertionError, match=told):
        require_same_checks(models, migrated)
    same = members_of(Column("state", EnumText(GameStatus)))
    require_same_checks({**migrated, "ck_games_state": same}, migrated)


async def test_upgrading_makes_every_table_and_twice_changes_nothing(empty_url: str, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    engine = create_engine(parse_url(empty_url))
    assert await migrate.current_revision(engine) is None
    for _ in range(2):
        await migrate.upgrade(engine)
        assert await migrate.current_revision(engine) == migrate.newest_revision()
    async with engine.connect() as connection:
        tables = await connection.run_sync(lambda sync: set(inspect(sync).get_table_names()))
    await engine.dispose()
    assert tables == {*migrate.all_tables().tables, "alembic_version"}


async def test_every_step_can_be_taken_back(url: str) -> None:
    """And the newest one leaves what there was before it."""

    def go(step: Callable[[Config, str], None], to: str) -> Callable[[Connection], None]:
        return lambda connection: step(migrate._config(connection), to)

    def shape(connection: Connection) -> dict[str, object]:
        known = inspect(connection)
        return {
            table: (
                sorted((it["name"], str(it["type"]), it["nullable"]) for it in known.get_columns(table)),
                sorted((str(each["name"]), each["column_names"]) for each in known.get_indexes(table)),
            )
            for table in known.get_table_names()
        }

    engine = create_engine(parse_url(url))
    async with engine.execution_options(**WITHOUT_KEYS).begin() as connection:
        await connection.run_sync(go(command.downgrade, "-1"))
        taken_back = await connection.run_sync(shape)
        await connection.run_sync(go(command.downgrade, "base"))
        assert await connection.run_sync(lambda sync: inspect(sync).get_table_names()) == ["alembic_version"]
        await connection.run_sync(go(command.upgrade, f"{migrate.newest_revision()}-1"))
        assert taken_back == await connection.run_sync(shape)
    await engine.dispose()


async def test_games_of_the_first_schema_stay_whole(url: str) -> None:
    """Their engines played by the paper; and the table they refer to, copied on SQLite, is still theirs."""

    def down(connection: Connection) -> None:
        command.downgrade(migrate._config(connection), "0001")

    database = await Database.open(url)
    async with database.write() as session:
        await opened(session)
    await database.close()
    engine = create_engine(parse_url(url))
    async with engine.execution_options(
        sqlite_before_begin="PRAGMA foreign_keys = OFF"
    ).begin() as connection:
        await connection.run_sync(down)
        columns = await connection.run_sync(lambda sync: inspect(sync).get_columns("engine_configs"))
    await engine.dispose()
    assert "scale" not in {column["name"] for column in columns}

    database = await Database.open(url)  # upgrades
    async with database.write() as session:
        await assign_account_to_records(session, ARENA)
        await opened(session, "second")
        await opened(session, "third", params=TrapParams(scale=Scale.EXPECTED))
        await opened(session, "sixth", params=TrapParams(scale=Scale.EXPECTED, risk_share_percent=10))
        await opened(session, "fourth", params=TrapParams(scale=Scale.EXPECTED, risk_percent=2.5))
        await opened(session, "fifth", params=TrapParams(scale=Scale.EXPECTED, risk_percent=2.5))
        stored = [await load_game(session, ARENA, key) for key in ("game0001", "second", "fifth", "sixth")]
        configs = await session.scalar(select(func.count()).select_from(EngineConfigRow))
    assert [game and game.params for game in stored] == [
        TrapParams(),
        TrapParams(),
        TrapParams(scale=Scale.EXPECTED, risk_percent=2.5),
        TrapParams(scale=Scale.EXPECTED, risk_share_percent=10),
    ]
    assert configs == 4
    with pytest.raises(StorageError, match=r"(?i)foreign key"):
        async with database.write() as session:
            await session.execute(delete(EngineConfigRow))
    await database.close()


def test_all_tables_are_known_whatever_is_imported() -> None:
    """With only some of them, Alembic would propose to drop the others."""
    program = "from storage import migrate; print(*sorted(migrate.all_tables().tables))"
    alone = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"games", "arena_games", "imported_games", "analyses"} <= set(alone.stdout.split())


def test_to_open_a_database_that_is_up_to_date_takes_no_alembic(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from storage.database import Database\n"
        f"database = asyncio.run(Database.open('sqlite:///{tmp_path}/x.db'))\n"
        "asyncio.run(database.close())\n"
        "print('alembic' in sys.modules)\n"
    )
    told = [subprocess.run([sys.executable, "-c", program], capture_output=True, check=True) for _ in "12"]
    assert [each.stdout.strip() for each in told] == [b"True", b"False"]


async def test_alembic_writes_to_the_output_of_now(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not to that of when it was imported, which may be closed."""
    told = StringIO()
    monkeypatch.setattr(sys, "stdout", told)
    engine = create_engine(parse_url(url))
    await migrate.check(engine)
    await engine.dispose()
    assert told.getvalue() == "No new upgrade operations detected.\n"


async def test_two_revisions_at_once_are_refused(url: str) -> None:
    database = await Database.open(url)
    async with database.write() as session:
        await session.execute(text("INSERT INTO alembic_version VALUES ('9999')"))
    await database.close()
    for upgrade in (True, False):
        with pytest.raises(StorageError, match="2 revisions"):
            await Database.open(url, upgrade=upgrade)


async def test_engines_of_the_fifth_schema_knew_no_share(url: str) -> None:
    def down(connection: Connection) -> None:
        command.downgrade(migrate._config(connection), "0005")

    params = [TrapParams(), TrapParams(scale=Scale.EXPECTED)]
    database = await Database.open(url)
    async with database.write() as session:
        for number, each in enumerate(params):
            await opened(session, f"game{number}", params=each)
    await database.close()
    engine = create_engine(parse_url(url))
    off = {"sqlite_before_begin": "PRAGMA foreign_keys = OFF"}
    async with engine.execution_options(**off).begin() as connection:
        await connection.run_sync(down)
    await engine.dispose()
    database = await Database.open(url)  # upgrades
    async with database.write() as session:
        await assign_account_to_records(session, ARENA)
        stored = [await load_game(session, ARENA, f"game{number}") for number in range(2)]
    await database.close()
    assert [game and game.params for game in stored] == [
        params[0],
        TrapParams(scale=Scale.EXPECTED, risk_share_percent=100),
    ]


async def test_forecasts_of_the_ninth_schema_are_added_up(url: str) -> None:
    """From their records, to the same numbers; one whose decision is damaged stays without."""

    def down(connection: Connection) -> None:
        command.downgrade(migrate._config(connection), "0009")

    async def rows() -> list[dict[str, object]]:
        async with database.read() as session:
            found = await session.execute(select(ForecastRow.__table__).order_by(ForecastRow.decision_id))
            return [dict(row) for row in found.mappings()]

    database = await Database.open(url)
    async with database.write() as session:
        game = await opened(session)
        for ply, made in enumerate([decision(quality=200.0), decision(), decision(replies=2), decision()]):
            decision_id = await commit_decision(session, game.id, ply, made)
            foreseen = forecast(made.chosen, expected_scale_centi(made))
            await store_forecast(session, decision_id, made, foreseen)
    before = await rows()
    await database.close()
    engine = create_engine(parse_url(url))
    async with engine.execution_options(**WITHOUT_KEYS).begin() as connection:
        await connection.run_sync(down)
        await connection.execute(
            text("UPDATE decisions SET record = '{\"candidates\": []}' WHERE id = :id"), {"id": decision_id}
        )
    await engine.dispose()
    database = await Database.open(url)  # upgrades
    after = await rows()
    async with database.read() as session:
        assert await session.scalar(select(func.count()).select_from(ReplyTimeRow)) == 0
        stored = await load_game(session, ARENA, "game0001")
    await database.close()
    assert stored is not None
    assert after[:-1] == [
        {**row, "optimal_expected": pytest.approx(row["optimal_expected"])} for row in before[:-1]
    ]
    assert after[0]["optimal_uniform"] == pytest.approx(1 / 3)
    assert after[-1] == before[-1] | {"optimal_uniform": None, "optimal_expected": None}


async def test_the_tallies_of_the_tenth_schema_go_and_can_come_back(url: str) -> None:
    """Nothing else changes.  An earlier program finds a row for each game, counted by today's rule."""

    def down(connection: Connection, to: str) -> None:
        command.downgrade(migrate._config(connection), to)

    def everything(connection: Connection) -> dict[str, list[tuple[object, ...]]]:
        later = {"alembic_version", "tallies", "game_summaries"}
        names = sorted(set(inspect(connection).get_table_names()) - later)
        read = {name: connection.execute(text(f'SELECT * FROM "{name}"')) for name in names}
        return {name: sorted(map(tuple, rows), key=repr) for name, rows in read.items()}

    trap, bad = decision(quality=200.0), [FELL, FELL_ELSE, OPTIMAL, ERRED, UNANSWERED, None]
    database = await Database.open(url)
    async with database.write() as session:
        plan = NewTrial(name="t1", arms=("standard", "trappy"), configurations={"standard": {}, "trappy": {}})
        trial = await start_trial(session, plan)
        game = await opened(session, trial_id=trial.id)
        for ply, (made, outcome) in enumerate(product([trap, decision()], bad)):
            decision_id = await settled(session, game.id, ply, made, outcome)
            foreseen = forecast(made.chosen, expected_scale_centi(made))
            await store_forecast(session, decision_id, made, foreseen)
            await record_reply_time(session, decision_id, ReplyTime(1.5, TimeSource.SERVER))
        await settled(session, game.id, 20, decision(replies=1), OPTIMAL)  # forced: says nothing
        await commit_decision(session, game.id, 22, decision(complete=False))
        other = await opened(session, "second", opponent_id="bert")
        won = trap.with_chosen(replace(trap.chosen, raw_centi=WIN_CENTI))
        await settled(session, other.id, 0, won, OPTIMAL)  # decided
        await mark_dropped(session, await settled(session, other.id, 2, trap, None))
        early = await settled(session, other.id, 4, trap, FELL)
        early_outcome = await settled(session, other.id, 6, trap, FELL)
        await session.execute(update(DecisionRow).where(DecisionRow.id == early).values(rule=1))
        of_it = OutcomeRow.decision_id == early_outcome
        await session.execute(update(OutcomeRow).where(of_it).values(rule=1))
        await settled(session, other.id, 8, trap, FELL)
        await mark_taken_back(session, other.id, 8)
        await opened(session, "third")
        await record_event(session, ARENA, "takeback", {"ply": 8}, game.id)
    await database.close()

    engine = create_engine(parse_url(url))
    async with engine.execution_options(**WITHOUT_KEYS).begin() as connection:
        await connection.run_sync(down, "0011")
        before = await connection.run_sync(everything)
        await connection.run_sync(down, "0010")
        assert await connection.run_sync(everything) == before
        rows = await connection.execute(text("SELECT * FROM tallies ORDER BY game_id"))
        tallies = [dict(row) for row in rows.mappings()]
    await migrate.upgrade(engine)
    async with engine.execution_options(**WITHOUT_KEYS).begin() as connection:
        assert not await connection.run_sync(lambda sync: inspect(sync).has_table("tallies"))
        await connection.run_sync(down, "0011")
        assert await connection.run_sync(everything) == before
    await engine.dispose()
    assert [len(rows) for name, rows in before.items() if name in ("decisions", "games")] == [19, 3]
    assert all(before[name] for name in ("outcomes", "forecasts", "reply_times", "events", "trials"))
    nothing = dict.fromkeys(list(tallies[0])[1:], 0)
    assert tallies == [
        {
            "game_id": game.id,
            "traps_set": 6,
            "traps_optimal": 1,
            "traps_fell": 2,
            "traps_fell_for_best": 1,
            "traps_erred_elsewhere": 1,
            "traps_unanswered": 1,
            "plain_optimal": 1,
            "plain_erred": 3,
        },
        {"game_id": other.id, **nothing, "traps_set": 1},
        {"game_id": other.id + 1, **nothing},
    ]


async def test_records_of_the_eleventh_schema_are_packed_and_come_back(
    url: str, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In several batches.  What is no record stays what it is, and hides no other."""
    script = import_module("migrations.versions.0012_packed_records")
    monkeypatch.setattr(script, "BATCH", 2)

    def down(connection: Connection) -> None:
        command.downgrade(migrate._config(connection), "0011")

    async def run_down() -> None:
        engine = create_engine(parse_url(url))
        async with engine.execution_options(**WITHOUT_KEYS).begin() as connection:
            await connection.run_sync(down)
        await engine.dispose()

    async def texts() -> list[str]:
        """The records as the eleventh schema has them."""
        engine = create_engine(parse_url(url))
        as_text = "hex(record)" if backend == "sqlite" else "CAST(record AS TEXT)"
        async with engine.connect() as connection:
            rows = await connection.execute(text(f"SELECT {as_text} FROM decisions ORDER BY id"))
            found = [str(row[0]) for row in rows]
        await engine.dispose()
        return found

    made = [decision(quality=225.0), decision(complete=False), decision(), drawn_decision(trap=True)]
    database = await Database.open(url)
    async with database.write() as session:
        game = await opened(session)
        ids = [await commit_decision(session, game.id, ply, each) for ply, each in enumerate(made)]
        foreseen = forecast(made[0].chosen, expected_scale_centi(made[0]))
        await store_forecast(session, ids[0], made[0], foreseen)
        ids += [await commit_decision(session, game.id, ply, decision()) for ply in (4, 5, 6)]
    await database.close()
    await run_down()
    odd = ['{"candidates": 3}', "[1]", "{" if backend == "sqlite" else '"x"']
    engine = create_engine(parse_url(url))
    async with engine.begin() as connection:
        for key, each in zip(ids[4:], odd, strict=True):
            await connection.execute(text(f"UPDATE decisions SET record = '{each}' WHERE id = {key}"))
        if backend == "sqlite":
            broken = f"UPDATE decisions SET record = CAST(x'7bff7d' AS TEXT) WHERE id = {ids[5]}"
            await connection.execute(text(broken))
    await engine.dispose()
    before = await texts()

    database = await Database.open(url)  # upgrades
    columns = (DecisionRow.id, DecisionRow.search_mode, DecisionRow.replies)
    async with database.read() as session:
        rows = (
            await session.execute(select(*columns, as_stored(DecisionRow.record)).order_by(columns[0]))
        ).all()
        assert await forecasts_of_game(session, game.id) == {ids[0]: foreseen}
    assert [Decision.from_record(unpack(row[3])) for row in rows[:4]] == made
    assert [row[3][0] for row in rows] == [COLUMNS, COLUMNS, COLUMNS, COLUMNS, COLUMNS, PLAIN, PLAIN]
    assert [row.search_mode for row in rows] == ["exact"] * 3 + ["trial", "exact", None, None]
    assert [row.replies for row in rows] == [
        None if not each.is_complete else reply_scores(each.chosen) for each in made
    ] + [None] * 3
    assert rows[0].replies[1] == ["d6", -300, -250, 400]
    for row in rows[5:]:
        with pytest.raises(RecordError, match=r"not (a )?JSON"):
            unpack(row[3])
    async with database.write() as session:  # damage that JSON cannot hold
        lost = update(DecisionRow).where(DecisionRow.id == ids[0])
        await session.execute(lost.values(record=type_coerce(b"\x01zz", LargeBinary)))
    await database.close()
    await run_down()
    assert (await texts())[1:] == before[1:]
    database = await Database.open(url)
    async with database.read() as session:
        assert await session.scalar(select(DecisionRow.record).where(DecisionRow.id == ids[0])) == {
            "packed": b64encode(b"\x01zz").decode()
        }
    await database.close()


async def test_games_of_the_twelfth_schema_are_settled_unless_they_are_open(url: str) -> None:
    def down(connection: Connection) -> None:
        command.downgrade(migrate._config(connection), "0013-1")

    database = await Database.open(url)
    async with database.write() as session:
        for key in ("open", "finished", "aborted", "unsettled"):
            game = await opened(session, key)
            if key != "open":
                await finish_game(
                    session,
                    game.id,
                    result=GameResult.WIN,
                    end_reason="normal",
                    aborted=key == "aborted",
                    settled=key != "unsettled",
                )
    await database.close()
    engine = create_engine(parse_url(url))
    async with engine.execution_options(**WITHOUT_KEYS).begin() as connection:
        await connection.run_sync(down)
        columns = await connection.run_sync(lambda sync: inspect(sync).get_columns("games"))
    await engine.dispose()
    assert "is_settled" not in {column["name"] for column in columns}
    database = await Database.open(url)  # upgrades
    async with database.read() as session:
        games = {game.site_game_id: game for game in await list_games(session)}
        unsettled = await list_unsettled_games(session, ARENA)
    await database.close()
    assert {key: game.is_settled for key, game in games.items()} == {
        "open": False,
        "finished": True,
        "aborted": True,
        "unsettled": True,
    }
    assert [game.site_game_id for game in unsettled] == ["open"]


async def test_ends_without_a_reason_get_the_present_word(url: str) -> None:
    database = await Database.open(url)
    async with database.write() as session:
        game = await opened(session)
        await finish_game(session, game.id, result=None, end_reason="untold", aborted=False)
    await database.close()
    engine = create_engine(parse_url(url))
    async with engine.begin() as connection:
        await connection.run_sync(lambda sync: command.downgrade(migrate._config(sync), "0028-1"))
    await engine.dispose()
    database = await Database.open(url)  # upgrades
    async with database.read() as session:
        (found,) = await list_games(session)
    await database.close()
    assert found.end_reason == "unknown"


def test_the_schema_is_one_line_of_numbered_steps() -> None:
    scripts = [script.revision for script in ScriptDirectory(str(SCRIPTS[0].parents[1])).walk_revisions()]
    assert scripts[::-1] == migrate._revisions()
    assert [script.name[:4] for script in SCRIPTS] == [f"{n:04}" for n in range(1, len(SCRIPTS) + 1)]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_migrations_import_nothing_of_ours(script: Path) -> None:
    modules = set()
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module or "")
    others = {re.split(r"\W", module)[0] for module in modules} - sys.stdlib_module_names
    assert others <= {"alembic", "sqlalchemy"}


@pytest.mark.usefixtures("database")
async def test_a_program_that_was_slower_upgrades_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one did between our look at the schema and our turn; more may be waiting for theirs."""

    async def before(_: object) -> None:
        return None

    monkeypatch.setattr(migrate, "current_revision", before)
    monkeypatch.setattr("alembic.command.upgrade", pytest.fail)
    engine = create_engine(parse_url(url))
    await migrate.upgrade(engine)
    await engine.dispose()
