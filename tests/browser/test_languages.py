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


COUNTED = """
    const [tag, done] = arguments;
    localStorage.setItem('desdemona.language', tag);
    const page = document.querySelector('script[src$="app.js"]').src;
    import(`${page.replace('app.js', 'common/language.js')}?${tag}`).then(({ scoreText, moveNumber }) => {
        const scores = ["#2", "#-2", "won in 4", "won by 12", "-1.50"].map(scoreText);
        done([...scores, moveNumber({ number: 10, count: 20 })]);
    });
"""
COUNTS = {
    "en": ["mate in 2", "mated in 2", "won in 4", "won by 12", "\N{MINUS SIGN}1.50", 10],
    "de": ["matt in 2", "wird matt in 2", "gewonnen in 4", "gewonnen mit 12", "\N{MINUS SIGN}1,50", 10],
    "ja": ["3 手詰", "3 手で詰まされる", "7 手で勝ち", "12 石差で勝ち", "\N{MINUS SIGN}1.50", 20],
    "zh-Hans": ["2 步杀", "2 步被杀", "4 步胜", "胜 12", "\N{MINUS SIGN}1.50", 20],
}


@pytest.mark.parametrize("tag", COUNTS)
def test_moves_and_mates_are_counted_as_readers_count(page: Page, host: Host, tag: str) -> None:
    page.driver.get(host.url)
    page.find(".challenge")
    assert page.driver.execute_async_script(COUNTED, tag) == COUNTS[tag]


@pytest.mark.parametrize(("variant", "first"), [("standard", 1), ("othello", 2)])
def test_a_report_numbers_the_moves(page: Page, host: Host, variant: str, first: int) -> None:
    """The bot's first move is move 1 of a chess game, and the second move of a game of Othello."""
    host.opponent.sets_traps = True
    page.begin(host.url, "anna", color="white" if variant == "standard" else "black", variant=variant)
    for _ in range(2):
        page.play_one()
    page.until_our_turn()
    numbers = page.driver.execute_script(
        "return [...document.querySelectorAll('.moves .move-number')].map((each) => each.textContent)"
    )
    assert numbers == (["1", "2"] if variant == "standard" else ["1", "3"])
    page.resign()
    page.find(".moment-number")
    page.click("[data-index='0']")
    page.until_text(".moment-number", f"Move {first} \N{MIDDLE DOT} Desdemona played")
    page.driver.execute_script("localStorage.setItem('desdemona.language', 'ja')")
    page.driver.refresh()
    page.find(".moment-number")
    page.click("[data-index='0']")
    page.until_text(".moment-number", "2 手目 \N{MIDDLE DOT} Desdemona の手は")
