"""The proof of a preferred move: what it refuses and confirms, its record, and the limits that it keeps."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from engine.completion import complete
from engine.decision import Candidate, Decision, Proof, SearchMode
from engine.errors import PrunedRecord, RecordError
from engine.game import WIN_CENTI
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.params import Scale, TrapParams
from engine.pruning import pruned
from engine.randomised import checksum
from engine.search.reference import ReferenceSearcher
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag
from engine.strategies.move_context import MIN_SEARCH_S
from engine.strategies.proof import SHARE, cost
from engine.strategies.randomised import RANDOMISED, Randomised
from engine.strategies.registry import strategy_named
from engine.strategies.standard import Standard
from engine.strategies.strategy import Strategy
from engine.time_management import Limits
from engine.verification import verify

CHESS = get_rules("chess")
FOOLS_MATE = "rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2"
FAILS = "8/3p2kp/1pb1rnp1/q1p2P2/8/3P1N1P/nQP2PB1/2KR1R2 w - - 0 25 moves c1b1"
FAILS_BY_MODEL = "rnbqkbnr/ppp2ppp/3p4/4p3/4P3/P4N2/1PPP1PPP/RNBQKB1R b KQkq - 0 3 moves f8e7"
STANDS = "r1b1k1n1/1pP3b1/p3ppp1/8/2P3p1/Q1NP2P1/PP6/R3KBr1 w q - 0 24 moves c3e2 g1h1"
"""Where strategies prefer a move at depth 4, which costs 41 %, 5.5 % and less than nothing."""
OTHELLO = "4w3/3w1wb1/2w1wb2/1wbbbb2/2wwbb2/2wwbw2/2wwb3/3wb3 w"
"""Of trappy's moves at depth 6, f7 sets a trap and is worth 62.36 %, d3 sets none and is worth 60.79 %."""


@dataclass(frozen=True, kw_only=True)
class Planted(Standard):
    """Prefers a given move, whatever it costs, with a budget of five points."""

    sets_traps: ClassVar[bool] = True
    move: str = ""

    def best_move(self, candidates: Sequence[Candidate], params: TrapParams) -> str:
        """See `Strategy.best_move`."""
        return self.move or super().best_move(candidates, params)

    def max_cost(self, decision: Decision, best: int) -> float:  # noqa: ARG002
        """See `Strategy.max_cost`."""
        return 500


def choose(
    strategy: Strategy,
    text: str,
    *,
    game: str = "chess",
    limits: Limits | None = None,
    stop: StopFlag | None = None,
    proves: bool = True,
    scale: Scale = Scale.PAPER,
    threshold_percent: float = 5.0,
    seed: int | None = None,
) -> Decision:
    rules = get_rules(game)
    searcher = make_searcher(game, 1)
    params = TrapParams(scale=scale, threshold_percent=threshold_percent)
    chooser = MoveChooser(strategy, rules, params, searcher, proves=proves)
    limits = limits or Limits(60, nodes=20_000)
    return chooser.choose(rules.parse_position(text), limits, stop or StopFlag(), seed=seed)


def proof_of(decision: Decision) -> Proof:
    assert decision.proof is not None
    return decision.proof


def refused() -> Decision:
    return choose(Planted(name="trappy", move="g2g4"), FOOLS_MATE)


def preferring(name: str, *, stood: bool) -> Decision:
    """A decision of a real strategy whose preferred move stood or was refused."""
    kind = strategy_named(name)
    text = STANDS if stood else FAILS_BY_MODEL if kind.models_opponent else FAILS
    decision = choose(kind, text, scale=Scale.EXPECTED, limits=Limits(4))
    assert proof_of(decision).stood is stood
    return decision


# --- What is refused ------------------------------------------------------------------------------------


def test_a_move_that_loses_is_refused() -> None:
    decision = refused()
    proof = proof_of(decision)
    assert (proof.preferred, proof.stood, decision.move) == ("g2g4", False, proof.best)
    assert proof.preferred_centi is not None
    assert proof.preferred_centi <= -WIN_CENTI
    assert (cost(decision, proof) or 0) > 3_000


def test_a_good_move_stands() -> None:
    decision = choose(Planted(name="trappy", move="d2d4"), CHESS.position_text(CHESS.initial()))
    proof = proof_of(decision)
    assert (decision.move, proof.preferred, proof.stood) == ("d2d4", "d2d4", True)
    assert min(proof.preferred_depth, proof.best_depth) > 2
    assert proof.nodes > 0


def test_bare_strategies_play_what_they_prefer() -> None:
    decision = choose(Planted(name="trappy", move="g2g4"), FOOLS_MATE, proves=False)
    assert (decision.move, decision.proof) == ("g2g4", None)
    assert "proof" not in decision.to_record()


