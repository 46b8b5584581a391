"""The real program, `desdemona run`, on a GGS server, fake or real: killed, started again, played with."""

import asyncio
import math
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from storage.database import Database
from tests.ggs.client import Client, Over
from tests.ggs.table import BOT, PASSWORD, troubles
from tests.system.daemon import Daemon

PLAYS = ("tell /os open 5", "tell /os rated +", "tell /os stored +")
ANSWER_S = 60.0
"""A wish that nothing has come of by then is said again; a busy machine takes many seconds for an answer."""
LOOK_S = 10.0
"""So often a wait looks whether the program still runs."""


class Outside:
    """One bot as a process, one opponent.

    Args:
        folder: Where the program keeps its database and its log.
        port: Of the server on the loopback; the bot and the client are registered there.
        name: The bot's.
        password: Its password.
        daemon: The program, if it plays elsewhere, too; otherwise one that plays at the server only.
        settings: Of that one, as in the environment.
    """

    def __init__(
        self,
        folder: Path,
        port: int,
        *,
        name: str = BOT,
        password: str = PASSWORD,
        daemon: Daemon | None = None,
        **settings: Any,
    ) -> None:
        self.folder = folder
        self.port = port
        self.name = name
        quick: dict[str, Any] = {
            "engine__max_depth": 4,
            "engine__workers": 1,
            "engine__table_mb": 1,
            "chat__enabled": "false",
        }
        self.daemon = daemon or Daemon(
            folder,
            has_arena=False,
            server__dialect="ggs",
            server__url=f"ggs://127.0.0.1:{port}",
            server__name=name,
            server__token=password,
            **{**quick, **settings},
        )
        self.over: list[Over] = []
        self.resumed = 0
        """How often a stored match went on."""

    async def play(self, client: Client, what: str, *, at: int | None = None, do: str = "") -> Over:
        """A match that the client asks for, to its end.

        Args:
            client: Who asks.
            what: Type and clock.
            at: When so many moves have been made on a board of it,
            do: ``kill`` the bot (and start it again), or ``cut`` the client's connection.
        """
        before, wish = len(client.over), f"ask {what} {self.name}"
        taken_up = len(client.taken_up)
        while True:
            if not client.is_connected:
                await client.connect(self.port, commands=PLAYS)
            if not _begun(client, before):
                await self.until_there(client)
                client.os(wish)
            if await self._waits(client, partial(_begun, client, before), ANSWER_S):
                if do:
                    await self._waits(client, partial(_so_far, client, at or 0, before))
                if do == "kill":
                    await self.daemon.kill()
                elif do:
                    client.cut()
                await self._waits(client, partial(_over, client, before))
                if do == "kill":
                    await self.daemon.start()
                do = ""
            last = client.over[-1] if len(client.over) > before else None
            if last is not None and not (last.outcome.endswith("left") and last.key):
                self.over.append(last)
                self.resumed += len(client.taken_up) - taken_up
                return last
            if not client.is_connected:
                await client.connect(self.port, commands=PLAYS)
            before = len(client.over)
            if stored := await self._stored(client):
                wish = f"ask {stored[0]}"
                # The bot asks itself, as a rule.
                await self.until_there(client)
                await self._waits(client, partial(_begun, client, before), ANSWER_S)

    async def _waits(self, client: Client, done: Callable[[], bool], patience_s: float = math.inf) -> bool:
        """Wait while the program runs and the client is connected; whether it was worth it."""
        while not done() and client.is_connected and patience_s > 0:
            await self._is_up()
            with suppress(TimeoutError):
                await client.until(lambda: done() or not client.is_connected, min(patience_s, LOOK_S))
            patience_s -= LOOK_S
        return done()

    async def _stored(self, client: Client) -> list[str]:
        """Keys of what can be taken up."""
        while True:
            told = await client.answer("stored")
            # An error may answer an earlier wish.
            if told.startswith("/os: stored"):
                return re.findall(r"(?m)^\|(\.\d+)", told)

    async def until_there(self, client: Client) -> None:
        """The bot is there and takes matches."""
        while True:
            told = await client.answer(f"finger {self.name}")
            if re.search(r"(?m)^\|open +: [1-9]", told) and "ERR" not in told:
                return
            await self._is_up()
            await asyncio.sleep(0.3)

    async def _is_up(self) -> None:
        """Without the program everybody here would wait for ever."""
        assert not self.daemon.has_ended, await self.daemon.last_words()

    async def troubles(self) -> list[str]:
        """What is wrong in the books; the program must have ended."""
        database = await Database.open(f"sqlite:///{self.folder / 'data' / 'desdemona.db'}")
        try:
            return [line async for line in troubles(database, self.over, self.name)]
        finally:
            await database.close()


def _begun(client: Client, before: int) -> bool:
    return bool(client.seats) or len(client.over) > before


def _over(client: Client, before: int) -> bool:
    return len(client.over) > before or not client.is_connected


def _so_far(client: Client, plies: int, before: int) -> bool:
    return _over(client, before) or any(len(seat.moves) >= plies for seat in client.seats.values())
