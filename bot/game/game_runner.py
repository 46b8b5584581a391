"""Plays one game until its ledger is closed: finds, records and sends moves, and judges the replies.

All important state is in the ledger (`bot.game.ledger`) and on the server, so a runner can be killed at any
moment and another one can resume the game.
"""

import asyncio
import logging
import math
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any

from bot.base import log
from bot.base.dialects import Capability
from bot.base.errors import AuthError, RefusedError, TransientError
from bot.base.events import (
    UNRECORDED,
    EndReason,
    GameEnd,
    GameEvent,
    GameSnapshot,
    GameState,
    MoveInfo,
)
from bot.base.game_server import is_game_running
from bot.base.reconnect import Retries, backoff_delays, stay_connected
from bot.game.assignment import (
    BIASED_COIN_PROBABILITY,
    BLIND_COIN_PROBABILITY,
    Assignment,
    AssignmentContext,
    assign,
)
from bot.game.chat import GameChat
from bot.game.ledger import DECISION_UNJUDGED, GameLedger, crash_detail, sets_bait
from bot.game.offer_policy import MIN_COUNTED_PLIES, score_centi
from bot.game.offers import GameOffers
from bot.game.pending_actions import PendingAction, PendingActions
from bot.game.reply_times import ReplyTimer
from bot.game.services import GameServices
from bot.game.session import (
    Action,
    Adjourn,
    AnswerDraw,
    AnswerTakeback,
    CancelClaim,
    ClaimGame,
    Finish,
    HandleChat,
    Join,
    Record,
    Session,
    SessionState,
    StopThinking,
    TakenBack,
    Think,
    end_by_rules,
    position_of,
    step,
)
from bot.game.side_tasks import SideTasks
from bot.game.thinking import GameThinker, PositionToMove
from bot.threads.fair_queue import JobRank
from engine.completion import MAX_COMPLETION_S, complete
from engine.decision import Decision, Person
from engine.errors import EngineMismatch
from engine.forecasts import forecast_job
from engine.game import IllegalMove, continued_position, positions, replay, starting_position
from engine.games import get_rules
from engine.human.reply_forecast import Bait
from engine.person.state import KnownPerson
from engine.search.reference import Searcher
from engine.stop import StopFlag, Stopped
from engine.strategies.registry import strategy_named
from storage.ledger.events import REPORT_LATE
from storage.records import DecisionState, StoredDecision, StoredGame

logger = logging.getLogger(__name__)

MAX_QUICK_RECONNECTS = 8
"""Number of reconnection attempts with pauses under 0.5 s; short, because our clock may be running."""
MIN_REFUSALS_TO_WARN = 5
"""Number of refusals of a move in one position after which the operator is warned."""
MAX_NOT_FOUND_RETRIES = 4
"""Number of further queries, over a few seconds, before we accept that a game does not exist."""
MAX_REFUSAL_RETRIES = 40
"""Number of retries, over two minutes, after any other refusal; the server may still report the result."""
READ_TIMEOUT_S = 5.0
"""Timeout of reading a game again, in seconds; some sites leave a second stream without an answer."""
GAME_LIST_TIMEOUT_S = 2.0
"""Timeout of a query for the running games, in seconds; the game's stream is closed meanwhile."""
REPORT_TOLERANCE_S = 0.5
"""A report is late this many seconds after its planned time."""
MAX_STREAM_RETRY_WAIT_S = 3.0
"""Maximum wait before a game's stream is reopened, in seconds; short, because our clock may be running."""


