"""Our engine by UCI and UCCI: the dialogue, limits of every kind, and whatever else comes in."""

import re
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.protocols.console import Console
from bot.protocols.search_driver import RestrictedGame, SearchDriver
from bot.protocols.uci import GoCommand, Uci, read_go
from engine.decision import Person
from engine.game import positions
from engine.games import get_rules
from engine.params import TrapParams
from engine.search.profiles import Profiler
from engine.search.reference import INFINITY
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.standard import STANDARD
from tests.bot.protocols.driver import Driver, driver, said_to
from tests.engine.human.fakes import FakeModel, OneModel

ITALIAN = "position startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 f8c5"
MATE_IN_2 = "position fen 7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"
MOVE = "[a-h][1-8][a-h][1-8][qrbn]?"
BEST = re.compile(rf"bestmove {MOVE}( ponder {MOVE})?")


def ucci(console: Console, mind: SearchDriver) -> Uci:
    return Uci(console, mind, "ucci")


def test_a_model_of_people_is_told_the_game_and_the_opponent() -> None:
    model = FakeModel("chess", max_history_positions=4)
    with Driver(Uci, driver("chess", kind="opponent_model", models=OneModel(model))) as gui:
        gui.tell(
            "setoption name UCI_Opponent value none 1650 human A. Person", "position startpos moves e2e4"
        )
        gui.tell(ITALIAN, "setoption name Threads value 1", "go depth 3 wtime 900000 btime 2500")
        gui.hear_until("bestmove")
        rules = get_rules("chess")
        line = list(positions(rules, ITALIAN.split()[3:]))
        assert {ask.positions[:-1] for ask in model.asked} == {tuple(line[-3:])}
        assert {ask.person for ask in model.asked} == {Person(1650, 2.5)}
        model.asked.clear()
        fen = rules.board_text(line[-1])
        gui.tell(
            "setoption name UCI_Opponent value none none computer X", f"position fen {fen}", "go depth 2"
        )
        gui.hear_until("bestmove")
        assert {ask.person for ask in model.asked} == {Person()}
        assert {len(ask.positions) for ask in model.asked} == {2}


@pytest.fixture(params=["standard", "trappy", "strong"])
def mind(request: pytest.FixtureRequest) -> SearchDriver:
    return driver("chess", kind=request.param)


def infos(lines: list[str]) -> list[dict[str, str]]:
    """Depth, score and variation of the thinking lines."""
    found = [
        re.match(
            r"info depth (?P<depth>\d+)( multipv (?P<number>\d+))? score (?P<score>\S+ \S+) .* pv (?P<pv>.*)",
            line,
        )
        for line in lines
    ]
    return [match.groupdict() for match in found if match]


def test_the_greeting() -> None:
    with Driver(Uci, driver("chess", kind="strong")) as gui:
        gui.tell("uci")
        lines = gui.hear_until("uciok")
        assert lines[0].startswith("id name Desdemona ")
        for option in (
            "Hash type spin default 1 min 1 max 65536",
            "Clear Hash type button",
            "Player type combo default strong var standard var trappy var strong var exploit "
            "var trappy_strong var opponent_model var calibrated var tempting",
            "UCI_Opponent type string default <empty>",
            "UCI_Chess960 type check default false",
            "Assessment type combo default median var median var best var last",
        ):
            assert f"option name {option}" in lines
        gui.tell("isready", "quit")
        assert gui.hear() == "readyok"
        assert gui.end() == []


@pytest.mark.parametrize(
    "go",
    [
        "go depth 3",
        "go movetime 30",
        "go wtime 1000 btime 1000 winc 10 binc 10",
        "go wtime -50 btime -50",
        "go wtime 300 btime 300 movestogo 1",
        "go wtime 1000 btime 1000 movestogo 20",
        "go nodes 500",
        "go",
        "go searchmoves e1g1 d2d3 depth 2",
    ],
)
def test_limits(mind: SearchDriver, go: str) -> None:
    with Driver(Uci, mind) as gui:
        gui.tell(ITALIAN, go)
        lines = gui.hear_until("bestmove")
        assert BEST.fullmatch(lines[-1])
        told = infos(lines)
        assert told, "what it thinks"
        assert lines[-1].split()[1] == told[-1]["pv"].split()[0]
        if "depth 3" in go:
            assert told[-1]["depth"] == "3"
        if "searchmoves" in go:
            assert lines[-1].split()[1] in ("e1g1", "d2d3")


