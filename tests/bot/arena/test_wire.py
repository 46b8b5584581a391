"""What programs written for lichess.org read from an arena: the required fields and their types."""

from typing import Any

import pytest

from tests.bot.arena.conftest import House, Json

Shape = dict[str, Any]
"""Maps keys to types, to tuples of types, or to shapes.  Further keys are allowed."""

VARIANT: Shape = {"key": str, "name": str, "short": str}
PLAYER: Shape = {"id": str, "name": str, "title": (str, type(None)), "rating": int}
GAME_STATE: Shape = {
    "type": str,
    "moves": str,
    "wtime": int,
    "btime": int,
    "winc": int,
    "binc": int,
    "status": str,
}
GAME_FULL: Shape = {
    "type": str,
    "id": str,
    "variant": VARIANT,
    "clock": {"initial": int, "increment": int},
    "speed": str,
    "perf": {"name": str},
    "rated": bool,
    "createdAt": int,
    "white": PLAYER,
    "black": PLAYER,
    "initialFen": str,
    "state": GAME_STATE,
}
GAME_INFO: Shape = {
    "fullId": str,
    "gameId": str,
    "fen": str,
    "color": str,
    "lastMove": str,
    "source": str,
    "status": {"id": int, "name": str},
    "variant": VARIANT,
    "speed": str,
    "perf": str,
    "rated": bool,
    "hasMoved": bool,
    "opponent": {"id": str, "username": str, "rating": int},
    "isMyTurn": bool,
    "secondsLeft": int,
    "compat": {"bot": bool, "board": bool},
}
GAME_START: Shape = {"type": str, "game": GAME_INFO}
GAME_FINISH: Shape = {"type": str, "game": {**GAME_INFO, "winner": str, "ratingDiff": int}}
CHALLENGER: Shape = {"id": str, "name": str, "rating": int}
CHALLENGE: Shape = {
    "type": str,
    "challenge": {
        "id": str,
        "url": str,
        "status": str,
        "challenger": CHALLENGER,
        "destUser": CHALLENGER,
        "variant": VARIANT,
        "rated": bool,
        "speed": str,
        "timeControl": {"type": str, "limit": int, "increment": int, "show": str},
        "color": str,
        "finalColor": str,
        "perf": {"icon": str, "name": str},
    },
    "compat": {"bot": bool, "board": bool},
}
PERF: Shape = {"games": int, "rating": int, "rd": int, "prog": int}
ACCOUNT: Shape = {"id": str, "username": str, "perfs": {"othello": PERF}, "createdAt": int, "url": str}


def check(shape: Shape, value: Json, where: str) -> None:
    """Fail with the path of the first field that is missing or has the wrong type."""
    assert isinstance(value, dict), where
    for key, kind in shape.items():
        path = f"{where}.{key}"
        assert key in value, path
        if isinstance(kind, dict):
            check(kind, value[key], path)
        else:
            # Exact types: in Python, true is a number too.
            assert type(value[key]) in (kind if isinstance(kind, tuple) else (kind,)), path


async def test_shapes(house: House) -> None:
    person, bot = await house.person("Anna"), await house.bot("Desdemona")
    events = await bot.events()
    game = await house.start(person, bot, rated="true")
    lines = await bot.game(game)
    await person.move(game, "f5")
    await bot.move(game, "d6")
    await person.act(game, "resign")

    for kind, shape in (("challenge", CHALLENGE), ("gameStart", GAME_START), ("gameFinish", GAME_FINISH)):
        event = await events.next()
        assert event["type"] == kind
        check(shape, event, kind)
    full, *states = await lines.rest()
    assert [full["type"], *(state["type"] for state in states)] == ["gameFull", *["gameState"] * 3]
    check(GAME_FULL, full, "gameFull")
    for state in states:
        check(GAME_STATE, state, "gameState")
    check({"winner": str}, states[-1], "gameState")
    check(ACCOUNT, await person.get("/api/account"), "account")
    check({**ACCOUNT, "title": str}, await bot.get("/api/account"), "account")


@pytest.mark.parametrize("value", [{}, {"a": True}, {"a": "1"}, {"a": None}])
def test_the_check_notices(value: Json) -> None:
    with pytest.raises(AssertionError, match=r"top\.a"):
        check({"a": int}, value, "top")
