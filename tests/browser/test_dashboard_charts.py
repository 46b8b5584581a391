"""The dashboard's charts in a browser: texts can be read at any width, keys move the crosshair."""

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.bot.charts.gallery import CONTENT_SECURITY_POLICY, write
from tests.browser.page import Page

MIN_TEXT_PX = 11
# Elements of a drawing that is not shown have no width.
TEXT_SIZES = """return [...document.querySelectorAll('.chart text')]
    .filter((text) => text.getBoundingClientRect().width)
    .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""
SHOWN = """return [...document.querySelectorAll('.chart-plot')]
    .map((plot) => [...plot.querySelectorAll('[class^=drawing]')].filter((svg) => svg.clientWidth).length)"""
OUTSIDE = """return [...document.querySelectorAll('.chart text')].filter((text) => {
    const box = text.getBoundingClientRect(), card = text.closest('section').getBoundingClientRect();
    return box.width && (box.left < card.left || box.right > card.right);
}).map((text) => text.textContent)"""
READOUT = "document.querySelector('.chart-live .chart-readout')"


class _Handler(SimpleHTTPRequestHandler):
    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


@pytest.fixture
def gallery(tmp_path: Path) -> Iterator[str]:
    """The address of the page with every chart and board."""
    write(tmp_path)
    handler = functools.partial(_Handler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, name="gallery")
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_charts_can_be_read_at_any_width(tab: Page, gallery: str, width: int) -> None:
    with tab.wide(width):
        tab.driver.get(gallery)
        run = tab.driver.execute_script
        assert run("return document.documentElement.scrollWidth") <= width
        assert set(run(SHOWN)) == {1}
        assert min(run(TEXT_SIZES)) >= MIN_TEXT_PX
        assert run(OUTSIDE) == []


def test_keys_move_the_crosshair(tab: Page, gallery: str) -> None:
    tab.driver.get(gallery)
    run = tab.driver.execute_script
    run("document.querySelector('.chart-live .chart-plot').focus()")

    def press(*keys: str) -> list[str]:
        ActionChains(tab.driver).send_keys(*keys).perform()
        return str(run(f"return {READOUT}.textContent")).split("\n")

    rows = run(
        "return [...document.querySelectorAll('.chart-live')[0].querySelectorAll('tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    heads = ("games played", "points more per 100 games", "95 %, valid at any time")

    def told(index: int) -> list[str]:
        return [f"{head}: {cell}" for head, cell in zip(heads, rows[index], strict=True)]

    assert press(Keys.ARROW_RIGHT) == told(0)
    assert press(Keys.ARROW_LEFT) == told(0)
    assert press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT) == told(2)
    assert press(Keys.END) == told(-1)
    assert press(Keys.ARROW_RIGHT) == told(-1)
    assert press(Keys.HOME) == told(0)
    cross = "document.querySelector('.chart-live .drawing-wide .cross')"
    left = run(f"return {cross}.getBoundingClientRect().left")
    assert press(Keys.END)
    assert run(f"return {cross}.getBoundingClientRect().left") > left + 500
    assert press(Keys.ESCAPE) == [""]
    assert run(f"return getComputedStyle({cross}).display") == "none"


def test_the_pointer_shows_the_nearest_values(tab: Page, gallery: str) -> None:
    tab.driver.get(gallery)
    run = tab.driver.execute_script
    plot = tab.find(".chart-live .chart-plot")
    run("arguments[0].scrollIntoView({block: 'center'})", plot)
    svg = tab.find(".chart-live .drawing-wide")
    left, right, low, high = map(float, str(svg.get_attribute("data-span")).split())
    for share in (0.25, 0.9):
        x = left + share * (right - left)
        offset = round((x / 1090 - 0.5) * svg.size["width"])
        ActionChains(tab.driver).move_to_element_with_offset(svg, offset, 0).perform()
        told = str(run(f"return {READOUT}.textContent"))
        games = float(told.partition("\n")[0].removeprefix("games played: ").replace(",", ""))
        assert abs(games - (low + share * (high - low))) < 15
        # Beside the crosshair, not on it.
        box = run(f"const b = {READOUT}.getBoundingClientRect(); return [b.left, b.right]")
        cross = run("return document.querySelector('.cross').getBoundingClientRect().left")
        assert not box[0] <= cross <= box[1]
    ActionChains(tab.driver).move_by_offset(0, 400).perform()
    assert run(f"return {READOUT}.textContent") == ""


def test_the_table_opens_and_has_the_numbers(tab: Page, gallery: str) -> None:
    tab.driver.get(gallery)
    tab.find(".size-half .chart-table summary").click()
    assert tab.find(".size-half .chart-table td").text == "1.2 s"


def test_without_a_font_for_chinese_pieces_have_letters(tab: Page, gallery: str) -> None:
    tab.driver.get(gallery)
    run = tab.driver.execute_script
    shown = "return getComputedStyle(document.querySelector(arguments[0])).display !== 'none'"
    run("document.documentElement.classList.remove('no-han')")
    assert [run(shown, name) for name in (".han", ".latin-only")] == [True, False]
    run("document.documentElement.classList.add('no-han')")
    assert [run(shown, name) for name in (".han", ".latin-only")] == [False, True]