def test_it_listens_while_it_thinks(mind: SearchDriver) -> None:
    with Driver(Uci, mind) as gui:
        gui.tell(ITALIAN, "go infinite", "isready")
        gui.hear_until("readyok")
        gui.tell("stop")
        assert BEST.fullmatch(gui.hear_until("bestmove")[-1])
        gui.tell("isready")
        assert gui.hear() == "readyok", "and nothing of the search any more"
        gui.tell("stop", "ponderhit", "isready")
        assert gui.hear() == "readyok"


def test_an_infinite_search_that_is_done_waits_for_stop() -> None:
    with Driver(Uci, driver("chess")) as gui:
        gui.tell("position fen k7/8/1K6/8/8/8/8/7R w - - 99 1", "go infinite")
        gui.hear_until("info depth 2 ")
        gui.tell("isready")
        assert not any(line.startswith("bestmove") for line in gui.hear_until("readyok"))
        gui.tell("stop")
        assert gui.hear_until("bestmove")[-1].startswith("bestmove ")


def test_pondering(mind: SearchDriver) -> None:
    with Driver(Uci, mind) as gui:
        gui.tell(ITALIAN, "go ponder wtime 500 btime 500", "isready")
        assert not any(line.startswith("bestmove") for line in gui.hear_until("readyok"))
        gui.tell("ponderhit")
        assert BEST.fullmatch(gui.hear_until("bestmove")[-1])
        gui.tell("go ponder wtime 60000 btime 60000", "isready")
        gui.hear_until("readyok")
        gui.tell("stop")
        assert BEST.fullmatch(gui.hear_until("bestmove")[-1])


