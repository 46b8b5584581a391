"""Forecasts of the replies to a decision's move, by human-move models if available, with the judge's baits.

Forecasts are made on the opponent's time, once the chosen move's profile is complete.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from engine.bait_rule import (
    FORECAST_RULE,
    ExpectedReplies,
    expectations,
    forecast,
    with_costs,
)
from engine.decision import Candidate, Decision, Person
from engine.errors import RecordError
from engine.figure_9 import decision_verdicts, expected_scale_centi
from engine.game import WIN_CENTI, Game, continued_position
from engine.games import ENGINE_GAMES, get_rules
from engine.human.opponent_model_search import GameModels
from engine.human.person_prior import estimated_side_time_s
from engine.human.registry import ModelRegistry
from engine.human.reply_forecast import Expectations, ReplyForecast
from engine.human.reply_probabilities import ReplyPrediction, predict_replies
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts, reply_costs
from engine.lookup.source import RootSource
from engine.opponents.pair_value import PairRatings, is_decided
from engine.person.card import PersonModel
from engine.person.faced import face, reply_costs_of
from engine.person.known import present_tilts
from engine.person.prediction import predict_person, verify_person_use
from engine.person.state import KnownPerson
from engine.randomised import undrawn_candidate
from engine.search.reference import Searcher
from engine.stop import StopFlag


def forecast_replies(
    decision: Decision,
    before: Sequence[Any],
    models: GameModels | None,
    person: Person,
    seconds: float | None,
    stop: StopFlag,
    sources: Sequence[RootSource] = (),
    known: KnownPerson | None = None,
) -> ReplyForecast:
    """The forecast of people's replies to a decision's move, with the judge's costs and the baits.

    If the move was chosen at random from two, replies to the other move are also forecast, because measuring
    a trap's effect requires both forecasts (`storage.evidence.inference.decisions`).

    Args:
        decision: Must have the chosen move's complete profile.
        before: The game's latest positions, oldest first, ending with the decision's; if empty, only the
            decision's position is known.
        models: Human-move models for this game; if None, the probabilities come from the scores alone.
        person: The person who replies.
        seconds: See `engine.human.person_prior.estimated_side_time_s`; None if the clock is unknown.
        stop: Ends the work.
        sources: The judge's tablebases (`engine.judge.position_value`).
        known: What was learned of the person from earlier games; None for nothing.

    Raises:
        IncompleteProfile: The profile is incomplete.
        Stopped: The flag was set before the work was done.
    """
    forecast = _without_costs(decision, decision.chosen, before, models, person, seconds, known)
    if decision.trial_draw is not None:
        other = undrawn_candidate(decision)
        made = _without_costs(decision, other, before, models, person, seconds, known)
        forecast = replace(forecast, other=made)
    return judged_forecast(
        decision, forecast, stop, sources, PairRatings.of(person.opponent_rating, person.rating)
    )


def judged_forecast(
    decision: Decision,
    made: ReplyForecast,
    stop: StopFlag,
    sources: Sequence[RootSource] = (),
    ratings: PairRatings | None = None,
) -> ReplyForecast:
    """The forecast under the present rules, with the judge's costs of the likeliest replies and the baits.

    Args:
        decision: See `forecast_replies`.
        made: A forecast of the replies to the decision's move, by any rules.
        stop: Ends the work.
        sources: See `forecast_replies`.
        ratings: Our rating and the person's; None if one is unknown.

    Raises:
        IncompleteProfile: The profile is incomplete.
        Stopped: The flag was set before the work was done.
    """
    decision.chosen.require_whole()
    made = replace(made, rule=FORECAST_RULE)
    if len(made.replies) < 2:
        return made
    costs = decision_costs(decision, made.likeliest, stop, sources=sources)
    decided = ratings is not None and _is_decided(decision, costs.best.score_centi, ratings)
    return with_costs(made, decision.chosen, expected_scale_centi(decision), costs, is_decided=decided)


def _is_decided(decision: Decision, best_centi: int, ratings: PairRatings) -> bool:
    """Whether the game is decided between the two players after our move, by the score of the best reply."""
    if abs(best_centi) >= WIN_CENTI:  # as ever: statistics leave out moves with a forced result
        return False
    after = _position_after(decision)
    return is_decided(decision.game, after, best_centi, ratings.theirs, ratings.ours) is True


def decision_costs(
    decision: Decision,
    replies: Iterable[str],
    stop: StopFlag,
    known: ReplyCosts | None = None,
    sources: Sequence[RootSource] = (),
) -> ReplyCosts:
    """What replies to a decision's move cost, by the judge; see `engine.judge.reply_costs`.

    In games that need another engine, which the judge does not play well, the costs are those in the
    decision's own scores.

    Raises:
        IncompleteProfile: The costs are the decision's own, and the profile is incomplete.
        RecordError: The costs are the decision's own, and lack a reply.
        IllegalMove: A reply is not legal.
        Stopped: The flag was set before the work was done.
    """
    if decision.game in ENGINE_GAMES:
        return own_costs(decision, replies)
    after = _position_after(decision)
    return reply_costs(decision.game, after, replies, stop, known=known, sources=sources)


def _position_after(decision: Decision) -> Any:
    """The position after the decision's move, in which the opponent replies."""
    game = get_rules(decision.game)
    position = game.for_search(game.parse_position(decision.position))
    return continued_position(game, game.play(position, game.parse_move(position, decision.move)))


def depth_from_move(game_name: str, cost: ReplyCost) -> int | None:
    """The depth in plies, counted from our move before the reply, to which a cost holds.

    None in games that need another engine, whose costs are those of the decision's own scores.
    """
    return None if game_name in ENGINE_GAMES else cost.depth + 1


