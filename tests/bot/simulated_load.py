"""Games of a trial on a machine whose searches take as long as a strategy likes, in virtual time.

The program plays them: its game runners, its ledger, its statistics. Only the site, the people and the time
that a search takes are made up. For tests/bot/test_blind_under_load.py and `bench.sites.blind_load`.
"""

import asyncio
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from math import log
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bot.base.config import EngineConfig, TrialConfig
from bot.base.events import EndReason
from bot.game.game_runner import GameRunner
from bot.game.services import GameServices
from bot.threads.fair_queue import JobRank
from bot.threads.search_pool import JobStop
from engine.search.searchers import make_searcher
from engine.time_management import MAX_TIME_STRETCH
from storage.database import Database
from storage.evidence.inference.blindness import BlindnessReport
from storage.evidence.queries.trial_report import open_trial_blindness
from storage.evidence.trials import NewTrial, start_trial
from tests.bot.fakes import BALANCED, FakeServer, config
from tests.fuzz.one_thread import run

ARMS = ("standard", "trappy")
MEDIAN_S: Mapping[str, float] = {"standard": 0.77, "trappy": 1.47}
"""Median time of a search that nothing stops; by the spread below, 17 % and 38 % take more than 2 s."""
_SPREAD = 1.0
_OUR_MOVES = 10
_THINKS_S = (2.0, 10.0)
"""Shortest and longest time that a person takes for a reply."""
_NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Load:
    """What came of a simulated load."""

    report: BlindnessReport
    waits_s: list[list[float]]
    """By game: the seconds from each reply of the person to our move."""
    lost: int
    """Number of games whose clock ran out."""


class _GivenTime(JobStop):
    """Remembers the time that a search was given, at most, on a machine so busy that it uses all of it."""

    def __init__(self) -> None:
        super().__init__(0.0)
        self.seconds = float("inf")
        self.stretch = 1.0

    def follow_thread(self, most_stretch: float) -> None:
        self.stretch = min(most_stretch, MAX_TIME_STRETCH)

    def set_deadline(self, seconds: float) -> None:
        self.seconds = seconds


class _SimulatedPool:
    """In place of the search pool: threads whose searches take virtual time."""

    def __init__(self, threads: int, rng: random.Random) -> None:
        self._threads = asyncio.Semaphore(threads)
        self._rng = rng
        self._searcher = make_searcher("othello", 1)

    async def run(self, job: Callable[..., Any], *_: Any, rank: JobRank = JobRank.LIVE, **__: Any) -> Any:
        if rank is not JobRank.LIVE:
            return job(self._searcher, JobStop(0.0))
        search: Any = job
        async with self._threads:
            given = _GivenTime()
            found = job(self._searcher, given)
            natural_s = self._rng.lognormvariate(log(MEDIAN_S[search._at.stored.strategy]), _SPREAD)
            await asyncio.sleep(min(natural_s, given.seconds * given.stretch))
        return found


class _Site(FakeServer):
    """A game whose person takes time, and resigns after this many of our moves."""

    def __init__(self, number: int) -> None:
        super().__init__("othello")
        self.game_id = f"game{number:04}"
        self.opponent = replace(self.opponent, id=f"person{number}", name=f"Person{number}")
        self.waits_s: list[float] = []
        self.is_lost = False

    async def person(self, rng: random.Random) -> None:
        loop = asyncio.get_running_loop()
        left_s = 300.0
        for _ in range(_OUR_MOVES):
            began = loop.time()
            async with self.changed:
                await self.changed.wait_for(lambda: not self.our_turn)
            self.waits_s.append(loop.time() - began)
            left_s -= self.waits_s[-1]
            await asyncio.sleep(rng.uniform(*_THINKS_S))
            if not self.our_turn:
                self.reply(rng.choice(self.legal))
        self.is_lost = left_s < 0
        self.finish(EndReason.RESIGNATION, self.our_side)


def simulate(folder: Path, *, games: int, people: int, threads: int, hold_s: float, seed: int = 1) -> Load:
    """Play games of a trial in virtual time.

    Args:
        folder: For the database.
        games: Number of games, each with a person of its own.
        people: Number of games at the same time.
        threads: Number of search threads.
        hold_s: The setting `trial.hold_s`.
        seed: Of the people, the searches and the draws.
    """
    return run(_simulate(folder, games, people, threads, hold_s, random.Random(seed)))


async def _simulate(
    folder: Path, games: int, people: int, threads: int, hold_s: float, rng: random.Random
) -> Load:
    loop = asyncio.get_running_loop()
    began_s = loop.time()

    def now() -> datetime:
        return _NOON + timedelta(seconds=loop.time() - began_s)

    database = await Database.open(f"sqlite:///{folder / 'load.db'}")
    async with database.write() as session:
        await start_trial(session, NewTrial(name="t1", arms=ARMS, configurations={a: {} for a in ARMS}))
    settings = config(
        assignment=BALANCED,
        trial=TrialConfig(hold_s=hold_s, report_delay_s=0),
        engine=EngineConfig(max_depth=2, workers=1, table_mb=1, ponder=False, variety_centi=0),
    )
    pool: Any = _SimulatedPool(threads, rng)
    sites = [_Site(number) for number in range(games)]
    numbers = count()

    async def play_some() -> None:
        while (number := next(numbers)) < games:
            site = sites[number]
            server: Any = site
            given = GameServices(
                server=server,
                database=database,
                pool=pool,
                config=settings,
                bot_name="Desdemona",
                rng=random.Random(number),
                clock=loop.time,
                sleep=asyncio.sleep,
            )
            person = asyncio.create_task(site.person(rng))
            await GameRunner(site.game_id, given).run()
            person.cancel()
            with suppress(asyncio.CancelledError):
                await person

    with (
        patch("bot.game.services.secrets.randbits", rng.getrandbits),
        patch("bot.game.ledger.now_utc", now),
        patch("storage.ledger.games.now_utc", now),
    ):
        await asyncio.gather(*(play_some() for _ in range(people)))
    reports = await open_trial_blindness(database, now() + timedelta(days=1))
    await database.close()
    return Load(reports["t1"], [site.waits_s for site in sites], sum(site.is_lost for site in sites))
