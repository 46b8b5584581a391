"""A person reads what the bot has learned about them, and has it forgotten."""

from tests.browser import axe
from tests.browser.host import Host
from tests.browser.page import Page


def test_a_person_reads_what_was_learned_and_has_it_forgotten(page: Page, host: Host) -> None:
    page.begin(host.url, "rita")
    host.learn("Rita")
    page.driver.get(f"{host.url}/history")
    page.until_text("[data-test=learned]", "3 times you made the same error in the same position: d6")
    assert page.find("[data-test=learned] li a").get_attribute("href") == f"{host.url}/game/game3#1"
    assert (page.find("[data-test=learned-download]").get_attribute("href") or "").startswith("blob:")
    axe.enter(page.driver)
    assert axe.violations(page.driver) == []
    page.click("[data-test=forget]")
    page.until_text("[data-test=learned]", "This cannot be undone.")
    page.click("[data-test=forget-yes]")
    page.until_text("[data-test=forgotten]", "nothing more is learned about you")
    page.driver.refresh()
    page.until_text("[data-test=forgotten]", "nothing more is learned about you")
