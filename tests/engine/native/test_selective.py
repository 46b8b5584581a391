"""The strong search of chess and xiangqi: forced mates, draws and their price, limits, and sane lines."""

import random
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.game import WIN_CENTI, Game, ply_of_loss
from engine.games import get_rules
from engine.search.reference import exact_score
from engine.search.result import SearchResult
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag, Stopped
from tests.engine.positions import positions, random_position
from tests.patience import PATIENCE_S
from tests.shared_data import shared_path

GAMES = ("chess", "xiangqi")
MAX_EVALUATION = 20_000
LAST_PLY_BONUS = 10_000


def make(name: str, table_mb: int = 4) -> NativeSearcher:
    searcher = make_searcher(name, table_mb)
    assert isinstance(searcher, NativeSearcher)
    return searcher


# One for all examples: what was searched before must not make a result wrong.
searchers = {name: make(name) for name in GAMES}
some_position = st.sampled_from(GAMES).flatmap(
    lambda name: positions(get_rules(name), 80).map(lambda position: (get_rules(name), position))
)


def think(name: str, text: str, depth: int, contempt_centi: int = 0) -> SearchResult:
    """What a fresh search without a clock finds."""
    position = get_rules(name).parse_position(text)
    result = make(name).think(position, depth, None, StopFlag(), contempt_centi=contempt_centi)
    check_is_sane(get_rules(name), position, result)
    return result


def at_the_end_of(game: Game[Any], position: Any, line: tuple[str, ...]) -> Any:
    """Where a line leads; each of its moves is legal."""
    for text in line:
        position = game.play(position, game.parse_move(position, text))
    return position


def check_is_sane(game: Game[Any], position: Any, result: SearchResult) -> None:
    assert result.principal_variation[0] == result.move
    assert len(result.principal_variation) <= 64
    last = at_the_end_of(game, game.for_search(position), result.principal_variation)
    assert result.nodes > 0
    assert result.confidence_percent == 0  # not measured
    assert result.solved == (abs(result.score_centi) > WIN_CENTI)
    if not result.solved:
        assert abs(result.score_centi) <= MAX_EVALUATION
    elif not game.legal_moves(last) and game.result_centi(last) != 0:
        mated = game.result_centi(last)
        assert (mated if len(result.principal_variation) % 2 == 0 else -mated) == result.score_centi


# --- Mates -----------------------------------------------------------------------------------------------

MATES = (
    ("chess", 1, "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"),
    ("chess", 1, "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"),
    ("chess", 1, "k7/2Q5/1K6/8/8/8/8/8 w - - 99 80"),  # mate goes before the fifty-move rule
    ("chess", 2, "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"),  # Morphy's problem: the rook is given away
    ("chess", 2, "7k/8/8/8/8/8/R7/1R5K w - - 0 1"),  # two rooks
    ("chess", 3, "r5k1/5Npp/8/8/8/1Q6/8/6K1 w - - 0 1"),  # smothered
    ("xiangqi", 1, "4k4/R8/1R7/9/9/9/9/9/9/5K3 w - - 0 1"),
    ("xiangqi", 2, "4k4/9/R8/1R7/9/9/9/9/9/5K3 w - - 0 1"),
)
"""Game, moves to mate, position: facts of the board, checked against the exact search below."""


@pytest.mark.parametrize(("name", "moves", "text"), MATES)
def test_mates_are_found_and_told_exactly(name: str, moves: int, text: str) -> None:
    game = get_rules(name)
    position = game.parse_position(text)
    plies = 2 * moves - 1
    expected = exact_score(make(name), game.for_search(position), plies, StopFlag())
    assert expected > WIN_CENTI
    for depth in range(max(plies, 3), plies + 6):
        result = think(name, text, depth)
        if result.solved:
            break
    assert result.solved
    assert depth <= plies + 4
    assert result.score_centi == expected
    last = at_the_end_of(game, position, result.principal_variation)
    assert len(result.principal_variation) == plies
    assert not game.legal_moves(last)


@given(some_position)
@settings(max_examples=30, deadline=None)
def test_no_mate_in_two_is_missed_and_none_invented(found: tuple[Game[Any], Any]) -> None:
    game, position = found
    searcher = searchers[game.name]
    exact = exact_score(searcher, game.for_search(position), 3, StopFlag())
    result = searcher.think(position, 5, None, StopFlag())
    check_is_sane(game, position, result)
    if exact > WIN_CENTI:
        assert (result.solved, result.score_centi) == (True, exact)
    elif result.solved:
        plies = LAST_PLY_BONUS + WIN_CENTI - abs(result.score_centi) - ply(game, position)
        if plies <= 5:  # as deep as the exact search can soon tell
            deep = exact_score(searcher, game.for_search(position), max(plies, 1), StopFlag())
            assert abs(deep) > WIN_CENTI
            assert (deep > 0) == (result.score_centi > 0)


