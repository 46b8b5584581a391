"""What all front ends share: lines, searches that are dropped, and searches that fail."""

import io
import re
from pathlib import Path

import pytest

from bot.protocols.console import MAX_LINE_LENGTH, Console, ConsoleSearch
from bot.protocols.gtp import Gtp
from bot.protocols.nboard import NBoard
from bot.protocols.search_driver import SearchDriver
from bot.protocols.uci import Uci
from engine.search.reference import Searcher
from engine.search.searchers import NATIVE_GAMES, NativeSearcher
from tests.bot.protocols.driver import Driver, driver


def console(text: bytes = b"") -> tuple[Console, io.BytesIO]:
    sink = io.BytesIO()
    return Console(io.BytesIO(text), sink), sink


def test_lines() -> None:
    text = b" a b \r\n\n\xff\n" + b"x" * (3 * MAX_LINE_LENGTH) + b"\nlast"
    assert list(console(text)[0].lines()) == ["a b", "", "\N{REPLACEMENT CHARACTER}", "last"]


def test_a_dropped_search_says_nothing() -> None:
    talking, sink = console()
    task = ConsoleSearch(talking)
    task.say("one")
    task.drop()
    assert task.stop.is_set()
    task.say("two")
    last = ConsoleSearch(talking)
    last.say_last("three")
    last.say("four")
    last.say_last("five")
    assert sink.getvalue() == b"one\nthree\n"


def test_nobody_reads(tmp_path: Path) -> None:
    """The other program is gone: that ends ours, without a complaint."""
    (tmp_path / "sink").touch()
    with (tmp_path / "sink").open("rb") as cannot_be_written:
        broken = Console(io.BytesIO(b"a\nb\nc\n"), cannot_be_written)
        heard = []
        for line in broken.lines():
            heard.append(line)
            broken.say("answer")
    assert heard == ["a"]


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that fail for no reason."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError("no reason")

    monkeypatch.setattr(SearchDriver, "decide", fail)
    monkeypatch.setattr(SearchDriver, "deepen", fail)


@pytest.mark.usefixtures("failing")
def test_a_search_that_fails_is_answered() -> None:
    with Driver(NBoard, driver("othello")) as gui:
        gui.tell("go")
        gui.hear_until("status The search failed: ZeroDivisionError")
        gui.tell("hint 2")
        gui.hear_until("status The search failed: ZeroDivisionError")
    with Driver(Gtp, driver("othello")) as gui:
        gui.tell("3 genmove b")
        assert gui.hear() == "?3 genmove failed: ZeroDivisionError"
    with Driver(Uci, driver("chess")) as gui:
        gui.tell("go movetime 10")
        assert gui.hear_until("bestmove") == ["info string ZeroDivisionError: no reason", "bestmove (none)"]
        gui.tell("go infinite")
        assert gui.hear() == "info string ZeroDivisionError: no reason"
        gui.tell("isready")
        assert gui.hear() == "readyok"
        gui.tell("stop")
        assert gui.hear() == "bestmove (none)", "no move that nothing looked at"


MATE_IN_1 = "position fen 7k/8/8/8/8/8/R7/1R4K1 w - - 0 1 moves a2a7 h8g8"


def breaks(*_: object, **__: object) -> None:
    raise ValueError("broken")


CORE = ("search", "scores_after", "trappy_candidates", "tempting_candidates", "think")


@pytest.mark.parametrize("broken", [CORE, CORE[2:]], ids=["core", "strategies"])
@pytest.mark.parametrize("kind", ["standard", "trappy", "tempting", "strong", "opponent_model"])
def test_a_search_that_fails_is_replaced_by_a_smaller_one(
    monkeypatch: pytest.MonkeyPatch, kind: str, broken: tuple[str, ...]
) -> None:
    """The strategy or all of the core; the user is told once."""
    for name in broken:
        monkeypatch.setattr(NativeSearcher, name, breaks)
    limits = ("depth 3", "movetime 50", "nodes 1000", "mate 1", "depth 3 searchmoves b1b8 a7a1", "infinite")
    with Driver(Uci, driver("chess", kind=kind)) as gui:
        said = []
        for go in limits:
            gui.tell(MATE_IN_1, f"go {go}", *["stop"] * (go == "infinite"))
            said += gui.hear_until("bestmove")
            assert said[-1].split()[1] == "b1b8", go
    assert sum("broken" in line for line in said) <= 1
    with Driver(NBoard, driver("othello", kind=kind)) as gui:
        gui.tell("go")
        assert re.fullmatch("=== (D3|C4|F5|E6)/.*", gui.hear_until("===")[-1])
    with Driver(Gtp, driver("othello", kind=kind)) as gui:
        gui.tell("genmove b")
        assert gui.hear() in ("= d3", "= c4", "= f5", "= e6")


def test_more_hash_than_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    real = NATIVE_GAMES["chess"]

    def searcher(table_mb: int) -> Searcher:
        if table_mb > 2:
            raise MemoryError
        return real(table_mb)

    monkeypatch.setitem(NATIVE_GAMES, "chess", searcher)
    with Driver(Uci, driver("chess", kind="trappy")) as gui:
        gui.tell("setoption name Hash value 65536")
        for number in range(2):
            gui.tell(MATE_IN_1, "go depth 6")
            lines = gui.hear_until("bestmove")
            assert lines[-1].split()[1] == "b1b8"
            told = "info string there is no memory for a transposition table of 65536 MiB; it has 2 MiB"
            assert (told in lines) == (number == 0)


def test_no_memory_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def searcher(_: int) -> Searcher:
        raise MemoryError

    monkeypatch.setitem(NATIVE_GAMES, "chess", searcher)
    with Driver(Uci, driver("chess", kind="strong")) as gui:
        gui.tell(MATE_IN_1, "go depth 6")
        assert gui.hear_until("bestmove")[-1].split()[1] == "b1b8"
