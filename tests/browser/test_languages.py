"""The arena's page speaks the browser's language, or the one that was chosen on it."""

from collections.abc import Iterator

import pytest

from tests.browser import axe
from tests.browser.host import Host
from tests.browser.page import Page

CHOOSE = """
    const [wanted, offered, done] = arguments;
    const page = document.querySelector('script[src$="app.js"]').src;
    const script = page.replace('app.js', 'common/language.js');
    import(script).then(({ chooseLanguage }) => done(chooseLanguage(wanted, offered)));
"""
OFFERED = ["en", "de", "ja", "pt-BR", "pt-PT", "zh-Hans"]
CHOICES = {
    "de": "de",
    "de-AT, en": "de",
    "fr, ja, en": "ja",
    "en-GB, de": "en",
    "zh-CN": "zh-Hans",
    "zh-TW, en": "zh-Hans",  # nearer than English
    "pt-PT": "pt-PT",
    "pt": "pt-BR",
    "fr": "en",
    "no language, de": "de",
    "": "en",
}
IS_TOO_WIDE = "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
WANTS = "Emulation.setUserAgentOverride"


@pytest.fixture
def german(page: Page, host: Host) -> Iterator[Page]:
    """The lobby on a phone whose owner prefers Austrian German."""
    driver = page.driver
    agent = driver.execute_script("return navigator.userAgent")
    driver.execute_cdp_cmd(WANTS, {"userAgent": agent, "acceptLanguage": "de-AT,de,en"})
    try:
        with page.wide(390):
            driver.get(host.url)
            yield page
    finally:
        driver.execute_cdp_cmd(WANTS, {"userAgent": agent, "acceptLanguage": "en-US,en"})


def test_a_game_without_a_clock_in_german(german: Page) -> None:
    german.find("#nickname").send_keys("anna")
    german.driver.execute_script("document.querySelector('a[href=\"#main\"]').click()")
    assert german.driver.execute_script("return location.hash") == "#main"
    assert german.find("#nickname").get_attribute("value") == "anna", "skipping to the content keeps it"
    german.choose("clock", "none")
    german.choose("color", "black")
    german.choose("variant", "othello")
    german.click("[data-test=challenge]")
    german.until_text(".terms", "Othello \N{MIDDLE DOT} ohne Uhr \N{MIDDLE DOT} ungewertet")
    assert german.play_one()
    assert german.play_one()
    german.until_our_turn()
    german.click("[data-test=resign]")
    german.click("dialog [data-test=confirm]")
    german.until_text(".status-line", "Desdemona hat gewonnen")
    assert german.text(".status-detail") == "Du hast aufgegeben."


def language(page: Page) -> str:
    page.find(".challenge")
    return str(page.driver.execute_script("return document.documentElement.lang"))


def test_the_page_speaks_the_browsers_language_until_another_is_chosen(german: Page) -> None:
    assert language(german) == "de"
    assert german.text("[data-test=challenge]") == "Desdemona herausfordern"
    assert "Etwa 50 % der Partien von Desdemona, durch Los bestimmt," in german.text(".story-more")
    assert not german.driver.execute_script(IS_TOO_WIDE)
    axe.enter(german.driver)
    assert axe.violations(german.driver) == []
    for wanted, found in CHOICES.items():
        chosen = german.driver.execute_async_script(CHOOSE, wanted.split(", "), OFFERED)
        assert chosen == found, wanted

    names = {"ja": "Desdemona に挑戦", "zh-Hans": "挑战 Desdemona", "en": "Challenge Desdemona"}
    for tag, button in names.items():
        german.driver.execute_script(
            "const list = document.querySelector('#language select');"
            "list.value = arguments[0];"
            "list.dispatchEvent(new Event('change'));",
            tag,
        )
        german.until_text("[data-test=challenge]", button)
        assert language(german) == tag
        axe.enter(german.driver)
        assert axe.violations(german.driver) == []
    german.driver.refresh()
    assert language(german) == "en"
