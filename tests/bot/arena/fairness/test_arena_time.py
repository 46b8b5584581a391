"""Whatever fails and whenever, a clock runs for exactly as long as its side is served."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.arena import game as rules
from bot.arena.fairness.arena_time import OUTAGE, ArenaTime
from bot.arena.game import Instant, ReplayedGame
from bot.arena.server import Arena
from bot.base.config import ArenaConfig
from storage.arena import accounts as arena
from storage.arena.accounts import STARTED, AccountRecord, ArenaGameRecord, SavedTime
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.events import list_events
from storage.tables.types import now_utc
from tests.bot.arena.conftest import FakeClock
from tests.storage.arena.test_accounts import AT, game

LIMIT_S, GRACE_S = 8.0, 3.0
SAVED_EVERY_S = 1.0
ROUNDING_S = 0.01  # clocks are kept in milliseconds
MIN_S = 1e-6  # a shorter wait may be nothing to a floating-point clock

SECONDS = st.integers(0, 4_000).map(lambda ms: ms / 1000)
STEPS = st.one_of(
    st.tuples(st.just("think"), SECONDS),
    st.tuples(st.sampled_from(["fail", "mend"]), st.just(0.0)),
    st.tuples(st.just("move"), SECONDS),
    st.tuples(st.sampled_from(["kill", "freeze"]), SECONDS),
)


class Memory:
    """A database of one game and the arena's time, which can be taken away; its sessions are itself."""

    def __init__(self, record: ArenaGameRecord, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_off = False
        self._record = record
        self._elapsed_ms = 0
        for name in (
            *("list_accounts_by_id", "load_game", "list_open_ids"),
            *("load_time", "save_game", "save_time"),
        ):
            monkeypatch.setattr(f"storage.arena.accounts.{name}", getattr(self, name))
        monkeypatch.setattr("bot.arena.fairness.arena_time.record_event", self.nothing)
        for routes in ("routes_play.PlayRoutes", "routes_site.SiteRoutes"):
            monkeypatch.setattr(f"bot.arena.{routes}.table", lambda _self: [])  # they take long to make

    @asynccontextmanager
    async def read(self) -> AsyncIterator["Memory"]:
        if self.is_off:
            raise StorageError("the database is away")
        yield self

    write = read

    async def list_accounts_by_id(self, _session: object, names: Sequence[str]) -> list[AccountRecord]:
        return [AccountRecord(name, name, False, AT) for name in names]

    async def load_game(self, _session: object, _id: str) -> ArenaGameRecord:
        return self._record

    async def list_open_ids(self, _session: object) -> list[str]:
        return [self._record.id] if self._record.status == STARTED else []

    async def save_game(self, _session: object, record: ArenaGameRecord) -> None:
        self._record = record

    async def load_time(self, _session: object) -> SavedTime:
        return SavedTime(max(self._elapsed_ms, self._record.turn_began_ms or 0), AT, 1)

    async def save_time(self, _session: object, elapsed_ms: int, _at: object) -> None:
        self._elapsed_ms = elapsed_ms

    async def nothing(self, *_: object) -> None:
        pass


class World:
    """A game on virtual time, and how long each side was served: a range, once an arena was killed."""

    def __init__(self, database: Any) -> None:
        self._database = database
        self._clock = FakeClock()
        self._is_database_down = False
        self._stands_until = 0.0
        self._turn_s = 0.0  # served in this turn
        self.least, self.most = [0.0, 0.0], [0.0, 0.0]

    async def open(self) -> None:
        settings = ArenaConfig(outage_grace_s=GRACE_S)
        self._arena = Arena(settings, self._database, clock=self._clock)
        await self._arena._time.load()
        await self._arena._referee.load()
        self._is_database_down, self._stands_until = False, self._clock.now + GRACE_S

    def now(self) -> float:
        """The arena's time."""
        return self._arena._referee.clock()

    async def match(self) -> ReplayedGame:
        return await self._arena._referee.find("abcdefgh")

    @property
    def is_served(self) -> bool:
        return not self._is_database_down and self._clock.now >= self._stands_until

    async def step(self, what: str, seconds: float) -> None:
        if what == "think":
            await self._think(seconds)
        elif what == "move":
            await self._move(seconds)
        elif what == "kill":
            await self._kill(seconds)
        elif what == "freeze":
            await self._freeze(seconds)
        else:
            self._database.is_off = what == "fail"

    async def _tick(self) -> None:
        try:
            await self._arena.tick()
        except StorageError:
            self._is_database_down = True
            return
        if self._is_database_down:
            self._is_database_down, self._stands_until = False, self._clock.now + GRACE_S

    async def _think(self, seconds: float) -> None:
        end, side = self._clock.now + seconds, (await self.match()).to_move
        for _ in range(100):
            wait_s = min(max(self._arena._wait_s(), MIN_S), end - self._clock.now)
            if self.is_served:
                self._turn_s += wait_s
                self.least[side] += wait_s
                self.most[side] += wait_s
            self._clock.advance(wait_s)
            await self._tick()
            if self._clock.now >= end or (await self.match()).is_over:
                return
        raise AssertionError("it wakes up all the time")

    async def _move(self, hangs_s: float) -> None:
        arrived, now = self._clock.now, self.now()
        match = await self.match()
        text = match.variant.rules.move_text(match.variant.rules.legal_moves(match.position)[0])
        played = partial(rules.move, side=match.to_move, text=text, when=Instant(now, now_utc()))
        if self._database.is_off:
            self._clock.advance(hangs_s)  # as long as a database takes to fail
        try:
            await self._arena._referee.change(match.id, played)
            self._turn_s = 0.0
        except StorageError:  # what the gate of the requests does then
            self._arena._suspect_outage(arrived)
            await self._tick()

    async def _freeze(self, seconds: float) -> None:
        self._clock.advance(60 * seconds)
        self._arena._suspect_freeze(60 * seconds)
        if not self._is_database_down:
            self._stands_until = self._clock.now + GRACE_S
        await self._tick()

    async def _kill(self, seconds: float) -> None:
        side = (await self.match()).to_move
        unsaved = min(self._turn_s, SAVED_EVERY_S)
        self.least[side] -= unsaved
        self._turn_s -= unsaved
        self._clock.advance(60 * seconds)
        self._database.is_off = False  # without its database it does not start
        await self.open()


async def live(steps: list[tuple[str, float]], monkeypatch: pytest.MonkeyPatch) -> None:
    limit_ms = round(LIMIT_S * 1000)
    begun = game(moves=("f5", "d6"), rated=False, remaining_ms=(limit_ms, limit_ms), turn_began_ms=0)
    world = World(Memory(replace(begun, increment_s=0), monkeypatch))
    await world.open()
    for what, seconds in steps:
        await world.step(what, seconds)
        match = await world.match()
        if match.is_over:
            assert match.record.status == "outoftime"
            assert world.most[match.to_move] >= LIMIT_S - ROUNDING_S
            return
        left = match.remaining_ms(world.now())
        assert left is not None
        for side in (0, 1):
            assert left[side] / 1000 >= LIMIT_S - world.most[side] - ROUNDING_S
            assert left[side] / 1000 <= LIMIT_S - world.least[side] + ROUNDING_S


@example(
    steps=[("think", 2), ("freeze", 4), ("think", 4), ("fail", 0), ("freeze", 1), ("mend", 0), ("think", 2)]
)
# A move arrives while the clocks stand, and fails when they run again.
@example(steps=[("think", 2), ("fail", 0), ("move", 1.5), ("mend", 0), ("think", 4), ("think", 3)])
@settings(max_examples=30)
@given(steps=st.lists(STEPS, min_size=6, max_size=20))
def test_a_clock_runs_for_as_long_as_its_side_is_served(steps: list[tuple[str, float]]) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        asyncio.run(live(steps, monkeypatch))


async def test_a_freeze_while_another_one_is_stored_is_recorded_later(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    time = ArenaTime(database, clock, grace_s=0.0)
    save_time = arena.save_time

    async def freezing(*args: Any) -> None:
        clock.advance(LIMIT_S)
        time.stop_for_freeze(LIMIT_S)
        await save_time(*args)

    time.stop_for_freeze(0.0)
    with monkeypatch.context() as patch:
        patch.setattr(arena, "save_time", freezing)
        await time.close()
    for _ in range(2):
        await time.close()
    async with database.read() as session:
        assert len(await list_events(session, kind=OUTAGE)) == 2
