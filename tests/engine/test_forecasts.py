"""Forecasts with the judge's costs and baits."""

import random
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest

from engine.bait_rule import RANK_MODEL, ExpectedReplies, expectations, forecast
from engine.completion import complete
from engine.decision import UNKNOWN_PERSON, Decision, ModelInfo, Person, SearchMode
from engine.errors import IncompleteProfile
from engine.expected import expected_score
from engine.figure_9 import MIN_BAIT_P, decision_verdicts, expected_scale_centi
from engine.forecasts import decision_costs, decision_expectations, forecast_replies, judged_forecast
from engine.games import get_rules
from engine.human.opponent_model_search import GameModels
from engine.human.reply_forecast import ReplyForecast, without_person
from engine.judge import JUDGE_VERSION, reply_costs
from engine.move_chooser import MoveChooser
from engine.opponents.pair_value import PairRatings
from engine.params import TrapParams
from engine.search.reference import Searcher
from engine.search.searchers import make_searcher
from engine.stop import StopFlag, Stopped
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from engine.verification import verify
from storage.evidence.intervals import share
from tests.engine.human.fakes import FakeModel
from tests.engine.positions import random_position

OTHELLO = get_rules("othello")
DEPTH = 4


@lru_cache(maxsize=1)
def searcher() -> Searcher:
    return make_searcher("othello", 4)


def decided(position: Any, depth: int = DEPTH) -> Decision:
    """Our move with its whole profile."""
    player = MoveChooser(strategy_named("standard"), OTHELLO, TrapParams(), searcher())
    return complete(player.choose(position, Limits(depth), StopFlag()), searcher(), StopFlag())


def forecast_of(decision: Decision, stop: StopFlag | None = None) -> ReplyForecast:
    return forecast_replies(decision, (), None, UNKNOWN_PERSON, None, stop or StopFlag())


@lru_cache(maxsize=1)
def middle_games() -> tuple[Decision, ...]:
    made = (decided(random_position(OTHELLO, random.Random(seed), 20 + seed % 30)) for seed in range(60))
    return tuple(each for each in made if len(each.chosen.replies) > 1)


def after(decision: Decision) -> Any:
    game = get_rules(decision.game)
    position = game.parse_position(decision.position)
    return game.play(position, game.parse_move(position, decision.move))


def test_baits_are_the_rule_by_the_judge() -> None:
    """The rule once more, from a verdicts of its own; some likely errors are no baits."""
    found = refused = 0
    for made in middle_games():
        forecast = forecast_of(made)
        likeliest = sorted(
            zip(forecast.probabilities, forecast.replies, strict=True), key=lambda each: -each[0]
        )
        asked = [reply for p, reply in likeliest[:2] if p >= MIN_BAIT_P]
        costs = reply_costs("othello", after(made), asked, StopFlag())
        assert forecast.costs == costs
        scale = expected_scale_centi(made)
        looks = {
            each.reply: sum(expected_score(-score, scale) for score in each.scores_centi[:2])
            for each in made.chosen.replies
        }
        best = {costs.best.reply} | {reply for reply in asked if costs.of(reply).cost < 200}
        errors = [reply for reply in asked if costs.of(reply).cost >= 1000]
        baits = [reply for reply in errors if all(looks[reply] >= looks[each] for each in best)]
        assert sorted(forecast.bait_replies) == sorted(baits)
        found, refused = found + len(baits), refused + len(errors) - len(baits)
    assert found > 3
    assert refused > 3


def test_whoever_stops_it_is_told() -> None:
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        forecast_of(middle_games()[0], stop)


def test_costs_do_not_depend_on_who_scored_the_decision() -> None:
    made = middle_games()[0]
    assert forecast_of(replace(made, profile_source="stockfish")) == forecast_of(made)


def test_a_forecast_of_earlier_rules_is_judged_by_its_own_probabilities() -> None:
    made = middle_games()[0]
    now = forecast_of(made)
    old = replace(now, rule=1, costs=None, bait_replies=())
    assert judged_forecast(made, old, StopFlag()) == now


