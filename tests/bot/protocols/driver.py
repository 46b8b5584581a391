"""The other end of a front end: tells it commands, and hears what it says."""

import io
import os
import select
import sys
import threading
from collections.abc import Callable
from typing import IO, Any, Protocol, Self

from bot.protocols.console import Console
from bot.protocols.search_driver import FrontEndSettings, SearchDriver
from engine.games import get_rules
from engine.strategies.registry import strategy_named

LONG_S = 300.0
"""Longer than anything takes that ends at all."""


class FrontEnd(Protocol):
    """One of the front ends."""

    def run(self) -> None:
        """Obey until the end."""


Make = Callable[[Console, SearchDriver], FrontEnd]


def driver(game: str, kind: str = "standard", **changes: Any) -> SearchDriver:
    """A quick one."""
    known: dict[str, Any] = {"table_mb": 1, "full_depth": 3, "move_s": 0.1}
    return SearchDriver(get_rules(game), FrontEndSettings(strategy_named(kind), **(known | changes)))


class Driver:
    """A front end on a thread of its own, and pipes to it; when its context ends, so has the front end."""

    def __init__(self, make: Make, mind: SearchDriver) -> None:
        source, to = os.pipe()
        hear, sink = os.pipe()
        self._to: IO[bytes] = open(to, "wb", buffering=0)  # noqa: SIM115 - closed with the context
        self._from = hear
        self._left = b""
        self._pipes = open(source, "rb"), open(sink, "wb")  # noqa: SIM115
        self._console = Console(*self._pipes)
        self._thread = threading.Thread(target=make(self._console, mind).run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        assert not [thread for thread in threading.enumerate() if thread.name == "frontend-search"]
        os.close(self._from)

    def tell(self, *lines: str) -> None:
        """Commands."""
        self._to.write("".join(f"{line}\n" for line in lines).encode())

    def hear(self) -> str:
        """The next line."""
        while b"\n" not in self._left:
            assert select.select([self._from], [], [], LONG_S)[0], f"nothing but {self._left!r}"
            part = os.read(self._from, 1 << 16)
            assert part, f"it ended after {self._left!r}"
            self._left += part
        line, _, self._left = self._left.partition(b"\n")
        return line.decode()

    def hear_until(self, start: str) -> list[str]:
        """All lines up to the first that begins so."""
        lines = [self.hear()]
        while not lines[-1].startswith(start):
            lines.append(self.hear())
        return lines

    def end(self) -> list[str]:
        """What it still says when there are no more commands; it has ended then."""
        self._to.close()
        said = self._left
        while self._thread.is_alive() or select.select([self._from], [], [], 0)[0]:
            if select.select([self._from], [], [], 0.01)[0]:
                part = os.read(self._from, 1 << 16)
                if not part:
                    break
                said += part
        self._thread.join(LONG_S)
        assert not self._thread.is_alive()
        for pipe in self._pipes:
            pipe.close()
        self._left = b""
        return said.decode().splitlines()


def said_to(make: Make, mind: SearchDriver, text: bytes) -> list[str]:
    """All that it says to commands that come at once, and then end."""
    sink = io.BytesIO()
    make(Console(io.BytesIO(text), sink), mind).run()
    return sink.getvalue().decode().splitlines()


def our_command(protocol: str, *more: str) -> tuple[str, ...]:
    """The real program."""
    return (sys.executable, "-m", "bot", "engine", "--protocol", protocol, *more)
