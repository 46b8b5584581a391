"""Pages as HTML, JSON and CSV; every failure as words."""

import asyncio
import logging
import re
import socket

import aiohttp
import pytest
from pydantic import SecretStr

from bot.base.config import DashboardConfig
from bot.dashboard.page_cache import PAGE_TIMEOUT_S
from bot.dashboard.server import LISTEN_RETRY_INTERVAL_S, SECURITY_HEADERS, Dashboard
from bot.views.page import PageNotFound
from engine.errors import RecordError
from storage.database import Database
from storage.errors import StorageError, UnreadableRow
from storage.evidence.exports.csv_cells import csv_text
from storage.filters import Filters
from tests.bot.dashboard.conftest import TOKEN, OpenSite


async def test_a_page_is_html_json_and_csv(open_site: OpenSite) -> None:
    async with open_site() as site:
        async with site.get("/dash?game=chess&number=3") as page:
            text = await page.text()
            assert page.status == 200
            assert ">1</p>" in text
            assert 'href="/dash/api/simple?game=chess&amp;number=3"' in text
            assert {name: page.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
        async with site.get("/dash/api/simple?game=chess&number=3") as answer:
            assert await answer.json() == {"number": 1}
        async with site.get("/dash/api/simple.csv?game=chess&number=3") as answer:
            assert await answer.text() == "number,name\r\n1,'=1+1\r\n"
            assert 'filename="simple-numbers.csv"' in answer.headers["Content-Disposition"]
    assert site.load.times == 1
    assert site.load.asked[0].filters == Filters(game="chess")
    assert site.load.asked[0].own == {"number": "3"}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("colour=red", "'colour' is not a filter of this page; available: game, number, opponent"),
        ("site=arena", "'site' is not a filter of this page"),
        ("game=go", "game: 'go' is not known"),
        ("table=none", "table: 'none' is not known; known: numbers"),
    ],
)
async def test_a_question_that_makes_no_sense_is_named(open_site: OpenSite, query: str, message: str) -> None:
    async with open_site() as site, site.get(f"/dash/api/simple.csv?{query}") as answer:
        assert answer.status == 400
        assert (await answer.json())["error"].startswith(message)


