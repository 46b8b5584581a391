"""Each documented setting that changes a page: nothing overlaps, sticks out or makes it scroll sideways."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.base.config import ArenaConfig, DashboardConfig
from tests.browser import layout
from tests.browser.arena.test_people import Friend
from tests.browser.host import Host
from tests.browser.page import Page

Act = Callable[[Page, Host], None]
LANGUAGES = ("en", "de", "ja", "zh-Hans")
LONGEST_NAME = "A_name-of-20-letters"
LEVELS = tuple(f"Level-{number}" for number in range(1, 7))
RATINGS = range(900, 2000, 200)
LIKES = tuple(f"Like-{rating}" for rating in RATINGS)
PROGRAMS = tuple(f"{LONGEST_NAME[:-2]}{number:02}" for number in range(9))


def challenge(page: Page, name: str | None = LONGEST_NAME) -> None:
    """Take a name, if one is wanted, and challenge the bot."""
    if name is not None:
        page.find("#nickname").send_keys(name)
    page.click("[data-test=challenge]")


def refused(page: Page, _host: Host) -> None:
    challenge(page)
    page.find(".form-status.bad")


def twice(page: Page, host: Host) -> None:
    challenge(page)
    page.find(".status-line")
    page.driver.get(host.url)
    page.find(".going-game")
    challenge(page, None)
    page.find(".form-status.bad")


def another_account(page: Page, host: Host) -> None:
    Friend(host.url, "otto")
    refused(page, host)


def unanswered(page: Page, host: Host) -> None:
    host.opponent.never_answers = True
    refused(page, host)


def without_clock(page: Page, _host: Host) -> None:
    page.choose("clock", "none")


def short_rated_game(page: Page, _host: Host) -> None:
    challenge(page)
    page.find(".game")
    page.play_one()
    if not page.count("[data-test=resign]"):
        page.until_moves(2)
    page.resign()
    page.until_true("document.querySelector('.status-detail').textContent.length > 30")


def many_tabs(page: Page, _host: Host) -> None:
    challenge(page)
    page.find(".game")


def strangers_page(page: Page, host: Host) -> None:
    friend = Friend(host.url, "otto")
    challenge_id = friend.call("POST", "/api/challenge/Desdemona", {"variant": "othello"})["id"]
    page.until_true(f"fetch('/game/{challenge_id}')")
    page.driver.get(f"{host.url}/game/{challenge_id}")
    page.find(".no-game, .notice, .challenge")


def a_look(_page: Page, _host: Host) -> None:
    """Just the lobby."""


def choose_a_person(page: Page, _host: Host) -> None:
    page.until_true(f"document.querySelectorAll('[name=partner]').length === {len(LIKES)}")
    page.choose("bot", "*like")


CASES: dict[str, tuple[dict[str, Any], tuple[str, ...], Act]] = {
    "public_games": ({"public_games": False}, (), strangers_page),
    "approve_accounts": ({"approve_accounts": True}, (), refused),
    "open_bots": ({"open_bots": True}, PROGRAMS, a_look),
    "challenge_expiry_s": ({"challenge_expiry_s": 0.2}, (), unanswered),
    "first_move_s": ({"first_move_s": 30.0}, (), without_clock),
    "accounts_per_day": ({"accounts_per_day": 1}, (), another_account),
    "games_per_account": ({"games_per_account": 1}, (), twice),
    "games_per_address": ({"games_per_address": 1}, (), twice),
    "games_per_opponent": ({"games_per_opponent": 1}, (), twice),
    "streams_per_account": ({"streams_per_account": 1}, (), many_tabs),
    "streams_per_address": ({"streams_per_address": 2}, (), many_tabs),
    "rated_plies": ({"rated_plies": 200}, (), short_rated_game),
    "levels": ({"levels": list(range(1, 7))}, LEVELS, a_look),
    "like": ({"like": list(RATINGS)}, LIKES, choose_a_person),
}
"""By setting: the arena's settings, the programs that are there, and what a person does."""
SHOWS_NOTHING = {
    *("enabled", "host", "port", "public_url", "trusted_proxies", "keep_alive_s", "bots_per_address"),
    # Texts and states that other cases have already shown.
    *("gone_s", "work_per_address", "work_per_s", "rating_window_h", "full_games", "outage_grace_s"),
}


