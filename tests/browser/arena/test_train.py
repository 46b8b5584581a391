"""The trainer, on a desktop and on a phone, by keys alone."""

from collections.abc import Iterator

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.bot.arena.puzzles.samples import TRAPS
from tests.browser import axe
from tests.browser.host import Host
from tests.browser.page import Page

CHESS = TRAPS["chess"]
ASKED = "White to move. Which reply is good?"


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with Host(tmp_path_factory.mktemp("trainer")) as host:
        host.add_mistakes("chess", 3)
        yield host


def press(page: Page, *keys: str) -> None:
    ActionChains(page.driver).send_keys(*keys).perform()


def square(page: Page) -> str:
    """The square that has the focus."""
    return str(page.until_true("document.activeElement.dataset.square"))


def play(page: Page, move: str) -> None:
    """Make a move of two squares: N goes to the next legal one, Enter selects it."""
    for wanted in (move[:2], move[2:4]):
        for _ in range(64):
            if square(page) == wanted:
                break
            press(page, "n")
        assert square(page) == wanted
        press(page, Keys.ENTER)


def violations(page: Page) -> list[str]:
    axe.enter(page.driver)
    is_wide = page.driver.execute_script("return document.documentElement.scrollWidth > innerWidth")
    return [*axe.violations(page.driver), *(["it scrolls sideways"] if is_wide else [])]


@pytest.fixture(params=["light", "dark"])
def scheme(tab: Page, request: pytest.FixtureRequest) -> Iterator[str]:
    """What the person's system prefers, before any page is open."""
    wanted = {"prefers-color-scheme": request.param, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in wanted.items()]
    tab.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    yield request.param
    tab.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_three_positions_by_keys_alone(tab: Page, hall: Host, scheme: str) -> None:
    """On a desktop in light colours by a person with a name; on a phone in dark ones by nobody."""
    tab.forget_everything(hall.url)
    has_name, width = (True, 1280) if scheme == "light" else (False, 390)
    if has_name:
        tab.driver.execute_async_script(
            "const [done] = arguments;"
            "fetch('/api/person', {method: 'POST', body: new URLSearchParams({name: 'Anna'})})"
            ".then((answer) => answer.json())"
            ".then((person) => done(localStorage.setItem('desdemona.person', JSON.stringify(person))))"
        )
    with tab.wide(width):
        tab.driver.get(f"{hall.url}/train?game=chess")
        tab.until_text(".question", ASKED)
        assert violations(tab) == []
        assert CHESS.bait not in str(tab.driver.page_source)
        focused = "return document.activeElement.className"  # the board, and no square: that would be a hint
        assert tab.driver.execute_script(focused) == "train-board"
        press(tab, "n")
        square(tab)
        press(tab, "h")
        tab.until_text(".train-told", "Not Nd2: it tempts, ")
        play(tab, CHESS.bait)
        tab.until_text(".train-told", "Nd2 is the bait: ")
        play(tab, CHESS.poor)
        tab.until_text(".train-told", "Na3 is not good: it costs ")
        for number, reply in enumerate([CHESS.good[1], CHESS.good[0], CHESS.good[0]]):
            play(tab, reply)
            tab.until_text(".verdict", "Found")
            said = tab.text(".train-side")
            assert ("Your rating for finding replies" in said) is (has_name and number > 0)
            if number == 0:
                assert "Bf3 is the best reply. Good as well: Ne5." in said
                assert violations(tab) == []
                press(tab, Keys.TAB, Keys.ARROW_RIGHT)  # along the bait's line
                assert tab.until_true("document.querySelector('[aria-pressed=true]')?.textContent") == "Nd2"
                back = ActionChains(tab.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB)
                back.key_up(Keys.SHIFT).perform()
            press(tab, Keys.ENTER)
            tab.until_gone(".verdict")
        tab.until_text(".train-side", "Nothing")


def test_the_report_leads_there(tab: Page, hall: Host) -> None:
    tab.driver.get(f"{hall.url}/train?from=chess001")
    tab.until_text(".question", ASKED)
    assert tab.text(".train-head") == "1 of 1 in this game"
    press(tab, "r")
    tab.until_text(".verdict", "These were the replies to find")
    source = tab.find(".train-side a")
    assert source.get_attribute("href") == f"{hall.url}/game/chess001#3"
