"""The trap report of games whose pieces move from square to square."""

import re
from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome

from tests.browser.host import Host
from tests.browser.page import Page
from tests.browser.test_report import answered, report_of, show_report, stick_out, tempt

MOVES = 8
"""Of the person, who then resigns: a whole game would be longer by hundreds."""


@pytest.fixture(scope="module", params=["standard", "xiangqi"])
def game(
    request: pytest.FixtureRequest, driver: Chrome, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Page, str]]:
    """A tab and the address of a game against an opponent that set traps, played once for all tests here."""
    with Host(tmp_path_factory.mktemp("report")) as host:
        host.opponent.sets_traps = True
        page = Page(driver)
        page.forget_everything(host.url)
        page.begin(host.url, "anna", rated=False, variant=request.param)
        for _ in range(MOVES):
            assert page.play_one()
        page.resign()
        yield page, f"{host.url}/game/{page.game_id}"
        driver.get("about:blank")


@pytest.fixture
def finished(game: tuple[Page, str]) -> Iterator[Page]:
    page, address = game
    page.driver.get(address)
    page.find(".moment")
    yield page
    assert not page.complaints()


def test_moves_are_named_as_people_write_them(finished: Page) -> None:
    report = report_of(finished)
    assert finished.moves == report["names"]
    assert report["names"] != report["moves"]
    shown = finished.driver.execute_script(
        "const text = (selector) => document.querySelector(selector).innerText;"
        "return [...document.querySelectorAll('.chip').keys()].map((i) => {"
        "  document.querySelector(`.chip[data-index='${i}']`).click();"
        "  const cells = [...document.querySelectorAll('.cell-move')].map((cell) => cell.textContent);"
        "  return [text('.chip[aria-current] .chip-move'), text('.moment-number'), cells];"
        "})"
    )
    for (chip, moment, cells), decision in zip(shown, report["decisions"], strict=True):
        assert chip == decision["name"]
        assert f"Desdemona played {decision['name']}" in moment
        assert set(cells) == {each["name"] for each in [*decision["replies"], *decision["candidates"]]}


WRITTEN = {
    "en": (r"[A-Z0-9][1-9+-][=+-][1-9]", ""),
    "zh-Hans": (r"[兵卒仕士相象马炮车帅将前中后].[进退平][一二三四五六七八九1-9]", "马车进后帅将"),
    "ja": (r"[兵卒仕士相象馬炮車帥将前中後].[進退平][一二三四五六七八九1-9]", "馬車進後帥将"),
}
"""Per language a xiangqi move, and how it writes the signs of `chinese_name` that differ."""


@pytest.mark.parametrize("tag", WRITTEN)
def test_moves_of_xiangqi_are_named_as_the_readers_of_a_language_do(finished: Page, tag: str) -> None:
    report = report_of(finished)
    expected = report["names"]
    look, signs = WRITTEN[tag]
    if report["game"] == "xiangqi" and tag != "en":
        expected = [name.translate(str.maketrans("馬車進後帥將", signs)) for name in report["names_chinese"]]
    finished.driver.execute_script("localStorage.setItem('desdemona.language', arguments[0])", tag)
    try:
        finished.driver.refresh()
        finished.find(".moment")
        assert finished.moves == expected
        if report["game"] == "xiangqi":
            assert all(re.fullmatch(look, name) for name in expected)
            finished.click(f".chip[data-index='{answered(report)[0]}']")
            text = finished.text(".moment")
            assert re.search(look, text)
            assert (re.search(WRITTEN["en"][0], text) is not None) == (tag == "en")
    finally:
        finished.driver.execute_script("localStorage.removeItem('desdemona.language')")


def test_replies_are_arrows_on_the_board_as_the_person_sees_it(finished: Page) -> None:
    report = report_of(finished)
    index = answered(report)[0]
    decision = report["decisions"][index]
    bait = tempt(decision)
    show_report(finished, report, is_turned=True)
    finished.click(f".chip[data-index='{index}']")
    shown = finished.driver.execute_script(
        "return [...document.querySelectorAll('.moment .square')]"
        ".map((square) => square.querySelector('.piece')?.dataset.piece ?? '.').join('')"
    )
    assert shown == "".join(decision["rows_after"])[::-1]  # the person plays the second side
    arrows = finished.count(".moment .arrow")
    assert arrows == 2
    assert finished.count(".moment .arrow-trap") == 1
    assert f"plays {bait['name']} here" in finished.text(".moment-words")
    finished.click("[data-phase=before]")
    assert finished.count(".moment .arrow-chosen") == 1
    assert finished.count(".moment .arrow") == 1


def test_a_mate_is_said_in_words(finished: Page) -> None:
    report = report_of(finished)
    decision = report["decisions"][answered(report)[0]]
    tempt(decision)
    for reply in decision["replies"]:
        reply["their_text"] = "#-2"
    report["decisions"] = [decision]
    show_report(finished, report)
    assert "mated in 2" in finished.text(".moment-tables")
    assert "#" not in finished.text(".moment-words")


def test_nothing_sticks_out(finished: Page) -> None:
    assert stick_out(finished) == []
    report = report_of(finished)
    decision = report["decisions"][answered(report)[0]]
    tempt(decision, taken=True)
    for reply in decision["replies"]:
        reply["score_texts"] = ["-12.34" for _ in reply["score_texts"]]
        reply["their_text"] = "-12.34"
    for each in [*decision["replies"], *decision["candidates"]]:
        each["name"] = "Ng1xf3+"
    for each in decision["candidates"]:
        each |= {"raw_text": "+12.34", "adjusted_text": "+12.34", "trap_name": "Ng1xf3+"}
    report["decisions"] = [decision]
    show_report(finished, report)
    assert stick_out(finished) == []
