"""Proxies and certificates: what the environment names is used by every client of the program."""

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from bot.account.block_list import BlockUrls
from bot.alarms.hooks import HookFailure, post_json
from bot.base.config import Config, OnlineConfig
from bot.base.dialects import DIALECTS
from bot.base.errors import ConfigError, TransientError
from bot.base.network.http_session import (
    check_network,
    names_proxies,
    open_session,
    outgoing_urls,
    proxy_of,
    without_password,
)
from bot.daemon.program import run
from bot.servers.adapters import make_server
from bot.servers.ggs.server import GgsServer
from bot.servers.lichess import LichessServer
from bot.servers.online_lookup import OnlineLookup
from tests.bot.base.network.sites import AUTHORITY, HOST, ForwardProxy, clean_environment, site, trusted

__all__ = ["clean_environment", "trusted"]  # fixtures, used by name

LICHESS = DIALECTS["lichess"]
PROXY, OTHER = "http://proxy.test:3128", "http://other.test:8080"


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        ({}, "https://site.test", ""),
        ({"HTTPS_PROXY": PROXY}, "https://site.test/x", PROXY),
        ({"https_proxy": PROXY}, "https://site.test", PROXY),
        ({"https_proxy": PROXY, "HTTPS_PROXY": OTHER}, "https://site.test", PROXY),
        ({"HTTPS_PROXY": PROXY}, "http://site.test", ""),
        ({"HTTP_PROXY": PROXY}, "http://site.test", PROXY),
        ({"HTTP_PROXY": PROXY}, "https://site.test", ""),
        ({"ALL_PROXY": PROXY}, "https://site.test", PROXY),
        ({"all_proxy": PROXY}, "http://site.test", PROXY),
        ({"ALL_PROXY": "socks5://other.test", "HTTPS_PROXY": PROXY}, "https://site.test", PROXY),
        ({"HTTPS_PROXY": "proxy.test:3128"}, "https://site.test", PROXY),
        ({"HTTPS_PROXY": "http://me:secret@proxy.test"}, "https://site.test", "http://me:secret@proxy.test"),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "site.test"}, "https://site.test", ""),
        ({"HTTPS_PROXY": PROXY, "no_proxy": "x, .test"}, "https://site.test:99", ""),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "*"}, "https://site.test", ""),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "te.test"}, "https://site.test", PROXY),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, "https://10.2.3.4", ""),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, "https://11.2.3.4", PROXY),
        ({"ALL_PROXY": PROXY}, "http://127.0.0.1:8765", ""),
        ({"ALL_PROXY": "socks5://other.test"}, "http://localhost:8765", ""),
        ({"ALL_PROXY": PROXY}, "http://[::1]:8765", ""),
    ],
)
def test_which_proxy(
    variables: dict[str, str], url: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_of(url) == proxy


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        (
            {"HTTPS_PROXY": "socks5h://me:secret@proxy.test:1080"},
            "HTTPS_PROXY is socks5h://proxy.test:1080, but SOCKS proxies are not supported; set it to an "
            "HTTP proxy, or add site.test to NO_PROXY",
        ),
        ({"all_proxy": "socks://proxy.test"}, "all_proxy is socks://proxy.test, but SOCKS"),
        ({"https_proxy": "ftp://proxy.test"}, "https_proxy is ftp://proxy.test, but ftp proxies are not"),
        ({"HTTPS_PROXY": "http://:secret@"}, "HTTPS_PROXY is not of the form http://host:port"),
        ({"HTTPS_PROXY": "http://secret:port"}, "HTTPS_PROXY is not of the form http://host:port"),
    ],
)
async def test_a_proxy_that_cannot_be_used(
    variables: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        LichessServer(LICHESS, f"https://{HOST}", "token")
    assert str(caught.value).startswith(f"environment: {said}")
    assert "secret" not in str(caught.value)
    with pytest.raises(ConfigError, match=r"^alarms\.webhook: environment: "):
        check_network({"alarms.webhook": f"https://{HOST}/hook"})
    async with open_session() as http:  # as after a redirect
        with pytest.raises(aiohttp.ClientConnectionError, match=r"^environment: "):
            await http.get(f"https://{HOST}")


def test_what_is_not_http_has_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", PROXY)
    assert proxy_of("ggs://site.test:5000") == ""
    monkeypatch.setenv("ALL_PROXY", "socks5://proxy.test")
    assert proxy_of("ggs://127.0.0.1:5000") == ""
    with pytest.raises(ConfigError, match=r"ALL_PROXY is set, but GGS is not HTTP .* add site\.test to NO_P"):
        GgsServer(DIALECTS["ggs"], "ggs://site.test:5000", "desde", "secret")
    monkeypatch.setenv("NO_PROXY", "site.test")
    assert proxy_of("ggs://site.test:5000") == ""


async def test_what_is_not_http_and_cannot_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    server = GgsServer(DIALECTS["ggs"], f"ggs://127.0.0.1:{port}", "desde", "secret")
    with pytest.raises(TransientError) as caught:
        await server.account()
    assert "proxy" not in str(caught.value)
    assert not names_proxies()
    monkeypatch.setenv("https_proxy", PROXY)
    with pytest.raises(TransientError, match=r"GGS is not HTTP, so the proxy in the environment is not used"):
        await server.account()


def test_a_start_with_a_proxy_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ALL_PROXY", "socks5://proxy.test")
    config = Config.model_validate(
        {
            "server": {"dialect": "lichess", "token": "x"},
            "alarms": {"webhook": "https://hook.test"},
            "online": {"tablebase": True, "explorer": "masters"},
            "challenges": {"block_urls": ["https://list.test"]},
        }
    )
    assert outgoing_urls(config.by_account()) == {
        "server.url": "https://lichess.org",
        "challenges.block_urls.0": "https://list.test",
        "online.explorer_url": "https://explorer.lichess.org",
        "online.tablebase_url": "https://tablebase.lichess.org",
        "alarms.webhook": "https://hook.test",
    }
    with pytest.raises(
        ConfigError, match=r"^server\.url: environment: ALL_PROXY is socks5://proxy\.test, but"
    ):
        run(config)
    home, away = {"name": "home", "dialect": "arena"}, {"name": "away", "dialect": "ggs", "login": "des"}
    two = Config.model_validate({"accounts": [home, away]})
    urls = outgoing_urls(two.by_account())
    assert urls == {"account away: server.url": "ggs://skatgame.net:5000"}
    with pytest.raises(
        ConfigError, match=r"^account away: server\.url: environment: ALL_PROXY is set, but GGS "
    ):
        check_network(urls)


def test_how_hosts_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    urls = {"server.url": "https://site.test", "alarms.webhook": "https://hook.test/secret"}
    assert check_network(urls) == ""
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@proxy.test:3128")
    monkeypatch.setenv("NO_PROXY", "hook.test")
    assert check_network(urls) == f"site.test through the proxy {PROXY}"
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))
    assert check_network(urls) == f"site.test through the proxy {PROXY}; certificates of {AUTHORITY}"
    assert without_password("http://me:p@ss@proxy.test") == "http://proxy.test"


