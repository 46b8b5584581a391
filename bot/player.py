"""One game from its first message to its closed books: think, write down, send, judge.

All state that matters is in the books (`bot.books`) and on the server, so a player can be killed at any
moment and another one takes the game up from there.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

from bot import talk
from bot.books import Books
from bot.config import Config
from bot.errors import AuthError, ProtocolError, RefusedError, ServerError, TransientError
from bot.events import EndReason, GameEnd, GameEvent, GameSnapshot
from bot.reconnect import delays, stay_connected
from bot.selection import Occasion, Selection, select
from bot.servers import Server
from bot.session import (
    Action,
    ClaimVictory,
    DeclineDraw,
    DeclineTakeback,
    Finish,
    Join,
    KeepPlaying,
    Record,
    Session,
    State,
    StopThinking,
    TakenBack,
    Think,
    position_of,
    step,
)
from bot.thinking import Mind
from bot.workers import WorkerPool
from engine.decision import Decision
from engine.games import get_game
from engine.players import StrongOptions, complete
from engine.search import Searcher
from engine.stop import StopFlag
from engine.uci.source import Engines
from storage.database import Database
from storage.records import StoredDecision

logger = logging.getLogger(__name__)

MAX_REFUSALS = 5
"""So often a server may refuse a move in one position before its game is given up."""


@dataclass(frozen=True)
class Services:
    """What every game shares."""

    server: Server
    database: Database
    pool: WorkerPool
    config: Config
    bot_name: str
    strong: StrongOptions = field(default_factory=StrongOptions)
    """Settings of the strong player."""
    rng: random.Random = field(default_factory=random.Random)
    """For the selection, and for spreading out retries."""
    clock: Callable[[], float] = time.monotonic
    """Seconds of a clock that never goes back."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    engines: Engines = field(default_factory=Engines)
    """Other engines, for the player ``trappy_uci``."""


