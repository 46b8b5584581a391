"""Other programs as players: a made-up one with every fault there is, by all protocols."""

import contextlib
import os
import queue
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.game import IllegalMove, replay
from engine.games import get_rules
from engine.protocols import process, uci
from engine.protocols.external_engine import ExternalEngine
from engine.protocols.gtp import GtpClient
from engine.protocols.nboard import clock_text, read_eval, read_go, read_search
from engine.protocols.process import (
    _MAX_UNREAD_BYTES,
    EngineCrashed,
    EngineError,
    EngineProcess,
    EngineTimeout,
    IllegalAnswer,
    Resigned,
    WaitLimit,
    _UnreadLines,
)
from engine.protocols.settings import Allowance, ChosenMove, ExternalSettings
from engine.stop import StopFlag, Stopped
from tests.engine.protocols.fake_external import NAME
from tests.programs import installed

SCRIPT = Path(__file__).with_name("fake_external.py")
KINDS = [("othello", "nboard"), ("othello", "gtp"), ("chess", "uci"), ("xiangqi", "uci"), ("xiangqi", "ucci")]
ALL = pytest.mark.parametrize(("game", "protocol"), KINDS)
EACH = pytest.mark.parametrize(("game", "protocol"), [*KINDS[:2], KINDS[-1]])
"""UCI and UCCI are one piece of code."""
LONG_S = 300.0
"""Longer than anything takes that ends at all."""
SHORT_S = 0.2
"""For what never comes."""
QUICK = Allowance(depth=2)
ROOT = Path(__file__).parents[3]


def fake(game: str, protocol: str, *faults: str, **changes: Any) -> ExternalSettings:
    """Settings for the made-up program."""
    known: dict[str, Any] = {"start_s": LONG_S, "response_timeout_s": LONG_S}
    command = (sys.executable, str(SCRIPT), game, protocol, *faults)
    return ExternalSettings(game=game, protocol=protocol, command=command, **(known | changes))


Opener = Callable[..., ExternalEngine]


@pytest.fixture
def opened() -> Iterator[Opener]:
    """Makes players of the made-up program, and closes them when the test is over."""
    engines: list[ExternalEngine] = []

    def open_fake(game: str, protocol: str, *faults: str, **changes: Any) -> ExternalEngine:
        engines.append(ExternalEngine(fake(game, protocol, *faults, **changes)))
        return engines[-1]

    yield open_fake
    for engine in engines:
        engine.close()
        engine.close()


def play(engine: ExternalEngine, plies: int, allowance: Allowance = QUICK) -> list[ChosenMove]:
    """Both sides' moves from the start."""
    choices: list[ChosenMove] = []
    for _ in range(plies):
        choices.append(engine.choose([choice.move for choice in choices], allowance, StopFlag()))
    return choices


def first_moves(game: str, plies: int) -> list[str]:
    rules = get_rules(game)
    moves: list[str] = []
    for _ in range(plies):
        moves.append(rules.move_text(rules.legal_moves(replay(rules, moves))[0]))
    return moves


# --- Playing -----------------------------------------------------------------------------------------------


@ALL
@pytest.mark.parametrize("faults", [(), ("child", "noise")])
def test_it_plays(opened: Opener, game: str, protocol: str, faults: tuple[str, ...]) -> None:
    """Whatever it prints besides, and whether it does the work itself or a child."""
    engine = opened(game, protocol, *faults)
    for _ in range(2):
        engine.new_game()
        choices = play(engine, 4)
        assert [choice.move for choice in choices] == first_moves(game, 4)
        for choice in choices:
            assert choice.variation == (choice.move,)
            assert (choice.evaluation_centi, choice.depth) == (
                (None, None) if protocol == "gtp" else (150, 8)
            )
    assert engine.name == {"nboard": "Made-up", "gtp": "Made-up 1.0"}.get(protocol, NAME)


def test_a_whole_game_with_passes(opened: Opener) -> None:
    """The first legal move of each position leads to passes, and to the end."""
    for protocol in ("nboard", "gtp"):
        game, engine = get_rules("othello"), opened("othello", protocol)
        moves: list[str] = []
        engine.new_game()
        while game.legal_moves(replay(game, moves)):
            moves.append(engine.choose(moves, QUICK, StopFlag()).move)
        assert "pass" in moves
        with pytest.raises(ValueError, match="the game is over"):
            engine.choose(moves, QUICK, StopFlag())


