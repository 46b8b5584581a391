"""Control actions on accounts of fake servers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from bot.account.lobby import Lobby
from bot.account.pause import Pause
from bot.base.config import ChallengesConfig
from bot.base.events import GameStarted
from bot.control.actions import OperatorActions, Runtime
from bot.control.audit import OPERATOR_ACTION_EVENT
from bot.game.shared_game_limit import SharedGameLimit
from storage.database import Database
from storage.ledger.events import list_events
from tests.bot.fakes import GAME_ID, FakeServer, config, services
from tests.bot.times import FakeTime
from tests.patience import PATIENCE_S


class Rig:
    """Actions on one account, `home`, whose lobby runs; and on `away`, which is not signed in."""

    def __init__(self, database: Database, lobby: Lobby, pool: Any, time: FakeTime, pause: Pause) -> None:
        self.database = database
        self.lobby = lobby
        self.time = time
        self.stop = asyncio.Event()
        self.reloaded = "challenges"
        self.runners: dict[str, Any] = {
            "home": SimpleNamespace(lobby=lobby, trouble="", is_waiting=False, site="arena", notice="")
        }
        program = Runtime(self.runners, database, pool, pause, self.stop, lambda: self.reloaded)
        self.program = program
        self.actions = OperatorActions(program)

    async def trail(self) -> list[tuple[Any, ...]]:
        """The audit trail: account, action, who, result; the earliest first."""
        async with self.database.read() as session:
            events = await list_events(session, kind=OPERATOR_ACTION_EVENT)
        return [
            (event.account, event.detail["action"], event.detail["by"], event.detail["result"])
            for event in reversed(events)
        ]

    async def playing(self, server: FakeServer, plies: int = 0) -> None:
        """Wait until the fake's game is in play, with so many moves at least."""
        server.news.put_nowait(GameStarted(GAME_ID, True))
        await server.until(lambda: len(server.moves) >= plies)
        async with asyncio.timeout(PATIENCE_S):
            while not self._knows(plies):  # noqa: ASYNC110 - the database ends it
                await asyncio.sleep(0)

    def _knows(self, plies: int) -> bool:
        player = self.lobby.player(GAME_ID)
        return player is not None and player.stored is not None and len(player.session.moves or ()) >= plies

    async def over(self) -> None:
        """Wait until no game is going on."""
        async with asyncio.timeout(PATIENCE_S):
            while self.lobby.playing:  # noqa: ASYNC110 - the database ends it
                await asyncio.sleep(0)


@asynccontextmanager
async def opened_rig(server: FakeServer, database: Database, **challenges: Any) -> AsyncIterator[Rig]:
    time = FakeTime()
    pause = Pause(time.clock)
    settings = config(challenges=ChallengesConfig(variants=("tictactoe",), **challenges))
    async with services(server, database, settings=settings, sleep=time.sleep) as given:
        lobby = Lobby(replace(given, clock=time.clock, shared_limit=SharedGameLimit()), pause)
        listening = asyncio.create_task(lobby.listen())
        try:
            yield Rig(database, lobby, given.pool, time, pause)
        finally:
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening
