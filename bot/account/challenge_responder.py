"""Answers every incoming challenge and handles the server's response to the answer.

An accepted challenge holds a slot (`bot.account.game_slots`) even before the server gets the answer. The
challenge holds the slot until the game starts, the challenge is withdrawn, or the server reports no game.
"""

import asyncio
import logging
import math
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus

from bot.account.background_tasks import BackgroundTasks
from bot.account.challenge_policy import Decline
from bot.account.game_slots import GameSlots
from bot.base.errors import AuthError, PausedError, RefusedError, ServerError, TransientError
from bot.base.events import Challenge, DeclineReason
from bot.base.metrics import ChallengeAnswer
from bot.base.reconnect import MAX_RECONNECT_WAIT_S, InterruptibleWaits, backoff_delays
from bot.game.services import GameServices

logger = logging.getLogger(__name__)

GAME_START_TIMEOUT_S = 3.0
"""Seconds to wait for an accepted challenge's game to start before querying the server for the game."""
GAME_START_POLL_INTERVAL_S = 30.0
"""Seconds between further queries until the server answers; if it has no such game, the slot is freed."""
ACCEPT_AGAIN_WAITS_S = (4.0, 8.0, *[12.0] * 4)
"""Seconds between further queries for the game of a challenge whose acceptance the server has answered with
"ok"; before each of them, we accept the challenge again."""
DECLINE_AGAIN_WAITS_S = (3.0, 6.0, *[10.0] * 11)
"""Seconds after which a challenge is declined again if the server has said "ok" and not removed it."""
MAX_REQUESTED_WAIT_S = 60.0
"""Maximum wait, in seconds; if the server demands a longer one (a daily limit), decline with "later"."""
MAX_CHALLENGER_WAIT_S = 20.0
"""Seconds after which a person who sent a challenge with a clock may have left; lichess.org then drops the
challenge."""
MAX_DECLINE_RETRY_TIME_S = 120.0
"""Seconds for which we keep trying to decline a challenge if the server does not answer."""
MAX_QUEUED_DECLINES = 100
"""Maximum queued declines; if exceeded, the oldest challenges go unanswered and expire."""


