"""Follows an account's event stream: answers challenges, starts games and resumes them.

Events of the account's stream change `bot.account.game_slots`, and every change wakes the one task that
decides which challenges to accept.  The resulting calls to the server run in the background, so that a slow
one never blocks the stream.
"""

import asyncio
import logging
import math
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Any

from bot.account.background_tasks import BackgroundTasks
from bot.account.block_list import BlockFile
from bot.account.challenge_answers import ChallengeResponder, about, detail_of
from bot.account.challenge_policy import Accept, Decline, GameSlot, WaitForSlot, lasting_refusal
from bot.account.game_slots import GameSlots
from bot.account.matchmaking import Matchmaker
from bot.base.config import Config
from bot.base.errors import AuthError, ProtocolError, RefusedError, ServerError, TransientError
from bot.base.events import (
    AccountEvent,
    Bot,
    Challenge,
    ChallengeGone,
    ChallengeReceived,
    GameFinished,
    GameStarted,
    Proposal,
    Reply,
)
from bot.base.reconnect import delays, stay_connected
from bot.game.player import GamePlayer
from bot.game.services import Services
from bot.servers import goes_on
from engine.games import ENGINE_GAMES
from storage.errors import StorageError
from storage.games import count_bot_games, list_open_games, set_rating_diff
from storage.records import AccountKey, StoredGame
from storage.tables.types import now_utc

logger = logging.getLogger(__name__)

UNANSWERED_S = 60.0
"""Seconds after which we withdraw our own challenge; the server should have expired it before."""
MAX_PLAYERS = 50
"""Most games played at once, unless the settings allow more: lichess.org lists at most this many.  Further
games begin when others end, except those whose challenge was accepted here."""
MAX_CRASHES = 5
"""Crashes of this program after which a game is given up."""
GIVEN_UP_S = 600.0
"""Seconds between queries whether a given-up game is still running."""
CRASH_FORGOTTEN_S = 600.0
"""A game that runs this many seconds after a crash starts with a fresh crash count."""

_OURS = "our challenge"
"""Its key among the slots; it contains a space, so it is never an id."""


@dataclass(slots=True, eq=False)
class _Game:
    """A game that is being played, waits for others to end, or was given up."""

    player: GamePlayer | None = None
    """Its player, with an open ledger."""
    is_given_up: bool = False
    is_read_again: bool = False
    """It was given up and has ended: it is read once more, for its ledger only."""
    is_started_again: bool = False
    """The server reported its start while it was being played: perhaps it resumes after an adjournment."""
    was_open: bool = False
    """It was open in the ledger when we connected: the server may never report its end."""
    challenge_id: str = ""
    """The challenge that it came from, if that has another id."""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it is no longer played."""
    is_end_reported: bool = False
    """The account's stream has reported its end."""

    @property
    def is_held(self) -> bool:
        """Whether it waits for other games to end."""
        return self.player is None and not self.is_given_up


