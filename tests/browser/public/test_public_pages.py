"""Anybody opens a shared link: a running game, a finished one, its players; on a desktop and a phone."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.browser import axe
from tests.browser.axe import SCREENS, prefer
from tests.browser.host import Host
from tests.browser.page import Page

LATEST = "document.querySelector('.move.current')?.dataset.ply"
HEADER = """return [
    ...[...document.querySelectorAll('#pages a')].map((link) => link.getAttribute('href')),
    document.querySelectorAll('#language option').length > 1,
    document.querySelectorAll('#sound svg').length,
]"""
PAGES = ["/", "/train", "/leaders", "/history", True, 1]
"""The header of every page: links, languages, and the sound."""
LISTEN = """
    window.asked = [];
    const real = window.fetch;
    window.fetch = async (...given) => { window.asked.push(String(given[0])); return real(...given); };
"""


@pytest.fixture(scope="module")
def world(driver: Chrome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Host, str, str]]:
    """An arena; the ids of a finished game and of a running one, in which it is a person's turn."""
    with Host(tmp_path_factory.mktemp("public")) as host:
        host.opponent.sets_traps = True
        page = Page(driver)
        page.forget_everything(host.url)
        page.begin(host.url, "anna", variant="connect4", color="white")
        finished = page.game_id
        page.play_to_end()
        page.find(".moment")
        page.begin(host.url, None, variant="standard", color="black")
        for _ in range(2):
            page.play_one()
        page.until_our_turn()
        running = page.game_id
        yield host, finished, running
        driver.get("about:blank")


@pytest.fixture
def stranger(world: tuple[Host, str, str], driver: Chrome) -> Iterator[Page]:
    """A page of somebody without a name; anna's session is kept aside."""
    host, _, _ = world
    page = Page(driver)
    driver.get(f"{host.url}/static/icon.svg")
    kept = driver.execute_script("return localStorage.getItem('desdemona.person')")
    page.forget_everything(host.url)
    yield page
    assert page.complaints() == []
    driver.get(f"{host.url}/static/icon.svg")
    driver.execute_script("localStorage.setItem('desdemona.person', arguments[0])", kept)


def press(page: Page, *keys: str) -> None:
    ActionChains(page.driver, duration=0).send_keys(*keys).perform()


def ply(page: Page) -> int:
    """Number of the move that is on the board, from 1; 0: the start."""
    found = page.driver.execute_script(f"return {LATEST}")
    return 0 if found is None else int(found) + 1


@pytest.mark.parametrize("width", [1280, 390])
def test_a_stranger_steps_through_a_finished_game(
    stranger: Page, world: tuple[Host, str, str], width: int
) -> None:
    host, finished, _ = world
    with stranger.wide(width):
        stranger.driver.get(f"{host.url}/game/{finished}")
        stranger.find(".moment")
        stranger.until_true("document.querySelector('.step-group[data-loaded]') !== null")
        count, end = len(stranger.moves), stranger.board
        assert ply(stranger) == count
        press(stranger, Keys.ARROW_LEFT)
        assert ply(stranger) == count - 1
        press(stranger, Keys.HOME)
        assert ply(stranger) == 0
        stranger.until_true("!document.querySelector('.game .square .piece')")
        assert stranger.board != end
        # Wherever the focus is: a button that has just become useless, the report, nothing.
        for focused in ("[data-step=left]", ".chip", "[data-test=share]", "body"):
            stranger.driver.execute_script(
                "document.activeElement.blur(); document.querySelector(arguments[0]).focus()", focused
            )
            before = ply(stranger)
            press(stranger, Keys.ARROW_RIGHT)
            assert ply(stranger) == before + 1, focused
        press(stranger, Keys.END)
        stranger.until_true(f"document.querySelectorAll('.game .piece').length === {count}")
        assert stranger.board == end
        assert stranger.count("[data-test=file-txt]") == 1
        told = stranger.driver.execute_script("return document.querySelector('.report-box').textContent")
        assert "for anna" in told, "the chart's caption"
        assert not re.search(r"\b[Yy]ours?\b|\b[Yy]ou\b", told)
        stranger.driver.get("about:blank")
        stranger.driver.get(f"{host.url}/game/{finished}#0")  # as the trainer links to it
        stranger.until_true("document.querySelector('.move.current')?.dataset.ply === '0'")


