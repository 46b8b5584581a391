"""Creates real decisions of each game, with every reply judged and forecast, for synthetic databases."""

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from bench.decisions.exactness import random_position
from bench.suites import native_searcher
from engine.bait_rule import expectations
from engine.completion import complete
from engine.decision import Decision, ModelInfo, Outcome, Person
from engine.figure_9 import (
    MIN_BAIT_P,
    MIN_ERROR_COST,
    classify_by_figure_9,
    decision_verdicts,
    profile_verdict,
)
from engine.forecasts import forecast_replies, own_costs
from engine.games import get_rules
from engine.human.reply_forecast import ReplyForecast
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from engine.move_chooser import MoveChooser
from engine.params import RandomisedParams, TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from storage.records import columns_of

DEPTHS = {"othello": 6, "chess": 5, "xiangqi": 4, "connect4": 8}
"""The search depth for the decisions of each game."""
MODELS = {
    "othello": ModelInfo("network", "people-othello", "1f2e3d4c" * 8),
    "chess": ModelInfo("network", "maia-1500", "5a6b7c8d" * 8),
}
"""Forecasting models, keyed by game; games without a model use the shallow scores."""
TABLE_MB = 16
DRAWN_AT = "4w3/3w1wb1/2w1wb2/1wbbbb2/2wwbb2/2wwbw2/2wwb3/3wb3 w"
"""Othello: at depth 6, trappy sets a trap with f7; d3, the best move without a trap, is nearly as good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One decision, the verdicts of every reply to it, and its forecast."""

    decision: Decision
    record: dict[str, Any]
    columns: dict[str, Any]
    """Columns of `storage.tables.games.DecisionRow` that come from the verdicts."""
    forecast: dict[str, Any]
    """Columns of `storage.tables.games.ForecastRow`."""
    outcomes: tuple[Outcome, ...]
    """Outcome of each possible reply."""
    probabilities: tuple[float, ...]
    """Probability of each reply according to the forecast."""
    baits: frozenset[str]
    judgements: Mapping[str, dict[str, Any]]
    """Columns of `storage.tables.games.JudgementRow`, by the reply, of a judge who agrees with our search."""


def samples(game: str, count: int, seed: int) -> list[Sample]:
    """Decisions of trappy in random positions; every third eligible decision sets a bait."""
    searcher, rules = native_searcher(game, TABLE_MB), get_rules(game)
    player, rng = MoveChooser(strategy_named("trappy"), rules, TrapParams(), searcher), random.Random(seed)
    samples: list[Sample] = []
    for number in range(20 * count):
        position = random_position(rules, searcher, rng.randrange(1 << 30) + number)
        if not rules.legal_moves(position):
            continue
        decision = complete(player.choose(position, Limits(DEPTHS[game]), StopFlag()), searcher, StopFlag())
        if len(decision.chosen.replies) >= 2:
            samples.append(sample(decision, wants_bait=len(samples) % 3 == 0))
        if len(samples) == count:
            return samples
    raise RuntimeError(f"{game}: too few positions with a choice for both sides")


def drawn_samples() -> list[Sample]:
    """Two randomised decisions in one position: one chooses the trap, the other chooses another move."""
    searcher, rules = make_searcher("othello", TABLE_MB), get_rules("othello")
    player = MoveChooser(
        strategy_named("randomised"), rules, TrapParams(), searcher, randomised=RandomisedParams()
    )
    position = rules.parse_position(DRAWN_AT)
    decisions = [player.choose(position, Limits(6), StopFlag(), seed=seed) for seed in (0, (1 << 64) - 1)]
    return [sample(complete(each, searcher, StopFlag())) for each in decisions]


def sample(decision: Decision, *, wants_bait: bool = False) -> Sample:
    """A decision with a complete profile, judged and forecast."""
    verdicts = decision_verdicts(decision)
    forecast = forecast_replies(decision, (), None, Person(), None, StopFlag())
    forecast = replace(forecast, model=MODELS.get(decision.game, forecast.model))
    if wants_bait and forecast.bait is None:
        forecast = _with_bait(decision, forecast)
    bait = forecast.bait
    return Sample(
        decision=decision,
        record=decision.to_record(),
        columns=columns_of(profile_verdict(decision)),
        forecast={
            "rule": forecast.rule,
            "model_kind": forecast.model.kind,
            "model_name": forecast.model.name,
            "model_sha256": forecast.model.sha256,
            "prior": forecast.prior,
            **asdict(expectations(forecast, verdicts)),
            "bait": None if bait is None else bait.reply,
            "bait_probability": None if bait is None else bait.p_reply,
            "bait_cost": None if bait is None else bait.cost.cost,
            "confirm_depth": 0 if forecast.costs is None else forecast.costs.depth,
            "record": forecast.to_record(),
        },
        outcomes=tuple(classify_by_figure_9(decision, each.reply) for each in decision.chosen.replies),
        probabilities=forecast.probabilities,
        baits=frozenset(forecast.bait_replies),
        judgements={each.reply: _judgement(decision, each.reply) for each in decision.chosen.replies},
    )


def _judgement(decision: Decision, reply: str) -> dict[str, Any]:
    costs = own_costs(decision, (reply,))
    replies = [
        [each.reply, each.score_centi, each.cost, each.depth, int(each.is_solved)]
        for each in dict.fromkeys((*costs.replies, costs.best))
    ]
    return {
        "version": costs.version,
        "cost": costs.of(reply).cost,
        "best": costs.best.reply,
        "best_centi": costs.best.score_centi,
        "replies": replies,
    }


def _with_bait(decision: Decision, forecast: ReplyForecast) -> ReplyForecast:
    """Turn the likeliest error of the decision's own scores, if there is one, into a bait."""
    errors = [each for each in decision_verdicts(decision).replies if each.cost >= MIN_ERROR_COST]
    if not errors:
        return forecast
    worst = max(errors, key=lambda each: forecast.probability_of(each.reply))
    at = forecast.replies.index(worst.reply)
    likely = [max(p, MIN_BAIT_P) if n == at else p for n, p in enumerate(forecast.probabilities)]
    score = next(-each.final_centi for each in decision.chosen.replies if each.reply == worst.reply)
    cost = ReplyCost(worst.reply, score, worst.cost, decision.depth, is_solved=False)
    best = min(decision.chosen.replies, key=lambda each: each.final_centi)
    found = ReplyCost(best.reply, -best.final_centi, 0, decision.depth, is_solved=False)
    costs = ReplyCosts(JUDGE_VERSION, found, (cost,))
    return replace(forecast, probabilities=tuple(likely), costs=costs, bait_replies=(worst.reply,))
