"""Tournaments from end to end: the command, the control socket, the site, and a game that the site pairs."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from aiohttp import web

from bot.control.control_socket import ControlError
from storage.records import AccountKey, GameStatus
from tests.bot.conftest import Command
from tests.bot.servers.test_lichess import Peer, answer
from tests.bot.test_accounts import ABROAD, HOME, Program
from tests.patience import PATIENCE_S

CYPRUS = "/api/tournament/cypr0001"
GAME = "abcd1234"
PAIRING = {"gameId": GAME, "variant": {"key": "standard"}, "source": "arena", "tournamentId": "cypr0001"}
STATE = {"type": "gameState", "moves": "", "wtime": 60000, "btime": 60000, "status": "started"}
FULL = {
    "type": "gameFull",
    "id": GAME,
    "tournamentId": "cypr0001",
    "variant": {"key": "standard"},
    "clock": {"initial": 60000, "increment": 0},
    "speed": "bullet",
    "rated": True,
    "white": {"id": "desdemona", "name": "Desdemona", "title": "BOT"},
    "black": {"id": "ann", "name": "Ann"},
    "initialFen": "startpos",
    "state": STATE,
}
CASUAL_ONLY = "[challenges]\nrated = false\n"
"""A rule for challenges that the tournament's game breaks."""


class Lichess(Peer):
    """A site with one tournament; it pairs whoever joins, and the opponent resigns after the first move."""

    def __init__(self) -> None:
        super().__init__()
        self.joined, self.moved = asyncio.Event(), asyncio.Event()
        told = {"id": "cypr0001", "fullName": "Cyprus Arena", "variant": "standard"}
        self.script(CYPRUS, answer(200, told))
        self.script(f"{CYPRUS}/join", self.join)
        self.script("/api/account/playing", answer(200, {"nowPlaying": []}))
        self.script("/api/stream/event", self.account)
        self.script(f"/api/bot/game/stream/{GAME}", self.game)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        response = await super().handle(request)
        if request.path.startswith(f"/api/bot/game/{GAME}/move/"):
            self.move = request.path.rpartition("/")[2]
            self.moved.set()
        return response

    async def join(self, _request: web.Request) -> web.StreamResponse:
        self.joined.set()
        return web.json_response({"ok": True})

    async def account(self, request: web.Request) -> web.StreamResponse:
        response = await opened(request)
        await self.joined.wait()
        await tell(response, {"type": "gameStart", "game": PAIRING})
        await self.moved.wait()
        await tell(response, {"type": "gameFinish", "game": PAIRING | {"ratingDiff": 5}})
        await asyncio.Event().wait()
        return response

    async def game(self, request: web.Request) -> web.StreamResponse:
        response = await opened(request)
        await tell(response, FULL)
        await self.moved.wait()
        await tell(response, STATE | {"moves": self.move, "status": "resign", "winner": "white"})
        return response


async def opened(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
    await response.prepare(request)
    return response


async def tell(response: web.StreamResponse, message: Mapping[str, Any]) -> None:
    await response.write(json.dumps(message).encode() + b"\n")


async def test_joining_playing_and_leaving(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("lip_secret")
    site = Lichess()
    async with site.running():
        program = Program(tmp_path)
        program.write(HOME, ABROAD.format(url=site.url, token=token), more=CASUAL_ONLY)
        async with program:
            await program.shows("home: playing", "abroad: playing as desdemona at lichess")
            terms = {"id": "cypr0001", "account": "abroad"}
            said = await program.ask("tournament", **terms, password="sesame", team="venetians")
            assert said == ["joined Cyprus Arena (standard); from now on lichess pairs the bot"]
            async with asyncio.timeout(PATIENCE_S):
                await site.moved.wait()
            await program.shows("abroad: playing as desdemona at lichess; games: 0")
            said = await program.ask("tournament", **terms, withdraw=True)
            assert said == ["left tournament cypr0001; a game that has started continues"]
            with pytest.raises(ControlError, match="choose one with --account"):
                await program.ask("tournament", id="cypr0001")
            with pytest.raises(ControlError, match=r"^arena does not offer this: tournaments$"):
                await program.ask("tournament", id="cypr0001", account="home")
            site.script(f"{CYPRUS}/join", answer(403, {"error": "Missing scope"}))
            with pytest.raises(ControlError, match=r"Missing scope; .* lack the scope tournament:write$"):
                await program.ask("tournament", **terms)
    form = site.bodies[site.seen.index(("POST", f"{CYPRUS}/join"))]
    assert dict(parse_qsl(form)) == {"pairMeAsap": "true", "password": "sesame", "team": "venetians"}
    assert ("POST", f"{CYPRUS}/withdraw") in site.seen
    assert not any(path.endswith("/abort") for _, path in site.seen)
    found = await program.games(AccountKey("lichess", "desdemona"))
    assert found == {GAME: GameStatus.FINISHED}


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, Any]]:
    """What the commands ask of the running program."""
    seen: list[Mapping[str, Any]] = []

    def ask(_path: Path, request: Mapping[str, Any], _timeout_s: float | None) -> list[str]:
        seen.append(request)
        return ["joined"]

    monkeypatch.setattr("bot.control.control_socket.ask", ask)
    return seen


def test_the_command(desdemona: Command, requests: list[Mapping[str, Any]]) -> None:
    assert desdemona("tournament", "cypr0001") == (0, "joined\n", "")
    desdemona("tournament", "cypr0001", "--password", "open sesame", "--team", "venetians")
    desdemona("tournament", "cypr0001", "--withdraw", "--account", "abroad")
    plain = {
        "command": "tournament",
        "id": "cypr0001",
        "withdraw": False,
        "password": "",
        "team": "",
        "account": None,
    }
    assert requests == [
        plain,
        plain | {"password": "open sesame", "team": "venetians"},
        plain | {"withdraw": True, "account": "abroad"},
    ]


def test_who_leaves_needs_no_password(desdemona: Command, requests: list[Mapping[str, Any]]) -> None:
    status, out, err = desdemona("tournament", "cypr0001", "--withdraw", "--password", "x")
    assert (status, out, requests) == (2, "", [])
    assert "--withdraw takes neither --password nor --team" in err
