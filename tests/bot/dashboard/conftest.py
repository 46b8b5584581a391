"""A dashboard with pages of its own, and a client."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from jinja2 import ChoiceLoader, DictLoader, Environment

from bot.base.config import DashboardConfig
from bot.dashboard.page import Page, Query, Rows
from bot.dashboard.rendering import environment
from bot.dashboard.server import Dashboard
from storage.database import Database

TOKEN = "a token that nobody guesses"


@dataclass
class Clock:
    """Seconds that pass only when told to."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class SimpleView:
    """A view with one number, and how often it was computed."""

    number: int

    def to_json(self) -> dict[str, Any]:
        return {"number": self.number}

    def tables(self) -> Mapping[str, Rows]:
        return {"numbers": [{"number": self.number, "name": "=1+1"}]}


@dataclass
class CountingLoad:
    """Counts how often a page was computed; `fails` with an error if it has one."""

    times: int = 0
    fails: Exception | None = None
    asked: list[Query] = field(default_factory=list)

    async def __call__(self, _database: Database, query: Query) -> SimpleView:
        self.times += 1
        self.asked.append(query)
        if self.fails is not None:
            raise self.fails
        return SimpleView(self.times)


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


def _with_simple_page() -> Environment:
    made = environment()
    text = "{% extends 'page.html' %}{% block panels %}<p>{{ view.number }}</p>{% endblock %}"
    made.loader = ChoiceLoader([DictLoader({"simple.html": text}), made.loader])  # type: ignore[list-item]
    return made


@pytest.fixture
def open_site(database: Database, monkeypatch: pytest.MonkeyPatch) -> OpenSite:
    """Opens dashboards, by settings."""
    monkeypatch.setattr("bot.dashboard.server.environment", _with_simple_page)

    @asynccontextmanager
    async def opened(**settings: Any) -> AsyncIterator[Site]:
        load, clock = CountingLoad(), Clock()
        page = Page(
            "simple", "/dash", "Simple", load, parameters=frozenset({"number"}), filters=("game", "opponent")
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
