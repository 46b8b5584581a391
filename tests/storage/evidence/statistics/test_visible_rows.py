"""What people can see of a trial's games, from what is stored."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from storage.database import Database
from storage.evidence.queries.trial_report import open_trial_blindness
from storage.evidence.statistics.visible_rows import FEATURES, visible_features
from storage.evidence.trials import NewTrial, StoredTrial, end_trial, start_trial
from storage.ledger.decisions import mark_taken_back
from storage.ledger.events import REPORT_LATE, record_event
from storage.ledger.games import finish_game
from storage.ledger.outcomes import record_reply_time
from storage.records import DecisionState, GameResult, ReplyTime, TimeSource
from storage.tables.games import DecisionRow
from tests.storage.samples import ARENA, commit_decision, decision, opened

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
ARMS = ("standard", "trappy")
CHANCES = {"chances": {"standard": 0.4, "trappy": 0.6}, "blind": True}


async def begun(session: AsyncSession, name: str = "t1", arms: tuple[str, ...] = ARMS) -> StoredTrial:
    plan = NewTrial(name=name, arms=arms, configurations={arm: {} for arm in arms})
    return await start_trial(session, plan, at=NOON)


async def game_of(
    session: AsyncSession, trial: StoredTrial, key: str, waits_s: Sequence[float], **end: Any
) -> int:
    """A game whose replies take 3 s each; `waits_s` are the waits for our moves from the second on."""
    strategy = end.pop("strategy", "trappy")
    game = await opened(
        session, key, trial_id=trial.id, strategy=strategy, selection=CHANCES, at=NOON, opponent_id=key
    )
    at = NOON
    for number, wait_s in enumerate([0.0, *waits_s]):
        at += timedelta(seconds=wait_s + 3.0)
        shown = at
        made = await commit_decision(session, game.id, 2 * number, decision())
        row = update(DecisionRow).where(DecisionRow.id == made)
        await session.execute(row.values(confirmed_at=shown, state=DecisionState.CONFIRMED))
        await record_reply_time(session, made, ReplyTime(3.0, TimeSource.MEASURED))
    known: dict[str, Any] = {
        "result": GameResult.WIN,
        "end_reason": "normal",
        "at": NOON + timedelta(hours=1),
    } | end
    await finish_game(session, game.id, **known)
    return game.id


async def features_of(session: AsyncSession, trial: StoredTrial) -> list[dict[str, float]]:
    found = await visible_features(session, trial)
    assert tuple(found.names) == FEATURES
    assert found.values.shape == (len(found.games), len(FEATURES))
    assert np.array_equal(
        found.mean_wait_s, found.values[:, FEATURES.index("use of the clock")], equal_nan=True
    )
    return [dict(zip(FEATURES, row, strict=True)) for row in found.values.tolist()]


async def test_waits_by_phase_and_over_the_game(database: Database) -> None:
    async with database.write() as session:
        trial = await begun(session)
        await game_of(session, trial, "one", [1.0] * 8 + [0.25] + [2.0] * 10 + [5.0] * 4)
        await game_of(session, trial, "two", [0.5, 1.5])
        await game_of(session, trial, "none", [])
        one, two, none = await features_of(session, trial)
    assert (one["waits at plies 1-20"], one["waits at plies 21-40"], one["waits from ply 41 on"]) == (
        pytest.approx((1.0, 2.0, 5.0))
    )
    assert one["use of the clock"] == pytest.approx(48.25 / 23)
    assert (one["shortest waits"], one["longest waits"]) == pytest.approx((1.0, 5.0))
    assert (one["longest wait"], one["spread of waits"]) == pytest.approx((5.0, 4.0))
    assert (two["waits at plies 1-20"], two["longest wait"]) == pytest.approx((0.5, 1.5))
    assert np.isnan(two["waits at plies 21-40"])
    assert np.isnan([none["use of the clock"], none["longest wait"], none["spread of waits"]]).all()


async def test_a_wait_without_a_known_reply_or_of_a_move_that_was_taken_back_is_none(
    database: Database,
) -> None:
    async with database.write() as session:
        trial = await begun(session)
        game_id = await game_of(session, trial, "one", [1.0, 1.0, 1.0])
        first = update(DecisionRow).where(DecisionRow.game_id == game_id, DecisionRow.ply == 2)
        await session.execute(first.values(confirmed_at=None))
        assert (await features_of(session, trial))[0]["use of the clock"] == pytest.approx(1.0)
        await mark_taken_back(session, game_id, 4)
        assert np.isnan((await features_of(session, trial))[0]["use of the clock"])


async def test_how_a_game_ends_and_what_comes_late(database: Database) -> None:
    async with database.write() as session:
        trial = await begun(session)
        resigned = await game_of(session, trial, "one", [], result=GameResult.LOSS, end_reason="resignation")
        await game_of(session, trial, "two", [], end_reason="resignation")  # by the person
        await game_of(session, trial, "three", [], result=GameResult.DRAW, end_reason="agreement")
        await record_event(session, ARENA, REPORT_LATE, {"after_s": 21.5}, resigned)
        await record_event(session, ARENA, "game_link_lost", {"reason": "x"}, resigned)
        rows = await features_of(session, trial)
    assert [row["resignations"] for row in rows] == [1, 0, 0]
    assert [row["agreed draws"] for row in rows] == [0, 0, 1]
    assert [row["delay of farewell and report"] for row in rows] == [21.5, 0, 0]


async def test_games_that_run_and_games_of_other_trials_are_left_out(database: Database) -> None:
    async with database.write() as session:
        first = await begun(session)
        await game_of(session, first, "one", [9.0])
        await end_trial(session, at=NOON)
        second = await begun(session, "t2")
        running = await game_of(session, second, "two", [1.0], settled=False)
        known = await game_of(session, second, "three", [2.0])
        found = await visible_features(session, second)
    assert running not in found.games
    assert found.games.tolist() == [known]
    assert found.mean_wait_s.tolist() == pytest.approx([2.0])


async def test_the_open_trial_is_watched(database: Database) -> None:
    assert await open_trial_blindness(database, NOON) == {}
    async with database.write() as session:
        trial = await begun(session)
        for number in range(80):
            slow = number % 3 == 0
            await game_of(
                session,
                trial,
                f"game{number:02}",
                [2.5, 2.0] if slow else [1.0, 1.2],
                strategy="trappy" if slow else "standard",
            )
    found = (await open_trial_blindness(database, NOON + timedelta(days=1)))["t1"]
    assert found.is_revealed
    assert found.auc is not None
    assert found.auc > 0.95
    assert "wait" in found.best_feature
    async with database.write() as session:
        await end_trial(session, at=NOON)
    assert await open_trial_blindness(database, NOON) == {}


async def test_each_pair_of_several_strategies_has_its_share_of_the_error(database: Database) -> None:
    async with database.write() as session:
        trial = await begun(session, arms=("standard", "strong", "trappy"))
        await game_of(session, trial, "one", [1.0])
    assert (await open_trial_blindness(database, NOON))["t1"].e_value == pytest.approx(1 / 3)
