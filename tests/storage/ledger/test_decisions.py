from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Text, cast, select

from engine.decision import Candidate, ReplyProfile
from engine.figure_9 import FIGURE_9_RULE, profile_verdict
from storage.database import Database
from storage.errors import DuplicateDecision, StorageError
from storage.inserts import insert_new, insert_newer
from storage.ledger.decisions import (
    get_decision,
    list_decisions,
    list_seeds,
    mark_confirmed,
    mark_dropped,
    mark_sent,
    mark_taken_back,
    reply_scores,
    store_profile,
)
from storage.ledger.outcomes import record_outcome
from storage.records import DecisionState
from storage.tables.games import DecisionRow, OpponentRow, OutcomeRow
from storage.tables.types import now_utc
from tests.storage.samples import (
    DRAWN_AT,
    ERRED,
    FELL,
    OPTIMAL,
    commit_decision,
    decision,
    drawn_decision,
    opened,
)


async def test_a_decision_comes_back_as_it_went_in(database: Database) -> None:
    made = decision(quality=225.0)
    async with database.write() as session:
        game = await opened(session)
        decision_id = await commit_decision(session, game.id, 4, made)
    async with database.read() as session:
        stored = await get_decision(session, game.id, 4)
        assert await get_decision(session, game.id, 3) is None
    assert stored is not None
    assert stored.decision == made
    assert (stored.id, stored.ply, stored.state) == (decision_id, 4, DecisionState.COMMITTED)
    assert (stored.is_complete, stored.is_trap, stored.outcome) == (True, True, None)
    assert (stored.sent_at, stored.confirmed_at) == (None, None)


async def test_the_columns_for_queries(database: Database) -> None:
    """The replies come with the profile: after two plies, after one less than all, and after all."""
    made = decision(quality=225.0)
    async with database.write() as session:
        game = await opened(session)
        key = await commit_decision(session, game.id, 4, decision(quality=225.0, complete=False))
        statement = select(
            DecisionRow.search_mode, DecisionRow.replies, cast(DecisionRow.replies, Text).label("text")
        )
        assert (await session.execute(statement)).one() == ("exact", None, None)
        await store_profile(session, key, made, profile_verdict(made))
        mode, replies, as_text = (await session.execute(statement)).one()
    assert (mode, replies) == ("exact", [["f6", 50, 60, 100], ["d6", -300, -250, 400], ["f4", 0, 50, 200]])
    assert as_text == '[["f6",50,60,100],["d6",-300,-250,400],["f4",0,50,200]]'


def test_scores_at_depth_two_are_all_the_same() -> None:
    candidate = Candidate("f5", 7, False, 7.0, replies=(ReplyProfile("f6", (7,)),), complete=True)
    assert reply_scores(candidate) == [["f6", 7, 7, 7]]
    deep = ReplyProfile("f6", (1, 2, 3, 4))
    assert reply_scores(replace(candidate, replies=(deep,))) == [["f6", 1, 3, 4]]


