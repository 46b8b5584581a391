"""Players: the lazy analysis against the whole table, records that prove themselves, limits that hold."""

import math
import random
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.completion import complete
from engine.decision import Decision, DirectMove, ReplyProfile, SourceInfo, VarietyDraw
from engine.errors import EngineMismatch, RecordError
from engine.figure_9 import classify_by_figure_9
from engine.game import WIN_CENTI
from engine.games import ENGINE_GAMES, GAMES, get_rules
from engine.games.othello import Othello, OthelloPosition
from engine.lookup.othello_book import Book, BookMove, canonical
from engine.move_chooser import MoveChooser
from engine.params import Assessment, DecidedScores, Scale, TrapParams
from engine.search.profiles import Profiler
from engine.search.reference import ReferenceSearcher, exact_score, minimax
from engine.search.result import SearchResult
from engine.search.searchers import NativeOthelloSearcher, NativeSearcher, make_searcher
from engine.stop import StopFlag, Stopped
from engine.strategies import technique
from engine.strategies.move_context import StrongOptions
from engine.strategies.registry import STRATEGIES, strategies_in_comparison, strategy_named
from engine.strategies.standard import STANDARD
from engine.strategies.trappy import TRAPPY
from engine.time_management import Limits
from engine.verification import verify
from lab.training.othello_book import write_book
from tests.engine.positions import positions, random_position

othello = Othello()
native = NativeOthelloSearcher(table_mb=16)
KINDS = tuple(kind for kind in STRATEGIES if kind not in ("opponent_model_uci", "calibrated_uci", "like"))
"""Without those that are their namesakes where there is no engine, and without a model of people."""
_choices = {"assessment": st.sampled_from(Assessment), "decided": st.sampled_from(DecidedScores)}
params = st.builds(TrapParams, margin_centi=st.sampled_from([0, 100, 800]), **_choices) | st.builds(
    TrapParams,
    scale=st.just(Scale.EXPECTED),
    risk_percent=st.sampled_from([0.3, 5, 40]),
    risk_share_percent=st.sampled_from([5, 25, 100]),
    **_choices,
)


def decide(
    position: Any, depth: int, trap: TrapParams | None = None, kind: str = "trappy", game: str = "othello"
) -> Decision:
    searcher = native if game == "othello" else make_searcher(game, 1)
    return MoveChooser(strategy_named(kind), get_rules(game), trap or TrapParams(), searcher).choose(
        position, Limits(depth), StopFlag()
    )


@given(positions(othello, 60), st.integers(3, 6), params)
@settings(max_examples=40, deadline=None)
def test_lazy_equals_naive(position: OthelloPosition, depth: int, trap: TrapParams) -> None:
    """The prunings are exact: same move, same adjusted value as the whole table, and the record proves it."""
    decision = decide(position, depth, trap)
    verify(decision)
    trap = decision.params  # with the game's own logistic function
    table = Profiler(othello, native, position, trap, StopFlag()).naive_candidates(decision.depth)
    assert decision.move == TRAPPY.best_move(table, trap)
    whole = {c.move: c for c in table}
    assert decision.chosen.raw_centi == whole[decision.move].raw_centi
    assert decision.chosen.adjusted_centi <= whole[decision.move].adjusted_centi
    assert complete(decision, native, StopFlag()).chosen.adjusted_centi == whole[decision.move].adjusted_centi
    for candidate in decision.candidates:
        true = whole[candidate.move]
        assert candidate.raw_centi >= true.raw_centi
        assert candidate.raw_is_bound or candidate.raw_centi == true.raw_centi
        known = {reply.reply: reply for reply in true.replies}
        for reply in candidate.replies:
            assert reply.final_centi >= known[reply.reply].final_centi
            assert reply.bound_centi is not None or reply == known[reply.reply]


@given(positions(othello, 60), st.integers(2, 4))
@settings(max_examples=15, deadline=None)
def test_the_standard_player_is_plain_minimax(position: OthelloPosition, depth: int) -> None:
    """The first move in order of those with the best minimax score."""
    decision = decide(position, depth, kind="standard")
    verify(decision)
    reference = ReferenceSearcher(othello)
    best, most = None, -(10**6)
    for move in othello.legal_moves(position):
        after = othello.play(position, move)
        score = -reference.search(after, decision.depth - 1, -(10**6), -most, StopFlag())
        if score > most:
            best, most = move, score
    assert best is not None
    assert decision.move == othello.move_text(best)
    assert decision.chosen.raw_centi == most
    assert decision.principal_variation[0] == decision.move


