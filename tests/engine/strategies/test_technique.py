"""Won games: won by selective search, without traps, without repetitions, and provable from the record."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from engine import _native
from engine.completion import complete
from engine.decision import Candidate, Decision, DirectMove, SearchMode
from engine.errors import RecordError
from engine.game import WIN_CENTI, Game
from engine.games import chess_evaluation, get_rules
from engine.human.opponent_model_search import OpponentModelSearch
from engine.lookup.source import LookupMove, RootSource, SingleMoveSource
from engine.move_chooser import MoveChooser
from engine.params import DecidedScores, TrapParams
from engine.search.reference import INFINITY
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.move_context import Analysis, MoveContext, StrongOptions
from engine.strategies.registry import own_strategies, strategy_named
from engine.strategies.standard import Standard
from engine.strategies.technique import is_won
from engine.time_management import Limits
from engine.verification import verify

CHESS: Game[Any] = get_rules("chess")
KRK = "8/8/8/4k3/8/8/8/KR6 w - - 0 1"
QUEEN_UP = "r3k2r/pppp1ppp/2n5/8/8/2N5/PPPP1PPP/R2QK2R w KQkq - 0 1"


OTHELLO: Game[Any] = get_rules("othello")
NARROW = "2wbbw2/w1bbbb2/wwbbbbb1/wwwwwbww/wwwbbbbw/wwbbbbbw/1bbw1w1w/2b1w3 w"
"""Seventeen empty squares; d8 wins by four discs and e7 by two, but other moves lose or draw."""


def choose(
    kind: str,
    text: str,
    *,
    wins_plainly: bool = True,
    game: Game[Any] = CHESS,
    nodes: int = 5_000,
    source: RootSource | None = None,
) -> Decision:
    options = StrongOptions(sources={} if source is None else {game.name: (source,)})
    chooser = MoveChooser(
        strategy_named(kind),
        game,
        TrapParams(),
        make_searcher(game.name, 4),
        options,
        wins_plainly=wins_plainly,
    )
    return chooser.choose(game.parse_position(text), Limits(60, nodes=nodes), StopFlag())


@dataclass(frozen=True, kw_only=True)
class Worst(Standard):
    """Prefers the worst move."""

    def best_move(self, candidates: Sequence[Candidate], params: TrapParams) -> str:  # noqa: ARG002
        return min((c for c in candidates if not c.raw_is_bound), key=lambda c: c.raw_centi).move

    def analysis(self, context: MoveContext, people: OpponentModelSearch | None) -> Analysis:  # noqa: ARG002
        return Analysis(lambda profiler, depth: profiler.raw_candidates(depth, INFINITY), is_costly=False)


@pytest.mark.parametrize("kind", own_strategies())
@pytest.mark.parametrize("text", [KRK, QUEEN_UP])
def test_a_won_game_is_won_by_selective_search(kind: str, text: str) -> None:
    decision = choose(kind, text)
    assert decision.search_mode == SearchMode.STRONG
    whole = complete(decision, make_searcher("chess", 4), StopFlag())
    for each in (decision, whole):
        verify(Decision.from_record(each.to_record()))
    if not strategy_named(kind).searches_selectively:
        assert choose(kind, text, wins_plainly=False).search_mode == SearchMode.EXACT


@pytest.mark.parametrize("text", [CHESS.position_text(CHESS.initial()), "8/8/8/4k3/8/8/8/K6r w - - 0 1"])
def test_other_games_are_played_as_ever(text: str) -> None:
    decision = choose("trappy", text)
    assert decision.search_mode == SearchMode.EXACT
    forged = replace(choose("trappy", KRK), position=text, candidates=decision.candidates, move=decision.move)
    with pytest.raises(RecordError, match="is not a won game"):
        verify(replace(forged, depth=decision.depth))


def test_paper_scores_are_treated_alike() -> None:
    chooser = MoveChooser(
        strategy_named("trappy"),
        CHESS,
        TrapParams(decided=DecidedScores.PAPER),
        make_searcher("chess", 4),
        wins_plainly=True,
    )
    decision = chooser.choose(CHESS.parse_position(KRK), Limits(4), StopFlag())
    assert decision.search_mode == SearchMode.EXACT


@pytest.mark.parametrize("kind", own_strategies())
@pytest.mark.parametrize("nodes", [1, 300, 900])
def test_a_stopped_search_leaves_a_record_that_proves_itself(kind: str, nodes: int) -> None:
    stop = StopFlag()
    stop.set_node_limit(nodes)
    chooser = MoveChooser(
        strategy_named(kind), CHESS, TrapParams(), make_searcher("chess", 4), wins_plainly=True
    )
    for text in (KRK, QUEEN_UP):
        verify(chooser.choose(CHESS.parse_position(text), Limits(60), stop))


def test_a_weakened_player_does_not_win_so() -> None:
    assert choose("gentle", KRK).search_mode == SearchMode.EXACT


@pytest.mark.parametrize("kind", own_strategies())
def test_the_tables_win_a_won_game(kind: str) -> None:
    move = CHESS.legal_moves(CHESS.parse_position(KRK))[5]

    def table(score_centi: int | None) -> SingleMoveSource:
        return SingleMoveSource(LookupMove(move, SearchMode.TABLEBASE, DirectMove(score_centi, 0, 100, True)))

    decision = choose(kind, KRK, source=table(WIN_CENTI))
    assert (decision.search_mode, decision.move) == (SearchMode.TABLEBASE, CHESS.move_text(move))
    whole = complete(decision, make_searcher("chess", 4), StopFlag())
    for each in (decision, whole):
        verify(Decision.from_record(each.to_record()))
    if not strategy_named(kind).searches_selectively:
        for score_centi in (0, -WIN_CENTI, None):
            assert choose(kind, KRK, source=table(score_centi)).search_mode == SearchMode.STRONG
        assert decision.pick is not None
        with pytest.raises(RecordError, match="but not in a won game"):
            verify(replace(decision, pick=replace(decision.pick, score_centi=0)))
    assert choose("gentle", KRK, source=table(WIN_CENTI)).search_mode == SearchMode.EXACT


@pytest.mark.parametrize("kind", own_strategies())
@pytest.mark.parametrize("counter", [97, 98])
def test_the_counter_is_seen_before_it_ends_a_won_game(kind: str, counter: int) -> None:
    position = CHESS.parse_position(f"8/8/8/8/4k3/8/P7/KR6 w - - {counter} 80")
    chooser = MoveChooser(
        strategy_named(kind), CHESS, TrapParams(), make_searcher("chess", 4), wins_plainly=True
    )
    for plies in range(3):
        move = chooser.choose(position, Limits(60, nodes=5_000), StopFlag()).move
        position = CHESS.play(position, CHESS.parse_move(position, move))
        if position.board.halfmove_clock == 0:
            break
        assert plies < 98 - counter + 1
        position = CHESS.play(position, CHESS.legal_moves(position)[0])
    assert position.board.halfmove_clock == 0
    assert CHESS.legal_moves(position)


@pytest.mark.parametrize("kind", own_strategies())
def test_a_solved_win_is_kept(kind: str) -> None:
    decision = choose(kind, NARROW, game=OTHELLO, nodes=3_000_000)
    assert decision.move in ("d8", "e7")
    verify(Decision.from_record(decision.to_record()))


def test_a_move_that_gives_up_a_solved_win_is_replaced() -> None:
    assert choose("standard", NARROW, game=OTHELLO, nodes=1_000_000, wins_plainly=False).move == "b2"
    searcher = make_searcher("othello", 4)
    chooser = MoveChooser(Worst(name="standard"), OTHELLO, TrapParams(), searcher, wins_plainly=True)
    position = OTHELLO.parse_position(NARROW)
    shallow = chooser.choose(position, Limits(2, time_s=30.0), StopFlag())
    assert shallow.search_mode == SearchMode.EXACT  # a player of small depth does not solve endings
    decision = chooser.choose(position, Limits(7), StopFlag())
    assert (decision.move, decision.search_mode) == ("d8", SearchMode.STRONG)
    assert decision.pick is not None
    assert decision.pick.score_centi == WIN_CENTI + 400
    verify(decision)
    with pytest.raises(RecordError, match="is not a won game"):
        verify(replace(decision, pick=replace(decision.pick, solved=False)))


@pytest.mark.parametrize(("row", "is_won_then"), [("q3k3", True), ("1q2k3", False)])
def test_no_trap_is_preferred_to_the_best_move_of_a_won_game(row: str, is_won_then: bool) -> None:
    """The static evaluation does not see that the knight forks king and queen, but the exact scores do."""
    position = CHESS.parse_position(f"{row}/8/8/1N6/8/8/PPPPP3/4K3 w - - 0 1")
    assert not is_won(CHESS, CHESS.for_search(position), CHESS.evaluate_centi(position))
    for wins_plainly in (True, False):
        chooser = MoveChooser(
            Worst(name="standard"), CHESS, TrapParams(), make_searcher("chess", 4), wins_plainly=wins_plainly
        )
        decision = chooser.choose(position, Limits(4), StopFlag())
        is_best = decision.chosen.raw_centi == max(c.raw_centi for c in decision.candidates)
        assert is_best == (is_won_then and wins_plainly)
        assert decision.search_mode == (SearchMode.STRONG if is_best else SearchMode.EXACT)
        if is_best:
            verify(decision)


def test_the_winner_repeats_no_position() -> None:
    """After a move, the other king's move, and both moves back, the first move would repeat a position."""
    start = CHESS.parse_position(KRK)
    move = choose("trappy", KRK).move
    away = CHESS.play(start, CHESS.parse_move(start, move))
    for text in map(CHESS.move_text, CHESS.legal_moves(away)):
        back = [move, text, move[2:] + move[:2], text[2:] + text[:2]]
        position = start
        try:
            for each in back:
                position = CHESS.play(position, CHESS.parse_move(position, each))
        except ValueError:
            continue
        break
    again = CHESS.position_text(position)
    for kind in ("trappy", "strong"):
        assert choose("strong", again, wins_plainly=False).move == move
        decision = choose(kind, again)
        verify(decision)
        after = CHESS.play(position, CHESS.parse_move(position, decision.move))
        assert not CHESS.is_repeated(after)
        assert decision.pick is not None
        assert decision.pick.score_centi == decision.chosen.raw_centi


