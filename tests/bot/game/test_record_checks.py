"""Records that contradict the rows around them, each sound by itself."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select, text, update

from bot.game.recheck import recheck
from bot.game.record_checks import RecordChecks
from engine.bait_rule import FORECAST_RULE
from engine.errors import RecordError
from engine.human.registry import ModelRegistry
from storage.database import Database
from storage.maintenance.decision_batches import (
    RecordedDecision,
    count_decisions,
    decisions_between,
    restore_columns,
    wrong_columns,
)
from storage.records import GameStatus
from storage.tables.games import DecisionRow, ForecastRow
from tests.bot.game.test_recheck import play
from tests.bot.ledger_samples import stored_decisions
from tests.storage.conftest import backend, database, url
from tests.storage.samples import DRAWN_AT, drawn_decision, opened, settled

__all__ = ["backend", "database", "url"]  # fixtures

FIRST = "(SELECT min(id) FROM decisions)"


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (
            f"UPDATE decisions SET move = 'a1' WHERE id = {FIRST}",
            "move is .* in the record, but a1 in its row",
        ),
        (
            f"UPDATE outcomes SET reply = 'a0' WHERE decision_id = {FIRST}",
            "its outcome judges a0, but the reply was ..",
        ),
    ],
)
async def test_a_changed_column_is_found(database: Database, statement: str, reason: str) -> None:
    await play(database)
    first, *others = await stored_decisions(database)
    async with database.write() as session:
        await session.execute(text(statement))
    found = await recheck(database)
    (wrong,) = found.wrong
    assert wrong.ply == first.ply
    with pytest.raises(RecordError, match=f"^{reason}$"):
        raise RecordError(wrong.reason)
    assert found.verified == len(others)


async def test_an_outcome_that_lost_its_reply_is_made_again(database: Database) -> None:
    await play(database)
    before = (await stored_decisions(database))[0].outcome
    async with database.write() as session:
        await session.execute(text(f"UPDATE outcomes SET reply = NULL WHERE decision_id = {FIRST}"))
    found = await recheck(database)
    assert (found.wrong, found.judged) == ([], 1)
    (moved,) = found.quarantined
    assert moved.text == "row 1 of outcomes: kind is fell, but reply is None"
    assert (await stored_decisions(database))[0].outcome == before


async def test_a_column_that_follows_from_the_record_is_computed_again(database: Database) -> None:
    await play(database)
    before = await rows(database)
    for change in (
        "depth = 61",
        "nodes = 0",
        "time_s = 99.5",
        "search_mode = 'book'",
        "search_mode = NULL",
        "replies = '[]'",
        "replies = NULL",
        "is_trap = NOT is_trap",
        "trap_quality = NULL",
        "reply_count = 99",
        "is_decided = NOT is_decided",
        "is_complete = false",
    ):
        async with database.write() as session:
            await session.execute(text(f"UPDATE decisions SET {change} WHERE id = {FIRST}"))
        assert await rows(database) != before
        found = await recheck(database)
        assert (found.restored, found.wrong, found.verified) == (1, [], len(before)), change
        assert await rows(database) == before
    assert (await recheck(database)).restored == 0


async def rows(database: Database) -> list[Any]:
    async with database.read() as session:
        columns = [column for column in DecisionRow.__table__.columns if column.name != "record"]
        return list(await session.execute(select(*columns).order_by(DecisionRow.id)))


async def test_a_record_that_changes_meanwhile_keeps_its_columns(database: Database) -> None:
    await play(database)
    async with database.read() as session:
        (found,) = await decisions_between(session, 0, (await count_decisions(session))[1], 1)
    assert isinstance(found, RecordedDecision)
    stale = replace(found, derived={**found.derived, "depth": 61}, record=b"another")
    made = (await stored_decisions(database))[0].decision
    async with database.write() as session:
        right = {"depth": made.depth}
        assert wrong_columns(stale, made, None).items() >= right.items()
        assert not await restore_columns(session, stale, right)
        assert await restore_columns(session, replace(stale, record=found.record), right)
        assert "depth" not in wrong_columns(found, made, None)


async def test_records_that_changed_places_are_found(database: Database) -> None:
    """Also where their rows were changed with them."""
    await play(database)
    first, second, *others = await stored_decisions(database)
    async with database.write() as session:
        for one, other in ((first, second), (second, first)):
            made = other.decision
            values = {"record": made.to_record(), "move": made.move, "depth": made.depth}
            await session.execute(update(DecisionRow).where(DecisionRow.id == one.id).values(**values))
    found = await recheck(database)
    assert [wrong.ply for wrong in found.wrong] == [first.ply, second.ply]
    assert f"at ply {first.ply}, not at {second.decision.position}" in found.wrong[0].reason
    assert found.verified == len(others)


async def test_a_forecast_of_another_decision_is_found(database: Database) -> None:
    await play(database)
    first, second, *_ = await stored_decisions(database)
    async with database.write() as session:
        other = await session.scalar(select(ForecastRow.record).where(ForecastRow.decision_id == second.id))
        of_first = update(ForecastRow).where(ForecastRow.decision_id == first.id)
        await session.execute(of_first.values(record=other))
    (wrong,) = (await recheck(database)).wrong
    assert (wrong.ply, wrong.reason) == (
        first.ply,
        f"its forecast does not match the replies to {first.decision.move}",
    )


async def drawn_row(database: Database) -> RecordedDecision:
    """A randomised decision in a finished game that began where it was made."""
    made = drawn_decision(trap=True)
    async with database.write() as session:
        game = await opened(session, initial_position=DRAWN_AT, strategy="randomised")
        await settled(session, game.id, 0, made, None)
    async with database.read() as session:
        (found,) = await decisions_between(session, 0, (await count_decisions(session))[1], 9)
    assert isinstance(found, RecordedDecision)
    return replace(found, moves=(made.move,), game_state=GameStatus.FINISHED)


SETTINGS: dict[str, Any] = {"chance": 0.5, "budget_percent": 2.0, "most_profiles": 6}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"selection": {"randomised": SETTINGS}}, ""),
        ({"selection": {"randomised": SETTINGS | {"chance": 0.6}}}, "randomised with .*, but its game has"),
        ({"selection": None}, ""),
        ({"initial_position": None, "moves": ()}, "its game is at .* at ply 0, not at "),
        ({"initial_position": None, "game_state": GameStatus.OPEN}, ""),
        ({"initial_position": None, "is_taken_back": True}, ""),
        ({"moves": ("a1",)}, "its game's moves cannot be replayed: "),
        ({"ply": 2}, "its game has 1 moves, too few for ply 2"),
        ({"game": "reversi"}, "the record is of othello, but the game is reversi"),
        ({"forecast_rule": FORECAST_RULE, "forecast": None}, "its forecast: not a packed record: None"),
        ({"forecast_rule": FORECAST_RULE - 1, "forecast": None}, ""),
    ],
)
async def test_a_draw_beside_its_game(database: Database, changes: dict[str, Any], reason: str) -> None:
    row = replace(await drawn_row(database), **changes)
    if not reason:
        RecordChecks(ModelRegistry()).check(row, drawn_decision(trap=True))
        return
    with pytest.raises(RecordError, match=reason):
        RecordChecks(ModelRegistry()).check(row, drawn_decision(trap=True))


@pytest.mark.parametrize(
    ("changes", "is_forged"),
    [
        ({"game_id": 99}, True),
        ({"game_id": 99, "selection": {"seed": 7}}, False),
        ({"is_taken_back": True}, False),  # the same position again
    ],
)
async def test_a_seed_draws_once(database: Database, changes: dict[str, Any], is_forged: bool) -> None:
    row, made, checks = await drawn_row(database), drawn_decision(trap=True), RecordChecks(ModelRegistry())
    checks.check(row, made)
    again = replace(row, id=row.id + 1, **changes)
    if is_forged:
        with pytest.raises(RecordError, match=f"its seed 0{{16}} is also that of decision {row.id}"):
            checks.check(again, made)
    else:
        checks.check(again, made)


async def test_only_some_games_are_remembered(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.game.record_checks._MAX_GAMES", 1)
    row, made, checks = await drawn_row(database), drawn_decision(trap=True), RecordChecks(ModelRegistry())
    for game_id in (1, 2, 1):
        checks.check(replace(row, game_id=game_id, selection={"seed": 7}), made)
