"""An account is played again after each failure, and nothing that happens while it signs in is lost."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bot.account.account_runner import (
    BACKOFF_RESET_TIME_S,
    MAX_CRASH_RETRY_WAIT_S,
    AccountRunner,
    SharedResources,
    role_of,
)
from bot.account.missing_games import ACCOUNT_STOPPED, GAMES_MISSING
from bot.base.config import ChatConfig, Config
from bot.base.errors import ConfigError, TransientError
from bot.base.events import ListedGame
from bot.base.game_server import Account, Server
from bot.control.status import account_status
from bot.game.shared_game_limit import SharedGameLimit
from storage.database import Database, Role
from storage.errors import RoleLost, RoleTaken
from storage.ledger.events import list_events
from tests.bot.fakes import FakeServer, config, services
from tests.bot.virtual_time import run
from tests.patience import PATIENCE_S
from tests.storage.samples import opened as opened_game

Opened = Callable[[], FakeServer]


@asynccontextmanager
async def runner_of(
    database: Database,
    opened: Opened,
    *,
    is_alone: bool = True,
    is_standby: bool = False,
    stop: asyncio.Event | None = None,
) -> AsyncIterator[tuple[AccountRunner, asyncio.Task[None]]]:
    """A runner at work, and its task; it is stopped at the end."""

    @asynccontextmanager
    async def open_server(_: Config) -> AsyncIterator[Server]:
        yield opened()

    async with services(FakeServer(), database) as given:
        shared = SharedResources(
            database,
            given.pool,
            given.strong,
            given.engines,
            given.models,
            SharedGameLimit(),
            given.rng,
            is_standby,
        )
        runner = AccountRunner("home", config(), shared, open_server, is_alone=is_alone)
        stop = stop or asyncio.Event()
        task = asyncio.create_task(runner.run(stop))
        try:
            yield runner, task
        finally:
            stop.set()
            task.cancel()
            await asyncio.wait([task])


async def until(is_so: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():  # noqa: ASYNC110 - several things may change it
            await asyncio.sleep(0)


class Door(FakeServer):
    """Lets us in when it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opens = asyncio.Event()

    async def account(self) -> Account:
        account = await super().account()
        await self.opens.wait()
        return account


async def test_the_status_of_an_account_whose_site_is_away(database: Database) -> None:
    door = Door()
    door.faults["account"] = [TransientError("HTTP 502")]
    async with runner_of(database, lambda: door) as (runner, _):
        await until(lambda: runner.trouble)
        assert runner.trouble == "cannot sign in: HTTP 502"
        assert runner.retries.status is not None
        assert (runner.retries.status.attempts, runner.retries.status.error) == (1, runner.trouble)
        door.opens.set()
        await until(lambda: runner.lobby)
        assert not runner.trouble
        assert runner.retries.status is None


