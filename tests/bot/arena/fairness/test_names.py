"""Names that nobody may imitate, and nicknames that move to another device."""

import pytest

from bot.arena.fairness.move_codes import CODE_LIFETIME_S, MoveCodes
from bot.arena.fairness.names import imitated_name
from tests.bot.arena.conftest import FakeClock, House, Player, Street

ORDINARY = (
    "Moderato Adminton Leveller Supporter1900 Botticelli Theodora Realist Teamster Modest_Mussorgsky Arenado "
    "Rooty McAdams LevelHead Level-One-Up Serverina Ownership Desdemond Desiree-Mona TrueBlue The-Bot 007 -_-"
)


@pytest.mark.parametrize(
    ("name", "whose"),
    [
        ("Desdem0na", "Desdemona"),
        ("Desdernona", "Desdemona"),
        ("D35d3m0n4", "Desdemona"),
        ("desdemona_", "Desdemona"),
        ("Desde-mona", "Desdemona"),
        ("Desdemona2", "Desdemona"),
        ("the_real-Desdemona", "Desdemona"),
        ("Moderator", "moderator"),
        ("M0derat0r", "moderator"),
        ("support", "support"),
        ("Support-Team", "support"),
        ("5upport", "support"),
        ("Adrnln", "admin"),
        ("admin007", "admin"),
        ("Level-3", "Level-3"),
        ("leve1_12", "Level-12"),
        ("LEVEL4", "Level-4"),
        ("RealDesdemona", "Desdemona"),
        ("DesdemonaBot", "Desdemona"),
        ("desdem0nab0t", "Desdemona"),
        ("Desdemona2Bot", "Desdemona"),
        ("DesdemonaBot7", "Desdemona"),
        ("desdemonaofficial", "Desdemona"),
        ("BOT-Desdemona", "Desdemona"),
        ("therealdesdemona", "Desdemona"),
        ("AdminTeam", "admin"),
        ("ADMINTeam", "admin"),
        ("teammod", "mod"),
        ("Level-7-bot", "Level-7"),
        ("RealLeve1-7", "Level-7"),
        ("Level_Seven", "Level-7"),
        ("Like-1300", "Like-1300"),
        ("L1ke_1500", "Like-1500"),
        ("Like", None),
        ("Like-7", None),
        ("Likely-1300", None),
        ("Level", None),
        ("Levelheaded", None),
        ("Clever-3", None),
        ("Anna", None),
        ("Desmond", None),
        ("Modesta", None),
        ("Staffordshire", None),
        *((name, None) for name in ORDINARY.split()),
        ("--", None),
        ("1", None),
    ],
)
def test_lookalikes(name: str, whose: str | None) -> None:
    assert imitated_name(name, ["Desdemona", "--"]) == whose


async def test_lookalikes_get_no_account(street: Street) -> None:
    async with street.opened(bot="Desdemona") as house:
        alike = "looks like"
        for name, why in (("Desdem0na", alike), ("M0derator", alike), ("Support", "is reserved")):
            status, body = await house.request("POST", "/api/person", json={"name": name})
            assert (status, why in body["error"]) == (409, True)
        assert (await house.person("Anna")).name == "Anna"
        # What the owner makes is the owner's business.
        assert (await house.bot("Desdemona-2")).name == "Desdemona-2"


async def test_a_nickname_moves_to_another_device(house: House) -> None:
    anna, robot = await house.person("Anna"), await house.bot("Robot")
    game = await house.start(anna, robot)
    stream, board = await anna.events(), await anna.game(game)
    made = await anna.post("/api/person/code")
    assert made["seconds"] == CODE_LIFETIME_S
    typed = made["code"].lower().replace("-", " ")
    status, moved = await house.request("POST", "/api/person/move", json={"code": typed})
    assert (status, moved["name"]) == (200, "Anna")
    phone = Player(house, "Anna", moved["token"], "board")
    await phone.move(game, "f5")
    await stream.rest()  # the old device's streams end
    await board.rest()
    assert (await anna.request("GET", "/api/account"))[0] == 401
    for code in (made["code"], "", "nonsense"):
        status, body = await house.request("POST", "/api/person/move", json={"code": code})
        assert (status, "invalid" in body["error"]) == (404, True)
    assert (await robot.request("POST", "/api/person/code"))[0] == 400
    code = (await phone.post("/api/person/code"))["code"]
    await house.arena.owner.ban("anna")
    assert (await house.request("POST", "/api/person/move", json={"code": code}))[0] == 404


def test_codes() -> None:
    clock = FakeClock()
    codes = MoveCodes(clock)
    old, new = codes.issue("anna"), codes.issue("anna")
    other = codes.issue("ben")
    assert codes.redeem(old) is None
    assert codes.redeem(new) == "anna"
    assert codes.redeem(new) is None
    assert other not in repr(vars(codes))
    clock.advance(CODE_LIFETIME_S)
    assert codes.redeem(other) is None


async def test_codes_cannot_be_tried_for_long(house: House) -> None:
    answers = [await house.request("POST", "/api/person/move", json={"code": "guess"}) for _ in range(21)]
    assert [status for status, _ in answers] == [404] * 20 + [429]
