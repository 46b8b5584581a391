"""The owner's changes to accounts in the running arena, and in one that is closed."""

import pytest

from bot.arena.account_admin import AdminError
from bot.arena.server import Arena
from bot.base.config import ArenaConfig
from bot.base.errors import ConfigError
from storage.arena.accounts import ArenaAccess
from storage.database import Database
from storage.errors import RoleTaken
from tests.bot.arena.conftest import House, Street


async def test_a_ban_shuts_out_at_once(house: House) -> None:
    anna, ben = await house.person("Anna"), await house.person("Ben")
    begun = await house.start(anna, ben, rated="true", variant="othello")
    await anna.move(begun, "d3")
    await ben.move(begun, "c3")
    fresh = await house.start(ben, anna)
    waiting = await anna.challenge(ben)
    stream, board, other = await anna.events(), await anna.game(begun), await ben.game(begun)
    assert await house.arena.owner.ban("ANNA") == "Anna is banned; games ended: 2"
    await stream.rest()  # they end
    await board.rest()
    assert (await other.rest())[-1]["status"] == "resign"
    for path in ("/api/account", "/api/arena", "/api/account/playing"):
        status, body = await anna.request("GET", path)
        assert (status, body) == (401, {"error": "This account is banned"})
    assert (await ben.request("POST", f"/api/challenge/{waiting['id']}/accept"))[0] == 404
    assert (await ben.request("POST", "/api/challenge/anna", data={"clock.limit": 60, "clock.increment": 1}))[
        0
    ] == 200  # it is seen nowhere, and expires
    for key, end, winner in ((begun, "resign", "white"), (fresh, "aborted", None)):
        game = await house.request("GET", f"/game/export/{key}", headers={"Accept": "application/json"})
        assert (game[1]["status"], game[1].get("winner")) == (end, winner)
    with pytest.raises(AdminError, match="Anna is banned already"):
        await house.arena.owner.ban("anna")
    assert await house.arena.owner.unban("anna") == "Anna may play again, with its old token"
    assert (await anna.get("/api/account"))["id"] == "anna"
    with pytest.raises(AdminError, match="Anna is not banned"):
        await house.arena.owner.unban("anna")


async def test_a_challenge_of_a_banned_player_becomes_no_game(house: House) -> None:
    anna, ben = await house.person("Anna"), await house.person("Ben")
    await house.arena.owner.ban("Ben")
    challenge = await anna.challenge(ben)
    ours = await house.arena.accounts.get("ben")
    assert ours is not None
    with pytest.raises(Exception, match="A player of this challenge may not play here"):
        await house.arena._lobby.accept(challenge["id"], ours, "")


async def test_revoking_ends_streams_and_spares_games(house: House) -> None:
    anna, ben = await house.person("Anna"), await house.person("Ben")
    game = await house.start(anna, ben)
    stream, board = await anna.events(), await anna.game(game)
    assert await house.arena.owner.revoke("Anna") == "the token of Anna is no longer valid"
    await stream.rest()
    await board.rest()
    assert (await anna.request("GET", "/api/account"))[0] == 401
    assert [each.id for each in house.arena._referee.games_of("anna")] == [game]
    account = await house.arena.accounts.get("anna")
    assert account is not None
    assert account.access is ArenaAccess.ACTIVE