def test_gtp_is_told_what_it_does_not_know(opened: Opener, tmp_path: Path) -> None:
    log = tmp_path / "log"
    engine = opened("othello", "gtp", f"log={log}")
    engine.new_game()
    engine.choose(["f5"], Allowance(remaining_s=(50.0, 61.5), increment_s=2), StopFlag())
    engine.choose(["f5", "d6", "c3"], Allowance(remaining_s=(40.0, 0.4)), StopFlag())
    engine.choose(["d3"], Allowance(move_s=1.6), StopFlag())
    told = log.read_text().splitlines()
    assert told[3:] == [
        *("boardsize 8", "clear_board", "play black f5", "time_settings 61 0 0", "time_left white 61 0"),
        "genmove white",
        # It did not play d6 itself (it plays the first move), so it begins anew.
        *("boardsize 8", "clear_board", "play black f5", "play white d6", "play black c3"),
        *("time_settings 40 0 0", "time_left white 0 0", "genmove white"),
        *("boardsize 8", "clear_board", "play black d3", "time_settings 0 2 1", "genmove white"),
    ]


@pytest.mark.parametrize(
    ("protocol", "allowance", "told"),
    [
        ("uci", Allowance(move_s=0.25), "go movetime 250"),
        ("uci", Allowance(depth=7, move_s=1), "go depth 7 movetime 1000"),
        (
            "uci",
            Allowance(remaining_s=(60, 59.5), increment_s=2),
            "go wtime 60000 btime 59500 winc 2000 binc 2000",
        ),
        ("uci", Allowance(nodes=7000), "go nodes 7000"),
        ("uci", Allowance(cpu_s=9), "go movetime 3600000"),
        ("ucci", Allowance(nodes=7000), "go nodes 7000"),
        ("ucci", Allowance(cpu_s=9), "go time 3600000 movestogo 1"),
        ("ucci", Allowance(move_s=0.25), "go time 250 movestogo 1"),
        (
            "ucci",
            Allowance(remaining_s=(60, 59.5), increment_s=2),
            "go time 59500 increment 2000 opptime 60000 oppincrement 2000",
        ),
    ],
)
def test_limits_by_uci(
    opened: Opener, tmp_path: Path, protocol: str, allowance: Allowance, told: str
) -> None:
    log = tmp_path / "log"
    engine = opened("xiangqi", protocol, f"log={log}")
    engine.new_game()
    engine.choose(["h3e3"], allowance, StopFlag())
    lines = log.read_text().splitlines()
    moved = "h2e2" if protocol == "ucci" else "h3e3"
    assert lines[-3:-1] == [
        f"position fen {get_rules('xiangqi').position_text(get_rules('xiangqi').initial())} moves {moved}",
        "isready",
    ]
    assert lines[-1] == told


@pytest.mark.parametrize("protocol", ["uci", "ucci"])
@pytest.mark.parametrize("ranks", [0, 1])
@pytest.mark.parametrize("faults", [(), ("dawdles",), ("shouts", "tabs")])
def test_either_way_of_counting_ranks(
    opened: Opener,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    protocol: str,
    ranks: int,
    faults: tuple[str, ...],
) -> None:
    """In both directions, whatever is usual for the protocol."""
    monkeypatch.setattr(uci, "_FIRST_MOVE_S", SHORT_S if "dawdles" in faults else LONG_S)
    log = tmp_path / "log"
    engine = opened("xiangqi", protocol, f"ranks={ranks}", f"log={log}", *faults)
    engine.new_game()
    choice = engine.choose(["h3e3", "b10c8"], QUICK, StopFlag())
    assert choice.move == first_moves("xiangqi", 1)[0]
    assert (choice.variation, choice.depth) == ((choice.move,), 8)
    (line,) = (line for line in log.read_text().splitlines() if " moves " in line)
    assert line.endswith(" moves h2e2 b9c7" if ranks == 0 else " moves h3e3 b10c8")


@pytest.mark.parametrize("faults", [("shouts",), ("tabs",), ("shouts", "tabs")])
def test_capitals_and_tabs(opened: Opener, faults: tuple[str, ...]) -> None:
    engine = opened("chess", "uci", *faults)
    engine.new_game(get_rules("chess").parse_position("7k/5Q2/8/8/8/8/p7/7K b - - 0 1"))
    (choice,) = play(engine, 1)
    assert (choice.move, choice.evaluation_centi) == ("a2a1q", 150)
    assert engine.name == NAME


