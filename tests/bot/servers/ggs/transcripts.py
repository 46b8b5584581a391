"""Recorded dialogues with a real server, replayed on the fake one, and what is compared of both."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.ggs.central import Central, Connection


@dataclass(frozen=True, slots=True)
class Line:
    """One piece of a recording."""

    t: float
    """Seconds."""
    who: str
    """``alice#2`` is a second connection of the same name."""
    is_sent: bool
    raw: str


def read(path: Path) -> list[Line]:
    """A recording in JSON lines; the first line is its title."""
    lines = [json.loads(text) for text in path.read_text().splitlines()][1:]
    return [Line(line["t"], line["who"], line["dir"] == ">", line["raw"]) for line in lines]


_NORMAL = [
    # Help files are the site's own texts, as its banner.
    (r"(?ms)^: help (\w+)\n.*?^READY$", r": help \1\nREADY"),
    (r"(?ms)^/os: help (\w+)\n.*?^READY$", r"/os: help \1\nREADY"),
    # Dates, and times that the real server measured itself.
    (r"DT\[[^]]*\]", "DT[]"),
    (r"\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d", "<date>"),
    (r"(since  : ).*", r"\1"),
    (r"(idle   : ).*", r"\1"),
    (r"(sock   : ).*", r"\1"),
    (r"(host   : ).*", r"\1"),
    (r"(dblen  : ).*", r"\1"),
    (r"(?m)^(/os|\w+)( +[+-])( +\d\d:\d\d:\d\d){2}", r"\1\2"),
    (r"(\b[A-Na-n]\d+|\bPA|\bpass)/(-?\d+\.\d+)/\d+\.\d\d", r"\1/\2"),
    (r"(\b[A-Na-n]\d+|\bPA|\bpass|\bPASS)//\d+\.\d\d", r"\1"),
    (r"\d\d:\d\d,(?=\d+:\d)", "<left>,"),
    (r"delta= 4 \+ \d+\.\d secs", "delta= 4 + <> secs"),
    (r"=     00:\d\d:\d\d\+", "=     <away>+"),
]


def normal(text: str, *, banner: str = "") -> str:
    """Without what no two servers have in common: dates, measured times, the site's own texts."""
    text = re.sub(
        r"(?s)\n*Generic Game Server \(GGS\).*?(?=: Enter login)", banner, text.replace("\r\n", "\n")
    )
    for pattern, to in _NORMAL:
        text = re.sub(pattern, to, text)
    # The real server lists requests in the order of their addresses in memory.
    return re.sub(r"(?m)(^\| {1,3}\.\d+ .*\n)+", lambda lines: "".join(sorted(_stripped(lines[0]))), text)


def _stripped(lines: str) -> list[str]:
    """Only the last line of a message has lost its blanks."""
    return [f"{line.rstrip()}\n" for line in lines.splitlines()]


def blocks(text: str) -> Iterator[str]:
    """Messages and replies, each up to its READY."""
    rest = normal(text)
    while rest:
        end = re.search(r"(?m)^(READY|: Enter your password\.|: Enter login.*)$\n?", rest)
        yield rest[: end.end()] if end else rest
        rest = rest[end.end() :] if end else ""


def halves(text: str) -> tuple[list[str], list[str]]:
    """Replies, and messages: only within these two is the order fixed."""
    replies: list[str] = []
    messages: list[str] = []
    for block in blocks(text):
        (messages if block.startswith("\n") else replies).append(block)
    return replies, messages


class Replay:
    """Feeds the fake what the clients of a recording sent, at the recording's times."""

    def __init__(self, lines: list[Line], *, base_us: int = 1_795_253_600_000_000) -> None:
        self._lines = lines
        self._base_us = base_us
        self.now_us = base_us
        self.central = Central(lambda: self.now_us)
        self._connections: dict[str, Connection] = {}
        self.heard: dict[str, str] = {}
        """By who: what the fake said."""
        self.events: dict[str, Callable[[], None]] = {}
        """What remarks such as ``[[[ ... ]]]`` stand for."""

    def _connect(self, who: str) -> Connection:
        def put(data: bytes) -> None:
            self.heard[who] = self.heard.get(who, "") + data.decode("latin-1")

        self._connections[who] = Connection(self.central, put, lambda: None)
        self._connections[who].greet()
        return self._connections[who]

    def log_in(self, who: str, password: str, *commands: str) -> None:
        """Somebody who was there before the recording began."""
        self._connect(who)
        for line in (who, password, *commands):
            self.send(who, line)
        for name in self.heard:
            self.heard[name] = ""

    def send(self, who: str, line: str) -> None:
        self._connections[who].receive(line.encode("latin-1") + b"\r\n")

    def run(self) -> None:
        for line in self._lines:
            self.now_us = self._base_us + round(line.t * 1_000_000)
            self.central.service.tick()
            if not line.is_sent:
                # Who is heard before anything was said has just connected.
                if "Enter login" in line.raw and line.raw.startswith("\r\n\r\n"):
                    self._connect(line.who)
            elif line.raw.startswith("[[["):
                self.events[line.raw]()
            else:
                self.send(line.who, line.raw)

    def drop(self, who: str) -> None:
        """The connection is cut."""
        self._connections[who].close()

    def recorded(self) -> dict[str, str]:
        """By who: what the real server said."""
        said: dict[str, str] = {}
        for line in self._lines:
            if not line.is_sent:
                said[line.who] = said.get(line.who, "") + line.raw
        return said
