"""The Events page: what its address may ask for."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.views.events import EventsView, events_page
from bot.views.page import BadQuery
from storage.database import Database
from storage.evidence.queries.event_log import LoggedEvent


async def test_a_kind_that_no_database_holds(database: Database) -> None:
    page = events_page()
    with pytest.raises(BadQuery, match=r"^kind: 'a\\x00' is not a kind of event$"):
        await page.load(database, page.query({"kind": "a\0"}, {}))


def test_an_action_is_named_and_truths_are_words() -> None:
    detail = {"action": "challenge", "by": "socket", "rated": True, "chance": 1, "why": None}
    event = LoggedEvent(1, datetime(2026, 11, 27, tzinfo=UTC), "", "", "operator_action", None, "", detail)
    view = EventsView(1, "", "", (), (), (event,), (), 1, False)
    assert view.event_text(event) == "operator's action: challenge"
    assert view.detail(event) == "by: socket, rated: yes, chance: 1"
    assert view.event_text(replace(event, kind="account_link_lost")) == "account's connection lost"
