"""A page is computed once for all, and again only when the database has changed."""

import asyncio
from typing import Any

import pytest

from bot.dashboard.page_cache import MAX_CACHED_VIEWS, MAX_VIEW_AGE_S, VERSION_TTL_S, PageCache
from bot.views.page import Page, Query
from storage.database import Database
from storage.errors import StorageError
from storage.evidence.queries.changes import ChangeWatch
from storage.ledger.events import record_event
from storage.records import AccountKey
from tests.bot.dashboard.conftest import Clock, CountingLoad, SimpleView


def page_of(load: Any, cache_ttl_s: float = 5.0) -> Page:
    return Page(
        "simple", "/dash", "Simple", load, parameters=frozenset({"n"}), filters=(), cache_ttl_s=cache_ttl_s
    )


async def change(database: Database) -> None:
    async with database.write() as session:
        await record_event(session, AccountKey("arena", "bot"), "test", {})


async def test_nothing_is_computed_again_until_something_changes(database: Database) -> None:
    load, clock = CountingLoad(), Clock()
    cache, page = PageCache(database, clock), page_of(load)
    first = await cache.get(page, Query())
    clock.now += MAX_VIEW_AGE_S - 0.1
    assert await cache.get(page, Query()) is first

    await change(database)
    clock.now += VERSION_TTL_S

    assert (await cache.get(page, Query())).view == SimpleView(2)
    await cache.close()


async def test_after_a_while_it_is_computed_again_all_the_same(database: Database) -> None:
    """It may say "today", or "an hour ago"."""
    load, clock = CountingLoad(), Clock()
    cache, page = PageCache(database, clock), page_of(load)
    await cache.get(page, Query())
    clock.now += MAX_VIEW_AGE_S
    assert (await cache.get(page, Query())).view == SimpleView(2)
    await cache.close()


async def test_a_fresh_page_is_shown_again_whatever_changed(database: Database) -> None:
    load, clock = CountingLoad(), Clock()
    cache, page = PageCache(database, clock), page_of(load)
    first = await cache.get(page, Query())
    await change(database)
    clock.now += 4.9

    assert await cache.get(page, Query()) is first
    clock.now += 0.1
    assert await cache.get(page, Query()) is not first
    await cache.close()


async def test_other_questions_have_other_answers(database: Database) -> None:
    load = CountingLoad()
    cache, page = PageCache(database, Clock()), page_of(load)

    found = [(await cache.get(page, Query(own={"n": text}))).view for text in ("a", "b", "a")]

    assert found == [SimpleView(1), SimpleView(2), SimpleView(1)]
    await cache.close()


async def test_many_who_ask_at_once_share_one_computation(database: Database) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()
    times = 0

    async def load(_database: Database, _query: Query) -> SimpleView:
        nonlocal times
        times += 1
        started.set()
        await go_on.wait()
        return SimpleView(times)

    cache, page = PageCache(database, Clock()), page_of(load)
    asking = [asyncio.create_task(cache.get(page, Query())) for _ in range(5)]
    await started.wait()
    asking[0].cancel()  # one hangs up
    go_on.set()
    found = await asyncio.gather(*asking, return_exceptions=True)

    assert isinstance(found[0], asyncio.CancelledError)
    assert {id(each) for each in found[1:]} == {id(found[1])}
    assert times == 1
    await cache.close()


async def test_a_failure_is_not_kept(database: Database) -> None:
    load = CountingLoad(fails=StorageError("gone"))
    cache, page = PageCache(database, Clock()), page_of(load)
    with pytest.raises(StorageError, match="gone"):
        await cache.get(page, Query())
    load.fails = None

    assert (await cache.get(page, Query())).view == SimpleView(2)
    await cache.close()


async def test_memory_is_bounded(database: Database) -> None:
    load = CountingLoad()
    cache, page = PageCache(database, Clock()), page_of(load)
    for number in range(MAX_CACHED_VIEWS + 1):
        await cache.get(page, Query(own={"n": str(number)}))
    await cache.get(page, Query(own={"n": "1"}))
    assert load.times == MAX_CACHED_VIEWS + 1
    await cache.get(page, Query(own={"n": "0"}))
    assert load.times == MAX_CACHED_VIEWS + 2
    await cache.close()


async def test_what_will_never_be_shown_again_is_forgotten(database: Database) -> None:
    """On a bot that plays, each view would otherwise stay until many others have been asked for."""
    load, clock = CountingLoad(), Clock()
    cache, page = PageCache(database, clock), page_of(load)
    await cache.get(page, Query(own={"n": "stale"}))
    clock.now += 4.9
    await cache.get(page, Query(own={"n": "fresh"}))
    await change(database)
    clock.now += VERSION_TTL_S
    await cache.get(page, Query(own={"n": "new"}))
    assert [own for _, own in cache._views] == [(("n", "fresh"),), (("n", "new"),)]
    clock.now += MAX_VIEW_AGE_S - 0.1
    await cache.get(page, Query(own={"n": "newer"}))  # nothing has changed: "new" may still be shown
    assert [own for _, own in cache._views] == [(("n", "new"),), (("n", "newer"),)]
    clock.now += 0.2
    await cache.get(page, Query(own={"n": "newest"}))
    assert [own for _, own in cache._views] == [(("n", "newer"),), (("n", "newest"),)]
    await cache.close()


async def test_the_watch_sees_what_others_commit(database: Database) -> None:
    watch = ChangeWatch(database)
    first = await watch.version()
    assert await watch.version() == first
    await change(database)
    second = await watch.version()

    assert second != first
    assert await watch.version() == second
    await watch.close()
    assert (await watch.version())[0] == second[0] + 1  # another connection counts anew
    await watch.close()
