import asyncio
import sqlite3
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]
import pytest

from storage.ask.reader import LONGEST_CELL, LONGEST_ERROR
from storage.ask.views import VIEWS
from storage.tables.arena import ArenaAccount
from tests.storage.ask.conftest import asked

TOKENS = ArenaAccount.__tablename__


def _is_refused(url: str, sql: str) -> str:
    found = asked(url, sql)
    assert set(found) == {"error"}, (sql, found)
    error = str(found["error"])
    assert error
    assert len(error.splitlines()) == 1, error
    assert len(error) <= LONGEST_ERROR
    return error


WRITING = (
    "delete from games",
    "update games set player = 'x'",
    "insert into events select * from events",
    "create table t (a)",
    "create temp table t (a)",
    "create view v as select 1",
    "create temp view ask_more as select * from games",
    "drop view ask_games",
    "drop table games",
    "alter table games rename to g",
    "begin",
    "begin immediate",
    "commit",
    "savepoint s",
    "vacuum",
    "vacuum into '{folder}/copy.db'",
    "analyze",
    "reindex",
    "attach ':memory:' as other",
    "attach '{folder}/new.db' as other",
    "detach main",
    "pragma query_only = off",
    "pragma journal_mode = delete",
    "pragma table_info(games)",
    "pragma writable_schema = on",
    "with x as (select 1) delete from games",
    "replace into events select * from events",
    "select load_extension('x.so')",
    "select fts3_tokenizer('simple')",
    "create virtual table v using fts5(a)",
    "explain delete from games",
)


@pytest.mark.parametrize("sql", WRITING)
def test_sqlite_lets_nobody_write_or_open(filled_sqlite: str, tmp_path: Path, sql: str) -> None:
    path = Path(filled_sqlite.removeprefix("sqlite:///"))
    before = path.read_bytes()
    _is_refused(filled_sqlite, sql.replace("{folder}", str(tmp_path)))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


OTHER_TABLES = (
    f"select * from {TOKENS}",
    f"select token_hash from {TOKENS}",
    f"select count(*) from {TOKENS}",
    f"select 1 from {TOKENS}",
    f"select 1 where exists (select * from {TOKENS})",
    f"select (select count(*) from {TOKENS})",
    f"with ask_games as (select * from {TOKENS}) select * from ask_games",
    f"with games as (select * from {TOKENS}) select * from games",
    f"with json_each as (select * from {TOKENS}) select * from json_each",
    f"with recursive ask_games(a) as (select id from {TOKENS} union all select a + 1 from ask_games limit 3)"
    " select a from ask_games",
    f"select * from ask_games union all select {TOKENS}.*, 1 from {TOKENS}",
    f"select ask_games.* from ask_games, {TOKENS} ask_games",
    f"select ask_games.id from {TOKENS} as ask_games",
    f"select * from main.{TOKENS}",
    f'select * from "{TOKENS.upper()}"',
    f"explain select * from {TOKENS}",
    "select * from sqlite_master",
    "select sql from sqlite_schema",
    "select * from sqlite_temp_master",
    "select * from sqlite_sequence",
    "select * from alembic_version",
    "select * from imported_games",
    "select * from pragma_table_list",
    f"select * from pragma_table_info('{TOKENS}')",
    "select * from pragma_database_list",
    "select * from dbstat",
    "select * from sqlite_dbpage",
    "select * from json_tree('[1]')",
    "select count(*) from sqlite_master",
    "select count(*) from pragma_table_list",
    "select count(*) from dbstat",
    "select count(*) from json_tree('[1]')",
    f"select count(*) from {TOKENS.upper()} ask_games",
    f"with n as (select count(*) from {TOKENS}) select 1 from n",
    f"with n as materialized (select 1 from {TOKENS}) select count(*) from n",
    "table games",
)


@pytest.mark.parametrize("sql", OTHER_TABLES)
def test_sqlite_reads_no_other_table(filled_sqlite: str, sql: str) -> None:
    _is_refused(filled_sqlite, sql)


