"""Pagination of lists: the requested page, and the URLs of the neighbouring pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.parts.values import Choice, Note, Pager, Part
from bot.views.addresses import query_text
from bot.views.page import Query
from storage.filters import Filters, includes_matches

MAX_PAGES = 1_000_000


@dataclass(frozen=True, slots=True)
class Paging:
    """One page of a list."""

    page: int
    """From 1."""
    size: int
    """Number of entries per page."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """All query parameters except the page number."""
    count: int = 0
    """Total number of entries."""

    @classmethod
    def of(cls, query: Query, size: int) -> "Paging":
        """The requested page (parameter ``page``).

        Raises:
            BadQuery: The value is not a page number.
        """
        texts = {name: text for name, text in query.texts().items() if name != "page"}
        return cls(query.number("page", 1, 1, MAX_PAGES), size, texts)

    @property
    def offset(self) -> int:
        """Number of entries before this page."""
        return (self.page - 1) * self.size

    @property
    def pages(self) -> int:
        """Number of pages, at least 1."""
        return max(1, -(-self.count // self.size))

    @property
    def earlier(self) -> str:
        """The URL of the previous page; empty if there is none."""
        return self.address(page=str(min(self.page - 1, self.pages))) if self.page > 1 else ""

    @property
    def later(self) -> str:
        """The URL of the next page; empty if there is none."""
        return self.address(page=str(self.page + 1)) if self.page < self.pages else ""

    def address(self, **changes: str) -> str:
        """The URL of this list with some parameters changed, at the first page unless `page` is given."""
        return f"?{query_text({**self.texts, **changes})}"

    def to_json(self) -> dict[str, Any]:
        """Return the page number and the total numbers of pages and entries as JSON values."""
        return {"page": self.page, "pages": self.pages, "count": self.count}

    def choice(self, title: str, name: str, words: Mapping[str, str], chosen: str) -> Choice:
        """Build a choice of values for one query parameter.

        Args:
            title: Title of the choice.
            name: Name of the parameter.
            words: The values and their labels.
            chosen: The chosen value.
        """
        options = ((text, self.address(**{name: value}), value == chosen) for value, text in words.items())
        return Choice(title, tuple(options))

    def below(self, filters: Filters, *, is_shown: bool) -> tuple[Part, ...]:
        """The pager below the list, and a note if the filters exclude engine matches.

        Args:
            filters: The filters of the list.
            is_shown: Whether the page has any entries.
        """
        return (*self.pager(is_shown=is_shown), *without_matches(filters))

    def pager(self, *, is_shown: bool) -> tuple[Part, ...]:
        """Links to the neighbouring pages, or a note if there is no such page; empty for an empty list."""
        if is_shown:
            return (Pager(self.page, self.pages, self.earlier, self.later),)
        if self.count:
            return (Note(f"This list has no page {self.page:,}.", is_card=True),)
        return ()


def without_matches(filters: Filters) -> tuple[Part, ...]:
    """A note that engine-match games are excluded; empty if they are included."""
    text = "Engine matches on this machine are left out; use the filters Site and Match to see them."
    return () if includes_matches(filters) else (Note(text),)
