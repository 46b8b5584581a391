import pytest

from bot.views.page import BadQuery, Query
from bot.views.paging import Paging
from storage.filters import Filters


def _paging(page: str, count: int) -> Paging:
    found = Paging.of(Query(Filters(game="chess"), {"page": page, "sort": "cost"}), 10)
    return Paging(found.page, found.size, found.texts, count)


@pytest.mark.parametrize(
    ("page", "count", "pages", "offset", "earlier", "later"),
    [
        ("", 0, 1, 0, "", ""),
        ("1", 10, 1, 0, "", ""),
        ("1", 11, 2, 0, "", "?game=chess&page=2&sort=cost"),
        ("2", 11, 2, 10, "?game=chess&page=1&sort=cost", ""),
        ("2", 21, 3, 10, "?game=chess&page=1&sort=cost", "?game=chess&page=3&sort=cost"),
        ("9", 11, 2, 80, "?game=chess&page=2&sort=cost", ""),  # back to the last one
    ],
)
def test_neighbours(page: str, count: int, pages: int, offset: int, earlier: str, later: str) -> None:
    found = _paging(page, count)
    assert (found.pages, found.offset, found.earlier, found.later) == (pages, offset, earlier, later)


def test_another_choice_begins_at_the_first_page() -> None:
    assert _paging("3", 99).address(sort="newest") == "?game=chess&sort=newest"


@pytest.mark.parametrize("page", ["0", "-1", "two", "1000001", "1.5", "000000000001" + "9" * 5000])
def test_what_is_no_page_is_refused(page: str) -> None:
    with pytest.raises(BadQuery, match="page: "):
        _paging(page, 5)