@pytest.mark.parametrize("name", ["trappy", "tempting", "opponent_model", "calibrated", "randomised"])
@pytest.mark.parametrize("stood", [False, True])
def test_a_record_proves_itself(name: str, stood: bool) -> None:
    decision = preferring(name, stood=stood)
    read = Decision.from_record(json.loads(json.dumps(decision.to_record())))
    assert read == decision
    whole = complete(read, make_searcher("chess", 1), StopFlag())
    for each in (read, whole):
        verify(each)
    proof = proof_of(decision)
    with pytest.raises(PrunedRecord):
        verify(pruned(whole))
    assert {proof.preferred, proof.best} <= {each.move for each in pruned(whole).candidates}


def test_the_budget_is_the_strategys_own() -> None:
    decision = preferring("trappy", stood=True)
    for name, others, most in (
        ("trappy", {}, (500, 250)),
        ("tempting", {"tempting": preferring("tempting", stood=True).tempting}, (500, 250)),
        ("opponent_model", {"model_use": preferring("opponent_model", stood=True).model_use}, (300, 250)),
    ):
        kind = strategy_named(name)
        record = replace(decision, strategy=name, **others)
        assert tuple(kind.max_cost(record, best) for best in (5000, 1000)) == most
    assert strategy_named("standard").max_cost(decision, 5000) is None


def test_a_move_stands_if_it_costs_half_of_its_budget_at_most() -> None:
    decision = preferring("trappy", stood=True)
    seen = set()
    for best_centi, lost_centi in itertools.product(range(200), range(15, 25)):
        proof = replace(proof_of(decision), best_centi=best_centi, preferred_centi=best_centi - lost_centi)
        given_up = cost(decision, proof) or 0
        if abs(given_up - 250) <= 2:
            seen.add(given_up)
            stood = given_up <= 250
            move = proof.preferred if stood else proof.best
            verify(replace(decision, move=move, proof=replace(proof, stood=stood)))
            with pytest.raises(RecordError):
                verify(replace(decision, move=move, proof=replace(proof, stood=not stood)))
    assert {250, 251} <= seen


# --- Records --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stood", [False, True])
def test_a_record_that_was_changed_is_detected(stood: bool) -> None:
    decision = preferring("trappy", stood=stood)
    proof = proof_of(decision)
    other = next(c.move for c in decision.candidates if c.move not in (proof.preferred, proof.best))
    worse, better = -WIN_CENTI, WIN_CENTI
    changes: list[dict[str, Any]] = [
        {"stood": not stood},
        {"preferred_centi": worse if stood else better},
        {"best_centi": better if stood else worse},
        {"best": other},
        {"preferred": proof.best},
        {"preferred": other},
        {"preferred": "z9z9"},
        *([{"preferred_centi": None}, {"best_centi": None}] if stood else ()),
    ]
    for each in changes:
        with pytest.raises(RecordError):
            verify(replace(decision, proof=replace(proof, **each)))
    with pytest.raises(RecordError, match="by the proof"):
        verify(replace(decision, move=proof.best if stood else proof.preferred))
    if not stood:
        with pytest.raises(RecordError, match=f"but {proof.preferred} follows"):
            verify(replace(decision, proof=None))


def test_a_strategy_that_prefers_nothing_proves_nothing() -> None:
    with pytest.raises(RecordError):
        verify(replace(refused(), strategy="standard"))


def test_records_without_a_proof_are_read_as_ever() -> None:
    record = choose(strategy_named("trappy"), FOOLS_MATE, proves=False).to_record()
    assert "proof" not in record
    assert Decision.from_record(record).proof is None
    verify(Decision.from_record(record))


@pytest.mark.parametrize("change", [{"preferred_depth": -1}, {"nodes": -1}, {"stood": 1}, {"more": 1}])
def test_what_is_no_proof(change: dict[str, Any]) -> None:
    record = refused().to_record()
    record["proof"] |= change
    with pytest.raises(RecordError):
        Decision.from_record(record)


# --- Limits ---------------------------------------------------------------------------------------------


def test_it_is_deterministic_by_nodes() -> None:
    first, second = (preferring("trappy", stood=False) for _ in range(2))
    assert replace(first, time_s=0) == replace(second, time_s=0)


