"""The plan of a trial: which strategies the settings compare, and whether the comparison is blind."""

from collections.abc import Mapping
from dataclasses import asdict

from bot.base.config import AssignmentMethod, Config
from bot.game.assignment import BLIND_COIN_PROBABILITY
from engine import ENGINE_VERSION
from engine.strategies.registry import strategy_named
from storage.errors import TrialError
from storage.evidence.inference.any_time import PlannedN
from storage.evidence.trials import NewTrial
from storage.records import Endpoint

_STRATEGY_SETTINGS = ("engine", "trap", "human", "randomised", "uci", "online")
"""The tables of settings that affect how a strategy plays."""


def plan(
    configs: Mapping[str, Config],
    name: str,
    *,
    planned_n: int | None,
    alpha: float,
    cap: int,
    endpoint: Endpoint | None,
) -> NewTrial:
    """Plan a trial of the strategies that the accounts assign at random.

    Args:
        configs: The settings of each account, keyed by its name.
        name: Name of the trial.
        planned_n: See `storage.evidence.trials.NewTrial`, also for `alpha` and `cap`; None means the default.
        endpoint: The endpoint, or None for the default.

    Raises:
        TrialError: The settings do not define a blind comparison, or a value is invalid.
    """
    drawing = {account: config for account, config in configs.items() if _arms_of(config)}
    if not drawing:
        raise TrialError(
            'nothing to compare: no account has assignment.method = "full_strength", or "balanced" with two '
            "or more strategies, or plays only as `randomised`, which randomises each decision"
        )
    for account, config in drawing.items():
        if config.trial.reveal:
            raise TrialError(
                "trial.reveal is true: people would learn which strategy they faced; set it to false"
            )
        if config.assignment.seed:
            raise TrialError(
                f"account {account}: assignment.seed is {config.assignment.seed}, "
                "so the assignments could be predicted; set it to 0"
            )
    (first, config), *others = drawing.items()
    arms = _arms_of(config)
    for account, other in others:
        if _arms_of(other) != arms:
            raise TrialError(
                f"accounts {first} and {account} choose among different strategies: "
                f"{', '.join(arms)}; {', '.join(_arms_of(other))}"
            )
    is_alone = len(arms) == 1
    settings = {table: getattr(config, table).model_dump(mode="json") for table in _STRATEGY_SETTINGS}
    how = {
        "engine_version": ENGINE_VERSION,
        "params": asdict(config.trap.params()),
        "coin_probability": BLIND_COIN_PROBABILITY,
        "settings": settings,
    }
    configurations = {arm: {"strategy": arm, **how} for arm in arms}
    return NewTrial(
        name=name,
        arms=arms,
        configurations=configurations,
        planned_n=int(PlannedN.DECISIONS if is_alone else PlannedN.GAMES) if planned_n is None else planned_n,
        alpha=alpha,
        cap=cap,
        endpoint=endpoint or (Endpoint.COST if is_alone else Endpoint.SCORE),
    )


def _arms_of(config: Config) -> tuple[str, ...]:
    """The strategies that an account compares, sorted; a single one only if it randomises decisions."""
    assignment = config.assignment
    match assignment.method:
        case AssignmentMethod.FULL_STRENGTH | AssignmentMethod.BALANCED:
            arms = tuple(sorted(assignment.drawn_from or assignment.strategies))
        case AssignmentMethod.FIXED:
            arms = (assignment.strategy,)
        case AssignmentMethod.RULES:
            return ()
    return arms if len(arms) > 1 or strategy_named(arms[0]).draws_decisions else ()
