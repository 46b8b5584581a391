"""Failures are named as what they are, and all of them are tried again."""

import pytest
from aiohttp import web

from bot.account.block_list import BlockUrls
from bot.base.config import OnlineConfig
from bot.base.dialects import DIALECTS
from bot.base.errors import TransientError
from bot.base.network.failures import describe_failure, one_line, page_text
from bot.servers.lichess import LichessServer
from bot.servers.online_lookup import InvalidResponse, OnlineLookup
from tests.bot.base.network.sites import HOST, ForwardProxy, clean_environment, site, trusted
from tests.bot.base.network.test_http_session import reply

__all__ = ["clean_environment", "trusted"]  # fixtures, used by name

LICHESS = DIALECTS["lichess"]
PORTAL = "\ufeff\n<!DOCTYPE html><html><head><title>Hotel\n Wi&amp;Fi</title></head>Please log in</html>"
PAGE = "a web page ('Hotel Wi&Fi') instead of data; it may come from a proxy or the network's login page"


async def trouble_at(url: str) -> str:
    """What signing in reports; each of these failures is tried again."""
    server = LichessServer(LICHESS, url, "token")
    try:
        with pytest.raises(TransientError) as caught:
            await server.account()
        with pytest.raises(TransientError) as streamed:
            async for _ in server._stream_lines("GET", "/api/account", silence_s=9.0):
                pass
    finally:
        await server.close()
    assert str(streamed.value) == str(caught.value)
    return str(caught.value).removeprefix("GET /api/account: ")


async def test_a_certificate_of_an_unknown_authority() -> None:
    async with site(reply) as port:
        said = await trouble_at(f"https://127.0.0.1:{port}")
    assert said == (
        "the certificate of 127.0.0.1 is not valid: unable to get local issuer certificate; a proxy or the "
        "network's login page may be in between. If you trust its authority, name its certificate file in "
        "SSL_CERT_FILE"
    )


@pytest.mark.usefixtures("trusted")
async def test_a_certificate_that_has_expired() -> None:
    async with site(reply, "expired.pem") as port:
        said = await trouble_at(f"https://127.0.0.1:{port}")
    assert said == (
        "the certificate of 127.0.0.1 is not valid: certificate has expired; is this machine's clock right?"
    )


@pytest.mark.usefixtures("trusted")
async def test_a_certificate_of_another_site(monkeypatch: pytest.MonkeyPatch) -> None:
    async with site(reply) as port, ForwardProxy(port).running() as address:
        monkeypatch.setenv("HTTPS_PROXY", address)
        said = await trouble_at("https://other.test")
    assert said == (
        "the certificate of other.test is not valid: Hostname mismatch, certificate is not valid for "
        "'other.test'; another server seems to answer for it"
    )


async def test_a_server_without_tls() -> None:
    async with site(reply, "") as port:
        said = await trouble_at(f"https://127.0.0.1:{port}")
    assert said.startswith(f"127.0.0.1:{port} does not speak TLS as expected: ")


async def test_a_login_page() -> None:
    async def portal(_: web.Request) -> web.StreamResponse:
        return web.Response(text=PORTAL, content_type="text/html")

    async with site(portal, "") as port:
        assert await trouble_at(f"http://127.0.0.1:{port}") == PAGE


async def test_a_redirect_to_a_login_page() -> None:
    async def portal(_: web.Request) -> web.StreamResponse:
        raise web.HTTPFound(f"http://login.{HOST}/?token=secret", text=PORTAL)

    async with site(portal, "") as port:
        said = await trouble_at(f"http://127.0.0.1:{port}")
    assert said == f"HTTP 302, a redirect to http://login.{HOST}: {PAGE}"


async def test_a_login_page_for_other_clients(caplog: pytest.LogCaptureFixture) -> None:
    """A page is neither a list of names nor an explorer's answer, and the last list stays."""
    answers = iter(("Cheater", PORTAL))

    async def portal(request: web.Request) -> web.StreamResponse:
        text = next(answers) if request.path == "/list" else PORTAL
        return web.Response(text=text, content_type="text/html")

    async def slept(_: float) -> None:
        if caplog.records:
            raise TimeoutError

    async with site(portal, "") as port:
        url = f"http://127.0.0.1:{port}"
        lists = BlockUrls([f"{url}/list"], slept)
        with pytest.raises(TimeoutError):
            await lists.run()
        assert lists.names() == {"Cheater"}
        assert f"cannot fetch {url}/list: {PAGE}" in caplog.text
        lookup = OnlineLookup(OnlineConfig(explorer="masters", explorer_url=url))
        try:
            with pytest.raises(InvalidResponse, match="Hotel"):
                await lookup.check_services()
        finally:
            await lookup.close()


@pytest.mark.parametrize("body", ["", '{"ok": true}', "ok", "x <html>", b"\xff\xfe"])
def test_what_is_no_page(body: str | bytes) -> None:
    assert page_text(body) == ""


def test_long_titles_are_cut() -> None:
    assert page_text(f"<html><TITLE lang=en>{'x' * 99}</TITLE>") == PAGE.replace("Hotel Wi&Fi", "x" * 60)
    assert page_text(b"<html>") == PAGE.replace(" ('Hotel Wi&Fi')", "")


def test_other_failures_are_said_in_a_line() -> None:
    assert describe_failure(ValueError("two\nlines")) == "two lines"
    assert one_line(TimeoutError()) == "TimeoutError"
