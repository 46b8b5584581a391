from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, text, update

from bot.text.trap_report import game_report
from engine.decision import Decision, SearchMode
from engine.pruning import pruned
from storage.database import Database
from storage.evidence.statistics import trial_rows
from storage.ledger.decisions import list_decisions, list_seeds
from storage.ledger.games import load_game_by_id
from storage.maintenance import pruning
from storage.maintenance.pruning import Pruning, count_old, prune
from storage.packing.records import pack
from storage.records import GameStatus
from storage.tables.games import DecisionRow, GameRow
from storage.tables.types import as_stored
from tests.storage.evidence.statistics.facts import game_facts, reply_facts
from tests.storage.maintenance.elsewhere import another_program
from tests.storage.samples import FELL, commit_decision, decision, drawn_decision, opened, settled

NOW = datetime(2026, 11, 25, tzinfo=UTC)
"""Games that ended before are old."""
EARLIER, LATER = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)


def rich() -> Decision:
    """A decision whose record has replies to several moves."""
    return replace(drawn_decision(trap=True), trial_draw=None, search_mode=SearchMode.EXACT)


async def game(
    database: Database, key: str, made: list[Decision], ended_at: datetime | None, state: str = "finished"
) -> list[int]:
    """A game with these decisions, and their keys."""
    async with database.write() as session:
        stored = await opened(session, key)
        keys = [await commit_decision(session, stored.id, 2 * ply, each) for ply, each in enumerate(made)]
        changes = {"state": GameStatus(state), "ended_at": ended_at, "started_at": EARLIER}
        await session.execute(update(GameRow).where(GameRow.id == stored.id).values(**changes))
    return keys


async def records(database: Database) -> dict[int, Any]:
    async with database.read() as session:
        rows = await session.execute(select(DecisionRow.id, as_stored(DecisionRow.record).label("record")))
        return {row.id: row.record for row in rows}


async def test_old_games_are_pruned_and_others_not(database: Database) -> None:
    old = await game(database, "old", [rich(), decision()], EARLIER)
    aborted = await game(database, "aborted", [rich()], None, "aborted")
    young = await game(database, "young", [rich()], NOW)
    playing = await game(database, "open", [rich()], None, "open")
    before = await records(database)
    assert await count_old(database, NOW) == 3
    found = await prune(database, NOW, really=True)
    after = await records(database)
    assert {key for key in before if before[key] != after[key]} == {*old, *aborted}
    assert {key for key in before if before[key] == after[key]} == {*young, *playing}
    assert found == Pruning(
        decisions=3,
        bytes_before=sum(len(before[key]) for key in (*old, *aborted)),
        bytes_after=sum(len(after[key]) for key in (*old, *aborted)),
    )
    assert found.bytes_after < found.bytes_before
    async with database.read() as session:
        assert [each.decision.is_pruned for each in await list_decisions(session, 1)] == [True, True]


async def test_a_dry_run_counts_the_same_and_changes_nothing(database: Database) -> None:
    await game(database, "old", [rich(), decision()], EARLIER)
    before = await records(database)
    planned = await prune(database, NOW, really=False)
    assert await records(database) == before
    assert await prune(database, NOW, really=True) == planned


async def test_a_second_time_nothing_is_left_to_do(database: Database) -> None:
    await game(database, "old", [rich(), decision()], EARLIER)
    await prune(database, NOW, really=True)
    before = await records(database)
    assert await prune(database, NOW, really=True) == Pruning(already=2)
    assert await records(database) == before


async def test_what_cannot_be_pruned_is_left(database: Database) -> None:
    keys = await game(database, "old", [decision(complete=False), rich()], EARLIER)
    damaged = b"\x01damaged"
    async with database.write() as session:
        await session.execute(text("UPDATE decisions SET record = :record WHERE id = :id").bindparams(
            record=damaged, id=keys[1]
        ))  # fmt: skip
    before = await records(database)
    assert await prune(database, NOW, really=True) == Pruning(incomplete=1, damaged=1)
    assert await records(database) == before


async def test_batches_take_all_in_their_turn(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "PRUNING_BATCH_DECISIONS", 2)
    await game(database, "old", [decision()] * 5, EARLIER)
    counts: list[int] = []
    assert (await prune(database, NOW, really=True, on_count=counts.append)).decisions == 5
    assert counts == [2, 2, 1]


async def test_a_record_that_another_program_changes_meanwhile_stays(
    database: Database, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (key,) = await game(database, "old", [rich()], EARLIER)
    newer = pack(decision(quality=100).to_record())

    async def change(changed: Database) -> None:
        statement = text("UPDATE decisions SET record = :record WHERE id = :id")
        async with changed.write() as session:
            await session.execute(statement.bindparams(record=newer, id=key))

    with another_program(url) as elsewhere:

        def changing(made: Decision) -> Decision:
            elsewhere(change)
            return pruned(made)

        monkeypatch.setattr(pruning, "pruned", changing)
        assert await prune(database, NOW, really=True) == Pruning(changed=1)
    assert await records(database) == {key: newer}


async def test_statistics_and_summaries_stay(database: Database) -> None:
    async with database.write() as session:
        stored = await opened(session, "old")
        await settled(session, stored.id, 0, decision(quality=100), FELL)
        changes = {"state": GameStatus.FINISHED, "ended_at": EARLIER, "moves": "f5 d6"}
        await session.execute(update(GameRow).where(GameRow.id == stored.id).values(**changes))

    async def seen() -> Any:
        async with database.read() as session:
            (made,) = await list_decisions(session, stored.id)
            found = await load_game_by_id(session, stored.id)
            assert found is not None
            report = await game_report(session, found)
            told = replace(report.decisions[0], candidates=())
            return made.outcome, told, await game_facts(session), await reply_facts(session)

    before = await seen()
    assert (await prune(database, NOW, really=True)).decisions == 1
    assert await seen() == before


async def test_the_trial_of_single_decisions_stays(database: Database) -> None:
    keys = await game(database, "old", [drawn_decision(trap=True), drawn_decision(trap=False)], EARLIER)

    async def seen() -> Any:
        async with database.read() as session:
            rows = (await session.execute(trial_rows._statement(keys))).all()
            return [trial_rows._read(row, 0, set()) for row in rows], await list_seeds(session, 1)

    before = await seen()
    assert (await prune(database, NOW, really=True)).decisions == 2
    assert await seen() == before


async def test_games_go_on_meanwhile(database: Database, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "PRUNING_BATCH_DECISIONS", 2)
    await game(database, "old", [decision()] * 8, EARLIER)
    async with database.write() as session:
        playing = await opened(session, "open")
    played = 0

    async def play(playing_on: Database) -> None:
        nonlocal played
        async with playing_on.write() as session:
            await commit_decision(session, playing.id, 2 * played, decision())
        played += 1

    with another_program(url) as elsewhere:
        found = await prune(database, NOW, really=True, on_count=lambda _: elsewhere(play))
    assert found.decisions == 8
    async with database.read() as session:
        made = await list_decisions(session, playing.id)
    assert len(made) == played == 4
    assert not any(each.decision.is_pruned for each in made)
