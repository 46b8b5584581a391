"""What all front ends share: lines, searches that are dropped, and searches that fail."""

import io
from pathlib import Path

import pytest

from bot.protocols.console import MAX_LINE_LENGTH, Console, ConsoleSearch
from bot.protocols.gtp import Gtp
from bot.protocols.nboard import NBoard
from bot.protocols.search_driver import SearchDriver
from bot.protocols.uci import Uci
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
        raise ZeroDivisionError

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
        gui.tell("go movetime 10", "go infinite")
        for _ in range(2):
            assert gui.hear() == "info string ZeroDivisionError"
            assert gui.hear() == "bestmove b1a3", "any legal move"