class Thoughts:
    """Records the time and nodes of selective searches, and says when a search has been begun."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.given: list[Any] = []
        think = NativeSearcher.think

        def record(
            searcher: NativeSearcher,
            position: Any,
            depth: int,
            time_s: float | None,
            stop: StopFlag,
            **more: Any,
        ) -> Any:
            self.given.append((time_s, more["nodes"]))
            return think(searcher, position, depth, time_s, stop, **more)

        monkeypatch.setattr(NativeSearcher, "think", record)


@pytest.fixture
def thoughts(monkeypatch: pytest.MonkeyPatch) -> Thoughts:
    return Thoughts(monkeypatch)


class HandClock(StopFlag):
    """A flag whose clock shows what it is set to."""

    at_s = 100.0

    def now_s(self) -> float:
        return self.at_s


class Unlimited(StopFlag):
    """A flag that nothing sets."""

    def set_deadline(self, seconds: float) -> None:
        pass

    def set_node_limit(self, nodes: int) -> None:
        pass


def test_two_searches_share_a_tenth(thoughts: Thoughts) -> None:
    planted = Planted(name="trappy", move="g2g4")
    choose(planted, FOOLS_MATE, limits=Limits(3, nodes=20_000))
    assert thoughts.given == [(None, 1000), (None, 1000)]
    thoughts.given.clear()
    choose(planted, FOOLS_MATE, limits=Limits(3, 40.0), stop=HandClock())
    assert thoughts.given == [(pytest.approx(40 * SHARE / 2), 25_000)] * 2
    thoughts.given.clear()
    choose(planted, FOOLS_MATE, limits=Limits(3))
    assert thoughts.given == [(None, 20_000), (None, 20_000)]


def test_what_is_late_has_no_more_time_than_is_left(
    thoughts: Thoughts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a search that has used up more than its share."""
    stop, decide = HandClock(), Planted.decide

    for spent_s, left_s in ((39.5, 0.5), (50.0, MIN_SEARCH_S)):

        def slow(planted: Planted, context: Any, spent_s: float = spent_s) -> Decision:
            decision = decide(planted, context)
            stop.at_s += spent_s
            return decision

        monkeypatch.setattr(Planted, "decide", slow)
        thoughts.given.clear()
        choose(Planted(name="trappy", move="g2g4"), FOOLS_MATE, limits=Limits(3, 40.0), stop=stop)
        assert thoughts.given == [(pytest.approx(left_s), 25_000)] * 2


def test_the_search_for_the_move_ends_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its flag is another one, within the whole move's, with the rest of the time and nodes."""
    seen = []
    decide = Planted.decide

    def record(planted: Planted, context: Any) -> Decision:
        seen.append(context)
        return decide(planted, context)

    monkeypatch.setattr(Planted, "decide", record)
    stop = StopFlag()
    choose(Planted(name="trappy"), FOOLS_MATE, limits=Limits(3, 40.0, nodes=20_000), stop=stop)
    unlimited = Unlimited()
    choose(Planted(name="trappy"), FOOLS_MATE, limits=Limits(3, 1e-9), stop=unlimited)
    choose(Planted(name="trappy"), FOOLS_MATE, limits=Limits(3, nodes=20_000), stop=unlimited)
    context, late, spent = seen
    assert late.stop.is_set()
    assert not spent.stop.spend(1_000)
    assert spent.stop.spend(17_000)
    assert not unlimited.is_set()
    assert (context.limits.time_s, context.limits.nodes) == (pytest.approx(36.0), 18_000)
    assert context.stop is not stop
    assert not context.stop.is_set()
    stop.set()
    assert context.stop.is_set()


def test_a_move_that_cannot_be_confirmed_in_time_is_not_played() -> None:
    stop = StopFlag()
    stop.set()
    decision = choose(Planted(name="trappy", move="d2d4"), CHESS.position_text(CHESS.initial()), stop=stop)
    proof = proof_of(decision)
    assert (proof.preferred_centi, proof.best_centi, proof.stood) == (None, None, False)
    assert (proof.preferred_depth, proof.best_depth) == (0, 0)
    assert decision.move == proof.best


