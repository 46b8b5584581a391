from dataclasses import replace

import pytest
from sqlalchemy import text, update

from engine.decision import Decision
from engine.figure_9 import FIGURE_9_RULE, classify_by_figure_9, profile_verdict
from storage.arena.puzzles.positions import list_pending, mark_imported
from storage.database import Database
from storage.errors import StorageError, UnreadableRow
from storage.ledger.decisions import list_decisions, mark_confirmed, mark_taken_back, reply_scores
from storage.ledger.games import finish_game, reopen_game
from storage.ledger.judgements import store_judgements
from storage.maintenance.decision_batches import (
    RecordedDecision,
    complete_decision,
    count_decisions,
    decisions_between,
    next_decision,
)
from storage.packing.records import unpack
from storage.records import DecisionState, GameResult, GameStatus
from storage.tables.games import DecisionRow, GameRow
from tests.storage.samples import FELL, decision, opened, settled

MOVES = ("f5", "d6", "f5", "d6")


async def filled(database: Database) -> list[int]:
    """A finished game with two confirmed decisions, of which the first has no outcome."""
    async with database.write() as session:
        game = await opened(session)
        ids = [
            await settled(session, game.id, 0, decision(quality=225.0, complete=False), None),
            await settled(session, game.id, 2, decision(quality=225.0), FELL),
        ]
        for decision_id in ids:
            await mark_confirmed(session, decision_id)
        await finish_game(session, game.id, result=GameResult.WIN, end_reason="resignation", moves=MOVES)
    return ids


async def read(database: Database, after_id: int = 0, limit: int = 10) -> list[RecordedDecision]:
    async with database.read() as session:
        _, last_id = await count_decisions(session)
        return list(await decisions_between(session, after_id, last_id, limit))


async def test_decisions_come_in_batches(database: Database) -> None:
    async with database.read() as session:
        assert await count_decisions(session) == (0, 0)
    ids = await filled(database)
    async with database.read() as session:
        assert await count_decisions(session) == (2, ids[-1])
        assert list(await decisions_between(session, 0, ids[0], 10)) == (await read(database))[:1]
    assert [found.id for found in await read(database, limit=1)] == ids[:1]
    assert [found.id for found in await read(database, after_id=ids[0])] == ids[1:]
    first, second = await read(database)
    assert (first.outcome_rule, second.outcome_rule) == (None, FIGURE_9_RULE)
    assert (first.rule, second.rule, first.forecast_rule, second.forecast_rule) == (
        None,
        FIGURE_9_RULE,
        None,
        None,
    )
    assert (first.site, first.site_game_id, first.ply, first.moves) == ("arena", "game0001", 0, MOVES)
    assert (first.game_state, first.state) == (GameStatus.FINISHED, DecisionState.CONFIRMED)
    assert Decision.from_record(unpack(first.record)) == decision(quality=225.0, complete=False)
    assert (first.derived["search_mode"], first.derived["replies"]) == ("exact", None)
    assert second.derived["replies"] == reply_scores(Decision.from_record(unpack(second.record)).chosen)


async def test_nothing_is_settled_later_in_a_game_that_is_still_judged(database: Database) -> None:
    ids = await filled(database)
    (found, _) = await read(database)
    assert found.is_settled
    full = decision(quality=225.0)
    outcome = classify_by_figure_9(full, found.moves[1])
    async with database.write() as session:
        await session.execute(update(GameRow).values(is_settled=False))
        assert await complete_decision(session, found, full, profile_verdict(full), outcome) is None
    (found, _) = await read(database)
    assert (found.id, found.outcome_rule, found.is_settled) == (ids[0], None, False)


async def test_taken_back_decisions_are_among_them(database: Database) -> None:
    ids = await filled(database)
    async with database.write() as session:
        await mark_taken_back(session, (await read(database))[0].game_id, 2)
    first, second = await read(database)
    assert (first.is_taken_back, second.is_taken_back) == (False, True)
    async with database.read() as session:
        following = await next_decision(session, first.game_id, 0, ids[0])
        assert following is not None
        assert (following.position, following.is_taken_back) == (decision().position, True)
        assert await next_decision(session, first.game_id, 0, ids[1]) is None  # made after that
        assert await next_decision(session, first.game_id, 2, ids[1]) is None


async def test_a_failing_database_is_no_damage(database: Database) -> None:
    await filled(database)
    async with database.write() as session:
        await session.execute(text("ALTER TABLE outcomes RENAME COLUMN decision_id TO other_id"))
    with pytest.raises(StorageError, match="decision_id") as caught:
        await read(database)
    assert not isinstance(caught.value, UnreadableRow)


async def test_what_was_missing_is_written_down(database: Database) -> None:
    await filled(database)
    found = (await read(database))[0]
    async with database.write() as session:
        await mark_imported(session, [found.game_id])
        full = decision(quality=225.0)
        assert await complete_decision(session, found, full, profile_verdict(full), FELL)
        # The judge, and then the trainer, have to look through the game again.
        assert found.game_id not in await list_pending(session, found.site, 0, 9)
        await store_judgements(session, found.game_id, {})
        assert found.game_id in await list_pending(session, found.site, 0, 9)
        await mark_imported(session, [found.game_id])
    async with database.read() as session:
        stored = (await list_decisions(session, found.game_id))[0]
    assert (stored.is_complete, stored.is_trap, stored.outcome) == (True, True, FELL)
    async with database.write() as session:  # by another one meanwhile: no change
        assert (
            await complete_decision(session, found, full, profile_verdict(full), replace(FELL, cost_centi=1))
            is False
        )
        assert found.game_id not in await list_pending(session, found.site, 0, 9)
    async with database.read() as session:
        assert (await list_decisions(session, found.game_id))[0] == stored


@pytest.mark.parametrize("change", ["opened again", "more moves", "dropped", "taken back", "another move"])
async def test_what_has_changed_meanwhile_is_left_alone(database: Database, change: str) -> None:
    await filled(database)
    found = (await read(database))[0]
    made = decision(quality=225.0)
    async with database.write() as session:
        if change == "opened again":
            await reopen_game(session, found.game_id)
        elif change == "more moves":
            found = replace(found, moves=found.moves[:-1])
        elif change == "dropped":
            dropped = update(DecisionRow).where(DecisionRow.id == found.id)
            await session.execute(dropped.values(state=DecisionState.DROPPED))
        elif change == "taken back":
            await mark_taken_back(session, found.game_id, 0)
        else:
            await session.execute(update(DecisionRow).where(DecisionRow.id == found.id).values(move="e6"))
    async with database.write() as session:
        assert await complete_decision(session, found, made, profile_verdict(made), FELL) is None
    again = (await read(database))[0]
    assert again.outcome_rule is None
    assert again.record == found.record
