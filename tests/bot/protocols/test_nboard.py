"""Our engine under NBoard: the dialogue as documented, and what is never said after a pong."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.protocols.nboard import NBoard, discs, read_clock
from bot.protocols.search_driver import SearchDriver
from engine.formats import transcripts
from engine.formats.clock import GgfClock
from engine.formats.ggf import GgfGame, GgfMove, write
from engine.game import WIN_CENTI, replay
from engine.games.othello import Othello
from engine.params import TrapParams
from engine.search.profiles import Profiler, whole_profile
from engine.search.reference import INFINITY, exact_score
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.strong import STRONG
from engine.trappy import with_trap
from tests.bot.protocols.driver import Driver, driver, said_to
from tests.shared_data import shared_path

EIGHT = "F5F6D3C5E6F7E7F4"
GAME = (
    "(;GM[Othello]PC[NBoard]DT[2014-02-21 20:52:27 GMT]PB[./mEdax]PW[chris]RE[?]TI[15:00]TY[8]"
    "BO[8 ---------------------------O*------*O--------------------------- *]{};)"
)
OTHELLO = Othello()


def game_text(transcript: str, clock: str = "") -> str:
    moves = transcripts.parse(transcript).moves
    return write(GgfGame("a", "b", moves=tuple(map(GgfMove, moves)), black_clock=clock, white_clock=clock))


def late_game(empties: int, seed: int = 0) -> list[str]:
    """Moves, chosen by a rule, until so many squares are empty and there is a choice."""
    moves: list[str] = []
    while True:
        position = replay(OTHELLO, moves)
        legal = OTHELLO.legal_moves(position)
        if OTHELLO.plies_left(position) <= empties and len(legal) > 2:
            return moves
        assert legal, "another seed is needed"
        moves.append(OTHELLO.move_text(legal[(7 * len(moves) + seed) % len(legal)]))


@pytest.fixture(params=["standard", "trappy", "strong"])
def mind(request: pytest.FixtureRequest) -> SearchDriver:
    return driver("othello", kind=request.param)


def test_the_documented_dialogue(mind: SearchDriver) -> None:
    with Driver(NBoard, mind) as gui:
        gui.tell("nboard 2", "set depth 4")
        assert [gui.hear(), gui.hear()] == ["set myname Desdemona", "set myname Desdemona4"]
        gui.tell("set game " + GAME.format("B[F5]W[F6]B[D3]W[C5]B[E6]W[F7]B[E7]W[F4]"), "ping 1")
        assert gui.hear() == "pong 1"
        gui.tell("go")
        thinking = gui.hear_until("===")
        assert thinking[0] == "status Thinking"
        assert re.fullmatch(r"search ([A-H][1-8])+ [-+]\d+\.\d\d 0 \d+( trap .*)?", thinking[1])
        assert re.fullmatch(r"nodestats \d+ \d+\.\d\d", thinking[2])
        answer = re.fullmatch(r"=== ([A-H][1-8])/([-+]\d+\.\d\d)/(\d+\.\d\d)", thinking[-1])
        assert answer is not None
        assert thinking[1].split()[1].startswith(answer[1])
        # `go` does not make the move.
        gui.tell("go")
        assert gui.hear_until("===")[-1].startswith(f"=== {answer[1]}/")
        gui.tell(f"move {answer[1].lower()}/-1.00/0.0", "ping 2")
        assert gui.hear() == "pong 2"
        gui.tell("hint 3")
        lines = gui.hear_until("status")
        assert lines == ["status Analyzing"]
        hints = [line for line in gui.hear_until("status") if line.startswith("search")]
        assert len(hints) == 12, "three for each depth"
        assert [line.split()[4] for line in hints[-3:]] == ["4"] * 3
        values = [float(line.split()[2]) for line in hints[-3:]]
        assert values == sorted(values), "the best one last"
        gui.tell("learn", "quit")
        assert gui.hear() == "learned"
        assert gui.end() == []


def test_a_pass_takes_no_thinking(mind: SearchDriver) -> None:
    moves = transcripts.parse(
        "F5D6C6F6E6D7C5B5C7F4A4E7D8B7C8B6E8A5A8A7A6B8F7G8B4F8H8"  # of a recorded session
    ).moves
    position = replay(OTHELLO, moves)
    assert [OTHELLO.move_text(move) for move in OTHELLO.legal_moves(position)] == ["pass"]
    with Driver(NBoard, mind) as gui:
        gui.tell("nboard 2", "set depth 3", "set game " + game_text("".join(moves)), "ping 5")
        gui.hear_until("pong 5")
        gui.tell("go")
        assert gui.hear() == "=== PA//0.00"
        gui.tell("hint 2")
        assert gui.hear() == "status Analyzing"
        assert any(line.startswith("search PA") for line in gui.hear_until("status"))
        gui.tell("ping 6")
        gui.hear_until("pong 6")
        gui.tell("move PA", "go")
        assert re.match("=== [A-H][1-8]/", gui.hear_until("===")[-1])


def test_nothing_is_said_of_the_old_position_after_the_pong(mind: SearchDriver) -> None:
    with Driver(NBoard, mind) as gui:
        gui.tell("nboard 2", "set depth 60", "set game " + game_text(EIGHT))
        for number in range(20):
            gui.tell("hint 4" if number % 2 else "go", f"ping {number}")
            gui.hear_until(f"pong {number}")
            gui.tell(f"ping {number}b")
            assert gui.hear() == f"pong {number}b"
        # The engine is not confused by it.
        gui.tell("set depth 2", "ping 99")
        gui.hear_until("pong 99")
        gui.tell("go")
        assert gui.hear_until("===")


def test_hints_tell_scores_and_traps() -> None:
    moves = transcripts.parse(EIGHT).moves
    position = replay(OTHELLO, moves)
    searcher = make_searcher("othello", 1)
    params = TrapParams()
    profiler = Profiler(OTHELLO, searcher, position, params, StopFlag())
    expected = {}
    for candidate in profiler.raw_candidates(4, INFINITY):
        whole = with_trap(whole_profile(profiler, candidate, 4), params)
        score = -exact_score(
            searcher,
            OTHELLO.play(position, OTHELLO.parse_move(position, candidate.move)),
            3,
            StopFlag(),
        )
        text = f" trap {whole.trap} {whole.quality_centi / 100:.2f}" if whole.trap else ""
        expected[candidate.move.upper()] = f"{score / 100:+.2f} 0 4{text}"
    for kind in ("standard", "trappy"):
        with Driver(NBoard, driver("othello", kind=kind)) as gui:
            gui.tell("set depth 4", "set game " + game_text(EIGHT), "hint 40")
            gui.hear_until("status Analyzing")
            told = [line.split(" ", 2)[1:] for line in gui.hear_until("status") if " 0 4" in line]
            assert {variation[:2]: rest for variation, rest in told} == expected
    assert any("trap" in text for text in expected.values())


def test_endings_are_solved(mind: SearchDriver) -> None:
    moves = late_game(10)
    position = replay(OTHELLO, moves)
    solver = make_searcher("othello", 1)
    best, score = solver.solve(position, StopFlag())  # type: ignore[attr-defined]
    assert best
    with Driver(NBoard, mind) as gui:
        gui.tell("set depth 6", "set game " + game_text("".join(moves)), "hint 2")
        gui.hear_until("status Analyzing")
        hints = [line.split() for line in gui.hear_until("status") if line.startswith("search")]
        exact = [words for words in hints if words[4] == "100%"]
        assert discs(score) in [words[2] for words in exact]
        gui.tell("go")
        *_, told, _, _, answer = gui.hear_until("===")
        if mind.settings.strategy is STRONG:
            assert told.split()[4] == "100%"
            assert answer.split("/")[1] == discs(score)


def test_retrograde_analysis(mind: SearchDriver) -> None:
    moves = late_game(4)
    with Driver(NBoard, mind) as gui:
        gui.tell("set depth 3", "set game " + game_text("".join(moves)), "analyze")
        gui.hear_until("status Analyzing the game")
        lines = [line.split() for line in gui.hear_until("status")[:-1]]
    assert [int(words[1]) for words in lines] == list(range(len(moves), -1, -1))
    end = replay(OTHELLO, moves)
    _, score = make_searcher("othello", 1).solve(end, StopFlag())  # type: ignore[attr-defined]
    assert lines[0][2] == discs(score if end.side == 0 else -score), "black's view"


def test_what_makes_no_sense_is_ignored() -> None:
    with Driver(NBoard, driver("othello")) as gui:
        gui.tell(
            "", "foo bar", "set", "set depth", "set depth x", "set contempt 100", "set nothing 1", "move"
        )
        assert "is not a move" in gui.hear()
        gui.tell("move a1", "F5", "f6/1.0/2", "move d3//0.5", "hint x", "ping 1")
        assert "not a legal move" in gui.hear()
        gui.hear_until("pong 1")
        gui.tell("set game (;GM[Othello]BO[8 --- *];)", "go", "hint 1", "analyze", "move F5", "ping 2")
        lines = gui.hear_until("pong 2")
        assert lines[0].startswith("status Cannot read the game")
        assert lines[1:] == ["status There is no game to think about"] * 3 + ["pong 2"]
        gui.tell("set game " + game_text("F5"), "go")
        assert gui.hear_until("===")


def test_a_finished_game() -> None:
    with Driver(NBoard, driver("othello")) as gui:
        position = "(;GM[Othello]PB[]PW[]BO[8 {} *];)".format("*" * 60 + "----")
        gui.tell("set game " + position, "go", "hint 1", "analyze")
        assert gui.hear_until("analysis")[-1] == "analysis 0 +64.00"


@pytest.mark.parametrize("clock", ["15:00", "00:02/00:01/02:00", "00:00", "-1", "nonsense", "1:00:00:00"])
def test_go_with_a_clock(mind: SearchDriver, clock: str) -> None:
    """Of which nearly nothing may be left."""
    used = GAME.format("B[F5//1.5]W[F6//1]B[D3]W[C5//1000]").replace("15:00", clock)
    with Driver(NBoard, mind) as gui:
        gui.tell("set depth 3", "set game " + used, "go", "ping 1")
        gui.hear_until("pong 1")
        gui.tell("move E6", "go")
        assert gui.hear_until("===")


def test_clocks() -> None:
    assert read_clock("15:00") == GgfClock(900, 0)
    assert read_clock("05:00/00:12/02:00") == GgfClock(300, 12)
    assert read_clock("5/12") == GgfClock(300, 720)
    assert read_clock("01:30:00//02:00") == GgfClock(5400, 0)
    assert read_clock("04:59,0:0//02:00,0:0") == GgfClock(299, 0, is_plain=False)
    assert read_clock("00:00/00:00/00:00") == GgfClock(0, 0, 0)
    for text in ("", " ", "x", "1:2:3:4", "-5", "05:00/-00:01", "05:00/x"):
        assert read_clock(text) is None


def test_discs() -> None:
    assert [discs(score) for score in (0, -150, WIN_CENTI + 1200, -WIN_CENTI - 6400)] == [
        "+0.00",
        "-1.50",
        "+12.00",
        "-64.00",
    ]


def test_a_recorded_session_runs_through(mind: SearchDriver) -> None:
    """What a program told NTest, told to us."""
    text = shared_path("ggs-transcripts/nboard_ntest.txt").read_text(encoding="utf-8", errors="replace")
    told = re.findall(r"^\[ *[\d.]+\] GUI> (.*)$", text, re.MULTILINE)
    assert len(told) > 30
    with Driver(NBoard, mind) as gui:
        for line in told:
            gui.tell(line)
            word, _, rest = line.partition(" ")
            if word == "ping":
                gui.hear_until(f"pong {rest}")
            elif word == "go":
                gui.hear_until("===")
            elif word == "learn":
                gui.hear_until("learned")
        assert told[-1] == "quit"
        assert not any(line.startswith("===") for line in gui.end())


WORDS = ("nboard", "set", "depth", "game", "move", "hint", "go", "ping", "learn", "analyze", "contempt", "F5")
LINES = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(
            ("set depth 60", "set game " + game_text(EIGHT), "move d6", "hint 3", "go", "ping 1")
        ),
        st.lists(st.sampled_from((*WORDS, "d6", "PA", "3", "60", "-1", game_text(EIGHT))), max_size=4).map(
            " ".join
        ),
    ),
    max_size=12,
)


@settings(max_examples=30, deadline=None)
@given(LINES, st.booleans())
def test_it_survives_everything(lines: list[str], ends: bool) -> None:
    """And the end of all input at any moment."""
    text = "\n".join(["quit me not" if line.strip() == "quit" else line for line in lines])
    said = said_to(NBoard, driver("othello"), text.encode("utf-8", "replace") + b"\nping x" + b"\n" * ends)
    assert said[-1] == "pong x"


def test_lines_that_are_too_long_or_no_text() -> None:
    text = b"\xff\xfe\x00 go\n" + b"x" * 3_000_000 + b"\nping 1\n" + b"y" * 3_000_000
    assert said_to(NBoard, driver("othello"), text) == ["pong 1"]
