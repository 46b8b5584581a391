"""The dashboard behind a client that sends what a browser would."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import aiohttp
import pytest

from bot.base.config import DashboardConfig
from bot.base.metrics import Metrics
from bot.dashboard.server import Dashboard
from storage.database import Database
from tests.bot.dashboard.desk_samples import FakeActions, FakeWatch, desk_of, sample_pages


class Browser:
    """A client of a dashboard."""

    def __init__(self, http: aiohttp.ClientSession, origin: str) -> None:
        self.http = http
        self.origin = origin

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        """A page: status and text."""
        async with self.http.get(f"{self.origin}{path}", headers=headers, allow_redirects=False) as answer:
            return answer.status, await answer.text()

    async def act(self, origin: str | None = None, **fields: str) -> tuple[int, str, str]:
        """Send a form to the controls: status, where it leads, text."""
        headers = {"Origin": origin or self.origin}
        async with self.http.post(
            f"{self.origin}/dash/do", data=fields, headers=headers, allow_redirects=False
        ) as answer:
            return answer.status, answer.headers.get("Location", ""), await answer.text()


Opened = Callable[..., AbstractAsyncContextManager[Browser]]


@pytest.fixture
def opened(database: Database) -> Opened:
    """Opens a dashboard: actions, then options of its settings."""

    @asynccontextmanager
    async def open_dashboard(
        actions: FakeActions,
        watch: FakeWatch | None = None,
        metrics: Metrics | None = None,
        **settings: Any,
    ) -> AsyncIterator[Browser]:
        config = DashboardConfig(**{"port": 0, **settings})
        jar = aiohttp.CookieJar(unsafe=True)  # of an address without a name, too
        desk = desk_of(actions, watch, metrics)
        dashboard = Dashboard(config, database, sample_pages(config, database, actions), desk)
        async with dashboard.running() as address, aiohttp.ClientSession(cookie_jar=jar) as http:
            yield Browser(http, address.removesuffix("/dash"))

    return open_dashboard
