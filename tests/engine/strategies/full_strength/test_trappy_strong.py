"""The strategy trappy_strong: its choices and records, and that it plays the best move if time is short."""

import json
from dataclasses import replace
from typing import Any

import pytest

from engine.completion import complete
from engine.decision import Candidate, Decision, SearchMode
from engine.errors import RecordError
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.params import Scale, TrapParams
from engine.pruning import pruned
from engine.search.reference import ReferenceSearcher
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from engine.trappy import reply_quality, with_trap
from engine.verification import verify

NODES = {"chess": 200_000, "othello": 1_000_000, "xiangqi": 150_000}
POSITIONS = {
    "chess": "r1bq1rk1/ppp2ppp/2np1n2/2b1p1B1/2B1P3/2NP1N2/PPP2PPP/R2QK2R w KQ - 4 7",
    "othello": "8/3w4/2ww2w1/1b1wbw2/2bbwb2/3bbw2/4b1w1/3b4 b",
    "xiangqi": "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
}
WIDE = TrapParams(scale=Scale.EXPECTED, risk_percent=10.0, risk_share_percent=100.0)
"""Traps may cost so much that there are contenders in most positions."""


def choose(
    game: str,
    *,
    text: str | None = None,
    limits: Limits | None = None,
    params: TrapParams = WIDE,
    stop: StopFlag | None = None,
    searcher: Any = None,
    strategy: str = "trappy_strong",
    wins_plainly: bool = False,
) -> Decision:
    rules = get_rules(game)
    chooser = MoveChooser(
        strategy_named(strategy),
        rules,
        params,
        searcher or make_searcher(game, 4),
        wins_plainly=wins_plainly,
        proves=True,
    )
    position = rules.parse_position(text or POSITIONS[game])
    return chooser.choose(position, limits or Limits(60, nodes=NODES[game]), stop or StopFlag())


def with_contender(decision: Decision, at: int, contender: Candidate) -> Decision:
    traps = decision.strong_traps
    assert traps is not None
    contenders = [*traps.contenders[:at], contender, *traps.contenders[at + 1 :]]
    return replace(decision, strong_traps=replace(traps, contenders=tuple(contenders)))


@pytest.mark.parametrize("params", [TrapParams(), TrapParams(margin_centi=400), WIDE])
@pytest.mark.parametrize("game", POSITIONS)
def test_the_choice_follows_from_the_record(game: str, params: TrapParams) -> None:
    decision = choose(game, params=params)
    verify(decision)
    assert decision == replace(choose(game, params=params), time_s=decision.time_s), "nodes, not time, decide"
    assert Decision.from_record(json.loads(json.dumps(decision.to_record()))) == decision
    assert decision.nodes <= 1.1 * NODES[game]
    traps = decision.strong_traps
    assert traps is not None
    assert traps.trouble == ""
    assert decision.proof is None, "the check among contenders takes its place"
    whole = complete(decision, make_searcher(game, 4), StopFlag())
    verify(whole)
    assert pruned(whole).strong_traps == traps


@pytest.mark.parametrize("game", POSITIONS)
def test_the_arithmetic_is_trappys(game: str) -> None:
    decision = choose(game)
    traps = decision.strong_traps
    assert traps is not None
    assert decision.search_mode is SearchMode.STRONG_TRAPS
    assert len(traps.contenders) > 1
    params = decision.params
    for contender in traps.contenders:
        assert contender == with_trap(contender, params)
        assert len(contender.replies) <= 3
        for reply in contender.replies:
            assert len(reply.scores_centi) == traps.shallow_depth + 1
            assert reply.final_centi > contender.raw_centi
            assert reply_quality(reply.scores_centi, contender.raw_centi, params) <= contender.quality_centi
    assert any(each.trap for each in traps.contenders)
    best = max(traps.contenders, key=lambda each: (each.adjusted_centi, each.raw_centi))
    check = traps.check
    assert (best is traps.contenders[0]) is (check is None)
    assert decision.move == (best.move if check is None or check.stood else traps.contenders[0].move)


def test_a_false_record_is_found() -> None:
    decision = choose("chess")
    traps = decision.strong_traps
    assert traps is not None
    at, contender = next((at, each) for at, each in enumerate(traps.contenders) if each.replies)
    first = contender.replies[0]
    scores = (*first.scores_centi[:-1], first.final_centi + 300)
    replies = (replace(first, scores_centi=scores), *contender.replies[1:])
    with pytest.raises(RecordError, match="recomputed"):
        verify(with_contender(decision, at, replace(contender, replies=replies)))
    others = [each for each in traps.contenders if each.move != decision.move]
    with pytest.raises(RecordError):
        verify(replace(decision, move=others[0].move, candidates=decision.candidates))
    with pytest.raises(RecordError, match="not in the record"):
        verify(replace(decision, strong_traps=None))
    better = with_trap(replace(others[0], raw_centi=traps.contenders[0].raw_centi + 500), decision.params)
    with pytest.raises(RecordError):
        verify(with_contender(decision, traps.contenders.index(others[0]), better))


def test_without_time_it_is_strong() -> None:
    stop = StopFlag()
    stop.set()
    decision = choose("chess", stop=stop)
    verify(decision)
    decision = choose("chess", limits=Limits(60, time_s=0.02))
    verify(decision)
    if decision.pick is not None:
        assert decision.search_mode is SearchMode.STRONG
        assert decision.strong_traps is not None
        assert decision.strong_traps.trouble == "there was no time for traps"
    for nodes in (1, 2_000, 30_000, 100_000):
        verify(choose("chess", limits=Limits(60, nodes=nodes)))
    short = choose("othello", limits=Limits(60, nodes=60_000))
    assert short.search_mode is SearchMode.STRONG
    assert short.strong_traps is not None
    assert short.strong_traps.trouble == "there was no time for the replies"


def test_in_an_even_game_the_papers_scale_leaves_the_best_move() -> None:
    """No bonus without a score: `strong`'s move, by a search that gets all of the limits."""
    text = "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1"
    decision = choose("chess", text=text, params=TrapParams(), limits=Limits(60, nodes=50_000))
    verify(decision)
    assert decision.strong_traps is not None


@pytest.mark.parametrize("depth", [2, 4, 7])
def test_a_limit_of_depth_alone(depth: int) -> None:
    verify(choose("chess", limits=Limits(depth)))


def test_games_without_the_core_are_played() -> None:
    game = get_rules("connect4")
    text, searcher = game.position_text(game.initial()), ReferenceSearcher(game)
    decision = choose("connect4", text=text, limits=Limits(3), searcher=searcher)
    verify(decision)
    assert decision.strong_traps is None


@pytest.mark.parametrize("wins_plainly", [False, True])
@pytest.mark.parametrize(
    ("game", "text"),
    [
        ("chess", "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"),
        ("chess", "7k/8/8/8/8/8/6q1/7K w - - 0 1"),
        ("othello", "wwwwwwww/wwwwwwww/wwwwwwww/wwwwwwww/wwwwwwww/wwwwwwbb/wwwwwbb1/wwwwbb11 w"),
    ],
)
def test_endings(game: str, text: str, wins_plainly: bool) -> None:
    decision = choose(game, text=text, wins_plainly=wins_plainly)
    verify(decision)
    assert decision.search_mode is SearchMode.STRONG
