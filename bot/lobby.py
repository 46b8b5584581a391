"""What the account hears: challenges answered, games started or taken up again.

News of the account's stream change `bot.places`, and every change wakes the one task that decides who plays;
the calls to the server that follow run off to the side, so that a slow one never makes us deaf.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from itertools import chain, islice, repeat

from bot.blocklist import BlockFile
from bot.challenges import Accept, Decline, Seat, Wait, refusal
from bot.errors import AuthError, ProtocolError, RefusedError, ServerError, TransientError
from bot.events import (
    AccountEvent,
    Bot,
    Challenge,
    ChallengeGone,
    ChallengeReceived,
    DeclineReason,
    GameFinished,
    GameStarted,
    Proposal,
    Reply,
)
from bot.matchmaking import Matchmaker
from bot.notes import note
from bot.places import Places
from bot.player import GamePlayer
from bot.reconnect import CAP_S, delays, stay_connected
from bot.services import Services
from storage.errors import StorageError
from storage.games import count_bot_games, list_open_games, set_rating_diff
from storage.records import StoredGame
from storage.types import now_utc

logger = logging.getLogger(__name__)

ASKED_AFTER_S = 5.0
"""If an accepted challenge has not become a game by then, in seconds, the server is asked for it."""
ACCEPTED_S = 30.0
"""An accepted challenge holds its place this long, in seconds; by then its game has started, or the server is
asked whether it ever will."""
UNANSWERED_S = 60.0
"""A challenge of ours is withdrawn after this, in seconds; the server should have let it run out before."""
LATER_S = 60.0
"""A server that wants us to wait longer than this, in seconds, means a limit of the day; then who challenges
us is told to come back later."""
DECLINE_TRIES = 5
"""So often a challenge is declined when the server does not answer."""
MAX_DECLINES = 100
"""Most challenges that wait to be declined; of more the oldest go unanswered, and run out."""
MAX_PLAYERS = 50
"""Most games that are played at once, unless the settings allow more: as many as lichess.org names when it is
asked.  Further ones begin when others end, except those whose challenge was accepted here."""
MAX_CRASHES = 5
"""So often a game is taken up again after an error of this program."""
GIVEN_UP_S = 600.0
"""So often the server is asked whether a game that was given up still goes on, in seconds."""
CRASH_FORGOTTEN_S = 600.0
"""A game that went on for so long after a crash, in seconds, is worth as many tries as ever."""

_OURS = "our challenge"
"""Its key among the places; no id, for an id has no space."""


class Lobby:
    """Owns the account's stream and a `GamePlayer` for each game; `listen` runs them all."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._server = services.server
        self._places = Places(services.config.challenges)
        self._block_file = BlockFile(services.config.challenges.block_file)
        self._matchmaker = Matchmaker(
            services, quiet_s=self._quiet_s, ask=self._ask, blocked=self._block_file.names
        )
        self._players: dict[str, GamePlayer] = {}
        limits = services.config.challenges
        self._max_players = max(MAX_PLAYERS, limits.max_games + limits.max_slow_games)
        self._held: dict[str, None] = {}
        """Games that are to be played when others have ended, in order."""
        self._given_up: set[str] = set()
        self._reread: set[str] = set()
        """Games that were given up and ended: they have been read once more, and that was all."""
        self._not_played: set[str] = set()
        """Games that this program does not play, and that have been dealt with."""
        self._taken_up: set[str] = set()
        """Adjourned games that go on again, before the one who played them was done."""
        self._resumed: set[str] = set()
        """Games that were open while we were away: their end may not be told."""
        self._told: set[str] = set()
        """Games among `_players` whose end the account's stream has told."""
        self._untold: set[str] = set()
        """Games that have ended without: what they did to the rating may have been told while it was lost."""
        self._declines: dict[str, tuple[Challenge, Decline]] = {}
        """Who is to be declined, in order."""
        self._declining: str | None = None
        """The challenge that is being declined; None: there is none, or it has gone meanwhile."""
        self._has_decliner = False
        self._answering = asyncio.Lock()
        """One answer at a time, so that nobody is answered who has gone, and at most one who is declined is
        in front of one who is accepted."""
        self._link_news: asyncio.Queue[str | None] = asyncio.Queue()
        """Why the account's link was lost; None: it is back."""
        self._is_watching = False
        """Somebody watches over how long challenges wait."""
        self._calls = 0
        """Calls to the server that are under way off to the side."""
        self._naps: dict[asyncio.Future[None], Callable[[], bool]] = {}
        """Waits between two tries, and whether they have become needless."""
        self._asking: asyncio.Future[Reply] | None = None
        """The answer to a challenge of ours; cancelled, it is withdrawn."""
        self._quiet_since: float | None = services.clock()
        """None: somebody plays or waits."""
        self._changed = asyncio.Event()
        """There may be something to decide."""
        self._empty = asyncio.Event()
        self._empty.set()
        self._games: asyncio.TaskGroup

    async def listen(self) -> None:
        """Answer challenges and play until cancelled; games that go on then are left to the next start.

        Raises:
            AuthError: The server does not accept us any more.
        """
        self._block_file.names()  # the operator hears at once if it cannot be read
        async with asyncio.TaskGroup() as self._games:
            await self._take_up_games()
            self._games.create_task(self._give_places())
            self._games.create_task(self._follow_link())
            self._games.create_task(self._matchmaker.run())
            await stay_connected(
                self._server.account_events,
                self._handle,
                name=f"{self._server.site} account",
                on_change=self._link_changed,
                sleep=self._services.sleep,
                clock=self._services.clock,
                rng=self._services.rng,
            )

    @property
    def accepting(self) -> bool:
        """Whether challenges are accepted.  Set to False, it declines those who wait, too."""
        return self._places.is_open

    @accepting.setter
    def accepting(self, wanted: bool) -> None:
        self._places.is_open = wanted
        self._change()

    async def drained(self) -> None:
        """Return when no game with a real-time clock is going on, or about to, no books of such a game are
        open, and everybody has been answered.

        Games without such a clock last for weeks, and are left to the next start.
        """
        await self._empty.wait()

    @property
    def running(self) -> int:
        """Games whose books are open."""
        return len(self._players)

    # --- Events -----------------------------------------------------------------------------------------

    async def _handle(self, event: AccountEvent) -> None:
        """One event; whatever goes wrong with it must not end the games."""
        try:
            await self._take(event)
        except (AuthError, TransientError):
            raise
        except Exception as error:
            logger.exception("%s account: cannot deal with %.500r", self._server.site, event)
            await self._note("event_failed", {"event": f"{event!r:.500}", "error": f"{error!r:.500}"})

    async def _take(self, event: AccountEvent) -> None:
        match event:
            case ChallengeReceived(challenge):
                if not challenge.is_ours and challenge.id not in self._players:
                    self._receive(challenge)
            case ChallengeGone(challenge_id):
                self._places.leave(challenge_id)
                self._declines.pop(challenge_id, None)
                if self._declining == challenge_id:
                    self._declining = None
                self._change()
            case GameStarted(game_id, is_played_here, challenge_id):
                if is_played_here:
                    self._play(game_id, challenge_id=challenge_id)
                elif game_id not in self._not_played:
                    self._not_played.add(game_id)
                    self._places.leave(challenge_id)
                    self._places.end(game_id)
                    self._aside(f"game {game_id}: aborting", partial(self._abort_unplayed, game_id))
            case GameFinished(game_id, rating_diff):
                self._read_end(game_id)
                # Its books may stay open for a while, but its place is free.
                self._places.end(game_id)
                self._change()
                self._untold.discard(game_id)
                if game_id in self._players:
                    self._told.add(game_id)
                if rating_diff is not None:
                    what = f"game {game_id}: noting the rating's change"
                    self._aside(what, partial(self._store_rating, game_id, rating_diff))

    def _receive(self, challenge: Challenge) -> None:
        told = refusal(challenge, self._services.config.challenges, self._block_file.names())
        if told is not None:
            self._decline_later(challenge, told)
            return
        self._places.arrive(challenge, self._services.clock())
        self._change()

    async def _link_changed(self, reason: str | None) -> None:
        self._link_news.put_nowait(reason)

    async def _follow_link(self) -> None:
        """See to what a lost link leaves behind, while we listen again: that must not wait for the database,
        or for what the server has to say besides.
        """
        while True:
            reason = await self._link_news.get()
            if reason is not None:
                await self._note("account_link_lost", {"reason": reason})
                continue
            await self._note("account_link_back", {})
            if self._link_news.empty():
                await self._attempt(f"{self._server.site} account: catching up", self._catch_up)

    async def _catch_up(self) -> None:
        """Ask for what may have been told while nobody listened, or dropped out of the server's queue."""
        untold = list(self._untold)
        await self._take_up_games()
        for game_id in untold:
            await self._ask_rating(game_id)

    # --- Who plays --------------------------------------------------------------------------------------

    def _change(self) -> None:
        """After every change of the places, the games or the calls under way."""
        self._take_stock()
        self._changed.set()

    def _take_stock(self) -> None:
        for game_id, player in self._players.items():
            if player.is_over and game_id not in self._taken_up:
                self._places.end(game_id)
        if not self._places.is_quiet:
            self._quiet_since = None
        elif self._quiet_since is None:
            self._quiet_since = self._services.clock()
        is_busy = self._calls or self._held or not self._places.is_quiet
        if is_busy or not all(map(self._places.is_slow, self._players)):
            self._empty.clear()
        else:
            self._empty.set()
        for nap, is_needless in self._naps.items():
            if is_needless():
                nap.cancel()

    def _quiet_s(self) -> float:
        if self._quiet_since is None or not self.accepting:
            return 0.0
        return self._services.clock() - self._quiet_since

    async def _give_places(self) -> None:
        """Decide on those who wait whenever something has changed."""
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
        if not self._places.waiting and self.accepting:
            return
        await self._name_opponents()
        bot_games = {}
        if any(seat.is_bot for seat in self._places.waiting):
            since = now_utc() - timedelta(hours=24)
            async with self._services.database.read() as session:
                bot_games = await count_bot_games(session, self._server.site, since)
        for challenge, told in self._places.answers(bot_games, self._services.clock()):
            match told:
                case Accept():
                    self._aside(f"{_about(challenge)}: accepting", partial(self._accept, challenge))
                    self._games.create_task(self._expire(challenge.id))
                case Decline():
                    self._decline_later(challenge, told)
                case Wait():
                    self._aside(f"{_about(challenge)}: waiting", partial(self._queue, challenge, told))
                    if not self._is_watching:
                        self._is_watching = True
                        self._games.create_task(self._watch_waiting())
        if self._asking is not None and (self._places.waiting or not self.accepting):
            # The place that our own challenge holds is wanted.
            asking, self._asking = self._asking, None  # once, for withdrawing takes a while, too
            asking.cancel()
        self._take_stock()

    async def _name_opponents(self) -> None:
        """Against whom the games are that began without a challenge, as soon as their books are open."""
        if not self._places.unknown:
            return
        async with self._services.database.read() as session:
            stored = await list_open_games(session, self._server.site)
        unknown = set(self._places.unknown)
        for game in stored:
            if game.site_game_id in unknown:
                self._places.start(game.site_game_id, _seat(game))

    # --- Answers ----------------------------------------------------------------------------------------

    def _aside(self, what: str, call: Callable[[], Awaitable[None]]) -> None:
        """Do something while we go on listening."""
        self._calls += 1
        self._empty.clear()
        self._games.create_task(self._try(what, call))

    async def _try(self, what: str, call: Callable[[], Awaitable[None]]) -> None:
        try:
            await self._attempt(what, call)
        finally:
            self._calls -= 1
            self._change()

    async def _attempt(self, what: str, call: Callable[[], Awaitable[None]]) -> None:
        try:
            await call()
        except AuthError:
            raise
        except ServerError as error:
            logger.info("%s: %s", what, error)
        except StorageError as error:
            logger.error("%s: %s", what, error)
        except Exception as error:
            logger.exception("%s: failed", what)
            await self._note("event_failed", {"event": what, "error": f"{error!r:.500}"})

    async def _accept(self, challenge: Challenge) -> None:
        """Tell the server, until it answers or the game starts; the place is held already."""

        def is_needless() -> bool:
            return not self.accepting or not self._places.is_accepted(challenge.id)

        waits = delays(self._services.rng)
        answer_lost = False
        while self._places.is_accepted(challenge.id):
            try:
                async with self._answering:
                    if not self._places.is_accepted(challenge.id):  # while it waited for its turn
                        return
                    await self._server.accept(challenge.id)
            except TransientError as error:
                asked_s = error.retry_after_s or 0.0
                if asked_s > LATER_S:
                    await self._take_back(challenge, error, was_heard=answer_lost)
                    return
                answer_lost = True
                wait_s = max(next(waits), asked_s)
                logger.info("%s: %s; accepting it again in %.1f s", _about(challenge), error, wait_s)
                await self._nap(wait_s, is_needless)
                if not self.accepting and self._places.is_accepted(challenge.id):
                    await self._take_back(challenge, error, was_heard=True)
                    return
            except RefusedError as error:
                if error.status == HTTPStatus.NOT_FOUND:
                    # It is gone; unless an earlier try was heard, and its game is about to start.
                    if not answer_lost:
                        self._places.leave(challenge.id)
                    raise
                await self._take_back(challenge, error, was_heard=answer_lost)
                return
            else:
                logger.info("%s: accepted", _about(challenge))
                return

    async def _take_back(self, challenge: Challenge, error: ServerError, *, was_heard: bool) -> None:
        """Decline what was to be accepted.

        Args:
            challenge: Whose place is held.
            error: Why it is not accepted.
            was_heard: An earlier try may have been; then the place is held until the server has said that
                there still is a challenge to decline, for its game may be about to start.
        """
        if not was_heard:
            self._places.leave(challenge.id)
            self._change()
        await self._decline(challenge, Decline(DeclineReason.LATER, f"cannot be accepted: {error}"))
        self._places.leave(challenge.id)

    async def _nap(self, wait_s: float, is_needless: Callable[[], bool]) -> None:
        """Wait before the next try, in seconds, or until that is needless."""
        if is_needless():
            return
        nap = asyncio.ensure_future(self._services.sleep(wait_s))
        self._naps[nap] = is_needless
        try:
            await asyncio.wait([nap])
        finally:
            del self._naps[nap]
            nap.cancel()

    async def _watch_waiting(self) -> None:
        """Decide again on challenges that wait, whenever one of them has waited for too long."""
        while (left_s := self._places.patience_s(self._services.clock())) is not None:
            await self._services.sleep(max(left_s, 1.0))  # the database may be away just then
            self._change()
        self._is_watching = False

    async def _expire(self, challenge_id: str) -> None:
        """Free the place of a game that does not start, once the server has said that it does not go on."""
        # Its start may have dropped out of the server's queue, and its clock be running: so ask soon, too.
        for wait_s in chain([ASKED_AFTER_S], repeat(ACCEPTED_S)):
            await self._services.sleep(wait_s)
            if not self._places.is_accepted(challenge_id):
                return
            try:
                await self._take_up_served()
            except AuthError:
                raise
            except ServerError as error:
                logger.info("challenge %s: cannot ask for its game: %s", challenge_id, error)
                continue
            if not self._places.is_accepted(challenge_id):
                return
            if wait_s == ACCEPTED_S:
                logger.info("challenge %s: its game never started", challenge_id)
                self._places.leave(challenge_id)
                self._change()
                return

    def _decline_later(self, challenge: Challenge, told: Decline) -> None:
        """Decline it when those before it have been."""
        if challenge.id == self._declining or challenge.id in self._declines:
            return
        if len(self._declines) == MAX_DECLINES:
            oldest, _ = self._declines.pop(next(iter(self._declines)))
            logger.info("%s: left unanswered, too many are to be declined", _about(oldest))
        self._declines[challenge.id] = (challenge, told)
        if not self._has_decliner:
            self._has_decliner = True
            self._aside("declining", self._send_declines)

    async def _send_declines(self) -> None:
        try:
            while self._declines:
                challenge, told = self._declines.pop(next(iter(self._declines)))
                self._declining = challenge.id
                decline = partial(self._decline, challenge, told, partial(self._has_left, challenge.id))
                await self._attempt(f"{_about(challenge)}: declining", decline)
        finally:
            self._has_decliner, self._declining = False, None

    def _has_left(self, challenge_id: str) -> bool:
        """Whether a challenge has gone while it was being declined."""
        return self._declining != challenge_id

    async def _decline(
        self, challenge: Challenge, told: Decline, is_gone: Callable[[], bool] = lambda: False
    ) -> None:
        # Without an answer the other side would wait until the challenge runs out, which may take weeks.
        waits = islice(delays(self._services.rng), DECLINE_TRIES - 1)
        while True:
            try:
                async with self._answering:
                    if is_gone():  # while it waited for its turn
                        return
                    await self._server.decline(challenge.id, told.reason)
            except TransientError as error:
                wait_s, asked_s = next(waits, None), error.retry_after_s or 0.0

                def is_needless(asked_s: float = asked_s) -> bool:
                    return is_gone() or (asked_s > CAP_S and not self.accepting)

                if wait_s is None or is_needless():
                    raise
                await self._nap(max(wait_s, asked_s), is_needless)
            else:
                logger.info("%s: declined: %s", _about(challenge), told.why)
                detail = {**_detail(challenge), "reason": told.reason.value, "why": told.why}
                await self._note("challenge_declined", detail)
                return

    async def _queue(self, challenge: Challenge, told: Wait) -> None:
        logger.info("%s: waits for a place: %s", _about(challenge), told.why)
        await self._note("challenge_queued", {**_detail(challenge), "why": told.why})

    async def _abort_unplayed(self, game_id: str) -> None:
        """A game that nobody here can play would sit there until the opponent gives up."""
        logger.warning("game %s: not a game that is played here; aborting it", game_id)
        await self._note("game_not_played_here", {"site_game_id": game_id})
        try:
            await self._server.abort(game_id)
        except TransientError:
            self._not_played.discard(game_id)  # again when the server next names it
            raise

    async def _ask(self, opponent: Bot, proposal: Proposal) -> Reply | None:
        """Challenge a program, and hold a place until it answers; None: withdrawn, the place is needed."""
        if not self._places.is_quiet or not self.accepting:
            return None
        seat = Seat(opponent.id, is_bot=True)
        self._places.accept(_OURS, seat)
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
            await asyncio.wait([asking])  # so that it is withdrawn before its place is given away
            if reply is not None and reply.accepted:
                self._places.accept(reply.challenge_id, seat)
                self._games.create_task(self._expire(reply.challenge_id))
            self._places.leave(_OURS)
            self._change()
        return reply

    # --- Notes ------------------------------------------------------------------------------------------

    async def _note(self, kind: str, detail: dict[str, str | None]) -> None:
        try:
            async with self._services.database.write() as session:
                await note(session, self._server.site, kind, detail)
        except StorageError as error:
            logger.error("cannot note %s %s: %s", kind, detail, error)

    async def _store_rating(self, game_id: str, diff: int) -> None:
        try:
            async with self._services.database.write() as session:
                await set_rating_diff(session, self._server.site, game_id, diff)
        except StorageError as error:
            logger.error("game %s: cannot note the rating's change of %+d: %s", game_id, diff, error)

    async def _ask_rating(self, game_id: str) -> None:
        """Of a game that may have ended unheard: its end is not told twice."""
        self._untold.discard(game_id)
        try:
            diff = await self._server.rating_diff(game_id, self._services.bot_name)
        except AuthError:
            raise
        except ServerError as error:
            if isinstance(error, TransientError):
                self._untold.add(game_id)
            logger.info("game %s: cannot ask for the rating's change: %s", game_id, error)
            return
        if diff is not None:
            await self._store_rating(game_id, diff)

    # --- Games ------------------------------------------------------------------------------------------

    async def _take_up_games(self) -> None:
        """Go on with what is open in the books or on the server."""
        async with self._services.database.read() as session:
            stored = await list_open_games(session, self._server.site)
        for game in stored:
            self._resumed.add(game.site_game_id)
            self._play(game.site_game_id, _seat(game))
        try:
            await self._take_up_served()
        except AuthError:
            raise
        except ServerError as error:  # the account's stream tells the same
            logger.info("cannot ask for running games: %s", error)

    async def _take_up_served(self) -> None:
        for game_id in await self._server.playing():
            self._play(game_id)

    def _play(self, game_id: str, seat: Seat | None = None, challenge_id: str = "") -> None:
        """Play a game, now or when others have ended."""
        if game_id in self._players and self._players[game_id].is_adjourned:
            self._places.start(game_id)
            self._taken_up.add(game_id)
            return
        if game_id in self._players or game_id in self._held or game_id in self._given_up:
            return
        # There are only so many that are accepted.
        is_accepted = self._places.is_accepted(challenge_id or game_id)
        self._places.start(game_id, seat, challenge_id)
        if is_accepted or len(self._players) < self._max_players:
            self._begin(game_id)
        else:
            logger.warning("game %s: waits for one of %d others to end", game_id, len(self._players))
            self._held[game_id] = None
        self._change()

    def _begin(self, game_id: str) -> None:
        self._players[game_id] = GamePlayer(game_id, self._services)
        self._games.create_task(self._look_after(game_id))

    async def _look_after(self, game_id: str) -> None:
        try:
            await self._play_through(game_id)
        finally:
            del self._players[game_id]
            self._resumed.discard(game_id)
            self._taken_up.discard(game_id)
            self._told.discard(game_id)
            self._places.end(game_id)
            self._change()
        if self._held and len(self._players) < self._max_players:
            held = next(iter(self._held))
            del self._held[held]
            self._begin(held)

    def _read_end(self, game_id: str) -> None:
        """Play a game that was given up once more, now that it has ended: that closes its books."""
        if game_id in self._given_up:
            self._given_up.discard(game_id)
            self._reread.add(game_id)
            self._play(game_id)

    async def _await_end(self, game_id: str) -> None:
        """Its end may not be told, so the server is asked now and then whether a given-up game goes on."""
        while game_id in self._given_up:
            await self._services.sleep(GIVEN_UP_S)
            try:
                going_on = await self._server.playing()
            except AuthError:
                raise
            except ServerError as error:
                logger.info("game %s: cannot ask whether it goes on: %s", game_id, error)
                continue
            if game_id not in going_on:
                self._read_end(game_id)

    async def _play_through(self, game_id: str) -> None:
        """The edge of a game: whatever goes wrong inside ends here, except that the account is refused."""
        waits = delays(self._services.rng)
        crashes, crashed_at = 0, -math.inf
        while crashes < MAX_CRASHES:
            try:
                await self._players[game_id].run()
                if self._players[game_id].is_adjourned:
                    if game_id not in self._taken_up:
                        return
                    self._taken_up.discard(game_id)
                    self._players[game_id] = GamePlayer(game_id, self._services)
                    continue
                if game_id not in self._told:
                    self._untold.add(game_id)
                    if game_id in self._resumed:
                        await self._ask_rating(game_id)
                return
            except AuthError:
                raise
            except (ProtocolError, RefusedError) as error:
                logger.error("game %s: given up: %.500s", game_id, error)
                await self._note_trouble(game_id, "game_given_up", error)
                break
            except StorageError as error:  # it will be there again, and the game must not be forgotten
                logger.error("game %s: %s", game_id, error)
            except Exception as error:
                now = self._services.clock()
                if now - crashed_at >= CRASH_FORGOTTEN_S:
                    crashes, waits = 0, delays(self._services.rng)
                crashes, crashed_at = crashes + 1, now
                logger.exception("game %s: crashed", game_id)
                await self._note_trouble(game_id, "game_crashed", error)
            await self._services.sleep(next(waits))
            self._players[game_id] = GamePlayer(game_id, self._services)
        self._given_up.add(game_id)
        if game_id not in self._reread:
            self._games.create_task(self._await_end(game_id))

    async def _note_trouble(self, game_id: str, kind: str, error: Exception) -> None:
        raw = getattr(error, "raw", None)
        try:
            shown = None if raw is None else repr(raw)[:2000]
        except RecursionError:  # JSON may be nested nearly as deep as Python can go
            shown = "too deeply nested"
        await self._note(kind, {"site_game_id": game_id, "error": f"{error!s:.500}", "raw": shown})


def _seat(game: StoredGame) -> Seat:
    return Seat(game.opponent_id, game.opponent_is_bot, game.clock_initial_s is None)


def _about(challenge: Challenge) -> str:
    who = challenge.challenger
    return f"challenge {challenge.id} of {'somebody' if who is None else who.name}"


def _detail(challenge: Challenge) -> dict[str, str | None]:
    who = challenge.challenger
    return {"challenge": challenge.id, "challenger": None if who is None else who.id}
