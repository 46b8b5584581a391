"""Games as the flags of suspect games see them, from the database."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import forecast
from engine.decision import Decision, Outcome
from engine.figure_9 import expected_scale_centi
from engine.human.reply_forecast import ReplyForecast
from storage.database import Database
from storage.evidence.inference.suspects import PLAYED_GAME, SuspectFlag
from storage.evidence.reading import read_games
from storage.evidence.statistics.suspect_rows import suspect_games
from storage.ledger.decisions import mark_dropped, mark_taken_back
from storage.ledger.games import finish_game, set_moves
from storage.ledger.outcomes import record_reply_time
from storage.records import MATCH_SITE, GameResult, ReplyTime, TimeSource
from storage.tables.games import DecisionRow, ForecastRow, OutcomeRow
from tests.storage.samples import ERRED, FELL, OPTIMAL, UNANSWERED, decision, opened, settled, store_forecast

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
MADE = decision(quality=200.0)


def foreseen(made: Decision) -> ReplyForecast:
    return forecast(made.chosen, expected_scale_centi(made))


async def answered(
    session: AsyncSession,
    game_id: int,
    ply: int,
    outcome: Outcome,
    time_s: float | None = None,
    made: Decision = MADE,
) -> int:
    """A decision with its reply, judged and forecast."""
    decision_id = await settled(session, game_id, ply, made, outcome)
    await store_forecast(session, decision_id, made, foreseen(made))
    if time_s is not None:
        assert await record_reply_time(session, decision_id, ReplyTime(time_s, TimeSource.SERVER))
    return decision_id


async def only(session: AsyncSession) -> np.void:
    """The only game, as the flags see it."""
    (row,) = (await read_games(session)).games
    assert isinstance(row, np.void)
    return row


async def test_a_game_of_the_calendars_first_day(database: Database) -> None:
    """There is no week before it."""
    async with database.write() as session:
        for number, name in enumerate(("anna", "bert")):
            at = datetime(1, 1, 1, number, tzinfo=UTC)
            game = await opened(session, name, opponent_id=name, at=at)
            await set_moves(session, game.id, [f"m{ply}" for ply in range(20)])
        assert await suspect_games(session) == {game.id: (SuspectFlag.COPIED,)}


async def test_a_game_as_the_flags_see_it(database: Database) -> None:
    moves = [f"m{ply}" for ply in range(25)]
    async with database.write() as session:
        game = await opened(session, initial_position="start", at=NOON)
        await answered(session, game.id, 0, OPTIMAL, 1.5)
        await answered(session, game.id, 2, FELL, 0.2)
        await answered(session, game.id, 4, OPTIMAL, 0.1, decision(replies=1))  # no choice: no time
        await answered(session, game.id, 6, UNANSWERED)
        await set_moves(session, game.id, moves)
        row = await only(session)
    seen = {name: row[name] for name in PLAYED_GAME.names or () if name != "opening"}
    assert seen == {
        "id": game.id,
        "person": 1,
        "began_us": NOON.timestamp() * 1_000_000,
        "plies": 25,
        "has_left": False,
        "timed": 2,
        "fast": 1,
        "classified": 2,
        "optimal": 1,
        "optimal_expected": 2 * foreseen(MADE).probability_of("f6"),
    }


@pytest.mark.parametrize(
    ("result", "reason", "left"),
    [
        (GameResult.WIN, "resignation", True),
        (GameResult.WIN, "left", True),
        (GameResult.WIN, "time", True),
        (GameResult.WIN, "normal", False),
        (GameResult.LOSS, "resignation", False),
        (None, "left", False),
    ],
)
async def test_who_left(database: Database, result: GameResult | None, reason: str, left: bool) -> None:
    async with database.write() as session:
        game = await opened(session)
        await finish_game(session, game.id, result=result, end_reason=reason, moves=["f5"])
        assert bool((await only(session))["has_left"]) is left
        assert (game.id in await suspect_games(session)) is left


async def test_what_counts_nowhere_is_not_judged(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        ids = [await answered(session, game.id, ply, ERRED) for ply in range(0, 14, 2)]
        await mark_dropped(session, ids[1])
        await session.execute(update(DecisionRow).where(DecisionRow.id == ids[2]).values(is_decided=True))
        await session.execute(update(OutcomeRow).where(OutcomeRow.decision_id == ids[3]).values(rule=1))
        forecasts = update(ForecastRow).where(ForecastRow.decision_id == ids[4])
        await session.execute(forecasts.values(optimal_expected=None))
        await session.execute(update(ForecastRow).where(ForecastRow.decision_id == ids[5]).values(rule=0))
        await mark_taken_back(session, game.id, 12)
        row = await only(session)
    assert (row["classified"], row["optimal"]) == (1, 0)


async def test_the_first_reply_to_a_move_taken_back_has_its_time(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        first = await answered(session, game.id, 0, ERRED, 0.1)
        assert not await record_reply_time(session, first, ReplyTime(9.0, TimeSource.MEASURED))
        await mark_taken_back(session, game.id, 0)
        await answered(session, game.id, 0, ERRED, 1.0)
        row = await only(session)
    assert (row["timed"], row["fast"]) == (2, 1)


async def test_flags_of_people_only(database: Database) -> None:
    async def left(session: AsyncSession, key: str, **changes: Any) -> int:
        game = await opened(session, key, at=NOON, **changes)
        await finish_game(session, game.id, result=GameResult.WIN, end_reason="left", moves=["f5"])
        return game.id

    async with database.write() as session:
        person = await left(session, "person")
        await left(session, "program", opponent_id="p", opponent_is_bot=True)
        await left(session, "match", site=MATCH_SITE)
        assert await suspect_games(session) == {person: (SuspectFlag.LEFT_EARLY,)}


async def test_games_of_two_accounts_that_are_alike(database: Database) -> None:
    moves = [f"m{ply}" for ply in range(30)]
    async with database.write() as session:
        keys = []
        for number, name in enumerate(("anna", "bert", "bert")):
            start = "8/8" if number == 2 else None  # the same moves from elsewhere are others
            game = await opened(
                session,
                f"g{number}",
                opponent_id=name,
                initial_position=start,
                at=NOON + timedelta(hours=number),
            )
            await set_moves(session, game.id, moves)
            keys.append(game.id)
        assert await suspect_games(session) == {keys[1]: (SuspectFlag.COPIED,)}
