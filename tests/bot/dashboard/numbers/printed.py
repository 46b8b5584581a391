"""Reads a page as people do: line by line, a row of a table as one line; drawings apart.

Drawn boards are left out: what their texts name are squares, not numbers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "link", "input", "br", "img", "hr"}
_INLINE = {
    *("a", "b", "strong", "em", "i", "span", "bdi", "code", "output", "svg", "small", "td", "th"),
    *("text", "g", "path", "rect", "circle", "use", "defs", "symbol", "polygon", "line"),
}
"""Elements that begin no line; every other one does."""
_SKIPPED_CLASSES = {"filters", "top", "strip", "challenge-form"}
_CELLS = {"td", "th"}


@dataclass
class Node:
    """An element."""

    name: str
    attributes: dict[str, str]
    children: list["Node | str"] = field(default_factory=list)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    def all(self, name: str) -> Iterator["Node"]:
        """The element and those in it with this name."""
        if self.name == name:
            yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.all(name)

    @property
    def text(self) -> str:
        """All text in it."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Node("root", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(node)
        if tag not in _VOID:
            self._open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Node(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self._open[-1].name == tag, (tag, self._open[-1].name)
            self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)


def parsed(html: str) -> Node:
    """The page's elements."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.root


def lines(html: str) -> list[str]:
    """The lines of the page's main part; a cell ends with `` | ``, and small print begins with `` / ``."""
    (main,) = parsed(html).all("main")
    found = [""]
    _collect(main, found)
    return [text for line in found if (text := _tidy(line))]


def numbers(html: str) -> list[str]:
    """The lines that have a number."""
    return [line for line in lines(html) if re.search(r"\d", line)]


def _tidy(line: str) -> str:
    return re.sub(r"(\s*\|\s*)+$", "", " ".join(line.split())).strip()


def _collect(node: Node, found: list[str]) -> None:
    if node.name in ("script", "style") or node.classes & _SKIPPED_CLASSES:
        return
    if node.name == "svg":
        _collect_drawing(node, found)
        return
    begins = node.name not in _INLINE
    if begins:
        found.append("")
    if node.name == "small":
        found[-1] += " / "
    for child in node.children:
        if isinstance(child, str):
            found[-1] += child
        else:
            _collect(child, found)
    if node.name in _CELLS:
        found[-1] += " | "
    if begins:
        found.append("")


def _collect_drawing(node: Node, found: list[str]) -> None:
    """Its title and its description; of a chart's two drawings those of the wide one."""
    if "drawing-narrow" in node.classes or "board" in node.classes:
        return
    inside = found[-1]
    for child in node.children:
        if isinstance(child, Node) and child.name in ("title", "desc"):
            found += [child.text]
    found.append(inside if len(found) > 1 and inside.strip() else "")
    if inside.strip():
        del found[found.index(inside)]


def reason_text(end_reason: str | None) -> str:
    """How a game ended, in words."""
    known = {
        "normal": "by the rules",
        "resignation": "by resignation",
        "time": "on time",
        "left": "a player left",
        "agreement": "by agreement",
        "aborted": "no result",
    }
    return known.get(end_reason or "", end_reason or "")