@pytest.mark.parametrize("file", ["", "gone.pem", "config.toml"])
def test_a_certificate_file_that_cannot_be_used(
    file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text("[server]\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", file)
    with pytest.raises(ConfigError, match=f"^environment: SSL_CERT_FILE: cannot use '{file}': "):
        check_network({})


# --- Every client ---------------------------------------------------------------------------------------


async def reply(request: web.Request) -> web.StreamResponse:
    if request.path == "/list":
        return web.Response(text="Cheater\n")
    account = {"id": "desdemona", "username": "Desdemona", "title": "BOT"}
    return web.json_response(account | {"moves": []})


async def _at_site(url: str) -> None:
    server = LichessServer(LICHESS, url, "token")
    try:
        assert (await server.account()).name == "Desdemona"
    finally:
        await server.close()


async def _at_explorer(url: str) -> None:
    lookup = OnlineLookup(OnlineConfig(explorer="masters", explorer_url=url, tablebase=False))
    try:
        assert await lookup.check_services() == f"{url}/masters answers"
    finally:
        await lookup.close()


async def _at_webhook(url: str) -> None:
    await post_json(f"{url}/hook", b"{}")


async def _at_list(url: str) -> None:
    async def slept(_: float) -> None:
        raise TimeoutError

    lists = BlockUrls([f"{url}/list"], slept)
    with pytest.raises(TimeoutError):
        await lists.run()
    assert lists.names() == {"Cheater"}


CLIENTS = pytest.mark.parametrize("client", [_at_site, _at_explorer, _at_webhook, _at_list])


@CLIENTS
@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(("scheme", "variable"), [("https", "ALL_PROXY"), ("http", "http_proxy")])
async def test_every_client_uses_the_proxy(
    client: Callable[[str], Awaitable[None]], scheme: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with site(reply, "site.pem" if scheme == "https" else "") as port:
        proxy = ForwardProxy(port, login="me:se cret")
        async with proxy.running() as address:
            monkeypatch.setenv(variable, f"http://me:se%20cret@{address}")
            await client(f"{scheme}://{HOST}")
    (asked,) = proxy.asked
    target = f"CONNECT {HOST}:443" if scheme == "https" else f" http://{HOST}/"
    assert target in asked


async def test_our_own_arena_is_reached_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may listen on an address of the network."""
    monkeypatch.setenv("HTTP_PROXY", "socks5://proxy.test")
    monkeypatch.setattr("bot.base.network.http_session.is_loopback", lambda _: False)
    async with site(reply, "") as port:
        url = f"http://127.0.0.1:{port}"
        with pytest.raises(ConfigError, match="SOCKS"):
            LichessServer(LICHESS, url, "token")
        server = make_server(Config(), DIALECTS["arena"], url, "token")
        try:
            assert (await server.account()).name == "Desdemona"
        finally:
            await server.close()


async def test_a_proxy_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = ForwardProxy(1, login="me:secret")
    async with proxy.running() as address:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:wrong@{address}")
        with pytest.raises(TransientError) as caught:
            await _at_site(f"https://{HOST}")
        assert str(caught.value) == (
            "GET /api/account: the proxy refused the connection: HTTP 407 Who are you; "
            "put the user's name and password into its URL"
        )
        with pytest.raises(HookFailure, match=r"^the proxy refused the connection: HTTP 407"):
            await _at_webhook(f"https://{HOST}")
    with pytest.raises(TransientError, match=f"^GET /api/account: no connection to the proxy {address}: "):
        await _at_site(f"https://{HOST}")


READ_ACCOUNT = f"""
import asyncio
from bot.base.dialects import DIALECTS
from bot.servers.lichess import LichessServer
async def read():
    server = LichessServer(DIALECTS["lichess"], "https://{HOST}", "token")
    try:
        print((await server.account()).name)
    finally:
        await server.close()
asyncio.run(read())
"""


async def test_the_file_of_certificates_is_read() -> None:
    async with site(reply) as port, ForwardProxy(port).running() as address:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            READ_ACCOUNT,
            env={**os.environ, "SSL_CERT_FILE": str(AUTHORITY), "HTTPS_PROXY": address},
            stdout=asyncio.subprocess.PIPE,
        )
        assert (await process.communicate())[0].decode().strip() == "Desdemona"