def test_a_game_that_is_decided_between_the_two_has_no_baits(monkeypatch: pytest.MonkeyPatch) -> None:
    made = next(each for each in middle_games() if forecast_of(each).bait_replies)
    old = forecast_of(made)
    assert judged_forecast(made, old, StopFlag(), ratings=PairRatings(1500, 1500)) == old
    asked = []

    def decided(*arguments: Any) -> bool:
        asked.append(arguments)
        return True

    monkeypatch.setattr("engine.forecasts.is_decided", decided)
    found = judged_forecast(made, old, StopFlag(), ratings=PairRatings(1500, 1700))
    assert found == replace(old, bait_replies=())
    assert old.costs is not None
    assert asked == [("othello", after(made), old.costs.best.score_centi, 1700, 1500)]


def test_what_is_known_is_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    made = next(each for each in middle_games() if len(each.chosen.replies) > 4)
    replies = [each.reply for each in made.chosen.replies]
    every = decision_costs(made, replies, StopFlag())
    some = decision_costs(made, replies[:2], StopFlag())
    assert decision_costs(made, replies, StopFlag(), some) == every
    monkeypatch.setattr("engine.judge.make_searcher", None)
    assert decision_costs(made, replies[::-1], StopFlag(), every).replies == every.replies[::-1]
    with pytest.raises(TypeError):  # costs by another version do not count
        decision_costs(made, replies, StopFlag(), replace(every, version=JUDGE_VERSION - 1))


