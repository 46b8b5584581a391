"""Everything that lichess.org defines, checked against its OpenAPI schemas with our variants added."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from bot.arena.variants import VARIANTS
from tests.bot.arena.conftest import House, Json, Player, Street
from tests.shared_data import shared_path

BASE = "https://schemas.invalid/"
ACCEPT_JSON = {"Accept": "application/json"}


class Schemas:
    """The schemas by name, and those inside the descriptions of individual calls."""

    def __init__(self, specs: Path) -> None:
        self._specs = specs
        registry: Registry[Any] = Registry()
        for path in (specs / "schemas").glob("*.yaml"):
            content = yaml.safe_load(path.read_text())
            if path.stem in ("VariantKey", "PerfType"):
                content["enum"] = [*content["enum"], *VARIANTS]
            resource = Resource.from_contents(content, DRAFT202012)
            registry = registry.with_resource(f"{BASE}schemas/{path.name}", resource)
        self._registry = registry

    def check(self, name: str, value: Any) -> None:
        """Check a value against the schema of that name."""
        self._check({"$ref": f"{BASE}schemas/{name}.yaml"}, value)

    def check_call(self, path: str, value: Any) -> None:
        """Check a value against the successful response in a call's description."""
        call = yaml.safe_load((self._specs / "tags" / path).read_text())
        operation = call.get("get") or call["post"]
        content = next(iter(operation["responses"]["200"]["content"].values()))
        # References are relative to the description: tags/<tag>/<call>.yaml.
        schema = json.loads(json.dumps(content["schema"]).replace("../../schemas/", f"{BASE}schemas/"))
        self._check(schema, value)

    def _check(self, schema: Json, value: Any) -> None:
        Draft202012Validator(schema, registry=self._registry).validate(value)


@pytest.fixture(scope="module")
def schemas() -> Schemas:
    return Schemas(shared_path("lichess-openapi/specs"))


EVENTS = {
    "gameStart": "GameStartEvent",
    "gameFinish": "GameFinishEvent",
    "challenge": "ChallengeEvent",
    "challengeCanceled": "ChallengeCanceledEvent",
    "challengeDeclined": "ChallengeDeclinedEvent",
}
GAME_LINES = {
    "gameFull": "GameFullEvent",
    "gameState": "GameStateEvent",
    "chatLine": "ChatLineEvent",
    "opponentGone": "OpponentGoneEvent",
}


OPENINGS = {
    "othello": ("black", "f5", "d6"),
    "standard": ("white", "e2e4", "e7e5"),
    "xiangqi": ("white", "h3e3", "h8e8"),
    "connect4": ("white", "d1", "d2"),
    "chess960": ("white", "a2a4", "a7a5"),
    "fromPosition": ("white", "e1h1", "e8a8"),
}
"""The colour that moves first, and the first moves."""
POSITION = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1"


def test_every_variant_has_an_opening() -> None:
    assert set(OPENINGS) == set(VARIANTS)


async def play_through(
    house: House, person: Player, bot: Player, variant: str = "othello"
) -> tuple[str, list[Json], list[Json]]:
    """Play a game in which everything happens once; return its id, the account's events and its lines."""
    colour, first, second = OPENINGS[variant]
    terms = {"rated": "true"} if VARIANTS[variant].is_rated else {"fen": POSITION}
    events = await bot.events()
    for answer in ("decline", "cancel"):
        challenge = (await person.challenge(bot))["id"]
        await (bot if answer == "decline" else person).post(f"/api/challenge/{challenge}/{answer}")
    game = await house.start(person, bot, variant=variant, color=colour, **terms)
    lines = await bot.game(game)
    await person.move(game, first)
    await person.act(game, "chat", data={"room": "player", "text": "hello"})
    await bot.move(game, second)
    await person.act(game, "draw/yes")
    await bot.act(game, "draw/no")
    await house.advance(121)
    await bot.act(game, "claim-victory")
    told: list[Json] = []
    while not told or told[-1]["type"] != "gameFinish":
        told.append(await events.next())
    return game, told, await lines.rest()


@pytest.mark.parametrize("variant", OPENINGS)
async def test_streams(house: House, schemas: Schemas, variant: str) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    _, events, lines = await play_through(house, person, bot, variant)
    assert {event["type"] for event in events} == set(EVENTS)
    for event in events:
        schemas.check(EVENTS[event["type"]], event)
    assert {line["type"] for line in lines} == set(GAME_LINES)
    for line in lines:
        schemas.check(GAME_LINES[line["type"]], line)


async def test_answers(house: House, schemas: Schemas) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    game, _, _ = await play_through(house, person, bot)
    running = await house.start(person, bot)
    await person.challenge(bot)
    await person.post(
        f"/api/challenge/{bot.name}", json={"clock.limit": 60, "clock.increment": 0, "rated": True}
    )
    await person.post(f"/api/challenge/{bot.name}")

    for player in (person, bot):
        schemas.check_call("account/api-account.yaml", await player.get("/api/account"))
        schemas.check_call("users/api-user-username.yaml", await player.get(f"/api/user/{player.name}"))
        schemas.check_call("games/api-account-playing.yaml", await player.get("/api/account/playing"))
        listed = await player.get("/api/challenge")
        assert sum(map(len, listed.values())) == 3
        schemas.check_call("challenges/api-challenge.yaml", listed)
    for each in listed["in"]:
        shown = await bot.get(f"/api/challenge/{each['id']}/show")
        schemas.check_call("challenges/api-challenge-id-show.yaml", shown)
    for each in (game, running):
        exported = await bot.get(f"/game/export/{each}", headers=ACCEPT_JSON)
        schemas.check("GameJson", exported)
    schemas.check_call("bot/api-bot-game-gameId-chat.yaml", await bot.get(f"/api/bot/game/{game}/chat"))
    ids = f"{person.id},{bot.id},nobody"
    statuses = await bot.get(f"/api/users/status?ids={ids}")
    assert [each["id"] for each in statuses] == [person.id, bot.id]
    schemas.check_call("users/api-users-status.yaml", statuses)
    tested = await house.request("POST", "/api/token/test", data=f"{person.token},{bot.token},nonsense")
    assert [each and each["userId"] for each in tested[1].values()] == [person.id, bot.id, None]
    schemas.check_call("oauth/api-token-test.yaml", tested[1])
    status, text = await house.request("GET", "/api/bot/online")
    assert status == 200
    for line in text.splitlines():
        schemas.check("User", json.loads(line))
    assert len(text.splitlines()) == 1


async def test_upgrade_and_refusals(street: Street, schemas: Schemas) -> None:
    house = await street.open(open_bots=True)
    newcomer, person = await house.person("Newcomer"), await house.person("Anna")
    schemas.check("Ok", await newcomer.post("/api/bot/account/upgrade"))
    account = await newcomer.get("/api/account")
    assert account["title"] == "BOT"
    schemas.check("UserExtended", account)
    await house.start(person, newcomer)
    for player in (newcomer, person):
        status, body = await player.request("POST", "/api/bot/account/upgrade")
        assert status == 400
        schemas.check("Error", body)
    status, body = await person.request("POST", "/api/challenge/abcdefgh/accept")
    assert status == 404
    schemas.check("NotFound", body)
