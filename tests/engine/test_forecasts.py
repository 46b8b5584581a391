"""Forecasts made by search: baits confirmed two plies deeper, and what can not be confirmed."""

import random
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from engine.bait_rule import CONFIRM_PLIES, RANK_MODEL, ExpectedReplies, expectations, forecast
from engine.completion import complete
from engine.decision import UNKNOWN_PERSON, Decision, ModelInfo, Person, SearchMode
from engine.errors import IncompleteProfile
from engine.expected import expected_score
from engine.forecasts import (
    MAX_CONFIRM_NODES,
    confirm,
    decision_expectations,
    forecast_job,
    forecast_replies,
)
from engine.games import get_rules
from engine.human.opponent_model_search import GameModels
from engine.human.registry import ModelRegistry
from engine.human.reply_forecast import ReplyForecast, TemptingReply
from engine.judgement import expected_scale_centi, judge_decision
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.protocols.engine_source import EnginePool, EngineSource
from engine.protocols.link import SearchRequest
from engine.protocols.score_settings import EngineSettings
from engine.search.reference import INFINITY, Searcher, exact_score
from engine.search.searchers import make_searcher
from engine.stop import StopFlag, Stopped
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from engine.verification import verify
from storage.evidence.intervals import share
from tests.engine.human.fakes import FakeModel
from tests.engine.positions import random_position
from tests.engine.protocols.test_engine_source import Scripted, decide, source

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
    return forecast_replies(decision, (), None, UNKNOWN_PERSON, None, searcher(), stop or StopFlag())


@lru_cache(maxsize=1)
def tempting() -> tuple[Decision, ...]:
    """Decisions of middle games that tempt to something by looks alone."""
    found = []
    for seed in (27, 42, 59, 88, 98, 109, 113, 150, 153, 157, 172, 189, 199):  # of the first 200
        made = decided(random_position(OTHELLO, random.Random(seed), plies=30 + seed % 24))
        if made.chosen.replies and forecast(made.chosen, expected_scale_centi(made)).tempting:
            found.append(made)
    assert len(found) > 8
    return tuple(found)


def fresh_score(position: Any, depth: int) -> int:
    """By another searcher, whose table is empty."""
    return make_searcher("othello", 1).search(position, depth, -INFINITY, INFINITY, StopFlag())


def test_baits_are_confirmed_two_plies_deeper() -> None:
    """By the cost that a fresh search finds: some hold, some fade."""
    held = faded = 0
    for made in tempting():
        found = forecast_of(made)
        assert found.confirm_depth == DEPTH + CONFIRM_PLIES == 6
        position = OTHELLO.parse_position(made.position)
        after = OTHELLO.play(position, OTHELLO.parse_move(position, made.move))
        scale = expected_scale_centi(made)
        best = expected_score(fresh_score(after, 5), scale)
        for each in found.tempting:
            child = OTHELLO.play(after, OTHELLO.parse_move(after, each.reply))
            cost = best - expected_score(-fresh_score(child, 4), scale)
            assert each.confirmed_cost == cost >= 0
            assert each.is_confirmed is (cost >= 1000)
            assert each.cost == judge_decision(made).of(each.reply).cost
            held, faded = held + each.is_confirmed, faded + (not each.is_confirmed)
    assert held > 0
    assert faded > 0


def test_what_takes_too_long_is_not_confirmed() -> None:
    made = tempting()[0]
    found = forecast(made.chosen, expected_scale_centi(made))
    fresh = make_searcher("othello", 1)
    stop = StopFlag()
    assert confirm(made, found, fresh, stop, most_nodes=50) == found
    assert not stop.spend(10**6)
    assert (found.confirm_depth, found.bait) == (0, None)
    assert fresh.nodes < 5000 < MAX_CONFIRM_NODES
    assert confirm(made, found, fresh, StopFlag()).confirm_depth == 6


