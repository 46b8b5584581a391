"""Lists of blocked accounts that change while we play."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from bot.account.block_list import (
    FETCH_INTERVAL_S,
    FETCH_RETRY_INTERVAL_S,
    MAX_LIST_BYTES,
    BlockFile,
    BlockLists,
    BlockUrls,
)
from bot.base.config import ChallengesConfig
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.blocks import add_block
from tests.system.daemon import free_port


def test_without_a_file_nobody_is_blocked() -> None:
    assert BlockFile("").names() == frozenset()


def test_names_ids_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "blocked"
    path.write_text("# rude people\nAnna\n\n  ben  # also as Carl\r\nCarl\n", encoding="utf-8")
    assert BlockFile(str(path)).names() == {"Anna", "ben", "Carl"}


def test_it_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "blocked"
    path.write_text("anna\n", encoding="utf-8")
    blocked = BlockFile(str(path))
    assert blocked.names() == {"anna"}
    path.write_text("anna\nben\n", encoding="utf-8")
    assert blocked.names() == {"anna", "ben"}
    path.write_text("anna\neve\n", encoding="utf-8")  # the same size
    os.utime(path, ns=(1, 1))
    assert blocked.names() == {"anna", "eve"}


def test_trouble_is_told_once_and_changes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "blocked"
    blocked = BlockFile(str(path))
    assert blocked.names() == blocked.names() == frozenset()
    path.write_text("anna\n", encoding="utf-8")
    assert blocked.names() == {"anna"}
    path.write_bytes(b"\xff\xfe anna and ben")
    assert blocked.names() == blocked.names() == {"anna"}
    path.unlink()
    assert blocked.names() == blocked.names() == {"anna"}
    os.mkfifo(path)
    assert blocked.names() == {"anna"}
    path.unlink()
    path.write_bytes(b"a" * (MAX_LIST_BYTES + 1))
    assert blocked.names() == {"anna"}
    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert len(errors) == 4  # the last two are the same
    assert all("challenges.block_file: cannot read" in error and str(path) in error for error in errors)


class ListSite:
    """Answers with whatever list it is given."""

    def __init__(self) -> None:
        self.body = b"# bad\nAnna\n"
        self.status = 200

    async def answer(self, _request: web.Request) -> web.Response:
        return web.Response(body=self.body, status=self.status)


async def test_lists_by_address_are_fetched_again_and_kept(caplog: pytest.LogCaptureFixture) -> None:
    site, waits = ListSite(), []
    names: list[frozenset[str]] = []
    answers: list[tuple[bytes, int]] = [
        (b'["Ben", " Carl "]', 200),
        (b"", 503),
        (b'{"names": 3}', 200),
        (b"[" * 100_000, 200),
        (b"\xff", 200),
        (b"x" * (MAX_LIST_BYTES + 1), 200),
        (b"", 200),
    ]

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        names.append(lists.names())
        if not answers:
            raise asyncio.CancelledError
        site.body, site.status = answers.pop(0)

    async with listening(site) as url:
        lists = BlockUrls([url], sleep)
        assert lists.names() == frozenset()
        with pytest.raises(asyncio.CancelledError):
            await lists.run()
    assert names == [{"Anna"}, *[{"Ben", "Carl"}] * 6, frozenset()]
    assert waits == [FETCH_INTERVAL_S, FETCH_INTERVAL_S, *[FETCH_RETRY_INTERVAL_S] * 5, FETCH_INTERVAL_S]
    assert "HTTP 503" in caplog.text
    assert caplog.text.count("not a list of names") == 1  # the same trouble twice


async def test_an_address_where_nobody_is(caplog: pytest.LogCaptureFixture) -> None:
    async def sleep(_seconds: float) -> None:
        raise asyncio.CancelledError

    lists = BlockUrls([f"http://127.0.0.1:{free_port()}/"], sleep)
    with pytest.raises(asyncio.CancelledError):
        await lists.run()
    assert lists.names() == frozenset()
    assert "challenges.block_urls: cannot fetch http://127.0.0.1:" in caplog.text


async def test_without_addresses_nothing_is_fetched() -> None:
    await BlockUrls([]).run()


@asynccontextmanager
async def listening(site: ListSite) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_get("/list", site.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port := free_port()).start()
    try:
        yield f"http://127.0.0.1:{port}/list"
    finally:
        await runner.cleanup()


async def test_the_list_stays_when_the_database_fails(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise StorageError("away")

    blocks = BlockLists(ChallengesConfig(), database, "arena")
    async with database.write() as session:
        await add_block(session, "arena", "Ben")
    assert blocks.names() == frozenset()
    await blocks.read_blocked_accounts()
    monkeypatch.setattr(database, "read", fail)
    await blocks.read_blocked_accounts()
    await blocks.read_blocked_accounts()
    assert blocks.names() == {"ben"}
    assert caplog.text.count("cannot read the blocked accounts: away") == 1
