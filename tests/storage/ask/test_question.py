import asyncio
import sqlite3
import sys
from typing import Any

import pytest

from storage.ask import question, reader
from storage.ask.question import MOST_CHARACTERS, Answer, BadQuestion, ask
from tests.patience import PATIENCE_S

ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"


async def test_an_answer_comes_from_a_child(filled: str) -> None:
    found = await ask(filled, "select 1 a, 'x' b, 2 a, null b", limit_s=PATIENCE_S, most_rows=10)
    assert found == Answer(("a", "b", "a", "b"), ((1, "x", 2, None),), is_cut=False)
    assert found.records() == [{"a": 1, "b": "x", "a_3": 2, "b_4": None}]
    cut = await ask(filled, "select game_id from ask_games order by 1", limit_s=PATIENCE_S, most_rows=2)
    assert (cut.rows, cut.is_cut) == (((1,), (2,)), True)


def test_no_column_is_lost_whatever_the_names() -> None:
    assert Answer(("a", "a", "a_2"), ((1, 2, 3),), is_cut=False).records() == [{"a": 1, "a_2": 2, "a_2_3": 3}]
    assert Answer(("a", "a_3", "a"), ((1, 2, 3),), is_cut=False).records() == [{"a": 1, "a_3": 2, "a_4": 3}]
    assert Answer(("a_2", "x", "x", "x_3"), ((1, 2, 3, 4),), is_cut=False).records() == [
        {"a_2": 1, "x": 2, "x_3": 3, "x_3_4": 4}
    ]


async def test_endless_questions_are_killed(filled_sqlite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[asyncio.subprocess.Process] = []
    make = asyncio.create_subprocess_exec

    is_asked = asyncio.Event()

    async def noted(*arguments: Any, **options: Any) -> asyncio.subprocess.Process:
        started.append(await make(*arguments, **options))
        is_asked.set()
        return started[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)
    monkeypatch.setattr(question, "_GRACE_S", 0.0)
    with pytest.raises(BadQuestion, match=r"takes longer than 0\.5 s; narrow it"):
        await ask(filled_sqlite, ENDLESS, limit_s=0.5, most_rows=10)
    assert [each.returncode for each in started] == [-9]
    is_asked.clear()
    asking = asyncio.create_task(ask(filled_sqlite, ENDLESS, limit_s=PATIENCE_S, most_rows=10))
    await is_asked.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert started[1].returncode == -9, "a question that nobody waits for ends, too"


async def test_a_child_whose_caller_has_died_ends(filled_sqlite: str) -> None:
    """Nobody kills it here: its processor time is limited."""
    program = (
        "import json, sys, io; from storage.ask import reader;"
        f"sys.stdin = io.StringIO(json.dumps({{'url': {filled_sqlite!r}, 'sql': {ENDLESS!r},"
        " 'limit_s': -1, 'most_rows': 1})); reader.main()"
    )
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    assert await child.wait() < 0


async def test_one_call_cannot_fill_the_memory(filled_sqlite: str) -> None:
    """SQLite looks at no time limit within one call of a function."""
    sql = "select length(printf('%.*c', 60000000, 'x'))"
    found = await ask(filled_sqlite, sql, limit_s=PATIENCE_S, most_rows=1)
    assert (found.rows[0][0] or 0) <= 50_000_000
    sql = "select length(replace(hex(zeroblob(9999999)), '0', 'wide')) from ask_games"
    with pytest.raises(BadQuestion, match="too big"):
        await ask(filled_sqlite, sql, limit_s=PATIENCE_S, most_rows=1)


async def test_memory_is_limited(filled_sqlite: str) -> None:
    sql = "select count(*) from (select hex(zeroblob(20000000)) || game_id x from ask_games order by x)"
    with pytest.raises(BadQuestion, match="memory"):
        await ask(filled_sqlite, sql, limit_s=PATIENCE_S, most_rows=10)


async def test_a_dead_child_is_told(filled_sqlite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(BadQuestion, match="memory"):
        await ask(filled_sqlite, "select 1", limit_s=PATIENCE_S, most_rows=10)


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        (" \n", "the question is empty"),
        ("select '" + "x" * MOST_CHARACTERS + "'", "the question is longer than 20,000 characters"),
        ("selec 1", "syntax error"),
        ("select bait from ask_games", "no such column: bait; ask the views ask_games, "),
        ("select 1 from foo", "no such table: foo; ask the views ask_games, "),
    ],
)
async def test_mistakes(filled_sqlite: str, sql: str, told: str) -> None:
    with pytest.raises(BadQuestion, match=told):
        await ask(filled_sqlite, sql, limit_s=PATIENCE_S, most_rows=10)


def test_what_is_sorted_stays_in_memory(filled_sqlite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In files, which nothing limits, it would fill the disk."""

    class Unclosed(sqlite3.Connection):
        def close(self) -> None:
            made.append(self)

    made: list[Unclosed] = []
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *given, **options: connect(*given, factory=Unclosed, **options)
    )
    request = {"url": filled_sqlite, "sql": "select 1", "limit_s": 30, "most_rows": 1}
    assert reader.answer(request) == {"columns": ["1"], "rows": [[1]], "is_cut": False}
    [connection] = made
    connection.set_authorizer(None)
    assert connection.execute("PRAGMA temp_store").fetchone() == (2,)
    sqlite3.Connection.close(connection)
