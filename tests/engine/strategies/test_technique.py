"""Won games: won by selective search, without traps, without repetitions, and provable from the record."""

from dataclasses import replace
from typing import Any

import pytest

from engine import _native
from engine.completion import complete
from engine.decision import Decision, SearchMode
from engine.errors import RecordError
from engine.game import Game
from engine.games import chess_evaluation, get_rules
from engine.move_chooser import MoveChooser
from engine.params import DecidedScores, TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import own_strategies, strategy_named
from engine.time_management import Limits
from engine.verification import verify

CHESS: Game[Any] = get_rules("chess")
KRK = "8/8/8/4k3/8/8/8/KR6 w - - 0 1"
QUEEN_UP = "r3k2r/pppp1ppp/2n5/8/8/2N5/PPPP1PPP/R2QK2R w KQkq - 0 1"


def choose(kind: str, text: str, *, wins_plainly: bool = True, game: Game[Any] = CHESS) -> Decision:
    searcher = make_searcher(game.name, 4)
    chooser = MoveChooser(strategy_named(kind), game, TrapParams(), searcher, wins_plainly=wins_plainly)
    return chooser.choose(game.parse_position(text), Limits(60, nodes=5_000), StopFlag())


@pytest.mark.parametrize("kind", own_strategies())
@pytest.mark.parametrize("text", [KRK, QUEEN_UP])
def test_a_won_game_is_won_by_selective_search(kind: str, text: str) -> None:
    decision = choose(kind, text)
    assert decision.search_mode == SearchMode.STRONG
    whole = complete(decision, make_searcher("chess", 4), StopFlag())
    for each in (decision, whole):
        verify(Decision.from_record(each.to_record()))
    if kind != "strong":
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