def test_mates(mind: SearchDriver) -> None:
    with Driver(Uci, mind) as gui:
        gui.tell(MATE_IN_2, "go mate 2")
        assert infos(gui.hear_until("bestmove"))[-1]["score"] == "mate 2"
        gui.tell("position fen R6k/6pp/8/8/8/8/8/6K1 b - - 0 1", "go depth 3")
        assert gui.hear() == "info depth 0 score mate 0"
        assert gui.hear() == "bestmove (none)"
        gui.tell("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "go")
        assert [gui.hear(), gui.hear()] == ["info depth 0 score cp 0", "bestmove (none)"]


def test_several_lines(mind: SearchDriver) -> None:
    with Driver(Uci, mind) as gui:
        gui.tell(ITALIAN, "setoption name MultiPV value 4", "go depth 3")
        told = infos(gui.hear_until("bestmove"))
        assert [line["number"] for line in told] == ["1", "2", "3", "4"] * 3
        scores = [int(line["score"].split()[1]) for line in told[-4:]]
        assert scores == sorted(scores, reverse=True)
    if mind.settings.strategy is STANDARD:
        chess = get_rules("chess")
        position = chess.parse_position(ITALIAN.removeprefix("position "))
        params = TrapParams()
        profiler = Profiler(chess, make_searcher("chess", 1), position, params, StopFlag())
        exact = sorted((c.raw_centi for c in profiler.raw_candidates(3, INFINITY)), reverse=True)
        assert scores == exact[:4]


def test_options() -> None:
    with Driver(Uci, driver("chess")) as gui:
        gui.tell(
            "setoption name Hash value 2",
            "setoption name Player value strong",
            "setoption name Threads value 2",
            "setoption name Clear Hash",
            "setoption name move overhead value 10",
            "setoption name Scale value expected",
            "setoption name Ponder value true",
            "ucinewgame",
            "isready",
        )
        assert gui.hear() == "readyok"
        for name, value, message in (
            ("Hash", "0", "must be 1 to 65536"),
            ("Hash", "many", "must be 1 to 65536"),
            ("Player", "weak", "must be one of standard, trappy, strong"),
            ("Ponder", "1", "must be true or false"),
            ("Margin", "10", "margin_centi is 10, must be 0 with the expected scale"),
            ("Risk", "101", "must be 1 to 100"),
            ("Risk Share", "0", "must be 1 to 100"),
            ("Fun", "1", "no option 'Fun'"),
        ):
            gui.tell(f"setoption name {name} value {value}")
            assert message in gui.hear()
        gui.tell("setoption", "setoption name", "setoption value", "go depth 2")
        lines = gui.hear_until("bestmove")
        assert infos(lines)[0]["depth"] == "1", "the strong player's"


def test_percents_that_are_no_whole_numbers_stay_until_others_are_told() -> None:
    params = TrapParams(risk_percent=2.5, risk_share_percent=12.5)
    front = Uci(Console(BytesIO(), BytesIO()), driver("chess", params=params))
    own = {option.name.lower().replace(" ", ""): option.default for option in front._option_list()}
    assert front._settings_with(own | {"margin": "5"}).params == replace(params, margin_centi=5)
    told = front._settings_with(own | {"riskshare": "10"}).params
    assert (told.risk_percent, told.risk_share_percent) == (2.5, 10)


def test_chess960() -> None:
    with Driver(Uci, driver("chess")) as gui:
        fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
        gui.tell(f"position fen {fen}", "go depth 2 searchmoves e1g1")
        assert gui.hear_until("bestmove")[-1].split()[1] == "e1g1"
        gui.tell(
            "setoption name UCI_Chess960 value true", f"position fen {fen}", "go depth 2 searchmoves e1h1"
        )
        assert gui.hear_until("bestmove")[-1].split()[1] == "e1h1"
        gui.tell("position startpos moves e2e4 e7e5 g1f3 g8f6 f1e2 f8e7 e1h1", "go depth 2")
        assert BEST.fullmatch(gui.hear_until("bestmove")[-1])


def test_what_cannot_be_read() -> None:
    with Driver(Uci, driver("chess")) as gui:
        for wrong in (
            "position fen x",
            "position",
            "position startpos moves e2e5",
            "position fen " + "8/" * 9,
        ):
            gui.tell(wrong, "go")
            assert gui.hear().startswith("info string ")
            assert gui.hear() == "info string no position to search: the last one was rejected"
            assert gui.hear() == "bestmove (none)"
        gui.tell("position startpos moves e2e4", "position startpos moves e2e4 e7e5", "go depth 2")
        assert BEST.fullmatch(gui.hear_until("bestmove")[-1])


@pytest.mark.parametrize(
    "last", ["position startpos moves e2e5", "position fen 7k/5K2/6Q1/8/8/8/8/8 b - - 0 1"]
)
def test_answers_come_in_order(last: str) -> None:
    """A search that is broken off has its move told before that of the next one, which is none."""
    commands = f"position startpos\ngo depth 40\n{last}\ngo depth 1\n"
    said = [line for line in said_to(Uci, driver("chess"), commands.encode()) if line.startswith("bestmove")]
    assert len(said) == 2
    assert BEST.fullmatch(said[0])
    assert said[1] == "bestmove (none)"


def test_a_game_that_goes_on_after_a_draw() -> None:
    """The third occurrence ends the game by our rules, not by everybody's."""
    shuffle = " ".join(["g1f3 g8f6 f3g1 f6g8"] * 3)
    with Driver(Uci, driver("chess")) as gui:
        gui.tell(f"position startpos moves {shuffle} e2e4", "go depth 2")
        assert BEST.fullmatch(gui.hear_until("bestmove")[-1])
        gui.tell(f"position startpos moves {shuffle}", "go depth 2")
        assert BEST.fullmatch(gui.hear_until("bestmove")[-1])


def test_the_end_of_input_ends_a_search(mind: SearchDriver) -> None:
    for last in (b"go infinite\n", b"go depth 60\nquit\n", b"go ponder wtime 1000 btime 1000"):
        said = said_to(Uci, mind, ITALIAN.encode() + b"\n" + last)
        assert BEST.fullmatch(said[-1])


# --- Xiangqi -----------------------------------------------------------------------------------------------


def test_xiangqi_by_uci() -> None:
    with Driver(Uci, driver("xiangqi")) as gui:
        gui.tell("uci")
        assert "option name UCI_Variant type combo default xiangqi var xiangqi" in gui.hear_until("uciok")
        gui.tell("position startpos moves h3e3 h10g8", "go depth 3")
        assert re.fullmatch(r"bestmove ([a-i]\d+){2} ponder ([a-i]\d+){2}", gui.hear_until("bestmove")[-1])


def answer_to(gui: Driver, *commands: str) -> int:
    """The lower rank of the best move's squares as printed, for a rook that can only go along its rank."""
    gui.tell(*commands)
    best = gui.hear_until("bestmove")[-1].split()[1]
    return min(int(rank) for rank in re.findall(r"\d+", best))


ALONG_THE_TOP = "position fen r3k4/9/9/9/9/9/9/9/9/3K5 b - - 0 1"
TOP = "go depth 2 searchmoves "


@pytest.mark.parametrize("make", [Uci, ucci])
@pytest.mark.parametrize("ranks", [0, 1])
def test_a_gui_of_either_way_of_counting_ranks(make: Callable[..., Uci], ranks: int) -> None:
    """What it sends shows how it counts; the same way it is answered, also in later games."""
    top = 9 + ranks
    with Driver(make, driver("xiangqi")) as gui:
        moves = "H2E2\tH9g7 h0g2" if ranks == 0 else "H3E3\tH10g8 h1g3"
        gui.tell(f"position\tstartpos moves {moves}", "isready")
        assert gui.hear() == "readyok"  # no complaint
        assert answer_to(gui, ALONG_THE_TOP, f"{TOP}a{top}b{top} a{top}c{top}") == top
        other, there = ("h3e3", 10) if ranks == 0 else ("h2e2", 9)
        gui.tell(f"position startpos moves {other}", "isready")
        assert gui.hear() == "readyok"
        assert answer_to(gui, ALONG_THE_TOP, f"{TOP}a{there}b{there}") == there


@pytest.mark.parametrize("make", [Uci, ucci])
@pytest.mark.parametrize("ranks", [0, 1])
def test_a_gui_can_say_how_it_counts_ranks(make: Callable[..., Uci], ranks: int) -> None:
    option = "name First Rank value" if make is Uci else "FirstRank"
    with Driver(make, driver("xiangqi")) as gui:
        gui.tell(f"setoption {option} {ranks}")
        assert answer_to(gui, ALONG_THE_TOP, f"{TOP}a{9 + ranks}b{9 + ranks}") == 9 + ranks
        gui.tell(f"position startpos moves {'h3e3' if ranks == 0 else 'h2e2'}")
        assert "not a legal move" in gui.hear()
        gui.tell(f"setoption {option} auto")
        usual = 10 if make is Uci else 9
        assert answer_to(gui, ALONG_THE_TOP, f"{TOP}a{usual}b{usual}") == usual


def test_capitals_and_any_white_space() -> None:
    with Driver(Uci, driver("chess")) as gui:
        gui.tell("position\tfen  7k/P7/8/8/8/8/8/7K w - - 0 1\t moves\tA7A8Q", "go\tdepth \t2")
        assert BEST.fullmatch(gui.hear_until("bestmove")[-1])
        gui.tell("position startpos", "go depth 2 searchmoves E2E4")
        assert gui.hear_until("bestmove")[-1].startswith("bestmove e2e4")


def test_xiangqi_by_ucci() -> None:
    fen = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR"
    with Driver(ucci, driver("xiangqi")) as gui:
        gui.tell("ucci")
        lines = gui.hear_until("ucciok")
        assert "option usemillisec type check default false" in lines
        assert "option MoveOverhead type spin default 50 min 0 max 60000" in lines
        gui.tell("setoption usemillisec true", f"position fen {fen} r - - 0 1 moves h2e2 h9g7", "isready")
        assert gui.hear() == "readyok"
        gui.tell("go depth 3")
        lines = gui.hear_until("bestmove")
        assert re.match(r"info depth 3 score -?\d+ nodes \d+", lines[-2])
        best = lines[-1].split()[1]
        gui.tell(f"banmoves {best}", "go depth 3")
        assert gui.hear_until("bestmove")[-1].split()[1] != best
        gui.tell("go time 300 increment 0", "go time 20 movestogo 1")
        gui.hear_until("bestmove")
        gui.hear_until("bestmove")
        gui.tell("position fen 3k5/3R5/9/9/9/9/9/9/9/3RK4 b - - 0 1", "go")
        assert gui.hear() == "nobestmove"
        gui.tell("quit")
        assert gui.end() == ["bye"]


# --- Reading -----------------------------------------------------------------------------------------------


def test_read_go() -> None:
    assert read_go(
        ["wtime", "5", "btime", "-6", "depth", "x", "nodes", "7", "nodes", "8", "junk"]
    ) == GoCommand({"wtime": 5, "btime": -6, "nodes": 7})
    assert read_go(["ponder", "searchmoves", "e2e4", "d2d4", "depth", "3"]) == GoCommand(
        {"depth": 3}, ("e2e4", "d2d4"), False, True
    )
    assert read_go(["infinite"]).is_infinite
    assert read_go(["depth", "9" * 30]) == GoCommand()


def test_a_restricted_game() -> None:
    chess = get_rules("chess")
    root: Any = chess.initial()
    two = chess.legal_moves(root)[3:5]
    game = RestrictedGame(chess, root, two)
    assert game.legal_moves(root) == two
    after = chess.play(root, two[0])
    assert game.legal_moves(after) == chess.legal_moves(after)
    assert game.name == "chess"


PARTS = (
    *(
        "uci",
        "isready",
        "ucinewgame",
        "setoption",
        "name",
        "value",
        "Hash",
        "Player",
        "strong",
        "MultiPV",
        "3",
    ),
    *("position", "startpos", "fen", "moves", "e2e4", "8/8/8/8/8/8/8/K1k5", "w", "-", "0", "banmoves"),
    *("go", "depth", "infinite", "ponder", "wtime", "100", "searchmoves", "mate", "nodes", "movetime", "-1"),
    *("stop", "ponderhit", "99999999999", "UCI_Chess960", "true", "KQkq"),
)
SENSE = (
    *("setoption name UCI_Chess960 value true", "setoption name MultiPV value 3", "setoption MultiPV 2"),
    *("setoption name Player value strong", "setoption Player trappy", "ucinewgame", "isready", "stop"),
    *("position startpos moves e2e4 e7e5", "position startpos", "position startpos moves h2e2"),
    *("position fen 8/8/8/8/8/8/8/K1k5 w - - 0 1", "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
    *("go infinite", "go depth 3", "go ponder wtime 100 btime 100", "go nodes 50", "go mate 1", "ponderhit"),
)
LINES = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(SENSE),
        st.lists(st.sampled_from(PARTS), max_size=6).map(" ".join),
    ),
    max_size=12,
)


@settings(max_examples=30, deadline=None)
@given(LINES, st.sampled_from(["uci", "ucci"]))
def test_it_survives_everything(lines: list[str], protocol: str) -> None:
    """And the end of all input at any moment; as many moves are told as were asked for."""
    make: Callable[[Console, SearchDriver], Uci] = Uci if protocol == "uci" else ucci
    # Huge tables are what was asked for, but not by this test.
    text = "\n".join(line for line in lines if "quit" not in line and "Hash" not in line) + "\nisready\n"
    game = "chess" if protocol == "uci" else "xiangqi"
    said = said_to(make, driver(game), text.encode("utf-8", "replace"))
    assert "readyok" in said
    asked = sum(line.split()[:1] == ["go"] for line in re.split(r"\n", text))
    assert sum(line.split()[0] in ("bestmove", "nobestmove") for line in said) == asked
