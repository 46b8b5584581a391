"""Forecasts in the database, settled by whichever of forecast and outcome comes last."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from engine.bait_rule import FORECAST_RULE, ExpectedReplies, expectations, forecast, with_costs
from engine.decision import Decision, ModelInfo, Outcome
from engine.errors import IncompleteProfile
from engine.figure_9 import decision_verdicts, expected_scale_centi, profile_verdict
from engine.human.reply_forecast import ReplyForecast
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from engine.randomised import undrawn_candidate
from storage.database import Database
from storage.ledger.decisions import mark_dropped, mark_taken_back, store_profile
from storage.ledger.forecasts import forecasts_of_game, get_forecast, list_unforecast
from storage.ledger.outcomes import record_outcome
from storage.tables.games import ForecastRow
from tests.storage.samples import (
    FELL,
    OPTIMAL,
    UNANSWERED,
    commit_decision,
    decision,
    drawn_decision,
    opened,
    settled,
    store_forecast,
)


def tempting_decision() -> Decision:
    """f5, whose reply d6 looks better than the best reply and costs an error."""
    made = decision(quality=225.0)
    best, bait, other = made.chosen.replies
    bait = replace(bait, scores_centi=(-300, -250, 500))
    return made.with_chosen(replace(made.chosen, replies=(best, bait, other)))


MADE = tempting_decision()


def made_forecast(cost: int | None = 1500) -> ReplyForecast:
    """With d6 as a bait if it costs an error by the judge; None: not judged."""
    scale = expected_scale_centi(MADE)
    likely = ExpectedReplies((0.5, 0.4, 0.1), ModelInfo("looks", "looks 6.5", ""))
    found = forecast(MADE.chosen, scale, likely)
    if cost is None:
        return found
    best = ReplyCost("f6", -100, 0, 14, is_solved=False)
    costs = ReplyCosts(JUDGE_VERSION, best, (best, ReplyCost("d6", -400, cost, 12, is_solved=False)))
    return with_costs(found, MADE.chosen, scale, costs)


async def row_of(database: Database, decision_id: int) -> ForecastRow:
    async with database.read() as session:
        return (
            await session.scalars(select(ForecastRow).where(ForecastRow.decision_id == decision_id))
        ).one()


async def test_a_forecast_comes_back(database: Database) -> None:
    made = made_forecast()
    async with database.write() as session:
        game = await opened(session)
        decision_id = await commit_decision(session, game.id, 0, MADE)
        assert await get_forecast(session, decision_id) is None
        await store_forecast(session, decision_id, MADE, made)
        assert await get_forecast(session, decision_id) == made
        assert await forecasts_of_game(session, game.id) == {decision_id: made}
    row = await row_of(database, decision_id)
    assert (row.rule, row.model_kind, row.prior, row.confirm_depth) == (FORECAST_RULE, "looks", "", 12)
    assert (row.bait, row.bait_probability, row.bait_cost) == (
        "d6",
        made.probabilities[1],
        1500,
    )
    sums = expectations(made, decision_verdicts(MADE))
    for name in sums.__dataclass_fields__:
        assert getattr(row, name) == getattr(sums, name)
    assert (row.is_taken, row.reply_probability) == (None, None)


@pytest.mark.parametrize("is_forecast_first", [True, False])
@pytest.mark.parametrize(
    ("outcome", "cost", "is_taken"),
    [(FELL, 1500, True), (FELL, 999, False), (FELL, None, False), (OPTIMAL, 1500, False)],
)
async def test_it_is_settled_from_either_side(
    database: Database, is_forecast_first: bool, outcome: Outcome, cost: int | None, is_taken: bool
) -> None:
    made = made_forecast(cost)
    async with database.write() as session:
        game = await opened(session)
        decision_id = await commit_decision(session, game.id, 0, MADE)
        if is_forecast_first:
            await store_forecast(session, decision_id, MADE, made)
        await record_outcome(session, decision_id, outcome)
        if not is_forecast_first:
            await store_forecast(session, decision_id, MADE, made)
    row = await row_of(database, decision_id)
    assert outcome.reply is not None
    assert (row.is_taken, row.reply_probability) == (is_taken, made.probability_of(outcome.reply))


async def test_without_a_reply_nothing_is_taken(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        decision_id = await settled(session, game.id, 0, MADE, UNANSWERED)
        await store_forecast(session, decision_id, MADE, made_forecast())
    row = await row_of(database, decision_id)
    assert (row.is_taken, row.reply_probability) == (None, None)


async def test_only_one_by_earlier_rules_is_replaced(database: Database) -> None:
    made, other = made_forecast(), replace(made_forecast(), prior="a" * 64)
    async with database.write() as session:
        game = await opened(session)
        decision_id = await settled(session, game.id, 0, MADE, FELL)
        await store_forecast(session, decision_id, MADE, replace(other, rule=FORECAST_RULE - 1))
        assert await list_unforecast(session, game.id, FORECAST_RULE) == {decision_id}
        await store_forecast(session, decision_id, MADE, made)
        await store_forecast(session, decision_id, MADE, other)
        assert await get_forecast(session, decision_id) == made
        assert await list_unforecast(session, game.id, FORECAST_RULE) == set()
    assert (await row_of(database, decision_id)).is_taken is True


async def test_which_decisions_lack_one(database: Database) -> None:
    async with database.write() as session:
        game, other = await opened(session), await opened(session, "other")
        lacking = await commit_decision(session, game.id, 0, MADE)
        late = await commit_decision(session, game.id, 2, decision(complete=False))
        dropped = await commit_decision(session, game.id, 4, MADE)
        await mark_dropped(session, dropped)
        await commit_decision(session, game.id, 6, MADE)
        await mark_taken_back(session, game.id, 6)
        await commit_decision(session, other.id, 0, MADE)
        assert await list_unforecast(session, game.id, FORECAST_RULE) == {lacking}
        await store_profile(session, late, MADE, profile_verdict(MADE))
        assert await list_unforecast(session, game.id, FORECAST_RULE) == {lacking, late}
        await store_forecast(session, lacking, MADE, made_forecast())
        assert await list_unforecast(session, game.id, FORECAST_RULE) == {late}


async def test_a_forecast_of_a_decision_that_was_taken_back_is_not_of_the_game(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        decision_id = await settled(session, game.id, 0, MADE, FELL)
        await store_forecast(session, decision_id, MADE, made_forecast())
        await mark_taken_back(session, game.id, 0)
        assert await forecasts_of_game(session, game.id) == {}
        assert await get_forecast(session, decision_id) is not None


async def test_a_forecast_of_something_else_is_refused(database: Database) -> None:
    made = made_forecast()
    async with database.write() as session:
        game = await opened(session)
        decision_id = await commit_decision(session, game.id, 0, MADE)
        with pytest.raises(ValueError, match="does not match the replies to f5"):
            await store_forecast(session, decision_id, MADE, replace(made, replies=made.replies[::-1]))
        with pytest.raises(IncompleteProfile):
            await store_forecast(session, decision_id, decision(complete=False), made)


@pytest.mark.parametrize("trap", [True, False])
async def test_both_moves_of_a_draw_have_one(database: Database, trap: bool) -> None:
    made, scale = drawn_decision(trap=trap), 1_000.0
    both = replace(forecast(made.chosen, scale), other=forecast(undrawn_candidate(made), scale))
    assert undrawn_candidate(made).move == ("d3" if trap else "f7")
    async with database.write() as session:
        game = await opened(session, strategy="randomised")
        decision_id = await commit_decision(session, game.id, 0, made)
        assert await list_unforecast(session, game.id, FORECAST_RULE) == {decision_id}
        with pytest.raises(ValueError, match="a forecast for the other move is needed if and only if"):
            await store_forecast(session, decision_id, made, replace(both, other=None))
        with pytest.raises(ValueError, match="the other forecast does not match the replies to"):
            await store_forecast(
                session, decision_id, made, replace(both, other=forecast(made.chosen, scale))
            )
        await store_forecast(session, decision_id, made, both)
        assert await get_forecast(session, decision_id) == both
        assert await list_unforecast(session, game.id, FORECAST_RULE) == set()
        with pytest.raises(ValueError, match="is needed if and only if the choice was random"):
            await store_forecast(session, decision_id, MADE, replace(made_forecast(), other=both))