def test_a_game_that_needs_another_engine_keeps_its_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge would play it badly."""
    monkeypatch.setattr("engine.forecasts.ENGINE_GAMES", {"othello"})
    monkeypatch.setattr("engine.judge.make_searcher", None)
    for made in middle_games()[:20]:
        replies = [each.reply for each in made.chosen.replies]
        costs = decision_costs(made, replies, StopFlag())
        assert [each.reply for each in costs.replies] == replies
        assert [each.cost for each in costs.replies] == [
            each.cost for each in decision_verdicts(made).replies
        ]
        assert costs.best.score_centi == -made.chosen.raw_centi
        assert {each.depth for each in costs.replies} == {made.depth - 1}
        assert forecast_of(made).is_judged


def test_a_forced_reply_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.judge.make_searcher", None)
    made = (decided(random_position(OTHELLO, random.Random(seed), 52)) for seed in range(40))
    forced = next(each for each in made if len(each.chosen.replies) == 1)
    found = forecast_of(forced)
    assert (found.costs, found.is_judged, found.baits) == (None, True, ())


def test_a_move_that_ends_the_game_has_no_replies() -> None:
    game = get_rules("chess")
    position = game.parse_position("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1")
    chess = make_searcher("chess", 1)
    made = MoveChooser(strategy_named("standard"), game, TrapParams(), chess).choose(
        position, Limits(2), StopFlag()
    )
    made = complete(made, chess, StopFlag())
    verify(made)
    models = GameModels(FakeModel("chess"), None)
    found = forecast_replies(made, (), models, UNKNOWN_PERSON, None, StopFlag())
    assert (made.move, found.replies, found.probabilities, found.costs) == ("f7g7", (), (), None)
    assert found.model.kind == RANK_MODEL


def test_models_of_people_say_what_is_likely() -> None:
    made = middle_games()[0]
    human = FakeModel(
        "othello", lambda game, ask: first_reply(game, ask.positions[-1]), max_history_positions=2
    )
    positions = (OTHELLO.parse_position(made.position),)
    person = Person(1800)
    for before in ((), positions):
        found = forecast_replies(made, before, GameModels(human, None), person, None, StopFlag())
        assert found.probabilities == (1.0, *[0.0] * (len(found.replies) - 1))
        assert (found.model, found.base, found.prior) == (human.info, (), "")
    assert [ask.person for ask in human.asked] == [person, person]
    assert [len(ask.positions) for ask in human.asked] == [2, 2]
    alone = forecast_of(made)
    assert alone.model.kind == RANK_MODEL


def first_reply(game: Any, position: Any) -> tuple[float, ...]:
    return (1.0, *[0.0] * (len(game.legal_moves(position)) - 1))


def test_an_incomplete_profile_is_refused() -> None:
    made = middle_games()[0]
    partial = made.with_chosen(replace(made.chosen, complete=False))
    with pytest.raises(IncompleteProfile):
        forecast_of(partial)


def test_whoever_moves_at_random_does_as_chance_expects() -> None:
    """Of forecasts that give each reply the same probability, what happened is within its interval."""
    rng = random.Random(5)
    uniform = ModelInfo("uniform", "chance", "")
    expected = {"error": 0.0, "fall": 0.0}
    happened = {"error": 0, "fall": 0}
    moves = 0
    for seed in range(150):
        made = decided(random_position(OTHELLO, random.Random(seed), plies=6 + seed % 40), depth=3)
        verdicts, count = decision_verdicts(made), len(made.chosen.replies)
        if count < 2:
            continue
        probabilities = ExpectedReplies((1 / count,) * count, uniform)
        found = forecast(made.chosen, expected_scale_centi(made), probabilities)
        sums = expectations(found, verdicts)
        assert sums.error_uniform == pytest.approx(sums.error_expected, abs=1e-4)
        expected["error"] += sums.error_uniform
        expected["fall"] += sums.fall_uniform
        played = rng.choice(verdicts.replies)
        happened["error"] += played.cost >= 1000
        happened["fall"] += verdicts.is_paper_trap(played)
        moves += 1
    for what, count in happened.items():
        interval = share(count, moves)
        assert interval.low is not None
        assert interval.high is not None
        assert interval.low < expected[what] / moves < interval.high, (what, count, expected, moves)
        assert count > 5


def test_both_moves_of_a_draw_are_forecast() -> None:
    position = OTHELLO.parse_position("4w3/3w1wb1/2w1wb2/1wbbbb2/2wwbb2/2wwbw2/2wwb3/3wb3 w")
    player = MoveChooser(strategy_named("randomised"), OTHELLO, TrapParams(), searcher())
    for seed, other in ((0, "d3"), ((1 << 64) - 1, "f7")):
        decision = player.choose(position, Limits(6), StopFlag(), seed=seed)
        left = next(each for each in decision.candidates if each.move == other)
        by_looks = forecast_of(decision)
        assert by_looks.other == forecast(left, expected_scale_centi(decision))
        assert by_looks.is_judged
        assert ReplyForecast.from_record(by_looks.to_record()) == by_looks
        assert by_looks.other is not None
        others = replace(by_looks.other, replies=by_looks.other.replies[::-1])
        with pytest.raises(ValueError, match=f"the other forecast does not match the replies to {other}"):
            decision_expectations(decision, replace(by_looks, other=others))
        with pytest.raises(ValueError, match="a forecast for the other move is needed if and only if"):
            decision_expectations(decision, replace(by_looks, other=None))
        with pytest.raises(ValueError, match=f"the forecast does not match the replies to {decision.move}"):
            decision_expectations(decision, replace(by_looks, replies=by_looks.replies[::-1]))
        assert decision_expectations(decision, by_looks) == expectations(
            by_looks, decision_verdicts(decision)
        )
        human = FakeModel(
            "othello", lambda game, ask: first_reply(game, ask.positions[-1]), max_history_positions=2
        )
        models = GameModels(human, None)
        by_model = forecast_replies(decision, (position,), models, Person(1500), None, StopFlag())
        assert by_model.other is not None
        assert by_model.other.model == by_model.model == human.info
        alone = replace(decision, move=other, trial_draw=None, search_mode=SearchMode.EXACT)
        again = forecast_replies(alone, (position,), models, Person(1500), None, StopFlag())
        assert by_model.other.probabilities == again.probabilities
        assert again.other is None
        assert "other" not in again.to_record()


def test_what_the_other_move_of_a_trial_says_of_the_person_is_erased() -> None:
    """The reply to our move was forced, so nothing is said of the person there."""
    record = {"replies": ["a1"], "other": {"replies": ["b2", "c3"], "person": {"games": 4}}}
    assert without_person(record) == {
        "replies": ["a1"],
        "other": {"replies": ["b2", "c3"], "is_forgotten": True},
    }
    assert record["other"]["person"] == {"games": 4}  # type: ignore[index]
