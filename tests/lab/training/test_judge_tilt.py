"""How the judge's costs change the probabilities: known numbers are found again in simulated choices."""

import random

import pytest

from engine.decision import ModelInfo
from engine.human.reply_forecast import JudgeTilt, ReplyForecast
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from lab.training.judge_tilt import MIN_MOVES, fit_judge_tilt

MODEL = ModelInfo("calibrated", "test", "0" * 64)


def choices(
    tilt: JudgeTilt, count: int, seed: int = 1
) -> tuple[list[ReplyForecast | None], list[ReplyCosts | None], list[str]]:
    """Forecasts, costs and replies of people who know what the judge knows."""
    draw = random.Random(seed)
    forecasts: list[ReplyForecast | None] = []
    costs: list[ReplyCosts | None] = []
    played = []
    for _ in range(count):
        first, second = 0.3 + 0.2 * draw.random(), 0.2 + 0.1 * draw.random()
        p = (first, second, *[(1 - first - second) / 4] * 4)
        found = [ReplyCost("a", 0, 0, 9, is_solved=False)]
        found.append(ReplyCost("b", 0, draw.randrange(3000), 9, is_solved=False))
        made = ReplyForecast(1, MODEL, "", tuple("abcdef"), p, (), judge_tilt=tilt)
        known = ReplyCosts(JUDGE_VERSION, found[0], tuple(found))
        true = tilt.applied(p, {0: 0.0, 1: found[1].cost / 10_000})
        forecasts.append(made)
        costs.append(known)
        played.append(draw.choices(made.replies, true)[0])
    return forecasts, costs, played


@pytest.mark.parametrize("tilt", [JudgeTilt(0.8, 0.3, 15.0), JudgeTilt(1.0, 0.0, 0.0)], ids=str)
def test_known_numbers_are_found(tilt: JudgeTilt) -> None:
    found = fit_judge_tilt(*choices(tilt, 6000))
    assert found is not None
    assert found.moves == 6000
    assert found.tilt.power == pytest.approx(tilt.power, abs=0.15)
    assert found.tilt.constant == pytest.approx(tilt.constant, abs=0.15)
    assert found.tilt.per_cost == pytest.approx(tilt.per_cost, abs=1.5)
    assert found.nats_before - found.nats >= 0
    assert (found.nats_before - found.nats > 0.02) is (tilt.per_cost > 0)


def test_moves_without_costs_and_too_few_moves() -> None:
    forecasts, costs, played = choices(JudgeTilt(0.8, 0.3, 15.0), MIN_MOVES)
    assert fit_judge_tilt(forecasts, costs, played) is not None
    assert fit_judge_tilt(forecasts, [None, *costs[1:]], played) is None
    assert fit_judge_tilt([None, *forecasts[1:]], costs, played) is None