class ChallengeResponder:
    """Sends our decisions on incoming challenges to the server.

    Args:
        services: Shared by all games.
        slots: The game slots; closing them ends long waits.
        background: Runs the tasks that accept or decline challenges.
        resume_games: Plays the games that the server lists as running; raises the errors of `Server.playing`.
        changed: Called when a slot is freed.
    """

    def __init__(
        self,
        services: GameServices,
        slots: GameSlots,
        background: BackgroundTasks,
        *,
        resume_games: Callable[[], Awaitable[None]],
        changed: Callable[[], None],
    ) -> None:
        self._services = services
        self._server = services.server
        self._slots = slots
        self._background = background
        self._resume_games = resume_games
        self._changed = changed
        self._declines: dict[str, Challenge] = {}
        """The queue of challenges to decline, oldest first; excludes challenges that no longer exist."""
        self._answering = asyncio.Lock()
        """Serialises answers, so that we do not answer a challenge that no longer exists."""
        self._declining = asyncio.Lock()
        """Serialises declines, so that an acceptance waits for at most one decline."""
        self._waits = InterruptibleWaits(services.sleep)
        """Current delays between attempts."""

    def accept(self, challenge: Challenge) -> None:
        """Accept a challenge that already holds a slot."""
        expiry = self.start_expiry(challenge.id)
        self._background.start(f"{label_of(challenge)}: accepting", partial(self._accept, challenge, expiry))

    def decline(self, challenge: Challenge, decision: Decline) -> None:
        """Queue a challenge to be declined after those already in the queue."""
        if challenge.id in self._declines:
            return
        if len(self._declines) == MAX_QUEUED_DECLINES:
            oldest = self._declines.pop(next(iter(self._declines)))
            logger.info("%s: left unanswered: too many challenges to decline", label_of(oldest))
        self._declines[challenge.id] = challenge
        self._background.start(
            f"{label_of(challenge)}: declining", partial(self._decline, challenge, decision)
        )

    def start_expiry(self, challenge_id: str, accepted: Challenge | None = None) -> asyncio.Task[bool]:
        """Free the slot of an accepted challenge after a delay, unless its game has started.

        Args:
            challenge_id: The challenge.
            accepted: The challenge if the server has just said "ok" to our acceptance.

        Returns:
            Whether the slot was freed; if not, the game has started or the challenge no longer exists.
        """
        return self._background.tasks.create_task(self._free_slot_unless_started(challenge_id, accepted))

    def leave(self, challenge_id: str) -> None:
        """Forget a challenge that no longer exists, so that it is not answered."""
        self._declines.pop(challenge_id, None)
        self.recheck_waits()

    def recheck_waits(self) -> None:
        """End the waits that are no longer needed; call this after every change to the slots."""
        self._waits.recheck()

    # --- Yes --------------------------------------------------------------------------------------------

    async def _accept(self, challenge: Challenge, expiry: asyncio.Task[bool]) -> None:
        """Accept a challenge, retrying until the server answers, the game starts, or the slot is freed."""

        def is_held() -> bool:
            return self._slots.has_unstarted_slot(challenge.id)

        waits = backoff_delays(self._services.rng)
        stale_at = self._services.clock() + (
            MAX_CHALLENGER_WAIT_S if _is_waiting_person(challenge) else math.inf
        )
        answer_lost = False
        while is_held():
            try:
                async with self._answering:
                    if not is_held():  # lost while waiting for the lock
                        break
                    await self._server.accept(challenge.id)
            except TransientError as error:
                was_sent = not isinstance(error, PausedError)
                requested_s = error.retry_after_s or 0.0
                wait_s = max(next(waits), requested_s) if was_sent else requested_s
                if requested_s > MAX_REQUESTED_WAIT_S or self._services.clock() + wait_s > stale_at:
                    await self._decline_after_acceptance(challenge, error, was_heard=answer_lost)
                    return
                answer_lost = answer_lost or was_sent
                logger.info("%s: %s; retrying to accept it in %.1f s", label_of(challenge), error, wait_s)
                await self._waits.wait(wait_s, lambda: not self._slots.is_open or not is_held())
                if not self._slots.is_open and is_held():
                    await self._decline_after_acceptance(challenge, error, was_heard=True)
                    return
            except RefusedError as error:
                if error.status == HTTPStatus.NOT_FOUND:
                    # The challenge is gone, or an earlier attempt got through and its game is about to start.
                    if not answer_lost:
                        self._slots.leave(challenge.id)
                    elif expiry.cancel():
                        self.start_expiry(challenge.id)
                    raise
                await self._decline_after_acceptance(challenge, error, was_heard=answer_lost)
                return
            else:
                logger.info("%s: accepted", label_of(challenge))
                self._services.metrics.count_challenge_answer(self._server.site, ChallengeAnswer.ACCEPTED)
                if expiry.cancel():  # it has been waiting since before the first attempt
                    self.start_expiry(challenge.id, challenge)
                return
        if expiry.done() and expiry.result():  # the challenge may still be open
            await self._decline_after_acceptance(challenge, "the server does not answer", was_heard=True)

    async def _decline_after_acceptance(self, challenge: Challenge, why: object, *, was_heard: bool) -> None:
        """Decline a challenge that we had decided to accept.

        Args:
            challenge: The challenge that holds or held a slot.
            why: Reason for the log.
            was_heard: Whether an earlier acceptance may have reached the server, so that the game may start;
                if so, hold the slot until the server confirms the decline.
        """
        if not was_heard:
            self._slots.leave(challenge.id)
            self._changed()
        self._declines[challenge.id] = challenge
        await self._decline(challenge, Decline(DeclineReason.LATER, f"cannot be accepted: {why}"))
        self._slots.leave(challenge.id)

    async def _free_slot_unless_started(self, challenge_id: str, accepted: Challenge | None) -> bool:
        # The start event may have dropped out of the server's queue while the clock runs: so query early,
        # too.
        again_s = deque(() if accepted is None else ACCEPT_AGAIN_WAITS_S)
        began_s, wait_s, is_last = self._services.clock(), GAME_START_TIMEOUT_S, False
        while True:
            await self._services.sleep(wait_s)
            is_held = self._slots.has_unstarted_slot(challenge_id)
            was_answered = is_held and await self._query_running_games(challenge_id)
            if not self._slots.has_unstarted_slot(challenge_id):
                return False
            has_left = self._services.clock() - began_s >= MAX_CHALLENGER_WAIT_S
            if was_answered and (is_last or (accepted and has_left and _is_waiting_person(accepted))):
                break
            if accepted is not None and again_s:
                what = f"{label_of(accepted)}: accepting it again"
                await self._background.attempt(what, partial(self._server.accept, challenge_id))
            wait_s = again_s.popleft() if again_s else GAME_START_POLL_INTERVAL_S
            is_last = not again_s
        logger.info("challenge %s: its game never started", challenge_id)
        self._slots.leave(challenge_id)
        self._changed()
        if accepted is not None:  # it may still be open
            self.decline(accepted, Decline(DeclineReason.LATER, "its game never started"))
        return True

    async def _query_running_games(self, challenge_id: str) -> bool:
        """Query the running games, after any pause that the server demands; return whether this succeeded."""
        while self._slots.has_unstarted_slot(challenge_id):
            try:
                await self._resume_games()
            except AuthError:
                raise
            except PausedError as error:
                await self._services.sleep(error.retry_after_s or 0.0)
            except ServerError as error:
                logger.info("challenge %s: cannot query its game: %s", challenge_id, error)
                return False
            else:
                return True
        return False

    # --- No ---------------------------------------------------------------------------------------------

    async def _decline(self, challenge: Challenge, decision: Decline) -> None:
        """Decline a challenge, retrying because the challenger might otherwise wait for weeks.

        If the server does not remove the challenge after its "ok", decline it once more.
        """

        def is_gone() -> bool:
            return self._declines.get(challenge.id) is not challenge

        def is_settled() -> bool:
            return is_gone() or self._slots.is_stopping

        try:
            if not await self._repeat_until_answered(challenge, decision, is_gone):
                return
            logger.info("%s: declined: %s", label_of(challenge), decision.why)
            reason = decision.reason.value
            self._services.metrics.count_challenge_answer(self._server.site, ChallengeAnswer.DECLINED, reason)
            detail = {**challenge_detail(challenge), "reason": reason, "why": decision.why}
            await self._background.record_event("challenge_declined", detail)
            for wait_s in DECLINE_AGAIN_WAITS_S:
                await self._waits.wait(wait_s, is_settled)
                if is_settled():
                    return
                await self._repeat_until_answered(challenge, decision, is_gone)
        except RefusedError as error:
            logger.info("%s: cannot be declined: %s", label_of(challenge), error)
        finally:
            if not is_gone():
                del self._declines[challenge.id]

    async def _repeat_until_answered(
        self, challenge: Challenge, decision: Decline, is_gone: Callable[[], bool]
    ) -> bool:
        """Repeat a decline until the server answers; return False if the challenge is gone before."""
        clock, waits = self._services.clock, backoff_delays(self._services.rng)
        began_s = clock()
        while True:
            try:
                async with self._declining, self._answering:
                    if is_gone():  # while waiting for the lock
                        return False
                    await self._server.decline(challenge.id, decision.reason)
                    return True
            except TransientError as error:
                requested_s = error.retry_after_s or 0.0
                was_sent = not isinstance(error, PausedError)

                def is_needless(requested_s: float = requested_s) -> bool:
                    return is_gone() or (requested_s > MAX_RECONNECT_WAIT_S and self._slots.is_stopping)

                longest_s = MAX_RECONNECT_WAIT_S if self._slots.is_stopping else MAX_DECLINE_RETRY_TIME_S
                if (was_sent and clock() - began_s > longest_s) or is_needless():
                    raise
                await self._waits.wait(max(next(waits) if was_sent else 0.0, requested_s), is_needless)


def _is_waiting_person(challenge: Challenge) -> bool:
    """Whether a person is probably waiting online for our answer."""
    return challenge.clock is not None and not (challenge.challenger and challenge.challenger.is_bot)


def label_of(challenge: Challenge) -> str:
    """A challenge's name in the log."""
    who = challenge.challenger
    return f"challenge {challenge.id} from {'someone' if who is None else who.name}"


def challenge_detail(challenge: Challenge) -> dict[str, str | None]:
    """The fields of a challenge to store in the event log."""
    who = challenge.challenger
    return {"challenge": challenge.id, "challenger": None if who is None else who.id}