def test_every_setting_is_looked_at() -> None:
    assert set(ArenaConfig.model_fields) == CASES.keys() | SHOWS_NOTHING
    # The login page, which a token brings, is looked at in test_dashboard_access.
    hidden = {"enabled", "host", "port", "public_url", "token_file", "token", "ask", "ask_url"}
    assert set(DashboardConfig.model_fields) == hidden


@contextmanager
def lobby(tab: Page, host: Host, language: str) -> Iterator[None]:
    tab.forget_everything(host.url)
    tab.driver.execute_script("localStorage.setItem('desdemona.language', arguments[0])", language)
    tab.driver.get(host.url)
    tab.find("[data-test=challenge]")
    try:
        yield
    finally:
        tab.driver.get("about:blank")  # before the arena closes


def troubles(tab: Page) -> dict[int, list[str]]:
    found = {}
    for width in layout.WIDTHS:
        with tab.wide(width):
            found[width] = layout.troubles(tab)
    return {width: each for width, each in found.items() if each}


@pytest.mark.parametrize("setting", CASES)
def test_the_arenas_page_fits(tab: Page, tmp_path: Path, setting: str) -> None:
    settings, programs, act = CASES[setting]
    with Host(tmp_path, *programs, **settings) as host, lobby(tab, host, "de"):
        act(tab, host)
        assert troubles(tab) == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_many_opponents_fit_in_every_language(tab: Page, tmp_path: Path, language: str) -> None:
    with Host(tmp_path, *LEVELS, *PROGRAMS[:2]) as host, lobby(tab, host, language):
        tab.until_true("document.querySelectorAll('.bot').length === 9")
        assert troubles(tab) == {}
        for variant in ("standard", "xiangqi", "connect4"):
            tab.choose("variant", variant)
            assert troubles(tab) == {}, variant


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_choice_of_a_rating_fits_in_every_language(tab: Page, tmp_path: Path, language: str) -> None:
    with Host(tmp_path, *LIKES, like=list(RATINGS)) as host, lobby(tab, host, language):
        choose_a_person(tab, host)
        assert troubles(tab) == {}


def test_a_model_of_people_is_offered_as_what_it_is(tab: Page, tmp_path: Path) -> None:
    with Host(tmp_path, *LIKES, like=list(RATINGS)) as host, lobby(tab, host, "en"):
        button, partner = "document.querySelector('[data-test=challenge]').textContent", ".partner"
        is_hidden = f"document.querySelector('{partner}').hidden"
        tab.until_true(is_hidden)
        choose_a_person(tab, host)
        assert "A program, not a person: a model of people" in tab.find(partner).text
        tab.choose("partner", "like-1700")
        tab.until_true(f"{button} === 'Challenge Like-1700'")
        tab.choose("variant", "standard")
        tab.until_true(f"{button} === 'Challenge Like-1700'")
        tab.choose("variant", "connect4")  # there is no model of people
        tab.until_true("document.querySelectorAll('.bot').length === 1")
        tab.until_true(is_hidden)
        tab.choose("variant", "othello")
        choose_a_person(tab, host)
        tab.choose("partner", "like-900")
        challenge(tab)
        tab.find(".game")
        tab.until_true("document.body.textContent.includes('Like-900')")


def test_overlaps_and_wide_pages_are_noticed(tab: Page, tmp_path: Path) -> None:
    with Host(tmp_path) as host, lobby(tab, host, "en"):
        style = tab.driver.execute_script(
            "const sheet = new CSSStyleSheet();"
            "sheet.replaceSync('.challenge { width: 1400px } .lead { margin-top: -60px }');"
            "document.adoptedStyleSheets = [sheet];"
        )
        assert style is None
        height = "document.querySelector('.story h1').getBoundingClientRect().bottom"
        tab.until_true(f"document.querySelector('.lead').getBoundingClientRect().top < {height}")
        found = layout.troubles(tab)
        assert any("px wide on a screen of" in each for each in found)
        assert any("lies on" in each for each in found)
