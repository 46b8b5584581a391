"""A real arena, faults in front of it, the bot behind them, and a person who plays at the arena itself."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.account.lobby import Lobby
from bot.arena.server import Arena
from bot.base.config import ArenaConfig, MannersConfig
from bot.base.dialects import DIALECTS
from bot.servers.lichess import LichessServer
from storage.database import Database
from tests.bot.fakes import config, services
from tests.faults.proxy import FaultProxy, PlannedFaults, Strike
from tests.patience import PATIENCE_S
from tests.system.ledger import troubles
from tests.system.person import Person, Wish

KEEP_ALIVE_S = 0.1
SLACK_S = 0.4
HASTE = 100.0
"""So much faster than ours does the bot's time go by, where it waits for something to pass."""

Json = dict[str, Any]


class Table:
    """Where one bot plays one person, and everything between them can go wrong."""

    def __init__(self, url: str, proxy: FaultProxy, database: Database, lobby: Lobby) -> None:
        self.url = url
        self.proxy = proxy
        self.database = database
        self.lobby = lobby
        self.up = asyncio.Event()
        self.up.set()
        self.people = 0
        self.records: dict[str, Json] = {}
        self.waits: list[float] = []
        """What the bot has waited for, in its own seconds."""

    async def play(self, wish: Wish) -> Json:
        """One game to its end; the server's record of it, once the bot's books are closed and right."""
        self.people += 1
        person = Person(self, f"Anna{self.people}", seed=3)
        try:
            async with asyncio.timeout(PATIENCE_S):
                game_id = await person.play(wish)
                await self.lobby.wait_until_drained()
        finally:
            await person.close()
        record = self.records[game_id] = await self.record(game_id)
        assert await troubles(self.database, self.records, taken_back=person.taken_back) == []
        return record

    async def record(self, game_id: str) -> Json:
        """The server's own record of a game."""
        async with (
            aiohttp.ClientSession(self.url, headers={"Accept": "application/json"}) as http,
            http.get(f"/game/export/{game_id}") as answer,
        ):
            told: Json = await answer.json()
            return told


Laid = Callable[..., AbstractAsyncContextManager[Table]]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of the newest schema, without a row."""
    path = tmp_path_factory.mktemp("faults") / "template.db"

    async def make() -> None:
        await (await Database.open(f"sqlite:///{path}")).close()

    asyncio.run(make())
    return path


@pytest.fixture
def lay(template: Path, tmp_path: Path) -> Laid:
    """Lays a table: `async with lay(Strike(...), ...) as table`."""

    @asynccontextmanager
    async def laid(
        *strikes: Strike, manners: MannersConfig | None = None, slack_s: float = SLACK_S, **options: Any
    ) -> AsyncIterator[Table]:
        path = tmp_path / "faults.db"
        shutil.copy(template, path)
        database = await Database.open(f"sqlite:///{path}", upgrade=False)
        waits: list[float] = []
        settings = config() if manners is None else config(manners=manners)

        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            await asyncio.sleep(seconds / HASTE)

        def clock() -> float:
            return time.monotonic() * HASTE

        arena = Arena(ArenaConfig(port=0, keep_alive_s=KEEP_ALIVE_S, first_move_s=3600), database)
        dialect = replace(DIALECTS["arena"], keep_alive_s=KEEP_ALIVE_S)
        try:
            async with arena.running(["Desdemona"]) as url:
                proxy = FaultProxy(url, PlannedFaults(*strikes), **options)
                async with proxy.running() as proxy_url:
                    token = arena.bot_tokens["Desdemona"]
                    server = LichessServer(dialect, proxy_url, token, slack_s=slack_s, clock=clock)
                    try:
                        async with services(server, database, sleep=sleep, settings=settings) as shared:
                            lobby = Lobby(shared)
                            table = Table(url, proxy, database, lobby)
                            table.waits = waits
                            listening = asyncio.create_task(lobby.listen())
                            try:
                                yield table
                            finally:
                                listening.cancel()
                                await asyncio.wait([listening])
                            assert listening.cancelled() or listening.exception() is None
                    finally:
                        await server.close()
        finally:
            await database.close()

    return laid


CONNECT4 = Wish(variant="connect4", rated=False, color="white")
"""A short game; the person begins."""
DRAWN = Wish(variant="fromPosition", rated=False, color="white", fen="4k3/8/8/8/8/8/3R4/4K3 w - - 96 80")
"""Chess that the fifty-move rule ends in a draw after four moves."""