def test_an_account_whose_site_is_away_is_logged_at_growing_intervals(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async def an_hour() -> int:
        door = Door()
        door.faults["account"] = [TransientError("HTTP 502")] * 100_000
        async with runner_of(database, lambda: door) as (runner, _):
            await asyncio.sleep(3600.0)
            assert runner.retries.status is not None
            return runner.retries.status.attempts

    assert 360 < run(an_hour()) < 720
    # At once, and after 1, 3, 7, 15 and 31 minutes.
    assert len([record for record in caplog.records if "cannot sign in" in record.message]) == 6


async def test_a_closed_account_is_refused(database: Database) -> None:
    class Closed(FakeServer):
        async def account(self) -> Account:
            return replace(await super().account(), is_closed=True)

    async with runner_of(database, Closed) as (_, task):
        with pytest.raises(ConfigError, match=r"^server\.token: the site has closed the account Desdemona$"):
            await task


async def test_games_that_the_database_lacks_are_named_once(database: Database) -> None:
    """When the program starts; and its stop is recorded."""
    async with database.write() as session:
        game = await opened_game(session, "known", site="arena", account="desdemona", opponent_id="a")
    server = FakeServer()
    server.listed = [ListedGame("lost", "Anna", game.started_at)]
    stop = asyncio.Event()
    async with runner_of(database, lambda: server, stop=stop) as (runner, task):
        await until(lambda: runner.notice)
        assert runner.notice.startswith("1 finished game at arena is not in the database")
        assert account_status("home", runner).notice == runner.notice
        stop.set()
        await task
    async with database.read() as session:
        kinds = [event.kind for event in await list_events(session)]
    assert kinds[0] == ACCOUNT_STOPPED
    assert kinds.count(GAMES_MISSING) == len(server.listed_since) == 1


async def test_settings_that_change_while_it_signs_in(database: Database) -> None:
    door, new = Door(), config(chat=ChatConfig(greeting="New"))
    async with runner_of(database, lambda: door) as (runner, _):
        await until(lambda: "account" in door.calls)
        runner.reload(new)
        door.opens.set()
        await until(lambda: runner.lobby)
        assert runner.lobby is not None
        assert runner.lobby._services.config is new


async def test_settings_that_change_while_it_waits_for_the_database(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has signed in, and another program keeps the database busy."""
    busy, new = asyncio.Event(), config(chat=ChatConfig(greeting="New"))

    async def adopt(*_: Any) -> None:
        busy.set()
        runner.reload(new)
        await asyncio.sleep(0)

    monkeypatch.setattr("bot.account.account_runner.assign_account_to_records", adopt)
    async with runner_of(database, FakeServer) as (runner, _):
        await until(lambda: busy.is_set() and runner.lobby)
        assert runner.lobby is not None
        assert runner.lobby._services.config is new


@pytest.mark.parametrize("is_in", [False, True])
async def test_the_role_is_lost(
    database: Database, is_in: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where a second login ends the first, nobody may sign in, or try to, without the role."""
    lost, doors = asyncio.Event(), list[Door]()

    async def watch(_: Role) -> None:
        await lost.wait()
        raise RoleLost("it is no longer ours")

    def opened() -> Door:
        doors.append(Door())
        doors[-1].login = "desdemona"
        if is_in:
            doors[-1].opens.set()
        return doors[-1]

    monkeypatch.setattr(Role, "watch", watch)
    async with runner_of(database, opened) as (runner, _):
        await until(lambda: runner.lobby if is_in else doors and "account" in doors[0].calls)
        with pytest.raises(Exception, match="already runs the account desdemona at arena"):
            async with database.hold_role(role_of("Desdemona", "arena")):
                pass
        lost.set()
        await until(lambda: runner.trouble)
        assert runner.lobby is None
        lost.clear()
        await until(lambda: len(doors) == 2 and "account" in doors[1].calls)
    assert caplog.text.count("it is no longer ours") == 1


async def test_a_standby_does_not_ask_the_site_again_and_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the database is asked, once a second: its site would take so many sign-ins amiss."""
    monkeypatch.setattr("bot.account.account_runner.STANDBY_POLL_INTERVAL_S", 0.0)
    doors = list[FakeServer]()

    def opened() -> FakeServer:
        doors.append(FakeServer())
        return doors[-1]

    async with AsyncExitStack() as other:
        await other.enter_async_context(database.hold_role(role_of("Desdemona", "arena")))
        async with runner_of(database, opened, is_alone=False) as (runner, _):
            await until(lambda: len(doors) >= 5)
            assert [door.calls.count("account") for door in doors[:4]] == [1, 0, 0, 0]
            assert "already runs the account desdemona at arena" in runner.trouble
            assert not runner.is_waiting  # the machine is no standby
            await other.aclose()
            await until(lambda: runner.lobby)


async def test_a_standby_says_that_it_waits(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.account.account_runner.STANDBY_POLL_INTERVAL_S", 0.0)
    async with AsyncExitStack() as other:
        await other.enter_async_context(database.hold_role(role_of("Desdemona", "arena")))
        async with runner_of(database, FakeServer, is_standby=True) as (runner, _):
            await until(lambda: runner.is_waiting)
            await other.aclose()
            await until(lambda: runner.lobby)
            assert not runner.is_waiting


async def test_told_to_stop_while_its_server_opens(database: Database) -> None:
    """The arena of a standby may be long in opening."""
    began = asyncio.Event()

    @asynccontextmanager
    async def open_server(_: Config) -> AsyncIterator[Server]:
        began.set()
        await asyncio.Event().wait()
        yield FakeServer()

    async with services(FakeServer(), database) as given:
        shared = SharedResources(
            database, given.pool, given.strong, given.engines, given.models, SharedGameLimit(), given.rng
        )
        stop = asyncio.Event()
        runner = AccountRunner("home", config(), shared, open_server, is_alone=True)
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            tasks.create_task(runner.run(stop))
            await began.wait()
            stop.set()
    assert runner.trouble == "stopped"


async def test_a_token_that_is_another_accounts_by_now(database: Database) -> None:
    class Renamed(FakeServer):
        async def account(self) -> Account:
            names.append("iago" if names else "desdemona")
            return Account(names[-1], names[-1], True)

    names = list[str]()
    async with runner_of(database, Renamed, is_alone=False) as (runner, _):
        await until(lambda: runner.lobby and hasattr(runner.lobby._background, "tasks"))
        assert runner.lobby is not None
        runner.lobby._background.tasks.create_task(_fail())
        await until(lambda: runner.lobby and runner.lobby.owner.name == "iago")
        for name in ("desdemona", "iago"):
            with pytest.raises(RoleTaken):
                async with database.hold_role(role_of(name, "arena")):
                    pass


async def _fail() -> None:
    raise ZeroDivisionError("odd")


def test_waits_after_crashes_begin_anew_after_a_while(tmp_path: Path) -> None:
    """A crash a day is not a row of crashes."""
    at, enough = list[float](), asyncio.Event()

    class Broken(FakeServer):
        async def account(self) -> Account:
            at.append(asyncio.get_running_loop().time())
            if len(at) == 21:
                await asyncio.sleep(BACKOFF_RESET_TIME_S)
            if len(at) == 22:
                enough.set()
            raise ZeroDivisionError("odd")

    async def crash() -> str:
        database = await Database.open(f"sqlite:///{tmp_path / 'desdemona.db'}")
        async with runner_of(database, Broken, is_alone=False) as (runner, _), asyncio.timeout(1e6):
            await enough.wait()
        await database.close()
        return runner.trouble

    assert "ZeroDivisionError" in run(crash())
    waits = [later - earlier for earlier, later in pairwise(at)]
    assert waits[0] < 1.0
    assert MAX_CRASH_RETRY_WAIT_S / 2 <= waits[19] <= MAX_CRASH_RETRY_WAIT_S
    assert waits[20] - BACKOFF_RESET_TIME_S < 1.0
