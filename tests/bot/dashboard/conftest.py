"""A dashboard with pages of its own, and a client."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.base.config import DashboardConfig
from bot.base.metrics import Metrics
from bot.dashboard.server import Dashboard
from bot.parts.values import Note, Part, Rows
from bot.views.page import Page, Query
from storage.database import Database
from tests.bot.dashboard.desk_samples import FakeActions, FakeWatch, desk_of, sample_pages
from tests.patience import PATIENCE_S

TOKEN = "a token that nobody guesses"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page is given up because the machine is busy."""
    for limit in ("page_cache.PAGE_TIMEOUT_S", "page_workers.WORKER_TIMEOUT_S"):
        monkeypatch.setattr(f"bot.dashboard.{limit}", PATIENCE_S)


@dataclass
class Clock:
    """Seconds that pass only when told to."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class SimpleView:
    """A view with one number, and how often it was computed."""

    number: int | str
    title = ""

    @property
    def parts(self) -> tuple[Part, ...]:
        return (Note(f"{self.number}", is_card=True),)

    def to_json(self) -> dict[str, Any]:
        return {"number": self.number}

    def tables(self) -> Mapping[str, Rows]:
        return {"numbers": [{"number": self.number, "name": "=1+1"}]}


@dataclass
class CountingLoad:
    """Counts how often a page was computed; `fails` with an error if it has one."""

    times: int = 0
    fails: Exception | None = None
    number: str = ""
    """What it shows; empty: how often it was computed."""
    asked: list[Query] = field(default_factory=list)

    async def __call__(self, _database: Database, query: Query) -> SimpleView:
        self.times += 1
        self.asked.append(query)
        if self.fails is not None:
            raise self.fails
        return SimpleView(self.number or self.times)


@dataclass
class Site:
    """A running dashboard."""

    url: str
    """Without a path."""
    session: aiohttp.ClientSession
    load: CountingLoad
    clock: Clock

    def get(self, path: str, **options: Any) -> Any:
        """A GET request that follows no redirect."""
        return self.session.get(f"{self.url}{path}", allow_redirects=False, **options)

    def post(self, path: str, **options: Any) -> Any:
        return self.session.post(f"{self.url}{path}", allow_redirects=False, **options)


OpenSite = Callable[..., Any]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(f"sqlite:///{tmp_path}/desdemona.db")
    yield opened
    await opened.close()


@pytest.fixture
def open_site(database: Database) -> OpenSite:
    """Opens dashboards, by settings."""

    @asynccontextmanager
    async def opened(**settings: Any) -> AsyncIterator[Site]:
        load, clock = CountingLoad(), Clock()
        page = Page(
            "simple",
            "/dash",
            "Simple",
            load,
            parameters=frozenset({"number"}),
            filters=("game", "opponent"),
        )
        config = DashboardConfig(**{"port": 0, **settings})
        async with AsyncExitStack() as stack:
            address = await stack.enter_async_context(
                Dashboard(config, database, [page], clock=clock).running()
            )
            jar = aiohttp.CookieJar(unsafe=True)
            session = await stack.enter_async_context(aiohttp.ClientSession(cookie_jar=jar))
            yield Site(address.removesuffix("/dash"), session, load, clock)

    return opened


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
        operator = desk_of(actions, watch, metrics)
        dashboard = Dashboard(config, database, sample_pages(actions), operator)
        async with dashboard.running() as address, aiohttp.ClientSession(cookie_jar=jar) as http:
            yield Browser(http, address.removesuffix("/dash"))

    return open_dashboard
