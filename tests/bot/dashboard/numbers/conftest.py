"""A filled database of either kind, its exports, and a dashboard over it at a fixed moment."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.base.config import DashboardConfig
from bot.dashboard.server import Dashboard
from bot.views.menu import pages
from storage.database import Database
from tests.bot.dashboard.desk_samples import FakeActions, firing_board, sample_status
from tests.bot.dashboard.numbers.exported import Exported, export
from tests.bot.dashboard.numbers.sample_database import NOW, fill
from tests.bot.views.conftest import Visitor
from tests.storage.postgres import create_database

_TIMED = ("overview", "events", "opponent", "opponents", "ratings", "trial_verdict")
"""Pages that ask what time it is."""


class Stopped(datetime):
    """A clock that stands."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return NOW.astimezone(tz)


@dataclass(frozen=True)
class World:
    """A filled database and what its exports say."""

    url: str
    exported: Exported


async def _fill(url: str) -> None:
    database = await Database.open(url)
    await fill(database)
    await database.close()


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, template: Path) -> World:
    folder = tmp_path_factory.mktemp("numbers")
    if request.param == "sqlite":
        url = f"sqlite:///{shutil.copy(template, folder / 'desdemona.db')}"
    else:
        server = request.getfixturevalue("postgres")
        migrated = request.getfixturevalue("postgres_template")
        url = asyncio.run(create_database(server, "numbers", migrated))
    asyncio.run(_fill(url))
    return World(url, export(url, folder))


@pytest.fixture
def exported(world: World) -> Exported:
    return world.exported


@pytest.fixture
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is `NOW`."""
    for name in _TIMED:
        monkeypatch.setattr(f"bot.views.{name}.datetime", Stopped)
    monkeypatch.setattr("bot.text.values_text.datetime", Stopped)


@pytest.fixture
def actions() -> FakeActions:
    """A running program, made up."""
    board = firing_board()
    return FakeActions(sample_status(at=NOW, started_at=NOW - timedelta(days=12, hours=5)), board)


@pytest.fixture
async def visitor(
    world: World,
    actions: FakeActions,
    stopped_clock: None,  # noqa: ARG001
) -> AsyncIterator[Visitor]:
    config = DashboardConfig(port=0)
    ticks: Callable[[], float] = iter(range(0, 10_000_000, 100)).__next__
    database = await Database.open(world.url)
    given: Any = actions
    dashboard = Dashboard(config, database, pages(given), clock=ticks)
    async with dashboard.running() as address, aiohttp.ClientSession() as session:
        yield Visitor(address.removesuffix("/dash"), session)
    await database.close()
