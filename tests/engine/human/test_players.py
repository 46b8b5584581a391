"""Players with an opponent model: what they choose and record, and what they do without one."""

import logging
import math
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.completion import complete
from engine.decision import Decision, OutcomeKind, Person
from engine.expected import expected_score
from engine.figure_9 import classify_by_figure_9
from engine.game import WIN_CENTI, Game
from engine.games import ENGINE_GAMES, GAMES, get_rules
from engine.games.othello import Othello, OthelloPosition
from engine.human.model import PredictionQuery
from engine.human.opponent_model_search import Background, GameModels
from engine.human.shallow import ShallowModel
from engine.move_chooser import MoveChooser
from engine.params import Assessment, DecidedScores, OpponentParams, OpponentScale, TrapParams
from engine.search.reference import exact_score
from engine.search.searchers import NativeOthelloSearcher, make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import STRATEGIES, strategy_named
from engine.time_management import Limits
from engine.verification import verify
from tests.engine.human.fakes import Answer, FakeModel, FakeReplyModel, alike
from tests.engine.positions import positions, random_position

othello = Othello()
native = NativeOthelloSearcher(table_mb=16)
values = st.builds(
    OpponentParams,
    scale=st.sampled_from(OpponentScale),
    budget_percent=st.sampled_from([0.0, 3.0, 30.0]),
    least_percent=st.sampled_from([0.0, 2.0, 20.0]),
)
PERSON_KINDS = tuple(
    name for name, kind in STRATEGIES.items() if kind.models_opponent and not kind.weighs_errors
)
MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R2K3 w - - 0 1"


def decide(
    position: Any,
    depth: int,
    kind: str = "opponent_model",
    *,
    game: str = "othello",
    answer: Answer = alike,
    value: OpponentParams | None = None,
    probabilities: FakeReplyModel | None = None,
    background: Background | None = None,
) -> Decision:
    models = GameModels(FakeModel(game, answer), probabilities, value or OpponentParams())
    searcher = native if game == "othello" else make_searcher(game, 1)
    player = MoveChooser(strategy_named(kind), get_rules(game), TrapParams(), searcher, models=models)
    return player.choose(position, Limits(depth), StopFlag(), background=background)


def by_weights(seed: int) -> Answer:
    """Any probabilities, the same for the same position."""

    def answer(game: Game[Any], ask: PredictionQuery) -> tuple[float, ...]:
        position = ask.positions[-1]
        rng = random.Random(f"{seed} {game.position_text(position)}")
        weights = [rng.random() ** 4 for _ in game.legal_moves(position)]
        return tuple(weight / math.fsum(weights) for weight in weights)

    return answer


def best_reply(depth: int) -> Answer:
    """Sure that the best reply is played."""

    def answer(game: Game[Any], ask: PredictionQuery) -> tuple[float, ...]:
        after = game.for_search(ask.positions[-1])
        moves = game.legal_moves(after)
        scores = [-exact_score(native, game.play(after, move), depth - 2, StopFlag()) for move in moves]
        return tuple(float(index == scores.index(max(scores))) for index in range(len(moves)))

    return answer


@given(positions(othello, 58), st.integers(2, 5), st.integers(0, 5), values, st.sampled_from(PERSON_KINDS))
@settings(max_examples=50, deadline=None)
def test_what_is_played_is_worth_most_within_the_budget(
    position: OthelloPosition, depth: int, seed: int, value: OpponentParams, kind: str
) -> None:
    """By the record alone, and by scores that are searched anew."""
    probabilities = FakeReplyModel("othello") if seed % 2 else None
    decision = decide(
        position, depth, kind, answer=by_weights(seed), value=value, probabilities=probabilities
    )
    verify(decision)
    assert Decision.from_record(decision.to_record()) == decision
    full = complete(decision, NativeOthelloSearcher(1), StopFlag())
    verify(full)
    assert [reply.probability for reply in full.chosen.replies] == [
        reply.probability for reply in decision.chosen.replies
    ] or not decision.chosen.replies
    assert decision.model_use is not None
    used = decision.model_use.value
    raws = {
        othello.move_text(move): -exact_score(
            native, othello.play(position, move), decision.depth - 1, StopFlag()
        )
        for move in othello.legal_moves(position)
    }
    best = max(raws.values())
    lost = expected_score(best, used.logistic_centi) - expected_score(
        raws[decision.move], used.logistic_centi
    )
    assert decision.chosen.raw_centi == raws[decision.move]
    assert lost <= used.risk_budget
    for reply in full.chosen.replies:
        assert classify_by_figure_9(full, reply.reply).kind in OutcomeKind
    if best >= WIN_CENTI:
        assert raws[decision.move] == best
        assert decision.model is None