class UsedUp:
    """A program's processor time: all that a move may have, from the question on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *told: float | None) -> None:
        self.told = list(told)
        monkeypatch.setattr(EngineProcess, "processor_time_s", lambda _process: self.next())

    def next(self) -> float | None:
        return self.told.pop(0) if len(self.told) > 1 else self.told[0]


@pytest.mark.parametrize(("game", "protocol"), KINDS[2:])
def test_a_search_ends_with_its_processor_time(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str, protocol: str
) -> None:
    log = tmp_path / "log"
    engine = opened(game, protocol, "thinks", f"log={log}")
    engine.new_game()
    times = UsedUp(monkeypatch, 5.0, 5.0, 5.3, 5.39, 5.4, 5.45)  # before; at the question; three looks; after
    found = engine.choose((), Allowance(cpu_s=0.4), StopFlag())
    assert times.told == [5.45]
    assert found.move == first_moves(game, 1)[0]
    assert (found.evaluation_centi, found.depth, found.nodes) == (150, 8, 9)
    assert found.cpu_s == pytest.approx(0.45)
    assert log.read_text().splitlines()[-1] == "stop"
    assert engine.choose([found.move], Allowance(nodes=5), StopFlag()).nodes == 9  # it is still in order


def test_a_program_that_does_not_stop_in_time(
    opened: Opener, monkeypatch: pytest.MonkeyPatch, held: tuple[str, int]
) -> None:
    engine = opened("chess", "uci", "flood=1", held[0], response_timeout_s=SHORT_S)
    engine.new_game()
    UsedUp(monkeypatch, 0.0, 0.0, 1.0)
    with pytest.raises(EngineTimeout):
        play(engine, 1, Allowance(cpu_s=0.4))
    wait_for_the_end(held[1])


def test_processor_time_that_nobody_tells(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = opened("chess", "uci")
    engine.new_game()
    UsedUp(monkeypatch, None)
    assert play(engine, 1)[0].cpu_s is None
    with pytest.raises(EngineError, match="does not report its processor time"):
        play(engine, 1, Allowance(cpu_s=0.4))


@ALL
def test_what_a_move_cost(opened: Opener, game: str, protocol: str) -> None:
    engine = opened(game, protocol, "child")
    engine.new_game()
    for found in play(engine, 2):
        assert found.cpu_s is not None
        assert found.cpu_s >= 0
        assert found.nodes == (None if protocol == "gtp" else 9)


def test_chess960_is_said(opened: Opener, tmp_path: Path) -> None:
    log, chess = tmp_path / "log", get_rules("chess")
    engine = opened("chess", "uci", f"log={log}")
    for fen, value in (
        ("1rbqkb1r/pppppppp/8/8/8/8/PPPPPPPP/1RBQKB1R w HBhb - 0 1", "true"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "false"),
    ):
        engine.new_game(chess.parse_position(fen))
        engine.choose((), QUICK, StopFlag())
        assert log.read_text().count(f"setoption name UCI_Chess960 value {value}") >= 1


def test_options(opened: Opener, tmp_path: Path) -> None:
    log = tmp_path / "log"
    opened("chess", "uci", f"log={log}", options=(("hash", "32"),)).new_game()
    assert "setoption name Hash value 32" in log.read_text()
    for options, message in (
        ((("Hash", "65"),), "option Hash is '65', must be 1 to 64"),
        ((("Depth", "3"),), "has no option 'Depth'; it has: Hash, UCI_Chess960"),
        ((("UCI_Chess960", "true"),), "set by Desdemona itself"),
    ):
        with pytest.raises(EngineError, match=message):
            opened("chess", "uci", options=options).new_game()


def test_another_start(opened: Opener) -> None:
    othello = get_rules("othello")
    start = replay(othello, ["f5", "d6"])
    engine = opened("othello", "nboard")
    engine.new_game(start)
    legal = othello.move_text(othello.legal_moves(start)[0])
    assert engine.choose((), QUICK, StopFlag()).move == legal
    with pytest.raises(EngineError, match="GTP cannot begin from"):
        opened("othello", "gtp").new_game(start)


# --- Faults ------------------------------------------------------------------------------------------------


@EACH
def test_what_does_not_start(opened: Opener, game: str, protocol: str) -> None:
    with pytest.raises(EngineCrashed, match=r"exit status 3.*standard error: cannot find my weights"):
        opened(game, protocol, "dies").new_game()
    with pytest.raises(EngineTimeout, match=f"(?i)did not answer .* does it speak {protocol}, or"):
        opened(game, protocol, "silent", start_s=SHORT_S).new_game()
    nothing = ExternalEngine(ExternalSettings(game=game, protocol=protocol, command=("/no/such/program",)))
    with pytest.raises(EngineError, match="cannot start /no/such/program"):
        nothing.new_game()
    nothing.close()


def test_where_a_program_was_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def error(program: str, directory: str | None = None) -> str:
        settings = ExternalSettings(
            game="othello", protocol="gtp", command=(program,), directory=directory, start_s=LONG_S
        )
        with pytest.raises(EngineError) as found:
            ExternalEngine(settings).new_game()
        return str(found.value)

    here = f"{tmp_path}"
    assert error("./a/none") == (
        f"cannot start ./a/none: No such file or directory (looked for in {here}; dir= sets the folder)"
    )
    assert error("no-such-program") == (
        "cannot start no-such-program: No such file or directory "
        f"(looked for on the PATH; write ./no-such-program for one in {here})"
    )
    monkeypatch.setattr(process, "DEBIAN_GAMES", here)
    (tmp_path / "there-though").touch(0o755)
    assert error("there-though").endswith(f" (it is not on the PATH; write {here}/there-though)")
    assert error("./none", here).endswith(f"(looked for in {here})")
    assert error("./none", "/no/folder") == "cannot start ./none: there is no folder /no/folder"


@EACH
def test_a_crash_is_mended_once(opened: Opener, tmp_path: Path, game: str, protocol: str) -> None:
    engine = opened(game, protocol, "crash=2", f"once={tmp_path / 'once'}")
    engine.new_game()
    assert [choice.move for choice in play(engine, 3)] == first_moves(game, 3)
    always = opened(game, protocol, "crash=1")
    always.new_game()
    with pytest.raises(EngineCrashed, match=r"exit status 9.*standard error: out of luck"):
        play(always, 1)


@pytest.mark.parametrize(
    ("game", "protocol", "fault"),
    [
        ("othello", "nboard", "flood=1"),
        ("othello", "gtp", "hang=1"),
        ("chess", "uci", "hang=1"),
        ("xiangqi", "ucci", "flood=1"),
    ],
)
def test_silence_and_floods(opened: Opener, tmp_path: Path, game: str, protocol: str, fault: str) -> None:
    """And the next question is answered by a process in order."""
    engine = opened(game, protocol, fault, f"once={tmp_path / 'once'}", response_timeout_s=SHORT_S)
    engine.new_game()
    with pytest.raises(EngineTimeout):
        play(engine, 1, Allowance(move_s=0.01, depth=2))
    engine.settings = replace(engine.settings, response_timeout_s=LONG_S)
    assert play(engine, 1)[0].move == first_moves(game, 1)[0]


@EACH
def test_who_talks_for_ever_is_ended(opened: Opener, held: tuple[str, int], game: str, protocol: str) -> None:
    """Also where the move was given no time."""
    engine = opened(game, protocol, "flood=1", held[0], longest_s=SHORT_S)
    engine.new_game()
    with pytest.raises(EngineTimeout, match=r"has sent no move in 0\.2 s, but keeps printing"):
        play(engine, 1)
    wait_for_the_end(held[1])


@pytest.mark.parametrize(
    ("game", "protocol", "fault"),
    [
        ("othello", "nboard", "nonsense"),
        ("othello", "gtp", "illegal"),
        ("chess", "uci", "nonsense"),
        ("xiangqi", "ucci", "illegal"),
        ("xiangqi", "ucci", "digits"),
    ],
)
def test_an_illegal_move_is_named(opened: Opener, game: str, protocol: str, fault: str) -> None:
    engine = opened(game, protocol, fault)
    engine.new_game()
    said = {"illegal": "a[01]", "nonsense": "perhaps", "digits": "h1+"}[fault]
    with pytest.raises(IllegalAnswer, match=rf"(?i)Made-up.* said .*{said}.*is not a legal move") as caught:
        play(engine, 1)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(("game", "protocol"), [("othello", "gtp"), ("chess", "uci"), ("xiangqi", "ucci")])
def test_resigning(opened: Opener, game: str, protocol: str) -> None:
    engine = opened(game, protocol, "resigns")
    engine.new_game()
    with pytest.raises(Resigned):
        play(engine, 1)


def test_gtp_may_refuse(opened: Opener) -> None:
    for command, message in (("play", "'play black f5': I will not"), ("genmove", "'genmove white'")):
        engine = opened("othello", "gtp", f"refuses={command}")
        engine.new_game()
        with pytest.raises(EngineError, match=f"refuses {message}"):
            engine.choose(["f5"], QUICK, StopFlag())


@EACH
def test_stopping(opened: Opener, game: str, protocol: str) -> None:
    """And the next question is answered, whether the program can be told to stop or has to be ended."""
    engine = opened(game, protocol, "hang=2")
    engine.new_game()
    play(engine, 1)
    stop = StopFlag()
    stop.set_deadline(0.05)
    moves = first_moves(game, 1)
    with pytest.raises(Stopped):
        engine.choose(moves, QUICK, stop)
    assert engine.choose(moves, QUICK, StopFlag()).move == first_moves(game, 2)[1]


def test_wrong_calls(opened: Opener) -> None:
    engine = opened("othello", "nboard")
    engine.new_game()
    with pytest.raises(IllegalMove):
        engine.choose(["a1"], QUICK, StopFlag())
    with pytest.raises(ValueError, match="uci needs a limit for a move"):
        opened("chess", "uci").choose((), Allowance(), StopFlag())
    for wrong, message in (
        ({"game": "chess"}, "protocol gtp is for othello, not for chess"),
        ({"protocol": "xboard"}, "must be one of nboard, gtp, uci, ucci"),
        ({"command": ()}, "command is empty"),
        ({"options": (("a", "b"),)}, "protocol gtp has no options"),
        ({"response_timeout_s": 0}, "response_timeout_s is 0, must be above 0"),
        ({"longest_s": 0}, "longest_s is 0, must be above 0"),
        ({"protocol": "uci", "game": "chess", "options": (("a\n", "b"),)}, "cannot be sent"),
    ):
        with pytest.raises(ValueError, match=message):
            ExternalSettings(**({"game": "othello", "protocol": "gtp", "command": ("x",)} | wrong))
    for numbers in (
        *({"move_s": 0.0}, {"depth": 0}, {"move_s": 1.0, "remaining_s": (1.0, 1.0)}, {"nodes": 0}),
        *(
            {"cpu_s": 0.0},
            {"cpu_s": 1.0, "nodes": 1},
            {"cpu_s": 1.0, "depth": 1},
            {"nodes": 1, "move_s": 1.0},
        ),
    ):
        with pytest.raises(ValueError, match=r"must be|not both|excludes all other limits"):
            Allowance(**numbers)


# --- Processes ---------------------------------------------------------------------------------------------


def wait_for_the_end(reader: int) -> None:
    """Wait until nobody holds the pipe any more."""
    ready, _, _ = select.select([reader], [], [], LONG_S)
    assert ready
    assert os.read(reader, 1) == b""


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """The fault of holding a pipe open, and the pipe's other end."""
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    yield f"hold={tmp_path / 'fifo'}", reader
    os.close(reader)