async def test_renaming(house: House) -> None:
    anna, ben = await house.person("Anna"), await house.person("Ben")
    game = await house.start(anna, ben)
    for name, new_name, why in (
        ("anna", "Zoe", r"Anna has running games \(1\): wait until they end"),
        ("anna", "x", "'x' cannot be a name"),
        ("anna", "deleted-7", "'deleted-7' cannot be a name"),
        ("anna", "Lichess", "no reserved word"),
        ("anna", "a b", "cannot be a name"),
        ("nobody", "Zoe", "the arena has no account 'nobody'"),
        ("../x", "Zoe", "the arena has no account"),
    ):
        with pytest.raises(AdminError, match=why):
            await house.arena.owner.rename(name, new_name)
    await ben.act(game, "abort")
    with pytest.raises(AdminError, match="the name Ben is taken"):
        await house.arena.owner.rename("anna", "Ben")
    stream = await anna.events()
    assert await house.arena.owner.rename("anna", "Zoe") == "Anna is called Zoe now"
    await stream.rest()
    account = await anna.get("/api/account")
    assert (account["id"], account["username"]) == ("zoe", "Zoe")
    assert (await house.request("GET", "/api/user/anna"))[0] == 404
    await house.start(anna, ben)
    assert (await house.person("Anna")).name == "Anna"  # the name is free


async def test_deleting(house: House) -> None:
    anna, ben = await house.person("Anna"), await house.person("Ben")
    game = await house.start(anna, ben)
    said = await house.arena.owner.delete("anna")
    assert said == "the account is deleted; its games are now under deleted-1; games ended: 1"
    assert (await anna.request("GET", "/api/account"))[0] == 401
    export = await house.request("GET", f"/game/export/{game}")
    assert "deleted-1" in export[1]
    assert "anna" not in export[1].lower()
    assert [each.name for each in await house.arena.owner.list()] == ["Ben"]
    for name in ("anna", "deleted-1"):
        with pytest.raises(AdminError, match="the arena has no account"):
            await house.arena.owner.unban(name)
    assert (await house.request("POST", "/api/person", json={"name": "Deleted-9"}))[0] == 409


async def test_approval(street: Street) -> None:
    house = await street.open(approve_accounts=True)
    anna, bot = await house.person("Anna"), await house.bot("Robot")
    terms = {"clock.limit": 60, "clock.increment": 1}
    refused = (403, {"error": "The owner of this server has yet to approve your account"})
    assert await anna.request("POST", "/api/challenge/robot", data=terms) == refused
    await anna.events()
    challenge = await bot.challenge(anna)
    assert await anna.request("POST", f"/api/challenge/{challenge['id']}/accept") == refused
    assert (await anna.get("/api/account"))["id"] == "anna"
    (pending, _) = await house.arena.owner.list()
    assert pending.to_json() | {"created_at": ""} == {
        "name": "Anna", "is_bot": False, "access": "pending", "created_at": "", "games": 0, "playing": 0,
    }  # fmt: skip
    assert await house.arena.owner.approve("anna") == "Anna may play"
    await anna.post(f"/api/challenge/{challenge['id']}/accept")
    (active, _) = await house.arena.owner.list()
    assert (active.access, active.games, active.playing) == (ArenaAccess.ACTIVE, 1, 1)
    with pytest.raises(AdminError, match="Anna is not waiting for approval"):
        await house.arena.owner.approve("anna")


async def test_our_own_accounts_follow_the_settings(street: Street) -> None:
    async with street.opened(bot="Desdemona") as house:
        owner = house.arena.owner
        for change in (owner.ban, owner.revoke, owner.delete, lambda name: owner.rename(name, "Zoe")):
            with pytest.raises(AdminError, match="Desdemona is one of our accounts"):
                await change("desdemona")


async def test_a_closed_arena(street: Street, database: Database) -> None:
    async with street.opened() as house:
        anna, ben = await house.person("Anna"), await house.bot("Robot")
        game = await house.start(anna, ben)
        with pytest.raises(RoleTaken):
            async with Arena(ArenaConfig(), database).closed():
                pass
    arena = Arena(ArenaConfig(), database)
    async with arena.closed(["Desdemona"]):
        assert await arena.owner.ban("robot") == "Robot is banned; games ended: 1"
    async with street.opened() as house:
        assert house.arena._referee.open_count == 0
        assert (await house.request("GET", f"/game/export/{game}"))[1].count("aborted") == 1
        with pytest.raises(ConfigError, match="Robot is banned; run `desdemona arena-account unban"):
            await house.bot("Robot")
