"""Rows that are inserted, replaced or kept in one statement."""

from dataclasses import replace
from typing import Any

from sqlalchemy import select

from engine.judgement import RULE
from storage.database import Database
from storage.decisions import commit_decision
from storage.inserts import insert_new, insert_newer
from storage.outcomes import record_outcome
from storage.tables.games import OpponentRow, OutcomeRow
from storage.tables.types import now_utc
from tests.storage.samples import ERRED, FELL, OPTIMAL, decision, opened


async def test_a_taken_key_changes_nothing(database: Database) -> None:
    values: dict[str, Any] = {"site": "arena", "site_id": "anna", "is_bot": False, "first_seen_at": now_utc()}
    async with database.write() as session:
        first = await insert_new(session, OpponentRow, name="Anna", **values)
        assert await insert_new(session, OpponentRow, name="Another", **values) is None
        second = await insert_new(session, OpponentRow, name="Ben", **{**values, "site_id": "ben"})
        rows = await session.execute(select(OpponentRow.id, OpponentRow.name).order_by(OpponentRow.id))
        assert [tuple(row) for row in rows] == [(first, "Anna"), (second, "Ben")]


async def test_a_later_rule_replaces_a_row_as_a_whole(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        key = await commit_decision(session, game.id, 0, decision(quality=225.0))
        other = await commit_decision(session, game.id, 2, decision(quality=225.0))
        assert await record_outcome(session, key, replace(FELL, rule=RULE - 1))
        assert await record_outcome(session, other, replace(OPTIMAL, rule=RULE - 1))
        for outcome, is_new in ((ERRED, True), (FELL, False), (replace(FELL, rule=RULE - 1), False)):
            assert await record_outcome(session, key, outcome) is is_new
    async with database.read() as session:
        rows = {row.decision_id: row for row in await session.scalars(select(OutcomeRow))}
    found = rows[key]
    kept = (found.kind, found.reply, found.fell_for_best, found.quality, found.cost_centi, found.cost)
    assert (*kept, found.rule) == (
        ERRED.kind, ERRED.reply, False, ERRED.quality, ERRED.cost_centi, ERRED.cost, RULE,
    )  # fmt: skip
    assert (rows[other].kind, rows[other].rule) == (OPTIMAL.kind, RULE - 1)


async def test_the_key_is_told(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        key = await commit_decision(session, game.id, 0, decision(quality=225.0))
        values = {
            "decision_id": key, "kind": FELL.kind, "reply": "d6", "fell_for_best": True, "quality": 1.0,
            "cost_centi": 1, "cost": 1, "at": now_utc(),
        }  # fmt: skip
        assert await insert_newer(session, OutcomeRow, rule=1, **values) == key
        assert await insert_newer(session, OutcomeRow, rule=1, **values) is None
        assert await insert_newer(session, OutcomeRow, rule=2, **values) == key