@given(positions(othello, 58), st.integers(2, 4), params, st.sampled_from(strategies_in_comparison()))
@settings(max_examples=40, deadline=None)
def test_native_and_reference_players_agree(
    position: OthelloPosition, depth: int, trap: TrapParams, kind: str
) -> None:
    fast = decide(position, depth, trap, kind)
    slow = MoveChooser(strategy_named(kind), othello, trap, ReferenceSearcher(othello)).choose(
        position, Limits(depth), StopFlag()
    )
    assert (fast.move, fast.depth, fast.principal_variation) == (
        slow.move,
        slow.depth,
        slow.principal_variation,
    )
    assert fast.chosen.raw_centi == slow.chosen.raw_centi
    whole = [complete(each, native, StopFlag()).chosen.adjusted_centi for each in (fast, slow)]
    assert whole[0] == whole[1]
    assert (fast.profile_source, slow.profile_source) == ("native", "reference")


@given(positions(othello, 60), st.integers(2, 6), params, st.sampled_from(KINDS))
@settings(max_examples=40, deadline=None)
def test_the_whole_profile_is_found_again_later(
    position: OthelloPosition, depth: int, trap: TrapParams, kind: str
) -> None:
    """A record is completed from itself, by another process with an empty table, and judges every reply."""
    decision = decide(position, depth, trap, kind)
    stored = Decision.from_record(decision.to_record())
    assert stored == decision
    full = complete(stored, NativeOthelloSearcher(1), StopFlag())
    verify(full)
    assert full.is_complete
    assert complete(full, native, StopFlag()) is full
    assert (full.move, full.chosen.raw_centi) == (decision.move, decision.chosen.raw_centi)
    if kind == "trappy":
        assert full.chosen.adjusted_centi >= decision.chosen.adjusted_centi
    after = othello.play(position, othello.parse_move(position, full.move))
    replies = [othello.move_text(m) for m in othello.legal_moves(after)]
    assert [reply.reply for reply in full.chosen.replies] == replies
    for reply in replies:
        assert classify_by_figure_9(full, reply).cost_centi >= 0


def test_scores_by_depth_are_minimax_scores() -> None:
    position = random_position(othello, random.Random(5), plies=20)
    decision = complete(decide(position, depth=5), native, StopFlag())
    after_move = othello.play(position, othello.parse_move(position, decision.move))
    for profile in decision.chosen.replies:
        after = othello.play(after_move, othello.parse_move(after_move, profile.reply))
        assert list(profile.scores_centi) == [minimax(othello, after, d - 2) for d in range(2, 6)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in GAMES if name not in ENGINE_GAMES])
def test_whole_games_verify(name: str, kind: str) -> None:
    """Players of every game against a random mover: each decision is legal and follows from its record."""
    game = get_rules(name)
    guesses = strategy_named(kind).models_opponent  # about the replies, which takes its time
    for seed in range(1 if guesses else 2):
        rng = random.Random(seed)
        position = game.initial()
        while moves := game.legal_moves(position):
            if game.side_to_move(position) == seed % 2:
                decision = decide(position, 3, kind=kind, game=name)
                verify(decision)
                move = game.parse_move(position, decision.move)
            else:
                move = rng.choice(moves)
            position = game.play(position, move)


def test_a_perfect_player_never_loses_tictactoe() -> None:
    game = get_rules("tictactoe")
    for seed in range(2):
        rng = random.Random(seed)
        position, ours = game.initial(), seed % 2
        while moves := game.legal_moves(position):
            if game.side_to_move(position) == ours:
                move = game.parse_move(position, decide(position, 9, game="tictactoe").move)
            else:
                move = rng.choice(moves)
            position = game.play(position, move)
        result = game.result_centi(position)
        assert (result if game.side_to_move(position) == ours else -result) >= 0


def test_a_lost_game_is_searched_for_a_swindle() -> None:
    """In lost endings the move whose escape is hardest to see is played, and the record proves it."""
    swindles = 0
    for seed in range(200):
        rng = random.Random(seed)
        position = othello.initial()
        while othello.plies_left(position) > 6 and (moves := othello.legal_moves(position)):
            position = othello.play(position, rng.choice(moves))
        if not othello.legal_moves(position):
            continue
        decision = decide(position, 10)
        verify(decision)
        table = Profiler(othello, native, position, TrapParams(), StopFlag()).naive_candidates(decision.depth)
        assert TRAPPY.best_move(table, TrapParams()) == decision.move
        swindles += decision.move != STANDARD.best_move(table, TrapParams())
    assert swindles > 0