@pytest.mark.parametrize(
    ("gap", "is_solved", "counts"), [(2, False, True), (3, False, False), (3, True, True)]
)
def test_a_search_that_was_cut_short_confirms_nothing(
    gap: int, is_solved: bool, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    think, depths = NativeSearcher.think, list[int]()

    def cut(*arguments: Any, **more: Any) -> Any:
        found = think(*arguments, **more)
        depths.append(found.depth)
        return found if len(depths) == 1 else replace(found, depth=depths[0] - gap, solved=is_solved)

    monkeypatch.setattr(NativeSearcher, "think", cut)
    proof = proof_of(choose(Planted(name="trappy", move="d2d4"), CHESS.position_text(CHESS.initial())))
    assert (proof.preferred_centi is not None) is proof.stood is counts
    assert proof.preferred_depth == (depths[0] - gap if counts else 0)


@pytest.mark.parametrize(
    ("strategy", "text"),
    [
        (Planted(name="trappy"), FOOLS_MATE),  # the best move
        (strategy_named("standard"), FOOLS_MATE),
        (strategy_named("trappy"), "7k/5Q2/6K1/8/8/8/8/7r b - - 0 1"),  # one legal move
        (Planted(name="trappy", move="h8g8"), "7k/R7/6K1/8/8/8/8/8 b - - 0 1"),
        (Planted(name="trappy", move="a8b8"), "k7/7R/1K6/8/8/8/8/8 b - - 0 1"),  # each move loses
    ],
)
def test_where_nothing_is_to_be_proved_it_costs_nothing(
    strategy: Strategy, text: str, thoughts: Thoughts
) -> None:
    assert choose(strategy, text).proof is None
    assert thoughts.given == []


def test_games_without_a_selective_search_are_not_proved() -> None:
    game = get_rules("tictactoe")
    chooser = MoveChooser(
        Planted(name="trappy", move="a2"), game, TrapParams(), ReferenceSearcher(game), proves=True
    )
    decision = chooser.choose(game.initial(), Limits(4), StopFlag())
    assert (decision.move, decision.proof) == ("a2", None)


# --- Randomised decisions -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Strict(Randomised):
    """Confirms no move."""

    def max_cost(self, decision: Decision, best: int) -> float:  # noqa: ARG002
        """See `Strategy.max_cost`."""
        return -20_000


@pytest.mark.parametrize("seed", [0, (1 << 64) - 1])
def test_both_moves_of_a_trial_are_proved_before_the_draw(seed: int) -> None:
    decision = choose(RANDOMISED, OTHELLO, game="othello", limits=Limits(6), seed=seed)
    draw = decision.trial_draw
    assert draw is not None
    assert (decision.search_mode, draw.trap, draw.control) == (SearchMode.TRIAL, "f7", "d3")
    assert decision.proof is None  # f7 is the best move
    assert draw.control_proof is not None
    assert (draw.control_proof.preferred, draw.control_proof.best) == ("d3", "f7")
    read = Decision.from_record(json.loads(json.dumps(decision.to_record())))
    assert read == decision
    verify(read)
    for change in ({"stood": False}, {"preferred": "f7"}, {"preferred_centi": -WIN_CENTI}, {"nodes": 1}):
        forged = replace(draw, control_proof=replace(draw.control_proof, **change))
        with pytest.raises(RecordError):
            verify(replace(decision, trial_draw=forged))
    with pytest.raises(RecordError, match="checksum"):
        verify(replace(decision, trial_draw=replace(draw, control_proof=None)))
    undrawn = choose(Strict(name="randomised"), OTHELLO, game="othello", limits=Limits(6), seed=seed)
    assert (undrawn.move, undrawn.trial_draw, undrawn.proof) == ("f7", None, None)


def test_three_moves_of_a_trial() -> None:
    """The best move is neither of the two that take part; both are proved against it."""
    decision = choose(
        RANDOMISED,
        "r1b1kb1r/3nnp1p/2pqp3/1p1p2p1/3P2P1/PP1QPP2/NP2N2P/R1B1K2R b KQkq - 0 12 moves e7g6 e2g3",
        limits=Limits(4),
        threshold_percent=2,
        seed=7,
    )
    draw = decision.trial_draw
    assert draw is not None
    assert draw.control_proof is not None
    best = {proof_of(decision).best, draw.control_proof.best}
    assert best.isdisjoint((draw.trap, draw.control))
    verify(decision)
    for changed in (
        replace(decision, trial_draw=replace(draw, control_proof=None)),
        replace(decision, proof=None),
        replace(decision, trial_draw=replace(draw, control_proof=decision.proof)),
    ):
        with pytest.raises(RecordError, match="checksum"):
            verify(changed)
    for control_proof in (None, decision.proof):
        changed = replace(decision, trial_draw=replace(draw, control_proof=control_proof))
        assert changed.trial_draw is not None
        sha256 = checksum(changed, changed.trial_draw)
        with pytest.raises(RecordError, match="was not"):
            verify(replace(changed, trial_draw=replace(changed.trial_draw, sha256=sha256)))


@pytest.mark.parametrize("seed", [0, (1 << 64) - 1])
def test_a_refused_trap_is_not_drawn(seed: int) -> None:
    drawn = choose(RANDOMISED, FAILS, scale=Scale.EXPECTED, seed=seed, limits=Limits(4))
    assert (drawn.trial_draw, drawn.move) == (None, proof_of(drawn).best)
    verify(drawn)