class GamePlayer:
    """Plays one game; `run` it once."""

    def __init__(self, game_id: str, services: Services) -> None:
        self.game_id = game_id
        self._services = services
        self._server = services.server
        self._books = Books(services.database, services.server.site, game_id)
        self._session = Session()
        self._handling = asyncio.Lock()
        self._end: GameEnd | None = None
        self._search: asyncio.Task[Decision] | None = None
        self._claim: asyncio.Task[None] | None = None
        self._profiles: dict[int, asyncio.Task[None]] = {}
        """By the decision's key."""
        self._refusals = 0
        self._tasks: asyncio.TaskGroup
        self._mind: Mind

    @property
    def is_over(self) -> bool:
        """Whether the server has ended the game; its books may stay open for a while."""
        return self._end is not None

    @property
    def opponent_id(self) -> str:
        """Empty before the first message."""
        return self._books.game.opponent_id if self._books.is_known else ""

    async def run(self) -> None:
        """Play until the server ends the game, then settle every decision and close the books.

        Raises:
            AuthError: The server does not accept us any more.
            ProtocolError: The game cannot be understood; it stays open in the books.
            Exception: Whatever else went wrong; another `GamePlayer` may take the game up.
        """
        try:
            async with asyncio.TaskGroup() as self._tasks:
                self._mind = Mind(self._services, self._tasks)
                try:
                    await stay_connected(
                        lambda: self._server.game_events(self.game_id),
                        self._handle,
                        name=f"{self._server.site} game {self.game_id}",
                        done=lambda: self._end is not None,
                        on_change=self._link_changed,
                        sleep=self._services.sleep,
                        clock=self._services.clock,
                        rng=self._services.rng,
                    )
                except RefusedError as error:
                    await self._server_forgot(error)
                if self._end is not None and self._books.is_open:
                    await self._finish(self._end)
        except BaseExceptionGroup as group:
            raise first_error(group) from group

    # --- Events in, actions out -------------------------------------------------------------------------

    async def _handle(self, event: GameEvent) -> None:
        async with self._handling:
            await self._take(event)

    async def _take(self, event: GameEvent) -> None:
        self._session, actions = step(self._session, event)
        for action in actions:
            await self._perform(action)
            if isinstance(action, Join) and not self._books.is_open:  # settled by an earlier run
                self._end = GameEnd(EndReason.OTHER, None, "settled")
                return

    async def _perform(self, action: Action) -> None:
        match action:
            case Join(snapshot):
                await self._join(snapshot)
            case StopThinking():
                if self._search is not None:
                    self._search.cancel()
            case TakenBack(ply):
                await self._books.take_back(ply)
            case Think():
                self._tasks.create_task(self._act(action, self._services.clock()))
            case Record(moves, since_ply):
                for stored in await self._books.record(moves, since_ply):
                    self._complete_later(stored)
            case DeclineDraw():
                self._aside("declining a draw", self._server.answer_draw(self.game_id, False))
            case DeclineTakeback():
                self._aside("declining a takeback", self._server.answer_takeback(self.game_id, False))
            case ClaimVictory(in_s):
                self._keep_playing()
                self._claim = self._tasks.create_task(self._claim_victory(in_s))
            case KeepPlaying():
                self._keep_playing()
            case Finish(_, end):
                self._keep_playing()
                self._end = end

    async def _join(self, snapshot: GameSnapshot) -> None:
        config = self._services.config

        def choose(occasion: Occasion) -> Selection:
            found = select(occasion, config.selection, self._services.rng)
            engine = self._services.engines.settings(occasion.game)
            if found.player != "trappy_uci" or engine is None:
                return found
            return replace(found, detail={**found.detail, "engine": engine.asked()})

        is_new = await self._books.open(snapshot, choose, config.trap.params())
        game = self._books.game
        logger.info(
            "game %s: %s as %s against %s (%s)",
            self.game_id,
            "playing" if is_new else "taking up",
            game.player,
            game.opponent_name,
            game.opponent_rating or "unrated",
            extra={"game_id": self.game_id, "player": game.player, "opponent": game.opponent_id},
        )
        title = get_game(game.game).title
        text = talk.greeting(
            config.chat, opponent=game.opponent_name, bot=self._services.bot_name, game=title
        )
        if is_new and text is not None:
            self._aside("the greeting", self._server.chat(self.game_id, text))

    async def _link_changed(self, reason: str | None) -> None:
        if reason is None:
            await self._books.note("game_link_back", {})
        else:
            await self._books.note("game_link_lost", {"reason": reason})

    # --- Our move ---------------------------------------------------------------------------------------

    async def _act(self, think: Think, received_at: float) -> None:
        stored = await self._decide(think, received_at)
        if stored is not None:
            await self._send(think, stored)

    def _is_current(self, think: Think) -> bool:
        return self._session.state is State.THINKING and self._session.moves == think.moves

    async def _decide(self, think: Think, received_at: float) -> StoredDecision | None:
        """The decision for a turn of ours, in the books before it is returned; None: the turn has passed."""
        game, position = position_of(self._session, think.moves)
        stored = await self._books.find(think.ply, game.position_text(position))
        if stored is not None or not self._is_current(think):
            return stored
        found = self._tasks.create_task(
            self._mind.decide(self._books.game, game, position, think.remaining_s, received_at)
        )
        self._search = found
        await asyncio.wait([found])
        if found.cancelled():
            return None
        return await self._books.commit(think.moves, found.result())

    async def _send(self, think: Think, stored: StoredDecision) -> None:
        """Send a move that is in the books, until the server takes it or shows that the turn has passed."""
        waits = delays(self._services.rng)
        while self._is_current(think):
            try:
                await self._server.move(self.game_id, stored.decision.move)
            except TransientError as error:
                # It may have been played all the same; then the stream shows it and this loop ends.
                wait_s = max(next(waits), error.retry_after_s or 0.0)
                logger.warning("game %s: %s; sending it again in %.1f s", self.game_id, error, wait_s)
                await self._services.sleep(wait_s)
            except RefusedError as error:
                if not self._is_current(think) or await self._read_again(think, error, next(waits)):
                    return
            else:
                self._refusals = 0
                await self._books.sent(stored)
                self._complete_later(stored)
                return

    async def _read_again(self, think: Think, error: RefusedError, wait_s: float) -> bool:
        """After a refused move: ask where the game stands, which starts the turn anew if it is still ours.

        Returns:
            Whether the server told, here or meanwhile by the game's stream.
        """
        self._refusals += 1
        if self._refusals > MAX_REFUSALS:
            raise ProtocolError(f"the server keeps refusing our move: {error}", str(error))
        logger.info("game %s: %s; reading the game again", self.game_id, error)
        await self._services.sleep(wait_s)
        if not self._is_current(think):  # the stream has told meanwhile
            return True
        # Servers end an older stream of the same account; `stay_connected` opens the next one.
        events = self._server.game_events(self.game_id)
        try:
            async for event in events:
                if isinstance(event, GameSnapshot):
                    async with self._handling:
                        self._session = self._session.rejoin()
                        await self._take(event)
                    return True
        except (TransientError, RefusedError) as lost:
            logger.info("game %s: %s", self.game_id, lost)
        finally:
            aclose = getattr(events, "aclose", None)
            if aclose is not None:
                await aclose()
        return False

    # --- On the opponent's time -------------------------------------------------------------------------

    def _complete_later(self, stored: StoredDecision) -> None:
        if not stored.is_complete and stored.id not in self._profiles:
            self._profiles[stored.id] = self._tasks.create_task(self._complete(stored))

    async def _complete(self, stored: StoredDecision) -> None:
        """Complete the chosen move's profile, so that the reply can be judged."""

        def search(searcher: Searcher, stop: StopFlag) -> Decision:
            return complete(stored.decision, searcher, stop)

        try:
            decision = await self._services.pool.run(
                search, stored.decision.game, self._services.clock(), background=True
            )
        except ValueError as error:  # an engine of another version: the move can't be judged any more
            logger.error("game %s, ply %d: %s", self.game_id, stored.ply, error)
            await self._books.note("profile_impossible", {"ply": stored.ply, "reason": str(error)})
            return
        await self._books.complete(stored, decision)

    def _aside(self, what: str, call: Coroutine[Any, Any, None]) -> None:
        self._tasks.create_task(self._try(what, call))

    async def _try(self, what: str, call: Coroutine[Any, Any, None]) -> None:
        """Something that may fail without costing a move."""
        try:
            await call
        except ServerError as error:
            logger.info("game %s: %s: %s", self.game_id, what, error)

    async def _claim_victory(self, in_s: float) -> None:
        await self._services.sleep(in_s)
        await self._try("claiming victory", self._server.claim_victory(self.game_id))

    def _keep_playing(self) -> None:
        if self._claim is not None:
            self._claim.cancel()
            self._claim = None

    # --- The end ----------------------------------------------------------------------------------------

    async def _server_forgot(self, error: RefusedError) -> None:
        """The server has no such game any more: what we know of it is all that there will be."""
        if error.status != 404 or not await self._books.reopen():
            raise error
        logger.warning("game %s: %s; closing its books", self.game_id, error)
        await self._books.note("game_unknown", {"reason": str(error)})
        self._end = GameEnd(EndReason.OTHER, None, "unknown")

    async def _finish(self, end: GameEnd) -> None:
        for stored in await self._books.record(self._session.moves or self._books.game.moves, 0, end):
            self._complete_later(stored)
        while pending := [task for task in self._profiles.values() if not task.done()]:
            await asyncio.wait(pending)
        closed = await self._books.finish(end)
        game = self._books.game
        logger.info(
            "game %s: %s (%s) against %s; traps set: %d, fell: %d",
            self.game_id,
            closed.verdict,
            end.status,
            game.opponent_name,
            closed.traps,
            closed.fell,
            extra={"game_id": self.game_id, "result": closed.verdict.value},
        )
        text = talk.farewell(
            self._services.config.chat,
            opponent=game.opponent_name,
            bot=self._services.bot_name,
            game=get_game(game.game).title,
            result=closed.verdict,
            traps=closed.traps,
            fell=closed.fell,
        )
        if text is not None:
            await self._try("the farewell", self._server.chat(self.game_id, text))


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error of a group that says what to do: a refused account ends everything."""
    leaves = [
        first_error(error) if isinstance(error, BaseExceptionGroup) else error for error in group.exceptions
    ]
    return next((error for error in leaves if isinstance(error, AuthError)), leaves[0])
