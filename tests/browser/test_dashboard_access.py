"""Everybody can use the dashboard: axe-core finds nothing, on any screen, light or dark; and keys do all."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from sqlalchemy import func, select

from bot.base.config import DashboardConfig
from bot.base.dialects import rating_list_of
from bot.dashboard.server import Dashboard
from bot.parts.document import document
from bot.views.addresses import opponent_path
from bot.views.menu import pages
from bot.views.month import month_parts
from storage.database import Database
from storage.evidence.statistics.monthly import monthly_report
from storage.filters import Filters
from storage.records import MATCH_SITE
from storage.tables.games import DecisionRow, GameRow, OpponentRow
from tests.bot.dashboard.desk_samples import FakeActions, desk_of, firing_board, sample_status
from tests.bot.dashboard.numbers.sample_database import NOW, fill
from tests.browser.axe import Look, prefer
from tests.browser.page import Page
from tests.patience import PATIENCE_S

GAMES = 60
PATHS = (
    *("/dash/works", "/dash/results?by=week,game,rating-band", "/dash/traps", "/dash/opponents"),
    *("/dash/games", "/dash/events?days=365", "/dash/ratings"),
    *("/dash/nothing", "/dash/ask", "/dash/games?game=ludo"),
)
"""Pages, and errors; those of games and opponents follow from the database."""
WATCH = """
    const all = document.querySelectorAll(
        'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]');
    window.seen = [];
    document.addEventListener('focusin', ({ target }) => {
        const style = getComputedStyle(target), box = target.getBoundingClientRect();
        const outline = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
        const isThere = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
        window.seen.push([target, outline && isThere]);
    });
    window.wanted = [...all].filter((each) => each.checkVisibility());
    return window.wanted.length;
"""
REACHED = """
    const name = (each) => each.outerHTML.slice(0, 90);
    return {
        order: wanted.flatMap((each, index) => seen[index]?.[0] === each ? [] : [name(each)]),
        hidden: seen.flatMap(([each, isShown]) => isShown ? [] : [name(each)]),
    };
"""


@dataclass(frozen=True)
class World:
    """Two dashboards of one database, and what there is to see."""

    actions: FakeActions
    """The running program."""
    url: str
    """Of its dashboard, without a path."""
    locked: str
    """The login page of one with a token."""
    report: str
    """A month's report."""
    games: tuple[str, ...]
    """A moment of a game of each kind."""
    opponents: tuple[str, ...]
    """Pages of the one who plays most, and of those with odd names."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("access")
    (folder / "token").write_text("a token that nobody guesses")
    (folder / "token").chmod(0o600)
    loop, stack = asyncio.new_event_loop(), AsyncExitStack()
    thread = threading.Thread(target=loop.run_forever, name="dashboard")
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(_serve(folder, stack), loop).result(PATIENCE_S)
    finally:
        asyncio.run_coroutine_threadsafe(stack.aclose(), loop).result(PATIENCE_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _serve(folder: Path, stack: AsyncExitStack) -> World:
    where = f"sqlite:///{folder}/dash.db"
    database = await Database.open(where)
    stack.push_async_callback(database.close)
    await fill(database, GAMES)
    actions = FakeActions(sample_status(at=datetime.now(UTC)), firing_board())
    config = DashboardConfig(port=0)
    shown = pages(actions)  # type: ignore[arg-type]
    url = await stack.enter_async_context(Dashboard(config, database, shown, desk_of(actions)).running())
    locked = DashboardConfig(port=0, token_file=str(folder / "token"))
    login = await stack.enter_async_context(Dashboard(locked, database, shown).running())
    report = folder / "report.html"
    report.write_text(await _report(database))
    games, opponents = await _of_database(database)
    return World(actions, url.removesuffix("/dash"), f"{login}/login", report.as_uri(), games, opponents)


async def _report(database: Database) -> str:
    filters = Filters(since=NOW - timedelta(days=30), until=NOW)
    async with database.read() as session:
        report = await monthly_report(session, filters, rating_list_of)
    return document("Desdemona", month_parts(report, "November 2026", "", NOW, {}))


async def _of_database(database: Database) -> tuple[tuple[str, ...], tuple[str, ...]]:
    async with database.read() as session:
        moments = await session.execute(
            select(GameRow.id, GameRow.game, GameRow.moves, func.max(DecisionRow.ply))
            .join(DecisionRow, DecisionRow.game_id == GameRow.id)
            .where(DecisionRow.is_complete.is_(True), DecisionRow.takeback == 0)
            .group_by(GameRow.id)
        )
        games = {
            game: f"/dash/games/{key}?ply={ply}"
            for key, game, moves, ply in moments
            if ply < moves.count(" ")
        }
        met = await session.execute(
            select(OpponentRow.site, OpponentRow.site_id, OpponentRow.id, func.count())
            .join(GameRow, GameRow.opponent_id == OpponentRow.id)
            .where(GameRow.site != MATCH_SITE)
            .group_by(OpponentRow.id)
            .order_by(func.count().desc())
        )
        found = [(opponent_path(row.site, row.site_id), row.id) for row in met]
        odd = [path for path, key in found if key in (2, 3)]  # the longest name, and one from right to left
        return tuple(games.values()), (found[0][0], *odd)


def test_axe_finds_nothing(tab: Page, world: World) -> None:
    look = Look(tab)
    try:
        tab.driver.get(f"{world.url}/dash")
        tab.click("form:has([value=drain]) button")
        tab.find(".notice")
        look.at("the question before an action")
        tab.click(".notice .button.danger")
        tab.find(".said")
        look.at("the first page, after an action")
        for path in (*PATHS, *world.games, *world.opponents):
            tab.driver.get(f"{world.url}{path}")
            look.at(path)
        tab.driver.get(f"{world.url}/dash/ratings?opponent=nobody")
        tab.driver.execute_script("document.querySelector('.filters details').open = true")
        look.at("filters, over a page without games")
        tab.driver.get(world.locked)
        look.at("the login page")
        tab.driver.find_element("css selector", "#token").send_keys("guessed" + Keys.ENTER)
        tab.find(".error")
        look.at("a login that was refused")
        tab.driver.get(world.report)
        look.at("a month's report")
        assert look.troubles == []
        assert tab.complaints() == []
    finally:
        prefer(tab, "")


@pytest.mark.parametrize("path", ["/dash", "/dash/works", "/dash/games"])
def test_tab_reaches_every_control_in_order(tab: Page, world: World, path: str) -> None:
    with tab.wide(1280):
        tab.driver.get(f"{world.url}{path}")
        wanted = tab.driver.execute_script(WATCH)
        ActionChains(tab.driver, duration=0).send_keys(Keys.TAB * wanted).perform()
        assert tab.driver.execute_script(REACHED) == {"order": [], "hidden": []}


def _press(tab: Page, *keys: str) -> None:
    ActionChains(tab.driver, duration=0).send_keys(*keys).perform()


def _focused(tab: Page) -> Any:
    """What has the focus, in words."""
    return tab.driver.execute_script(
        "const { id, textContent, localName } = document.activeElement;"
        "return id || `${localName}: ${textContent.trim().split('\\n')[0]}`"
    )


def test_what_opens_closes_by_keys(tab: Page, world: World) -> None:
    with tab.wide(1280):
        tab.driver.get(f"{world.url}/dash/games")
        _press(tab, Keys.TAB)
        assert _focused(tab) == "a: To the contents"
        _press(tab, Keys.ENTER)
        assert _focused(tab) == "main"
        _press(tab, Keys.TAB, Keys.TAB)  # beyond the alarms
        assert _focused(tab) == "summary: Filters"
        _press(tab, Keys.ENTER, Keys.TAB)
        assert (tab.count(".filters [open]"), _focused(tab)[:6]) == (1, "select")
        _press(tab, Keys.ESCAPE)
        assert (tab.count(".filters [open]"), _focused(tab)) == (0, "summary: Filters")


PASSED = """
    const [selector, key, modifiers] = arguments;
    const event = new KeyboardEvent("keydown", { key, ...modifiers, bubbles: true, cancelable: true });
    document.querySelector(selector).focus();
    return document.querySelector(selector).dispatchEvent(event);
