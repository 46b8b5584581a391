"""axe-core in a tab: where a page keeps out people who use keys, a screen reader, or need contrast.

axe-core comes with a package of the development tools.  The driver puts it into a page, whatever content
security policy that has.
"""

from functools import cache
from importlib.resources import files
from typing import Any

from selenium.webdriver import Chrome

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
