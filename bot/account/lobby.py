"""Follows an account's event stream: answers challenges, starts games and resumes them.

Events on the account's stream change `bot.account.game_slots`, and every change wakes the one task that
decides which challenges to accept. The resulting server calls run in the background, so that a slow call
never blocks the stream.
"""

import asyncio
import logging
from collections.abc import Coroutine
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Any

from bot.account.account_games import AccountGames, slot_of_stored
from bot.account.background_tasks import BackgroundTasks
from bot.account.block_list import BlockLists
from bot.account.challenge_answers import ChallengeResponder, about, detail_of
from bot.account.challenge_policy import Accept, Decline, WaitForSlot, is_named, lasting_refusal
from bot.account.game_slots import GameSlots
from bot.account.link_watch import LinkWatch
from bot.account.matchmaking import Matchmaker
from bot.account.own_challenges import OwnChallenges
from bot.account.pause import Pause
from bot.account.rematches import Rematches
from bot.account.tournaments import Tournaments, needs_engine
from bot.base.config import Config
from bot.base.dialects import DIALECTS
from bot.base.errors import RefusedError
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
    Tournament,
)
from bot.base.reconnect import delays, stay_connected
from bot.game.game_runner import GameRunner
from bot.game.services import GameServices
from storage.errors import StorageError
from storage.ledger.games import count_bot_games, list_open_games
from storage.records import AccountKey
from storage.tables.types import now_utc

logger = logging.getLogger(__name__)


class Lobby:
    """Owns the account's stream and a `GameRunner` for each game; `listen` runs them all.

    Args:
        services: Shared by all games.
        pause: Whether the operator holds back new games.
    """

    def __init__(self, services: GameServices, pause: Pause | None = None) -> None:
        self._pause = pause or Pause()
        self._services = services
        self._server = services.server
        limit = services.shared_limit
        self._slots = GameSlots(
            services.config.challenges, lambda: limit.free(services.owner), self._is_paused
        )
        self._blocks = BlockLists(
            services.config.challenges, services.database, services.server.site, services.sleep
        )
        self.link = LinkWatch()
        """The state of the account's stream."""
        self._matching: asyncio.Task[None] | None = None
        """The task that challenges other programs."""
        self._background = BackgroundTasks(services, self._change)
        self._games = AccountGames(services, self._slots, self._background, self._change, self._played)
        self._rematches = Rematches(services, self._challenge_again)
        self._answers = ChallengeResponder(
            services,
            self._slots,
            self._background,
            resume_games=self._games.resume_listed_games,
            changed=self._change,
        )
        self._own = OwnChallenges(services, self._slots, changed=self._change)
        self._matchmaker = Matchmaker(
            services, quiet_s=self._quiet_s, ask=self._ask, blocked=self._blocks.names
        )
        self._tournaments = Tournaments(services.server, self._games.lacks_engine)
        self._follow_rules()
        self._link_changes: asyncio.Queue[str | None] = asyncio.Queue()
        """The reason each time the account's link is lost, and None each time it is restored."""
        self._is_watching = False
        """Whether a task is watching how long challenges wait."""
        self._commands: set[asyncio.Future[Any]] = set()
        """The operator's commands in progress."""
        self._quiet_since: float | None = services.clock()
        """When the account became idle; None while a game is running or a challenge waits."""
        self._changed = asyncio.Event()
        """Set when there may be something to decide."""
        self._empty = asyncio.Event()
        self._empty.set()

    async def listen(self) -> None:
        """Answer challenges and play until cancelled; games still running then are resumed at the next start.

        Raises:
            AuthError: The server no longer accepts us.
        """
        async with asyncio.TaskGroup() as tasks:
            self._background.tasks = tasks
            self._pause.follow(self, self._pause_changed)
            try:
                await self._listen(tasks)
            finally:
                self._pause.leave(self)
                await self._end_commands()

    async def _listen(self, tasks: asyncio.TaskGroup) -> None:
        self._blocks.start(tasks)
        await self._blocks.refresh()
        await self._games.resume_games(is_start=True)
        tasks.create_task(self._fill_slots())
        tasks.create_task(self._follow_link())
        self._matching = tasks.create_task(self._matchmaker.run())
        await stay_connected(
            lambda: self.link.timed(self._server.account_events()),
            self._handle,
            name=f"{self._server.site} account",
            on_change=self._link_changed,
            sleep=self._services.sleep,
            clock=self._services.clock,
            rng=self._services.rng,
        )

    def reload(self, config: Config) -> None:
        """Apply new settings; running games keep their previous settings for manners and chat."""
        old, self._services.config = self._services.config, config
        self._slots.config = config.challenges
        self._follow_rules()
        self._blocks.follow(config.challenges)
        if self._matching is not None and config.matchmaking != old.matchmaking:
            self._matching.cancel()
            self._matching = self._background.tasks.create_task(self._matchmaker.run())
        if self._matching is not None:
            self._background.start("reading the blocked accounts", self.refresh_blocks)
        self._change()

    def _follow_rules(self) -> None:
        self._server.follow(
            self._services.config.challenges,
            lambda boards: self._slots.is_open and self._slots.has_room(boards),
        )

    @property
    def accepting(self) -> bool:
        """Whether challenges are accepted.  Setting this to False also declines the waiting ones."""
        return self._slots.is_open

    @accepting.setter
    def accepting(self, wanted: bool) -> None:
        self._slots.is_stopping = not wanted
        self._change()

    def _is_paused(self) -> bool:
        return self._pause.is_on

    def _pause_changed(self) -> None:
        """Leave the site's tournaments while paused, because they would pair us; rejoin them afterwards."""
        self._background.start("tournaments", partial(self._tournaments.follow, is_paused=self._is_paused))
        self._change()

    async def drained(self) -> None:
        """Wait until no game with a real-time clock is running or accepted or has an open ledger, and every
        challenge has been answered.

        Games without one last for weeks and are left for the next start.
        """
        await self._empty.wait()

    @property
    def owner(self) -> AccountKey:
        """The account."""
        return self._services.owner

    @property
    def playing(self) -> list[str]:
        """Keys of the games whose ledger is open."""
        return self._games.playing

    @property
    def running(self) -> int:
        """Number of games whose ledger is open."""
        return len(self._games.playing)

    @property
    def closing(self) -> int:
        """Number of finished games in `playing` that are still analysing their last decisions."""
        players = map(self._games.player, self._games.playing)
        return sum(player is not None and player.is_over for player in players)

    def player(self, game_id: str) -> GameRunner | None:
        """The runner of a game in `playing`, or None if the game has ended in the meantime."""
        return self._games.player(game_id)

    @property
    def queue(self) -> list[tuple[Challenge, float]]:
        """Challenges that wait for a slot, each with the seconds that it has waited."""
        return self._slots.queue(self._services.clock())

    @property
    def lag_s(self) -> float:
        """As `bot.servers.Server.lag_s`."""
        return self._server.lag_s

    # --- Events -----------------------------------------------------------------------------------------

    async def _handle(self, event: AccountEvent) -> None:
        """Handle one event; an error must not end the running games."""
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
            case GameStarted():
                self._games.note_start(event)
            case GameFinished(game_id, rating_diff):
                self._games.note_end(game_id)
                if rating_diff is not None:
                    what = f"game {game_id}: recording the rating change"
                    self._background.start(what, partial(self._games.store_rating, game_id, rating_diff))

    def _receive(self, challenge: Challenge) -> None:
        decision = lasting_refusal(challenge, self._services.config.challenges, self._blocks.names())
        if decision is not None:
            self._answers.decline(challenge, decision)
            return
        self._slots.arrive(challenge, self._services.clock())
        self._change()

    async def refresh_blocks(self) -> None:
        """Re-read the accounts that the operator has blocked, and decline their waiting challenges."""
        await self._blocks.refresh()
        rules, blocked = self._services.config.challenges, self._blocks.names()
        for challenge, _ in self.queue:
            decision = lasting_refusal(challenge, rules, blocked)
            if decision is not None:
                self._slots.leave(challenge.id)
                self._answers.decline(challenge, decision)
        self._change()

    async def _link_changed(self, reason: str | None) -> None:
        if reason is not None:
            self.link.lost(reason)
        self._link_changes.put_nowait(reason)

    async def _follow_link(self) -> None:
        """Record when the link is lost, and catch up once it is back. This is a separate task because reading
        the stream must not wait for the database or for further requests."""
        while True:
            reason = await self._link_changes.get()
            if reason is not None:
                await self._background.record_event("account_link_lost", {"reason": reason})
                continue
            await self._background.record_event("account_link_back", {})
            if self._link_changes.empty():
                await self._background.attempt(f"{self._server.site} account: catching up", self._catch_up)

    async def _catch_up(self) -> None:
        """Query events that were missed while the link was down or were dropped from the server's queue."""
        await self.refresh_blocks()  # another program may have changed them
        unreported = self._games.unreported()
        await self._games.resume_games()
        await self._games.ask_ratings(unreported)

    # --- Decisions --------------------------------------------------------------------------------------

    def _change(self) -> None:
        """Call this after every change to the slots, the games or the background tasks."""
        self._update_state()
        self._changed.set()

    def _update_state(self) -> None:
        self._games.free_slots()
        limit, owner = self._services.shared_limit, self._services.owner
        wanted = bool(self._slots.waiting)
        limit.count(owner, self._slots.live_boards, self._changed.set, is_wanted=wanted)
        if not self._slots.is_quiet:
            self._quiet_since = None
        elif self._quiet_since is None:
            self._quiet_since = self._services.clock()
        is_quiet = self._background.is_idle and self._slots.is_quiet
        if is_quiet and all(map(self._slots.has_no_clock, self._games.playing)):
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
        if not self._slots.waiting and self.accepting and not self._is_wanted_elsewhere:
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
        if self._slots.waiting or not self.accepting or self._is_wanted_elsewhere:
            self._own.withdraw(is_needed=self.accepting)
        self._update_state()

    @property
    def _is_wanted_elsewhere(self) -> bool:
        """Whether a challenger is waiting at another account on this machine."""
        return self._services.shared_limit.is_wanted(self._services.owner)

    async def _name_opponents(self) -> None:
        """Look up the opponents of games that started without a challenge, once their ledgers are open."""
        if not self._slots.unknown:
            return
        async with self._services.database.read() as session:
            stored = await list_open_games(session, self._services.owner)
        unknown = set(self._slots.unknown)
        for game in stored:
            if game.site_game_id in unknown:
                self._slots.start(game.site_game_id, slot_of_stored(game))

    async def _watch_waiting(self) -> None:
        """Trigger a decision whenever a challenge has waited too long."""
        while (left_s := self._slots.time_left_s(self._services.clock())) is not None:
            await self._services.sleep(max(left_s, 1.0))  # at least 1 s, as the database may be unavailable
            self._change()
        self._is_watching = False

    async def _queue(self, challenge: Challenge, decision: WaitForSlot) -> None:
        logger.info("%s: waiting for a slot: %s", about(challenge), decision.why)
        await self._background.record_event("challenge_queued", {**detail_of(challenge), "why": decision.why})

    async def _ask(self, opponent: Bot, proposal: Proposal) -> Reply | None:
        """Challenge a program; return None if this was cancelled because its slot is needed."""
        if not self._slots.is_quiet or not self.accepting or not self._slots.has_room():
            return None
        if self._is_wanted_elsewhere:
            return None
        reply = await self._own.send(opponent.id, proposal, is_bot=True)
        self._expect(reply)
        return reply

    def _expect(self, reply: Reply | None) -> asyncio.Task[bool] | None:
        """Free the slot of one of our challenges if no game follows, like `ChallengeResponder.expect`."""
        if reply is None or reply.accepted is False:
            return None
        return self._answers.expect(reply.challenge_id)

    async def challenge(self, opponent: str, proposal: Proposal) -> str:
        """Challenge a player by name for the operator, and play the game to its end.

        Cancelling withdraws the challenge; a game that has started continues.

        Args:
            opponent: The account's name at the site.
            proposal: The terms.

        Returns:
            The site's key of the game.

        Raises:
            RefusedError: The challenge was declined or could not be sent, or there is no room for a game.
            ServerError: See `bot.servers.Server.challenge`.
        """
        variant = DIALECTS[self._server.site].variants.get(proposal.variant)
        if variant is not None and self._games.lacks_engine(variant.game):
            raise RefusedError(needs_engine(proposal.variant), HTTPStatus.CONFLICT)
        return await self._while_played(self._challenge_and_play(opponent, proposal))

    async def _challenge_and_play(self, opponent: str, proposal: Proposal) -> str:
        reply = await self._own.send(opponent, proposal, gives_way=False)
        expiry = self._expect(reply)
        if reply is None:
            raise RefusedError(f"withdrawn: {self._slots.closed or 'no room'}", HTTPStatus.CONFLICT)
        if expiry is None:
            raise RefusedError(f"{opponent} did not accept: {reply.reason}", HTTPStatus.FORBIDDEN)
        game_id = await self._games.wait_until_over(reply.challenge_id, expiry)
        if game_id is None:
            raise RefusedError("the game has not started", HTTPStatus.NOT_FOUND)
        return game_id

    async def _while_played(self, work: Coroutine[Any, Any, str]) -> str:
        """Run an operator's command; it is cancelled when the account's stream ends."""
        command = asyncio.ensure_future(work)
        self._commands.add(command)
        try:
            await asyncio.wait([command])
        finally:
            command.cancel()
            await asyncio.wait([command])
            self._commands.discard(command)
        if command.cancelled():
            raise RefusedError("the account is no longer being played", HTTPStatus.CONFLICT)
        return command.result()

    async def _end_commands(self) -> None:
        self._slots.is_stopping = True  # for those that come too late
        for command in self._commands:
            command.cancel()
        if self._commands:
            await asyncio.wait(self._commands)

    async def join_tournament(self, tournament_id: str, *, password: str, team: str) -> Tournament:
        """Join a tournament for the operator.

        The site then pairs us regardless of our challenge rules, even after a restart.

        Args:
            tournament_id: The site's id.
            password: See `bot.servers.Server.join_tournament`.
            team: See `bot.servers.Server.join_tournament`.

        Raises:
            RefusedError: The site has no tournaments for programs, or we cannot take part in this one.
            ServerError: See `bot.servers.Server.join_tournament`.
        """
        return await self._tournaments.join(
            tournament_id, password=password, team=team, closed=self._slots.closed
        )

    async def leave_tournament(self, tournament_id: str) -> None:
        """Leave or pause a tournament for the operator; raises the errors of `Server.leave_tournament`."""
        await self._tournaments.leave(tournament_id)

    def _played(self, game_id: str) -> None:
        if self._services.config.manners.rematches:
            self._background.start(
                f"game {game_id}: offering a rematch", partial(self._rematches.offer, game_id)
            )

    async def _challenge_again(self, opponent: str, proposal: Proposal) -> Reply | None:
        if self._slots.waiting or self._is_wanted_elsewhere:
            raise RefusedError("another player is waiting for the slot", HTTPStatus.CONFLICT)
        if is_named(opponent, opponent, self._blocks.names()):
            raise RefusedError(f"{opponent} is on the block list", HTTPStatus.CONFLICT)
        reply = await self._own.send(opponent, proposal)
        self._expect(reply)
        return reply