class Lobby:
    """Owns the account's stream and a `GamePlayer` for each game; `listen` runs them all."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._server = services.server
        self._slots = GameSlots(services.config.challenges)
        self._block_file = BlockFile(services.config.challenges.block_file)
        self._matching: asyncio.Task[None] | None = None
        """The task that challenges other programs."""
        self._background = BackgroundTasks(services, self._change)
        self._answers = ChallengeResponder(
            services, self._slots, self._background, take_up=self._take_up_served, changed=self._change
        )
        self._matchmaker = Matchmaker(
            services, quiet_s=self._quiet_s, ask=self._ask, blocked=lambda: self._block_file.names()
        )
        limits = services.config.challenges
        self._max_players = max(MAX_PLAYERS, limits.max_games + limits.max_slow_games)
        self._games: dict[str, _Game] = {}
        """In order of their start."""
        self._not_played: set[str] = set()
        """Games that this program does not play and has already aborted or tried to."""
        self._unreported: set[str] = set()
        """Ended games whose end the account's stream has not reported: the rating change may have been sent
        while the link was lost."""
        self._begun: dict[str, asyncio.Future[str]] = {}
        """By challenge of the operator's: set to the game's id when it begins."""
        self._link_changes: asyncio.Queue[str | None] = asyncio.Queue()
        """The reason when the account's link is lost; None when it is back."""
        self._is_watching = False
        """A task is watching how long challenges wait."""
        self._asking: asyncio.Future[Reply] | None = None
        """The answer to our own challenge; cancelling it withdraws the challenge."""
        self._quiet_since: float | None = services.clock()
        """None while a game is running or a challenge waits."""
        self._changed = asyncio.Event()
        """Set when there may be something to decide."""
        self._empty = asyncio.Event()
        self._empty.set()

    async def listen(self) -> None:
        """Answer challenges and play until cancelled; the next start resumes games that are still running.

        Raises:
            AuthError: The server does not accept us any more.
        """
        self._block_file.names()  # logs at once if it cannot be read
        async with asyncio.TaskGroup() as tasks:
            self._background.tasks = tasks
            await self._take_up_games(is_start=True)
            tasks.create_task(self._fill_slots())
            tasks.create_task(self._follow_link())
            self._matching = tasks.create_task(self._matchmaker.run())
            await stay_connected(
                self._server.account_events,
                self._handle,
                name=f"{self._server.site} account",
                on_change=self._link_changed,
                sleep=self._services.sleep,
                clock=self._services.clock,
                rng=self._services.rng,
            )

    def reload(self, config: Config) -> None:
        """Go on with other settings; running games keep the manners and chat that they began with."""
        self._services.config = config
        self._slots.config = config.challenges
        if self._block_file.path != config.challenges.block_file:
            self._block_file = BlockFile(config.challenges.block_file)
            self._block_file.names()  # logs at once if it cannot be read
        if self._matching is not None:
            self._matching.cancel()
            self._matching = self._background.tasks.create_task(self._matchmaker.run())
        self._change()

    @property
    def accepting(self) -> bool:
        """Whether challenges are accepted.  Setting it to False also declines waiting ones."""
        return self._slots.is_open

    @accepting.setter
    def accepting(self, wanted: bool) -> None:
        self._slots.is_open = wanted
        self._change()

    async def drained(self) -> None:
        """Wait until no game with a real-time clock is running or accepted, no ledger of such a game is open,
        and every challenge has been answered.

        Games without such a clock last for weeks and are left to the next start.
        """
        await self._empty.wait()

    @property
    def owner(self) -> AccountKey:
        """The account."""
        return self._services.owner

    @property
    def playing(self) -> list[str]:
        """Keys of the games whose ledger is open."""
        return [game_id for game_id, game in self._games.items() if game.player is not None]

    @property
    def running(self) -> int:
        """Games whose ledger is open."""
        return sum(game.player is not None for game in self._games.values())

    # --- Events -----------------------------------------------------------------------------------------

    async def _handle(self, event: AccountEvent) -> None:
        """Handle one event; an error in it must not end the games."""
        try:
            self._take(event)
        except Exception as error:
            logger.exception("%s account: cannot handle %.500r", self._server.site, event)
            detail = {"event": f"{event!r:.500}", "error": f"{error!r:.500}"}
            self._background.start(
                "recording a failed event", partial(self._background.record_event, "event_failed", detail)
            )

    def _take(self, event: AccountEvent) -> None:
        match event:
            case ChallengeReceived(challenge):
                if not challenge.is_ours and challenge.id not in self._games:
                    self._receive(challenge)
            case ChallengeGone(challenge_id):
                self._slots.leave(challenge_id)
                self._answers.leave(challenge_id)
                self._change()
            case GameStarted(game_id, is_played_here, challenge_id, game):
                lacks_engine = game in ENGINE_GAMES and self._services.engines.settings(game) is None
                if game_id in self._games or (is_played_here and not lacks_engine):
                    self._play(game_id, challenge_id=challenge_id)
                elif game_id not in self._not_played:
                    self._not_played.add(game_id)
                    self._slots.leave(challenge_id)
                    self._slots.end(game_id)
                    self._background.start(
                        f"game {game_id}: aborting", partial(self._abort_unplayed, game_id, is_played_here)
                    )
            case GameFinished(game_id, rating_diff):
                self._read_end(game_id)
                # Its ledger may stay open for a while, but its slot is free now.
                self._slots.end(game_id)
                self._change()
                self._unreported.discard(game_id)
                self._not_played.discard(game_id)
                if game_id in self._games:
                    self._games[game_id].is_end_reported = True
                if rating_diff is not None:
                    what = f"game {game_id}: recording the rating change"
                    self._background.start(what, partial(self._store_rating, game_id, rating_diff))

    def _receive(self, challenge: Challenge) -> None:
        decision = lasting_refusal(challenge, self._services.config.challenges, self._block_file.names())
        if decision is not None:
            self._answers.decline(challenge, decision)
            return
        self._slots.arrive(challenge, self._services.clock())
        self._change()

    async def _link_changed(self, reason: str | None) -> None:
        self._link_changes.put_nowait(reason)

    async def _follow_link(self) -> None:
        """Record lost links and catch up afterwards, in a task of its own: reading the stream must not wait
        for the database or for further requests.
        """
        while True:
            reason = await self._link_changes.get()
            if reason is not None:
                await self._background.record_event("account_link_lost", {"reason": reason})
                continue
            await self._background.record_event("account_link_back", {})
            if self._link_changes.empty():
                await self._background.attempt(f"{self._server.site} account: catching up", self._catch_up)

    async def _catch_up(self) -> None:
        """Query what was missed while the link was down or dropped from the server's queue."""
        unreported = list(self._unreported)
        await self._take_up_games()
        for game_id in unreported:
            await self._ask_rating(game_id)

    # --- Decisions --------------------------------------------------------------------------------------

    def _change(self) -> None:
        """Call after every change of the slots, the games or the background tasks."""
        self._update_state()
        self._changed.set()

    def _update_state(self) -> None:
        machine, owner = self._services.machine, self._services.owner
        machine.count(owner, self._slots.live_boards, self._changed.set)
        self._slots.machine_free = machine.free(owner)
        for game_id, game in self._games.items():
            player = game.player
            if player is not None and player.is_over and not (player.is_adjourned and game.is_started_again):
                self._slots.end(game_id)
        if not self._slots.is_quiet:
            self._quiet_since = None
        elif self._quiet_since is None:
            self._quiet_since = self._services.clock()
        open_games = (game_id for game_id, game in self._games.items() if game.player is not None)
        is_quiet = self._background.is_idle and self._slots.is_quiet
        if is_quiet and all(map(self._slots.is_slow, open_games)):
            self._empty.set()
        else:
            self._empty.clear()
        self._answers.wake()

    def _quiet_s(self) -> float:
        if self._quiet_since is None or not self.accepting:
            return 0.0
        return self._services.clock() - self._quiet_since

    async def _fill_slots(self) -> None:
        """Decide on waiting challenges whenever something has changed."""
        waits = delays(self._services.rng)
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._decide()
                waits = delays(self._services.rng)
            except StorageError as error:  # they go on waiting
                logger.error("cannot decide on challenges: %s", error)
                await self._services.sleep(next(waits))
                self._changed.set()

    async def _decide(self) -> None:
        self._slots.machine_free = self._services.machine.free(self._services.owner)
        if not self._slots.waiting and self.accepting:
            return
        await self._name_opponents()
        bot_games = {}
        if any(slot.is_bot for slot in self._slots.waiting):
            since = now_utc() - timedelta(hours=24)
            async with self._services.database.read() as session:
                bot_games = await count_bot_games(session, self._services.owner, since)
        for challenge, decision in self._slots.answers(bot_games, self._services.clock()):
            match decision:
                case Accept():
                    self._answers.accept(challenge)
                case Decline():
                    self._answers.decline(challenge, decision)
                case WaitForSlot():
                    self._background.start(
                        f"{about(challenge)}: waiting", partial(self._queue, challenge, decision)
                    )
                    if not self._is_watching:
                        self._is_watching = True
                        self._background.tasks.create_task(self._watch_waiting())
        if self._asking is not None and (self._slots.waiting or not self.accepting):
            # The slot that our own challenge holds is needed.
            asking, self._asking = self._asking, None  # only once: withdrawing takes a while, too
            asking.cancel()
        self._update_state()

    async def _name_opponents(self) -> None:
        """Look up the opponents of games that began without a challenge, once their ledgers are open."""
        if not self._slots.unknown:
            return
        async with self._services.database.read() as session:
            stored = await list_open_games(session, self._services.owner)
        unknown = set(self._slots.unknown)
        for game in stored:
            if game.site_game_id in unknown:
                self._slots.start(game.site_game_id, _seat(game))

    async def _watch_waiting(self) -> None:
        """Trigger a decision whenever a challenge has waited for too long."""
        while (left_s := self._slots.patience_s(self._services.clock())) is not None:
            await self._services.sleep(max(left_s, 1.0))  # at least 1 s, as the database may be unavailable
            self._change()
        self._is_watching = False

    async def _queue(self, challenge: Challenge, decision: WaitForSlot) -> None:
        logger.info("%s: waits for a slot: %s", about(challenge), decision.why)
        await self._background.record_event("challenge_queued", {**detail_of(challenge), "why": decision.why})

    async def _abort_unplayed(self, game_id: str, has_rules: bool) -> None:
        """Abort a game that challenges would decline: the opponent would wait in vain, or meet a bad player.

        Args:
            game_id: The site's id.
            has_rules: Whether we can play it at all; if so, we do when it cannot be aborted.
        """
        logger.warning("game %s: not a game that is played here; aborting it", game_id)
        await self._background.record_event("game_not_played_here", {"site_game_id": game_id})
        try:
            await self._server.abort(game_id)
        except TransientError:
            self._not_played.discard(game_id)  # retry when the server next reports it
            raise
        except RefusedError as error:
            if not has_rules:
                raise
            logger.warning("game %s: cannot be aborted (%s); playing it without its engine", game_id, error)
            self._play(game_id)

    async def _ask(self, opponent: Bot, proposal: Proposal) -> Reply | None:
        """Challenge a program and hold a slot until it answers; None: withdrawn because the slot is
        needed."""
        if not self._slots.is_quiet or not self.accepting or self._slots.machine_free < 1:
            return None
        slot = GameSlot(opponent.id, is_bot=True)
        self._slots.accept(_OURS, slot)
        self._change()
        asking = self._asking = asyncio.ensure_future(self._server.challenge(opponent.id, proposal))
        reply = None
        try:
            await asyncio.wait([asking], timeout=UNANSWERED_S)
            if not asking.done():
                reply = Reply("", False, f"no answer in {UNANSWERED_S:.0f} s")
            elif not asking.cancelled():
                reply = asking.result()
        finally:
            if self._asking is not None:
                self._asking = None
                asking.cancel()
            await asyncio.wait([asking])  # so that it is withdrawn before its slot is reused
            # If the site does not report whether it was accepted, its game may be about to start.
            if reply is not None and reply.accepted is not False:
                self._slots.accept(reply.challenge_id, slot)
                self._answers.expect(reply.challenge_id)
            self._slots.leave(_OURS)
            self._change()
        return reply

    async def challenge(self, opponent: str, proposal: Proposal) -> str:
        """Challenge somebody by name for the operator, and play the game to its end.

        Cancelling withdraws the challenge; a game that has begun goes on.

        Args:
            opponent: The account's name at the site.
            proposal: The terms.

        Returns:
            The site's key of the game.

        Raises:
            RefusedError: The challenge was declined or could not be sent, or there is no room for a game.
            ServerError: As `bot.servers.Server.challenge`.
        """
        if not self.accepting or self._slots.machine_free <= self._slots.live_boards:
            raise RefusedError("there is no room for another game now", HTTPStatus.CONFLICT)
        slot = GameSlot(opponent.lower())
        key = f"{_OURS} to {opponent}"
        if self._slots.is_accepted(key):
            raise RefusedError(f"{opponent} is being challenged already", HTTPStatus.CONFLICT)
        self._slots.accept(key, slot)
        self._change()
        try:
            reply = await self._server.challenge(opponent, proposal)
            if reply.accepted is False:
                raise RefusedError(f"{opponent} did not accept: {reply.reason}", HTTPStatus.FORBIDDEN)
            self._slots.accept(reply.challenge_id, slot)
        finally:
            self._slots.leave(key)
            self._change()
        return await self._until_over(reply.challenge_id)

    async def _until_over(self, challenge_id: str) -> str:
        """Wait for the game of an accepted challenge to begin and to end; returns its key."""
        begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._begun[challenge_id] = begun
        expiry = self._answers.expect(challenge_id)
        for game_id, game in self._games.items():
            if challenge_id in (game_id, game.challenge_id):
                begun.set_result(game_id)
                break
        try:
            started: list[asyncio.Future[Any]] = [begun, expiry]
            await asyncio.wait(started, return_when=asyncio.FIRST_COMPLETED)
            if not begun.done():
                raise RefusedError("the game has not begun", HTTPStatus.NOT_FOUND)
            game_id = begun.result()
            if game_id in self._games:
                await self._games[game_id].over.wait()
            return game_id
        finally:
            del self._begun[challenge_id]

    # --- Rating changes ---------------------------------------------------------------------------------

    async def _store_rating(self, game_id: str, diff: int) -> None:
        try:
            async with self._services.database.write() as session:
                await set_rating_diff(session, self._services.owner, game_id, diff)
        except StorageError as error:
            logger.error("game %s: cannot record the rating change of %+d: %s", game_id, diff, error)

    async def _ask_rating(self, game_id: str) -> None:
        """Query the rating change of a game whose end event may have been missed: servers do not repeat
        it."""
        self._unreported.discard(game_id)
        try:
            diff = await self._server.rating_diff(game_id, self._services.bot_name)
        except AuthError:
            raise
        except ServerError as error:
            if isinstance(error, TransientError):
                self._unreported.add(game_id)
            logger.info("game %s: cannot query the rating change: %s", game_id, error)
            return
        if diff is not None:
            await self._store_rating(game_id, diff)

    # --- Games ------------------------------------------------------------------------------------------

    async def _take_up_games(self, *, is_start: bool = False) -> None:
        """Resume the games that are open in the ledger or on the server.

        Args:
            is_start: The account's stream is not open yet and will list the same games.
        """
        async with self._services.database.read() as session:
            stored = await list_open_games(session, self._services.owner)
        for game in stored:
            self._play(game.site_game_id, _seat(game))
            self._games[game.site_game_id].was_open = True
        try:
            await self._take_up_served()
        except AuthError:
            raise
        except ServerError as error:  # the account's stream lists the same games
            # Where that stream is the only connection, no query is possible before it is open.
            is_unexpected = not (is_start and isinstance(error, TransientError))
            logger.log(
                logging.INFO if is_unexpected else logging.DEBUG, "cannot query running games: %s", error
            )

    async def _take_up_served(self) -> None:
        for game_id in await self._server.playing():
            self._play(game_id)

    def _play(self, game_id: str, slot: GameSlot | None = None, challenge_id: str = "") -> None:
        """Play a game now, or once others have ended."""
        known = self._games.get(game_id)
        if known is not None:
            if known.player is not None:
                # The game's own stream may report its adjournment only later.
                known.is_started_again = True
                if known.player.is_adjourned:
                    self._slots.start(game_id)
            return
        # Accepted games are limited already, so they always begin at once.
        is_accepted = self._slots.is_accepted(challenge_id or game_id)
        self._slots.start(game_id, slot, challenge_id)
        game = self._games[game_id] = _Game(challenge_id=challenge_id)
        begun = self._begun.get(challenge_id or game_id)
        if begun is not None and not begun.done():
            begun.set_result(game_id)
        if is_accepted or self.running < self._max_players:
            self._begin(game_id, game)
        else:
            logger.warning("game %s: waits for one of %d others to end", game_id, self.running)
        self._change()

    def _begin(self, game_id: str, game: _Game) -> None:
        game.player = GamePlayer(game_id, self._services)
        self._background.tasks.create_task(self._look_after(game_id, game, game.player))

    async def _look_after(self, game_id: str, game: _Game, player: GamePlayer) -> None:
        try:
            await self._play_through(game_id, game, player)
        finally:
            game.player = None
            game.over.set()
            if not game.is_given_up:
                del self._games[game_id]
            self._slots.end(game_id)
            self._change()
        held = next((key for key, each in self._games.items() if each.is_held), None)
        if held is not None and self.running < self._max_players:
            self._begin(held, self._games[held])

    def _read_end(self, game_id: str) -> None:
        """Play a given-up game once more, now that it has ended, to close its ledger."""
        game = self._games.get(game_id)
        if game is not None and game.is_given_up:
            del self._games[game_id]
            self._play(game_id)
            again = self._games[game_id]
            again.is_read_again, again.was_open = True, game.was_open

    async def _await_end(self, game_id: str, given_up: _Game) -> None:
        """Poll whether a given-up game is still running: the server may not report its end."""
        while self._games.get(game_id) is given_up:
            await self._services.sleep(GIVEN_UP_S)
            if await goes_on(self._server, game_id) is False:
                self._read_end(game_id)

    async def _play_through(self, game_id: str, game: _Game, player: GamePlayer) -> None:
        """Play a game to its end and handle all its errors, except a refused account."""
        waits = delays(self._services.rng)
        crashes, crashed_at = 0, -math.inf
        while crashes < MAX_CRASHES:
            try:
                await player.run()
                if player.is_adjourned:
                    if not game.is_started_again:
                        return
                    game.is_started_again = False
                    player = game.player = GamePlayer(game_id, self._services)
                    continue
                if not game.is_end_reported:
                    self._unreported.add(game_id)
                    if game.was_open:
                        await self._ask_rating(game_id)
                return
            except AuthError:
                raise
            except (ProtocolError, RefusedError) as error:
                logger.error("game %s: given up: %.500s", game_id, error)
                await self._record_trouble(game_id, "game_given_up", error)
                break
            except StorageError as error:  # the database will come back, and the game must not be forgotten
                logger.error("game %s: %s", game_id, error)
            except Exception as error:
                now = self._services.clock()
                if now - crashed_at >= CRASH_FORGOTTEN_S:
                    crashes, waits = 0, delays(self._services.rng)
                crashes, crashed_at = crashes + 1, now
                logger.exception("game %s: crashed", game_id)
                await self._record_trouble(game_id, "game_crashed", error)
            await self._services.sleep(next(waits))
            player = game.player = GamePlayer(game_id, self._services)
        game.is_given_up = True
        if not game.is_read_again:
            self._background.tasks.create_task(self._await_end(game_id, game))

    async def _record_trouble(self, game_id: str, kind: str, error: Exception) -> None:
        raw = getattr(error, "raw", None)
        try:
            shown = None if raw is None else repr(raw)[:2000]
        except RecursionError:  # JSON may be nested nearly to Python's recursion limit
            shown = "too deeply nested"
        await self._background.record_event(
            kind, {"site_game_id": game_id, "error": f"{error!s:.500}", "raw": shown}
        )


def _seat(game: StoredGame) -> GameSlot:
    return GameSlot(game.opponent_id, game.opponent_is_bot, game.clock_initial_s is None)
