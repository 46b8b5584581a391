"""What the runs at every simulated server share: a quick search, the log's errors, a database, outcomes."""

import asyncio
import logging
import random
import shutil
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any
from unittest.mock import patch

from sqlalchemy.ext.asyncio import AsyncSession

from bot.threads.search_pool import JobStop
from engine.search.searchers import make_searcher
from engine.time_management import Limits
from storage.database import Database
from storage.ledger.events import list_events
from tests.fuzz.one_thread import run

THINKS_S = 0.3
"""Longest search."""
_TROUBLE = frozenset(
    {"game_crashed", "event_failed", "decision_unjudged", "profile_impossible", "game_given_up"}
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one run."""

    seed: int
    faults: tuple[Any, ...]
    violations: tuple[str, ...]
    story: tuple[str, ...]
    injected: Counter[tuple[Any, Any]]
    """By kind and place."""
    calls: Counter[Any]
    """By place."""
    games: int


Play = Callable[[int, tuple[Any, ...] | None], Outcome]
"""Runs one schedule: its seed, and the faults instead of those that the seed gives."""


class QuickPool:
    """In place of the search pool: each search takes a random virtual time and looks two plies ahead."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._searchers: dict[str, Any] = {}

    async def run(self, job: Callable[[Any, JobStop], Any], game: str, *_: Any, **__: Any) -> Any:
        await asyncio.sleep(self._rng.uniform(0.0, THINKS_S))
        if game not in self._searchers:
            self._searchers[game] = make_searcher(game, 1)
        return job(self._searchers[game], JobStop(0.0))

    def promote(self, *_: Any) -> None: ...


class ErrorLog(logging.Handler):
    """Collects exceptions that were logged because nobody handled them."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info is not None or record.name == "asyncio":
            self.found.append(f"{record.getMessage()}: {record.exc_info and record.exc_info[1]!r}")


@cache
def _empty_database() -> Path:
    """A database without games: making one takes longer than a whole run."""
    path = Path(mkdtemp()) / "empty.db"

    async def make() -> None:
        await (await Database.open(f"sqlite:///{path}")).close()

    run(make())
    return path


def run_bot(play: Callable[[Path, ErrorLog], Coroutine[Any, Any, Outcome]]) -> Outcome:
    """Run one schedule with an empty database and the log's errors."""
    template = _empty_database()
    errors = ErrorLog()
    root = logging.getLogger()
    root.addHandler(errors)
    # Time limits would depend on how busy the machine is.
    limits = patch("bot.game.thinking.limits_from_clock", lambda *_, **__: Limits(2))
    try:
        with TemporaryDirectory() as folder, limits:
            path = Path(folder) / "bot.db"
            shutil.copy(template, path)
            return run(play(path, errors))
    finally:
        root.removeHandler(errors)


async def troubles(session: AsyncSession) -> list[str]:
    """The failures that the bot has noted in its database."""
    return [f"{each.kind} {each.detail}" for each in await list_events(session) if each.kind in _TROUBLE]


def shortest(outcome: Outcome, play: Play) -> Outcome:
    """The same violation with as few of the faults as possible."""
    kind = outcome.violations[0].split(": ")[1]
    for fault in outcome.faults:
        fewer = tuple(each for each in outcome.faults if each is not fault)
        with suppress(Exception):
            tried = play(outcome.seed, fewer)
            if any(what.split(": ")[1] == kind for what in tried.violations):
                outcome = tried
    return outcome
