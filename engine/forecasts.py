"""Forecasts of the replies to a decision's move, by human-move models if available, with confirmed baits.

Forecasts are made on the opponent's time, once the chosen move's profile is complete.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from engine.bait_rule import CONFIRM_PLIES, ExpectedReplies, expectations, forecast, with_confirmed_costs
from engine.decision import Candidate, Decision, Person
from engine.expected import expected_score
from engine.games import ENGINE_GAMES, get_rules
from engine.human.opponent_model_search import GameModels
from engine.human.person_prior import estimated_side_time_s
from engine.human.registry import ModelRegistry
from engine.human.reply_forecast import Expectations, ReplyForecast
from engine.human.reply_probabilities import predict_replies
from engine.judgement import expected_scale_centi, judge_decision
from engine.protocols.engine_source import EnginePool, EngineSource
from engine.randomised import undrawn_candidate
from engine.search.reference import Searcher, exact_score
from engine.stop import StopFlag, Stopped

MAX_CONFIRM_NODES = 20_000_000
"""Node limit of a confirming search (a few seconds); if it is reached, the baits stay unconfirmed."""
MAX_CONFIRM_S = 5.0
"""Time limit of a confirming search by another engine, in seconds."""
_NO_LIMIT = 2**63 - 1  # nodes


def forecast_replies(
    decision: Decision,
    before: Sequence[Any],
    models: GameModels | None,
    person: Person,
    seconds: float | None,
    searcher: Searcher,
    stop: StopFlag,
    engine: EngineSource | None = None,
    most_nodes: int = MAX_CONFIRM_NODES,
) -> ReplyForecast:
    """The forecast of people's replies to a decision's move, with confirmed baits.

    If the move was chosen at random from two, replies to the other move are also forecast, because measuring
    a trap's effect requires both forecasts (`storage.evidence.inference.decisions`).

    Args:
        decision: Must have the chosen move's complete profile.
        before: The game's latest positions, oldest first, ending with the decision's; if empty, only the
            decision's position is known.
        models: Human-move models for this game; if None, the probabilities come from the scores alone.
        person: The person who replies.
        seconds: See `engine.human.person_prior.estimated_side_time_s`; None if the clock is unknown.
        searcher: Runs the confirming search.
        engine: Confirms its own scores; if None, no engine's scores are confirmed.
        most_nodes: Node limit of a confirming search by the searcher.

    Raises:
        IncompleteProfile: The profile is incomplete.
        Stopped: The flag was set before the work was done.
    """
    forecast = _unconfirmed(decision, decision.chosen, before, models, person, seconds)
    if decision.trial_draw is not None:
        other = undrawn_candidate(decision)
        forecast = replace(forecast, other=_unconfirmed(decision, other, before, models, person, seconds))
    if is_scored_by_own_search(decision, searcher):
        return confirm(decision, forecast, searcher, stop, most_nodes)
    return forecast if engine is None else confirm_by_engine(decision, forecast, engine, stop)


def decision_expectations(decision: Decision, made: ReplyForecast) -> Expectations:
    """Compute the expectations (`engine.bait_rule.expectations`) from a decision and its forecast.

    Args:
        decision: Must have the chosen move's complete profile.

    Raises:
        IncompleteProfile: The profile is incomplete.
        ValueError: The forecast does not match the replies, or omits the other move of a random choice.
    """
    judgement = judge_decision(decision)
    if tuple(each.reply for each in judgement.replies) != made.replies:
        raise ValueError(f"the forecast does not match the replies to {decision.move}")
    if (made.other is None) is not (decision.trial_draw is None):
        raise ValueError(
            f"{decision.move}: a forecast for the other move is needed if and only if the choice was random"
        )
    if made.other is not None:
        other = undrawn_candidate(decision)
        if tuple(each.reply for each in other.replies) != made.other.replies:
            raise ValueError(f"the other forecast does not match the replies to {other.move}")
    return expectations(made, judgement)


def _unconfirmed(
    decision: Decision,
    candidate: Candidate,
    before: Sequence[Any],
    models: GameModels | None,
    person: Person,
    seconds: float | None,
) -> ReplyForecast:
    game, scale = get_rules(decision.game), expected_scale_centi(decision)
    expected = None
    if models is not None and candidate.complete:
        known = before or (game.parse_position(decision.position),)
        after = game.play(known[-1], game.parse_move(known[-1], candidate.move))
        prediction = predict_replies(game, (*known, after), candidate, models, person, seconds)
        if prediction is not None:
            base = prediction.base if prediction.version else ()
            expected = ExpectedReplies(prediction.probabilities, prediction.model, base, prediction.version)
    return forecast(candidate, scale, expected)


def forecast_job(
    registry: ModelRegistry,
    decision: Decision,
    before: Sequence[Any],
    *,
    rating: int | None,
    initial_s: int | None,
    increment_s: int | None,
    engines: EnginePool | None = None,
) -> Callable[[Searcher, StopFlag], ReplyForecast]:
    """`forecast_replies` as a job for a search thread, with models from the registry.

    Args:
        registry: Lends the models while the job runs.
        decision: See `forecast_replies`, which also documents `before`.
        rating: Rating of the person who replies; None if unknown.
        initial_s: Initial time of the game's clock; None without a clock.
        increment_s: Likewise.
        engines: Lends the engine that confirms its own scores; if None, engines' scores are not confirmed.
    """

    def job(searcher: Searcher, stop: StopFlag) -> ReplyForecast:
        with registry.lend(decision.game) as models, ExitStack() as lent:
            engine = None
            if engines is not None and not is_scored_by_own_search(decision, searcher):
                engine = lent.enter_context(engines.lend(decision.game))
            seconds = estimated_side_time_s(initial_s, increment_s)
            person = Person(rating)
            return forecast_replies(decision, before, models, person, seconds, searcher, stop, engine)

    return job


def is_scored_by_own_search(decision: Decision, searcher: Searcher) -> bool:
    """Whether a search of the same kind as the searcher's produced the decision's scores."""
    return decision.game not in ENGINE_GAMES and decision.profile_source == searcher.source


def confirm(
    decision: Decision,
    made: ReplyForecast,
    searcher: Searcher,
    stop: StopFlag,
    most_nodes: int = MAX_CONFIRM_NODES,
) -> ReplyForecast:
    """The forecast after searching its baits `CONFIRM_PLIES` deeper; unchanged if the search takes too long.

    Another program's scores stay unconfirmed, because our search cannot verify them. See `confirm_by_engine`.

    Raises:
        Stopped: The flag was set before the work was done.
    """
    game = get_rules(decision.game)
    if not is_scored_by_own_search(decision, searcher):
        return made
    root = game.for_search(game.parse_position(decision.position))
    depth = min(decision.depth + CONFIRM_PLIES, game.most_plies_left(root), game.deepest_search)
    if depth <= decision.depth or not made.tempting:  # the decision's own search reached the end of the game
        most = max(depth, decision.depth)
        return with_confirmed_costs(made, most, [each.cost for each in made.tempting], searcher.source)
    after = game.play(root, game.parse_move(root, decision.move))
    scale = expected_scale_centi(decision)
    stop.set_node_limit(most_nodes)
    try:
        best = expected_score(exact_score(searcher, after, depth - 1, stop), scale)
        costs = []
        for each in made.tempting:
            child = game.play(after, game.parse_move(after, each.reply))
            costs.append(best - expected_score(-exact_score(searcher, child, depth - 2, stop), scale))
    except Stopped:
        # The number of nodes does not tell who stopped it: a search counts them in blocks.
        stop.set_node_limit(_NO_LIMIT)
        if stop.is_set():
            raise
        return made
    return with_confirmed_costs(made, depth, costs, searcher.source)


def confirm_by_engine(
    decision: Decision, made: ReplyForecast, engine: EngineSource, stop: StopFlag
) -> ReplyForecast:
    """The forecast after searching its baits `CONFIRM_PLIES` deeper with the engine that gave the scores.

    The forecast is unchanged if the search takes over `MAX_CONFIRM_S`, the engine fails, or another engine is
    now in use. Engines have their own pruning rules, so a repeated search may find different costs; the
    record keeps the costs that this search found.

    Raises:
        Stopped: The flag was set before the work was done.
    """
    game, source = get_rules(decision.game), decision.profile_source
    root = game.parse_position(decision.position)
    depth = min(decision.depth + CONFIRM_PLIES, game.most_plies_left(game.for_search(root)))
    if depth <= decision.depth or not made.tempting:  # the decision's own search reached the end of the game
        most = max(depth, decision.depth)
        return with_confirmed_costs(made, most, [each.cost for each in made.tempting], source)
    after = game.play(root, game.parse_move(root, decision.move))
    scores = engine.score_moves(after, [each.reply for each in made.tempting], depth - 1, stop, MAX_CONFIRM_S)
    if scores is None or scores.name != source:
        return made
    scale = expected_scale_centi(decision)
    best = expected_score(scores.best_centi, scale)
    costs = [best - expected_score(score, scale) for score in scores.scores_centi]
    return with_confirmed_costs(made, depth, costs, source)
