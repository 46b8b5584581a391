"""Challenges: made, answered, withdrawn, expired."""

import asyncio
import json
from typing import Any

import pytest

from bot.arena.lobby import CHALLENGE_LIFETIME_S
from bot.base.rate_limiter import Rate
from tests.bot.arena.conftest import House, Street

CASTLES = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R b KQkq - 0 1"
MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"


async def test_a_challenge_and_its_refusal(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    assert (await person.challenge(bot))["status"] == "offline"
    ours, theirs = await bot.events(), await person.events()
    await ours.next()
    await theirs.next()
    shown = await person.challenge(bot, color="random", rated="true", **{"clock.limit": 600})
    assert (shown["status"], shown["direction"], shown["speed"]) == ("created", "out", "rapid")
    assert shown["timeControl"] == {"type": "clock", "limit": 600, "increment": 3, "show": "10+3"}
    got = (await ours.next())["challenge"]
    assert (got["id"], got["direction"], got["challenger"]["name"]) == (shown["id"], "in", "Anna")
    assert (await theirs.next())["challenge"]["direction"] == "out"
    await bot.post(f"/api/challenge/{shown['id']}/decline", data={"reason": "tooSlow"})
    told = await theirs.next()
    assert told["type"] == "challengeDeclined"
    assert told["challenge"]["declineReasonKey"] == "tooslow"
    assert "too slow" in told["challenge"]["declineReason"]
    assert (await person.get(f"/api/challenge/{shown['id']}/show"))["status"] == "declined"
    status, _ = await bot.request("POST", f"/api/challenge/{shown['id']}/accept")
    assert status == 404


async def test_a_challenge_runs_out(street: Street) -> None:
    house = await street.open(challenge_expiry_s=20)
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    shown = await person.challenge(bot)
    events = await bot.events()
    assert (await events.next())["type"] == "challenge"
    await house.advance(19)
    assert len((await bot.get("/api/challenge"))["in"]) == 1
    await house.advance(2)
    told = await events.next()
    assert (told["type"], told["challenge"]["id"]) == ("challengeCanceled", shown["id"])
    assert await bot.get("/api/challenge") == {"in": [], "out": []}
    assert (await bot.request("POST", f"/api/challenge/{shown['id']}/accept"))[0] == 404


async def test_cancel(house: House) -> None:
    person, bot, other = await house.person("Anna"), await house.bot("Desdemona"), await house.person("Carl")
    shown = await person.challenge(bot)
    path = f"/api/challenge/{shown['id']}"
    for player in (bot, other):
        assert (await player.request("POST", f"{path}/cancel"))[0] == 404
    assert (await other.request("GET", f"{path}/show"))[0] == 404
    await person.post(f"{path}/cancel")
    assert (await person.get(f"{path}/show"))["status"] == "canceled"
    # Cancelling an accepted challenge aborts its game, while that is still possible.
    game = await house.start(person, bot)
    await person.post(f"/api/challenge/{game}/cancel")
    assert (await (await bot.game(game)).next())["state"]["status"] == "aborted"


async def test_only_the_challenged_may_accept(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    shown = await person.challenge(bot)
    assert (await person.request("POST", f"/api/challenge/{shown['id']}/accept"))[0] == 404
    await bot.post(f"/api/challenge/{shown['id']}/accept")
    assert (await bot.request("POST", f"/api/challenge/{shown['id']}/accept"))[0] == 404
    assert len((await bot.get("/api/account/playing"))["nowPlaying"]) == 1


@pytest.mark.parametrize(
    ("terms", "error"),
    [
        ({"clock.limit": "soon"}, "clock.limit is not a whole number"),
        (
            {"clock.limit": 50},
            "clock.limit is 50; allowed: 0, 15, 30, 45, 60, 90, or whole minutes up to 10800",
        ),
        ({"clock.limit": -60}, "clock.limit is -60"),
        ({"clock.increment": 61}, "clock.increment is 61; allowed: 0 to 60"),
        ({"clock.limit": 0, "clock.increment": 0}, "cannot both be 0"),
        ({"clock.limit": ""}, "Send both clock.limit and clock.increment, or neither"),
        ({"clock.limit": "9" * 5000}, "clock.limit is not a whole number"),
        ({"clock.limit": 10**9}, "clock.limit is out of range"),
        ({"rated": "perhaps"}, "rated is neither true nor false"),
        ({"color": "green"}, "color is 'green'; allowed: white, black, random"),
        ({"variant": "chess"}, "variant is 'chess'; played here: othello"),
        ({"days": 3}, "correspondence"),
        ({"fen": "8/8", "variant": "othello"}, "The variant othello does not allow a fen"),
        ({"fen": "8/8", "variant": "standard"}, "fen: a FEN has a board"),
        ({"variant": "fromPosition"}, "fen is missing"),
        ({"variant": "fromPosition", "fen": "startpos line" + " g1f3 g8f6 f3g1 f6g8" * 9}, "fen: not a FEN"),
        ({"variant": "fromPosition", "fen": "8/8/8/3k4/8/8/8/K6R w - - 0 1 x"}, "fen: not a FEN"),
        ({"variant": "fromPosition", "fen": "8/8/8/3k4/8/8/8/K6R w - - 0 4100"}, "number is above 1000"),
        ({"variant": "standard", "fen": MATED}, "fen: the game is already over in this position"),
        ({"variant": "fromPosition", "fen": CASTLES, "rated": "true"}, "cannot be rated"),
        ({"rated": "true", "clock.limit": "", "clock.increment": ""}, "A rated game needs a clock"),
    ],
)
async def test_terms_that_are_refused(house: House, terms: dict[str, Any], error: str) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    data = {"clock.limit": 300, "clock.increment": 3, **terms}
    status, body = await person.request("POST", f"/api/challenge/{bot.name}", data=data)
    assert status == 400
    assert error in body["error"]
    assert await person.get("/api/challenge") == {"in": [], "out": []}


async def test_who_cannot_be_challenged(house: House) -> None:
    person = await house.person("Anna")
    for name in ("nobody", "x", "%00%00"):
        assert (await person.request("POST", f"/api/challenge/{name}"))[0] == 404
    assert await person.request("POST", "/api/challenge/anna") == (
        400,
        {"error": "You cannot challenge yourself"},
    )


async def test_a_program_challenges_a_person_only_where_it_is_seen(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    terms = {"clock.limit": 300, "clock.increment": 3}
    assert await bot.request("POST", "/api/challenge/anna", data=terms) == (
        400,
        {"error": "Anna is a person; only programs can be challenged"},
    )
    assert await person.get("/api/challenge") == {"in": [], "out": []}
    await person.events()
    assert (await bot.challenge(person))["status"] == "created"


async def test_without_a_variant_it_is_chess_as_at_lichess(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    terms = {"clock.limit": 300, "clock.increment": 3}
    shown = await person.post(f"/api/challenge/{bot.name}", data=terms)
    assert shown["variant"] == {"key": "standard", "name": "Standard", "short": "Std"}


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("challenge/ai", "no games against the AI"),
        ("challenge/open", "no open challenges"),
        ("challenge/abcdefgh/start-clocks", "starts the clocks itself"),
        ("round/abcdefgh/add-time/15", "cannot give time"),
        ("token/admin-challenge", "creates no tokens for others"),
        ("board/seek", "no seeks"),
    ],
)
async def test_what_lichess_has_and_the_arena_lacks(house: House, path: str, error: str) -> None:
    person = await house.person("Anna")
    status, body = await person.request("POST", f"/api/{path}", data={"level": 3})
    assert (status, list(body)) == (400, ["error"])
    assert error in body["error"]


async def test_json_and_unlimited_time(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    shown = await person.post("/api/challenge/desdemona", json={"rated": False, "color": None})
    assert (shown["timeControl"], shown["speed"]) == ({"type": "unlimited"}, "correspondence")
    await bot.post(f"/api/challenge/{shown['id']}/accept")
    full = await (await bot.game(shown["id"])).next()
    assert "clock" not in full
    assert full["state"]["wtime"] == 2_147_483_647


async def test_rematch(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game = await house.start(person, bot, rated="true")
    refused = await person.act(game, "rematch")
    assert refused == (400, {"error": "The game is not over yet"})
    await person.move(game, "f5")
    await bot.move(game, "d6")
    await person.act(game, "resign")
    status, shown = await person.act(game, "rematch")
    assert (status, shown["rematchOf"], shown["finalColor"], shown["rated"]) == (200, game, "white", True)
    assert shown["timeControl"]["show"] == "5+3"
    assert shown["challenger"]["rating"] < 1500
    await bot.post(f"/api/challenge/{shown['id']}/accept")
    full = await (await bot.game(shown["id"])).next()
    assert (full["black"]["name"], full["rematchOf"]) == ("Desdemona", game)
    assert full["black"]["rating"] > 1500


async def test_too_many_challenges_wait_for_one(house: House) -> None:
    bot, other = await house.bot("Desdemona"), await house.bot("Iago")
    persons = [await house.person(name) for name in ("Anna", "Bert")]
    for number in range(30):
        await persons[number % 2].challenge(bot)
    house.clock.advance(5)
    status, body = await persons[0].request("POST", "/api/challenge/desdemona")
    assert (status, body["ratelimit"]) == (429, {"key": "challenge.waiting", "seconds": 15})
    assert "waiting for Desdemona" in body["error"]
    await persons[0].challenge(other)
    await house.advance(16)
    await persons[0].challenge(bot)


async def test_a_flood_from_one_address(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "bot.arena.http.ADDRESS_CHALLENGE_RATE", Rate("challenge.address", burst=4, per_s=0.1)
    )
    house = await street.open(bot="Desdemona", trusted_proxies=("127.0.0.1",))
    embedded, other = await house.bot("Desdemona"), await house.bot("Iago")
    anna, bert = await house.person("Anna"), await house.person("Bert")
    # Withdrawn at once: none of them waits.
    for person in (anna, bert, anna):
        await person.post(f"/api/challenge/{(await person.challenge(other))['id']}/cancel")
    game = await house.start(anna, bert)
    await anna.act(game, "abort")
    rematch = f"/api/board/game/{game}/rematch"
    for player, path in ((bert, "/api/challenge/iago"), (anna, rematch), (other, "/api/challenge/anna")):
        status, body = await player.request("POST", path)
        assert (status, body["ratelimit"]) == (429, {"key": "challenge.address", "seconds": 10})
    # It contains neither the program that runs the arena nor other addresses.
    await anna.events()
    await bert.events()
    for person in (anna, bert, anna, bert, anna):
        await embedded.challenge(person)
    await anna.post("/api/challenge/iago", headers={"X-Forwarded-For": "198.51.100.7"})
    house.clock.advance(10)
    await anna.challenge(other)


async def test_the_embedded_program_leaves_room_for_others_at_its_address(street: Street) -> None:
    house = await street.open(bot="Desdemona", games_per_address=3)
    embedded, anna, bert = (
        await house.bot("Desdemona"),
        await house.person("Anna"),
        await house.person("Bert"),
    )
    await anna.events()
    for _ in range(5):
        await embedded.challenge(anna)
    for _ in range(3):
        await anna.challenge(bert)
    assert (await bert.request("POST", "/api/challenge/anna"))[0] == 429
    await embedded.challenge(anna)


async def test_a_rematch_offered_both_ways_is_one_game(house: House) -> None:
    anna, bert = await house.person("Anna"), await house.person("Bert")
    game = await house.start(anna, bert)
    await anna.act(game, "abort")
    (_, offered), (_, again) = await anna.act(game, "rematch"), await anna.act(game, "rematch")
    assert again == offered
    status, answer = await bert.act(game, "rematch")
    assert (status, answer["id"], answer["status"]) == (200, offered["id"], "accepted")
    for player in (anna, bert):
        playing = (await player.get("/api/account/playing"))["nowPlaying"]
        assert [each["gameId"] for each in playing] == [offered["id"]]
        assert await player.get("/api/challenge") == {"in": [], "out": []}
        _, later = await player.act(game, "rematch")
        assert (later["id"], later["status"]) == (offered["id"], "accepted")


async def test_a_rematch_that_was_declined_can_be_offered_again(house: House) -> None:
    anna, bert = await house.person("Anna"), await house.person("Bert")
    game = await house.start(anna, bert)
    await anna.act(game, "abort")
    _, declined = await anna.act(game, "rematch")
    await bert.post(f"/api/challenge/{declined['id']}/decline")
    status, offered = await anna.act(game, "rematch")
    assert (status, offered["id"] != declined["id"]) == (200, True)


async def test_an_upgrade_while_a_game_begins(street: Street) -> None:
    """Whichever comes first, the game and the account agree on the players."""
    house = await street.open(open_bots=True, bots_per_address=1000)
    for number in range(10):
        person, bot = await house.person(f"Anna{number}"), await house.bot(f"Bot{number}")
        await person.events()
        game = (await bot.challenge(person))["id"]
        requests = [
            person.request("POST", f"/api/challenge/{game}/accept"),
            person.request("POST", "/api/bot/account/upgrade"),
        ]
        (accepted, _), (upgraded, _) = await asyncio.gather(*requests[:: 1 - 2 * (number % 2)])
        if number % 2:
            accepted, upgraded = upgraded, accepted
        assert accepted == 200
        is_bot = upgraded == 200
        match = await house.arena._referee.find(game)
        assert [account.is_bot for account in match.players if account.id == person.id] == [is_bot]
        assert ((await person.get("/api/account")).get("title") == "BOT") == is_bot


async def test_a_challenge_that_is_held_stays_until_it_is_answered(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    answers = [await person.hold(bot) for _ in range(3)]
    first, second, third = [(await answer.next())["id"] for answer in answers]
    await house.advance(CHALLENGE_LIFETIME_S - 1)
    assert (await bot.get(f"/api/challenge/{first}/show"))["status"] == "offline"
    await bot.post(f"/api/challenge/{first}/accept")
    await bot.post(f"/api/challenge/{second}/decline")
    await person.post(f"/api/challenge/{third}/cancel")
    done = [await answer.rest() for answer in answers]
    assert done == [[{"done": "accepted"}], [{"done": "declined"}], [{"done": "canceled"}]]


async def test_nobody_holds_a_challenge_for_ever(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    answer = await person.hold(bot)
    await answer.next()
    await house.advance(CHALLENGE_LIFETIME_S + 1)
    assert await answer.rest() == [{"done": "canceled"}]


async def test_a_challenge_runs_out_when_its_holder_hangs_up(street: Street) -> None:
    house = await street.open(keep_alive_s=0.05)
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    events = await bot.events()
    answer = await person.hold(bot)
    challenge = (await answer.next())["id"]
    assert (await events.next())["type"] == "challenge"
    answer.close()
    line = b"\n"
    while not line.strip():  # each keep-alive gives the arena another chance to notice
        await house.advance(21)
        line = await events.raw()
    gone = json.loads(line)
    assert (gone["type"], gone["challenge"]["id"]) == ("challengeCanceled", challenge)
