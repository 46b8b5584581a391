"""Games at odds: what the challenger asks for, who gives what, and that no rating changes."""

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.arena import wire
from bot.arena.variants import VARIANTS
from bot.base.dialects import DIALECTS
from bot.base.events import FROM_POSITION, ChallengeReceived
from bot.servers.lichess_wire import read_account_event
from engine.opponents.odds import ODDS, odds_named
from storage.arena.accounts import AccountRecord, RatingRecord
from tests.bot.arena.conftest import House

VARIANT_OF = {"chess": "standard", "othello": "othello", "xiangqi": "xiangqi"}
EACH = [(VARIANT_OF[game], odds.name) for game, of_game in ODDS.items() for odds in of_game]
FIRST = {"othello": "black", "standard": "white", "xiangqi": "white"}


@pytest.mark.parametrize(("variant", "name"), EACH)
@pytest.mark.parametrize("is_first", [True, False])
async def test_the_challenged_bot_gives_the_odds(
    house: House, variant: str, name: str, is_first: bool
) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    other = {"white": "black", "black": "white"}
    colour = FIRST[variant] if is_first else other[FIRST[variant]]
    events = await bot.events()
    shown = await person.challenge(bot, variant=variant, color=colour, odds=name)
    assert shown["odds"] == {"name": name, "color": other[colour]}
    game = {"standard": "chess"}.get(variant, variant)
    odds = odds_named(game, name)
    assert odds is not None
    assert shown["initialFen"] == odds.starts[1 if is_first else 0]
    message = await events.next()
    event = read_account_event(message, DIALECTS["arena"], "desdemona")
    assert isinstance(event, ChallengeReceived)
    known = event.challenge
    assert (known.kind, known.rated, known.initial_position) == (FROM_POSITION, False, shown["initialFen"])
    await bot.post(f"/api/challenge/{shown['id']}/accept")
    full = await (await bot.game(shown["id"])).next()
    assert (full["odds"], full["initialFen"], full["rated"]) == (shown["odds"], shown["initialFen"], False)
    watched = await (await house.stream(f"/api/arena/game/{shown['id']}/watch", person.token)).next()
    assert watched["odds"] == shown["odds"]


async def test_a_random_colour_decides_who_lacks_the_piece(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    seen: set[str] = set()
    while len(seen) < 2:
        shown = await person.challenge(bot, variant="standard", color="random", odds="queen")
        assert shown["odds"]["color"] != shown["finalColor"]
        seen.add(shown["finalColor"])
        await person.post(f"/api/challenge/{shown['id']}/cancel")


async def test_in_a_rematch_the_same_player_gives_the_same_odds(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    for variant, name in (("standard", "rook"), ("othello", "3-corners"), ("xiangqi", "horse")):
        game = await house.start(person, bot, variant=variant, color="white", odds=name)
        assert await person.act(game, "abort") == (200, {"ok": True})
        rematch = await person.post(f"/api/board/game/{game}/rematch")
        assert (rematch["finalColor"], rematch["odds"]) == ("black", {"name": name, "color": "white"})


async def test_the_position_itself_may_be_sent_instead(house: House) -> None:
    """As our own bots do: it is the odds that say who gives them."""
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    await person.events()
    odds = ODDS["othello"][0]
    shown = await bot.challenge(person, variant="othello", color="white", fen=odds.starts[1])
    assert (shown["odds"], shown["initialFen"]) == ({"name": "1-corner", "color": "white"}, odds.starts[1])


@pytest.mark.parametrize(
    ("terms", "error"),
    [
        ({"odds": "queen", "rated": "true"}, "Games at odds cannot be rated"),
        ({"variant": "othello", "odds": "1-corner", "rated": "true"}, "Games at odds cannot be rated"),
        ({"odds": "1-corner"}, "odds: '1-corner' cannot be given here"),
        ({"odds": "x" * 5000}, "cannot be given here"),
        ({"variant": "connect4", "odds": "queen"}, "odds: 'queen' cannot be given here"),
        ({"variant": "chess960", "odds": "queen"}, "odds: 'queen' cannot be given here"),
        ({"odds": "queen", "fen": "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"}, "odds: 'queen' cannot be given here"),
        ({"variant": "xiangqi", "fen": ODDS["othello"][0].starts[0]}, "does not allow a fen, except those"),
        ({"variant": "othello", "fen": f"{ODDS['othello'][0].starts[0]} f5"}, "does not allow a fen, except"),
        (
            {"variant": "xiangqi", "fen": ODDS["xiangqi"][0].starts[0].replace("0 1", "119 1")},
            "does not allow a fen, except those",
        ),
    ],
)
async def test_odds_that_are_refused(house: House, terms: dict[str, Any], error: str) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    data = {"variant": "standard", "clock.limit": 300, "clock.increment": 3, **terms}
    status, body = await person.request("POST", f"/api/challenge/{bot.name}", data=data)
    assert status == 400
    assert error in body["error"]


def account(name: str, rating: float, deviation: float) -> AccountRecord:
    ratings = {"standard": RatingRecord(rating, deviation, 0.06, 100)}
    return AccountRecord(name.lower(), name, name == "Desdemona", datetime(2026, 11, 1, tzinfo=UTC), ratings)


@pytest.mark.parametrize(
    ("bot", "person", "deviations", "suggested"),
    [
        (2500, 1500, (50, 50), {"standard": "queen"}),
        (1500, 1500, (50, 50), {}),
        (1400, 2500, (50, 50), {}),
        (2500, 1500, (50, 200), {}),  # a provisional rating says too little
        (2500, 1500, (200, 50), {}),
    ],
)
def test_odds_are_suggested_by_established_ratings(
    bot: float, person: float, deviations: tuple[float, float], suggested: Any
) -> None:
    ours, yours = account("Desdemona", bot, deviations[0]), account("Anna", person, deviations[1])
    assert wire.suggested_odds(ours, yours) == suggested


def test_a_position_of_chess_shows_the_ratings_of_chess() -> None:
    assert {key: variant.rating_key for key, variant in VARIANTS.items() if variant.rating_key != key} == {
        "fromPosition": "standard"
    }


async def test_the_lobby_names_the_odds_of_each_game(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    await bot.events()
    lobby = await person.get("/api/arena")
    assert {each["key"]: each["odds"] for each in lobby["variants"]} == {
        "othello": ["1-corner", "2-corners", "3-corners"],
        "standard": ["pawn", "knight", "rook", "queen", "queen+knight"],
        "xiangqi": ["horse", "cannon", "2-horses", "chariot"],
        "connect4": [],
    }
    assert lobby["bots"][0]["odds"] == {}  # ratings of newcomers say nothing
