"""The variants of chess: against python-chess, how they end, and played by another engine."""

import random
from collections.abc import Iterator
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.decision import Decision
from engine.game import WIN_CENTI, BadPosition, IllegalMove, replay
from engine.games import ENGINE_GAMES, get_rules
from engine.games.chess_variants import CHESS_VARIANTS, ChessVariant
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.protocols.engine_source import EngineSource
from engine.protocols.process import EngineError
from engine.protocols.score_settings import EngineSettings
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import STRATEGIES, strategies_for, strategy_named
from engine.time_management import Limits
from engine.variety import RepetitionAvoidance
from engine.verification import verify
from tests.engine.protocols.fake_uci import NAME
from tests.engine.protocols.test_uci_scores import LONG_S, fake
from tests.programs import installed

KNOWN_TO_FAIRY = sorted(ENGINE_GAMES - {"atomic"})
"""To the version of Debian 12; later ones know atomic, too."""

every_variant = pytest.mark.parametrize("game", CHESS_VARIANTS, ids=lambda game: game.name)


def outcome(board: chess.Board) -> chess.Outcome | None:
    """python-chess's, with the draws that players have to claim."""
    if board.is_fifty_moves() or board.is_repetition(3):
        return board.outcome() or chess.Outcome(chess.Termination.THREEFOLD_REPETITION, None)
    return board.outcome()


# --- Rules -------------------------------------------------------------------------------------------------


@every_variant
@given(seed=st.integers(0, 10**6))
@settings(max_examples=5, deadline=None)
def test_rules_are_those_of_python_chess(game: ChessVariant, seed: int) -> None:
    rng = random.Random(seed)
    board, position = game.board_type(), game.initial()
    for ply in range(150):
        end = outcome(board)
        legal = game.legal_moves(position)
        assert (end is None) == bool(legal)
        if end is not None:
            result, mover = game.result_centi(position), game.side_to_move(position)
            won_by_mover = None if end.winner is None else end.winner == (mover == 0)
            assert won_by_mover == (None if result == 0 else result > 0)
            assert abs(result) > WIN_CENTI or result == 0
            return
        assert {game.move_text(move) for move in legal} == {move.uci() for move in board.legal_moves}
        if ply % 10 == 0:
            assert game.parse_position(game.position_text(position)) == position
            assert game.board_text(position).split()[0] == board.fen().split()[0]
        move = rng.choice(legal)
        board.push_uci(game.move_text(move))
        position = game.play(position, move)


WON, LOST = 1, -1
"""The side that made the move."""