def ply(game: Game[Any], position: Any) -> int:
    """Plies since the game began, from the FEN's last field."""
    moves = int(game.board_text(position).split()[5])
    return 2 * (moves - 1) + game.side_to_move(position)


@pytest.mark.parametrize(
    ("text", "plies"),  # plies from an exhaustive analysis; a search that stops earlier finds longer mates
    [
        ("9/4k4/9/9/1R7/9/9/9/5K3/9 w - - 0 1", 3),
        ("9/9/3k5/9/9/9/2N6/9/9/5K3 w - - 0 1", 7),
        ("4k4/9/9/9/9/9/9/9/9/3KN4 w - - 0 1", 9),
        ("3k5/9/9/9/9/9/6P2/9/9/5K3 w - - 0 1", 13),
        ("3k5/9/9/9/9/9/8P/9/5K3/9 w - - 0 1", 17),
        ("9/5k3/9/9/9/9/3C5/5A3/3K5/9 w - - 0 1", 5),
    ],
)
def test_a_limited_search_looks_on_for_the_shortest_mate(text: str, plies: int) -> None:
    position = get_rules("xiangqi").parse_position(text)
    result = make("xiangqi").think(position, 60, None, StopFlag(), nodes=30_000)
    assert ply_of_loss(result.score_centi) == plies
    assert result.nodes < 30_000


def test_a_mate_against_oneself_is_told() -> None:
    result = think("chess", "7k/1R6/8/8/8/8/R7/7K b - - 0 1", 4)  # Kg8, Ra8 mate
    assert result.move == "h8g8"
    assert result.score_centi == -(WIN_CENTI + LAST_PLY_BONUS - 3)


def test_sunfish_suite() -> None:
    """All of its mates in two, at five plies."""
    missed = []
    for line in shared_path("suites/sunfish_mate2.fen").read_text().splitlines():
        if not line.strip():
            continue
        result = searchers["chess"].think(
            get_rules("chess").parse_position(line.strip()), 5, None, StopFlag()
        )
        if not result.solved or result.score_centi < 0 or len(result.principal_variation) > 3:
            missed.append(line)
    assert not missed


# --- Draws -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("contempt", [0, 35, -35])
def test_stalemate_is_a_draw_and_has_its_price(contempt: int) -> None:
    """The pawn is lost or the king is stalemated: whatever is played, it is a draw."""
    result = think("chess", "5k2/5P2/4K3/8/8/8/8/8 w - - 0 1", 8, contempt)
    assert result.score_centi == -contempt


def test_a_won_game_is_not_stalemated() -> None:
    result = think("chess", "k7/8/1K6/8/8/8/8/2Q5 w - - 0 1", 6)
    assert (result.solved, result.score_centi > 0) == (True, True)


@pytest.mark.parametrize("contempt", [0, 50])
def test_perpetual_check_saves_a_lost_chess_game(contempt: int) -> None:
    """Black mates at b1 or a1; the queen gives check on e8 and h5 for ever."""
    result = think("chess", "6k1/6p1/5p2/7Q/8/8/qr6/7K w - - 0 1", 10, contempt)
    assert result.move == "h5e8"
    assert result.score_centi == -contempt


TO_AND_FRO = "7k/8/8/8/8/8/4Q3/K7 w - - 0 1 moves e2d2 h8g8 d2e2 g8h8 e2d2 h8g8"


def test_the_third_occurrence_is_avoided_or_sought() -> None:
    """White must not go back to e2, which lets the king complete the repetition; then it would."""
    white = think("chess", TO_AND_FRO, 8)
    assert white.move != "d2e2"
    assert white.score_centi > 500
    black = think("chess", TO_AND_FRO + " d2e2", 8, 25)
    assert (black.move, black.score_centi) == ("g8h8", -25)


def test_fifty_moves_are_counted() -> None:
    """Only a move of the pawn keeps the win; of two kings and a rook without one, none does."""
    assert think("chess", "7k/8/8/8/8/8/P3R3/K7 w - - 99 80", 6).move in ("a2a3", "a2a4")
    assert think("chess", "7k/8/8/8/8/8/4R3/K7 w - - 99 80", 6).score_centi == 0


PERPETUAL = "3k5/7R1/9/9/9/9/9/9/9/5K3 w - - 0 1 moves h9h10 d10d9 h10h9 d9d10 h9h10 d10d9 h10h9"


def test_perpetual_check_loses_in_xiangqi() -> None:
    """Red has given check with every move: going back to d10 for the third time wins for black."""
    black = think("xiangqi", PERPETUAL, 4)
    assert (black.move, black.solved) == ("d9d10", True)
    assert black.score_centi == WIN_CENTI + LAST_PLY_BONUS - 8
    red = think("xiangqi", PERPETUAL.removesuffix(" h10h9"), 4)
    assert red.move != "h10h9"
    assert red.score_centi > 0


# --- Limits ----------------------------------------------------------------------------------------------


