"""The limits on the number of connections."""

import asyncio
import logging
import resource

import pytest

from bot.arena import connection_limiter as connections
from bot.base.config import is_loopback
from tests.bot.arena.conftest import House, Street
from tests.patience import PATIENCE_S

Link = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connect(house: House, data: bytes = b"") -> Link:
    host, port = house.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(data)
    await writer.drain()
    return reader, writer


async def is_cut(link: Link) -> bool:
    """Wait for the connection to end or answer; return whether the server closed it."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await link[0].read() == b""
    except ConnectionResetError:
        return True
    finally:
        link[1].close()


@pytest.mark.parametrize("data", [b"", b"GET /healthz HTT", b"GET /healthz HTTP/1.1\r\nHost: here\r\n"])
async def test_silence_is_cut(street: Street, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("bot.arena.server.IDLE_CONNECTION_TIMEOUT_S", 0.1)
    house = await street.open()
    assert await is_cut(await connect(house, data))


async def test_silent_connections_make_room(
    street: Street, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("bot.arena.server.max_connections", lambda: 20)  # half of them for this machine
    house = await street.open()
    bot = await house.bot("Desdemona")
    events = await bot.events()
    with caplog.at_level(logging.WARNING):
        links = [await connect(house) for _ in range(40)]
        assert (await bot.get("/api/account"))["title"] == "BOT"
        assert await is_cut(links[0])
    assert [record.getMessage() for record in caplog.records] == [
        "too many connections: 10; the latest is from 127.0.0.1"
    ]
    await (await house.person("Anna")).challenge(bot)
    assert (await events.next())["type"] == "challenge", "a stream at work is never cut"
    for _, writer in links:
        writer.close()


async def test_a_newcomer_is_cut_when_all_are_at_work_for_players(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.arena.server.max_connections", lambda: 8)
    house = await street.open()
    persons = [await house.person(name) for name in ("Anna", "Bert")]
    game = await house.start(*persons)
    for person in persons:
        await person.events()
        await person.game(game)
    assert await is_cut(await connect(house, b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n"))


async def test_one_address_gets_an_eighth(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.arena.server.max_connections", lambda: 16)
    monkeypatch.setattr(connections, "is_loopback", lambda _host: False)
    house = await street.open()
    links = [await connect(house) for _ in range(3)]
    assert await is_cut(links[0])
    for _, writer in links:
        writer.close()


def test_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = (256, 4096)
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _which: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _which, wanted: asked.append(wanted))
    assert connections.max_connections() == 1024
    assert asked == [(4096, 4096)]
    limits = (256, 256)
    assert connections.max_connections() == 64
    limits = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    assert connections.max_connections() == connections.MAX_CONNECTIONS
    assert len(asked) == 1


def test_who_is_local() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "10.0.0.1", "unknown")] == [
        True, True, False, False
    ]  # fmt: skip
