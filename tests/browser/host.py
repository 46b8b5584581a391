"""The real arena with a scripted opponent, in a thread of its own, for tests that drive a browser."""

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from bot.arena.blind_report import blind_report
from bot.arena.referee import IdleNotice
from bot.arena.server import Arena, stored_report
from bot.base.config import ArenaConfig
from bot.text.trap_report import game_report
from storage.database import Database
from storage.ledger.games import list_games_by_site_id
from tests.bot.arena.puzzles.samples import add_mistake
from tests.bot.text.known_persons import learn
from tests.browser.opponent import NAME, Opponent
from tests.patience import PATIENCE_S

T = TypeVar("T")


class Host:
    """An arena that can be stopped and started again on the same port and database."""

    def __init__(
        self,
        folder: Path,
        *others: str,
        plain_share: float = 0.5,
        like_games: tuple[str, ...] = ("othello", "chess"),
        **settings: Any,
    ) -> None:
        """Prepare an arena.

        Args:
            folder: Where the database is.
            others: Names of programs that are there beside the opponent.
            plain_share: See `Arena`.
            like_games: Likewise.
            settings: Of `ArenaConfig`, other than its defaults here.
        """
        self._folder = folder
        self._others = others
        self._plain_share = plain_share
        self._like_games = like_games
        self._settings = settings
        self._databases = 1
        self._port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="arena")
        self._serving: asyncio.Task[None] | None = None
        self.url = ""
        self.opponent: Opponent

    def __enter__(self) -> Self:
        self._thread.start()
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._serving is not None:
            self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._loop.close()

    def start(self) -> None:
        """Open the arena; the opponent is there when this returns."""
        ready = self._call(self._begin())
        self._call(self._wait(ready))

    def stop(self) -> None:
        """Close the arena as a restart of the program does: every link ends."""
        self._call(self._end())

    def forget(self) -> None:
        """The next start is with an empty database: nobody is known there."""
        self._databases += 1

    def add_bot(self, name: str) -> None:
        """Another program has an account here, and is not there."""
        self._call(self._arena.accounts.ensure_bot(name))

    def blind_report(self, game_id: str) -> dict[str, Any]:
        """A finished game's report for people who must not learn which player they met."""
        return self._call(self._blind_report(game_id))

    async def _blind_report(self, game_id: str) -> dict[str, Any]:
        async with self._database.read() as session:
            (game,) = await list_games_by_site_id(session, game_id)
            return blind_report(await game_report(session, game))

    def add_mistakes(self, game: str, many: int) -> None:
        """Somebody has fallen so often in the game's trap (tests.bot.arena.puzzles.samples)."""
        self._call(self._add_mistakes(game, many))

    async def _add_mistakes(self, game: str, many: int) -> None:
        async with self._database.write() as session:
            for number in range(many):
                await add_mistake(session, game, f"{game[:5]}{number:03}", "Ben", ply=2 * number)
        await self._arena.importer.poll()

    def learn(self, person: str) -> None:
        """Something is known of a person (tests.bot.text.known_persons)."""
        self._call(learn(self._database, person=person))

    def notify_idle(self) -> None:
        """Somebody waits, and the players of all games have 60 s to move."""
        self._call(self._notify_idle())

    async def _notify_idle(self) -> None:
        referee = self._arena._referee
        for game in referee.running():
            referee._notices[game.id] = IdleNotice(game.turn_began, referee.clock() + 60)
        referee.publish_clocks()

    def hold(self) -> None:
        """The opponent moves no more until `release`."""
        self._loop.call_soon_threadsafe(self.opponent.may_move.clear)

    def release(self) -> None:
        self._loop.call_soon_threadsafe(self.opponent.may_move.set)

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    async def _begin(self) -> asyncio.Event:
        ready = asyncio.Event()
        self._serving = asyncio.create_task(self._serve(ready))
        return ready

    async def _wait(self, ready: asyncio.Event) -> None:
        assert self._serving is not None
        is_ready = asyncio.ensure_future(ready.wait())
        await asyncio.wait([is_ready, self._serving], return_when=asyncio.FIRST_COMPLETED)
        if self._serving.done():
            is_ready.cancel()
            await self._serving

    async def _end(self) -> None:
        assert self._serving is not None
        self._serving.cancel()
        with suppress(asyncio.CancelledError):
            await self._serving
        self._serving = None

    async def _serve(self, ready: asyncio.Event) -> None:
        database = await Database.open(f"sqlite:///{self._folder / f'arena{self._databases}.db'}")
        self._database = database
        try:
            usual = {"port": self._port, "first_move_s": 3600, "rated_plies": 0}  # some games are short
            config = ArenaConfig(**{**usual, **self._settings})
            arena = self._arena = Arena(
                config,
                database,
                report=stored_report(database),
                plain_share=self._plain_share,
                like_games=self._like_games,
            )
            async with arena.running((NAME, *self._others)) as self.url, asyncio.TaskGroup() as programs:
                self._port = int(self.url.rpartition(":")[2])
                self.opponent = Opponent(self.url, arena.bot_tokens[NAME], database)
                for name in (NAME, *self._others):
                    program = Opponent(self.url, arena.bot_tokens[name], database)
                    programs.create_task((self.opponent if name == NAME else program).run())
                ready.set()
        finally:
            await database.close()
