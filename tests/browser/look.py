"""Looks at pages as axe-core sees them, on two screens each, light and dark."""

from tests.browser import axe
from tests.browser.page import Page

OUTSIDE = """return [...document.querySelectorAll('main *')].filter((element) => {
    const box = element.getBoundingClientRect();
    const room = (element.parentElement.closest('.card') ?? document.documentElement).getBoundingClientRect();
    return box.width && box.right > room.right + 1
        && !element.closest('.scroll, .boards, .segments, .moves-box, .name, .visually-hidden')
        && !element.closest('details:not([open]), svg, .chart');
}).map((element) => element.outerHTML.slice(0, 120))"""
OPEN = "for (const each of document.querySelectorAll('details:not(.chip)')) each.open = true"
SETTLE = """for (const each of document.getAnimations()) {
    if (each.effect.getComputedTiming().endTime !== Infinity) each.finish();
}"""
"""End the transition of colours."""
SCREENS = ((1280, "light"), (390, "dark"), (1280, "dark"), (390, "light"))
"""Widths in pixels, and colour schemes; each page is looked at on the first or the last two."""


def prefer(tab: Page, scheme: str) -> None:
    """Light or dark; empty: whatever the browser prefers."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    tab.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    tab.driver.execute_script(SETTLE)


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

    def at(self, what: str, *, is_light_only: bool = False) -> None:
        """Note what is wrong with the page that is open."""
        run = self._tab.driver.execute_script
        axe.enter(self._tab.driver)
        run(OPEN)
        if not self._may_style and run("return document.querySelector('main [style]')"):
            self.troubles.append(f"{what}: a style that no policy allows")
        # All rules on each screen in turn, and on the opposite one those that screens have an influence on.
        number = self._pages % 4
        self._pages += 1
        for (width, scheme), rules in ((SCREENS[number], ()), (SCREENS[number ^ 1], axe.OF_SCREENS)):
            prefer(self._tab, scheme)
            with self._tab.wide(width):
                told = axe.violations(self._tab.driver, *rules)
                if not self._may_style and run("return document.documentElement.scrollWidth") > width:
                    told.append("it scrolls sideways")
                told += [f"it sticks out: {element}" for element in run(OUTSIDE)]
                is_dark = run("return getComputedStyle(document.body).backgroundColor") == "rgb(16, 21, 19)"
                if is_dark is not (scheme == "dark" and not is_light_only):
                    told.append("its colours are those of the other scheme")
            self.troubles += [f"{what}, {scheme}, {width} px: {each}" for each in told]