@pytest.mark.parametrize("faults", [(), ("child",), ("stubborn",)])
def test_closing_ends_the_whole_group(held: tuple[str, int], faults: tuple[str, ...]) -> None:
    engine = ExternalEngine(fake("othello", "gtp", held[0], *faults))
    engine.new_game()
    play(engine, 1)
    engine.close()
    wait_for_the_end(held[1])


PROGRAM = """
import sys
from engine.protocols.external_engine import ExternalEngine
from engine.stop import StopFlag
from tests.engine.protocols.test_external_engine import QUICK, fake
engine = ExternalEngine(fake("othello", "gtp", *sys.argv[1:]))
engine.new_game()
print("open", flush=True)
engine.choose((), QUICK, StopFlag())
"""


def test_nothing_outlives_us_when_we_are_killed(held: tuple[str, int], tmp_path: Path) -> None:
    """Not even a program that does not look at its standard input, and has a child."""
    begun = tmp_path / "begun"
    command = [sys.executable, "-c", PROGRAM, "child", "hang=1", "deaf", held[0], f"begun={begun}"]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert program.stdout is not None
    try:
        assert program.stdout.readline() == b"open\n"
    finally:
        program.kill()
        program.communicate()
    wait_for_the_end(held[1])


def test_a_program_that_reads_nothing() -> None:
    """What is written to it must not block us either."""
    process = EngineProcess([sys.executable, "-c", "import time; time.sleep(1000)"])
    stop = StopFlag()
    stop.set_deadline(SHORT_S)
    with pytest.raises(Stopped):
        process.send("x" * 10_000_000, WaitLimit(stop))
    with pytest.raises(EngineTimeout):
        process.send("x", WaitLimit(StopFlag(), until=0.0))
    with pytest.raises(EngineError, match=f"has been silent for {SHORT_S:g} s"):
        process.send("x", WaitLimit(StopFlag(), response_timeout_s=SHORT_S))
    process.close("quit")