"""


def test_charts_and_boards_leave_other_keys_alone(tab: Page, world: World) -> None:
    run = tab.driver.execute_script
    chart, board, moves = ".chart-live > .chart-plot", "svg.board", ".moves-box"
    alt, nothing = {"altKey": True}, dict[str, bool]()
    for path, cases in (
        ("/dash/ratings", ((chart, "ArrowRight", nothing, False), (chart, "ArrowLeft", alt, True))),
        ("/dash/ratings", ((chart, "ArrowDown", nothing, True), (chart, "PageDown", nothing, True))),
        (world.games[0], ((moves, "ArrowRight", nothing, True), (board, "ArrowDown", nothing, True))),
        (world.games[0], ((board, "ArrowLeft", alt, True), (board, "ArrowLeft", nothing, False))),
    ):
        tab.driver.get(f"{world.url}{path}")
        for selector, key, modifiers, is_passed in cases:
            assert run(PASSED, selector, key, modifiers) is is_passed, (path, selector, key, modifiers)


def test_a_fresh_page_leaves_the_focus_and_what_has_not_changed(tab: Page, world: World) -> None:
    run = tab.driver.execute_script
    with tab.wide(1280):
        tab.driver.get(f"{world.url}/dash")
        run(
            "document.getElementById('main').dataset.live = 0;"
            "document.querySelector('[aria-labelledby=waiting-for-a-game] a').focus();"
            "document.querySelector('[aria-labelledby=ten-questions]').isOld = true;"
            "document.querySelector('.orders').open = true"
        )
        tab.until_text("[aria-labelledby=waiting-for-a-game]", "grandpa_joe")
        before = world.actions.now
        games = tuple(replace(game, our_clock_s=100.0) for game in before.games)
        world.actions.now = replace(before, queue=(), games=games)
        run("document.dispatchEvent(new Event('visibilitychange'))")
        tab.until_text("[aria-labelledby=waiting-for-a-game]", "Nobody is waiting")
        assert _focused(tab) == "a: All declines"
        assert tab.text(".trap-card footer .time") == "1:40"
        assert tab.count(".orders[open]") == 1
        assert run("return document.querySelector('[aria-labelledby=ten-questions]').isOld")
        world.actions.now = before
