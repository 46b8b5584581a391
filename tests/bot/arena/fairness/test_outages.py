"""Outages: the clocks run net of them, and no game is decided by one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import AsyncMock

import pytest

import storage.arena.accounts
from bot.arena.server import Arena
from bot.base.config import ArenaConfig
from storage.database import Database
from storage.errors import StorageError, UnreadableRow
from storage.ledger.events import list_events
from tests.bot.arena.conftest import House, Player, Street

ENDLESS = {"clock.limit": 30, "clock.increment": 0, "rated": "true"}
OPENING = "f5 d6 c3 d3 c4 f4".split()  # noqa: SIM905 - reads as a game


class Switch:
    """Takes a database away and gives it back."""

    def __init__(self, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_off = False
        for name in ("read", "write"):
            monkeypatch.setattr(database, name, self._broken(getattr(database, name)))

    def _broken(self, usual: Any) -> Any:
        @asynccontextmanager
        async def attempt() -> AsyncIterator[Any]:
            if self.is_off:
                raise StorageError("the database is away")
            async with usual() as session:
                yield session

        return attempt


@pytest.fixture
def switch(database: Database, monkeypatch: pytest.MonkeyPatch) -> Switch:
    return Switch(database, monkeypatch)


async def begun(house: House, **terms: Any) -> tuple[Player, Player, str]:
    """A game in which both have made their first move."""
    person, bot = await house.person("Anna"), await house.bot("Robot")
    game = await house.start(person, bot, **{**ENDLESS, **terms})
    await person.move(game, OPENING[0])
    await bot.move(game, OPENING[1])
    return person, bot, game


async def clocks(house: House, game: str) -> tuple[int, int]:
    """Time left of black, who began, and of white."""
    left = house.arena._referee._live[game].game.remaining_ms(house.arena._referee.clock())
    assert left is not None
    return left


async def test_a_database_that_is_away_costs_nobody_time(house: House, switch: Switch) -> None:
    """34 times a legal move was refused; then the player lost on time, and 162 points."""
    person, bot, game = await begun(house)
    stream = await person.game(game)
    await stream.next()
    await house.advance(4)
    switch.is_off = True
    for _ in range(34):
        assert (await person.act(game, f"move/{OPENING[2]}"))[0] == 503
        house.clock.advance(1)
        with pytest.raises(StorageError):
            await house.arena.tick()
    standing = await stream.next()
    assert (standing["btime"], standing["view"]["clocksStand"]) == (26_000, True)
    switch.is_off = False
    await house.arena.tick()
    await house.advance(9)  # the moment in which players come back
    await house.advance(1)
    running = await stream.next()
    assert (running["btime"], "clocksStand" in running["view"]) == (26_000, False)
    await house.advance(2)
    await person.move(game, OPENING[2])
    assert await clocks(house, game) == (24_000, 30_000)
    await house.advance(29.5)
    await bot.move(game, OPENING[3])
    assert await clocks(house, game) == (24_000, 500)
    async with house.database.read() as session:
        (event,) = await list_events(session, kind="arena_outage")
    assert event.detail["why"] == "database"


async def test_the_wait_for_the_database_costs_the_other_side_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, _, game = await begun(house)

    async def slow(*arguments: Any) -> None:
        house.clock.advance(2)
        await save_game(*arguments)

    save_game = storage.arena.accounts.save_game
    monkeypatch.setattr("storage.arena.accounts.save_game", slow)
    await person.move(game, OPENING[2])
    assert await clocks(house, game) == (30_000, 30_000)


async def test_a_damaged_row_stops_no_clock(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    person, _, game = await begun(house)

    async def fail(*_: object) -> None:
        raise UnreadableRow("one row")

    monkeypatch.setattr("storage.arena.accounts.save_game", fail)
    assert (await person.act(game, f"move/{OPENING[2]}"))[0] == 500
    house.clock.advance(5)
    assert await clocks(house, game) == (25_000, 30_000)


async def test_who_was_frozen_without_a_game_has_lost_nothing(house: House) -> None:
    time = house.arena._time
    before = time.now()
    house.clock.advance(60)
    house.arena._suspect_freeze(60)
    assert time.now() == before + 60


async def test_a_failed_request_alone_is_no_outage(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a request that fails every time would stop everybody's clock."""
    person, _, game = await begun(house)

    async def fail(*_: object) -> None:
        raise StorageError("a bug")

    for _ in range(3):
        with monkeypatch.context() as patch:
            patch.setattr("storage.arena.accounts.save_game", fail)
            assert (await person.act(game, f"move/{OPENING[2]}"))[0] == 503
        await house.arena.tick()
        await house.advance(8)
    assert await clocks(house, game) == (6_000, 30_000)
    await house.advance(6)
    assert (await person.get("/api/account/playing"))["nowPlaying"] == []


async def test_changes_by_the_owner_end_no_outage(street: Street, database: Database) -> None:
    async with street.opened() as house:
        await begun(house)
    for _ in range(2):
        async with Arena(ArenaConfig(), database).closed():
            pass
    async with street.opened() as house:
        await house.arena.tick()
        async with database.read() as session:
            assert len(await list_events(session, kind="arena_outage")) == 1


@pytest.mark.parametrize("stop", ["killed", "stopped"])
async def test_a_restart_after_minutes(street: Street, stop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with street.opened() as house:
        person, bot, game = await begun(house)
        await house.advance(10)
        house.clock.advance(0.5)  # less than a second: not saved
        if stop == "killed":
            monkeypatch.setattr(house.arena._time, "close", AsyncMock())
    lost = 10_000 if stop == "killed" else 10_500
    async with street.opened() as house:
        person, bot = (Player(house, each.name, each.token, each._kind) for each in (person, bot))
        await house.advance(9.9)  # players come back
        assert await clocks(house, game) == (30_000 - lost, 30_000)
        await house.advance(3.1)
        await person.move(game, OPENING[2])
        assert await clocks(house, game) == (27_000 - lost, 30_000)
        async with house.database.read() as session:
            (event,) = await list_events(session, kind="arena_outage")
        assert event.detail["why"] == "stopped"