def test_unread_lines_take_up_a_few_megabytes() -> None:
    """However long they are; and reading makes room."""
    long, short = "\N{GRINNING FACE}" + "x" * 65_000, "info"
    for line in (long, short):
        lines = _UnreadLines(_MAX_UNREAD_BYTES)
        with contextlib.suppress(queue.Full):
            for _ in range(10**6):
                lines.put_nowait(line)
        assert 4 << 20 <= len(lines.queue) * sys.getsizeof(line) < (4 << 20) + sys.getsizeof(line)
        assert lines.get_nowait() == line
        lines.put_nowait(None)
        while lines.get_nowait() is not None:
            pass
        assert lines.empty()


def test_the_talk_of_a_stranger() -> None:
    """A program that speaks something else altogether."""
    process = EngineProcess([sys.executable, "-c", "print('? hm\\n' * 3)"])
    talk = GtpClient(process, fake("othello", "gtp"), get_rules("othello"))
    with pytest.raises(EngineError):
        talk.greet()
    process.close()


# --- Reading -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "move", "centi"),
    [
        ("=== D6/-1.71/0.00", "d6", -171),
        ("=== PA//0.00", "pass", None),
        ("=== d6 -1.00 0.0", "d6", -100),
        ("=== F5", "f5", None),
        ("=== f5/+2.00,+4.00/1", "f5", 200),
        ("=== f5/-2.00,+4.00", "f5", 0),
        ("=== f5/-5,-4", "f5", -400),
        ("=== f5/nan", "f5", None),
        ("===", "", None),
        ("=== ", "", None),
    ],
)
def test_answers_by_nboard(line: str, move: str, centi: int | None) -> None:
    answer = read_go(line, [])
    assert (answer.move, answer.evaluation_centi) == (move, centi)


