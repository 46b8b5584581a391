"""What games add up to for the people who played them."""

from dataclasses import asdict, replace
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Decision, Outcome
from engine.judge import JUDGE_VERSION
from storage.database import Database
from storage.evidence.statistics.encounters import BaitCounts, Encounters, bait_counts, encounters
from storage.filters import Filters
from storage.ledger.decisions import mark_dropped, mark_taken_back
from storage.ledger.games import finish_game
from storage.records import GameResult
from storage.tables.games import DecisionRow, ForecastRow
from tests.storage.ledger.test_forecasts import MADE as TEMPTING
from tests.storage.ledger.test_forecasts import made_forecast
from tests.storage.samples import (
    ERRED,
    FELL,
    OPTIMAL,
    UNANSWERED,
    decision,
    judge_replies,
    opened,
    settled,
    store_forecast,
)

SLIP = replace(ERRED, cost=1000)
NO_SLIP = replace(ERRED, cost=999)
TAKEN = replace(FELL, cost=1500)


RESULTS = [*[GameResult.WIN] * 3, *[GameResult.DRAW] * 2, GameResult.LOSS, None]


async def answered(
    session: AsyncSession,
    game_id: int,
    ply: int,
    outcome: Outcome | None,
    made: Decision = TEMPTING,
    bait_cost: int = 1500,
) -> int:
    decision_id = await settled(session, game_id, ply, made, outcome)
    await store_forecast(session, decision_id, made, made_forecast(bait_cost))
    return decision_id


async def test_baits_and_slips_of_a_game(database: Database) -> None:
    async with database.write() as session:
        game, other = await opened(session), await opened(session, "other")
        await answered(session, game.id, 0, TAKEN)
        await answered(session, game.id, 2, OPTIMAL)
        await answered(session, game.id, 4, UNANSWERED)
        await answered(session, game.id, 6, SLIP)  # beside the bait
        await answered(session, game.id, 8, NO_SLIP)
        await answered(session, game.id, 10, TAKEN, bait_cost=10)  # no bait after all: a slip
        await settled(session, game.id, 12, decision(), SLIP)  # no forecast: a slip, as on the page
        await settled(session, game.id, 14, decision(), replace(SLIP, rule=1))
        dropped = await answered(session, game.id, 16, None)
        await mark_dropped(session, dropped)
        await answered(session, game.id, 18, TAKEN)
        await mark_taken_back(session, game.id, 18)
        unjudged = BaitCounts(baits_set=5, baits_taken=1, slips=0, unjudged=6)
        assert await bait_counts(session, game.id) == unjudged
        await judge_replies(session, game.id, version=JUDGE_VERSION - 1)
        assert await bait_counts(session, game.id) == unjudged  # no count mixes versions
        await judge_replies(session, game.id)
        assert await bait_counts(session, game.id) == BaitCounts(baits_set=5, baits_taken=1, slips=3)
        assert await bait_counts(session, other.id) == BaitCounts()


async def test_in_decided_positions_replies_are_slips_but_take_no_bait(database: Database) -> None:
    """Whether or not they take a bait: it counts nowhere, but their cost does."""
    async with database.write() as session:
        game = await opened(session)
        await answered(session, game.id, 0, TAKEN)
        await answered(session, game.id, 2, SLIP)
        await judge_replies(session, game.id)
        before = await bait_counts(session, game.id)
        await session.execute(update(DecisionRow).where(DecisionRow.ply == 2).values(is_decided=True))
        after_slip = await bait_counts(session, game.id)
        await session.execute(update(DecisionRow).values(is_decided=True))
        after_both = await bait_counts(session, game.id)
    assert before == BaitCounts(baits_set=2, baits_taken=1, slips=1)
    assert after_slip == BaitCounts(baits_set=1, baits_taken=1, slips=1)
    assert after_both == BaitCounts(baits_set=0, baits_taken=0, slips=2)


async def test_forecasts_by_earlier_rules_tell_of_no_bait(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await answered(session, game.id, 0, TAKEN)
        await judge_replies(session, game.id)
        await session.execute(update(ForecastRow).values(rule=0))
        assert await bait_counts(session, game.id) == BaitCounts(slips=1)


@pytest.mark.parametrize("player", ["trappy", None])
async def test_results(database: Database, player: str | None) -> None:
    async with database.write() as session:

        async def ended(key: str, result: GameResult | None, **changes: Any) -> None:
            game = await opened(session, key, **changes)
            await answered(session, game.id, 0, TAKEN)
            if key != "g0":
                await judge_replies(session, game.id)
            await finish_game(
                session,
                game.id,
                result=result,
                end_reason="normal",
                aborted=key == "aborted",
                moves=["f5", "d6"],
            )

        for number, result in enumerate(
            [GameResult.WIN] * 3 + [GameResult.DRAW] * 2 + [GameResult.LOSS, None]
        ):
            await ended(f"g{number}", result)
        await ended("other", GameResult.WIN, strategy="standard")
        await ended("aborted", None)
        await opened(session, "open")
        more = player is None
        found = await encounters(session, Filters(strategy=player))
        assert {type(number) for number in asdict(found).values()} == {int}, "not NumPy's: chat and JSON"
        assert found == Encounters(
            games=8 + more,
            wins=3 + more,
            draws=2,
            losses=1,
            baits_set=8 + more,
            baits_taken=8 + more,
            slips=0,
            unjudged=1,
        )
        assert await encounters(session, Filters(site="elsewhere")) == Encounters()
