"""No ratings for nothing."""

import pytest

from bot.arena.account_admin import AdminError
from bot.arena.fairness.rating_rules import MAX_RATING_FROM_PROVISIONAL, UnratedReason, game_weight, rate_game
from bot.arena.fairness.seen_addresses import SeenAddresses
from bot.arena.glicko import Rating
from tests.bot.arena.conftest import FakeClock, House, Player, Street

LINE = "f5 d6 c3 d3 c4 f4 c5 b3 c2 e3".split()  # noqa: SIM905 - reads as a game
RATED = {"rated": "true", "variant": "othello"}


async def lost(house: House, loser: Player, winner: Player, plies: int = len(LINE)) -> str:
    """A rated game in which the loser begins and resigns after so many plies."""
    game = await house.start(loser, winner, **RATED)
    for ply, move in enumerate(LINE[:plies]):
        await (loser, winner)[ply % 2].move(game, move)
    assert (await loser.act(game, "resign"))[0] == 200
    return game


async def rating(house: House, player: Player) -> int:
    _, account = await house.request("GET", f"/api/user/{player.name}")
    rating: int = account["perfs"]["othello"]["rating"]
    return rating


async def why(house: House, game: str) -> str | None:
    accept = {"Accept": "application/json"}
    _, export = await house.request("GET", f"/game/export/{game}", headers=accept)
    reason: str | None = export.get("unrated")
    return reason


async def test_thirty_sock_puppets_make_no_rating(street: Street) -> None:
    """They resigned after two plies, and made 2162 in a second."""
    house = await street.open(rated_plies=10)
    robot = await house.bot("Robot")
    for number in range(30):
        game = await lost(house, await house.person(f"Puppet{number}"), robot, plies=2)
    assert (await rating(house, robot), await why(house, game)) == (1500, UnratedReason.SHORT)
    stream = await robot.game(game)
    assert "view" not in (await stream.next())["state"]


async def test_puppets_with_patience_make_little(street: Street) -> None:
    house = await street.open(rated_plies=10, trusted_proxies=["127.0.0.1"])
    king = await house.person("King", "10.0.0.1")
    for number in range(3):
        game = await lost(house, await house.person(f"Own{number}", "10.0.0.1"), king)
        assert await why(house, game) == UnratedReason.ADDRESS
    stream = await king.game(game)
    assert "network address" in (await stream.next())["state"]["view"]["unrated"]
    assert await rating(house, king) == 1500
    for number in range(6):
        game = await lost(house, await house.person(f"Far{number}", f"10.0.1.{number}"), king)
        assert await why(house, game) is None
    assert await rating(house, king) == MAX_RATING_FROM_PROVISIONAL


async def test_the_same_two_again_and_again(street: Street) -> None:
    house = await street.open(full_games=2, trusted_proxies=["127.0.0.1"])
    anna, ben = await house.person("Anna", "10.0.0.1"), await house.person("Ben", "10.0.0.2")
    games = [await lost(house, anna, ben) for _ in range(7)]
    assert [await why(house, game) for game in games] == [None] * 6 + [UnratedReason.PAIR]
    await house.start(anna, ben, **{**RATED, "variant": "connect4"})


def test_weights_and_caps() -> None:
    weights = [game_weight(earlier, full_games=3) for earlier in range(8)]
    assert weights == [1, 1, 1, 0.5, 0.25, 0.125, 0.0625, 0]
    new, settled = Rating(), Rating(1500, 60)
    won, fallen = rate_game((new, new), 1, 1)
    half, _ = rate_game((new, new), 1, 0.5)
    assert half.rating - 1500 == pytest.approx((won.rating - 1500) / 2)
    assert half.deviation == pytest.approx((won.deviation + 350) / 2)
    assert fallen.rating == pytest.approx(3000 - won.rating)
    strong, high = Rating(1690, 200), Rating(1900, 200)
    assert rate_game((strong, new), 1, 1)[0].rating == MAX_RATING_FROM_PROVISIONAL
    assert rate_game((new, strong), 0, 1)[1].rating == MAX_RATING_FROM_PROVISIONAL
    assert rate_game((strong, settled), 1, 1)[0].rating > MAX_RATING_FROM_PROVISIONAL
    assert rate_game((high, new), 1, 1)[0].rating == 1900
    assert rate_game((high, new), 0, 1)[0].rating < 1900


def test_addresses_are_forgotten() -> None:
    clock = FakeClock()
    seen = SeenAddresses(100.0, clock)
    for number in range(9):
        seen.note("anna", f"10.0.0.{number}")
    seen.note("ben", "10.0.0.0")  # the oldest of nine: forgotten
    assert not seen.have_shared_address("anna", "ben")
    seen.note("ben", "10.0.0.8")
    assert seen.have_shared_address("anna", "ben")
    assert b"10.0" not in repr(vars(seen)).encode()
    clock.advance(101)
    assert not seen.have_shared_address("anna", "ben")


async def test_the_owner_voids_a_game(house: House) -> None:
    anna, robot = await house.person("Anna"), await house.bot("Robot")
    first, second = [await lost(house, anna, robot) for _ in range(2)]
    once = [await rating(house, each) for each in (anna, robot)]
    said = await house.arena.owner.void_game(second)
    assert said.startswith(f"the game {second} is void; ratings changed: Anna +")
    assert await why(house, second) == UnratedReason.VOID
    assert await rating(house, anna) > once[0]
    await house.arena.owner.void_game(first)
    assert [await rating(house, each) for each in (anna, robot)] == [1500, 1500]
    _, account = await house.request("GET", "/api/user/anna")
    assert account["perfs"]["othello"] == {"games": 0, "rating": 1500, "rd": 350, "prog": 0, "prov": True}
    for game, reason in ((first, "has changed no rating"), ("nothing1", "No such game")):
        with pytest.raises(AdminError, match=reason):
            await house.arena.owner.void_game(game)
