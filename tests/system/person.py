"""A scripted person: weak, seeded, and at the same doors as the page's people (HTTP, nothing else)."""

import json
import random
from collections.abc import AsyncIterator
from typing import Any

import aiohttp

from engine.game import replay
from engine.games.othello import PASS, Othello
from tests.system.daemon import Daemon

LOST_LINK = (aiohttp.ClientError, ConnectionError, TimeoutError)


class Person:
    """Joins under a nickname and plays games of Othello to their end, through restarts of the server."""

    def __init__(self, daemon: Daemon, name: str, seed: int) -> None:
        self.name = name
        self._daemon = daemon
        self._rng = random.Random(seed)
        self._game = Othello()
        self._http = aiohttp.ClientSession(daemon.url, timeout=aiohttp.ClientTimeout(sock_read=60))
        self._token = ""

    async def close(self) -> None:
        await self._http.close()

    async def play(
        self, *, color: str = "random", rated: bool = True, limit_s: int = 600, resign_at: int | None = None
    ) -> str:
        """Challenge the bot and play until the server ends the game.

        Args:
            resign_at: Resign with so many moves made instead of playing on.

        Returns:
            The game's key on the server.
        """
        if not self._token:
            self._token = (await self._request("POST", "/api/person", json={"name": self.name}))["token"]
        game_id = await self._challenge(color, rated, limit_s)
        while True:
            try:
                async for state in self._states(game_id):
                    if state["status"] != "started":
                        return game_id
                    await self._move(game_id, state, resign_at)
            except LOST_LINK:
                await self._daemon.up.wait()

    async def _challenge(self, color: str, rated: bool, limit_s: int) -> str:
        """Ask for a game until the bot accepts: it may be starting, or have its tables full."""
        while True:
            offer = {
                "color": color,
                "rated": "true" if rated else "false",
                "clock.limit": limit_s,
                "clock.increment": 0,
                "variant": "othello",
            }
            try:
                async with self._http.get("/api/stream/event", headers=self._headers) as events:
                    # Never repeated blindly: it may have become a game before the link was lost.
                    made = await self._once("POST", "/api/challenge/desdemona", data=offer)
                    async for event in lines(events):
                        game = event.get("game") or {}
                        if event["type"] == "gameStart" and game.get("gameId") == made["id"]:
                            return str(made["id"])
                        gone = event["type"] in ("challengeDeclined", "challengeCanceled")
                        if gone and event["challenge"]["id"] == made["id"]:
                            break
            except LOST_LINK:
                await self._daemon.up.wait()
                if game_id := await self._started():
                    return game_id

    async def _started(self) -> str | None:
        """The game that began while the link was down, if one did."""
        playing = await self._request("GET", "/api/account/playing")
        return next((str(game["gameId"]) for game in playing["nowPlaying"]), None)

    async def _states(self, game_id: str) -> AsyncIterator[dict[str, Any]]:
        async with self._http.get(f"/api/board/game/stream/{game_id}", headers=self._headers) as stream:
            side = ""
            async for event in lines(stream):
                if event["type"] == "gameFull":
                    side = "white" if event["white"]["id"] == self.name.lower() else "black"
                    event = event["state"]
                if event["type"] == "gameState":
                    yield {**event, "side": side}

    async def _move(self, game_id: str, state: dict[str, Any], resign_at: int | None) -> None:
        moves = state["moves"].split()
        position = replay(self._game, moves)
        legal = self._game.legal_moves(position)
        if not legal or self._game.sides[position.side] != state["side"]:
            return
        if resign_at is not None and len(moves) >= resign_at:
            await self._request("POST", f"/api/board/game/{game_id}/resign")
            return
        greedy = self._rng.random() < 0.5
        move = max(legal, key=lambda m: self._gain(position, m)) if greedy else self._rng.choice(legal)
        # A refusal (the move was played, the answer lost) is no matter: the stream has the truth.
        await self._request(
            "POST",
            f"/api/board/game/{game_id}/move/{self._game.move_text(move)}",
            params={"ply": len(moves)},
            may_fail=True,
        )

    def _gain(self, position: Any, move: int) -> int:
        return 0 if move == PASS else int(self._game.play(position, move).waiter.bit_count())

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    async def _request(self, method: str, path: str, *, may_fail: bool = False, **more: Any) -> Any:
        """One call, repeated when the server is killed under it."""
        while True:
            try:
                return await self._once(method, path, may_fail=may_fail, **more)
            except LOST_LINK:
                await self._daemon.up.wait()

    async def _once(self, method: str, path: str, *, may_fail: bool = False, **more: Any) -> Any:
        async with self._http.request(method, path, headers=self._headers, **more) as answer:
            body = await answer.json()
            assert may_fail or answer.status < 400, f"{method} {path}: {answer.status} {body}"
            return body


async def lines(answer: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    """The JSON lines of a stream, without keep-alives."""
    assert answer.status == 200, await answer.text()
    async for line in answer.content:
        if line.strip():
            yield json.loads(line)
