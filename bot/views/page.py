"""Defines a dashboard page: a name, a query, and a view for HTML, JSON and CSV."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.base.errors import DesdemonaError
from bot.parts.values import Part, Rows
from storage.database import Database
from storage.evidence.queries.filter_language import OF_GAMES, OLD_FILTERS, filter_texts, parse_filters
from storage.filters import Filters

MAX_NUMBER_DIGITS = 12
"""Maximum length of a number in a URL, in digits."""
RENAMED_CHOICES = {"fallen": "baits-taken", "fell": "taken", "surprise": "expected_loss"}
"""Maps words in URLs of release 0.2 to the current words; the old words work until 0.4.0."""


class BadQuery(DesdemonaError):
    """A query parameter is unknown or invalid; the message names the parameter and the allowed values."""


class PageNotFound(DesdemonaError):
    """The requested object does not exist."""


class View(Protocol):
    """The content of a page for all output formats."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The content as parts, which are rendered as HTML."""
        ...

    @property
    def title(self) -> str:
        """Title of the browser tab; empty to use the page's title."""
        ...

    def to_json(self) -> Mapping[str, Any]:
        """Return every number that the page shows, as plain JSON values."""
        ...

    def tables(self) -> Mapping[str, Rows]:
        """Return the view's rows by name, for CSV."""
        ...


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed request."""

    filters: Filters = field(default_factory=Filters)
    own: Mapping[str, str] = field(default_factory=dict)
    """The page's own parameters, including those in its path."""

    def texts(self) -> dict[str, str]:
        """All parameters as strings, filters first."""
        return {**filter_texts(self.filters), **self.own}

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """Parse one of the page's own parameters as a whole number.

        Raises:
            BadQuery: The value is not a number or is out of range.
        """
        text = self.own.get(name, "")
        if not text:
            return default
        is_number = text.isascii() and text.isdecimal() and len(text) <= MAX_NUMBER_DIGITS
        if not is_number or not least <= int(text) <= most:
            raise BadQuery(f"{name}: {text!a:.40} is not a whole number from {least} to {most}")
        return int(text)

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """The value of a page parameter that has a fixed set of values; the first value is the default.

        Args:
            name: Name of the parameter.
            choices: The allowed values.

        Raises:
            BadQuery: The value is not one of `choices`.
        """
        text = self.own.get(name, "") or choices[0]
        text = RENAMED_CHOICES.get(text, text)
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
    """Name of the page in its JSON and CSV URLs."""
    path: str
    """The page's route, with braces around variable parts."""
    title: str
    load: Callable[[Database, Query], Awaitable[View]]
    """Loads the view; raises `BadQuery`, `PageNotFound`, and the errors of the storage layer."""
    parameters: frozenset[str] = frozenset()
    """The page's own parameters in addition to the filters."""
    filters: tuple[str, ...] = OF_GAMES
    """Names of the filters that the page supports; empty if it has none."""
    cache_ttl_s: float = 10.0
    """Number of seconds for which a loaded view is reused without querying the database."""
    min_refresh_interval_s: float | None = None
    """Minimum time between two reloads of an open page, in seconds; None to use `cache_ttl_s`."""
    is_in_menu: bool = True
    live: Callable[[], Awaitable[Any]] | None = None
    """Returns the running program's state, as a picklable value, each time the page is shown; None if the
    page does not need it."""
    live_field: str = "status"
    """The field of the loaded view (a dataclass) that the result of `live` replaces."""
    under: str = ""
    """Name of the menu page to which this page belongs; empty for a menu page."""
    download: Callable[[Database, Query], Awaitable[Download]] | None = None
    """Creates the file served at ``/download`` below the page's path; raises the same errors as `load`."""

    @property
    def refresh_interval_s(self) -> int:
        """Minimum time between two reloads of an open page, in seconds."""
        return int(self.cache_ttl_s if self.min_refresh_interval_s is None else self.min_refresh_interval_s)

    def query(self, given: Mapping[str, str], parts: Mapping[str, str]) -> Query:
        """Parse a URL.

        Args:
            given: The URL's query parameters.
            parts: The variable parts of the URL's path.

        Raises:
            BadQuery: A parameter is unknown.
            FilterError: A filter's value cannot be parsed.
        """
        own = {name: text for name, text in given.items() if name in self.parameters}
        chosen = {name: text for name, text in given.items() if name not in self.parameters}
        for name in chosen:
            if OLD_FILTERS.get(name, name) not in self.filters:
                known = ", ".join(sorted({*self.filters, *self.parameters})) or "none"
                raise BadQuery(f"{name!a:.40} is not a filter of this page; available: {known}")
        return Query(parse_filters(chosen), {**own, **parts})
