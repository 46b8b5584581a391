"""After the game the page shows the traps, and agrees with the report that it was given."""

from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.browser.host import Host
from tests.browser.page import Page

WIDTHS = (360, 820, 1280)


@pytest.fixture(scope="module")
def game(driver: Chrome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, str]]:
    """A tab and the address of a game against an opponent that set traps, played once for all tests here."""
    with Host(tmp_path_factory.mktemp("report")) as host:
        host.opponent.sets_traps = True
        page = Page(driver)
        page.forget_everything(host.url)
        page.begin(host.url, "anna", rated=False)
        page.play_to_end()
        yield page, f"{host.url}/game/{page.game_id}"
        driver.get("about:blank")


@pytest.fixture
def finished(game: tuple[Page, str]) -> Iterator[Page]:
    page, address = game
    page.driver.get(address)
    page.find(".moment")
    yield page
    assert not page.complaints()


def report_of(page: Page) -> Any:
    return page.driver.execute_async_script(
        "const [id, done] = arguments;"
        "fetch(`/api/arena/game/${id}/report`).then((response) => response.json()).then(done)",
        page.game_id,
    )


def test_the_report_counts_what_happened(finished: Page) -> None:
    decisions = report_of(finished)["decisions"]
    traps = [d for d in decisions if d["is_trap"]]
    answered = [d for d in traps if len(d["replies"]) > 1]
    assert traps, "the opponent set no trap at all"
    assert finished.text(".tile-trap strong") == str(len(traps))
    assert finished.text(".tile-fell strong") == str(sum(d["outcome"] == "fell" for d in answered))
    assert finished.text(".tile-saw strong") == str(sum(d["outcome"] == "optimal" for d in answered))
    assert finished.count(".chip") == len(decisions)
    finished.click(".filter input")
    assert finished.count(".chip") == len(traps)


def test_a_moment_shows_the_board_that_had_to_be_answered(finished: Page) -> None:
    decisions = report_of(finished)["decisions"]
    fell = [i for i, d in enumerate(decisions) if d["is_trap"] and d["outcome"] == "fell"]
    assert fell, "a random person fell into no trap at all"
    decision = decisions[fell[0]]
    finished.click(f".chip[data-index='{fell[0]}']")
    finished.until_text(".moment-number", f"Move {decision['number']} · Desdemona played {decision['move']}")
    finished.until_text(".moment-head h3", "You fell into")
    squares = finished.driver.find_elements(By.CSS_SELECTOR, ".moment .square")
    shown = finished.driver.execute_script(
        "return arguments[0].map((square) => square.querySelector('.piece')?.dataset.piece ?? '.').join('')",
        squares,
    )
    assert shown == "".join(decision["rows_after"])
    assert finished.count(f".moment .square[data-square='{decision['reply']}'] .mark-fell") == 1
    words = finished.text(".moment-words")
    assert decision["trap"]["reply"] in words
    assert f"You played {decision['reply']}" in words or "You played it." in words
    rows = finished.driver.find_elements(By.CSS_SELECTOR, ".table-box tbody tr")
    assert len(rows) == len(decision["replies"]) + len(decision["candidates"])
    finished.click("[data-phase=before]")
    assert finished.count(".moment .mark-chosen") == 1


def test_the_game_can_be_stepped_through(finished: Page) -> None:
    finished.click("[data-step=first]")
    assert finished.board.count(".") == 60
    finished.click("[data-step=right]")
    assert finished.board.count(".") == 59
    finished.click("[data-step=last]")
    assert finished.text(".bar[data-colour=black] .count") == str(finished.board.count("b"))


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out(finished: Page, width: int) -> None:
    finished.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    try:
        wide = finished.driver.execute_script(
            "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert wide[0] <= wide[1]
    finally:
        finished.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_lobby_remembers_the_game(finished: Page) -> None:
    game_id = finished.game_id
    finished.click(".brand")
    finished.click(".recent a")
    finished.find(".moment")
    assert finished.game_id == game_id