def test_a_refusal_names_the_views(filled_sqlite: str) -> None:
    told = _is_refused(filled_sqlite, f"select * from {TOKENS}")
    assert told.startswith("only the views can be read: ask_games, ")
    assert TOKENS in told
    assert all(name in told for name in VIEWS)


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("selec 1", "syntax error"),
        ("select 1; select 2", "one statement"),
        ("select 'a\n\nb", "unrecognized token"),
        ("select missing from ask_games", "no such column"),
        ("select 1 where 1 = ?", "binding"),
        ("select '\x00'", "null character"),
        ("select '\ud800'", "surrogate"),
        ("-- nothing", "no question"),
        ("select json_extract('nonsense', '$')", "malformed JSON"),
        ("select zeroblob(60000000)", "too big"),
        ("select hex(zeroblob(20000000)), hex(zeroblob(20000000)), hex(zeroblob(20000000)), "
         "hex(zeroblob(20000000)), hex(zeroblob(20000000))", ""),
        ("select " + "x" * 2000 + " from ask_games", "no such column"),
    ],
)  # fmt: skip
def test_sqlite_mistakes_are_one_line(filled_sqlite: str, sql: str, part: str) -> None:
    if not part:
        assert asked(filled_sqlite, sql)["rows"] == [["00" * (LONGEST_CELL // 2) + "..."] * 5]
        return
    assert part in _is_refused(filled_sqlite, sql)


def test_what_a_question_may_use(filled_sqlite: str) -> None:
    """Views, their tables, functions, windows, and parts of its own, of which it may only count the rows."""
    sql = (
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 5),"
        " mine as (select game_id, row_number() over (order by game_id) place from ask_games)"
        " select i, upper('a'), power(2, i), (select place from mine where place = i) place from n"
    )
    assert asked(filled_sqlite, sql)["rows"][4] == [5, "A", 32.0, 5]
    assert asked(filled_sqlite, "values (1, null), (2, x'00ff')")["rows"] == [[1, None], [2, "2 bytes"]]
    assert asked(filled_sqlite, "select 9e999, -9e999, 0.5")["rows"] == [["inf", "-inf", 0.5]]
    assert asked(filled_sqlite, "select count(*) from games")["rows"] == [[60]]
    assert asked(filled_sqlite, "select 1;  ")["rows"] == [[1]]
    for part in ("(select distinct site from ask_games) some", "ask_opponents some join ask_opponents"):
        assert asked(filled_sqlite, f"select count(*) > 1, 'x' from {part}")["rows"] == [[1, "x"]]
    sql = "with some as (select distinct site from ask_games limit 2) select 'x' from some"
    assert asked(filled_sqlite, sql)["rows"] == [["x"], ["x"]]


def test_rows_beyond_the_wanted_are_cut(filled: str) -> None:
    sql = "select game_id from ask_games order by 1"
    for wanted, found, is_cut in ((59, 59, True), (60, 60, False), (61, 60, False)):
        told = asked(filled, sql, most_rows=wanted)
        assert (len(told["rows"]), told["is_cut"]) == (found, is_cut)
        assert told["rows"][0] == [1]


def test_an_endless_answer_is_refused(filled_sqlite: str) -> None:
    sql = "with recursive n(i) as (select 1 union all select i + 1 from n) select hex(zeroblob(50000)) from n"
    assert "the answer is longer than 20,000,000 characters" in _is_refused(filled_sqlite, sql)


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    assert "unable to open" in _is_refused(f"sqlite:///{tmp_path}/none.db", "select 1")
    assert list(tmp_path.iterdir()) == []


def test_a_file_whose_name_needs_quoting(tmp_path: Path) -> None:
    path = tmp_path / "50% of it? #1.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table games (id)")
    connection.close()
    assert asked(f"sqlite:///{path}", "select * from games")["rows"] == []


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("delete from games", "no question"),
        ("delete from games returning id", "read-only"),
        ("with x as (delete from games returning id) select * from x", ""),
        ("create table t (a int)", "no question"),
        ("select nextval('games_id_seq')", "read-only"),
        ("select set_config('transaction_read_only', 'off', true) union all select 'x'", "read-write"),
        ("copy games to '/tmp'", ""),
        ("set transaction read write", ""),
        ("begin", ""),
        ("commit", ""),
        ("rollback", ""),
        ("select 1; select 2", "multiple commands"),
        ("selec 1", "syntax error"),
        ("select missing from ask_games", "does not exist"),
        ("select $1::int", ""),
        ("select '\x00'", ""),
        ("select '\ud800'", ""),
        ("select 1/0", "division by zero"),
        ("-- nothing", "no question"),
        ("", "no question"),
    ],
)
def test_postgresql_lets_nobody_write(filled_postgresql: str, sql: str, part: str) -> None:
    assert part in _is_refused(filled_postgresql, sql)
    assert asked(filled_postgresql, "select count(*) from games")["rows"] == [[60]]


def test_what_a_function_writes_on_postgresql_is_undone(filled_postgresql: str) -> None:
    """PostgreSQL 15 lets large objects be made in a transaction that only reads."""
    asked(filled_postgresql, "select lo_create(4711)")
    found = asked(filled_postgresql, "select count(*) from pg_largeobject_metadata where oid = 4711")
    assert found["rows"] == [[0]]


def test_postgresql_stops_a_slow_question(filled_postgresql: str) -> None:
    found = asked(filled_postgresql, "select pg_sleep(60)", limit_s=0.2)
    assert "statement timeout" in found["error"]


def test_postgresql_that_is_not_there(tmp_path: Path) -> None:
    for url in (f"postgresql://postgres@/x?host={tmp_path}", "postgresql://postgres@/x?sslmode=odd"):
        assert "cannot be reached" in _is_refused(url, "select 1")


READER_SQL = """
create role asking login password 'a long one';
grant usage on schema public to asking;
grant select on ask_games, ask_decisions, ask_outcomes, ask_baits, ask_replies, ask_opponents, ask_events
  to asking;
"""
"""As docs/sql.md has it."""


def test_the_documented_login_reads_the_views_only(filled_postgresql: str) -> None:
    async def make() -> None:
        connection = await asyncpg.connect(filled_postgresql)
        await connection.execute(READER_SQL)
        await connection.close()

    assert READER_SQL.strip() in (Path(__file__).parents[3] / "docs" / "sql.md").read_text()
    asyncio.run(make())
    url = filled_postgresql.replace("postgres@", "asking@")
    for name in VIEWS:
        assert "error" not in asked(url, f"select * from {name}", most_rows=3), name
    for table in (TOKENS, "games", "decisions", "events", "opponents", "imported_games"):
        for sql in (f"select * from {table}", f"select count(*) from {table}"):
            assert "permission denied" in _is_refused(url, sql)
    trick = f"with ask_games as (select * from {TOKENS}) select * from ask_games"
    assert "permission denied" in _is_refused(url, trick)
    for sql in ("select pg_read_file('/etc/passwd')", "select * from pg_authid", "set role postgres"):
        _is_refused(url, sql)


def test_the_documented_time_series_is_answered(filled_postgresql: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "sql.md").read_text()
    sql = next(part for part in page.split("```") if "$__timeFrom()" in part).removeprefix("sql\n")
    for macro, moment in (("$__timeFrom()", "'2020-01-01'"), ("$__timeTo()", "now()")):
        sql = sql.replace(macro, moment)
    found = asked(filled_postgresql, sql)
    assert found["columns"] == ["time", "metric", "points"]
    assert len(found["rows"]) > 3
