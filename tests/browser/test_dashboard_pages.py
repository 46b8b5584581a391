"""The dashboard's traps and games in a browser: with any name, and with or without scripts."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from bot.base.config import DashboardConfig
from bot.dashboard.server import Dashboard
from bot.views.menu import pages
from storage.database import Database
from storage.ledger.games import finish_game
from storage.records import GameResult
from tests.bot.dashboard.samples import NAMES, met_bait
from tests.browser.layout import CUT_TABLES
from tests.browser.page import Page
from tests.patience import PATIENCE_S
from tests.storage.samples import FELL, decision, opened, settled


async def _fill(database: Database) -> None:
    replies = ("d7d5", "e7e5", "g8f6", "a7a6")
    async with database.write() as session:
        for number, (name, reply) in enumerate(zip(NAMES, replies, strict=True)):
            await met_bait(session, f"g{number}", reply, opponent=name)
        for number in range(2):
            await met_bait(session, f"again{number}", opponent="Anna", rating=None)
        game = await opened(session)
        await settled(session, game.id, 0, decision(quality=225.0), FELL)
        await settled(session, game.id, 2, decision(), None)
        moves = ["f5", "d6", "c3", "f4", "f6"]
        await finish_game(session, game.id, result=GameResult.LOSS, end_reason="resignation", moves=moves)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running dashboard, without a path; no test changes its database."""
    found: dict[str, Any] = {}
    is_ready = threading.Event()

    async def serve() -> None:
        url = f"sqlite:///{tmp_path_factory.mktemp('site')}/desdemona.db"
        database = await Database.open(url)
        await _fill(database)
        config = DashboardConfig(port=0)
        async with Dashboard(config, database, pages()).running() as address:
            found["address"], found["stop"] = address.removesuffix("/dash"), asyncio.Event()
            found["loop"] = asyncio.get_running_loop()
            is_ready.set()
            await found["stop"].wait()
        await database.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="dashboard")
    thread.start()
    assert is_ready.wait(PATIENCE_S)
    yield found["address"]
    found["loop"].call_soon_threadsafe(found["stop"].set)
    thread.join()


def test_hostile_names_are_read_as_they_are(tab: Page, site: str) -> None:
    tab.driver.get(f"{site}/dash/games?sort=oldest")
    shown = tab.driver.execute_script(
        "return [...document.querySelectorAll('.game-link')].map((link) => link.textContent)"
    )
    assert shown[: len(NAMES)] == list(NAMES)
    assert tab.count("img[src=x]") == 0


def test_a_page_that_was_left_keeps_no_connection(tab: Page, site: str) -> None:
    """Browsers keep pages for the way back, and open only six connections to one address."""
    counted = """
        window.streams = [];
        const Original = EventSource;
        window.EventSource = class extends Original { constructor(url) { super(url); streams.push(this); } };
    """
    added = tab.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": counted})
    try:
        tab.driver.get(f"{site}/dash/traps")
        states = "streams.map(({readyState}) => readyState).join()"
        tab.until_true(f"{states} === '1'")
        turn = "dispatchEvent(new PageTransitionEvent(arguments[0], {persisted: true}));"
        assert tab.driver.execute_script(f"{turn} return {states}", "pagehide") == "2"
        tab.driver.execute_script(turn, "pageshow")
        tab.until_true(f"{states} === '2,1'")
    finally:
        tab.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_boards_are_drawn(tab: Page, site: str) -> None:
    tab.driver.get(f"{site}/dash/traps")
    assert tab.count(".trap-card svg.board") == 6
    assert tab.count("svg.board use") > 6 * 20
    tab.click(".board-link")
    assert "/dash/games/" in tab.driver.current_url
    assert tab.text(".verdict")


def test_no_table_of_a_game_is_cut(tab: Page, site: str) -> None:
    with tab.wide(1280):
        tab.driver.get(f"{site}/dash/games/1")
        assert tab.count(".long-table") == 2
        assert tab.driver.execute_script(CUT_TABLES) == 0


def test_arrow_keys_step_through_a_game(tab: Page, site: str) -> None:
    tab.driver.get(f"{site}/dash/games/7?ply=0")
    keys = ActionChains(tab.driver)
    keys.send_keys(Keys.ARROW_RIGHT).perform()
    tab.until_text(".stepper", "our move 2 of 2")
    assert "ply=2" in tab.driver.current_url
    keys.send_keys(Keys.ARROW_LEFT).perform()
    tab.until_text(".stepper", "our move 1 of 2")


def test_links_step_without_scripts(tab: Page, site: str) -> None:
    switch = "Emulation.setScriptExecutionDisabled"
    tab.driver.execute_cdp_cmd(switch, {"value": True})
    try:
        tab.driver.get(f"{site}/dash/games/7?ply=0")
        tab.driver.find_element("css selector", ".stepper a[rel=next]").click()
    finally:
        tab.driver.execute_cdp_cmd(switch, {"value": False})
    tab.until_text(".stepper", "our move 2 of 2")
