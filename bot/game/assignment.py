"""Chooses the strategy for a game: fixed, by rule, or in a randomised, balanced comparison. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.base.config import FULL_STRENGTH_PAIR, AssignmentConfig, AssignmentMethod, AssignmentRule
from bot.base.events import Speed
from engine.strategies.registry import strategies_for, strategy_named
from storage.records import NewGame

BIASED_COIN_PROBABILITY = 0.75
"""Probability of choosing a strategy with fewer games, if people may know which strategy they met. Efron
(1971, doi:10.1093/biomet/58.3.403) uses 2/3 for a whole trial. Our value is higher because an opponent plays
few games, so balance is needed sooner; the next strategy stays uncertain."""

BLIND_COIN_PROBABILITY = 0.6
"""The same probability in blind trials: a person who knew all earlier choices could predict the next one at
most 60 % of the time. Effects weighted by the inverse probability are nearly as precise as with a fair
coin: the variance is 1 / (4 * .6 * .4) = 1.04 times as large; with .75, 1.33 times (docs/trials.md)."""

DRAW_BITS = 64
"""Number of bits in the random number that selects a strategy."""


_LIKE_RATING = "like_rating"  # in `Assignment.detail`


@dataclass(frozen=True, slots=True)
class AssignmentContext:
    """The facts about a game that are known before the first move."""

    site: str
    game: str
    speed: Speed
    rated: bool
    opponent_rating: int | None
    opponent_is_bot: bool
    """Whether the site says that the opponent is a program."""
    against_opponent: Mapping[str, int]
    """Number of earlier games against this opponent for which each strategy was chosen at random; missing
    strategies count as 0."""
    overall: Mapping[str, int]
    """The same against all opponents."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The chosen strategy, and how it was chosen."""

    strategy: str
    detail: dict[str, Any]
    """Plain JSON values, stored with the game."""


def imitated_rating(game: NewGame) -> int | None:
    """The rating of the people whom a game's strategy imitates; None if it imitates nobody."""
    rating = game.selection.get(_LIKE_RATING)
    return rating if isinstance(rating, int) else None


def assign(
    context: AssignmentContext,
    config: AssignmentConfig,
    number: int,
    coin_probability: float = BIASED_COIN_PROBABILITY,
    *,
    has_people_model: bool = True,
) -> Assignment:
    """Choose a game's strategy according to the settings; if they name none, use the first available one.

    Args:
        context: The facts about the game.
        config: The settings.
        number: Random, uniform from 0 to 2^`DRAW_BITS` - 1; used if the strategy is chosen at random.
        coin_probability: `BIASED_COIN_PROBABILITY` or `BLIND_COIN_PROBABILITY`.
        has_people_model: Whether a model predicts people's replies at the game.
    """
    kinds = strategies_for(context.game)
    only = Assignment(kinds[0], {"method": "only"})
    match config.method:
        case AssignmentMethod.FULL_STRENGTH:
            assignment = _at_full_strength(context, number, coin_probability, has_people_model)
        case AssignmentMethod.FIXED:
            assignment = Assignment(config.strategy, {"method": "fixed"})
        case AssignmentMethod.RULES:
            assignment = _by_rules(context, config)
        case AssignmentMethod.BALANCED:
            players = [each for each in config.strategies if each in kinds]
            assignment = _balanced(context, players, number, coin_probability) if players else only
    assignment = assignment if assignment.strategy in kinds else only
    if strategy_named(assignment.strategy).has_level:
        return Assignment(assignment.strategy, assignment.detail | {"level": config.level})
    if strategy_named(assignment.strategy).imitates_people:
        return Assignment(assignment.strategy, assignment.detail | {_LIKE_RATING: config.like_rating})
    return assignment


def _at_full_strength(
    context: AssignmentContext, number: int, coin_probability: float, has_people_model: bool
) -> Assignment:
    exploit, strong = FULL_STRENGTH_PAIR
    method = {"method": AssignmentMethod.FULL_STRENGTH.value}
    if context.opponent_is_bot:
        return Assignment(strong, {**method, "reason": "program"})
    if not has_people_model:  # exploit would play the same moves
        return Assignment(strong, {**method, "reason": "no model of people"})
    if not context.rated:
        return Assignment(exploit, {**method, "reason": "casual"})
    drawn = _balanced(context, FULL_STRENGTH_PAIR, number, coin_probability)
    return Assignment(drawn.strategy, {**drawn.detail, **method})


def _by_rules(context: AssignmentContext, config: AssignmentConfig) -> Assignment:
    for number, rule in enumerate(config.rules, start=1):
        if _matches(rule, context):
            return Assignment(rule.strategy, {"method": "rules", "rule": number})
    return Assignment(config.strategy, {"method": "rules", "rule": None})


def _matches(rule: AssignmentRule, context: AssignmentContext) -> bool:
    rating = context.opponent_rating
    return (
        rule.game in (None, context.game)
        and rule.site in (None, context.site)
        and rule.speed in (None, context.speed)
        and (rule.min_rating is None or (rating is not None and rating >= rule.min_rating))
        and (rule.max_rating is None or (rating is not None and rating <= rule.max_rating))
    )


def drawn_strategy(probabilities: Mapping[str, float], number: int) -> str:
    """Return the strategy that a random number selects; also used to recompute a choice from its record.

    Args:
        probabilities: Probability of each strategy; they add up to 1. Their order does not
            matter, because databases do not keep the order.
        number: From 0 to 2^`DRAW_BITS` - 1.

    Raises:
        ValueError: No strategy has a positive probability, or the number is out of range.
    """
    if not 0 <= number < 1 << DRAW_BITS:
        raise ValueError(f"number is {number}, must have at most {DRAW_BITS} bits")
    strategies = sorted(strategy for strategy, p in probabilities.items() if p > 0)
    if not strategies:
        raise ValueError(f"no strategy has a positive probability: {dict(probabilities)}")
    share = number / (1 << DRAW_BITS)
    for strategy in strategies[:-1]:
        share -= probabilities[strategy]
        if share < 0:
            return strategy
    return strategies[-1]


def _balanced(
    context: AssignmentContext, strategies: Sequence[str], number: int, coin_probability: float
) -> Assignment:
    """Choose at random, favouring strategies with fewer games against this opponent or, in a tie, overall.

    With a fair coin, an opponent's few games are often unbalanced; a fixed order would be predictable.
    """
    against = [context.against_opponent.get(strategy, 0) for strategy in strategies]
    overall = [context.overall.get(strategy, 0) for strategy in strategies]
    counts = against if min(against) < max(against) else overall
    behind = [strategy for strategy, count in zip(strategies, counts, strict=True) if count == min(counts)]
    ahead = [strategy for strategy in strategies if strategy not in behind]
    # Never less than an even share, which several strategies behind may have.
    for_behind = max(coin_probability, len(behind) / len(strategies)) if ahead else 1.0
    probabilities = {strategy: for_behind / len(behind) for strategy in behind}
    probabilities |= {strategy: (1 - for_behind) / len(ahead) for strategy in ahead}
    strategy = drawn_strategy(probabilities, number)
    return Assignment(
        strategy,
        {
            "method": "balanced",
            "against_opponent": dict(zip(strategies, against, strict=True)),
            "overall": dict(zip(strategies, overall, strict=True)),
            "coin_probability": coin_probability,
            "chances": probabilities,
            "chance": probabilities[strategy],
            # As text: databases and JSON readers round integers of this size.
            "number": f"{number:016x}",
        },
    )