def test_a_search_that_ends_a_little_before_its_limit_was_not_stopped() -> None:
    """Nodes are counted in blocks of 1,024 of a running number, so the limit may end it so much earlier."""
    made = tempting()[0]
    found = forecast(made.chosen, expected_scale_centi(made))
    residues, position = set(), OTHELLO.initial()
    for number in range(24):
        position = OTHELLO.play(position, OTHELLO.legal_moves(position)[0])
        used = make_searcher("othello", 1)
        exact_score(used, position, 3 + number % 4, StopFlag())
        residues.add(used.nodes % 1024 // 256)
        assert confirm(made, found, used, StopFlag(), most_nodes=1000) == found
    assert residues == {0, 1, 2, 3}


def test_whoever_stops_it_is_told() -> None:
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        forecast_of(tempting()[0], stop)


def test_scores_of_other_programs_are_not_confirmed() -> None:
    made = replace(tempting()[0], profile_source="stockfish")
    found = forecast_of(made)
    assert (found.confirm_depth, found.confirm_source, found.confirmed) == (0, "", ())
    assert found.tempting
    assert confirm(made, found, searcher(), StopFlag()) == found


# --- Another engine's scores -------------------------------------------------------------------------------

BAIT, BEST = "a7a6", "e7e5"


def scripted(deep_centi: int) -> Scripted:
    """An engine to which 1... a7a6 looks good at depth 2 and is bad at 3 plies; at 5 it is worth this much,
    and the best reply 30."""

    def score(board: str, move: str, depth: int) -> int:
        if board.endswith("w"):
            return 0
        if move == BAIT:
            return 100 if depth < 3 else -200 if depth < 5 else deep_centi
        if move == BEST:
            return 0 if depth < 5 else 30
        return -500

    return Scripted(score=score)


def decided_by(link: Scripted) -> tuple[Decision, EngineSource]:
    engine = source(link)
    game = get_rules("chess")
    decision = decide(engine, game.position_text(game.initial()))
    assert (decision.profile_source, decision.depth, decision.is_complete) == (link.name, 4, True)
    link.asked.clear()
    return decision, engine


def forecast_by(
    engine: EngineSource | None, decision: Decision, stop: StopFlag | None = None
) -> ReplyForecast:
    own = make_searcher("chess", 1)
    return forecast_replies(decision, (), None, UNKNOWN_PERSON, None, own, stop or StopFlag(), engine)


@pytest.mark.parametrize(("deep_centi", "is_confirmed"), [(-200, True), (0, False), (900, False)])
def test_another_engine_confirms_its_own_scores(deep_centi: int, is_confirmed: bool) -> None:
    link = scripted(deep_centi)
    decision, engine = decided_by(link)
    made = forecast_by(engine, decision)
    assert [each.reply for each in made.tempting] == [BAIT]
    assert (made.confirm_depth, made.confirm_source) == (6, link.name)
    scale = expected_scale_centi(decision)
    best = max(30, deep_centi)
    cost = expected_score(best, scale) - expected_score(deep_centi, scale)
    assert made.tempting[0].confirmed_cost == cost
    assert (made.bait is not None) is is_confirmed
    assert [(ask.depth, ask.lines, ask.moves) for ask in link.asked] == [(5, 1, ()), (5, 1, (BAIT,))]
    assert ReplyForecast.from_record(made.to_record()) == made


def test_a_search_of_few_moves_may_see_more_than_that_of_all() -> None:
    """Then the tempting reply is the best that is known, and costs nothing."""
    link = scripted(-200)
    decision, engine = decided_by(link)

    def costs(ask: SearchRequest) -> float:
        if ask.moves:
            link.score = lambda *_: 500
        return 0.0

    link.costs = costs
    made = forecast_by(engine, decision)
    assert (made.tempting[0].confirmed_cost, made.confirm_depth) == (0, 6)


def test_without_temptation_no_engine_is_asked() -> None:
    link = Scripted(score=lambda *_: 0)
    decision, engine = decided_by(link)
    made = forecast_by(engine, decision)
    assert (made.tempting, made.confirm_depth, made.confirm_source) == ((), 6, link.name)
    assert link.asked == []


def test_at_the_end_of_the_game_no_engine_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The decision's own search reached it."""
    link = scripted(900)
    decision, engine = decided_by(link)
    for left, depth, asked in ((3, 4, 0), (4, 4, 0), (6, 6, 2)):
        monkeypatch.setattr(type(get_rules("chess")), "most_plies_left", lambda *_, left=left: left)
        made = forecast_by(engine, decision)
        assert [each.reply for each in made.tempting] == [BAIT]
        assert (made.confirm_depth, made.confirm_source) == (depth, link.name)
        assert (made.tempting[0].confirmed_cost == made.tempting[0].cost) is (asked == 0)
        assert len(link.asked) == asked


def test_what_another_engine_cannot_confirm() -> None:
    """There is none, it is another one by now, or it takes too long."""
    link = scripted(-200)
    decision, engine = decided_by(link)
    alone = forecast_by(None, decision)
    assert (alone.confirm_depth, alone.confirm_source, alone.bait) == (0, "", None)
    assert alone.tempting

    link.name = "Scripted 3"
    assert forecast_by(engine, decision) == alone
    link.name = "Scripted 2"
    link.costs = lambda _: 5.1  # seconds
    assert forecast_by(engine, decision) == alone
    assert link.closed == []


def test_an_engine_without_an_answer_is_closed() -> None:
    link = scripted(-200)
    decision, engine = decided_by(link)
    link.is_mute = True
    assert forecast_by(engine, decision).confirm_depth == 0
    assert link.closed == [True]


def test_whoever_stops_another_engine_is_told() -> None:
    link = scripted(-200)
    decision, engine = decided_by(link)
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        forecast_by(engine, decision, stop)


def test_a_job_borrows_the_engine_of_the_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = scripted(-200)
    decision, _ = decided_by(link)
    own, registry = make_searcher("chess", 1), ModelRegistry(folder=tmp_path)
    pool = EnginePool((EngineSettings(game="chess", command=("scripted",), depth=4),), link.connect)
    known: dict[str, Any] = {"rating": None, "initial_s": None, "increment_s": None}
    for engines, depth in ((pool, 6), (None, 0)):
        job = forecast_job(registry, decision, (), engines=engines, **known)
        assert job(own, StopFlag()).confirm_depth == depth
    asked = len(link.asked)
    monkeypatch.setattr(pool, "lend", None)
    of_ours = replace(decision, profile_source=own.source, depth=1)
    assert forecast_job(registry, of_ours, (), engines=pool, **known)(own, StopFlag()).confirm_source == (
        own.source
    )
    assert len(link.asked) == asked


def test_without_temptation_nothing_is_searched() -> None:
    made = decided(OTHELLO.initial())
    before = searcher().nodes
    found = forecast_of(made)
    assert (found.tempting, found.confirm_depth) == ((), 6)
    assert searcher().nodes == before


def test_a_search_to_the_end_of_the_game_needs_no_confirmation() -> None:
    """Where less than two plies are left beyond the decision's search, as deep as the game goes."""
    depths = set()
    for seed in range(12):
        position = random_position(OTHELLO, random.Random(seed), plies=55)
        left = OTHELLO.most_plies_left(OTHELLO.for_search(position))
        made = decided(position, depth=left)
        found = forecast_of(made)
        assert found.confirm_depth == min(left, made.depth + 2)
        depths.add(left - made.depth)
        bait = TemptingReply(made.chosen.replies[0].reply, 0.5, 2345, (2,))
        again = confirm(made, replace(found, tempting=(bait,)), searcher(), StopFlag())
        assert again.confirm_depth == found.confirm_depth
        beyond = confirm(replace(made, depth=left + 1), replace(found, tempting=()), searcher(), StopFlag())
        assert beyond.confirm_depth == left + 1
        if made.depth == left:
            assert again.tempting == (replace(bait, confirmed_cost=2345),)
    assert 0 in depths
    assert len(depths) > 1


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
    found = forecast_replies(made, (), models, UNKNOWN_PERSON, None, chess, StopFlag())
    assert (made.move, found.replies, found.probabilities, found.tempting) == ("f7g7", (), (), ())
    assert found.model.kind == RANK_MODEL


def test_models_of_people_say_what_is_likely() -> None:
    made = tempting()[0]
    human = FakeModel(
        "othello", lambda game, ask: first_reply(game, ask.positions[-1]), max_history_positions=2
    )
    positions = (OTHELLO.parse_position(made.position),)
    person = Person(1800)
    for before in ((), positions):
        found = forecast_replies(made, before, GameModels(human, None), person, None, searcher(), StopFlag())
        assert found.probabilities == (1.0, *[0.0] * (len(found.replies) - 1))
        assert (found.model, found.base, found.prior) == (human.info, (), "")
    assert [ask.person for ask in human.asked] == [person, person]
    assert [len(ask.positions) for ask in human.asked] == [2, 2]
    alone = forecast_of(made)
    assert alone.model.kind == RANK_MODEL


def first_reply(game: Any, position: Any) -> tuple[float, ...]:
    return (1.0, *[0.0] * (len(game.legal_moves(position)) - 1))


def test_an_incomplete_profile_is_refused() -> None:
    made = tempting()[0]
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
        judgement, count = judge_decision(made), len(made.chosen.replies)
        if count < 2:
            continue
        probabilities = ExpectedReplies((1 / count,) * count, uniform)
        found = forecast(made.chosen, expected_scale_centi(made), probabilities)
        sums = expectations(found, judgement)
        assert sums.error_uniform == pytest.approx(sums.error_expected, abs=1e-4)
        expected["error"] += sums.error_uniform
        expected["fall"] += sums.fall_uniform
        played = rng.choice(judgement.replies)
        happened["error"] += played.cost >= 1000
        happened["fall"] += judgement.is_paper_trap(played)
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
        assert ReplyForecast.from_record(by_looks.to_record()) == by_looks
        assert by_looks.confirm_depth == 8
        assert by_looks.other is not None
        others = replace(by_looks.other, replies=by_looks.other.replies[::-1])
        with pytest.raises(ValueError, match=f"the other forecast does not match the replies to {other}"):
            decision_expectations(decision, replace(by_looks, other=others))
        with pytest.raises(ValueError, match="a forecast for the other move is needed if and only if"):
            decision_expectations(decision, replace(by_looks, other=None))
        with pytest.raises(ValueError, match=f"the forecast does not match the replies to {decision.move}"):
            decision_expectations(decision, replace(by_looks, replies=by_looks.replies[::-1]))
        assert decision_expectations(decision, by_looks) == expectations(by_looks, judge_decision(decision))
        human = FakeModel(
            "othello", lambda game, ask: first_reply(game, ask.positions[-1]), max_history_positions=2
        )
        models = GameModels(human, None)
        by_model = forecast_replies(decision, (position,), models, Person(1500), None, searcher(), StopFlag())
        assert by_model.other is not None
        assert by_model.other.model == by_model.model == human.info
        alone = replace(decision, move=other, trial_draw=None, search_mode=SearchMode.EXACT)
        again = forecast_replies(alone, (position,), models, Person(1500), None, searcher(), StopFlag())
        assert by_model.other.probabilities == again.probabilities
        assert again.other is None
        assert "other" not in again.to_record()