async def test_one_decision_for_a_ply(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await commit_decision(session, game.id, 0, decision())
    async with database.write() as session:
        with pytest.raises(DuplicateDecision, match="already has a decision at ply 0"):
            await commit_decision(session, game.id, 0, decision(quality=300))
        await commit_decision(session, game.id, 2, decision())  # the transaction is still good
    async with database.read() as session:
        assert [d.decision for d in await list_decisions(session, game.id)] == [decision(), decision()]


async def test_the_seeds_of_a_game_by_ply_and_position(database: Database) -> None:
    """The first of several, taken back or not."""
    trap, sound = drawn_decision(trap=True), drawn_decision(trap=False)
    async with database.write() as session:
        game, other = await opened(session), await opened(session, "other")
        await commit_decision(session, game.id, 2, trap)
        await mark_taken_back(session, game.id, 2)
        await commit_decision(session, game.id, 2, sound)
        await commit_decision(session, game.id, 4, sound)
        await commit_decision(session, game.id, 6, decision())
        await commit_decision(session, other.id, 10, sound)
        found = await list_seeds(session, game.id)
    assert found == {(2, DRAWN_AT): 0, (4, DRAWN_AT): (1 << 64) - 1}


async def test_no_decision_without_a_game(database: Database) -> None:
    with pytest.raises(StorageError, match=r"(?i)foreign key"):
        async with database.write() as session:
            await commit_decision(session, 12345, 0, decision())


async def test_marks_move_forward_and_never_back(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        decision_id = await commit_decision(session, game.id, 0, decision())
        await mark_sent(session, decision_id)
        sent = await get_decision(session, game.id, 0)
        await mark_sent(session, decision_id)
        assert await get_decision(session, game.id, 0) == sent
        await mark_confirmed(session, decision_id)
        confirmed = await get_decision(session, game.id, 0)
        await mark_confirmed(session, decision_id)
        await mark_sent(session, decision_id)
        await mark_dropped(session, decision_id)
        assert await get_decision(session, game.id, 0) == confirmed
    assert sent is not None
    assert confirmed is not None
    assert sent.state is DecisionState.SENT
    assert sent.sent_at is not None
    assert confirmed.state is DecisionState.CONFIRMED
    assert confirmed.confirmed_at is not None


async def test_the_server_showing_the_move_mends_a_lost_answer(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        decision_id = await commit_decision(session, game.id, 0, decision())
        await mark_confirmed(session, decision_id)  # never marked as sent
        stored = await get_decision(session, game.id, 0)
    assert stored is not None
    assert stored.state is DecisionState.CONFIRMED


async def test_the_profile_comes_later(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        decision_id = await commit_decision(session, game.id, 0, decision(complete=False))
        early = await get_decision(session, game.id, 0)
    async with database.write() as session:
        whole = decision(quality=99.0)
        await store_profile(session, decision_id, whole, profile_verdict(whole))
        late = await get_decision(session, game.id, 0)
    assert early is not None
    assert late is not None
    assert (early.is_complete, early.is_trap) == (False, None)
    assert (late.is_complete, late.is_trap) == (True, False)
    assert late.decision == decision(quality=99.0)


async def test_a_profile_has_to_be_of_this_move(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        decision_id = await commit_decision(session, game.id, 0, decision(complete=False))
        with pytest.raises(ValueError, match="did not choose f5"):
            await store_profile(session, decision_id + 1, decision(), profile_verdict(decision()))


async def test_an_outcome_is_recorded_once(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        decision_id = await commit_decision(session, game.id, 0, decision(quality=225.0))
        assert await record_outcome(session, decision_id, FELL)
    async with database.write() as session:
        assert not await record_outcome(session, decision_id, ERRED)
        stored = await get_decision(session, game.id, 0)
    assert stored is not None
    assert stored.outcome == FELL


async def test_moves_that_are_taken_back_make_room_for_others(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        other = await opened(session, "other")
        await commit_decision(session, other.id, 4, decision())
        for turn in range(3):
            for ply in (0, 2, 4):
                if ply or not turn:
                    await commit_decision(session, game.id, ply, decision(quality=200.0 + turn))
            await mark_taken_back(session, game.id, 2)
        await commit_decision(session, game.id, 2, decision(quality=300.0))
    async with database.read() as session:
        standing = await list_decisions(session, game.id)
        assert len(await list_decisions(session, other.id)) == 1
        assert await get_decision(session, game.id, 4) is None
    assert [(d.ply, d.decision.chosen.quality_centi) for d in standing] == [(0, 200.0), (2, 300.0)]


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
        assert await record_outcome(session, key, replace(FELL, rule=FIGURE_9_RULE - 1))
        assert await record_outcome(session, other, replace(OPTIMAL, rule=FIGURE_9_RULE - 1))
        for outcome, is_new in ((ERRED, True), (FELL, False), (replace(FELL, rule=FIGURE_9_RULE - 1), False)):
            assert await record_outcome(session, key, outcome) is is_new
    async with database.read() as session:
        rows = {row.decision_id: row for row in await session.scalars(select(OutcomeRow))}
    found = rows[key]
    kept = (found.kind, found.reply, found.fell_for_best, found.quality, found.cost_centi, found.cost)
    assert (*kept, found.rule) == (
        ERRED.kind, ERRED.reply, False, ERRED.quality, ERRED.cost_centi, ERRED.cost, FIGURE_9_RULE,
    )  # fmt: skip
    assert (rows[other].kind, rows[other].rule) == (OPTIMAL.kind, FIGURE_9_RULE - 1)


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
