"""No ratings for nothing."""

import pytest

from bot.arena.account_admin import AdminError
from bot.arena.fairness.rating_rules import (
    MAX_RATING_FROM_PROVISIONAL,
    GainLimit,
    UnratedReason,
    gain_limit,
    game_weight,
    rate_game,
)
from bot.arena.fairness.seen_addresses import SeenAddresses
from bot.arena.glicko import MIN_PROVISIONAL_DEVIATION, Rating
from storage.arena.accounts import RatingRecord
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
    _, winner = await house.request("GET", f"/api/user/{robot.name}")
    assert winner["perfs"]["othello"]["rd"] == 350
    assert await diffs(house, game) == {"black": -LOST, "white": 0}
    stream = await robot.game(game)
    assert "view" not in (await stream.next())["state"]


async def test_a_loss_costs_as_much_after_two_plies_as_after_ten(street: Street) -> None:
    """Whoever resigned, or was mated, before ply 10 lost nothing."""
    house = await street.open(rated_plies=10, trusted_proxies=["127.0.0.1"])
    for number, plies in enumerate((2, 9, 10)):
        loser = await house.person(f"Loser{number}", f"10.0.{number}.1")
        other = await house.person(f"Other{number}", f"10.1.{number}.1")
        assert await diffs(house, await lost(house, loser, other, plies)) == {
            "black": -LOST,
            "white": LOST if plies == 10 else 0,
        }
    drawn = await house.start(other, loser, **RATED)
    await other.move(drawn, LINE[0])
    await loser.move(drawn, LINE[1])
    await other.act(drawn, "draw/yes")
    await loser.act(drawn, "draw/yes")
    told = await diffs(house, drawn)
    assert told["black"] < 0 == told["white"], "an early draw raises nobody, either"


async def test_the_order_in_which_games_end_changes_nothing(street: Street) -> None:
    """The won game could be ended first, in full, and the lost ones when they no longer counted."""
    house = await street.open(full_games=1, trusted_proxies=["127.0.0.1"])
    anna, ben = await house.person("Anna", "10.0.0.1"), await house.person("Ben", "10.0.0.2")
    games = [await house.start(anna, ben, **RATED) for _ in range(6)]
    for game in games:
        for ply, move in enumerate(LINE):
            await (anna, ben)[ply % 2].move(game, move)
    for game, who in ((games[5], ben), (games[1], ben), (games[0], anna)):
        assert (await who.act(game, "resign"))[0] == 200
    assert await why(house, games[5]) == UnratedReason.PAIR
    assert (await diffs(house, games[1]))["black"] == round(LOST / 2)
    assert (await diffs(house, games[0]))["black"] < -LOST / 2


async def test_the_newcomers_of_a_network_count_as_one(street: Street) -> None:
    house = await street.open(full_games=2, trusted_proxies=["127.0.0.1"])
    king, gains, losses = await house.person("King", "10.0.0.1"), [], []
    await house.arena.accounts.get("king")
    for number in range(4):
        house.arena.accounts.put_rating("king", "othello", RatingRecord(1300.0, 200.0, 0.06, 1))
        puppet = await house.person(f"Puppet{number}", f"2001:db8:7:{number}00::1")
        told = await diffs(house, await lost(house, puppet, king))
        gains.append(told["white"])
        losses.append(told["black"])
    assert gains[0] == gains[1] > 1.9 * gains[2] > 3.8 * gains[3] > 0
    assert len(set(losses)) == 1, "what the loser pays does not depend on it"
    house.arena.accounts.put_rating("king", "othello", RatingRecord(1300.0, 200.0, 0.06, 1))
    far = await house.person("Far", "2001:db8:8::1")
    assert (await diffs(house, await lost(house, far, king)))["white"] == gains[0]


