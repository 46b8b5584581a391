"""Players with an opponent model, on another engine's scores: its requests, and what the record proves."""

import math
from dataclasses import replace
from typing import Any

import pytest

from engine.completion import complete
from engine.decision import Decision
from engine.errors import RecordError
from engine.figure_9 import classify_by_figure_9
from engine.game import WIN_CENTI, Game
from engine.games import get_rules
from engine.human.model import PredictionQuery
from engine.human.opponent_model_search import GameModels
from engine.human.opponent_value import risk_floor_centi
from engine.move_chooser import MoveChooser
from engine.params import OpponentParams, TrapParams
from engine.protocols.engine_source import EngineSource
from engine.protocols.score_settings import EngineSettings
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from engine.verification import verify
from tests.engine.human.fakes import Answer, FakeModel, FakeReplyModel, alike
from tests.engine.protocols.test_engine_source import MATE_IN_ONE, STALEMATE_IN_ONE, Scripted, source
from tests.engine.protocols.test_uci_scores import LONG_S, MIDDLE_GAMES, REAL
from tests.programs import installed

chess = get_rules("chess")


def decide(
    engine: EngineSource | None,
    position: str,
    answer: Answer = alike,
    kind: str = "opponent_model_uci",
    *,
    game: str = "chess",
    value: OpponentParams | None = None,
    limits: Limits | None = None,
) -> Decision:
    probabilities = FakeReplyModel(game) if kind == "calibrated_uci" else None
    models = GameModels(FakeModel(game, answer), probabilities, value or OpponentParams())
    rules = get_rules(game)
    player = MoveChooser(
        strategy_named(kind), rules, TrapParams(), make_searcher(game, 1), source=engine, models=models
    )
    decision = player.choose(rules.parse_position(position), limits or Limits(4), StopFlag())
    verify(decision)
    assert Decision.from_record(decision.to_record()) == decision
    return decision


def first_half(game: Game[Any], ask: PredictionQuery) -> tuple[float, ...]:
    """The first replies in order, as many as half of them, are all that is likely."""
    size = len(game.legal_moves(ask.positions[-1]))
    half = (size + 1) // 2
    likely, rest = (1.0, 0.0) if half == size else (0.99, 0.01)
    return tuple(likely / half if at < half else rest / (size - half) for at in range(size))


def test_only_likely_replies_are_asked_about_and_all_of_the_move_played() -> None:
    link = Scripted()
    decision = decide(source(link, depth=4, candidates=5), MIDDLE_GAMES["chess"], first_half)
    assert (decision.search_mode, decision.depth, decision.is_complete) == ("engine", 4, True)
    assert decision.model is not None
    position = chess.parse_position(MIDDLE_GAMES["chess"])
    root, *searches = link.asked
    assert (root.moves, root.depth) == ((), 4)
    valued = [c for c in decision.candidates if c.value is not None]
    assert len(valued) > 1
    for candidate in valued:
        after = chess.play(position, chess.parse_move(position, candidate.move))
        replies = [chess.move_text(move) for move in chess.legal_moves(after)]
        half = (len(replies) + 1) // 2
        asked = [ask for ask in searches if ask.position == chess.position_text(after)]
        assert asked[0].moves == tuple(replies[:half])
        assert {ask.depth for ask in asked} == {3}
        if candidate.move == decision.move:
            assert [ask.moves for ask in asked[1:]] == [tuple(replies[half:])]
        looked_into = [reply.reply for reply in candidate.replies if reply.scores_centi]
        assert looked_into[:half] == replies[:half]
        assert candidate.complete == (looked_into == replies)
        assert math.fsum(reply.probability or 0 for reply in candidate.replies) == pytest.approx(1)
    for reply in decision.chosen.replies:
        assert classify_by_figure_9(decision, reply.reply).reply == reply.reply


def test_moves_within_the_budget_are_looked_into() -> None:
    """And no others; the best is what its replies leave of it."""
    value = OpponentParams(budget_percent=2)
    decision = decide(source(Scripted(), candidates=50), MIDDLE_GAMES["chess"], value=value)
    assert decision.model_use is not None
    best = max(c.raw_centi for c in decision.candidates if not c.raw_is_bound)
    floor = risk_floor_centi(best, decision.model_use.value)
    for candidate in decision.candidates:
        assert (candidate.value is not None) == (not candidate.raw_is_bound and candidate.raw_centi >= floor)
        assert not candidate.raw_is_bound or candidate.raw_centi < floor


