"""Two people play each other: the challenge, the game and its rematch; one of them by the page."""

import json
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from tests.browser import layout
from tests.browser.host import Host
from tests.browser.page import Page

LOOK = "document.dispatchEvent(new Event('visibilitychange'))"
TERMS = {"variant": "othello", "color": "white", "clock.limit": "300", "clock.increment": "3"}


class Friend:
    """A person without a browser."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self.account = self.call("POST", "/api/person", json.dumps({"name": name}).encode())

    def call(self, method: str, path: str, data: bytes | dict[str, str] | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.account['token']}"} if hasattr(self, "account") else {}
        if isinstance(data, bytes):
            headers["Content-Type"] = "application/json"
        body = urlencode(data).encode() if isinstance(data, dict) else data
        request = Request(self._url + path, body, headers, method=method)
        with urlopen(request) as response:
            return json.load(response)

    def challenge(self, name: str) -> str:
        return str(self.call("POST", f"/api/challenge/{name}", TERMS)["id"])

    def status(self, challenge: str) -> str:
        return str(self.call("GET", f"/api/challenge/{challenge}/show")["status"])


@pytest.fixture
def ben(page: Page, host: Host) -> Friend:
    """A friend of anna, whose page it is."""
    anna = Friend(host.url, "anna").account
    page.driver.execute_script("localStorage.setItem('desdemona.person', arguments[0])", json.dumps(anna))
    page.driver.get(host.url)
    page.find("[data-test=challenge]")
    return Friend(host.url, "Ben-with-a-long-name")


def look(page: Page) -> None:
    page.driver.execute_script(LOOK)


def play_until_ben_resigns(page: Page, ben: Friend) -> str:
    game = page.game_id
    page.play("d3")
    ben.call("POST", f"/api/board/game/{game}/move/c5")
    page.until_moves(2)
    ben.call("POST", f"/api/board/game/{game}/resign")
    page.until_text(".status-line", "You won!")
    return game


def test_a_challenge_is_shown_and_can_be_declined_or_accepted(page: Page, ben: Friend) -> None:
    first = ben.challenge("anna")
    look(page)
    page.until_text(
        ".incoming",
        "Ben-with-a-long-name (1500?) challenges you: Othello \N{MIDDLE DOT} 5+3 \N{MIDDLE DOT} casual",
    )
    for width in layout.WIDTHS:
        with page.wide(width):
            assert layout.troubles(page) == []
    page.click("[data-test=challenge-decline]")
    page.until_gone(".incoming")
    second = ben.challenge("anna")
    look(page)
    page.click("[data-test=challenge-accept]")
    page.until_text(".status-line", "Your move")
    assert page.game_id == second
    assert ben.status(first) == "declined"


def test_a_running_game_is_not_disturbed(page: Page, ben: Friend, host: Host) -> None:
    ben.challenge("anna")
    look(page)
    page.click("[data-test=challenge-accept]")
    page.until_text(".status-line", "Your move")
    Friend(host.url, "carl").challenge("anna")
    look(page)
    page.until_true("document.querySelector('.incoming-buttons button') !== null")
    assert not page.find("body").find_element("css selector", ".incoming").is_displayed()
    page.click("[data-test=abort]")
    page.until_text(".incoming", "carl (1500?) challenges you")


def test_nobody_is_asked_to_resign_a_game_that_is_over(page: Page, ben: Friend) -> None:
    ben.challenge("anna")
    look(page)
    page.click("[data-test=challenge-accept]")
    page.until_text(".status-line", "Your move")
    page.play("d3")
    ben.call("POST", f"/api/board/game/{page.game_id}/move/c5")
    page.until_moves(2)
    page.click("[data-test=resign]")
    page.until_text("dialog h2", "Resign this game?")
    ben.call("POST", f"/api/board/game/{page.game_id}/resign")
    page.until_gone("dialog")
    page.until_text(".status-line", "You won!")


def test_a_game_between_people_has_a_rematch_and_waits_for_no_report(page: Page, ben: Friend) -> None:
    ben.challenge("anna")
    look(page)
    page.click("[data-test=challenge-accept]")
    page.until_text(".status-line", "Your move")
    game = play_until_ben_resigns(page, ben)
    assert page.count("[data-test=to-report], .report-wait") == 0
    assert page.driver.execute_script("return document.querySelector('.report-box').hidden")
    offer = ben.call("POST", f"/api/board/game/{game}/rematch")["id"]
    look(page)
    page.until_text(".status-detail", "Ben-with-a-long-name offers a rematch.")
    assert page.count(".incoming:not([hidden])") == 0, "once is enough"
    page.click("[data-test=rematch-no]")
    page.until_text(".status-detail", "resigned")
    page.until_true("document.querySelector('[data-test=rematch]').textContent === 'Rematch'")
    assert ben.status(offer) == "declined"
    again = ben.call("POST", f"/api/board/game/{game}/rematch")["id"]
    look(page)
    page.until_text("[data-test=rematch]", "Accept rematch")
    page.click("[data-test=rematch]")
    page.until_other_game(game)
    assert page.game_id == again
    page.until_text(".status-line", "is thinking")


def test_a_game_against_a_program_without_records_says_so_at_once(page: Page, host: Host) -> None:
    page.begin(host.url, "anna", rated=False)
    page.play_one()
    page.until_our_turn()
    page.resign()
    page.until_text(".report-box", "There is no trap report for this game.")
    requests = page.driver.execute_script(
        "return performance.getEntriesByType('resource').filter(({name}) => name.endsWith('/report')).length"
    )
    assert requests == 1