async def test_our_own_bot_is_not_pinned_and_can_be_beaten(street: Street) -> None:
    house = await street.open(bot="Desdemona", trusted_proxies=["127.0.0.1"])
    bot, anna = await house.bot("Desdemona"), await house.person("Anna", "10.0.0.1")
    ben = await house.person("Ben", "10.0.1.1")
    for player, known in ((bot, 1700.0), (anna, 1700.0)):
        await house.arena.accounts.get(player.id)
        house.arena.accounts.put_rating(player.id, "othello", RatingRecord(known, 60.0, 0.06, 90))
    assert (await diffs(house, await lost(house, ben, bot)))["white"] > 0
    house.arena.accounts.put_rating(bot.id, "othello", RatingRecord(1705.0, 60.0, 0.06, 91))
    newcomers = [await house.person(f"New{number}", f"10.1.{number}.1") for number in range(4)]
    assert (await diffs(house, await lost(house, newcomers[0], anna)))["white"] == 0
    game = await house.start(anna, bot, **RATED)
    for ply, move in enumerate(LINE):
        await (anna, bot)[ply % 2].move(game, move)
    await bot.act(game, "resign")
    assert (await diffs(house, game))["black"] > 5
    house.arena.accounts.put_rating(anna.id, "othello", RatingRecord(1700.0, 60.0, 0.06, 92))
    gains = [(await diffs(house, await lost(house, each, anna)))["white"] for each in newcomers[1:]]
    assert (sum(gains), gains[0] > 0) == (5, True), "up to the rating of the bot, which she has beaten"


def beat_newcomers(games: int, *, is_ours: bool, beaten: float = 0, network_games: int = 0) -> Rating:
    """The rating of a player who wins four of five games against newcomers."""
    rating = Rating()
    for number in range(games):
        limit = gain_limit(
            Rating(),
            is_short=False,
            is_ours=is_ours,
            network_games=network_games,
            full_games=5,
            beaten=beaten,
        )
        rating, _ = rate_game((rating, Rating()), float(number % 5 != 4), 1, (limit, limit))
    return rating


def test_after_ninety_games_with_newcomers_a_bot_is_ranked() -> None:
    """Its rating was pinned at exactly 1700, and its deviation could not fall below 76."""
    bot = beat_newcomers(90, is_ours=True)
    assert bot.rating > MAX_RATING_FROM_PROVISIONAL + 50
    assert bot.deviation < 70 < MIN_PROVISIONAL_DEVIATION
    assert beat_newcomers(30, is_ours=True).deviation <= MIN_PROVISIONAL_DEVIATION
    person = beat_newcomers(89, is_ours=False)
    assert MAX_RATING_FROM_PROVISIONAL - 10 < person.rating <= MAX_RATING_FROM_PROVISIONAL
    assert MAX_RATING_FROM_PROVISIONAL < beat_newcomers(89, is_ours=False, beaten=1750).rating <= 1750
    assert beat_newcomers(90, is_ours=True, network_games=10).rating < 1500, "all of one network"


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


LOST = 162
"""Points that a newcomer loses to another one."""


async def diffs(house: House, game: str) -> dict[str, int]:
    """What a game did to the players' ratings, by colour."""
    accept = {"Accept": "application/json"}
    _, export = await house.request("GET", f"/game/export/{game}", headers=accept)
    return {colour: export["players"][colour]["ratingDiff"] for colour in ("black", "white")}


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

    def limit(opponent: Rating) -> GainLimit:
        return gain_limit(opponent, is_short=False, is_ours=False, network_games=0, full_games=5, beaten=0)

    capped = (limit(new), limit(new))
    assert limit(settled) == GainLimit()
    assert rate_game((strong, new), 1, 1, capped)[0].rating == MAX_RATING_FROM_PROVISIONAL
    assert rate_game((new, strong), 0, 1, capped)[1].rating == MAX_RATING_FROM_PROVISIONAL
    assert rate_game((strong, settled), 1, 1)[0].rating > MAX_RATING_FROM_PROVISIONAL
    assert rate_game((high, new), 1, 1, capped)[0].rating == 1900
    assert rate_game((high, new), 0, 1, capped)[0].rating < 1900


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
    seen.note("cara", "2001:db8:0:aa01::/64")
    for name, network, shared in (("dora", "aa02", True), ("eva", "bb01", False), ("flo", "aa01", True)):
        seen.note(name, f"2001:db8:0:{network}::/64")
        assert seen.have_shared_address("cara", name) is shared, "a home has a /56"
        assert seen.was_at("cara", f"2001:db8:0:{network}::/64") is shared
        assert seen.have_shared_network("cara", name)
    assert not seen.have_shared_network("cara", "ben")
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
