import asyncio
import sqlite3
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]
import pytest

from storage.sql.question import Answer, ask
from storage.sql.views import VIEWS
from tests.storage.sql.conftest import asked

ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"


def error_of(url: str, sql: str) -> str:
    """Of a question that is refused."""
    found = asked(url, sql)
    assert set(found) == {"error"}, (sql, found)
    error = str(found["error"])
    assert len(error.splitlines()) == 1, error
    return error


def test_an_answer(filled: str) -> None:
    found = ask(filled, "select 1 a, 'x' b, 2 a, null b", limit_s=30, most_rows=10)
    assert found == Answer(("a", "b", "a", "b"), ((1, "x", 2, None),), is_cut=False)
    assert found.records() == [{"a": 1, "b": "x", "a_3": 2, "b_4": None}]


def test_no_column_is_lost_whatever_the_names() -> None:
    assert Answer(("a", "a", "a_2"), ((1, 2, 3),), is_cut=False).records() == [{"a": 1, "a_2": 2, "a_2_3": 3}]
    assert Answer(("a", "a_3", "a"), ((1, 2, 3),), is_cut=False).records() == [{"a": 1, "a_3": 2, "a_4": 3}]
    assert Answer(("a_2", "x", "x", "x_3"), ((1, 2, 3, 4),), is_cut=False).records() == [
        {"a_2": 1, "x": 2, "x_3": 3, "x_3_4": 4}
    ]


def test_rows_beyond_the_wanted_are_cut(filled: str) -> None:
    sql = "select game_id from ask_games order by 1"
    for wanted, found, is_cut in ((59, 59, True), (60, 60, False), (61, 60, False)):
        told = asked(filled, sql, most_rows=wanted)
        assert (len(told["rows"]), told["is_cut"]) == (found, is_cut)
        assert told["rows"][0] == [1]


def test_values_are_plain(filled_sqlite: str) -> None:
    assert asked(filled_sqlite, "values (1, null), (2, x'00ff')")["rows"] == [[1, None], [2, "2 bytes"]]
    assert asked(filled_sqlite, "select 9e999, -9e999, 0.5")["rows"] == [["inf", "-inf", 0.5]]
    assert asked(filled_sqlite, "select 1;  ")["rows"] == [[1]]


def test_endless_questions_end(filled_sqlite: str) -> None:
    assert asked(filled_sqlite, ENDLESS, limit_s=0.1) == {
        "error": "the question took longer than 0.1 s; narrow it down"
    }


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        (" \n", "the question is empty"),
        ("selec 1", "syntax error"),
        ("select bait from ask_games", "no such column: bait; use the views ask_games, "),
        ("select 1 from foo", "no such table: foo; use the views ask_games, "),
        ("select 1; select 2", "one statement"),
        ("select 'a\n\nb", "unrecognized token"),
        ("select 1 where 1 = ?", "binding"),
        ("select '\x00'", "null character"),
        ("select '\ud800'", "surrogate"),
        ("-- nothing", "not a question"),
        ("select json_extract('nonsense', '$')", "malformed JSON"),
    ],
)
def test_mistakes(filled_sqlite: str, sql: str, told: str) -> None:
    assert told in error_of(filled_sqlite, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "delete from games",
        "insert into events select * from events",
        "create table t (a)",
        "drop view ask_games",
        "alter table games rename to g",
        "begin immediate",
        "vacuum",
        "vacuum into '{folder}/copy.db'",
        "attach '{folder}/new.db' as other",
        "pragma query_only = off",
        "with x as (select 1) delete from games",
        "select load_extension('x.so')",
    ],
)
def test_sqlite_lets_nobody_write_or_open(filled_sqlite: str, tmp_path: Path, sql: str) -> None:
    path = Path(filled_sqlite.removeprefix("sqlite:///"))
    before = path.read_bytes()
    error_of(filled_sqlite, sql.replace("{folder}", str(tmp_path)))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    assert "unable to open" in error_of(f"sqlite:///{tmp_path}/none.db", "select 1")
    assert list(tmp_path.iterdir()) == []


def test_a_file_whose_name_needs_quoting(tmp_path: Path) -> None:
    path = tmp_path / "50% of it? #1.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table games (id)")
    connection.close()
    assert asked(f"sqlite:///{path}", "select * from games")["rows"] == []


def test_what_is_sorted_stays_in_memory(filled_sqlite: str) -> None:
    """In files, which nothing limits, it would fill the disk."""
    assert asked(filled_sqlite, "select * from pragma_temp_store")["rows"] == [[2]]


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("delete from games", "not a question"),
        ("delete from games returning id", "read-only"),
        ("create table t (a int)", "not a question"),
        ("select nextval('games_id_seq')", "read-only"),
        ("select set_config('transaction_read_only', 'off', true) union all select 'x'", "read-write"),
        ("copy games to '/tmp'", ""),
        ("begin", ""),
        ("select 1; select 2", "multiple commands"),
        ("selec 1", "syntax error"),
        ("select missing from ask_games", "does not exist"),
        ("select $1::int", ""),
        ("select '\x00'", ""),
        ("select '\ud800'", ""),
        ("select 1/0", "division by zero"),
        ("-- nothing", "not a question"),
    ],
)
def test_postgresql_lets_nobody_write(filled_postgresql: str, sql: str, part: str) -> None:
    assert part in error_of(filled_postgresql, sql)
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
        assert "cannot be reached" in error_of(url, "select 1")


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
    for table in ("arena_accounts", "games", "decisions", "events", "opponents", "imported_games"):
        assert "permission denied" in error_of(url, f"select * from {table}")
    for sql in ("select pg_read_file('/etc/passwd')", "select * from pg_authid", "set role postgres"):
        error_of(url, sql)


def test_the_documented_time_series_is_answered(filled_postgresql: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "sql.md").read_text()
    sql = next(part for part in page.split("```") if "$__timeFrom()" in part).removeprefix("sql\n")
    for macro, moment in (("$__timeFrom()", "'2020-01-01'"), ("$__timeTo()", "now()")):
        sql = sql.replace(macro, moment)
    found = asked(filled_postgresql, sql)
    assert found["columns"] == ["time", "metric", "points"]
    assert len(found["rows"]) > 3
