"""The address that counts behind a proxy."""

import pytest

from bot.arena import connection_limiter as connections
from bot.arena.proxies import FORWARDED, Proxies
from bot.base.config import load_config
from bot.base.errors import ConfigError
from tests.bot.arena.conftest import House, Street
from tests.bot.arena.test_connection_limiter import connect, is_cut

ADA, BEA, CDN = "198.51.100.7", "2001:db8::7", "192.0.2.1"
PROXY = "10.0.0.9"
TRUSTED = Proxies(["127.0.0.1", "10.0.0.0/24", "fd00::/8"])


@pytest.mark.parametrize(
    ("peer", "told", "origin"),
    [
        (ADA, [], ADA),
        (PROXY, [], PROXY),
        (PROXY, [ADA], ADA),
        (PROXY, [f"{CDN}, {ADA}"], ADA),
        (PROXY, [CDN, ADA], ADA),
        (PROXY, [f"{ADA}, 10.0.0.8, 127.0.0.1"], ADA),
        ("fd00::1", [f" {BEA} "], "2001:db8::/64"),
        ("2001:db8::9:8", [], "2001:db8::/64"),
        (f"::ffff:{ADA}", [], ADA),
        ("::ffff:10.0.0.9", [f"::ffff:{ADA}"], ADA),
        (PROXY, ["10.0.0.7, 10.0.0.8"], "10.0.0.7"),
        # Headers from untrusted addresses are ignored.
        (ADA, [BEA], ADA),
        ("unknown", [BEA], "unknown"),
    ],
)
def test_where_a_request_comes_from(peer: str, told: list[str], origin: str) -> None:
    assert TRUSTED.client_address(peer, told) == origin


@pytest.mark.parametrize(
    "garbage",
    ["", ",", "unknown", "_hidden", "300.1.1.1", f"{ADA}:80:90", "<b>", "\udcff", "1" * 8000, "0x7f.1"],
)
def test_garbage_ends_the_trail(garbage: str) -> None:
    assert TRUSTED.client_address(PROXY, [f"{ADA},{garbage}"]) == PROXY
    assert TRUSTED.client_address(PROXY, [f"{ADA},{garbage}, 10.0.0.8"]) == "10.0.0.8"
    assert TRUSTED.client_address(PROXY, [garbage, ADA]) == ADA


def test_nobody_is_trusted_by_default() -> None:
    assert Proxies().client_address("127.0.0.1", [ADA]) == "127.0.0.1"


async def join(house: House, names: str, *told: str) -> list[int]:
    """Statuses for people who each take a name, with the headers that they or their proxy send."""
    headers = [(FORWARDED, each) for each in told]
    answers = [
        await house.request("POST", "/api/person", json={"name": name}, headers=headers)
        for name in names.split()
    ]
    return [status for status, _ in answers]


async def test_people_behind_a_proxy_have_a_limit_each(street: Street) -> None:
    house = await street.open(trusted_proxies=("127.0.0.0/8",), accounts_per_day=2)
    assert await join(house, "Ann Abe Amy", ADA) == [201, 201, 429]
    assert await join(house, "Bob Ben Bea", BEA) == [201, 201, 429]
    # What clients write themselves precedes what the proxy appends.
    assert await join(house, "Amy Ada", CDN, ADA) == [429, 429]
    assert await join(house, "Amy", f"{CDN}, {ADA}") == [429]
    # Garbage counts for the proxy's address, as do direct connections from it.
    assert await join(house, "Cal", f"{CDN}, nonsense") == [201]
    assert await join(house, "Cat Cyd") == [201, 429]


async def test_nobody_else_chooses_an_address(street: Street) -> None:
    house = await street.open(trusted_proxies=("10.0.0.0/8",), accounts_per_day=2)
    answers = [await join(house, name, told) for name, told in (("Ann", ADA), ("Abe", BEA), ("Amy", CDN))]
    assert answers == [[201], [201], [429]]


async def test_a_proxy_may_bring_more_than_an_eighth(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.arena.server.max_connections", lambda: 16)
    monkeypatch.setattr(connections, "is_loopback", lambda _host: False)
    house = await street.open(trusted_proxies=("127.0.0.1",))
    links = [await connect(house) for _ in range(16)]
    assert (await house.request("GET", "/healthz"))[0] == 200
    assert await is_cut(links[0]), "now there are too many altogether"
    for _, writer in links:
        writer.close()


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ('["10.0.0.1/8"]', "has host bits set"),
        ('["proxy.example"]', "does not appear to be an IPv4 or IPv6 network"),
        ('[""]', "does not appear"),
    ],
)
def test_settings_that_are_refused(monkeypatch: pytest.MonkeyPatch, value: str, why: str) -> None:
    monkeypatch.setenv("DESDEMONA_ARENA__TRUSTED_PROXIES", value)
    with pytest.raises(ConfigError, match=rf"arena\.trusted_proxies.*{why}"):
        load_config()