async def test_what_comes_from_outside_stays_text(open_site: OpenSite) -> None:
    name = "<img src=x onerror=alert(1)>"
    async with open_site() as site, site.get("/dash", params={"opponent": name}) as page:
        text = await page.text()
    assert "<img src=x" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (PageNotFound("There is no game 7."), 404, "There is no game 7."),
        (StorageError("cannot use the database x: gone"), 503, "cannot use the database x: gone"),
        (RuntimeError("a secret"), 500, "Something went wrong; see the log."),
    ],
)
async def test_a_failure_is_told_in_words(
    open_site: OpenSite, error: Exception, status: int, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_site() as site:
        site.load.fails = error
        async with site.get("/dash") as page:
            assert page.status == status
            text = await page.text()
            assert message in text
            assert "To the first page" in text
        async with site.get("/dash/api/simple") as answer:
            assert await answer.json() == {"error": message}
        site.load.fails = None
        async with site.get("/dash") as page:
            assert page.status == 200
    assert ("a secret" in caplog.text) == (status == 500)


async def test_static_files_are_compressed_and_cached(open_site: OpenSite) -> None:
    async with open_site() as site:
        for name, kind in (
            ("dash.js", "text/javascript"),
            ("colours.css", "text/css"),
            ("charts.js", "text/javascript"),
        ):
            async with site.get(f"/dash/static/{name}", headers={"Accept-Encoding": "gzip"}) as answer:
                assert (answer.status, answer.content_type) == (200, kind)
                assert answer.headers["Content-Encoding"] == "gzip"
                assert answer.headers["Cache-Control"] == "public, max-age=300"
                tag = answer.headers["ETag"]
            headers = {"Accept-Encoding": "gzip", "If-None-Match": tag}
            async with site.get(f"/dash/static/{name}", headers=headers) as answer:
                assert answer.status == 304
        for name in ("nothing.js", "..%2fserver.py", "%2e%2e/server.py"):
            async with site.get(f"/dash/static/{name}") as answer:
                assert answer.status == 404


async def test_there_is_no_other_page(open_site: OpenSite) -> None:
    async with open_site() as site:
        async with site.get("/dash/nothing") as page:
            assert page.status == 404
            assert "There is no such page." in await page.text()
        async with site.get("/") as page:
            assert page.headers["Location"] == "/dash"
        async with site.get("/dash/static/../server.py") as page:
            assert page.status == 404


@pytest.mark.parametrize(
    "path", ["/dash/ask?sql=select+1", "/dash/api/ask?sql=select+1", "/dash/api/ask.csv"]
)
async def test_the_sql_page_of_earlier_releases_names_the_command(open_site: OpenSite, path: str) -> None:
    async with open_site() as site, site.get(path) as page:
        assert page.status == 410
        assert "desdemona sql" in await page.text()


async def test_a_page_that_takes_too_long_says_so(
    open_site: OpenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.dashboard.page_cache.PAGE_TIMEOUT_S", 0.01)
    async with open_site() as site:

        async def wait_for_ever(*_: object) -> None:
            await asyncio.Event().wait()

        monkeypatch.setattr("tests.bot.dashboard.conftest.CountingLoad.__call__", wait_for_ever)
        async with site.get("/dash/api/simple") as answer:
            assert answer.status == 503
            assert "Limit the query" in (await answer.json())["error"]
    assert PAGE_TIMEOUT_S == 10


async def test_a_taken_port_does_not_stop_the_bot(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    again, waits = asyncio.Event(), asyncio.Event()

    async def wait(seconds: float) -> None:
        assert seconds == LISTEN_RETRY_INTERVAL_S
        waits.set()
        await again.wait()

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        dashboard = Dashboard(DashboardConfig(port=port), database, [], sleep=wait)
        async with dashboard.running() as address:
            assert not address
            assert "address already in use" in caplog.text
            await waits.wait()
            taken.close()
            again.set()
            await dashboard.listening.wait()
            url = f"http://127.0.0.1:{port}/healthz"
            async with aiohttp.ClientSession() as session, session.get(url) as answer:
                assert answer.status == 200


async def test_a_name_that_cannot_be_one_does_not_stop_the_bot(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    config = DashboardConfig(host="a..b", token=SecretStr(TOKEN))
    async with Dashboard(config, database, []).running() as address:
        assert not address
    # The rest of the sentence is Python's, another one in each version.
    assert re.search(
        r"the dashboard cannot listen at a\.\.b:8766 \(setting dashboard\.port\): .*'idna'", caplog.text
    )


async def test_silent_connections_make_room(
    open_site: OpenSite, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Each takes a descriptor, which the bot needs for its links; streams at work are never cut."""
    monkeypatch.setattr("bot.dashboard.server.MAX_CONNECTIONS", 8)
    async with open_site() as site, site.get("/dash/stream") as stream:
        assert await stream.content.readline() == b"retry: 3000\n"
        host, port = site.url.removeprefix("http://").split(":")
        silent = [await asyncio.open_connection(host, int(port)) for _ in range(20)]
        async with site.get("/healthz") as answer:
            assert answer.status == 200
        assert await silent[0][0].read() == b""
        assert not stream.content.at_eof()
        for _, writer in silent:
            writer.close()
    assert caplog.messages == ["too many connections: 8; the latest is from 127.0.0.1"]


async def test_silence_is_cut(open_site: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.dashboard.server.IDLE_CONNECTION_TIMEOUT_S", 0.01)
    async with open_site() as site:
        host, port = site.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /healthz HTT")
        assert await reader.read() == b""
        writer.close()


@pytest.mark.parametrize("error", [RecordError("game 51: no such state"), UnreadableRow("row 7")])
async def test_a_damaged_record_is_told(
    open_site: OpenSite, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    """As on the command line: in one line, without a traceback."""
    async with open_site() as site:
        site.load.fails = error
        async with site.get("/dash/api/simple") as answer:
            assert answer.status == 500
            said = (await answer.json())["error"]
    assert said == f"On this page a record is damaged ({error}); `desdemona db recheck` lists such records."
    (record,) = caplog.records
    assert record.exc_info is None


@pytest.mark.parametrize(("form", "sent"), [("/dash/api/simple", "\\ud800"), ("/dash", "?")])
async def test_half_a_character_hides_no_page(open_site: OpenSite, form: str, sent: str) -> None:
    """A site may send it, in the reason of an event for instance."""
    async with open_site() as site:
        site.load.number = "\ud800"
        async with site.get(form) as answer:
            assert answer.status == 200
            assert sent in await answer.text()


def test_csv_has_no_formulas() -> None:
    rows = [{"name": text, "value": -1.5} for text in ("=1", "+1", "-1", "@a", "\n=1", "plain", 'a,"b"\nc')]

    assert csv_text(rows, "\r\n") == (
        'name,value\r\n\'=1,-1.5\r\n\'+1,-1.5\r\n\'-1,-1.5\r\n\'@a,-1.5\r\n"\'\n=1",-1.5\r\nplain,-1.5\r\n"a,""b""\nc",-1.5\r\n'
    )
    assert csv_text([]) == ""
