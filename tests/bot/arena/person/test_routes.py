"""What was learned of a person is shown to them alone, and forgotten at their request."""

import pytest
from sqlalchemy import func, select

from storage.tables.persons import ForgottenPersonRow, PersonStateRow
from tests.bot.arena.conftest import House, Player
from tests.bot.text.known_persons import learn


@pytest.fixture
async def anna(house: House) -> Player:
    return await house.person("Anna")


async def test_a_person_sees_what_was_learned_of_them(house: House, anna: Player) -> None:
    await learn(house.database)
    status, told = await anna.request("GET", "/api/person/learned")
    assert (status, [each["game"] for each in told["games"]]) == (200, ["othello"])
    first, _ = told["games"][0]["statements"]
    assert first["english"].startswith("3 times you made")


@pytest.mark.parametrize("path", ["/api/person/learned", "/api/person/forget"])
async def test_nobody_else_sees_it(house: House, path: str) -> None:
    await learn(house.database)
    method = "POST" if path.endswith("forget") else "GET"
    assert (await house.request(method, path))[0] == 401
    bot = await house.bot("Robot")
    assert (await bot.request(method, path))[0] == 403
    ben = await house.person("Ben")
    status, told = await ben.request(method, path)
    if method == "GET":
        assert (status, told["games"]) == (200, [])
    else:
        assert status == 404


async def test_a_person_is_forgotten(house: House, anna: Player) -> None:
    await learn(house.database)
    for _ in range(2):
        assert (await anna.request("POST", "/api/person/forget"))[0] == 200
    status, told = await anna.request("GET", "/api/person/learned")
    assert (status, told["games"]) == (200, [])
    assert told["forgotten_at"]
    async with house.database.read() as session:
        counts = [
            await session.scalar(select(func.count()).select_from(table))
            for table in (PersonStateRow, ForgottenPersonRow)
        ]
    assert counts == [0, 1]


async def test_a_damaged_state_is_not_shown(house: House, anna: Player) -> None:
    await learn(house.database)
    async with house.database.write() as session:
        (row,) = await session.scalars(select(PersonStateRow))
        row.state = b"?"
    assert await anna.request("GET", "/api/person/learned") == (200, {"forgotten_at": None, "games": []})