@pytest.mark.parametrize(
    ("name", "fen", "move", "result", "kind"),
    [
        ("atomic", "rnbqkb1r/pppppppp/8/6N1/8/8/PPPPPPPP/R1BQKBNR w KQkq - 0 3", "g5f7", WON, "variantEnd"),
        ("atomic", "7k/R7/8/8/8/8/8/1R5K w - - 0 1", "b1b8", WON, "mate"),
        ("kingOfTheHill", "4k3/8/8/8/8/4K3/8/8 w - - 0 1", "e3e4", WON, "variantEnd"),
        ("threeCheck", "4k3/8/8/8/8/8/8/R3K3 w - - 1+3 0 1", "a1a8", WON, "variantEnd"),
        ("threeCheck", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1 +2+0", "a1a8", WON, "variantEnd"),
        ("antichess", "8/8/8/8/8/p7/1P6/8 w - - 0 1", "b2a3", LOST, "variantEnd"),
        ("antichess", "8/8/8/8/p7/8/P7/8 w - - 0 1", "a2a3", LOST, "variantEnd"),  # stalemate
        ("horde", "4k3/8/8/8/8/8/r7/P7 b - - 0 1", "a2a1", WON, "variantEnd"),
        ("racingKings", "8/K7/8/7k/8/8/8/8 w - - 0 1", "a7a8", WON, "variantEnd"),
        ("racingKings", "K7/7k/8/8/8/8/8/8 b - - 0 1", "h7h8", 0, "draw"),
        ("racingKings", "K7/7k/8/8/8/8/8/8 b - - 0 1", "h7h6", LOST, "variantEnd"),
        ("crazyhouse", "4k3/8/4K3/8/8/8/8/8[R] w - - 0 1", "R@a8", WON, "mate"),
        ("crazyhouse", "7k/8/8/6K1/8/8/8/8[Q] w - - 0 1", "Q@g6", 0, "stalemate"),
    ],
)
def test_ends(name: str, fen: str, move: str, result: int, kind: str) -> None:
    game = get_rules(name)
    end = replay(game, [move], game.parse_position(fen))
    assert game.legal_moves(end) == ()
    told = -game.result_centi(end)
    assert (told > 0) - (told < 0) == result
    assert game.ending(end).kind == kind
    assert kind != "variantEnd" or game.ending(end).text


def test_a_race_goes_on_while_the_other_may_draw() -> None:
    game = get_rules("racingKings")
    position = replay(game, ["a7a8"], game.parse_position("8/K6k/8/8/8/8/8/8 w - - 0 1"))
    assert "h7h8" in {game.move_text(move) for move in game.legal_moves(position)}


def test_a_third_occurrence_and_fifty_moves() -> None:
    for game in (get_rules("atomic"), get_rules("crazyhouse"), get_rules("threeCheck")):
        thrice = replay(game, ["g1f3", "g8f6", "f3g1", "f6g8"] * 2)
        assert game.legal_moves(thrice) == ()
        assert game.legal_moves(game.without_rule_ending(thrice)) == game.legal_moves(game.initial())
    for name, is_over in (("atomic", True), ("crazyhouse", False)):
        game = get_rules(name)
        position = game.parse_position("4k2r/8/8/8/8/8/8/R3K3 w - - 99 90")
        after = replay(game, ["a1b1"], position)
        assert (game.legal_moves(after) == ()) == is_over


def test_a_crazyhouse_position_may_come_back_after_captures() -> None:
    """So all moves since the castling rights last changed are kept."""
    game = get_rules("crazyhouse")
    moves = ["e2e4", "d7d5", "e4d5", "d8d5", "b1c3"]
    position = replay(game, moves)
    assert game.position_text(position).endswith("moves " + " ".join(moves))
    assert game.board_text(position).split()[0].endswith("[Pp]")


def test_drops_and_promoted_pieces() -> None:
    game = get_rules("crazyhouse")
    start = game.parse_position("4k3/P7/8/8/r7/8/8/4K3/Np w - - 0 1")  # as lichess.org writes it
    drop = game.parse_move(start, "N@b3")
    assert game.move_squares(drop) == ("b3",)
    assert game.board_text(game.play(start, drop)).startswith("4k3/P7/8/8/r7/1N6/8/4K3[p] b")
    promoted = replay(game, ["a7a8q", "a4a8"], start)
    assert game.board_text(promoted).startswith("r3k3/8/8/8/8/8/8/4K3[Npp] w")  # a pawn, no queen
    marked = replay(game, ["a7a8q"], start)
    assert game.board_text(marked).startswith("Q~3k3/")
    again = replay(game, ["a4a8"], game.parse_position(game.board_text(marked)))
    assert game.board_text(again) == game.board_text(promoted)
    for text in ("P@b3", "N@a4", "n@b3", "N@b9", "NN@b3"):
        with pytest.raises(IllegalMove):
            game.parse_move(start, text)
    king = get_rules("antichess")
    crowned = replay(king, ["a7a8k"], king.parse_position("8/P7/8/8/8/8/8/6n1 w - - 0 1"))
    assert king.board_rows(crowned)[0] == "K......."


@pytest.mark.parametrize(
    ("name", "fen"),
    [
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[K] w - - 0 1"),
        ("crazyhouse", f"4k3/8/8/8/8/8/8/4K3[{'Q' * 60}] w - - 0 1"),
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[1] w - - 0 1"),
        ("threeCheck", "4k3/8/8/8/8/8/8/R3K3 w - - 4+3 0 1"),
        ("threeCheck", "4k3/8/8/8/8/8/8/R3K3 w - - 3+x 0 1"),
        ("atomic", "4k3/8/8/8/8/8/8/R7 w - - 0 1 1"),
        ("atomic", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1000000000"),
        ("kingOfTheHill", "4k3/8/8/8/8/8/8/R7 w - - 0 1"),
        ("kingOfTheHill", "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1"),
        ("horde", "k7/8/KP6/8/8/8/8/8 w - - 0 1"),
        ("racingKings", "8/8/8/8/8/8/k6P/K7 w - - 0 1"),
    ],
)
def test_positions_that_no_engine_should_see(name: str, fen: str) -> None:
    with pytest.raises(BadPosition):
        get_rules(name).parse_position(fen)


# --- Other engines -----------------------------------------------------------------------------------------


@pytest.fixture
def sources() -> Iterator[list[EngineSource]]:
    """Closed when the test is over."""
    opened: list[EngineSource] = []
    yield opened
    for source in opened:
        source.close()


def decide(
    game: Any, position: Any, source: EngineSource | None, avoidance: RepetitionAvoidance | None = None
) -> Decision:
    player = MoveChooser(
        strategy_named("trappy_uci"), game, TrapParams(), make_searcher(game.name, 1), source=source
    )
    return player.choose(position, Limits(2), StopFlag(), avoidance)


@every_variant
def test_players(game: ChessVariant) -> None:
    assert strategies_for(game.name) == ("trappy_uci", "standard_uci")
    assert strategies_for("chess") == tuple(STRATEGIES)


@pytest.mark.parametrize("name", ["crazyhouse", "threeCheck"])
def test_a_variant_on_another_engines_scores(name: str, sources: list[EngineSource]) -> None:
    game = get_rules(name)
    sources.append(EngineSource(fake(name, "uci", depth=3, candidates=2)))
    position = game.initial()
    for _ in range(3):
        # A line that was played before is no reason to search without the engine.
        decision = decide(game, position, sources[0], RepetitionAvoidance(("e2e4",), 1000))
        verify(decision)
        assert (decision.search_mode, decision.profile_source) == ("engine", NAME)
        position = game.play(position, game.parse_move(position, decision.move))


def test_an_engine_that_ends_is_asked_again_for_the_same_move(
    sources: list[EngineSource], tmp_path: Any
) -> None:
    game = get_rules("atomic")
    sources.append(
        EngineSource(fake("atomic", "uci", "crash=1", f"once={tmp_path / 'x'}", depth=2, candidates=1))
    )
    assert decide(game, game.initial(), sources[0]).search_mode == "engine"


def test_without_its_engine_a_game_goes_on(sources: list[EngineSource]) -> None:
    game = get_rules("antichess")
    sources.append(EngineSource(EngineSettings(game="antichess", command=("/no/such",))))
    for source in (None, sources[0]):
        decision = decide(game, game.initial(), source)
        verify(decision)
        assert (decision.search_mode, decision.profile_source) == ("exact", "reference")


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("novariants", "does not play 3check: it has no option UCI_Variant"),
        ("knows=atomic", "does not play 3check: UCI_Variant does not offer it"),
    ],
)
def test_an_engine_must_know_the_variant(fault: str, text: str) -> None:
    with pytest.raises(EngineError, match=f"{NAME} {text}"):
        EngineSource(fake("threeCheck", "uci", fault)).open()


RACE_WON = "8/1Q6/5KR1/8/5B2/7n/k7/5BR1 w - - 3 15"
"""Fairy-Stockfish's line goes on after the race."""


@pytest.mark.parametrize(
    ("name", "start"), [*((name, None) for name in KNOWN_TO_FAIRY), ("racingKings", RACE_WON)]
)
def test_a_real_engine_plays(name: str, start: str | None, sources: list[EngineSource]) -> None:
    game = get_rules(name)
    command = (installed("fairy-stockfish"),)
    sources.append(
        EngineSource(EngineSettings(game=name, command=command, depth=3, candidates=2, start_s=LONG_S))
    )
    position, rng = game.initial() if start is None else game.parse_position(start), random.Random(1)
    for ply in range(12):
        legal = game.legal_moves(position)
        if not legal:
            break
        move = rng.choice(legal)
        if ply % 2 == 0:
            decision = decide(game, position, sources[0])
            verify(decision)
            assert decision.search_mode == "engine", sources[0].trouble
            move = game.parse_move(position, decision.move)
        position = game.play(position, move)
    assert ply > 0
