"""axe-core in a tab: where a page keeps out people who use keys, a screen reader, or need contrast.

axe-core comes with a package of the development tools.  The driver puts it into a page, whatever content
security policy that has.
"""

from functools import cache
from importlib.resources import files
from typing import Any

from selenium.webdriver import Chrome

from tests.browser.page import Page

MORE = ("target-size", "label-content-name-mismatch", "td-has-header", "table-fake-caption", "p-as-heading")
"""Rules that axe-core leaves out by default, and pages keep.

Of the others, `color-contrast-enhanced` (level AAA) asks for more contrast than these colours have, and
`focus-order-semantics` forbids what `scrollable-region-focusable` demands.
"""
OF_SCREENS = ("color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size")
"""Rules on which the width of the screen, and light or dark, have an influence."""
_ALIKE = (
    *("tbody > tr:nth-child(n + 4)", "article:nth-of-type(n + 5)"),
    *(".moves > li:nth-child(n + 6)", ".columns > :nth-child(n + 5)"),
)
"""What is left out: rows, cards and the like that are made like those before them."""
_RUN = """
    const [only, more, alike, done] = arguments;
    const told = ({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`);
    const rules = Object.fromEntries(more.map((id) => [id, { enabled: true }]));
    const options = { resultTypes: ["violations"], preload: false, elementRef: false };
    axe.run(
        { include: [["html"]], exclude: alike.map((each) => [each]) },
        only.length ? { ...options, runOnly: only } : { ...options, rules },
    ).then(({ violations }) => done(violations.flatMap(told)), (error) => done([String(error)]));
"""


@cache
def _script() -> str:
    return (files("selenium_axe_python") / "axe-core" / "axe.min.js").read_text("utf-8")


def enter(driver: Chrome) -> None:
    """Put axe-core into the page that is open."""
    driver.execute_script(_script())


def violations(driver: Chrome, *only: str) -> list[str]:
    """What breaks rules on the page, each with the element and the cure.

    Args:
        driver: After `enter`.
        only: Names of rules; none: those that axe-core has on by default, the best practices too, and `MORE`.
    """
    found: list[Any] = driver.execute_async_script(_RUN, only, MORE, _ALIKE)
    return list(map(str, found))


OUTSIDE = """return [...document.querySelectorAll('main *')].filter((element) => {
    const box = element.getBoundingClientRect();
    const room = (element.parentElement.closest('.card') ?? document.documentElement).getBoundingClientRect();
    return box.width && box.right > room.right + 1
        && !element.closest('.scroll, .boards, .segments, .moves-box, .name, .visually-hidden')
        && !element.closest('details:not([open]), svg, .chart');
}).map((element) => element.outerHTML.slice(0, 120))"""
SIDEWAYS = """return [...document.querySelectorAll('.scroll:has(.stacked)')]
    .filter((box) => box.scrollWidth > box.clientWidth + 1)
    .map((box) => box.getAttribute('aria-labelledby'))"""
"""Tables that have several lines a row on a phone, and scroll all the same, on a phone or a desktop."""
OPEN = "for (const each of document.querySelectorAll('details')) each.open = true"
SETTLE = """const [done] = arguments;
requestAnimationFrame(() => requestAnimationFrame(() => {
    for (const each of document.getAnimations()) {
        if (each.effect.getComputedTiming().endTime !== Infinity) each.finish();
    }
    done();
}))"""
"""Wait until the page shows what it was told to, and end the transition of colours."""
SCREENS = ((1280, "light"), (390, "dark"), (1280, "dark"), (390, "light"))
"""Widths in pixels, and colour schemes; each page is looked at on the first or the last two."""


def prefer(tab: Page, scheme: str) -> None:
    """Light or dark; empty: whatever the browser prefers."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    tab.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    tab.driver.execute_async_script(SETTLE)


class Look:
    """Looks at one page after another, on two screens each."""

    def __init__(self, tab: Page, *, may_style: bool = False) -> None:
        """Look at pages.

        Args:
            tab: Where they open.
            may_style: Whether their scripts set styles; otherwise an element with one is amiss.
        """
        self._tab = tab
        self._may_style = may_style
        self._pages = 0
        self.troubles: list[str] = []

    def at(self, what: str) -> None:
        """Note what is wrong with the page that is open."""
        run = self._tab.driver.execute_script
        enter(self._tab.driver)
        run(OPEN)
        if not self._may_style and run("return document.querySelector('main [style]')"):
            self.troubles.append(f"{what}: a style that no policy allows")
        # All rules on each screen in turn, and on the opposite one those that screens have an influence on.
        number = self._pages % 4
        self._pages += 1
        for (width, scheme), rules in ((SCREENS[number], ()), (SCREENS[number ^ 1], OF_SCREENS)):
            prefer(self._tab, scheme)
            with self._tab.wide(width):
                told = violations(self._tab.driver, *rules)
                if not self._may_style and run("return document.documentElement.scrollWidth") > width:
                    told.append("it scrolls sideways")
                told += [f"it sticks out: {element}" for element in run(OUTSIDE)]
                told += [f"its table scrolls sideways: {name}" for name in run(SIDEWAYS)]
                is_dark = run("return getComputedStyle(document.body).backgroundColor") == "rgb(16, 21, 19)"
                if is_dark is not (scheme == "dark"):
                    told.append("its colours are those of the other scheme")
            self.troubles += [f"{what}, {scheme}, {width} px: {each}" for each in told]
