"""A game's ledger: what it reads from the database, and what it need not read."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from bot.base.events import EndReason, GameEnd
from bot.game.assignment import Assignment
from bot.game.ledger import GameLedger
from engine.bait_rule import forecast
from engine.decision import Decision
from engine.figure_9 import expected_scale_centi
from engine.params import TrapParams
from storage.database import Database, Role
from storage.errors import StorageError
from storage.ledger.decisions import get_decision, mark_sent
from storage.ledger.forecasts import get_forecast
from storage.ledger.outcomes import record_outcome
from storage.records import DecisionState, ReplyTime, StoredDecision, TimeSource
from tests.bot.fakes import GAME_ID, FakeServer
from tests.storage.samples import ARENA, ERRED, decision, store_forecast

CHOSEN, WHOLE = decision(quality=225.0, complete=False), decision(quality=225.0)
FORECAST = forecast(WHOLE.chosen, expected_scale_centi(WHOLE))
TOOK = {1: ReplyTime(1.5, TimeSource.SERVER)}


class Counted:
    """A database that counts transactions and can fail at a commit."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.reads = self.writes = 0
        self.fails: str = ""
        """``before``: the next commit fails; ``after``: its answer is lost."""

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Any]:
        self.reads += 1
        async with self._database.read() as session:
            yield session

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Any]:
        self.writes += 1
        fails, self.fails = self.fails, ""
        async with self._database.write() as session:
            yield session
            if fails == "before":
                raise StorageError("the disk is full")
        if fails == "after":
            raise StorageError("the connection was lost")


async def begun(database: Any) -> GameLedger:
    """The ledger of a game in which we move first."""
    ledger = GameLedger(database, ARENA, Role(""), GAME_ID)
    await ledger.open(FakeServer("othello").snapshot, lambda _: Assignment("trappy", {}), TrapParams())
    await ledger.record_moves((), 0)
    return ledger


async def stored_at(database: Database, ledger: GameLedger, ply: int) -> StoredDecision | None:
    async with database.read() as session:
        return await get_decision(session, ledger.game.id, ply)


async def committed(ledger: GameLedger, made: Decision = CHOSEN) -> StoredDecision:
    stored = await ledger.commit_decision((), made)
    assert stored is not None
    return stored


async def test_what_is_remembered_is_what_is_stored(database: Database) -> None:
    counted = Counted(database)
    ledger = await begun(counted)
    assert await ledger.find_committed_decision(0, CHOSEN.position) is None
    stored = await committed(ledger)
    assert stored == await stored_at(database, ledger, 0)
    steps = (
        lambda: ledger.mark_sent(stored),
        lambda: ledger.mark_sent(stored),
        lambda: ledger.record_moves(("f5",), 0),
        lambda: ledger.store_profile(stored, WHOLE),
        lambda: ledger.store_forecast(stored, WHOLE, FORECAST),
        lambda: ledger.record_moves(("f5", "d6"), 1, times=TOOK),
        lambda: ledger.record_moves(("f5", "d6"), 1),
    )
    for step in steps:
        await step()
        assert await ledger.find_committed_decision(0, CHOSEN.position) == await stored_at(
            database, ledger, 0
        )
    assert counted.reads == 0
    last = await stored_at(database, ledger, 0)
    assert last is not None
    assert (last.state, last.decision, last.is_trap) == (DecisionState.CONFIRMED, WHOLE, True)
    assert last.outcome is not None
    async with database.read() as session:
        noted = await session.execute(text("SELECT is_taken, reply_odds FROM forecasts"))
        assert noted.one() == (FORECAST.takes_bait("d6"), pytest.approx(FORECAST.probability_of("d6")))


async def test_a_forecast_that_comes_after_the_outcome(database: Database) -> None:
    ledger = await begun(database)
    stored = await committed(ledger, WHOLE)
    await ledger.record_moves(("f5", "d6"), 0)
    await ledger.store_forecast(stored, WHOLE, FORECAST)
    async with database.read() as session:
        assert await get_forecast(session, stored.id) == FORECAST
        assert await session.scalar(text("SELECT reply_odds FROM forecasts")) == FORECAST.probability_of("d6")


@pytest.mark.parametrize("fails", ["before", "after"])
async def test_after_a_failure_nothing_is_taken_for_stored(database: Database, fails: str) -> None:
    counted = Counted(database)
    ledger = await begun(counted)
    counted.fails = fails
    with pytest.raises(StorageError):
        await ledger.commit_decision((), CHOSEN)
    found = await ledger.find_committed_decision(0, CHOSEN.position)
    assert counted.reads == 1
    assert found == await stored_at(database, ledger, 0)
    assert (found is None) is (fails == "before")