@given(positions(othello, 58), st.integers(2, 5), values)
@settings(max_examples=30, deadline=None)
def test_against_the_best_replies_it_is_the_standard_player(
    position: OthelloPosition, depth: int, value: OpponentParams
) -> None:
    """A move may be another one only where values are equal on the scale, and then guarantees as much."""
    decision = decide(position, depth, answer=best_reply(depth), value=value)
    standard = decide(position, depth, "standard")
    assert decision.chosen.raw_centi == standard.chosen.raw_centi
    assert decision.move == standard.move


@pytest.mark.parametrize("kind", PERSON_KINDS)
def test_a_forced_mate_is_played_and_nobody_is_asked(kind: str) -> None:
    game = get_rules("chess")
    decision = decide(
        game.parse_position(MATE_IN_TWO), 5, kind, game="chess", probabilities=FakeReplyModel("chess")
    )
    verify(decision)
    assert game.score_text(decision.chosen.raw_centi, game.parse_position(MATE_IN_TWO)) == "#2"
    assert (decision.model, decision.chosen.value) == (None, None)
    assert decision.model_use is not None
    assert decision.model_use.trouble == ""
    standard = decide(game.parse_position(MATE_IN_TWO), 5, "standard", game="chess")
    assert decision.move == standard.move


def test_a_likely_error_is_played_for() -> None:
    """Within the budget the move is taken after which the person is expected to go wrong; else not."""
    position = random_position(othello, random.Random(4), plies=14)
    standard = decide(position, 5, "standard")
    free = OpponentParams(budget_percent=100, share_percent=100)
    risky = decide(position, 5, answer=by_weights(3), value=free)
    assert risky.move != standard.move
    assert risky.chosen.raw_centi < standard.chosen.raw_centi
    assert risky.chosen.value is not None
    verify(risky)
    careful = decide(position, 5, answer=by_weights(3), value=replace(free, budget_percent=0))
    assert careful.move == standard.move


def test_only_likely_replies_are_looked_into() -> None:
    position = random_position(othello, random.Random(4), plies=20)

    def sure(game: Game[Any], ask: PredictionQuery) -> tuple[float, ...]:
        size = len(game.legal_moves(ask.positions[-1]))
        return (0.99, *(0.01 / (size - 1) for _ in range(size - 1))) if size > 1 else (1.0,)

    decision = decide(position, 6, answer=sure)
    looked_into = [[bool(r.scores_centi) for r in c.replies] for c in decision.candidates if c.replies]
    assert looked_into
    assert all(row[0] and not any(row[1:]) for row in looked_into)
    assert not decision.is_complete
    whole = decide(position, 6, "calibrated", answer=sure, probabilities=FakeReplyModel("othello"))
    assert whole.is_complete
    verify(whole)


def test_calibrated_probabilities_are_what_counts() -> None:
    """They know the human-move model's word, who replies and the profile; the record names both models."""
    position, person = random_position(othello, random.Random(4), plies=20), Person(1700, 12.5)
    probabilities = FakeReplyModel("othello", pull=1.0)
    decision = decide(
        position, 5, "calibrated", probabilities=probabilities, background=Background((), person)
    )
    assert decision.model == probabilities.info
    assert decision.model_use is not None
    assert decision.model_use.human == FakeModel("othello").info
    assert decision.model_use.person == person
    assert set(probabilities.people) == {person}
    assert sorted(reply.probability or 0 for reply in decision.chosen.replies)[-1] == 1.0
    guessed = MoveChooser(
        strategy_named("calibrated"),
        othello,
        TrapParams(),
        native,
        models=GameModels(ShallowModel("othello"), probabilities),
    )
    unasked = guessed.choose(position, Limits(5), StopFlag()).model_use
    assert unasked is not None
    assert unasked.human is None  # a guess is nothing that probabilities were learned with
    without = decide(position, 5, "calibrated")
    assert without.model == FakeModel("othello").info  # there is no such model: the human-move model's word


