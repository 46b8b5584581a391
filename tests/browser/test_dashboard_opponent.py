"""An opponent's page in a browser: with any name, and its buttons."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import update

from bot.base.config import DashboardConfig
from bot.dashboard.server import Dashboard
from bot.views.addresses import opponent_path
from bot.views.menu import pages
from storage.database import Database
from storage.tables.games import OpponentRow
from tests.bot.dashboard.desk_samples import FakeActions, desk_of
from tests.bot.dashboard.samples import NAMES, met_bait
from tests.bot.views.test_opponent import regular
from tests.browser.page import Page
from tests.patience import PATIENCE_S

ANNA = opponent_path("arena", "anna")


class Served:
    """A dashboard with opponents, in a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self.actions = FakeActions()
        self.address = ""
        self._url = f"sqlite:///{folder / 'opponents.db'}"
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="dashboard")

    def __enter__(self) -> "Served":
        self._thread.start()
        assert self._is_up.wait(PATIENCE_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        database = await Database.open(self._url)
        await regular(database)
        async with database.write() as session:
            for number, name in enumerate(NAMES):
                await met_bait(session, f"h{number}", opponent=name)
            await session.execute(update(OpponentRow).where(OpponentRow.site_id == "h0").values(is_bot=True))
        config, given = DashboardConfig(port=0), self.actions
        shown = pages(given)  # type: ignore[arg-type]
        async with Dashboard(config, database, shown, desk_of(given)).running() as address:
            self.address = address.removesuffix("/dash")
            self._is_up.set()
            await self._stop.wait()
        await database.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """No test changes its database."""
    with Served(tmp_path_factory.mktemp("served")) as opened:
        yield opened


@pytest.fixture
def served(running: Served) -> Served:
    """The same, of which nothing was asked yet."""
    running.actions.calls.clear()
    return running


def test_every_opponent_of_the_list_has_a_page(tab: Page, served: Served) -> None:
    tab.driver.get(f"{served.address}/dash/opponents")
    links = tab.driver.execute_script(
        "return [...document.querySelectorAll('.game-link')].map((link) => [link.href, link.textContent])"
    )
    assert {name for _, name in links} == {"Anna", *NAMES}
    for address, name in links:
        tab.driver.get(address)
        assert tab.driver.execute_script("return document.querySelector('h1').textContent") == name
    assert tab.count("img[src=x]") == 0


def test_a_filter_keeps_the_opponent(tab: Page, served: Served) -> None:
    tab.driver.get(f"{served.address}{ANNA}&game=othello")
    assert tab.count(".two svg.drawing-wide") > 2
    tab.click("nav.pager a[rel=next]")
    tab.until_text("nav.pager", "page 2 of 5")
    assert tab.text("h1") == "Anna"
    assert "game=othello" in tab.driver.current_url


def test_blocking_asks_first(tab: Page, served: Served) -> None:
    tab.driver.get(f"{served.address}{ANNA}")
    block = "form:has([value=block]) button"
    tab.click(block)
    tab.click(".notice a.button")  # no
    tab.until_text("h1", "Anna")
    assert served.actions.calls == []
    tab.click(block)
    tab.click(".notice .button.danger")
    tab.until_text(".said", "block: done")
    assert served.actions.calls == [("block", ("anna",), {"account": "arena", "by": "dashboard"})]


def test_a_challenge(tab: Page, served: Served) -> None:
    tab.driver.get(f"{served.address}{opponent_path('arena', 'h0')}")
    tab.click("form:has([value=challenge]) button")
    tab.until_text(".said", "begin_challenge: done")
    ((name, (who, proposal), _),) = served.actions.calls
    assert (name, who, proposal.variant) == ("begin_challenge", "h0", "othello")