def test_a_stranger_watches_without_being_told_too_much(stranger: Page, world: tuple[Host, str, str]) -> None:
    host, _, running = world
    driver = stranger.driver
    script = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": LISTEN})
    try:
        driver.get(f"{host.url}/game/{running}")
        stranger.until_moves(4)
        assert stranger.count(".chat, .report, .tile, .legal, [data-test=resign]") == 0
        assert stranger.count(".square[role=gridcell]") == 0
        assert driver.execute_script("return document.querySelector('.report-box').hidden")
        asked = driver.execute_script("return window.asked")
        # The icon tells how good the connection is.
        told = [path for path in asked if not path.endswith("/icon.svg")]
        assert told == [f"/api/arena/game/{running}/watch"]
        press(stranger, Keys.ARROW_LEFT)
        assert ply(stranger) == len(stranger.moves) - 1
        stranger.until_text(".status-detail", "The board shows an earlier position.")
        press(stranger, Keys.ARROW_RIGHT)
        first = driver.execute_script("return document.querySelector('.bar').dataset.colour")
        press(stranger, "f")
        assert driver.execute_script("return document.querySelector('.bar').dataset.colour") != first
        corner = driver.execute_script("return document.querySelector('.game .square').dataset.square")
        assert corner == "h1"
    finally:
        driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_spectators_see_each_move_and_the_end(page: Page, host: Host) -> None:
    driver = page.driver
    page.begin(host.url, "otto", variant="othello")
    player, address = driver.current_window_handle, driver.current_url
    driver.switch_to.new_window("tab")
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "localStorage.clear()"})
    spectator = driver.current_window_handle
    driver.get(address)
    page.until_text(".status-line", "otto to move")
    driver.switch_to.window(player)
    page.play_one()
    page.until_our_turn()
    driver.switch_to.window(spectator)
    page.until_moves(2)
    driver.switch_to.window(player)
    page.click("[data-test=resign]")
    page.click("[data-test=confirm]")
    page.find("[data-test=new-game]")
    page.find("[data-test=file-ggf]")  # for players too
    driver.switch_to.window(spectator)
    page.until_text(".status-line", "Desdemona won")
    assert page.text(".status-detail") == "otto resigned."
    page.until_true("document.querySelector('.step-group[data-loaded]') !== null")
    page.find("[data-test=file-ggf]")


def test_axe_finds_nothing(stranger: Page, world: tuple[Host, str, str]) -> None:
    host, finished, running = world
    troubles: list[Any] = []
    places = (
        (f"/game/{finished}", ".moment"),
        (f"/game/{running}", ".move"),
        ("/@/anna", ".games"),
        ("/@/nobody", ".notice"),
        ("/leaders?variant=connect4", ".people"),
        ("/history", ".notice"),
    )
    try:
        for number, (path, wanted) in enumerate(places):
            # All rules on each screen in turn, on the opposite one those that screens influence.
            for (width, scheme), rules in (
                (SCREENS[number % 4], ()),
                (SCREENS[number % 4 ^ 1], axe.OF_SCREENS),
            ):
                prefer(stranger, scheme)
                with stranger.wide(width):
                    # Opened anew: colours that are inherited do not always follow the scheme at once.
                    stranger.driver.get(host.url + path)
                    stranger.find(wanted)
                    assert stranger.driver.execute_script(HEADER) == PAGES, path
                    axe.enter(stranger.driver)
                    told = axe.violations(stranger.driver, *rules)
                    if stranger.driver.execute_script("return document.documentElement.scrollWidth") > width:
                        told.append("it scrolls sideways")
                troubles += [f"{path}, {scheme}, {width} px: {each}" for each in told]
    finally:
        prefer(stranger, "")
    assert troubles == []


def test_the_pages_of_the_server_speak_german(stranger: Page, world: tuple[Host, str, str]) -> None:
    host, _, _ = world
    driver = stranger.driver
    driver.execute_script("localStorage.setItem('desdemona.language', 'de')")
    driver.get(f"{host.url}/leaders?variant=connect4")
    stranger.until_text("[aria-current=page].top-link", "Bestenliste")
    assert driver.title == "Bestenliste: Vier gewinnt · Desdemona"
    caption = driver.execute_script("return document.querySelector('caption').textContent")
    assert caption == "Vier gewinnt: Spieler mit noch nicht gefestigter Wertung"
    driver.get(f"{host.url}/@/anna")
    stranger.until_text("#games", "PARTIEN")
    times = driver.find_elements(By.CSS_SELECTOR, "time[datetime]")
    days = {str(each.get_property("textContent")) for each in times}
    assert [day for day in days if not re.fullmatch(r"\d\d\.\d\d\.\d{4}", day)] == []
    assert days


def test_ones_games_are_there_on_another_device(page: Page, host: Host) -> None:
    page.begin(host.url, "rita")
    game = page.game_id
    page.click("[data-test=abort]")
    page.find("[data-test=new-game]")
    page.driver.get(host.url)
    page.click("[data-test=history]")
    page.until_text(".games tbody", "Aborted")
    page.click(f".games a[href='/game/{game}']")
    page.until_text(".status-line", "Game aborted")
