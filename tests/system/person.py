"""A scripted person: weak, seeded, and at the same doors as the page's people (HTTP, nothing else)."""

import asyncio
import json
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol

import aiohttp

from bot.arena.variants import VARIANTS
from bot.base.events import Clock
from engine.game import Game, replay
from engine.games.othello import PASS

LOST_LINK = (aiohttp.ClientError, ConnectionError, TimeoutError)
TEN_MINUTES = Clock(600, 0)


class Place(Protocol):
    """Where people play."""

    @property
    def url(self) -> str: ...

    @property
    def up(self) -> asyncio.Event:
        """Set while somebody answers there."""


@dataclass(frozen=True, slots=True)
class Habits:
    """What a person does beside moving."""

    resign_at: int | None = None
    """Resign with so many moves made instead of playing on."""
    offers_draws: float = 0.0
    """Chance that a move offers a draw."""
    asks_back: float = 0.0
    """Chance to ask for a move back, after making it."""
    thinks_s: float = 0.0
    """Longest time for a move, in seconds; less when the clock runs down."""
    says: float = 0.0
    """Chance of a line of chat with a move."""
    flags_at: int | None = None
    """Move no more with so many moves made, and let the clock run out."""
    leaves_at: int | None = None
    """Close the game with so many moves made and never open it again: the opponent may claim it."""
    blinks_at: int | None = None
    """Lose the connection once with so many moves made, and come back."""
    is_rude: bool = False
    """Send with each move a request that the server has to refuse."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The game that a person wants."""

    variant: str = "othello"
    clock: Clock = TEN_MINUTES
    color: str = "random"
    rated: bool = True
    fen: str = ""
    """Where it begins, for the variant fromPosition."""
    habits: Habits = Habits()


@dataclass(slots=True)
class _Board:
    """A game as it was when the person last looked, so that only new moves are played on it."""

    rules: Game[Any]
    start: Any
    moves: list[str] = field(default_factory=list)
    position: Any = None

    def show(self, moves: list[str]) -> list[tuple[int, str]]:
        """Put the moves on the board; those that were taken back, each with its ply."""
        pairs = zip(self.moves, moves, strict=False)
        same = next((ply for ply, (old, new) in enumerate(pairs) if old != new), len(moves))
        gone = list(enumerate(self.moves))[same:]
        if self.position is None or gone:
            self.moves, self.position = [], self.start
        self.position = replay(self.rules, moves[len(self.moves) :], self.position)
        self.moves = moves
        return gone


RUDE: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("POST", "/api/board/game/{game}/move/zz9", {}),
    ("POST", "/api/board/game/{game}/move/%00%1b%5b31m", {}),
    ("POST", "/api/board/game/abcdefgh/move/e2e4", {}),
    ("POST", "/api/board/game/{game}/chat", {"data": {"text": "x" * 5000}}),
    ("POST", "/api/board/game/{game}/chat", {"data": {"text": "\x1b[31m<img onerror=alert(1)>\u202e"}}),
    ("POST", "/api/board/game/{game}/claim-victory", {}),
    ("POST", "/api/challenge/{bot}", {"data": {"variant": "go", "clock.limit": "-1"}}),
    ("POST", "/api/challenge/nobody", {"json": ["not", "fields"]}),
    ("POST", "/api/bot/account/upgrade", {}),
    ("GET", "/api/board/game/stream/abcdefgh", {}),
)
"""What the server has to refuse, and at worst to show as text: method, path, body."""
GONE_POLL_S = 0.25
DECLINED_S = 0.1
"""Until the next challenge."""