def test_a_model_is_told_the_game_and_the_person() -> None:
    game = get_rules("chess")
    moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"]
    line = [game.initial()]
    for text in moves:
        line.append(game.play(line[-1], game.parse_move(line[-1], text)))
    for wanted in (1, 3, 8):
        model = FakeModel("chess", max_history_positions=wanted)
        player = MoveChooser(
            strategy_named("opponent_model"),
            game,
            TrapParams(),
            make_searcher("chess", 1),
            models=GameModels(model),
        )
        background = Background(tuple(line[:-1]), Person(1234, 60.0))
        player.choose(line[-1], Limits(2), StopFlag(), background=background)
        assert model.asked
        for ask in model.asked:
            assert ask.person == Person(1234, 60.0)
            assert ask.positions[:-1] == tuple(line)[len(line) - min(wanted - 1, len(line)) :]
            before = ask.positions[-2] if wanted > 1 else line[-1]
            assert ask.positions[-1] in [game.play(before, move) for move in game.legal_moves(before)]
        assert len({ask.positions for ask in model.asked}) == len(model.asked)  # once each


def test_repeating_a_position_is_no_way_to_wait() -> None:
    """A move back to a position of the game counts what it guarantees, whatever errors may be hoped for."""
    game = get_rules("chess")
    position = game.parse_position(
        f"{MATE_IN_TWO.replace('/R7/1R2K3', '/8/1R2K1n1')} moves b1b2 g1h3 b2b1 h3g1"
    )

    def hopeful(game: Game[Any], ask: PredictionQuery) -> tuple[float, ...]:
        """Sure of the worst reply there is."""
        after = game.for_search(ask.positions[-1])
        scores = [
            exact_score(searcher, game.play(after, move), 1, StopFlag()) for move in game.legal_moves(after)
        ]
        return tuple(float(index == scores.index(max(scores))) for index in range(len(scores)))

    searcher = make_searcher("chess", 1)
    decision = decide(
        position, 3, game="chess", answer=hopeful, value=OpponentParams(budget_percent=100, share_percent=100)
    )
    verify(decision)
    back = next(c for c in decision.candidates if c.move == "b1b2")
    assert decision.model_use is not None
    assert back.value == expected_score(back.raw_centi, decision.model_use.value.logistic_centi)
    assert (back.replies, back.raw_is_bound) == ((), False)
    others = [c for c in decision.candidates if c.replies]
    assert others
    assert all(c.value is not None for c in others)
    fresh = game.parse_position(game.board_text(position))
    again = decide(
        fresh, 3, game="chess", answer=hopeful, value=OpponentParams(budget_percent=100, share_percent=100)
    )
    assert next(c for c in again.candidates if c.move == "b1b2").replies


# --- Without a model ------------------------------------------------------------------------------------

GARBAGE: dict[str, Answer] = {
    "not probabilities: nan": lambda game, ask: (math.nan, *alike(game, ask)[1:]),
    "probabilities for": lambda game, ask: alike(game, ask)[1:],
    "add up to 0.5": lambda game, ask: tuple(p / 2 for p in alike(game, ask)),
    "ZeroDivisionError": lambda _game, _ask: (1 / 0,),
    "TypeError": lambda _game, _ask: None,  # type: ignore[dict-item, return-value]
}


@pytest.mark.parametrize("why", GARBAGE)
def test_garbage_leaves_the_move_to_the_standard_player(why: str, caplog: pytest.LogCaptureFixture) -> None:
    """The log says so once, the record each time; when the model works again, both do."""
    position = random_position(othello, random.Random(4), plies=20)
    answers = [GARBAGE[why]]
    model = FakeModel("othello", lambda game, ask: answers[0](game, ask))
    player = MoveChooser(
        strategy_named("opponent_model"), othello, TrapParams(), native, models=GameModels(model)
    )
    with caplog.at_level(logging.INFO, logger="engine"):
        failed = [player.choose(position, Limits(4), StopFlag()) for _ in range(3)]
        answers[0] = alike
        worked = [player.choose(position, Limits(4), StopFlag()) for _ in range(2)]
    standard = decide(position, 4, "standard")
    for decision in failed:
        verify(decision)
        assert (decision.strategy, decision.move) == ("opponent_model", standard.move)
        assert decision.chosen.raw_centi == standard.chosen.raw_centi
        assert decision.model is None
        assert decision.model_use is not None
        assert why in decision.model_use.trouble
        verify(complete(decision, native, StopFlag()))
    for decision in worked:
        assert decision.model == model.info
    told = [record for record in caplog.records if record.levelno >= logging.INFO]
    assert [record.levelname for record in told] == ["ERROR", "INFO"]
    assert why in told[0].getMessage()
    assert "works again" in told[1].getMessage()