async def test_a_change_that_was_rolled_back_is_not_remembered(database: Database) -> None:
    counted = Counted(database)
    ledger = await begun(counted)
    stored = await committed(ledger)
    counted.fails = "before"
    with pytest.raises(StorageError):
        await ledger.mark_sent(stored)
    found = await ledger.find_committed_decision(0, CHOSEN.position)
    assert found is not None
    assert found.state is DecisionState.COMMITTED


async def test_a_decision_under_way_is_not_found_before_it_is_committed(database: Database) -> None:
    """Its move would be sent too early."""
    found: list[StoredDecision | None] = []

    class Slow(Counted):
        @asynccontextmanager
        async def write(self) -> AsyncIterator[Any]:
            async with self._database.write() as session:
                yield session
                found.append(await ledger.find_committed_decision(0, CHOSEN.position))

    ledger = await begun(database)
    ledger._database = Slow(database)  # type: ignore[assignment]
    await committed(ledger)
    assert found == [None]
    assert await ledger.find_committed_decision(0, CHOSEN.position) is not None


async def test_a_cancelled_commit_is_looked_up(database: Database) -> None:
    class Cancelled(Counted):
        @asynccontextmanager
        async def write(self) -> AsyncIterator[Any]:
            async with self._database.write() as session:
                yield session
            raise asyncio.CancelledError

    ledger = await begun(database)
    ledger._database = Cancelled(database)  # type: ignore[assignment]
    with pytest.raises(asyncio.CancelledError):
        await ledger.commit_decision((), CHOSEN)
    ledger._database = counted = Counted(database)  # type: ignore[assignment]
    assert await ledger.find_committed_decision(0, CHOSEN.position) is not None
    assert counted.reads == 1


async def test_a_ply_taken_back_has_no_decision(database: Database) -> None:
    counted = Counted(database)
    ledger = await begun(counted)
    first = await committed(ledger)
    await ledger.record_moves(("f5",), 0)
    await ledger.take_back(0)
    assert await ledger.find_committed_decision(0, CHOSEN.position) is None
    await ledger.store_profile(first, WHOLE)  # its search was under way
    assert await ledger.find_committed_decision(0, CHOSEN.position) is None
    second = await committed(ledger)
    assert second.id != first.id
    assert await ledger.find_committed_decision(0, CHOSEN.position) == second
    assert counted.reads == 0


async def test_a_move_taken_back_is_not_judged_by_the_reply_to_another(database: Database) -> None:
    """The same move was decided again; the first one's profile is completed last."""
    ledger = await begun(database)
    first = await committed(ledger)
    await ledger.record_moves(("f5",), 0)
    await ledger.take_back(0)
    second = await committed(ledger)
    await ledger.record_moves(("f5", "d6"), 0)
    await ledger.store_profile(second, WHOLE)
    await ledger.store_profile(first, WHOLE)
    async with database.read() as session:
        assert list(await session.scalars(text("SELECT decision_id FROM outcomes"))) == [second.id]


async def test_a_second_decision_gives_way_to_the_first(database: Database) -> None:
    ledger, other = await begun(database), await begun(database)
    first = await committed(ledger)
    second = await committed(other, decision(quality=300.0, complete=False))
    assert second == first


async def test_a_ledger_of_a_game_taken_up_reads_it_once(database: Database) -> None:
    ledger = await begun(database)
    stored = await committed(ledger)
    async with database.write() as session:
        await mark_sent(session, stored.id)
    counted = Counted(database)
    again = await begun(counted)
    found = await again.find_committed_decision(0, CHOSEN.position)
    assert found is not None
    assert (found.id, found.state) == (stored.id, DecisionState.SENT)
    assert counted.reads == 0


async def test_a_dropped_decision_is_remembered_as_such(database: Database) -> None:
    ledger = await begun(database)
    await committed(ledger)
    await ledger.record_moves((), 0, GameEnd(EndReason.TIME, 1, "outoftime"))
    found = await ledger.find_committed_decision(0, CHOSEN.position)
    assert found is not None
    assert found.state is DecisionState.DROPPED


async def test_an_outcome_of_another_program_stands(database: Database) -> None:
    ledger = await begun(database)
    stored = await committed(ledger, WHOLE)
    async with database.write() as session:
        assert await record_outcome(session, stored.id, ERRED)
    await ledger.record_moves(("f5", "d6"), 0)
    found = await ledger.find_committed_decision(0, CHOSEN.position)
    assert found is not None
    assert found.outcome == ERRED


async def test_a_forecast_of_another_program_stands(database: Database) -> None:
    ledger = await begun(database)
    stored = await committed(ledger, WHOLE)
    kept = replace(FORECAST, probabilities=(0.5, 0.25, 0.25))
    async with database.write() as session:
        assert await store_forecast(session, stored.id, WHOLE, kept)
    await ledger.store_forecast(stored, WHOLE, FORECAST)
    await ledger.record_moves(("f5", "d6"), 0)
    async with database.read() as session:
        assert await session.scalar(text("SELECT reply_odds FROM forecasts")) == 0.25
