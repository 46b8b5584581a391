"""The dashboard's first page in a browser: it fits any screen, and its forms reach the program."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.alarms.evaluator import AlarmEvaluator
from bot.base.config import DashboardConfig
from bot.dashboard.server import Dashboard
from bot.views.menu import pages
from storage.database import Database
from tests.bot.dashboard.desk_samples import FakeActions, desk_of, firing_board, sample_pages
from tests.browser import layout
from tests.browser.page import Page
from tests.patience import PATIENCE_S


class Served:
    """A dashboard in a thread of its own."""

    def __init__(self, folder: Path, board: AlarmEvaluator) -> None:
        self.actions = FakeActions(board=board)
        self.address = ""
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="dashboard")

    def __enter__(self) -> "Served":
        self._thread.start()
        assert self._is_up.wait(PATIENCE_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        database = await Database.open(f"sqlite:///{self._folder / 'page.db'}")
        config = DashboardConfig(port=0)
        shown = sample_pages(self.actions)
        async with Dashboard(config, database, shown, desk_of(self.actions)).running() as self.address:
            self._is_up.set()
            await self._stop.wait()
        await database.close()


@pytest.fixture
def troubled(tmp_path: Path) -> Iterator[Served]:
    """A program with four games and two alarms."""
    with Served(tmp_path, firing_board()) as served:
        yield served


def test_nothing_scrolls_sideways_on_a_small_phone(tab: Page, troubled: Served) -> None:
    with tab.wide(360):
        for path in ("", "/events"):
            tab.driver.get(f"{troubled.address}{path}")
            tab.find(".strip")
            assert tab.driver.execute_script("return document.documentElement.scrollWidth") <= 360
            assert tab.driver.get_log("browser") == []  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("path", [*(page.path for page in pages() if "{" not in page.path), "/dash/login"])
def test_no_page_overlaps(tab: Page, troubled: Served, path: str) -> None:
    site = troubled.address.removesuffix("/dash")
    for width in layout.WIDTHS:
        with tab.wide(width):
            tab.driver.get(site + path)
            assert layout.troubles(tab) == []


def test_no_table_of_the_first_page_is_cut(tab: Page, troubled: Served) -> None:
    with tab.wide(1280):
        tab.driver.get(troubled.address)
        tab.until_text(".card:has(#latest-replies-to-baits)", "not judged yet")
        assert tab.driver.execute_script(layout.CUT_TABLES) == 0


def test_draining_asks_first(tab: Page, troubled: Served) -> None:
    tab.driver.get(troubled.address)
    drain = "form:has([value=drain]) button"
    tab.click(drain)
    tab.click(".notice a.button")  # no
    tab.find(".gallery")
    assert troubled.actions.calls == []
    tab.click(drain)
    tab.click(".notice .button.danger")
    assert tab.find(".said").text == "drain: done"
    assert troubled.actions.calls == [("drain", (), {"by": "dashboard"})]


def test_an_alarm_is_acknowledged(tab: Page, troubled: Served) -> None:
    tab.driver.get(f"{troubled.address}/events")
    tab.click("form:has([value=ack]) button")
    assert tab.find(".said").text == "acknowledge: done"
    assert [call[:2] for call in troubled.actions.calls] == [("acknowledge", ("link_down",))]
    assert tab.driver.get_log("browser") == []  # type: ignore[no-untyped-call]