@pytest.mark.parametrize("kind", KINDS)
def test_endings_are_played_perfectly(kind: str) -> None:
    """With few empty squares the best result is found, passes and all, and deeper searches are left out."""
    depths = set()
    for seed in range(60):
        position = random_position(othello, random.Random(seed), plies=54)
        decision = decide(position, 20, kind=kind)
        verify(decision)
        most = othello.most_plies_left(position)
        true = exact_score(native, position, most, StopFlag())
        after = othello.play(position, othello.parse_move(position, decision.move))
        reached = -exact_score(native, after, most, StopFlag())
        assert reached == true or max(reached, true) <= -WIN_CENTI  # lost: a swindle may cost discs
        if kind == "standard" and true != reached:
            assert decision.depth >= most or true > -WIN_CENTI
        depths.add(decision.depth - othello.plies_left(position))
    assert min(depths) < 5


@pytest.mark.parametrize("kind", KINDS)
def test_a_stopped_player_still_decides(kind: str) -> None:
    stop = StopFlag()
    stop.set()
    position = random_position(othello, random.Random(3), plies=12)
    decision = MoveChooser(strategy_named(kind), othello, TrapParams(), native).choose(
        position, Limits(30), stop
    )
    assert decision.depth == 2
    verify(decision)


def test_time_ends_a_search() -> None:
    decision = MoveChooser(strategy_named("trappy"), othello, TrapParams(), NativeOthelloSearcher(4)).choose(
        othello.initial(), Limits(60, time_s=0.05), StopFlag()
    )
    assert 2 <= decision.depth < 60
    verify(decision)


def test_completing_can_be_stopped() -> None:
    decision = decide(random_position(othello, random.Random(3), plies=12), 5, kind="standard")
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        complete(decision, native, stop)


def test_a_record_of_another_engine_is_noticed() -> None:
    decision = decide(random_position(othello, random.Random(3), plies=12), 4)
    record = decision.to_record()
    for candidate in record["candidates"]:
        candidate["raw_centi"] += 3
    wrong = Decision.from_record(record)
    with pytest.raises(RecordError, match=r"recorded at .* whose search is the same"):
        complete(wrong, native, StopFlag())


def test_a_profile_is_completed_by_the_search_that_began_it() -> None:
    decision = decide(random_position(othello, random.Random(3), plies=12), 4)
    assert not decision.is_complete
    with pytest.raises(EngineMismatch, match="only engine 0, which made") as mismatch:
        complete(replace(decision, engine_version="0"), native, StopFlag())
    assert mismatch.value.made_by == "0"


def test_a_move_that_the_rules_do_not_know_is_a_contradiction() -> None:
    decision = decide(random_position(othello, random.Random(3), plies=12), 4)
    impossible = replace(decision.chosen, move="z9", complete=False)
    forged = replace(decision, move="z9", candidates=(*decision.candidates, impossible))
    with pytest.raises(RecordError, match=r"z9 .* not a legal move"):
        complete(forged, native, StopFlag())


@pytest.mark.parametrize(
    "change", [{"player": None}, {"surplus": 1}, {"candidates": [{}]}, {"params": None}, {"params": []}]
)
def test_broken_records_are_refused(change: dict[str, Any]) -> None:
    record = decide(othello.initial(), 3).to_record()
    if change == {"player": None}:
        del record["player"]
    else:
        record |= change
    with pytest.raises(RecordError, match="not the record"):
        Decision.from_record(record)


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("", "nodes", 2**63),
        ("", "nodes", -1),
        ("", "nodes", "many"),
        ("pick", "depth", 2**31),
        ("pick", "depth", -1),
        ("source", "nodes", 2**63),
        ("source", "floor_centi", math.nan),
        ("source", "floor_centi", "low"),
        ("source", "window_centi", None),
        ("variety_draw", "within_centi", 0.5),
        ("variety_draw", "number", "7"),
        ("reply", "shallow_bound_centi", math.nan),
        ("reply", "shallow_bound_centi", "0"),
        ("reply", "bound_centi", 2**31),
    ],
)
def test_numbers_that_no_search_finds_are_refused(part: str, key: str, value: Any) -> None:
    record = decide(othello.initial(), 3).to_record() | {
        "pick": asdict(DirectMove(0, 4, 100, False)),
        "source": asdict(SourceInfo("x", "uci", (), 0, 0, 2**63 - 1)),
        "variety_draw": asdict(VarietyDraw(0, (), 0)),
    }
    reply = asdict(ReplyProfile("d6", (), 5, 4.5))
    record["candidates"][0]["replies"] = [reply]
    assert Decision.from_record(record).variety_draw is not None
    ({"": record, "reply": reply}.get(part) or record[part])[key] = value
    with pytest.raises(RecordError, match="not the record"):
        Decision.from_record(record)


