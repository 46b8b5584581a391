"""The registry of the program's strategies."""

from engine.errors import BadSettings
from engine.games import ENGINE_GAMES
from engine.strategies.calibrated import CALIBRATED
from engine.strategies.full_strength.exploit import EXPLOIT
from engine.strategies.full_strength.trappy_strong import TRAPPY_STRONG
from engine.strategies.gentle import GENTLE
from engine.strategies.like import LIKE
from engine.strategies.on_engine import CALIBRATED_UCI, OPPONENT_MODEL_UCI, STANDARD_UCI, TRAPPY_UCI
from engine.strategies.opponent_model import OPPONENT_MODEL
from engine.strategies.randomised import RANDOMISED
from engine.strategies.standard import STANDARD
from engine.strategies.strategy import Strategy
from engine.strategies.strong import STRONG
from engine.strategies.tempting import TEMPTING
from engine.strategies.trappy import TRAPPY

STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        STANDARD,
        TRAPPY,
        STRONG,
        EXPLOIT,
        TRAPPY_STRONG,
        OPPONENT_MODEL,
        CALIBRATED,
        TEMPTING,
        RANDOMISED,
        GENTLE,
        LIKE,
        TRAPPY_UCI,
        STANDARD_UCI,
        OPPONENT_MODEL_UCI,
        CALIBRATED_UCI,
    )
}
"""Every strategy, keyed by name, in the order of help texts."""


def strategy_named(name: str) -> Strategy:
    """The strategy of that name.

    Raises:
        BadSettings: There is no such strategy; the message lists the known ones.
    """
    try:
        return STRATEGIES[name]
    except KeyError:
        raise BadSettings(f"no strategy named {name!r}; known: {', '.join(STRATEGIES)}") from None


def strategies_for(game_name: str) -> tuple[str, ...]:
    """Names of the strategies that can play a game."""
    needs_engine = game_name in ENGINE_GAMES
    return tuple(name for name, each in STRATEGIES.items() if each.plays_engine_games or not needs_engine)


def own_strategies() -> tuple[str, ...]:
    """Names of the strategies that need neither another engine, nor a person as opponent, nor a level or
    rating at which to play."""
    return tuple(
        name
        for name, each in STRATEGIES.items()
        if not (each.asks_engine or each.draws_decisions or each.has_level or each.imitates_people)
    )


def strategies_in_comparison() -> tuple[str, ...]:
    """Names of the strategies compared in the papers, which differ only in setting traps."""
    return tuple(name for name, each in STRATEGIES.items() if each.is_compared)