@pytest.mark.parametrize(
    ("fen", "progress"),
    [
        (
            "k7/2K5/8/8/8/8/8/1R6 w - - 0 1",
            25 * 6 - 75 - 20 * 2,
        ),  # in a corner, two squares from the other king
        ("8/8/8/3k4/8/8/8/K6R w - - 0 1", -75 - 20 * 4),
        ("k7/2K5/8/8/8/8/8/BN6 w - - 0 1", -400 - 20 * 2),  # the wrong corner for a bishop on dark squares
        ("k7/2K5/8/8/8/8/8/1BN5 w - - 0 1", 100 * 7 - 400 - 20 * 2),
        ("7k/5K2/8/8/8/8/8/BN6 b - - 0 1", -100 * 7 + 400 + 20 * 2),
        ("1r6/8/8/8/8/8/2k5/K7 w - - 0 1", -25 * 6 + 75 + 20 * 2),
        ("k7/2K5/8/8/8/8/P7/1R6 w - - 0 1", 0),  # a pawn is led to its last rank
        ("k7/2K5/8/8/8/8/7p/1R6 w - - 0 1", 0),
    ],
)
def test_the_strong_search_drives_a_bare_king_to_the_edge(fen: str, progress: int) -> None:
    core = _native.ChessSearch(1, chess_evaluation.native_evaluation())
    text = CHESS.native_position(CHESS.parse_position(fen))  # type: ignore[attr-defined]
    assert core.strong_evaluation(text, []) - core.evaluate(text) == progress
