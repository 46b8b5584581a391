"""One game from its first message to its closed books: think, write down, send, judge.

All state that matters is in the books (`bot.books`) and on the server, so a player can be killed at any
moment and another one takes the game up from there.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial

from bot import commands, manners, talk
from bot.books import Books
from bot.commands import Command
from bot.config import Claim, Config
from bot.errors import AuthError, ProtocolError, RefusedError, ServerError, TransientError
from bot.events import ChatLine, EndReason, GameEnd, GameEvent, GameSnapshot, Room
from bot.reconnect import delays, stay_connected
from bot.selection import Occasion, Selection, select
from bot.servers import Ability, Server
from bot.session import (
    Action,
    AnswerDraw,
    AnswerTakeback,
    ClaimGame,
    Finish,
    Hear,
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
from bot.workers import Rank, WorkerPool
from engine.decision import Decision
from engine.game import if_it_goes_on
from engine.games import get_game
from engine.players import StrongOptions, complete
from engine.search import Searcher
from engine.stop import StopFlag
from engine.uci.source import Engines
from storage.database import Database
from storage.errors import StorageError
from storage.records import StoredDecision

logger = logging.getLogger(__name__)

QUICK_TRIES = 8
"""A game's clock runs on while its stream is lost: the first tries follow each other within half a second."""
MAX_REFUSALS = 5
"""So often a server may refuse a move in one position before its game is given up."""
UNKNOWN_TRIES = 4
"""So often a game is asked for again, over some seconds, before the server is believed that there is none."""
AGREED_S = 1.0
"""So long after we have taken a draw the server may need to tell that the game is over, in seconds."""


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
        self._asides: set[asyncio.Task[None]] = set()
        """What may fail, and is not waited for when the game is over."""
        self._claim: asyncio.Task[None] | None = None
        self._abort: asyncio.Task[None] | None = None
        self._answers: dict[Room, asyncio.Task[None]] = {}
        """The latest of each room, and when it was asked for."""
        self._answered_at: dict[Room, float] = {}
        self._offered_ply: int | None = None
        """When we offered a draw last."""
        self._profiles: dict[int, asyncio.Task[None]] = {}
        """By the decision's key."""
        self._refusals = 0
        self._unknown = 0
        """Times in a row that the server knew nothing of the game."""
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
                    await self._listen()
                except RefusedError as error:
                    await self._server_forgot(error)
                self._leave()
                if self._end is not None and self._books.is_open:
                    await self._finish(self._end)
        except BaseExceptionGroup as group:
            raise first_error(group) from group

    # --- Events in, actions out -------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Handle what the server tells until the game is over.

        Raises:
            RefusedError: The server does not tell it; with status 404: it has no such game, for sure.
        """
        waits = delays(self._services.rng)
        while True:
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
                    quick=QUICK_TRIES,
                )
            except RefusedError as error:
                self._unknown += 1
                if error.status != 404 or (self._unknown > UNKNOWN_TRIES and not await self._is_listed()):
                    raise
                if self._unknown == 1:
                    waits = delays(self._services.rng)
                wait_s = next(waits)
                logger.info("game %s: %s; asking again in %.1f s", self.game_id, error, wait_s)
                await self._services.sleep(wait_s)
            else:
                return

    async def _is_listed(self) -> bool:
        """Whether the server counts the game among the running ones, or does not say."""
        try:
            return self.game_id in await self._server.playing()
        except TransientError as error:
            logger.info("game %s: %s", self.game_id, error)
            return True

    async def _handle(self, event: GameEvent) -> None:
        self._unknown = 0
        async with self._handling:
            await self._take(event)

    async def _take(self, event: GameEvent) -> None:
        self._session, actions = step(self._session, event)
        for action in actions:
            await self._perform(action)
            if isinstance(action, Join) and not self._books.is_open:  # settled by an earlier run
                self._end = GameEnd(EndReason.OTHER, None, "settled")
                return
        self._watch_beginning()

    async def _perform(self, action: Action) -> None:
        match action:
            case Join(snapshot):
                await self._join(snapshot)
            case StopThinking():
                if self._search is not None:
                    self._search.cancel()
            case TakenBack(ply):
                self._mind.forget()
                await self._books.take_back(ply)
            case Think():
                self._tasks.create_task(self._act(action, self._services.clock()))
            case Record(moves, since_ply):
                for stored in await self._books.record(moves, since_ply):
                    self._complete_later(stored)
            case AnswerDraw():
                self._answer_draw()
            case AnswerTakeback():
                if self._server.can(Ability.TAKEBACK):
                    self._aside("answering a takeback", self._answer_takeback)
            case ClaimGame(in_s):
                self._keep_playing()
                self._claim = self._aside("claiming the game", partial(self._claim_game, in_s))
            case KeepPlaying():
                self._keep_playing()
            case Hear(line):
                self._hear(line)
            case Finish(_, end):
                self._finished(end)

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
        if is_new:
            self._greet(config.chat.greeting, Room.PLAYER)
            self._greet(config.chat.spectators, Room.SPECTATOR)

    def _finished(self, end: GameEnd) -> None:
        if self._end is None or end.reason is not EndReason.UNTOLD:  # else we know more than the server says
            self._end = end

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
        session = self._session
        return self._end is None and session.state is State.THINKING and session.moves == think.moves

    async def _decide(self, think: Think, received_at: float) -> StoredDecision | None:
        """The decision for a turn of ours, in the books before it is returned; None: the turn has passed."""
        game, position = position_of(self._session, think.moves)
        position = if_it_goes_on(game, position)
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
        """Send a move that is in the books, until the server takes it or shows that the turn has passed.

        Or end the game instead, which leaves the move unsent; but that is tried only once for each move, so
        that a game always goes on.
        """
        if self._refusals == 0 and self._is_current(think):
            await self._resign_or_agree()
        facts = self._facts()
        offers_draw = manners.offers_draw(facts, self._services.config.manners)
        if offers_draw:
            self._offered_ply = facts.plies
        waits = delays(self._services.rng)
        while self._is_current(think):
            try:
                await self._server.move(self.game_id, stored.decision.move, offer_draw=offers_draw)
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
                self._expect(think, stored)
                await self._books.sent(stored)
                self._complete_later(stored)
                return

    async def _resign_or_agree(self) -> None:
        """Where that is right after our decision: give the game up, or take the draw that is offered.

        Once: the clock runs, and the move is ready.
        """
        facts, config = self._facts(), self._services.config.manners
        try:
            if manners.resigns(facts, config):
                await self._server.resign(self.game_id)
                # Some servers end the game without a word.
                self._end = GameEnd(EndReason.RESIGNATION, self._session.their_side, "resign")
            elif self._session.draw_offered and manners.accepts_draw(facts, config):
                self._offered_ply = facts.plies  # which it is if the offer has just been taken back
                await self._server.answer_draw(self.game_id, True)
                await self._services.sleep(AGREED_S)
        except TransientError as error:
            # It may have been done all the same; then the stream shows it, and no move is sent.
            logger.info("game %s: %s; playing on", self.game_id, error)
            await self._services.sleep(error.retry_after_s or 0.0)
        except RefusedError as error:
            logger.info("game %s: %s; playing on", self.game_id, error)

    def _expect(self, think: Think, stored: StoredDecision) -> None:
        """The opponent's time has begun."""
        moves = (*think.moves, stored.decision.move)
        if self._end is None and self._session.moves in (think.moves, moves):  # no reply yet
            game, position = position_of(self._session, moves)
            if game.legal_moves(position):
                self._mind.expect(self._books.game, game, position, stored.decision)

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
                search, stored.decision.game, self._services.clock(), rank=Rank.BACKGROUND
            )
        except ValueError as error:  # an engine of another version: the move can't be judged any more
            logger.error("game %s, ply %d: %s", self.game_id, stored.ply, error)
            await self._books.note("profile_impossible", {"ply": stored.ply, "reason": str(error)})
            return
        await self._books.complete(stored, decision)

    # --- Manners ----------------------------------------------------------------------------------------

    def _facts(self) -> manners.Facts:
        game, plies = self._books.game, len(self._session.moves or ())
        return manners.Facts(
            scores_centi=self._books.scores_centi,
            plies=plies,
            opponent_rating=game.opponent_rating,
            opponent_is_bot=game.opponent_is_bot,
            rated=game.rated,
            has_draws=self._server.can(Ability.DRAW) and manners.knows_draws(get_game(game.game)),
            plies_since_offer=None if self._offered_ply is None else plies - self._offered_ply,
        )

    def _answer_draw(self) -> None:
        """On the opponent's turn.  On ours we decide first: its last move may have been a blunder."""
        if not self._server.can(Ability.DRAW) or self._session.state is not State.WAITING:
            return
        accepts = manners.accepts_draw(self._facts(), self._services.config.manners)
        call = partial(self._server.answer_draw, self.game_id, accepts)
        self._aside("answering a draw", partial(self._insist, call, self._may_agree) if accepts else call)

    def _may_agree(self) -> bool:
        """Whether the offer that we take still stands: else taking it would be an offer of ours."""
        return self._session.draw_offered and self._session.state is State.WAITING

    async def _answer_takeback(self) -> None:
        most = manners.takebacks(self._facts(), self._services.config.manners)
        is_granted = most > 0 and await self._books.grant_takeback(most)
        await self._server.answer_takeback(self.game_id, is_granted)

    async def _claim_game(self, in_s: float) -> None:
        await self._services.sleep(in_s)
        claim = manners.claim(self._facts(), self._services.config.manners)
        if claim is Claim.NOTHING or not self._server.can(Ability.CLAIM):
            return
        ask = self._server.claim_victory if claim is Claim.VICTORY else self._server.claim_draw
        await self._insist(partial(ask, self.game_id))

    def _keep_playing(self) -> None:
        if self._claim is not None:
            self._claim.cancel()
            self._claim = None

    def _watch_beginning(self) -> None:
        """Abort a game whose opponent does not begin."""
        if not self._session.awaits_beginning:
            if self._abort is not None:
                self._abort.cancel()
                self._abort = None
        elif self._abort is None:
            has_clock = self._books.game.clock_initial_s is not None
            after_s = manners.abort_after_s(has_clock, self._services.config.manners)
            if after_s is not None:
                self._abort = self._aside("aborting the game", partial(self._abort_game, after_s))

    async def _abort_game(self, after_s: float) -> None:
        await self._services.sleep(after_s)
        await self._insist(partial(self._server.abort, self.game_id))

    async def _insist(
        self, call: Callable[[], Awaitable[None]], is_wanted: Callable[[], bool] = lambda: True
    ) -> None:
        """Ask until the server has understood, whether it says yes or no, or nobody wants it any more."""
        for wait_s in delays(self._services.rng):
            if not is_wanted():
                return
            try:
                await call()
            except TransientError as error:
                logger.info("game %s: %s; asking again", self.game_id, error)
                await self._services.sleep(max(wait_s, error.retry_after_s or 0.0))
            else:
                return

    # --- Chat -------------------------------------------------------------------------------------------

    def _greet(self, template: str, room: Room) -> None:
        game, chat = self._books.game, self._services.config.chat
        words = {"opponent": game.opponent_name, "bot": self._services.bot_name}
        text = talk.greeting(chat, template, **words, game=get_game(game.game).title)
        if text is not None:
            self._aside("the greeting", partial(self._server.chat, self.game_id, text, room))

    def _hear(self, line: ChatLine) -> None:
        """Answer a question, unless that room has had an answer just now or is waiting for one."""
        chat = self._services.config.chat
        command = commands.heard(line, self._services.bot_name)
        if command is None or not (chat.enabled and chat.commands):
            return
        now, last = self._services.clock(), self._answered_at.get(line.room)
        under_way = self._answers.get(line.room)
        if (last is not None and now - last < commands.PAUSE_S) or (under_way and not under_way.done()):
            return
        self._answered_at[line.room] = now
        self._answers[line.room] = self._aside(f"answering {command}", partial(self._answer, command, line))

    async def _answer(self, command: Command, line: ChatLine) -> None:
        game, moves = self._books.game, self._session.moves or ()
        facts = commands.Facts(
            bot=self._services.bot_name,
            opponent=game.opponent_name,
            player=game.player,
            is_over=self.is_over,
            may_tell=commands.may_tell(line, game.opponent_name, self._services.config.chat),
        )
        match command:
            case Command.EVAL | Command.TRAP if facts.may_tell or facts.is_over:
                stored = await self._books.latest(moves)
                facts = replace(facts, latest=stored.decision if stored else None)
            case Command.STATS:
                facts = replace(facts, figures=await self._books.figures())
            case _:
                pass
        text = talk.cut(commands.answer(command, facts))
        await self._server.chat(self.game_id, text, line.room)

    # --- Off to the side --------------------------------------------------------------------------------

    def _aside(self, what: str, call: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        task = self._tasks.create_task(self._try(what, call))
        self._asides.add(task)
        task.add_done_callback(self._asides.discard)
        return task

    async def _try(self, what: str, call: Callable[[], Awaitable[None]]) -> None:
        """Something that may fail without costing a move, or the game."""
        try:
            await call()
        except (ServerError, StorageError) as error:
            logger.info("game %s: %s: %s", self.game_id, what, error)
        except Exception:
            logger.exception("game %s: %s", self.game_id, what)

    def _leave(self) -> None:
        """The game is over: what has not been said and done by now is not wanted any more."""
        self._mind.forget()
        if self._search is not None:
            self._search.cancel()
        for task in self._asides:
            task.cancel()

    # --- The end ----------------------------------------------------------------------------------------

    async def _server_forgot(self, error: RefusedError) -> None:
        """The server has no such game any more: what we know of it is all that there will be."""
        if error.status != 404 or not await self._books.reopen():
            raise error
        logger.warning("game %s: %s; closing its books", self.game_id, error)
        await self._books.note("game_unknown", {"reason": str(error)})
        has_begun = len(self._session.moves or self._books.game.moves) >= manners.BEGUN_PLIES
        self._end = GameEnd(EndReason.OTHER if has_begun else EndReason.ABORTED, None, "unknown")

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
            player=game.player,
            opponent=game.opponent_name,
            bot=self._services.bot_name,
            game=get_game(game.game).title,
            result=closed.verdict,
            traps=closed.traps,
            fell=closed.fell,
        )
        if text is not None:
            await self._try("the farewell", partial(self._server.chat, self.game_id, text))


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error of a group that says what to do: a refused account ends everything."""
    leaves = [
        first_error(error) if isinstance(error, BaseExceptionGroup) else error for error in group.exceptions
    ]
    return next((error for error in leaves if isinstance(error, AuthError)), leaves[0])
