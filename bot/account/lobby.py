"""Follows an account's event stream: answers challenges, starts games and resumes them.

Events on the account's stream change its slots (`bot.account.game_slots`); every change wakes the one task
that decides which challenges to accept. The resulting server calls run in the background, so that a slow
call never blocks the stream.
"""

import asyncio
import logging
from collections.abc import Coroutine
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Any

from bot.account.account_games import AccountGames, slot_for_stored_game
from bot.account.background_tasks import BackgroundTasks
from bot.account.block_list import BlockLists
from bot.account.challenge_policy import (
    Accept,
    Decline,
    WaitForSlot,
    is_on_name_list,
    model_refusal,
    permanent_refusal,
)
from bot.account.challenge_responder import ChallengeResponder, challenge_detail, label_of
from bot.account.connection_monitor import ConnectionMonitor
from bot.account.game_slots import GameSlots
from bot.account.matchmaking import Matchmaker
from bot.account.own_challenges import OwnChallenges
from bot.account.pause import Pause
from bot.account.rematches import Rematches
from bot.account.tournaments import Tournaments, missing_engine_error
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
from bot.base.reconnect import backoff_delays, stay_connected
from bot.game.game_runner import GameRunner
from bot.game.services import GameServices
from storage.errors import StorageError
from storage.ledger.games import count_bot_games, list_open_games
from storage.records import AccountKey
from storage.tables.types import now_utc

logger = logging.getLogger(__name__)

WAIT_RECHECK_S = 15.0
"""Time between decisions on a waiting challenge, in seconds: search threads may have become less busy."""