def test_a_move_that_turns_out_worse_is_not_played() -> None:
    """Its unlikely replies, which nobody had looked into, refute it."""

    def score(board: str, move: str, _depth: int) -> int:
        if board.endswith("w"):
            return {"g1f3": 60, "e2e4": 50}.get(move, -500)
        after_nf3 = "5N2" in board
        return 700 if after_nf3 and move == "h7h5" else -100 if after_nf3 else -50

    start = chess.position_text(chess.initial())
    decision = decide(
        source(Scripted(score=score)), start, first_half, value=OpponentParams(budget_percent=10)
    )
    refuted = {c.move: c for c in decision.candidates}["g1f3"]
    assert (decision.move, decision.chosen.raw_centi) == ("e2e4", 50)
    if refuted.complete:  # h7h5 was not among the likely ones
        assert (refuted.raw_centi, refuted.value) == (-700, None)
    else:
        assert refuted.raw_centi == -700


def test_calibrated_probabilities_have_whole_profiles() -> None:
    decision = decide(source(Scripted(), candidates=4), MIDDLE_GAMES["chess"], first_half, "calibrated_uci")
    assert decision.model is not None
    assert decision.model.kind == "calibrated"
    assert all(c.complete for c in decision.candidates if c.value is not None)


def test_a_forced_win_is_played_at_once() -> None:
    link = Scripted()
    model = FakeModel("chess")
    player = MoveChooser(
        strategy_named("opponent_model_uci"),
        chess,
        TrapParams(),
        make_searcher("chess", 1),
        source=source(link),
        models=GameModels(model),
    )
    mate = player.choose(chess.parse_position(MATE_IN_ONE), Limits(4), StopFlag())
    verify(mate)
    assert (mate.move, mate.chosen.value, mate.model) == ("a1a8", None, None)
    assert mate.chosen.raw_centi > WIN_CENTI
    assert (model.asked, len(link.asked)) == ([], 1)


def test_a_stalemate_is_worth_what_it_is() -> None:
    decision = decide(source(Scripted(score=lambda *_: -900)), STALEMATE_IN_ONE)
    drawn = {c.move: c for c in decision.candidates}["g5g6"]
    assert (drawn.value, drawn.complete) == (5000, True)


def test_without_an_engine_it_plays_as_its_namesake() -> None:
    decision = decide(None, MIDDLE_GAMES["chess"], limits=Limits(3))
    assert (decision.search_mode, decision.source) == ("exact", None)
    models = GameModels(FakeModel("chess"))
    native = MoveChooser(
        strategy_named("opponent_model"), chess, TrapParams(), make_searcher("chess", 1), models=models
    )
    other = native.choose(chess.parse_position(MIDDLE_GAMES["chess"]), Limits(3), StopFlag())
    assert (decision.move, decision.chosen) == (other.move, other.chosen)
    verify(complete(decision, make_searcher("chess", 1), StopFlag()))


def test_without_a_model_it_is_the_standard_player_on_the_engines_scores() -> None:
    link = Scripted()
    decision = decide(source(link, candidates=4, window_centi=100), MIDDLE_GAMES["chess"], lambda *_: (2.0,))
    assert (decision.search_mode, decision.model, decision.is_complete) == ("engine", None, True)
    assert decision.model_use is not None
    assert "1 probabilities for" in decision.model_use.trouble
    known = [c.raw_centi for c in decision.candidates if not c.raw_is_bound]
    assert decision.chosen.raw_centi == max(known)


def test_forged_records_are_noticed() -> None:
    good = decide(source(Scripted(), candidates=4), MIDDLE_GAMES["chess"], first_half)
    inside = next(c for c in good.candidates if c.value is not None and c.move != good.move)
    outside = next(c for c in good.candidates if c.raw_is_bound)
    assert good.source is not None

    def with_candidate(changed: Any) -> Decision:
        candidates = tuple(changed if c.move == changed.move else c for c in good.candidates)
        return replace(good, candidates=candidates)

    forged = {
        "follows": replace(good, move=inside.move),
        "within the budget, but has no value": replace(good, source=None),
        "profile is incomplete": with_candidate(replace(good.chosen, complete=False)),
        "recomputed": with_candidate(replace(inside, value=9999.0)),
        "within the budget|above the floor": with_candidate(
            replace(outside, raw_centi=5000, adjusted_centi=5000)
        ),
    }
    for message, decision in forged.items():
        with pytest.raises(RecordError, match=message):
            verify(decision)


@pytest.mark.parametrize(("game", "protocol", "name"), REAL)
def test_whole_games_of_real_engines_verify(game: str, protocol: str, name: str) -> None:
    """Against itself: endings, mates and repetitions included."""
    rules = get_rules(game)
    settings = EngineSettings(
        game=game, command=(installed(name),), protocol=protocol, depth=3, start_s=LONG_S, candidates=3
    )
    engine = EngineSource(settings)
    position = rules.initial()
    try:
        for ply in range(16):
            kind = "opponent_model_uci" if ply % 2 else "calibrated_uci"
            decision = decide(
                engine, rules.position_text(position), first_half, kind, game=game, limits=Limits(3)
            )
            assert decision.search_mode == "engine"
            position = rules.play(position, rules.parse_move(position, decision.move))
    finally:
        engine.close()
