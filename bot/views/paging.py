"""Pagination of lists: the requested page, and the addresses of its neighbours."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.views.addresses import query_text
from bot.views.page import Query

MOST_PAGES = 1_000_000


@dataclass(frozen=True, slots=True)
class Paging:
    """One page of a list."""

    page: int
    """From 1."""
    size: int
    """Entries of a page."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """All parameters of the address, that of the page aside."""
    count: int = 0
    """Entries of all pages."""

    @classmethod
    def of(cls, query: Query, size: int) -> "Paging":
        """The requested page (parameter ``page``).

        Raises:
            BadQuery: It is no number of a page.
        """
        texts = {name: text for name, text in query.texts().items() if name != "page"}
        return cls(query.number("page", 1, 1, MOST_PAGES), size, texts)

    @property
    def offset(self) -> int:
        """Entries before this page."""
        return (self.page - 1) * self.size

    @property
    def pages(self) -> int:
        """How many pages there are; at least 1."""
        return max(1, -(-self.count // self.size))

    @property
    def earlier(self) -> str:
        """The address of the page before; empty: there is none."""
        return self.address(page=str(min(self.page - 1, self.pages))) if self.page > 1 else ""

    @property
    def later(self) -> str:
        """The address of the page after; empty: there is none."""
        return self.address(page=str(self.page + 1)) if self.page < self.pages else ""

    def address(self, **changes: str) -> str:
        """This list with other parameters, from its first page on unless they say another."""
        return f"?{query_text({**self.texts, **changes})}"