def own_costs(decision: Decision, replies: Iterable[str]) -> ReplyCosts:
    """What replies to a decision's move cost in the decision's own scores, as if the judge had found it.

    Raises:
        IncompleteProfile: The profile is incomplete.
        RecordError: The profile lacks a reply.
    """
    verdicts, chosen = decision_verdicts(decision), decision.chosen
    scores = {each.reply: -each.final_centi for each in chosen.replies}
    is_solved = abs(chosen.raw_centi) >= WIN_CENTI

    def own_cost(reply: str) -> ReplyCost:
        cost = verdicts.of(reply).cost
        return ReplyCost(reply, scores[reply], cost, decision.depth - 1, is_solved)

    best = own_cost(max(scores, key=scores.__getitem__))
    return ReplyCosts(JUDGE_VERSION, best, tuple(own_cost(reply) for reply in dict.fromkeys(replies)))


def decision_expectations(decision: Decision, made: ReplyForecast) -> Expectations:
    """Compute the expectations (`engine.bait_rule.expectations`) from a decision and its forecast.

    Args:
        decision: Must have the chosen move's complete profile.

    Raises:
        IncompleteProfile: The profile is incomplete.
        ValueError: The forecast does not match the replies, or omits the other move of a random choice.
    """
    verdicts = decision_verdicts(decision)
    if tuple(each.reply for each in verdicts.replies) != made.replies:
        raise ValueError(f"the forecast does not match the replies to {decision.move}")
    if (made.other is None) is not (decision.trial_draw is None):
        raise ValueError(
            f"{decision.move}: a forecast for the other move is needed if and only if the choice was random"
        )
    if made.other is not None:
        other = undrawn_candidate(decision)
        if tuple(each.reply for each in other.replies) != made.other.replies:
            raise ValueError(f"the other forecast does not match the replies to {other.move}")
    return expectations(made, verdicts)


def _without_costs(
    decision: Decision,
    candidate: Candidate,
    before: Sequence[Any],
    models: GameModels | None,
    person: Person,
    seconds: float | None,
    known: KnownPerson | None,
) -> ReplyForecast:
    game, scale = get_rules(decision.game), expected_scale_centi(decision)
    expected = None
    if models is not None and candidate.complete:
        past = before or (game.parse_position(decision.position),)
        positions = (*past, game.play(past[-1], game.parse_move(past[-1], candidate.move)))
        if known is not None:
            expected = _of_known_person(game, positions, candidate, models, person, seconds, known)
        else:
            prediction = predict_replies(game, positions, candidate, models, person, seconds)
            expected = None if prediction is None else _of_anybody(prediction)
    return forecast(candidate, scale, expected)


def _of_anybody(prediction: ReplyPrediction) -> ExpectedReplies:
    base = prediction.base if prediction.version else ()
    return ExpectedReplies(
        prediction.probabilities,
        prediction.model,
        base,
        prediction.version,
        judge_tilt=prediction.judge_tilt,
    )


def _of_known_person(
    game: Game[Any],
    positions: Sequence[Any],
    candidate: Candidate,
    models: GameModels,
    person: Person,
    seconds: float | None,
    known: KnownPerson,
) -> ExpectedReplies | None:
    faced = face(game, positions, candidate, models, person, known.ply, seconds)
    if faced is None:
        return None
    anybody = _of_anybody(faced.prediction)
    state, model = known.state, faced.model
    if state.version != model.version or len(anybody.probabilities) < 2:
        return anybody  # the present models are rebuilding the state
    weights = present_tilts(known, model, person.rating, seconds)
    made = predict_person(model, state, faced.position, weights)
    return replace(anybody, probabilities=made.probabilities, base=made.base, person=made.use)


def verify_forecast(decision: Decision, made: ReplyForecast, model: PersonModel) -> None:
    """Recompute the probabilities of a forecast for a known person from the records alone.

    A forecast for a person of whom nothing was known, or that was erased at their request, is not checked.

    Args:
        decision: Must have the chosen move's complete profile.
        made: The forecast of the replies to the decision's move.
        model: The model that made it (`engine.person.card.person_model`).

    Raises:
        IncompleteProfile: The profile is incomplete.
        RecordError: The forecast does not follow from the records; the message says where.
    """
    if made.person is None:
        return
    game = get_rules(decision.game)
    position = game.parse_position(decision.position)
    after = game.play(position, game.parse_move(position, decision.move))
    if made.person.costs != reply_costs_of(game, after, decision.chosen, model):
        raise RecordError("the costs of the replies are not those of the decision")
    verify_person_use(model, made.replies, made.base, made.probabilities, made.person)


def forecast_job(
    registry: ModelRegistry,
    decision: Decision,
    before: Sequence[Any],
    *,
    person: Person,
    initial_s: int | None,
    increment_s: int | None,
    sources: Sequence[RootSource] = (),
    known: KnownPerson | None = None,
) -> Callable[[Searcher, StopFlag], ReplyForecast]:
    """`forecast_replies` as a job for a search thread, with models from the registry.

    Args:
        registry: Lends the models while the job runs.
        decision: See `forecast_replies`, which also documents `before`.
        person: The person who replies.
        initial_s: Initial time of the game's clock; None without a clock.
        increment_s: Likewise.
        sources: See `forecast_replies`.
        known: Likewise.
    """

    def job(_: Searcher, stop: StopFlag) -> ReplyForecast:
        with registry.lend(decision.game) as models:
            seconds = estimated_side_time_s(initial_s, increment_s)
            return forecast_replies(decision, before, models, person, seconds, stop, sources, known)

    return job