def test_thinking_by_nboard() -> None:
    line = read_search("search F5d6-C3 +0.50 0 12")
    assert line is not None
    assert (line.variation, line.evaluation_centi, line.depth) == (("f5", "d6", "c3"), 50, 12)
    book = read_search("book PAd6 -1.5,2 12 100%W some text")
    assert book is not None
    assert (book.variation, book.evaluation_centi, book.depth) == (("pass", "d6"), 0, None)
    for nonsense in ("search", "search x y z", "searchlight F5 +1 0 2", "", "status search F5 1 0 1"):
        assert read_search(nonsense) is None
    found = read_go("=== F5//1.0", [line])
    assert (found.evaluation_centi, found.variation, found.depth) == (50, ("f5", "d6", "c3"), 12)
    assert (read_eval("1e9"), read_eval("inf"), read_eval("x")) == (None, None, None)


def test_the_clock_of_nboard() -> None:
    assert clock_text(Allowance(remaining_s=(60, 125.9), increment_s=3), 1, 20) == "02:05/00:03"
    assert clock_text(Allowance(remaining_s=(0, 5)), 0, 20) == "00:01/00:00"
    assert clock_text(Allowance(move_s=10), 0, 30) == "05:00/00:00"
    assert clock_text(Allowance(move_s=1000), 0, 30) == "08:20:00/00:00"
    assert clock_text(Allowance(depth=3), 0, 30) == ""


# --- Real ones ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "protocol", "program"),
    [
        ("chess", "uci", "stockfish"),
        ("xiangqi", "uci", "fairy-stockfish"),
        ("xiangqi", "ucci", "fairy-stockfish"),
    ],
)
def test_real_programs(game: str, protocol: str, program: str) -> None:
    engine = ExternalEngine(ExternalSettings(game=game, protocol=protocol, command=(installed(program),)))
    engine.new_game()
    choices = play(engine, 6)
    engine.close()
    assert "stockfish" in engine.name.lower()
    assert all(choice.evaluation_centi is not None for choice in choices)
