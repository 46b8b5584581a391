"""Scores by UCI and UCCI: over a made-up engine with every fault there is, and over real ones."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import pytest

from engine.games import get_rules
from engine.protocols.link import BestMoveRequest, EngineOutput, Link, SearchRequest
from engine.protocols.process import EngineError, WaitLimit
from engine.protocols.score_settings import EngineSettings
from engine.protocols.scores import score_to_centi, scores_by_depth
from engine.protocols.uci import EngineOption, read_info, read_option, shift_ranks
from engine.protocols.uci_scores import UciLink
from engine.stop import StopFlag, Stopped
from tests.engine.protocols.fake_uci import NAME, fake_mate, fake_score
from tests.programs import installed

SCRIPT = Path(__file__).with_name("fake_uci.py")
MIDDLE_GAMES = {
    "chess": "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P4/2PBPN2/PP1N1PPP/R1BQ1RK1 w - - 0 8 moves f1e1 f8e8",
    "xiangqi": "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1 moves h3e3 h10g8",
}
KINDS = [("chess", "uci"), ("xiangqi", "ucci")]
LONG_S = 300.0
"""Longer than anything takes that ends at all."""


def fake(game: str, protocol: str, *faults: str, **changes: Any) -> EngineSettings:
    """Settings for the made-up engine."""
    known: dict[str, Any] = {"start_s": LONG_S, "response_timeout_s": LONG_S}
    command = (sys.executable, str(SCRIPT), game, protocol, *faults)
    return EngineSettings(game=game, command=command, protocol=protocol, **(known | changes))


def legal(game: str) -> tuple[str, ...]:
    rules = get_rules(game)
    position = rules.parse_position(MIDDLE_GAMES[game])
    return tuple(rules.move_text(move) for move in rules.legal_moves(position))


def board(game: str) -> str:
    rules = get_rules(game)
    return " ".join(rules.board_text(rules.parse_position(MIDDLE_GAMES[game])).split()[:2])


def ask(game: str, depth: int = 4, moves: tuple[str, ...] = ()) -> SearchRequest:
    return SearchRequest(MIDDLE_GAMES[game], depth, len(moves or legal(game)), moves)


def told(game: str, answer: EngineOutput, depth: int = 4) -> dict[str, tuple[int, ...]]:
    return scores_by_depth(answer.lines, legal(game), depth, 16)


def expected(game: str, depth: int = 4) -> dict[str, tuple[int, ...]]:
    return {
        move: tuple(fake_score(board(game), move, d) for d in range(1, depth + 1)) for move in legal(game)
    }


PATIENT = WaitLimit(StopFlag(), response_timeout_s=LONG_S)
Opener = Callable[..., Link]


@pytest.fixture
def opened() -> Iterator[Opener]:
    """Opens links to the made-up engine, and closes them when the test is over."""
    links: list[Link] = []

    def open_fake(game: str, protocol: str, *faults: str, **changes: Any) -> Link:
        links.append(UciLink(fake(game, protocol, *faults, **changes)))
        return links[-1]

    yield open_fake
    for link in links:
        link.close(quickly=True)
        link.close()


# --- Reading -----------------------------------------------------------------------------------------------


def test_info_lines() -> None:
    text = "info depth 3 seldepth 4 multipv 2 score cp -12 nodes 77 nps 1 time 3 pv e2e4 e7e5"
    line, nodes = read_info(text)
    assert nodes == 77
    assert line is not None
    assert (line.depth, line.value, line.is_mate, line.variation) == (3, -12, False, ("e2e4", "e7e5"))
    mate, _ = read_info("info depth 9 score mate -3 pv a1a2")
    assert mate is not None
    assert (mate.value, mate.is_mate) == (-3, True)
    ucci, _ = read_info("info depth 6 score 4 pv b0c2 b9c7", lambda move: shift_ranks(move, 1))
    assert ucci is not None
    assert (ucci.value, ucci.variation) == (4, ("b1c3", "b10c8"))
    assert read_info("info depth 1 score cp 5 upperbound nodes 9 pv a1a2") == (None, 9)
    assert read_info("info string depth 3 score cp 1 pv a1a2") == (None, None)
    for nonsense in (
        "info",
        "info depth",
        "info depth x score cp 1 pv a",
        "info score cp",
        "info depth 1 pv a1",
    ):
        assert read_info(nonsense) == (None, None)


def test_numbers_that_cannot_be_true_are_not_reported() -> None:
    for nodes, known in (("0", 0), (str(10**15), 10**15), ("-1", None), (str(10**15 + 1), None)):
        line, so_far = read_info(f"info depth 2 score cp 1 nodes {nodes} pv a1a2")
        assert (line is not None, so_far) == (True, known)
    for depth, is_known in (("0", True), ("999", True), ("-1", False), ("1000", False), ("9" * 400, False)):
        line, so_far = read_info(f"info depth {depth} score cp 1 nodes 7 pv a1a2")
        assert (line is not None, so_far) == (is_known, 7)


def test_the_rest_of_a_very_long_variation_is_dropped() -> None:
    line, nodes = read_info("info depth 2 score cp 1 nodes 7 pv" + " a1a2 a2a1" * 200)
    assert line is not None
    assert (line.variation, nodes) == (("a1a2", "a2a1") * 128, 7)


def test_moves_in_capitals_and_from_other_ranks() -> None:
    assert [shift_ranks(move, 0) for move in ("E2E4", "a7A8Q", "n@F3", "O-O", "Nf3", "0000")] == [
        "e2e4", "a7a8q", "N@f3", "O-O", "Nf3", "0000"
    ]  # fmt: skip
    assert shift_ranks("H9G7", 1) == "h10g8"


def test_no_first_move_of_xiangqi_is_legal_in_both_ways_of_counting_ranks() -> None:
    rules = get_rules("xiangqi")
    moves = [rules.move_text(move) for move in rules.legal_moves(rules.initial())]
    for shift in (1, -1):
        assert not set(moves) & {shift_ranks(move, shift) for move in moves}


def test_option_lines() -> None:
    style = read_option("option\tname Style  type combo var Solid Play default Solid Play var Wild type")
    assert style == EngineOption("Style", "combo", None, None, ("Solid Play", "Wild type"))
    assert read_option("option name Clear Hash type button") == EngineOption(
        "Clear Hash", "button", None, None
    )
    hash_mb = read_option("option Hash type spin default 16 min 1 max 1024")
    assert hash_mb == EngineOption("Hash", "spin", 1, 1024)
    assert read_option("id name option") is None
    assert (hash_mb.refuse("1024"), hash_mb.refuse("0"), hash_mb.refuse("x")) == (
        None,
        "must be 1 to 1024",
        "must be a whole number",
    )
    check = EngineOption("Ponder", "check", None, None)
    assert (check.refuse("true"), check.refuse("yes")) == (None, "must be true or false")


def test_ranks() -> None:
    assert shift_ranks("h2e2", 1) == "h3e3"
    assert shift_ranks("a10a9", -1) == "a9a8"
    assert shift_ranks("(none)", 1) == "(none)"
    assert shift_ranks("h100e2", 1) == "h100e2"
    nonsense = f"h{'1' * 5000}e2"  # more digits than int() takes
    assert shift_ranks(nonsense, 1) == nonsense


# --- A whole engine ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["uci", "ucci"])
@pytest.mark.parametrize("ranks", [0, 1])
def test_either_way_of_counting_ranks(opened: Opener, protocol: str, ranks: int) -> None:
    link = opened("xiangqi", protocol, f"ranks={ranks}")
    assert told("xiangqi", link.search(ask("xiangqi"), PATIENT)) == expected("xiangqi")
    some = legal("xiangqi")[3:6]
    answer = link.search(ask("xiangqi", moves=some), PATIENT)
    assert {line.variation[0] for line in answer.lines} == set(some)
    best = link.search(BestMoveRequest(MIDDLE_GAMES["xiangqi"], depth=4), PATIENT).best
    assert best in legal("xiangqi")


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_every_move_at_every_depth(opened: Opener, game: str, protocol: str) -> None:
    link = opened(game, protocol, options=(("hash", "32"),))
    assert (link.name, link.max_lines) == (NAME, 500)
    for depth in (4, 1):
        answer = link.search(ask(game, depth), PATIENT)
        assert told(game, answer, depth) == expected(game, depth)
        assert answer.nodes == 100 * depth + len(legal(game))


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_some_moves(opened: Opener, game: str, protocol: str) -> None:
    moves = legal(game)[3:8]
    answer = opened(game, protocol).search(ask(game, 3, moves), PATIENT)
    assert {line.variation[0] for line in answer.lines} == set(moves)


def test_a_chess_engine_knows_chess960_and_whether_it_analyses(opened: Opener, tmp_path: Path) -> None:
    path = tmp_path / "options"
    link = opened("chess", "uci", f"options={path}")
    link.search(ask("chess", 1), PATIENT)
    link.search(BestMoveRequest(MIDDLE_GAMES["chess"], depth=1), PATIENT)
    fen = "1rbqkb1r/pppppppp/8/8/8/8/PPPPPPPP/1RBQKB1R w HBhb - 0 1"
    link.search(SearchRequest(fen, 1, 1), PATIENT)
    link.search(SearchRequest(fen, 1, 1), PATIENT)
    assert path.read_text().splitlines() == [
        "UCI_AnalyseMode true",
        "UCI_AnalyseMode false",
        *("UCI_AnalyseMode true", "UCI_Chess960 true"),
        "UCI_AnalyseMode true",
    ]


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_noise_changes_nothing(opened: Opener, game: str, protocol: str) -> None:
    """Nonsense between the lines, bounds, and lists that are printed again and again."""
    link = opened(game, protocol, "garbage", "bounds", "reprint")
    assert told(game, link.search(ask(game), PATIENT)) == expected(game)
    assert told(game, link.search(ask(game), PATIENT)) == expected(game)


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_nodes_and_depths_that_cannot_be_true(opened: Opener, game: str, protocol: str) -> None:
    answer = opened(game, protocol, "boasts").search(ask(game), PATIENT)
    assert told(game, answer) == expected(game)
    assert (max(line.depth for line in answer.lines), answer.nodes) == (4, 400 + len(legal(game)))


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_mates(opened: Opener, game: str, protocol: str) -> None:
    found = told(game, opened(game, protocol, "mates").search(ask(game), PATIENT))
    assert found == {
        move: tuple(score_to_centi(fake_mate(score), True, 16) for score in scores)
        for move, scores in expected(game).items()
    }


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_gaps_and_early_ends(opened: Opener, game: str, protocol: str) -> None:
    full = expected(game)
    for move, scores in told(game, opened(game, protocol, "gaps").search(ask(game), PATIENT)).items():
        assert scores[0] == scores[1] == full[move][1]
        assert scores[2] in full[move][1:3]
        assert scores[3] == full[move][3]
    early = told(game, opened(game, protocol, "early").search(ask(game), PATIENT))
    assert early == {move: (scores[0],) * 4 for move, scores in full.items()}


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_an_engine_that_ends_in_the_middle(opened: Opener, game: str, protocol: str) -> None:
    link = opened(game, protocol, "crash=2")
    link.search(ask(game), PATIENT)
    for _ in range(2):
        with pytest.raises(EngineError, match=rf"{NAME} ended by itself.+exit status (9|not known yet)"):
            link.search(ask(game), PATIENT)


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_an_engine_that_hangs(opened: Opener, game: str, protocol: str) -> None:
    link = opened(game, protocol, "hang=1", "deaf")
    with pytest.raises(EngineError, match=f"{NAME} has been silent for 0.1 s"):
        link.search(ask(game), WaitLimit(StopFlag(), response_timeout_s=0.1))


@dataclass(frozen=True, slots=True)
class UntilThere(WaitLimit):
    """Ends the wait when a file is there."""

    path: Path = Path("/nowhere")

    def check(self, _name: str, _since: float) -> None:
        if self.path.exists():
            raise Stopped


@pytest.mark.parametrize("fault", ["hang=1", "endless=1"])
@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_a_search_that_is_stopped(
    opened: Opener, game: str, protocol: str, fault: str, tmp_path: Path
) -> None:
    """It raises at once, and the next search is not disturbed by what the engine still had to say."""
    begun = tmp_path / "begun"
    link = opened(game, protocol, fault, f"begun={begun}")
    with pytest.raises(Stopped):
        link.search(ask(game), UntilThere(StopFlag(), path=begun))
    assert told(game, link.search(ask(game), PATIENT)) == expected(game)
    stop = StopFlag()
    stop.set()
    for impatient in (
        WaitLimit(stop, response_timeout_s=LONG_S),
        WaitLimit(StopFlag(), 0.0, LONG_S, late=None),
    ):
        with pytest.raises(Stopped):
            link.search(ask(game), impatient)
    assert told(game, link.search(ask(game), PATIENT)) == expected(game)


@pytest.mark.parametrize(("game", "protocol"), KINDS)
def test_an_engine_that_cannot_be_stopped(opened: Opener, game: str, protocol: str) -> None:
    link = opened(game, protocol, "hang=1", "deaf")
    stop = StopFlag()
    stop.set_deadline(0.1)
    with pytest.raises(Stopped):
        link.search(ask(game), WaitLimit(stop, response_timeout_s=LONG_S))
    with pytest.raises(EngineError, match="has been silent"):
        link.search(ask(game), WaitLimit(StopFlag(), response_timeout_s=0.1))


# --- Starting ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "protocol"), KINDS)
@pytest.mark.parametrize(
    ("faults", "changes", "message"),
    [
        (("dies",), {}, "exit status 3"),
        (("silent",), {"start_s": 0.3}, r"does not answer 'ucc?i' with 'ucc?iok' within 0\.3 s"),
        (("nomultipv",), {}, "has no option MultiPV"),
        ((), {"options": (("Hahs", "3"),)}, "Hahs"),
        ((), {"options": (("Hash", "0"),)}, "Hash.*must be 1"),
        ((), {"command": ("/nowhere/engine",)}, "cannot start /nowhere/engine"),
        ((), {"command": (str(SCRIPT.parent),)}, "cannot start"),
    ],
)
def test_engines_that_do_not_start(
    game: str, protocol: str, faults: tuple[str, ...], changes: dict[str, Any], message: str
) -> None:
    settings = fake(game, protocol, *faults)
    with pytest.raises(EngineError, match=message):
        UciLink(EngineSettings(**({key: getattr(settings, key) for key in settings.__slots__} | changes)))


# --- Real engines ------------------------------------------------------------------------------------------


REAL = [
    ("chess", "uci", "stockfish"),
    ("xiangqi", "uci", "fairy-stockfish"),
    ("xiangqi", "ucci", "fairy-stockfish"),
]


@pytest.fixture(params=REAL, ids=lambda each: f"{each[2]}-{each[1]}")
def real(request: pytest.FixtureRequest) -> EngineSettings:
    game, protocol, name = request.param
    return EngineSettings(
        game=game,
        command=(installed(name),),
        protocol=protocol,
        depth=6,
        options=(("Threads", "1"),),
        start_s=LONG_S,
    )


def test_real_engines_say_the_same_of_the_same(real: EngineSettings) -> None:
    """With the table cleared, a search does not depend on those before it, and its moves are the rules'."""
    link = UciLink(real)
    try:
        assert "fish" in link.name
        game = real.game
        first = link.search(ask(game, 5), PATIENT)
        link.search(ask(game, 6), PATIENT)
        again = link.search(ask(game, 5), PATIENT)
        assert first == again
        assert first.nodes > 0
        assert all(len(scores) == 5 for scores in told(game, first, 5).values())
        assert {line.depth for line in first.lines} == {1, 2, 3, 4, 5}
    finally:
        link.close()


def test_a_mate_of_a_real_engine() -> None:
    link = UciLink(EngineSettings(game="chess", command=(installed("stockfish"),), start_s=LONG_S))
    try:
        fen = "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 30"
        moves = tuple(move.uci() for move in chess.Board(fen).legal_moves)
        answer = link.search(SearchRequest(fen, 4, len(moves)), PATIENT)
        rules = get_rules("chess")
        position = rules.parse_position(fen)
        mated = rules.play(position, rules.parse_move(position, "a1a8"))
        assert scores_by_depth(answer.lines, moves, 4, 58)["a1a8"] == (-rules.result_centi(mated),) * 4
    finally:
        link.close()
