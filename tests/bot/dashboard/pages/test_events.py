"""The Events page: what its address may ask for."""

import pytest

from bot.dashboard.page import BadQuery
from bot.dashboard.pages.events import events_page
from storage.database import Database


async def test_a_kind_that_no_database_holds(database: Database) -> None:
    page = events_page()
    with pytest.raises(BadQuery, match=r"^kind: 'a\\x00' is no kind of events$"):
        await page.load(database, page.query({"kind": "a\0"}, {}))
