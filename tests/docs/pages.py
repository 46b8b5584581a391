"""The pages of the documentation as text: their links, headings, commands and marked parts."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]\[]*(?:!\[[^\]]*\]\([^)]*\)[^\]\[]*)?\]\(([^)\s]+)\)")
_COMMAND = re.compile(r"^ {4,}(?:\$ )?(?:\S+=\S+ )*(?:nice )?(?:\.venv/bin/)?desdemona ([a-z-].*)$")


def pages() -> tuple[Path, ...]:
    """All pages, the README too."""
    return (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))


def links(page: Path) -> Iterator[str]:
    """Targets of a page's links and images, outside of code."""
    text = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page.read_text()))
    yield from _LINK.findall(text)
    yield from re.findall(r'<img [^>]*src="([^"]+)"', text)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and Python-Markdown make them alike."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.*)$", _FENCE.sub("", page.read_text()), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


def commands(page: Path) -> Iterator[str]:
    """What follows `desdemona` in a page's command lines and inline code; continued lines are joined."""
    text = re.sub(r"\\\n\s*", "", page.read_text())
    yield from re.findall(r"`(?:\.venv/bin/)?desdemona ([a-z-][^`\n]*)`", text)
    for line in text.splitlines():
        if (found := _COMMAND.match(line)) is not None:
            yield found[1]


def mentioned_files(page: Path) -> Iterator[str]:
    """Paths and modules of this project that a page names, as paths."""
    text = page.read_text()
    pattern = r"`((?:engine|storage|bot|lab|bench|tests|deploy|migrations|docs)/[\w./*-]*)`"
    yield from re.findall(pattern, _FENCE.sub("", text))
    for module in re.findall(r"python3? -m ((?:bot|lab|bench|storage|tests)(?:\.\w+)+)", text):
        yield module.replace(".", "/")


def settings(page: Path) -> Iterator[str]:
    """Blocks of settings: indented paragraphs from a line `[section]` on, up to other text."""
    for block in re.findall(r"(?:^(?: {4,}.*)?\n)+", _FENCE.sub("", page.read_text()) + "\n", re.MULTILINE):
        lines = [line.strip() for line in block.splitlines()]
        if (start := next((n for n, line in enumerate(lines) if re.match(r"\[+[a-z]", line)), None)) is None:
            continue
        kept = []
        for line in lines[start:]:
            if line and not re.match(r"#|\[|[a-z_]+ = ", line):
                break
            kept.append(line)
        yield "\n".join(kept)


def with_part(page: Path, name: str, part: str) -> str:
    """A page's text with the part between two marks replaced.

    Raises:
        ValueError: The page lacks the marks.
    """
    begin, end = f"<!-- {name}: written by make map -->\n", f"<!-- end of {name} -->\n"
    before, found_begin, rest = page.read_text().partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found_begin and found_end):
        raise ValueError(f"{page} lacks the marks of its {name}")
    return f"{before}{begin}\n{part}\n{end}{after}"
