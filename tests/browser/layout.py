"""Whether parts of a page lie on each other, stick out of their boxes, or make the page scroll sideways."""

from tests.browser.page import Page

WIDTHS = (1280, 390)
"""A desktop's and a phone's, in pixels."""
CUT_TABLES = """
const isCut = ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth;
return [...document.querySelectorAll('.scroll')].filter(isCut).length;
"""
"""How many tables of the dashboard's page that is open show only a part of their columns."""
_TROUBLES = """
const SLACK = 2;
const place = (box) => `${Math.round(box.left)},${Math.round(box.top)}`;
const said = ({ text, box }) => `"${text}" at ${place(box)}`;
const OVERLAYS = '.toasts, dialog, .link-state, .visually-hidden, .skip, .incoming, svg, .squares';
// A text is cut where its element, or one around it, hides what does not fit.
const visible = (element, box) => {
    let { left, right, top, bottom } = box;
    for (let each = element; each && each !== document.body; each = each.parentElement) {
        if (getComputedStyle(each).overflowX === 'visible') continue;
        const room = each.getBoundingClientRect();
        [left, right] = [Math.max(left, room.left), Math.min(right, room.right)];
    }
    return { left, right, top, bottom, width: right - left };
};
const shown = (element) => !element.closest(OVERLAYS)
    && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
const pieces = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
    const { currentNode: node } = walker;
    if (!node.data.trim() || !shown(node.parentElement)) continue;
    if (node.parentElement.getBoundingClientRect().width <= 1) continue;  // for screen readers alone
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const line of range.getClientRects()) {
        const box = visible(node.parentElement, line);
        const text = node.data.trim().slice(0, 40);
        if (box.width > 1) pieces.push({ node, element: node.parentElement, text, box });
    }
}
const troubles = [];
const wide = document.documentElement.scrollWidth;
if (wide > innerWidth) troubles.push(`the page is ${wide} px wide on a screen of ${innerWidth} px`);
const apart = (a, b) => a.right - SLACK <= b.left || b.right - SLACK <= a.left
    || a.bottom - 2 * SLACK <= b.top || b.bottom - 2 * SLACK <= a.top;
pieces.forEach((one, i) => pieces.slice(i + 1).forEach((other) => {
    const isFlow = one.element.contains(other.element) || other.element.contains(one.element);
    if (!isFlow && !apart(one.box, other.box)) troubles.push(`${said(one)} lies on ${said(other)}`);
}));
const BOXES = '.segment-face, .card, .button, .tile, .chip, .bar, td, th, .badge, .strip > *, .field, .going';
for (const piece of pieces) {
    const box = piece.element.closest(BOXES)?.getBoundingClientRect();
    const cut = piece.element.closest('.scroll, .table-scroll, .moves, .chips, .name, .who-name');
    if (box && !cut && (piece.box.right > box.right + SLACK || piece.box.left < box.left - SLACK)) {
        troubles.push(`${said(piece)} sticks out`);
    }
}
const FACES = 'button, a.button, input, select, .segment-face, .card';
const faces = [...document.querySelectorAll(FACES)].filter(shown);
faces.forEach((one, i) => faces.slice(i + 1).forEach((other) => {
    const family = one.contains(other) || other.contains(one) || one.parentElement.contains(other)
        && one.matches('input') || other.matches('input') && other.parentElement.contains(one);
    if (!family && !apart(one.getBoundingClientRect(), other.getBoundingClientRect())) {
        troubles.push(`${one.outerHTML.slice(0, 60)} lies on ${other.outerHTML.slice(0, 60)}`);
    }
}));
return [...new Set(troubles)];
"""


def troubles(tab: Page) -> list[str]:
    """What is wrong with the layout of the page that is open, at its present width."""
    found: list[str] = tab.driver.execute_script(_TROUBLES)
    return found
