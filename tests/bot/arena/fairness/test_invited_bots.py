"""Bot accounts are the owner's to give, and the page lists who is there."""

import socket

from bot.arena.http import OFFLINE_AFTER_S
from tests.bot.arena.conftest import House, Street


async def listed(house: House) -> list[tuple[str, bool]]:
    """The names on the page, and whether each is online."""
    _, lobby = await house.request("GET", "/api/arena")
    return [(bot["name"], bot["online"]) for bot in lobby["bots"]]


async def test_nobody_makes_bots_but_the_owner(street: Street) -> None:
    """601 bot accounts in 12 s drove our own bot off the page, for good."""
    async with street.opened(bot="Zoe") as house:
        for number in range(5):
            person = await house.person(f"Anna{number}")
            status, body = await person.request("POST", "/api/bot/account/upgrade")
            assert (status, "only the owner" in body["error"]) == (403, True)
            assert "title" not in await person.get("/api/account")
        robots = [await house.bot(name) for name in ("Robot", "Droid")]  # invited
        assert await listed(house) == [("Zoe", False)]
        streams = [await robot.events() for robot in robots]
        assert await listed(house) == [("Zoe", False), ("Robot", True), ("Droid", True)]
        _, online = await house.request("GET", "/api/bot/online")
        assert [name in online for name in ("Zoe", "Robot", "Droid")] == [False, True, True]
        for stream in streams:
            stream.close()


async def test_open_bots_within_limits(street: Street) -> None:
    async with street.opened(open_bots=True, bots_per_address=2, trusted_proxies=["127.0.0.1"]) as house:
        answers = []
        for number, address in enumerate(["10.0.0.1"] * 3 + ["10.0.0.2"]):
            person = await house.person(f"Anna{number}")
            status, _ = await person.request(
                "POST", "/api/bot/account/upgrade", headers={"X-Forwarded-For": address}
            )
            answers.append(status)
        assert answers == [200, 200, 429, 200]
        house.clock.advance(86_400)
        late = await house.person("Late")
        status, _ = await late.request(
            "POST", "/api/bot/account/upgrade", headers={"X-Forwarded-For": "10.0.0.1"}
        )
        assert status == 200


async def test_a_vanished_machine_is_not_online(house: House) -> None:
    """The system breaks a connection that acknowledges nothing; streams see that within a second."""
    robot = await house.bot("Robot")
    await robot.events()
    (protocol,) = house.arena._gate.busy
    assert protocol.transport is not None
    connection = protocol.transport.get_extra_info("socket")
    assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == OFFLINE_AFTER_S * 1000
