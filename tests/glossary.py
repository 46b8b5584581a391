"""Words that the program no longer uses: the column *not* of docs/glossary.md, and where one is left.

A word in backticks is a name: it must not be an identifier of the code.  Any other word or phrase must not
occur at all, in prose, in texts for people, or as a part of a name (``told_at`` has the parts told and at).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "glossary.md"
FOLDERS = ("bot", "engine", "storage", "lab", "docs", "deploy")
FILES = ("README.md", "config.toml", "pyproject.toml")
ENDINGS = (".py", ".pyi", ".hpp", ".cpp", ".js", ".html", ".css", ".md", ".toml", ".yaml", ".json")
EXEMPT = ("docs/glossary.md", "docs/operator/operate.md", "bot/base/old_names.py")
"""Tables of old names: this page itself, the upgrade notes, and the settings that still work."""

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class Leftover:
    """A word that should be gone."""

    word: str
    where: str
    """File and line."""


def unwanted(page: str) -> list[str]:
    """The words in the last column of each table whose heading is *not*."""
    words: list[str] = []
    is_table = False
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            is_table = False
        elif cells[-1] == "not":
            is_table = True
        elif is_table and set(cells[-1]) - set("-: "):
            words += [word for each in cells[-1].split(",") if (word := each.strip())]
    return words


def leftovers(words: Iterable[str], files: Iterable[tuple[str, str]]) -> Iterator[Leftover]:
    """Where words still occur.

    Args:
        words: As from `unwanted`.
        files: Names and texts.
    """
    words = list(words)
    names = {word.strip("`"): word for word in words if word.startswith("`")}
    phrases = {tuple(parts_of(word)): word for word in words if not word.startswith("`")}
    longest = max(map(len, phrases), default=0)
    for file, text in files:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1)]
        for number, line in lines:
            found = sorted(names.keys() & set(re.findall(r"\w+", line)))
            yield from (Leftover(names[name], f"{file}:{number}") for name in found)
        # A phrase may continue in the next line.
        parts = [(part, number) for number, line in lines for part in parts_of(line)]
        for start, (_, number) in enumerate(parts):
            for length in range(1, longest + 1):
                if word := phrases.get(tuple(part for part, _ in parts[start : start + length])):
                    yield Leftover(word, f"{file}:{number}")


def parts_of(text: str) -> list[str]:
    """The words of a text and the parts of its names, in lower case."""
    return [part.casefold() for part in _PARTS.findall(text)]


def product_files() -> Iterator[tuple[str, str]]:
    """Names and texts of the code, the docs and the settings, but for `EXEMPT`."""
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    for path in sorted((*found, *(ROOT / file for file in FILES))):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in ENDINGS and name not in EXEMPT:
            yield name, path.read_text()
