import asyncio
import shutil
import sqlite3
from datetime import datetime
from math import isclose
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest

from storage.sql.views import VIEWS
from tests.storage.sql.conftest import asked
from tests.storage.sql.counted import COUNTED
from tests.storage.sql.sample_games import Sample
from tests.storage.sql.sql_page import example_questions

_KEYS = {
    "ask_games": ("game_id",),
    "ask_replies": ("decision_id", "reply"),
    "ask_opponents": ("opponent_id",),
    "ask_events": ("event_id",),
}
"""What tells a view's rows apart; elsewhere the decision."""


def _are_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-12)
    kinds = [str if isinstance(each, str) else type(each) for each in (one, other)]
    return kinds[0] is kinds[1] and bool(one == other)


@pytest.mark.parametrize("name", VIEWS)
def test_columns_are_the_documented_ones(filled: str, name: str) -> None:
    found = asked(filled, f"select * from {name}", most_rows=1)
    assert found["columns"] == list(VIEWS[name].columns)
    assert found["is_cut"]


@pytest.mark.parametrize("name", VIEWS)
def test_numbers_are_those_of_the_games(filled: str, name: str, sample: Sample) -> None:
    columns = list(VIEWS[name].columns)
    found = [dict(zip(columns, row, strict=True)) for row in asked(filled, f"select * from {name}")["rows"]]
    counted = COUNTED[name](sample)
    for rows in (found, counted):
        rows.sort(key=lambda row: [row[key] for key in _KEYS.get(name, ("decision_id",))])
    assert len(found) == len(counted)
    unequal = [
        (column, one[column], other[column])
        for one, other in zip(counted, found, strict=True)
        for column in columns
        if not _are_same(one[column], other[column])
    ]
    assert unequal == []
    assert {column for row in found for column in columns if row[column]} == set(columns), "none is empty"


def test_moments_are_in_utc(filled: str) -> None:
    """On PostgreSQL the connection's own zone is another one."""
    rows = asked(filled, "select started_at, day, week, month, hour from ask_games where game_id = 1")["rows"]
    assert rows == [["2025-08-31 23:59:59", "2025-08-31", "2025-08-25", "2025-08", 23]]
    rows = asked(filled, "select started_at, day, week, month, hour from ask_games where game_id = 2")["rows"]
    assert rows == [["2025-09-01 00:00:00", "2025-09-01", "2025-09-01", "2025-09", 0]]
    assert datetime.fromisoformat(rows[0][1]).weekday() == 0


DAMAGE = (
    "",
    "nonsense",
    "[",
    "5",
    '"text"',
    "[5]",
    '["text"]',
    "[[]]",
    "{}",
    '{"chances": 5}',
    "null",
    "[null]",
)


@pytest.mark.parametrize("damage", [*DAMAGE, b"\xff\xfe"])
def test_damaged_json_hides_nothing_else(filled_sqlite: str, tmp_path: Path, damage: object) -> None:
    path = tmp_path / "damaged.db"
    shutil.copy(filled_sqlite.removeprefix("sqlite:///"), path)
    whole = {name: len(asked(filled_sqlite, f"select * from {name}")["rows"]) for name in VIEWS}
    with sqlite3.connect(path) as connection:
        mine = connection.execute(
            "select decision_id, game_id, count(*) from ask_replies where decision_id ="
            " (select min(decision_id) from ask_replies) group by 1, 2"
        ).fetchone()
        connection.execute("pragma ignore_check_constraints = on")
        connection.execute("update games set selection = ? where id = ?", (damage, mine[1]))
        connection.execute("update decisions set replies = ? where id = ?", (damage, mine[0]))
        connection.execute("update events set detail = ? where id = 1", (damage,))
    connection.close()
    for name in VIEWS:
        found = asked(f"sqlite:///{path}", f"select * from {name}")
        assert "error" not in found, (name, found)
        if name != "ask_replies":
            assert len(found["rows"]) == whole[name]
            continue
        keys = [row[0] for row in found["rows"]]
        assert len(keys) - keys.count(mine[0]) == whole[name] - mine[2], "the others' replies"


SOME_REPLIES = (
    "select * from ask_replies where game_id = 7",
    "select * from ask_replies where decision_id = 7",
    "select * from ask_replies where game_id = (select max(game_id) from ask_games)",
    "select r.* from ask_games g join ask_replies r on r.game_id = g.game_id where g.game_id = 7",
    example_questions()["Which replies in the latest game looked best at first but were worse?"],
)


@pytest.mark.parametrize("sql", SOME_REPLIES)
def test_a_question_about_one_game_reads_no_others_replies(filled: str, sql: str) -> None:
    """Decisions are looked up by a key, by the database's plan."""
    if filled.startswith("sqlite"):
        with sqlite3.connect(filled.removeprefix("sqlite:///")) as connection:
            plan = [row[3] for row in connection.execute(f"explain query plan {sql}")]
        connection.close()
        assert [line for line in plan if line.startswith("SEARCH d USING")], plan
        assert not [line for line in plan if line.startswith("SCAN d")], plan
        return
    plan = asyncio.run(_postgresql_plan(filled, sql))
    # A whole index is read where a row is wanted, whatever it says.
    at = [number for number, line in enumerate(plan) if " on decisions d" in line]
    assert [plan[number].strip(" ->").partition(" ")[0] for number in at] in (["Index"], ["Bitmap"]), plan
    assert "Index Cond:" in plan[at[0] + 1] or "Recheck Cond:" in plan[at[0] + 1], plan


async def _postgresql_plan(url: str, sql: str) -> list[str]:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("set enable_seqscan = off")  # the tables are small
        return [row[0] for row in await connection.fetch(f"explain (costs off) {sql}")]
    finally:
        await connection.close()
