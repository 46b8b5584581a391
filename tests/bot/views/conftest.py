"""A dashboard with all pages, and a client."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from bot.base.config import DashboardConfig
from bot.base.old_names import OLD_JSON_KEYS
from bot.dashboard.server import Dashboard
from bot.views.menu import pages
from storage.database import Database
from tests.bot.dashboard.conftest import _patient, database, opened  # noqa: F401 - fixtures


@dataclass
class Visitor:
    """Reads pages."""

    url: str
    session: aiohttp.ClientSession

    async def text(self, path: str, status: int = 200) -> str:
        async with self.session.get(f"{self.url}{path}") as response:
            text = await response.text()
            assert response.status == status, text
            return text

    async def json(self, path: str) -> Any:
        async with self.session.get(f"{self.url}{path}") as response:
            assert response.status == 200, await response.text()
            return without_old_keys(await response.json())

    async def headers(self, path: str) -> Any:
        async with self.session.get(f"{self.url}{path}") as response:
            return response.headers


def without_old_keys(value: Any) -> Any:
    """The same without keys of the release before, which stand beside their new ones."""
    if isinstance(value, dict):
        old = {OLD_JSON_KEYS[name] for name in value if name in OLD_JSON_KEYS}
        return {name: without_old_keys(each) for name, each in value.items() if name not in old}
    return [without_old_keys(each) for each in value] if isinstance(value, list) else value


@pytest.fixture
async def visitor(database: Database) -> AsyncIterator[Visitor]:  # noqa: F811
    """Nobody may change the database while pages are read: views are kept for some seconds."""
    config = DashboardConfig(port=0)
    ticks: Callable[[], float] = iter(range(0, 10_000_000, 100)).__next__  # no view is fresh
    dashboard = Dashboard(config, database, pages(), clock=ticks)
    async with dashboard.running() as address, aiohttp.ClientSession() as session:
        yield Visitor(address.removesuffix("/dash"), session)
