"""The opening books and tablebases, keyed by the name of their setting."""

from collections.abc import Callable, Mapping
from pathlib import Path

from engine.lookup.othello_book import Book
from engine.lookup.polyglot import PolyglotBook
from engine.lookup.source import RootSource
from engine.lookup.syzygy import SyzygyTables

ROOT_SOURCES: Mapping[str, tuple[str, Callable[[Path], RootSource]]] = {
    "book": ("othello", Book.open),
    "syzygy": ("chess", SyzygyTables.open),
    "polyglot": ("chess", PolyglotBook.open),
}
"""The game of each book or tablebase, and the function that opens it (it may raise `BadSource`). If several
contain a position, the first one is used, and tablebases precede books."""
