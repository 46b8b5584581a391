"""Both ends together: the program as it is started, driven by our own controllers and by python-chess."""

import random
from collections.abc import Iterator

import chess
import chess.engine
import pytest

from engine.game import replay
from engine.games import get_rules
from engine.protocols.external_engine import ExternalEngine
from engine.protocols.link import SearchRequest
from engine.protocols.process import WaitLimit
from engine.protocols.score_settings import EngineSettings
from engine.protocols.scores import scores_by_depth
from engine.protocols.settings import Allowance, ExternalSettings
from engine.protocols.uci_scores import UciLink
from engine.stop import StopFlag, Stopped
from tests.bot.protocols.driver import LONG_S, our_command

PLIES = 12


@pytest.mark.parametrize(
    ("game", "protocol", "player"),
    [
        ("othello", "nboard", "trappy"),
        ("othello", "gtp", "strong"),
        ("chess", "uci", "standard"),
        ("xiangqi", "ucci", "trappy"),
    ],
)
def test_our_controllers_drive_our_engine(game: str, protocol: str, player: str) -> None:
    """With every kind of limit; and a search that was stopped does no harm."""
    command = our_command(protocol, "--strategy", player, "--depth", "3")
    engine = ExternalEngine(
        ExternalSettings(
            game=game, protocol=protocol, command=command, start_s=LONG_S, response_timeout_s=LONG_S
        )
    )
    allowances = (
        Allowance(depth=3),
        Allowance(move_s=0.1, depth=3),
        Allowance(remaining_s=(3.0, 2.0), increment_s=0.1, depth=3),
    )
    rules = get_rules(game)
    try:
        engine.new_game()
        assert engine.name.startswith("Desdemona")
        moves: list[str] = []
        for ply in range(PLIES):
            choice = engine.choose(moves, allowances[ply % 3], StopFlag())
            assert choice.variation[0] == choice.move
            if protocol != "gtp":
                assert choice.evaluation_centi is not None
                assert choice.depth is not None
            moves.append(choice.move)
        replay(rules, moves)
        if protocol != "gtp":  # which cannot be stopped
            stop = StopFlag()
            stop.set()
            with pytest.raises(Stopped):
                engine.choose(moves, Allowance(depth=60), stop)
        engine.new_game()
        assert engine.choose((), Allowance(depth=2), StopFlag()).move
    finally:
        engine.close()


@pytest.fixture(scope="module")
def ours() -> Iterator[chess.engine.SimpleEngine]:
    engine = chess.engine.SimpleEngine.popen_uci(
        list(our_command("uci", "--strategy", "trappy")), timeout=LONG_S
    )
    yield engine
    engine.quit()


def played(engine: chess.engine.SimpleEngine, board: chess.Board, limit: chess.engine.Limit) -> chess.Board:
    """A game of both sides to its end; python-chess checks every move."""
    game = object()
    while not board.is_game_over(claim_draw=True) and board.ply() < 300:
        result = engine.play(board, limit, game=game, info=chess.engine.INFO_ALL)
        assert result.move is not None
        assert result.info["depth"] >= 2 or result.info["score"].is_mate()  # one ply shows a mate in one
        board.push(result.move)
    return board


def test_python_chess_plays_a_game(ours: chess.engine.SimpleEngine) -> None:
    assert ours.id["name"].startswith("Desdemona ")
    assert played(ours, chess.Board(), chess.engine.Limit(depth=2)).ply() > 10


def test_python_chess_plays_chess960(ours: chess.engine.SimpleEngine) -> None:
    """From positions in which castling is near, among them one where it moves no king."""
    random.seed(960)
    for fen in (
        "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1",
        "1r3kr1/pppppppp/8/8/8/8/PPPPPPPP/1R3KR1 w GBgb - 0 1",
    ):
        board = chess.Board(fen, chess960=True)
        castling = [move for move in board.legal_moves if board.is_castling(move)]
        result = ours.play(board, chess.engine.Limit(depth=2), root_moves=castling)
        assert result.move in castling
    start = chess.Board.from_chess960_pos(random.randrange(960))
    assert played(start_with(ours), start, chess.engine.Limit(depth=2)).ply() > 10


def start_with(engine: chess.engine.SimpleEngine) -> chess.engine.SimpleEngine:
    """The same engine as the strong player."""
    engine.configure({"Player": "strong"})
    return engine


def test_python_chess_analyses(ours: chess.engine.SimpleEngine) -> None:
    board = chess.Board()
    lines = ours.analyse(board, chess.engine.Limit(depth=3), multipv=5)
    assert len({line["pv"][0] for line in lines}) == 5
    with ours.analysis(board) as analysis:
        for info in analysis:
            if info.get("depth", 0) >= 3:
                break
    best = analysis.wait().move
    assert best is not None
    assert best in board.legal_moves


@pytest.mark.parametrize(("game", "protocol"), [("chess", "uci"), ("xiangqi", "ucci")])
def test_our_trap_profiles_come_from_our_own_engine_too(game: str, protocol: str) -> None:
    """It shows every move's score at every depth, as `engine.protocols.uci_scores` asks for."""
    command = our_command(protocol, "--strategy", "standard")
    link = UciLink(EngineSettings(game=game, command=command, protocol=protocol, start_s=LONG_S))
    rules = get_rules(game)
    position = rules.initial()
    moves = tuple(map(rules.move_text, rules.legal_moves(position)))
    try:
        answer = link.search(
            SearchRequest(rules.position_text(position), 3, len(moves)),
            WaitLimit(StopFlag(), response_timeout_s=LONG_S),
        )
    finally:
        link.close()
    scores = scores_by_depth(answer.lines, moves, 3, 0)
    assert set(scores) == set(moves)
    assert all(len(row) == 3 for row in scores.values())