class Lobby:
    """Owns the account's stream and a `GameRunner` for each game; `listen` runs them all.

    Args:
        services: The services that all games share.
        pause: Whether the operator holds back new games.
    """

    def __init__(self, services: GameServices, pause: Pause | None = None) -> None:
        self._pause = pause or Pause()
        self._services = services
        self._server = services.server
        limit = services.shared_limit
        self._slots = GameSlots(
            services.config.challenges,
            lambda: limit.capacity(services.owner),
            self._is_paused,
            # Elsewhere nobody ends idle games, so too many might wake up at once.
            (lambda: self._games.resting_count) if services.config.uses_arena else None,
        )
        self._blocks = BlockLists(
            services.config.challenges, services.database, services.server.site, services.sleep
        )
        self.link = ConnectionMonitor(services.clock)
        """The state of the account's stream."""
        self._matching: asyncio.Task[None] | None = None
        """The task that challenges other programs."""
        self._background = BackgroundTasks(services, self._on_change)
        self._games = AccountGames(
            services, self._slots, self._background, self._on_change, self._offer_rematch
        )
        self._rematches = Rematches(services, self._challenge_again)
        self._answers = ChallengeResponder(
            services,
            self._slots,
            self._background,
            resume_games=self._games.resume_listed_games,
            changed=self._on_change,
        )
        self._own = OwnChallenges(services, self._slots, changed=self._on_change)
        self._matchmaker = Matchmaker(
            services, idle_time_s=self._idle_time_s, ask=self._challenge_bot, blocked=self._blocks.names
        )
        self._tournaments = Tournaments(services.server, self._games.is_engine_missing)
        self._apply_challenge_rules()
        self._link_changes: asyncio.Queue[str | None] = asyncio.Queue()
        """Changes in the account's link: the reason when it is lost, and None when it is restored."""
        self._is_watching = False
        """Whether a task is watching how long challenges wait."""
        self._commands: set[asyncio.Future[Any]] = set()
        """The operator's commands in progress."""
        self._quiet_since: float | None = services.clock()
        """When the account became idle; None if a challenge waits or a game with a clock is held."""
        self._changed = asyncio.Event()
        """Set when there may be something to decide."""
        self._empty = asyncio.Event()
        self._empty.set()

    async def listen(self) -> None:
        """Answer challenges and play until cancelled; the next start resumes games that are still running.

        Raises:
            AuthError: The server no longer accepts our account.
        """
        async with asyncio.TaskGroup() as tasks:
            self._background.tasks = tasks
            self._pause.follow(self, self._on_pause_change)
            try:
                await self._listen(tasks)
            finally:
                self._pause.leave(self)
                await self._cancel_operator_commands()

    async def _listen(self, tasks: asyncio.TaskGroup) -> None:
        self._blocks.start(tasks)
        await self._blocks.read_blocked_accounts()
        await self._games.resume_games(is_start=True)
        tasks.create_task(self._decide_on_changes())
        tasks.create_task(self._process_link_changes())
        self._matching = tasks.create_task(self._matchmaker.run())
        await stay_connected(
            lambda: self.link.record_times(self._server.account_events()),
            self._handle_event_safely,
            name=f"{self._server.site} account",
            on_change=self._on_link_change,
            sleep=self._services.sleep,
            clock=self._services.clock,
            rng=self._services.rng,
            retries=self.link.retries,
        )

    def reload(self, config: Config) -> None:
        """Apply new settings; running games keep their previous settings for manners and chat."""
        old, self._services.config = self._services.config, config
        self._slots.config = config.challenges
        self._apply_challenge_rules()
        self._blocks.follow(config.challenges)
        if self._matching is not None and config.matchmaking != old.matchmaking:
            self._matching.cancel()
            self._matching = self._background.tasks.create_task(self._matchmaker.run())
        if self._matching is not None:
            self._background.start("reading the blocked accounts", self.refresh_blocks)
        self._on_change()

    def _apply_challenge_rules(self) -> None:
        self._server.set_challenge_rules(
            self._services.config.challenges,
            lambda boards: self._slots.is_open and self._slots.has_room(boards),
        )

    @property
    def accepting(self) -> bool:
        """Whether challenges are accepted.  Setting this to False also declines the waiting challenges."""
        return self._slots.is_open

    @accepting.setter
    def accepting(self, wanted: bool) -> None:
        self._slots.is_stopping = not wanted
        self._on_change()

    def _is_paused(self) -> bool:
        return self._pause.holds_back_games

    def _on_pause_change(self) -> None:
        """Leave the site's tournaments during a pause, to avoid their games; rejoin them afterwards."""
        self._background.start("tournaments", partial(self._tournaments.follow, is_paused=self._is_paused))
        self._on_change()

    async def wait_until_drained(self) -> None:
        """Wait until all challenges are answered, and all games with a real-time clock are over and their
        ledgers closed.

        Ignores games without a real-time clock: they can last for weeks and resume after the restart.
        """
        await self._empty.wait()

    @property
    def is_full(self) -> bool:
        """Whether all slots for games with a real-time clock are taken."""
        return not self._slots.has_room()

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
        """Number of finished games in `playing` whose last decisions are still being analysed."""
        players = map(self._games.player, self._games.playing)
        return sum(player is not None and player.is_over for player in players)

    def player(self, game_id: str) -> GameRunner | None:
        """The runner of a game in `playing`, or None if the game has ended in the meantime."""
        return self._games.player(game_id)

    @property
    def queue(self) -> list[tuple[Challenge, float]]:
        """Challenges waiting for a slot, each with its waiting time in seconds."""
        return self._slots.queue(self._services.clock())

    @property
    def lag_s(self) -> float:
        """As `bot.servers.Server.lag_s`."""
        return self._server.lag_s

    # --- Events -----------------------------------------------------------------------------------------

    async def _handle_event_safely(self, event: AccountEvent) -> None:
        """Handle one event; an error must not end the running games."""
        try:
            self._apply_event(event)
        except Exception as error:
            logger.exception("%s account: cannot handle %.500r", self._server.site, event)
            detail = {"event": f"{event!r:.500}", "error": f"{error!r:.500}"}
            self._background.start(
                "recording a failed event", partial(self._background.record_event, "event_failed", detail)
            )

    def _apply_event(self, event: AccountEvent) -> None:
        match event:
            case ChallengeReceived(challenge):
                if not challenge.is_ours and challenge.id not in self._games:
                    self._receive_challenge(challenge)
            case ChallengeGone(challenge_id):
                self._slots.leave(challenge_id)
                self._answers.leave(challenge_id)
                self._on_change()
            case GameStarted():
                self._games.note_start(event)
            case GameFinished(game_id, rating_diff):
                self._games.note_end(game_id)
                if rating_diff is not None:
                    what = f"game {game_id}: recording the rating change"
                    self._background.start(what, partial(self._games.store_rating, game_id, rating_diff))

    def _receive_challenge(self, challenge: Challenge) -> None:
        config = self._services.config
        decision = model_refusal(challenge, config.assignment, self._services.models.has_network)
        decision = decision or permanent_refusal(challenge, config.challenges, self._blocks.names())
        if decision is not None:
            self._answers.decline(challenge, decision)
            return
        self._slots.enqueue(challenge, self._services.clock())
        self._on_change()

    async def refresh_blocks(self) -> None:
        """Re-read the accounts that the operator has blocked, and decline their waiting challenges."""
        await self._blocks.read_blocked_accounts()
        rules, blocked = self._services.config.challenges, self._blocks.names()
        for challenge, _ in self.queue:
            decision = permanent_refusal(challenge, rules, blocked)
            if decision is not None:
                self._slots.leave(challenge.id)
                self._answers.decline(challenge, decision)
        self._on_change()

    async def _on_link_change(self, reason: str | None) -> None:
        if reason is not None:
            self.link.record_loss(reason)
        self._link_changes.put_nowait(reason)

    async def _process_link_changes(self) -> None:
        """Record when the link is lost, and catch up once it is back. This is a separate task because reading
        the stream must not wait for the database or for further requests."""
        while True:
            reason = await self._link_changes.get()
            if reason is not None:
                await self._background.record_event("account_link_lost", {"reason": reason})
                continue
            await self._background.record_event("account_link_back", {})
            if self._link_changes.empty():
                await self._background.attempt(f"{self._server.site} account: catching up", self._resync)

    async def _resync(self) -> None:
        """Catch up on events missed while the link was down and events that the server dropped."""
        await self.refresh_blocks()  # another program may have changed them
        unreported = self._games.games_without_end_report()
        await self._games.resume_games()
        await self._games.ask_ratings(unreported)

    # --- Decisions --------------------------------------------------------------------------------------

    def _on_change(self) -> None:
        """Update the lobby after a change to the slots, the games or the background tasks."""
        self._update_state()
        self._changed.set()

    def _update_state(self) -> None:
        self._games.free_slots()
        self._games.start_waiting_game()
        limit, owner = self._services.shared_limit, self._services.owner
        wanted = bool(self._slots.waiting_slots)
        limit.count(owner, self._slots.active_boards, self._changed.set, has_challenger=wanted)
        if not self._slots.is_idle:
            self._quiet_since = None
        elif self._quiet_since is None:
            self._quiet_since = self._services.clock()
        is_quiet = self._background.is_idle and self._slots.is_idle
        if is_quiet and all(map(self._slots.has_no_clock, self._games.playing)):
            self._empty.set()
        else:
            self._empty.clear()
        self._answers.recheck_waits()

    def _idle_time_s(self) -> float:
        if self._quiet_since is None or not self.accepting:
            return 0.0
        return self._services.clock() - self._quiet_since

    async def _decide_on_changes(self) -> None:
        """Decide on waiting challenges whenever something has changed."""
        waits = backoff_delays(self._services.rng)
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._decide_waiting()
                waits = backoff_delays(self._services.rng)
            except StorageError as error:  # they go on waiting
                logger.error("cannot decide on challenges: %s", error)
                await self._services.sleep(next(waits))
                self._changed.set()

    async def _decide_waiting(self) -> None:
        if not self._slots.waiting_slots and self.accepting and not self._is_slot_wanted_elsewhere:
            return
        await self._look_up_opponents()
        bot_games = {}
        if any(slot.is_bot for slot in self._slots.waiting_slots):
            since = now_utc() - timedelta(hours=24)
            async with self._services.database.read() as session:
                bot_games = await count_bot_games(session, self._services.owner, since)
        for challenge, decision in self._slots.decide_waiting(bot_games, self._services.clock()):
            match decision:
                case Accept():
                    self._answers.accept(challenge)
                case Decline():
                    self._answers.decline(challenge, decision)
                case WaitForSlot():
                    self._background.start(
                        f"{label_of(challenge)}: waiting", partial(self._record_queued, challenge, decision)
                    )
                    if not self._is_watching:
                        self._is_watching = True
                        self._background.tasks.create_task(self._recheck_timed_out_waits())
        if self._slots.waiting_slots or not self.accepting or self._is_slot_wanted_elsewhere:
            self._own.withdraw_unanswered(is_needed=self.accepting)
        self._update_state()

    @property
    def _is_slot_wanted_elsewhere(self) -> bool:
        """Whether a challenger of another account on this machine is waiting for a slot."""
        return self._services.shared_limit.is_wanted_elsewhere(self._services.owner)

    async def _look_up_opponents(self) -> None:
        """Look up the opponent of each game that started without a challenge, once its ledger is open."""
        if not self._slots.games_not_stored:
            return
        async with self._services.database.read() as session:
            stored = await list_open_games(session, self._services.owner)
        unknown = set(self._slots.games_not_stored)
        for game in stored:
            if game.site_game_id in unknown:
                self._slots.start(game.site_game_id, slot_for_stored_game(game))

    async def _recheck_timed_out_waits(self) -> None:
        """Trigger a decision whenever a challenge has waited too long."""
        while (left_s := self._slots.next_wait_timeout_s(self._services.clock())) is not None:
            # At least 1 s, as the database may be unavailable.
            longest_s = 1.0 if self._slots.can_rest else WAIT_RECHECK_S
            await self._services.sleep(min(max(left_s, 1.0), longest_s))
            self._on_change()
        self._is_watching = False

    async def _record_queued(self, challenge: Challenge, decision: WaitForSlot) -> None:
        logger.info("%s: waiting for a slot: %s", label_of(challenge), decision.why)
        await self._background.record_event(
            "challenge_queued", {**challenge_detail(challenge), "why": decision.why}
        )

    async def _challenge_bot(self, opponent: Bot, proposal: Proposal) -> Reply | None:
        """Challenge a program; return None if the challenge was withdrawn because its slot is needed."""
        if not self._slots.is_idle or not self.accepting or not self._slots.has_room():
            return None
        if self._is_slot_wanted_elsewhere:
            return None
        reply = await self._own.send(opponent.id, proposal, is_bot=True)
        self._expire_own_challenge(reply)
        return reply

    def _expire_own_challenge(self, reply: Reply | None) -> asyncio.Task[bool] | None:
        """Free the slot of one of our challenges if no game follows; see `start_expiry`."""
        if reply is None or reply.accepted is False:
            return None
        return self._answers.start_expiry(reply.challenge_id)

    async def challenge(self, opponent: str, proposal: Proposal) -> str:
        """Challenge a player by name for the operator, and play the game to its end.

        Cancelling withdraws the challenge; a game that has started continues.

        Args:
            opponent: The account's name at the site.
            proposal: The terms.

        Returns:
            The site's key for the game.

        Raises:
            RefusedError: The challenge was declined or could not be sent, or there is no room for a game.
            ServerError: See `bot.servers.Server.challenge`.
        """
        variant = DIALECTS[self._server.site].variants.get(proposal.variant)
        if variant is not None and self._games.is_engine_missing(variant.game):
            raise RefusedError(missing_engine_error(proposal.variant), HTTPStatus.CONFLICT)
        return await self._run_operator_command(self._challenge_and_play(opponent, proposal))

    async def _challenge_and_play(self, opponent: str, proposal: Proposal) -> str:
        reply = await self._own.send(opponent, proposal, is_withdrawable=False)
        expiry = self._expire_own_challenge(reply)
        if reply is None:
            raise RefusedError(f"withdrawn: {self._slots.closed_reason or 'no room'}", HTTPStatus.CONFLICT)
        if expiry is None:
            raise RefusedError(f"{opponent} did not accept: {reply.reason}", HTTPStatus.FORBIDDEN)
        game_id = await self._games.wait_until_over(reply.challenge_id, expiry)
        if game_id is None:
            raise RefusedError("the game has not started", HTTPStatus.NOT_FOUND)
        return game_id

    async def _run_operator_command(self, work: Coroutine[Any, Any, str]) -> str:
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

    async def _cancel_operator_commands(self) -> None:
        self._slots.is_stopping = True  # for those that come too late
        for command in self._commands:
            command.cancel()
        if self._commands:
            await asyncio.wait(self._commands)

    async def join_tournament(self, tournament_id: str, *, password: str, team: str) -> Tournament:
        """Join a tournament for the operator.

        Afterwards, the site pairs us regardless of our challenge rules, even if we restart.

        Args:
            tournament_id: The site's id.
            password: See `bot.servers.Server.join_tournament`.
            team: See `bot.servers.Server.join_tournament`.

        Raises:
            RefusedError: The site has no tournaments for programs, or we cannot take part in this one.
            ServerError: See `bot.servers.Server.join_tournament`.
        """
        return await self._tournaments.join(
            tournament_id, password=password, team=team, closed_reason=self._slots.closed_reason
        )

    async def leave_tournament(self, tournament_id: str) -> None:
        """Leave or pause a tournament for the operator; raises the errors of `Server.leave_tournament`."""
        await self._tournaments.leave(tournament_id)

    def _offer_rematch(self, game_id: str) -> None:
        if self._services.config.manners.rematches:
            self._background.start(
                f"game {game_id}: offering a rematch", partial(self._rematches.offer, game_id)
            )

    async def _challenge_again(self, opponent: str, proposal: Proposal) -> Reply | None:
        if self._slots.waiting_slots or self._is_slot_wanted_elsewhere:
            raise RefusedError("another player is waiting for the slot", HTTPStatus.CONFLICT)
        if is_on_name_list(opponent, opponent, self._blocks.names()):
            raise RefusedError(f"{opponent} is on the block list", HTTPStatus.CONFLICT)
        reply = await self._own.send(opponent, proposal)
        self._expire_own_challenge(reply)
        return reply
