"""Words that the glossary calls unwanted are gone, and the checker would see them; its places exist."""

import re

from tests.glossary import PAGE, ROOT, Leftover, leftovers, product_files, unwanted

TABLE = """
| term | meaning | where | not |
|---|---|---|---|
| spectator | watches | here | `Watcher`, untaken |
| game | two sides | there | |

| a | b |
|---|---|
| 1 | 2 |
"""


def test_no_unwanted_word_is_left() -> None:
    words = unwanted(PAGE.read_text())
    assert len(words) >= 20
    assert list(leftovers(words, product_files())) == []


def test_the_checker_reads_the_column() -> None:
    assert unwanted(TABLE) == ["`Watcher`", "untaken"]


def test_the_checker_sees_planted_words() -> None:
    words = unwanted(TABLE)
    code = "class Watcher:\n    watchers = 3\ndef list_untaken(): ...\n"
    assert list(leftovers(words, [("a.py", code)])) == [
        Leftover("`Watcher`", "a.py:1"),
        Leftover("untaken", "a.py:3"),
    ]
    assert list(leftovers(["by lot"], [("b.md", "Drawn by\nlot, by Lot."), ("c.js", "byLot()")])) == [
        Leftover("by lot", "b.md:1"),
        Leftover("by lot", "b.md:2"),
        Leftover("by lot", "c.js:1"),
    ]
    assert list(leftovers(words, [("d.py", "watcher = taken")])) == []


def test_each_place_has_what_the_glossary_says_is_there() -> None:
    """``NAME`` in ``FILE``, in the column *where*."""
    places = re.findall(r"`([\w.]+)`(?=(?:, `[\w.]+`)* in `([\w./]+)`)", PAGE.read_text())
    assert len(places) >= 50
    assert [
        f"{name} in {file}"
        for name, file in places
        if not (ROOT / file).is_file()
        or name.rpartition(".")[2] not in re.findall(r"\w+", (ROOT / file).read_text())
    ] == []