class GameRunner:
    """Plays one game; call `run` only once.

    Args:
        game_id: The site's id.
        services: The services shared by all games.
        on_change: Called when `is_over` or `cannot_begin` may have changed.
        can_abort: Whether the game's rules let us abort it.
    """

    def __init__(
        self,
        game_id: str,
        services: GameServices,
        on_change: Callable[[], None] = lambda: None,
        *,
        can_abort: bool = True,
    ) -> None:
        self.game_id = game_id
        self._on_change = on_change
        self._can_abort = can_abort
        self._services = services
        self._server = services.server
        self._ledger = GameLedger(services.database, services.owner, services.role, game_id, services.metrics)
        self.session = Session()
        """The current position."""
        self.snapshot: GameSnapshot | None = None
        """The first message of the game, even if our rules refuse it."""
        self.link_retries = Retries(services.clock)
        """Attempts to reopen the game's stream."""
        self._doubtful: tuple[str, ...] | None = None
        """The moves of the latest snapshot, if it lacked moves that we know of."""
        self._was_read = False
        """Whether the current moves are not from the game's stream, because we read the game again."""
        self._handling = asyncio.Lock()
        self._end: GameEnd | None = None
        self.is_adjourned = False
        """Whether another `GameRunner` must resume the game."""
        self.cannot_begin = False
        """Whether the opponent does not begin and the game cannot be aborted."""
        self.was_running = False
        """Whether the game was still running when we joined it."""
        self._think: Think | None = None
        """Our latest turn; the same position may come again after a takeback, and is then another turn."""
        self._turn: asyncio.Task[None] | None = None
        """The task of our latest turn, which finds a move and sends it."""
        self._move_search: asyncio.Task[Any] | None = None
        """The task that searches for our move, or holds it until it may be sent."""
        self._profiles: dict[int, asyncio.Task[None]] = {}
        """Tasks that complete the profiles of decisions, keyed by decision key."""
        self._timer = ReplyTimer()
        self._increment_s = 0.0
        self._clocks_s: tuple[float, float] | None = None
        """The clocks as last reported by the server; `_clocks_at` is the local time of the report."""
        self._clocks_at = 0.0
        self._due: tuple[float, float] | None = None
        """When our latest turn began, by the local clock, and its time limit in seconds."""
        self._pending_bait: tuple[int, Bait] | None = None
        """Ply of our latest move with a forecast, and the confirmed bait that it sets."""
        self._unknown = 0
        """Number of consecutive times that the server said the game does not exist."""
        self._tasks: asyncio.TaskGroup
        self._search: GameThinker
        self._side_tasks: SideTasks
        self._actions: PendingActions
        self._offers: GameOffers
        self._chat: GameChat

    @property
    def is_over(self) -> bool:
        """Whether the server has ended or adjourned the game; its ledger may stay open for a while."""
        return self._end is not None or self.is_adjourned

    @property
    def stored(self) -> StoredGame | None:
        """The game as it was when the ledger was opened; None before the first message."""
        return self._ledger.game if self._ledger.is_known else None

    @property
    def clocks_s(self) -> tuple[float, float] | None:
        """Time left for side 0 and side 1 now, in seconds, never below 0; None without a clock.

        Computed from the server's latest report; no clock runs until both sides have moved.
        """
        session = self.session
        if self._clocks_s is None or session.moves is None:
            return None
        left = list(self._clocks_s)
        if len(session.moves) >= MIN_COUNTED_PLIES and not self.is_over:
            mover = get_rules(session.game).side_to_move(session.position)
            left[mover] = max(0.0, left[mover] - (self._services.clock() - self._clocks_at))
        return left[0], left[1]

    @property
    def opponent_thinks_s(self) -> float:
        """Seconds for which the opponent has been thinking in a game with a clock, otherwise 0."""
        session = self.session
        if self._clocks_s is None or session.moves is None or self.is_over:
            return 0.0
        is_theirs = get_rules(session.game).side_to_move(session.position) == session.their_side
        return self._services.clock() - self._clocks_at if is_theirs else 0.0

    @property
    def overdue_s(self) -> float | None:
        """Seconds by which our move is overdue; None if it is not our turn."""
        if self._due is None or self.is_over or self.session.state is not SessionState.THINKING:
            return None
        began_s, longest_s = self._due
        return max(0.0, self._services.clock() - began_s - longest_s)

    @property
    def pending_bait(self) -> Bait | None:
        """Our last move's bait, until the reply arrives; None if there is none or it is unknown."""
        ply, bait = self._pending_bait or (0, None)
        return None if self.is_over or len(self.session.moves or ()) != ply + 1 else bait

    # --- The operator's orders --------------------------------------------------------------------------

    async def abort(self) -> None:
        """Ask the server to abort the game.

        Raises:
            RefusedError: The server refuses to abort the game.
            ServerError: The request failed.
        """
        await self._server.abort(self.game_id)

    async def resign(self) -> None:
        """Resign.

        Raises:
            RefusedError: The game has not begun or is over, or the server refuses.
            ServerError: The request failed.
        """
        if self.is_over:
            raise RefusedError("the game is over", HTTPStatus.CONFLICT)
        if len(self.session.moves or ()) < MIN_COUNTED_PLIES:
            raise RefusedError("not both players have moved: abort the game instead", HTTPStatus.CONFLICT)
        await self._server.resign(self.game_id)
        self._set_unseen_end(await self._offers.resign(lambda: not self.is_over, is_accepted=True))
        if not self.is_over:
            raise TransientError("the server accepted the resignation, but the game goes on")

    async def say(self, text: str) -> None:
        """Send the opponent a message; raises the errors of `bot.servers.Server.chat`."""
        await self._server.chat(self.game_id, text)

    async def run(self) -> None:
        """Play until the server ends the game, then settle every decision and close the ledger.

        If the server adjourns the game, its ledger stays open. If the ledger already contains the game's end,
        only settle the decisions, without querying the server.

        Raises:
            AuthError: The server no longer accepts our account.
            ProtocolError: The game cannot be read; it stays open in the ledger.
            Exception: Any other failure; another `GameRunner` may resume the game.
        """
        log.game.set(self.game_id)
        try:
            async with asyncio.TaskGroup() as self._tasks:
                self._set_up()
                self._end = await self._ledger.find_unsettled_end()
                if self._end is not None:
                    self._on_change()  # it needs no slot
                    async with self._services.settling:
                        await self._finish(self._end)
                    return
                try:
                    await self._listen()
                except RefusedError as error:
                    await self._close_forgotten_game(error)
                self._cancel_tasks()
                if self._end is not None and self._ledger.is_open:
                    await self._finish(self._end)
        except BaseExceptionGroup as group:
            raise most_severe_error(group) from group

    def _set_up(self) -> None:
        services, ledger = self._services, self._ledger
        self._search = GameThinker(services, self._tasks)
        self._side_tasks = SideTasks(self.game_id, self._tasks)
        self._actions = PendingActions(self.game_id, services, self._read_again)
        self._offers = GameOffers(
            self.game_id,
            services,
            ledger,
            self._side_tasks,
            self._actions,
            lambda: self.session,
            self._set_cannot_begin,
            can_abort=self._can_abort,
        )
        self._chat = GameChat(
            self.game_id,
            services,
            ledger,
            self._side_tasks,
            moves=lambda: self.session.moves or (),
            is_over=lambda: self._end is not None,
        )

    # --- Events in, actions out -------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Handle the game's events until the game is over.

        Raises:
            RefusedError: The server keeps refusing the stream and does not list the game as running; with
                status 404, it does not know the game.
        """
        waits = backoff_delays(self._services.rng, cap_s=MAX_STREAM_RETRY_WAIT_S)
        while True:
            try:
                await stay_connected(
                    lambda: self._server.game_events(self.game_id),
                    self._handle,
                    name=f"{self._server.site} game {self.game_id}",
                    done=lambda: self.is_over,
                    on_change=self._record_link_change,
                    sleep=self._services.sleep,
                    clock=self._services.clock,
                    rng=self._services.rng,
                    quick=MAX_QUICK_RECONNECTS,
                    cap_s=MAX_STREAM_RETRY_WAIT_S,
                    retries=self.link_retries,
                )
            except RefusedError as error:  # a site that is shaky refuses what it knows a moment later
                self._unknown += 1
                tries = MAX_NOT_FOUND_RETRIES if error.status == HTTPStatus.NOT_FOUND else MAX_REFUSAL_RETRIES
                if self._unknown > tries and await self._is_unlisted():
                    raise
                if self._unknown == 1:
                    waits = backoff_delays(self._services.rng, cap_s=MAX_STREAM_RETRY_WAIT_S)
                wait_s = next(waits)
                logger.info("game %s: %s; retrying in %.1f s", self.game_id, error, wait_s)
                await self._services.sleep(wait_s)
            else:
                return

    async def _is_unlisted(self) -> bool:
        """Whether this game is missing from the server's list of running games."""
        try:
            async with asyncio.timeout(GAME_LIST_TIMEOUT_S):
                return await is_game_running(self._server, self.game_id) is False
        except TimeoutError:
            return False

    async def _handle(self, event: GameEvent, *, is_read: bool = False) -> None:
        self._unknown = 0
        async with self._handling:
            await self._apply_event(event, is_read=is_read)

    async def _apply_event(self, event: GameEvent, *, is_read: bool) -> None:
        if self._is_outdated(event, is_read=is_read):
            raise TransientError("an older state of the game came after a newer one")  # ask for the newest
        if isinstance(event, GameSnapshot):
            self.snapshot = self.snapshot or event
        if isinstance(event, GameSnapshot | GameState):
            self._was_read = is_read
        self.session, actions = step(self.session, event)
        self._time_reply(event)
        for action in actions:
            await self._perform(action)
            if isinstance(action, Join) and not self._ledger.is_open:  # settled by an earlier run
                self._end = GameEnd(EndReason.OTHER, None, "settled")
                return
        self._offers.watch_first_move()
        self._actions.on_change()

    def _is_outdated(self, event: GameEvent, *, is_read: bool) -> bool:
        """Whether an event lacks moves that we know of, although no takeback was requested.

        A stream that hangs may deliver its first message after another stream has shown newer moves. If two
        snapshots in a row lack the same moves, the server has taken them back.

        Args:
            event: The event.
            is_read: Whether we read the game again, so that the event is not from the game's stream.
        """
        state = event.state if isinstance(event, GameSnapshot) else event
        if not isinstance(state, GameState):
            return False
        before, self._doubtful = self._doubtful, None
        is_from_one_stream = not is_read and not self._was_read
        if is_from_one_stream and not self._server.supports(Capability.TAKEBACK_REQUESTS):
            return False
        if not self.session.is_ahead_of(state):
            return False
        if isinstance(event, GameSnapshot):
            self._doubtful = state.moves
        return self._doubtful is None or self._doubtful != before

    async def _perform(self, action: Action) -> None:
        match action:
            case Join(snapshot):
                await self._open_ledger(snapshot)
            case StopThinking():
                if self._move_search is not None:
                    self._move_search.cancel()
            case TakenBack(ply):
                self._search.forget()
                await self._ledger.take_back(ply)
            case Think():
                self._think = action
                self._turn = self._tasks.create_task(self._decide_and_send(action, self._services.clock()))
            case Record(moves, since_ply):
                await self._record(moves, since_ply)
            case AnswerDraw():
                self._offers.answer_draw()
            case AnswerTakeback():
                self._offers.answer_takeback()
            case ClaimGame(in_s):
                self._offers.claim(in_s)
            case CancelClaim():
                self._offers.cancel_claim()
            case HandleChat(line):
                self._chat.on_message(line)
            case Adjourn(reason):
                logger.info("game %s: adjourned: %s", self.game_id, reason)
                await self._ledger.record_event("game_adjourned", {"reason": reason})
                self.is_adjourned = True
                self._on_change()
            case Finish(_, end):
                self._set_end(end)

    def _time_reply(self, event: GameEvent) -> None:
        """Update the clocks from a state that the session has accepted."""
        session = self.session
        if isinstance(event, GameSnapshot):
            self._increment_s = 0.0 if event.clock is None else event.clock.increment_s
        state = event.state if isinstance(event, GameSnapshot) else event
        if not isinstance(state, GameState) or state.moves != session.moves:
            return
        clocks_s = state.remaining_s
        self._clocks_s, self._clocks_at = clocks_s, self._services.clock()
        self._timer.update_clocks(
            state.moves,
            is_theirs=get_rules(session.game).side_to_move(session.position) == session.their_side,
            clock_s=None if clocks_s is None else clocks_s[session.their_side],
            increment_s=self._increment_s,
            now=self._services.clock(),
            lag_s=self._server.lag_s,
            is_prompt=event is state,
        )

    async def _record(self, moves: tuple[str, ...], since_ply: int, end: GameEnd | None = None) -> None:
        """Record the server's state and add missing outcomes of decisions."""
        lacking = await self._ledger.record_moves(moves, since_ply, end, self._timer.times)
        self._timer.times.clear()
        for stored in lacking:
            self._start_completion(stored)

    async def _open_ledger(self, snapshot: GameSnapshot) -> None:
        self.was_running = snapshot.state.end is None
        config = self._services.config

        def choose(context: AssignmentContext) -> Assignment:
            is_blind = not config.trial.reveal
            coin_probability = BLIND_COIN_PROBABILITY if is_blind else BIASED_COIN_PROBABILITY
            assignment = assign(
                context,
                config.assignment,
                self._services.draw_number(),
                coin_probability,
                has_people_model=self._services.models.predicts_people(context.game),
            )
            detail, kind = dict(assignment.detail), strategy_named(assignment.strategy)
            if kind.draws_decisions:
                detail["randomised"] = asdict(config.randomised.params())
            if "number" in detail or kind.draws_decisions:  # the player was drawn, or draws its moves
                detail["blind"] = is_blind
                detail |= {"seed": config.assignment.seed} if config.assignment.seed else {}
            engine = self._services.engines.settings(context.game)
            if kind.asks_engine and engine is not None:
                detail["engine"] = engine.search_settings_record()
                if kind.plays_engine_moves:
                    detail["engine"] |= engine.move_settings_record()
            if kind.models_opponent:
                detail["value"] = asdict(config.human.opponent_params())
            return replace(assignment, detail=detail)

        is_new = await self._ledger.open(snapshot, choose, config.trap.params())
        game = self._ledger.game
        logger.info(
            "game %s: %s as %s against %s (%s)",
            self.game_id,
            "playing" if is_new else "taking up",
            game.strategy,
            game.opponent_name,
            game.opponent_rating or "unrated",
            extra={"game_id": self.game_id, "strategy": game.strategy, "opponent": game.opponent_id},
        )
        if is_new:
            self._chat.greet()

    def _is_end_reported(self) -> bool:
        """Whether the server has reported how the game ended; if not, our own record may be more complete."""
        return self.is_adjourned or (self._end is not None and self._end.reason is not EndReason.UNKNOWN)

    def _set_end(self, end: GameEnd) -> None:
        # When the server does not report how a game ended, we may know more than it does.
        if self._end is None or end.reason is not EndReason.UNKNOWN:
            self._end = end
            self._on_change()

    def _set_cannot_begin(self, cannot_begin: bool) -> None:
        if cannot_begin != self.cannot_begin:
            self.cannot_begin = cannot_begin
            self._on_change()

    def _set_unseen_end(self, end: GameEnd | None) -> None:
        """Set an end that the server has not shown, unless it reports one itself."""
        if end is not None and not self._is_end_reported():
            self._end = end
            self._actions.on_change()
            self._on_change()

    async def _record_link_change(self, reason: str | None) -> None:
        if reason is None:
            await self._ledger.record_event("game_link_back", {})
        else:
            await self._ledger.record_event("game_link_lost", {"reason": reason})

    # --- Our move ---------------------------------------------------------------------------------------

    async def _decide_and_send(self, think: Think, received_at: float) -> None:
        stored = await self._find_or_commit_decision(think, received_at)
        if stored is not None and (stored.state is not DecisionState.COMMITTED or await self._hold_move()):
            await self._send_move(think, stored, received_at)

    async def _known_person(self, moves: tuple[str, ...]) -> KnownPerson | None:
        """What is known of the person after these moves; None if the strategy models nobody."""
        if not strategy_named(self._ledger.game.strategy).models_opponent:
            return None
        return await self._ledger.latest_person(moves, self._services.models)

    async def _hold_move(self) -> bool:
        """Wait until our committed move may be sent; return False if the turn passes meanwhile."""
        self._move_search = task = self._tasks.create_task(self._search.hold_move())
        await asyncio.wait([task])
        return not task.cancelled()

    def _is_current(self, think: Think) -> bool:
        session = self.session
        is_ours = session.state is SessionState.THINKING and session.moves == think.moves
        return is_ours and self._think is think and not self.is_over

    async def _find_or_commit_decision(self, think: Think, received_at: float) -> StoredDecision | None:
        """Return the decision for our turn, committed to the ledger; None if the turn has passed."""
        game, position = position_of(self.session, think.moves)
        position = continued_position(game, position)
        at = PositionToMove(self._ledger.game, game, position, think.moves)
        longest_s = self._search.max_move_time_s(at, think.remaining_s)
        self._due = received_at, longest_s
        self._search.begin_turn(at, think.remaining_s, received_at)
        stored = await self._ledger.find_committed_decision(think.ply, at.text)
        if stored is not None or not self._is_current(think):
            return stored
        known = await self._known_person(think.moves)
        if not self._is_current(think):
            return None
        task = self._tasks.create_task(
            self._search.decide(at, think.remaining_s, received_at, think.their_remaining_s, known)
        )
        self._move_search = task
        await asyncio.wait([task])
        if task.cancelled():
            return None
        committed = await self._ledger.commit_decision(think.moves, task.result())
        if committed is not None:
            stored_game = self._ledger.game
            took_s = self._services.clock() - received_at
            self._services.metrics.count_decision(stored_game.game, stored_game.strategy, took_s, longest_s)
        return committed

    async def _send_move(self, think: Think, stored: StoredDecision, received_at: float) -> None:
        """Send a committed move until the server shows it or the turn has passed.

        Before sending the move, try to resign or to agree to a draw if the offer policy says so; send the
        move if the attempt has no effect.
        """
        is_current = partial(self._is_current, think)
        if is_current():
            self._set_unseen_end(await self._offers.resign_or_accept_draw(is_current))
        should_offer_draw = self._offers.should_offer_draw()
        is_accepted = False

        async def send() -> None:
            now = self._services.clock()
            self._timer.start(think.ply, now)
            info = self._move_info(stored.decision, now - received_at)
            move = stored.decision.move
            await self._server.move(self.game_id, move, offer_draw=should_offer_draw, info=info)

        async def on_accepted() -> None:
            nonlocal is_accepted
            await self._ledger.mark_sent(stored)
            if not is_accepted:
                is_accepted = True
                self._start_pondering(think, stored, await self._known_person(think.moves))
                self._start_completion(stored)

        async def on_refused(error: RefusedError, refusals: int) -> None:
            if refusals == MIN_REFUSALS_TO_WARN:
                logger.warning("game %s: the server keeps refusing our move: %s", self.game_id, error)
                await self._ledger.record_event("move_refused", {"ply": think.ply, "reason": str(error)})

        action = PendingAction(
            name=f"playing {stored.decision.move}",
            send=send,
            is_wanted=is_current,
            is_safe_to_repeat=True,
            is_urgent=think.remaining_s is not None,
            changes_moves=True,
            on_accepted=on_accepted,
            on_refused=on_refused,
        )
        await self._actions.perform(action)

    def _move_info(self, decision: Decision, took_s: float) -> MoveInfo:
        """Public information sent with the move to sites that accept it."""
        is_blind = self._services.is_blind(self._ledger.game)
        # A score shows whose search it is from: its depth, and whether the move is the best by it.
        return MoveInfo(None if is_blind else score_centi(decision), took_s)

    def _start_pondering(self, think: Think, stored: StoredDecision, known: KnownPerson | None) -> None:
        """Start pondering when the opponent's turn begins."""
        moves = (*think.moves, stored.decision.move)
        if self._end is None and self.session.moves in (think.moves, moves):  # no reply yet
            game, position = position_of(self.session, moves)
            if game.legal_moves(position):
                after = PositionToMove(self._ledger.game, game, position, moves)
                self._search.start_pondering(after, stored.decision, known)

    async def _read_again(self) -> None:
        """Read the game's state again and handle it.

        Servers end an older stream of the same account; `stay_connected` then opens the next one.

        Raises:
            ServerError: The game cannot be read now.
        """
        try:
            async with (
                asyncio.timeout(READ_TIMEOUT_S),
                aclosing(self._server.game_events(self.game_id)) as events,
            ):
                snapshot = await anext(
                    (each async for each in events if isinstance(each, GameSnapshot)), None
                )
        except TimeoutError:
            raise TransientError(f"no state in {READ_TIMEOUT_S:g} s") from None
        if snapshot is None or self._is_outdated(snapshot, is_read=True):
            raise TransientError("the server sent no state, or an older one")
        # A task of the game: what it fails to record must end this runner, whoever reads.
        await self._tasks.create_task(self._handle_read(snapshot))

    async def _handle_read(self, snapshot: GameSnapshot) -> None:
        with suppress(TransientError):  # meanwhile the game's stream has shown newer moves
            await self._handle(snapshot, is_read=True)

    # --- On the opponent's time -------------------------------------------------------------------------

    def _start_completion(self, stored: StoredDecision) -> None:
        if stored.id not in self._profiles:
            self._profiles[stored.id] = self._tasks.create_task(self._complete_and_forecast(stored))

    async def _complete_and_forecast(self, stored: StoredDecision) -> None:
        """Complete the chosen move's profile so that the reply can be judged, and forecast the reply."""
        decision = stored.decision if stored.is_complete else await self._complete_profile(stored)
        if decision is not None:
            await self._forecast(stored, decision)

    async def _complete_profile(self, stored: StoredDecision) -> Decision | None:
        """The decision with its chosen move's profile completed and stored; None if completion failed."""

        def search(searcher: Searcher, stop: StopFlag) -> Decision:
            stop.set_deadline(MAX_COMPLETION_S)
            return complete(stored.decision, searcher, stop)

        try:
            decision = await self._services.pool.run(search, stored.decision.game, rank=JobRank.BACKGROUND)
        except (EngineMismatch, Stopped) as error:  # of another version, or so deep that it takes for ever
            is_long = isinstance(error, Stopped)
            reason = f"it took more than {MAX_COMPLETION_S:g} s" if is_long else str(error)
            logger.error("game %s, ply %d: the profile is incomplete: %s", self.game_id, stored.ply, reason)
            await self._ledger.record_event("profile_impossible", {"ply": stored.ply, "reason": reason})
            return None
        except Exception as error:
            # The game matters more and goes on; `desdemona db recheck` judges the move later.
            logger.exception("game %s, ply %d: completing the profile crashed", self.game_id, stored.ply)
            await self._ledger.record_event(DECISION_UNJUDGED, crash_detail(stored.ply, error))
            return None
        await self._ledger.store_profile(stored, decision)
        return decision

    async def _forecast(self, stored: StoredDecision, decision: Decision) -> None:
        """Store the forecast of the reply, even if the reply is already known."""
        game = self._ledger.game
        try:
            job = forecast_job(
                self._services.models,
                decision,
                self._positions_before(stored),
                person=Person(game.opponent_rating, opponent_rating=game.our_rating),
                initial_s=game.clock_initial_s,
                increment_s=game.clock_increment_s,
                sources=self._services.strong.sources.get(decision.game, ()),
                known=await self._ledger.known_person(stored.ply, self._services.models),
            )
            forecast = await self._services.pool.run(job, decision.game, rank=JobRank.FORECAST)
        except Exception as error:  # the game matters more; `desdemona db recheck` makes the forecast later
            logger.exception("game %s, ply %d: the forecast crashed", self.game_id, stored.ply)
            await self._ledger.record_event(DECISION_UNJUDGED, crash_detail(stored.ply, error))
            return
        await self._ledger.store_forecast(stored, decision, forecast)
        bait = forecast.bait if sets_bait(decision, forecast) else None
        if bait is not None and (self._pending_bait is None or self._pending_bait[0] <= stored.ply):
            self._pending_bait = stored.ply, bait

    def _positions_before(self, stored: StoredDecision) -> tuple[Any, ...]:
        """The game's positions up to a decision; empty if the server now shows other moves."""
        moves = (self.session.moves or self._ledger.game.moves)[: stored.ply]
        game = get_rules(self._ledger.game.game)
        start = starting_position(game, self._ledger.game.initial_position)
        try:
            known = tuple(positions(game, moves, start))
        except IllegalMove:
            return ()
        return known if game.position_text(known[-1]) == stored.decision.position else ()

    # --- The end ----------------------------------------------------------------------------------------

    def _cancel_tasks(self) -> None:
        """Cancel the unfinished tasks of a finished game."""
        self._search.forget()
        if self._move_search is not None:
            self._move_search.cancel()
        self._side_tasks.cancel()
        self._actions.on_change()

    async def _with_accepted_move(
        self, moves: tuple[str, ...], end: GameEnd
    ) -> tuple[tuple[str, ...], GameEnd]:
        """Add our last move, which may have ended the game, if the server accepted but never reported it."""
        if self._turn is not None:
            await asyncio.wait([self._turn])  # the answer to our move or resignation may still be under way
        if self._end is not None and self._end is not end:
            return moves, self._end
        move = await self._ledger.accepted_move(len(moves))
        if move is None:
            return moves, end
        moves = (*moves, move)
        stored = self._ledger.game
        rules = get_rules(stored.game)
        start = starting_position(rules, stored.initial_position)
        return moves, end_by_rules(end, rules, replay(rules, moves, start))

    async def _close_forgotten_game(self, error: RefusedError) -> None:
        """Finish a game that the server no longer has, using our own records."""
        if error.status != 404 or not await self._ledger.reopen():
            raise error
        logger.warning("game %s: %s; closing its ledger", self.game_id, error)
        await self._ledger.record_event("game_unknown", {"reason": str(error)})
        has_begun = len(self.session.moves or self._ledger.game.moves) >= MIN_COUNTED_PLIES
        self._end = GameEnd(EndReason.UNKNOWN if has_begun else EndReason.ABORTED, None, "unknown")

    async def _finish(self, end: GameEnd) -> None:
        ended_at = datetime.now(UTC)
        moves = self.session.moves or self._ledger.game.moves
        if end.reason is EndReason.UNKNOWN:
            moves, end = await self._with_accepted_move(moves, end)
        if end.reason is EndReason.UNKNOWN and end.status == UNRECORDED:
            end = replace(end, reason=EndReason.ABORTED)
        await self._record(moves, 0, end)
        result = await self._ledger.finish_game(end, ended_at)
        self._services.non_wins.add(self._ledger.game, moves, result)
        # Completing the last profiles may take minutes beside other games.
        while pending := [task for task in self._profiles.values() if not task.done()]:
            await asyncio.wait(pending)
        await self._hold_report(ended_at)
        closed = await self._ledger.close(end)
        self._services.on_settled()
        if (saved := self._services.saved_games) is not None:
            await saved.save(self._services.database, self._services.owner, self.game_id)
        game = self._ledger.game
        logger.info(
            "game %s: %s (%s) against %s; baits set: %d, taken: %d",
            self.game_id,
            closed.verdict,
            end.status,
            game.opponent_name,
            closed.counts.baits_set,
            closed.counts.baits_taken,
            extra={"game_id": self.game_id, "result": closed.verdict.value},
        )
        await self._chat.say_farewell(closed)
        await self._record_late_report(ended_at)

    async def _hold_report(self, ended_at: datetime) -> None:
        """In a blind trial, wait until the fixed time of the farewell and the report.

        How long the last replies take to judge depends on the strategy. A restart waits for the same time.
        """
        delay_s = self._services.report_delay_s(self._ledger.game)
        if delay_s:
            passed_s = self._since_end_s(ended_at)
            await self._services.sleep(max(1, math.ceil(passed_s / delay_s)) * delay_s - passed_s)

    async def _record_late_report(self, ended_at: datetime) -> None:
        """Record a delay that people can see and that may depend on the strategy."""
        game, passed_s = self._ledger.game, self._since_end_s(ended_at)
        is_late = passed_s > self._services.report_delay_s(game) + REPORT_TOLERANCE_S
        if game.trial_id is not None and is_late:
            await self._ledger.record_event(REPORT_LATE, {"after_s": round(passed_s, 1)})

    def _since_end_s(self, ended_at: datetime) -> float:
        return (datetime.now(UTC) - (self._ledger.game.ended_at or ended_at)).total_seconds()


def most_severe_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the most important error of a group; an `AuthError` takes precedence."""
    leaves = [
        most_severe_error(error) if isinstance(error, BaseExceptionGroup) else error
        for error in group.exceptions
    ]
    return next((error for error in leaves if isinstance(error, AuthError)), leaves[0])