def test_no_decision_after_the_end() -> None:
    with pytest.raises(ValueError, match="over"):
        decide(othello.parse_position("bb6/8/8/8/8/8/8/8 w"), 4)


def test_unknown_player() -> None:
    with pytest.raises(ValueError, match="standard, trappy"):
        MoveChooser(strategy_named("clever"), othello, TrapParams(), native)


def test_the_strong_player_says_what_picked_its_move() -> None:
    """Its move comes from the selective search; its replies are judged by exact scores all the same."""
    position = random_position(othello, random.Random(8), plies=16)
    decision = decide(position, 10, kind="strong")
    assert decision.search_mode == "strong"
    assert decision.pick is not None
    assert decision.pick.depth == 10
    assert decision.depth < decision.pick.depth
    assert decision.principal_variation[0] == decision.move
    full = complete(Decision.from_record(decision.to_record()), native, StopFlag())
    verify(full)
    assert full.is_complete
    bounded = next(c for c in decision.candidates if c.raw_is_bound)
    with pytest.raises(RecordError, match="no exact score"):
        verify(replace(decision, move=bounded.move))


def test_the_strong_player_solves_endings() -> None:
    for seed in range(10):
        position = random_position(othello, random.Random(seed), plies=50)
        decision = decide(position, 20, kind="strong")
        assert decision.pick is not None
        assert decision.pick.solved
        assert decision.pick.score_centi == exact_score(
            native, position, othello.most_plies_left(position), StopFlag()
        )


def test_a_strong_player_without_a_selective_search_plays_by_full_width() -> None:
    decision = decide(get_rules("tictactoe").initial(), 4, kind="strong", game="tictactoe")
    assert (decision.search_mode, decision.pick) == ("exact", None)
    verify(decision)


def test_a_strong_player_that_is_stopped_at_once_still_decides() -> None:
    stop = StopFlag()
    stop.set()
    position = random_position(othello, random.Random(3), plies=12)
    decision = MoveChooser(strategy_named("strong"), othello, TrapParams(), native).choose(
        position, Limits(30), stop
    )
    assert othello.parse_move(position, decision.move) in othello.legal_moves(position)
    verify(decision)


@pytest.mark.parametrize("stopped", [False, True])
def test_who_stops_a_strong_player_does_not_wait_for_the_deep_score_of_an_unlikely_move(
    stopped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(technique, "_OTHER_DEPTH", 8)  # a lesser depth takes no time anyway
    game, stop, nodes = get_rules("chess"), StopFlag(), 0
    core: Any = make_searcher("chess", 4)

    class Distracted(NativeSearcher):
        """Picks a move that plain search has only bounded, and may be stopped just then."""

        def think(self, *_: Any, **__: Any) -> SearchResult:
            nonlocal nodes
            nodes = core.nodes
            if stopped:
                stop.set()
            return SearchResult("f2f3", 0, 2, 73, False, ("f2f3",), 1)

    searcher = Distracted(core._game, core._core)
    decision = MoveChooser(strategy_named("strong"), game, TrapParams(), searcher).choose(
        game.initial(), Limits(7), stop
    )
    assert (decision.move, decision.depth) == ("f2f3", 2 if stopped else 7)
    assert (core.nodes - nodes < 20_000) == stopped
    verify(decision)


def test_the_strong_player_opens_by_the_book(tmp_path: Path) -> None:
    path = tmp_path / "opening.book"
    start = othello.initial()
    key, _ = canonical(start.mover, start.waiter)
    move = min(othello.legal_moves(OthelloPosition(*key, 0)))
    write_book(path, {key: (BookMove(move, 12, 20),)}, {})
    options = StrongOptions(sources={"othello": (Book.open(path),)})
    player = MoveChooser(strategy_named("strong"), othello, TrapParams(), native, options, random.Random(1))
    decision = player.choose(start, Limits(6), StopFlag())
    assert decision.search_mode == "book"
    assert decision.pick is not None
    assert (decision.pick.score_centi, decision.pick.depth) == (12, 20)
    verify(complete(decision, native, StopFlag()))
    later = othello.play(start, othello.parse_move(start, decision.move))
    assert player.choose(later, Limits(6), StopFlag()).search_mode == "strong"