class Person:
    """Joins under a nickname and plays games to their end, through restarts of the server.

    Args:
        place: Where.
        name: To join under; another one if it is taken.
        seed: Of moves and whims.
        bot: Id of the account to challenge.
        address: As a proxy would tell it to the server, which has to trust it; empty: none.
    """

    def __init__(self, place: Place, name: str, seed: int, bot: str = "desdemona", address: str = "") -> None:
        self.name = name
        self.taken_back: set[tuple[str, int, str]] = set()
        """Moves that were on the board and were taken back: game, ply, move."""
        self._place = place
        self._bot = bot
        self._address = address
        self._rng = random.Random(seed)
        self._http = aiohttp.ClientSession(place.url, timeout=aiohttp.ClientTimeout(sock_read=60))
        self.answers_s: list[float] = []
        """Seconds from each move of ours until our next turn."""
        self._moved_at: float | None = None
        self._token = ""

    async def close(self) -> None:
        await self._http.close()

    async def play(self, wish: Wish = Wish()) -> str:
        """Challenge the bot and play until the server ends the game.

        Returns:
            The game's key on the server.
        """
        await self._join()
        game_id = await self._challenge(wish)
        self._moved_at = None
        habits = wish.habits
        has_blinked = False
        while True:
            try:
                async with aclosing(self._states(game_id)) as states:
                    async for state in states:
                        if state["status"] != "started":
                            return game_id
                        made = len(state["moves"].split())
                        if habits.leaves_at is not None and made >= habits.leaves_at:
                            break
                        if habits.blinks_at is not None and made >= habits.blinks_at and not has_blinked:
                            has_blinked = True
                            break
                        await self._move(game_id, state, habits)
                if habits.leaves_at is not None:
                    await self._until_over(game_id)
                    return game_id
            except LOST_LINK:
                await self._place.up.wait()

    async def _until_over(self, game_id: str) -> None:
        """Wait for the end of a game without looking at its stream."""
        while True:
            playing = await self._request("GET", "/api/account/playing")
            if all(game["gameId"] != game_id for game in playing["nowPlaying"]):
                return
            await asyncio.sleep(GONE_POLL_S)

    async def pester(self, enough: Callable[[], bool]) -> None:
        """Send challenges that are too fast for the bot, and take each back at once."""
        await self._join()
        offer = {"clock.limit": 15, "clock.increment": 0, "variant": "othello"}
        while not enough():
            made = await self._request("POST", f"/api/challenge/{self._bot}", data=offer, may_fail=True)
            if "id" in made:  # the server may have had too many of them
                # The bot may have declined it by now.
                await self._request("POST", f"/api/challenge/{made['id']}/cancel", may_fail=True)

    async def _join(self) -> None:
        while not self._token:
            answer = await self._request("POST", "/api/person", json={"name": self.name}, may_fail=True)
            if "token" in answer:
                self._token = answer["token"]
            else:  # the server was killed after it had given us the name, and before it could say so
                assert "is taken" in answer["error"], answer
                self.name += "x"

    async def _challenge(self, wish: Wish) -> str:
        """Ask for a game until the bot accepts: it may be starting, or have its tables full."""
        offer = {
            "color": wish.color,
            "rated": "true" if wish.rated else "false",
            "clock.limit": wish.clock.initial_s,
            "clock.increment": wish.clock.increment_s,
            "variant": wish.variant,
            **({"fen": wish.fen} if wish.fen else {}),
        }
        while True:
            try:
                async with self._http.get("/api/stream/event", headers=self._headers) as events:
                    # Never repeated blindly: it may have become a game before the link was lost.
                    made = await self._once("POST", f"/api/challenge/{self._bot}", data=offer)
                    async for event in lines(events):
                        game = event.get("game") or {}
                        if event["type"] == "gameStart" and game.get("gameId") == made["id"]:
                            return str(made["id"])
                        gone = event["type"] in ("challengeDeclined", "challengeCanceled")
                        if gone and event["challenge"]["id"] == made["id"]:
                            break
                await asyncio.sleep(DECLINED_S)
                await self._place.up.wait()  # it declines while it is stopping
            except LOST_LINK:
                await self._place.up.wait()
                if game_id := await self._started():
                    return game_id

    async def _started(self) -> str | None:
        """The game that began while the link was down, if one did."""
        playing = await self._request("GET", "/api/account/playing")
        return next((str(game["gameId"]) for game in playing["nowPlaying"]), None)

    async def _states(self, game_id: str) -> AsyncGenerator[dict[str, Any], None]:
        async with self._http.get(f"/api/board/game/stream/{game_id}", headers=self._headers) as stream:
            more: dict[str, Any] = {}
            colour = ""
            async for event in lines(stream):
                if event["type"] == "gameFull":
                    variant = VARIANTS[event["variant"]["key"]]
                    colour = "white" if event["white"]["id"] == self.name.lower() else "black"
                    fen = event["initialFen"]
                    start = variant.start(None if fen == "startpos" else fen)
                    more = {"side": variant.side(colour), "board": _Board(variant.rules, start)}
                    event = event["state"]
                if event["type"] == "gameState":
                    left_ms = event[f"{colour[0]}time"]
                    yield event | more | {"left_s": left_ms / 1000}

    async def _move(self, game_id: str, state: dict[str, Any], habits: Habits) -> None:
        moves, board = state["moves"].split(), state["board"]
        self.taken_back |= {(game_id, ply, move) for ply, move in board.show(moves)}
        rules: Game[Any] = board.rules
        position = board.position
        legal = rules.legal_moves(position)
        if not legal or rules.side_to_move(position) != state["side"]:
            return
        if self._moved_at is not None:
            self.answers_s.append(time.monotonic() - self._moved_at)
        path = f"/api/board/game/{game_id}"
        if habits.resign_at is not None and len(moves) >= habits.resign_at:
            await self._request("POST", f"{path}/resign", may_fail=True)
            return
        if habits.flags_at is not None and len(moves) >= habits.flags_at:
            return
        move = self._choose(rules, position, legal)
        if habits.thinks_s:
            await asyncio.sleep(self._rng.random() * min(habits.thinks_s, state["left_s"] / 4))
        draw = self._rng.random() < habits.offers_draws
        if self._rng.random() < habits.says:
            await self._request("POST", f"{path}/chat", data={"text": "!eval"}, may_fail=True)
        if habits.is_rude:
            method, where, more = self._rng.choice(RUDE)
            refused = await self._request(
                method, where.format(game=game_id, bot=self._bot), may_fail=True, **more
            )
            assert "error" in refused or where.endswith("/chat"), (where, refused)
        # A refusal (the move was played, the answer lost) is no matter: the stream has the truth.
        await self._request(
            "POST",
            f"{path}/move/{rules.move_text(move)}",
            params={"ply": len(moves), "offeringDraw": "true" if draw else "false"},
            may_fail=True,
        )
        self._moved_at = time.monotonic()
        if self._rng.random() < habits.asks_back:
            await self._request("POST", f"{path}/takeback/yes", may_fail=True)

    def _choose(self, rules: Game[Any], position: Any, legal: Sequence[int]) -> int:
        """Which move to make: a random one, at Othello half the time the one that turns most discs."""
        if rules.name == "othello" and self._rng.random() < 0.5:
            return max(legal, key=lambda move: self._gain(rules, position, move))
        return self._rng.choice(legal)

    @staticmethod
    def _gain(rules: Game[Any], position: Any, move: int) -> int:
        return 0 if move == PASS else int(rules.play(position, move).waiter.bit_count())

    @property
    def _headers(self) -> dict[str, str]:
        return {
            **({"Authorization": f"Bearer {self._token}"} if self._token else {}),
            **({"X-Forwarded-For": self._address} if self._address else {}),
        }

    async def _request(self, method: str, path: str, *, may_fail: bool = False, **more: Any) -> Any:
        """One call, repeated when the server is killed under it."""
        while True:
            try:
                return await self._once(method, path, may_fail=may_fail, **more)
            except LOST_LINK:
                await self._place.up.wait()

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
