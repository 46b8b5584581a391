"""Defines a page of the dashboard: a name, a query, and a view for HTML, JSON and CSV."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.base.errors import DesdemonaError
from bot.parts.values import Part, Rows
from storage.database import Database
from storage.evidence.queries.filter_language import OF_GAMES, OLD_FILTERS, filter_texts, parse_filters
from storage.filters import Filters

MAX_DIGITS = 12
"""Number of digits of a number in an address."""
OLD_CHOICES = {"fallen": "baits-taken", "fell": "taken", "surprise": "expected_loss"}
"""Words of 0.2 in addresses, which work until 0.4.0, with today's."""


class BadQuery(DesdemonaError):
    """Unknown or invalid query parameter; the message names it and the allowed values."""


class NoSuchThing(DesdemonaError):
    """The requested object does not exist."""


class View(Protocol):
    """The contents of a page for all output formats."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The view for people."""
        ...

    @property
    def title(self) -> str:
        """Title of the browser's tab; empty: the page's title."""
        ...

    def to_json(self) -> Mapping[str, Any]:
        """Plain JSON values: every number that the page shows."""
        ...

    def tables(self) -> Mapping[str, Rows]:
        """The view's rows by name, for CSV."""
        ...


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed request."""

    filters: Filters = field(default_factory=Filters)
    own: Mapping[str, str] = field(default_factory=dict)
    """The page's own parameters, including parameters in its path."""

    def texts(self) -> dict[str, str]:
        """All parameters as texts, the filters first."""
        return {**filter_texts(self.filters), **self.own}

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number among the page's own parameters.

        Raises:
            BadQuery: The value is not a number, or out of range.
        """
        text = self.own.get(name, "")
        if not text:
            return default
        is_number = text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS
        if not is_number or not least <= int(text) <= most:
            raise BadQuery(f"{name}: {text!a:.40} is no whole number from {least} to {most}")
        return int(text)

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """A parameter of the page that takes one of some words; the default is the first word.

        Args:
            name: Name of the parameter.
            choices: The allowed words.

        Raises:
            BadQuery: The value is another word.
        """
        text = self.own.get(name, "") or choices[0]
        text = OLD_CHOICES.get(text, text)
        if text not in choices:
            raise BadQuery(f"{name}: {text!a:.40} is not known; known: {', '.join(choices)}")
        return text


@dataclass(frozen=True, slots=True)
class Download:
    """A file that a page offers."""

    text: str
    media_type: str
    name: str
    """File name; consists of ASCII letters, digits, dots and hyphens."""


@dataclass(frozen=True)
class Page:
    """A page."""

    name: str
    """Name of the page in the URLs of its JSON and CSV."""
    path: str
    """The page's route, with variable parts in braces."""
    title: str
    load: Callable[[Database, Query], Awaitable[View]]
    """Loads the view; raises `BadQuery`, `NoSuchThing`, and the errors of the storage layer."""
    parameters: frozenset[str] = frozenset()
    """The page's own parameters in addition to the filters."""
    filters: tuple[str, ...] = OF_GAMES
    """Names of the filters that the page supports; empty: none."""
    fresh_s: float = 10.0
    """Seconds for which a view is served again without querying the database."""
    refetch_s: float | None = None
    """Shortest interval, in seconds, at which an open page reloads itself; None: `fresh_s`."""
    is_in_menu: bool = True
    live: Callable[[], Awaitable[Any]] | None = None
    """Returns the state of the running program for each display of the page, as a picklable value; None: not
    needed."""
    live_field: str = "status"
    """The field of the loaded view (a dataclass) that the result of `live` replaces."""
    under: str = ""
    """The page of the menu under which the page belongs; empty: the page itself."""
    download: Callable[[Database, Query], Awaitable[Download]] | None = None
    """Creates the file at its path with ``/download``; None: no file.  Raises as `load` does."""

    @property
    def pause_s(self) -> int:
        """Minimum seconds between two fetches of an open page."""
        return int(self.fresh_s if self.refetch_s is None else self.refetch_s)

    def query(self, given: Mapping[str, str], parts: Mapping[str, str]) -> Query:
        """Parse a URL.

        Args:
            given: The URL's query parameters.
            parts: The variable parts of the URL's path.

        Raises:
            BadQuery: A parameter is unknown.
            FilterError: A filter's value cannot be read.
        """
        own = {name: text for name, text in given.items() if name in self.parameters}
        chosen = {name: text for name, text in given.items() if name not in self.parameters}
        for name in chosen:
            if OLD_FILTERS.get(name, name) not in self.filters:
                known = ", ".join(sorted({*self.filters, *self.parameters})) or "none"
                raise BadQuery(f"{name!a:.40} is no filter of this page; known: {known}")
        return Query(parse_filters(chosen), {**own, **parts})