@given(some_position, st.integers(1, 8))
@settings(max_examples=30, deadline=None)
def test_results_are_sane(found: tuple[Game[Any], Any], depth: int) -> None:
    game, position = found
    result = searchers[game.name].think(position, depth, None, StopFlag())
    check_is_sane(game, position, result)
    assert result.depth == depth or (result.solved and result.depth < depth)


@given(some_position, st.integers(2_000, 30_000))
@settings(max_examples=30, deadline=None)
def test_node_limits_hold(found: tuple[Game[Any], Any], nodes: int) -> None:
    game, position = found
    stop = StopFlag()
    stop.set_node_limit(nodes)
    result = searchers[game.name].think(position, game.deepest_search, None, stop)
    check_is_sane(game, position, result)
    assert result.nodes < nodes + 2_000


@pytest.mark.parametrize("name", GAMES)
def test_one_thread_without_a_clock_is_deterministic(name: str) -> None:
    game = get_rules(name)
    sample = [random_position(game, random.Random(seed), plies=5 + 8 * seed) for seed in range(5)]
    first, second = make(name), make(name)
    for position in sample:
        assert first.think(position, 7, None, StopFlag()) == second.think(position, 7, None, StopFlag())


@pytest.mark.parametrize("name", GAMES)
def test_the_exact_search_does_not_see_selective_results(name: str) -> None:
    game, own = get_rules(name), make(name)
    for seed in range(4):
        position = game.for_search(random_position(game, random.Random(seed), plies=20))
        expected = exact_score(make(name), position, 3, StopFlag())
        own.think(position, 8, None, StopFlag())
        assert exact_score(own, position, 3, StopFlag()) == expected


@pytest.mark.parametrize("name", GAMES)
def test_a_set_flag_allows_nothing(name: str) -> None:
    stop = StopFlag()
    stop.set()
    with pytest.raises(Stopped):
        searchers[name].think(get_rules(name).initial(), 8, None, stop)
    assert searchers[name].think(get_rules(name).initial(), 4, None, StopFlag()).depth == 4  # still sound


@pytest.mark.parametrize("name", GAMES)
def test_stopped_from_another_thread(name: str) -> None:
    """An endless search ends on the flag and answers with what it has."""
    game, own, stop, found = get_rules(name), make(name), StopFlag(), list[SearchResult]()
    thread = threading.Thread(
        target=lambda: found.append(own.think(game.initial(), game.deepest_search, None, stop))
    )
    thread.start()
    while own.nodes < 100_000:
        pass
    assert thread.is_alive()
    stop.set()
    thread.join(timeout=PATIENCE_S)
    check_is_sane(game, game.initial(), found[0])


@pytest.mark.parametrize("name", GAMES)
def test_a_clock_ends_the_search(name: str) -> None:
    game = get_rules(name)
    result = searchers[name].think(game.initial(), game.deepest_search, 0.05, StopFlag())
    assert 0 < result.depth < game.deepest_search
    check_is_sane(game, game.initial(), result)


@given(some_position, st.integers(1, 7))
@settings(max_examples=30, deadline=None)
def test_two_threads_give_sane_results(found: tuple[Game[Any], Any], depth: int) -> None:
    game, position = found
    result = searchers[game.name].think(position, depth, None, StopFlag(), threads=2)
    check_is_sane(game, position, result)
    assert result.solved or result.depth == depth


@pytest.mark.parametrize("name", GAMES)
def test_two_threads_share_a_node_limit(name: str) -> None:
    game, own, stop = get_rules(name), make(name), StopFlag()
    stop.set_node_limit(60_000)
    check_is_sane(game, game.initial(), own.think(game.initial(), game.deepest_search, None, stop, threads=2))
    assert own.nodes < 70_000


@pytest.mark.parametrize(
    ("name", "text", "move"),
    [
        ("chess", "7k/8/8/8/8/8/6P1/r6K w - - 0 1", "h1h2"),
        ("xiangqi", "3k5/3r5/9/9/4r4/9/9/9/9/4K4 w - - 0 1", "e1f1"),
    ],
)
def test_a_single_move_is_no_reason_to_think_long(name: str, text: str, move: str) -> None:
    """With a clock, that is; without, the score is what is asked for."""
    game = get_rules(name)
    position = game.parse_position(text)
    assert tuple(map(game.move_text, game.legal_moves(position))) == (move,)
    result = make(name).think(position, game.deepest_search, 20.0, StopFlag())
    assert (result.move, result.depth < 10) == (move, True)
    longer = make(name).think(position, 11, None, StopFlag())
    assert longer.depth == 11 or longer.solved


def test_there_is_nothing_to_think_about_when_the_game_is_over() -> None:
    over = get_rules("chess").parse_position("k7/1Q6/1K6/8/8/8/8/8 b - - 0 1")
    with pytest.raises(ValueError, match="over"):
        searchers["chess"].think(over, 4, None, StopFlag())