def test_garbage_of_the_calibrated_model() -> None:
    position = random_position(othello, random.Random(4), plies=20)
    decision = decide(position, 4, "calibrated", probabilities=FakeReplyModel("othello", pull=-9.0))
    verify(decision)
    assert decision.move == decide(position, 4, "standard").move
    assert decision.model_use is not None
    assert "fake probabilities: not probabilities" in decision.model_use.trouble


@pytest.mark.parametrize("kind", PERSON_KINDS)
@pytest.mark.parametrize("name", [name for name in GAMES if name not in ENGINE_GAMES])
def test_every_game_is_played_without_a_file(name: str, kind: str) -> None:
    """By the guess that short searches give."""
    game, rng = get_rules(name), random.Random(7)
    position, models = game.initial(), set()
    player = MoveChooser(
        strategy_named(kind),
        game,
        TrapParams(Assessment.BEST, decided=DecidedScores.SWINDLE),
        make_searcher(name, 1),
    )
    for _ in range(6):
        if not game.legal_moves(position):
            break
        decision = player.choose(position, Limits(3), StopFlag())
        verify(decision)
        models.add(None if decision.model is None else decision.model.kind)
        position = game.play(position, game.parse_move(position, decision.move))
        if moves := game.legal_moves(position):
            position = game.play(position, rng.choice(moves))
    assert "shallow" in models


@pytest.mark.parametrize(("kind", "at_most"), [("shallow", 1), ("network", 16)])
def test_who_stops_a_player_waits_for_few_queries(kind: str, at_most: int) -> None:
    """Stopped while the model is asked for the first time, it chooses as the standard player does."""
    stop, game = StopFlag(), get_rules("chess")

    def answer(game: Game[Any], ask: PredictionQuery) -> tuple[float, ...]:
        stop.set()
        return alike(game, ask)

    model = FakeModel("chess", answer)
    model.info = replace(model.info, kind=kind)
    models = GameModels(model, value=OpponentParams(budget_percent=100.0))  # all 20 moves are within
    player = MoveChooser(
        strategy_named("opponent_model"), game, TrapParams(), make_searcher("chess", 1), models=models
    )
    decision = player.choose(game.initial(), Limits(30), stop)
    verify(decision)
    assert len(model.asked) == at_most
    assert (decision.depth, decision.model) == (2, None)
    assert decision.model_use is not None
    assert decision.model_use.trouble == "there was no time to query the model"
    assert decision.move == decide(game.initial(), 2, "standard", game="chess").move


@pytest.mark.parametrize(("last", "is_judged"), [(1, False), (4, True), (5, True)])
def test_after_a_stop_no_more_probabilities_are_reckoned(last: int, is_judged: bool) -> None:
    """Each iteration asks four times, for Othello's first four moves; a complete first one counts."""
    stop = StopFlag()

    class StoppingOdds(FakeReplyModel):
        def reply_probabilities(self, *asked: Any) -> dict[str, float]:
            if len(self.people) == last - 1:
                stop.set()
            return super().reply_probabilities(*asked)

    probabilities = StoppingOdds("othello")
    models = GameModels(FakeModel("othello"), probabilities)
    player = MoveChooser(strategy_named("calibrated"), othello, TrapParams(), native, models=models)
    decision = player.choose(othello.initial(), Limits(3), stop)
    verify(decision)
    assert len(probabilities.people) == last
    assert (decision.depth, decision.model is not None) == (2, is_judged)


@pytest.mark.parametrize("hurry", ["stopped", "no time"])
def test_in_haste_nobody_is_asked(hurry: str) -> None:
    stop, model = StopFlag(), FakeModel("othello")
    if hurry == "stopped":
        stop.set()
    limits = Limits(30, 0.01 if hurry == "no time" else None)
    position = random_position(othello, random.Random(3), plies=12)
    player = MoveChooser(
        strategy_named("opponent_model"), othello, TrapParams(), native, models=GameModels(model)
    )
    decision = player.choose(position, limits, stop)
    assert (model.asked, decision.model) == ([], None)
    assert decision.model_use is not None
    assert decision.model_use.trouble == "there was no time to query the model"
    verify(decision)
