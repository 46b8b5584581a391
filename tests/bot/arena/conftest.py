"""Fixtures: an arena on loopback with a clock that only tests advance, and players on HTTP."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.arena.server import Arena
from bot.arena.traffic.bot_slots import NO_SLOTS, BotSlots
from bot.base.config import ArenaConfig
from storage.database import Database
from tests.patience import PATIENCE_S

Json = dict[str, Any]


class FakeClock:
    """Time that stands still until a test advances it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class Lines:
    """An open stream, line by line."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def next(self) -> Json:
        """The next line that is not blank."""
        line = await self._line()
        assert line is not None, "the stream has ended"
        return line

    async def rest(self) -> list[Json]:
        """All lines up to the stream's clean end."""
        lines = []
        while (line := await self._line()) is not None:
            lines.append(line)
        return lines

    async def raw(self) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            return await self._response.content.readline()

    def close(self) -> None:
        self._response.close()

    async def _line(self) -> Json | None:
        while line := await self.raw():
            if line.strip():
                value: Json = json.loads(line)
                return value
        return None


class Player:
    """An account and its requests."""

    def __init__(
        self, house: "House", name: str, token: str, kind: str, headers: dict[str, str] | None = None
    ) -> None:
        self.name = name
        self.id = name.lower()
        self.token = token
        self._house = house
        self._kind = kind
        self._headers = headers or {}

    async def request(self, method: str, path: str, **options: Any) -> tuple[int, Any]:
        """Send a request; return the answer's status and JSON."""
        usual = {"Authorization": f"Bearer {self.token}", **self._headers}
        headers = {**usual, **options.pop("headers", {})}
        return await self._house.request(method, path, headers=headers, **options)

    async def get(self, path: str, **options: Any) -> Any:
        status, body = await self.request("GET", path, **options)
        assert status == 200, body
        return body

    async def post(self, path: str, **options: Any) -> Any:
        status, body = await self.request("POST", path, **options)
        assert status == 200, body
        return body

    async def act(self, game: str, action: str, **options: Any) -> tuple[int, Any]:
        """Act in a game; return the answer's status and JSON."""
        return await self.request("POST", f"/api/{self._kind}/game/{game}/{action}", **options)

    async def move(self, game: str, *moves: str) -> None:
        for move in moves:
            status, body = await self.act(game, f"move/{move}")
            assert (status, body) == (200, {"ok": True})

    async def events(self) -> Lines:
        return await self._house.stream("/api/stream/event", self.token)

    async def game(self, game: str) -> Lines:
        return await self._house.stream(f"/api/{self._kind}/game/stream/{game}", self.token)

    async def challenge(self, opponent: "Player", **terms: Any) -> Json:
        clock = {"clock.limit": 300, "clock.increment": 3}
        data = {"variant": "othello", "rated": "false", "color": "black", **clock, **terms}
        shown: Json = await self.post(f"/api/challenge/{opponent.name}", data=data)
        return shown

    async def hold(self, opponent: "Player") -> Lines:
        """Make a challenge that stands for as long as the answer is being read."""
        data = {"clock.limit": 300, "clock.increment": 3, "keepAliveStream": "true"}
        return await self._house.stream(
            f"/api/challenge/{opponent.name}", self.token, method="POST", data=data
        )


class House:
    """A running arena and the ways to reach it."""

    def __init__(self, arena: Arena, url: str, database: Database, clock: FakeClock) -> None:
        self.arena = arena
        self.url = url
        self.database = database
        self.clock = clock
        self._http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=PATIENCE_S))
        self._streams = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        self._raw = aiohttp.ClientSession(auto_decompress=False)
        self._open: list[aiohttp.ClientResponse] = []

    async def close(self) -> None:
        for response in self._open:
            response.close()
        await self._http.close()
        await self._streams.close()
        await self._raw.close()

    async def request(self, method: str, path: str, **options: Any) -> tuple[int, Any]:
        async with self._http.request(method, self.url + path, **options) as response:
            if response.content_type == "application/json":
                return response.status, await response.json()
            return response.status, await response.text()

    async def stream(self, path: str, token: str, *, method: str = "GET", **options: Any) -> Lines:
        headers = {"Authorization": f"Bearer {token}"}
        response = await self._streams.request(method, self.url + path, headers=headers, **options)
        self._open.append(response)
        assert response.status == 200, await response.text()
        return Lines(response)

    async def person(self, name: str, address: str = "") -> Player:
        """A new person, at an address that a trusted proxy tells."""
        headers = {"X-Forwarded-For": address} if address else {}
        status, body = await self.request("POST", "/api/person", json={"name": name}, headers=headers)
        assert status == 201, body
        return Player(self, name, body["token"], "board", headers)

    async def bot(self, name: str) -> Player:
        return Player(self, name, await self.arena.accounts.ensure_bot(name), "bot")

    async def start(self, first: Player, second: Player, **terms: Any) -> str:
        """Start a game in which `first` moves first."""
        game: str = (await first.challenge(second, **terms))["id"]
        await second.post(f"/api/challenge/{game}/accept")
        return game

    async def advance(self, seconds: float) -> None:
        """Advance time, and let everything that is due happen."""
        self.clock.advance(seconds)
        await self.arena.tick()


async def no_pause(_seconds: float) -> None:
    """Do not wait."""


class Street:
    """Opens arenas, each on its own database or again on the same one."""

    def __init__(self, database: Database, stack: AsyncExitStack) -> None:
        self.database = database
        self._stack = stack

    async def open(self, **options: Any) -> House:
        """An arena that runs until the test ends."""
        return await self._stack.enter_async_context(self.opened(**options))

    @asynccontextmanager
    async def opened(
        self,
        *,
        report: Callable[[str], Awaitable[Json | None]] | None = None,
        bot: str | None = None,
        slots: Mapping[str, BotSlots] = NO_SLOTS,
        **settings: Any,
    ) -> AsyncIterator[House]:
        """An arena that runs for the length of the block, perhaps inside a bot's program."""
        clock = FakeClock()
        settings.setdefault("games_per_opponent", 100)  # most tests have one address and one program
        settings.setdefault("rated_plies", 0)  # most tests play short games
        arena = Arena(ArenaConfig(port=0, **settings), self.database, clock=clock, report=report, slots=slots)
        arena._gate.pause = no_pause
        async with arena.running([bot] if bot else []) as url:
            house = House(arena, url, self.database, clock)
            try:
                yield house
            finally:
                await house.close()


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with all tables and no rows, made once."""
    path = tmp_path_factory.mktemp("arena") / "template.db"

    async def make() -> None:
        await (await Database.open(f"sqlite:///{path}")).close()

    asyncio.run(make())
    return path


@pytest.fixture
async def database(empty_database: Path, tmp_path: Path) -> AsyncIterator[Database]:
    path = tmp_path / "arena.db"
    shutil.copy(empty_database, path)
    opened = await Database.open(f"sqlite:///{path}", upgrade=False)
    yield opened
    await opened.close()


@pytest.fixture
async def street(database: Database) -> AsyncIterator[Street]:
    async with AsyncExitStack() as stack:
        yield Street(database, stack)


@pytest.fixture
async def house(street: Street) -> House:
    """An arena with the usual settings."""
    return await street.open()
