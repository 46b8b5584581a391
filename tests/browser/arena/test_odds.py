"""Challenging the bot at odds: what the page says before and during the game."""

import pytest

from bot.arena import wire
from tests.browser import layout
from tests.browser.host import Host
from tests.browser.page import Page

HINT = ".odds-hint"


@pytest.mark.parametrize("width", [1280, 390])
def test_a_person_plays_at_odds(page: Page, host: Host, width: int) -> None:
    with page.wide(width):
        page.driver.get(host.url)
        page.find("#nickname").send_keys("anna")
        page.choose("variant", "standard")
        page.choose("color", "black")
        page.click(".have-odds summary")
        assert page.driver.execute_script("return document.querySelector('[name=odds]:checked').value") == ""
        page.choose("odds", "queen+knight")
        page.until_text(HINT, "Desdemona plays without queen and knight.")
        rated = "return document.querySelector('[name=rated][value=true]')"
        assert page.driver.execute_script(f"{rated}.disabled")
        assert "only without odds" in page.driver.execute_script(f"{rated}.closest('.segment').textContent")
        assert layout.troubles(page) == []
        page.choose("odds", "")
        page.until_gone(HINT)
        assert page.driver.execute_script(f"{rated}.checked && !{rated[7:]}.disabled")
        page.choose("odds", "queen+knight")
        page.click("[data-test=challenge]")
        page.find(".game")
        page.until_text(".terms.odds", "Desdemona plays without queen and knight.")
        assert "casual" in page.text(".terms")
        empty = (
            "return ['b1', 'd1', 'c1'].map((each) => !document.querySelector(`[data-square=${each}] .piece`))"
        )
        assert page.driver.execute_script(empty) == [True, True, False]
        page.play_one()
        assert layout.troubles(page) == []
        assert page.complaints() == []


def test_in_othello_the_person_begins_with_corners(page: Page, host: Host) -> None:
    page.driver.get(host.url)
    page.find("#nickname").send_keys("anna")
    page.choose("variant", "othello")
    page.choose("color", "black")
    page.click(".have-odds summary")
    page.choose("odds", "3-corners")
    page.until_text(HINT, "You begin with three corners.")
    page.choose("variant", "connect4")  # which has no odds
    page.until_gone(HINT)
    assert page.count("[name=odds]") == 0
    page.choose("variant", "othello")
    page.choose("odds", "3-corners")
    page.click("[data-test=challenge]")
    page.until_text(".terms.odds", "anna begins with three corners.")
    page.play("d3")
    assert page.complaints() == []


def test_odds_that_fit_are_marked(page: Page, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "suggested_odds", lambda *_: {"standard": "rook"})
    page.begin(host.url, "anna", rated=False)
    page.driver.get(host.url)
    page.find(".challenge")
    page.choose("variant", "standard")
    page.until_text(".segments-odds .segment:has([value=rook])", "fits your rating")
    # It is only marked: a game at odds is never rated, so that nobody gets one without asking.
    assert page.driver.execute_script("return document.querySelector('[name=odds]:checked').value") == ""
