"""Actions in a game that stay pending until the server shows their effect.

A server's "ok" does not prove that anything happened: proxies answer in its name, and sites accept requests
that they then ignore. So every action (move, resignation, abort, claim, answer to an offer) is one
`PendingAction`, which the one table below carries to its effect::

    SENDING --ACCEPTED--> CONFIRMING --WAITED--> READING --READ--> SENDING
       |                                          ^   |
       +--LOST, REFUSED--> PAUSING --WAITED-------+   +--UNREADABLE--> PAUSING

An action that the server can refuse the second time, because it names what it changes, skips the reading
after a lost answer. An action ends when its effect is shown, when it can no longer count, or at its limit.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from bot.base.errors import AuthError, RefusedError, ServerError, TransientError
from bot.base.reconnect import FIRST_WAIT_S, InterruptibleWaits
from bot.game.services import GameServices

logger = logging.getLogger(__name__)

CONFIRMATION_S = 3.0
"""Seconds that an accepted action may stay without effect before the game is read again."""
MAX_ACTION_WAIT_S = 4.0
"""Maximum wait between two attempts, in seconds; short, because a clock may be running."""
QUICK_ATTEMPTS_S = 120.0
"""Seconds after which an action that is not urgent is only attempted every `SLOW_WAIT_S` seconds."""
SLOW_WAIT_S = 60.0


class ActionState(StrEnum):
    """What a pending action does next."""

    SENDING = "sending"
    """The request is sent as soon as it can count."""
    CONFIRMING = "confirming"
    """The server has accepted the request; its effect has `CONFIRMATION_S` seconds to appear."""
    PAUSING = "pausing"
    """The request was lost or refused, or the game could not be read: wait before reading it again."""
    REPEATING = "repeating"
    """Like `PAUSING`, but the request is sent again without reading the game."""
    READING = "reading"
    """The game is read again."""


class ActionEvent(StrEnum):
    """What can happen to a pending action, besides its end."""

    ACCEPTED = "accepted"
    LOST = "lost"
    """There was no answer, or not the site's own."""
    REFUSED = "refused"
    WAITED = "waited"
    READ = "read"
    """The game was read, and shows no effect."""
    UNREADABLE = "unreadable"


_S, _E = ActionState, ActionEvent

TRANSITIONS: dict[tuple[ActionState, ActionEvent], ActionState] = {
    (_S.SENDING, _E.ACCEPTED): _S.CONFIRMING,
    (_S.SENDING, _E.LOST): _S.PAUSING,
    (_S.SENDING, _E.REFUSED): _S.PAUSING,
    (_S.CONFIRMING, _E.WAITED): _S.READING,
    (_S.PAUSING, _E.WAITED): _S.READING,
    (_S.REPEATING, _E.WAITED): _S.SENDING,
    (_S.READING, _E.READ): _S.SENDING,
    (_S.READING, _E.UNREADABLE): _S.PAUSING,
}
"""The next state, keyed by state and event; an action that is safe to repeat goes to `REPEATING` where the
table says `PAUSING`, except after a refusal."""


def next_state(state: ActionState, event: ActionEvent, *, is_safe_to_repeat: bool) -> ActionState:
    """Return the state after an event.

    Raises:
        KeyError: The event cannot happen in this state.
    """
    after = TRANSITIONS[state, event]
    if after is _S.PAUSING and is_safe_to_repeat and event is not _E.REFUSED:
        return _S.REPEATING
    return after


def _always() -> bool:
    return True


async def _nothing(*_: object) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingAction:
    """One action in a game."""

    name: str
    """For the log."""
    send: Callable[[], Awaitable[None]]
    """Sends the request once; raises `ServerError`."""
    is_wanted: Callable[[], bool]
    """Whether the game as last shown still lacks the action's effect, and can have it."""
    can_count: Callable[[], bool] = _always
    """Whether the server would act on the request now; if not, it is held back."""
    is_safe_to_repeat: bool = False
    """Whether a second request cannot do harm if the first one had an effect that was not shown yet."""
    is_urgent: bool = False
    """Whether it must be attempted quickly however long it takes, because our clock runs."""
    changes_moves: bool = False
    """Whether it adds or takes back moves. Such requests wait for one another: if a takeback overtook our
    move, the move could reach the server in a position that it was not decided for."""
    on_accepted: Callable[[], Awaitable[None]] = _nothing
    """Called each time the server accepts the request."""
    on_refused: Callable[[RefusedError, int], Awaitable[None]] = _nothing
    """Called with each refusal and the number of refusals so far."""


class PendingActions:
    """Carries out the actions of one game.

    Args:
        game_id: The site's id, for the log.
        services: The services shared by all games.
        read: Reads the game again and applies what it shows; raises `ServerError` if that fails.
    """

    def __init__(self, game_id: str, services: GameServices, read: Callable[[], Awaitable[None]]) -> None:
        self._game_id = game_id
        self._services = services
        self._read = read
        self._reading = asyncio.Lock()
        self._changing: PendingAction | None = None
        """The action whose request may be changing the moves now."""
        self._waits = InterruptibleWaits(services.sleep)

    def on_change(self) -> None:
        """End the waits that have become needless; call this after every change in the game."""
        self._waits.recheck()

    async def perform(
        self,
        action: PendingAction,
        state: ActionState = ActionState.SENDING,
        most_attempts: float = math.inf,
    ) -> ActionEvent | None:
        """Repeat an action until the game shows its effect, or it can no longer count.

        Args:
            action: The action.
            state: `ActionState.CONFIRMING` if the server has just accepted the request.
            most_attempts: Number of requests after which the action ends without effect.

        Returns:
            None if the action is no longer wanted; otherwise what ended its last attempt: `ActionEvent.LOST`,
            `ActionEvent.REFUSED`, or after an accepted request `ActionEvent.READ` or
            `ActionEvent.UNREADABLE`.

        Raises:
            AuthError: The server no longer accepts our account.
        """
        try:
            return await self._repeat(action, state, most_attempts)
        finally:
            self._let_others_send(action)

    async def _repeat(
        self, action: PendingAction, state: ActionState, most_attempts: float
    ) -> ActionEvent | None:
        began_s, requested_s = self._services.clock(), 0.0
        attempts, refusals = int(state is _S.CONFIRMING), 0
        failed_readings = 0
        while action.is_wanted():
            match state:
                case _S.SENDING if not self._can_send(action):
                    await self._waits.wait(math.inf, lambda: self._can_send(action) or not action.is_wanted())
                    continue
                case _S.SENDING:
                    attempts += 1
                    event, error = await self._send(action)
                    requested_s = getattr(error, "retry_after_s", None) or 0.0
                    if isinstance(error, RefusedError):
                        refusals += 1
                        await action.on_refused(error, refusals)
                case _S.READING:
                    event, error = await self._read_game()
                    failed_readings += event is _E.UNREADABLE
                    if not action.is_urgent:
                        requested_s = getattr(error, "retry_after_s", None) or 0.0
                case _:
                    is_quick = action.is_urgent or self._services.clock() - began_s < QUICK_ATTEMPTS_S
                    longest_s = MAX_ACTION_WAIT_S if is_quick else SLOW_WAIT_S
                    if state is _S.CONFIRMING:
                        wait_s = CONFIRMATION_S if is_quick else SLOW_WAIT_S
                    else:
                        tries = attempts + failed_readings
                        upper_s = min(longest_s, FIRST_WAIT_S * 2.0 ** min(tries - 1, 16))
                        wait_s = max(self._services.rng.uniform(upper_s / 2, upper_s), requested_s)
                    await self._waits.wait(wait_s, lambda: not action.is_wanted())
                    event = _E.WAITED
            state = next_state(state, event, is_safe_to_repeat=action.is_safe_to_repeat)
            if state not in (_S.CONFIRMING, _S.READING):
                self._let_others_send(action)
            is_end = state is not _S.CONFIRMING and event is not _E.WAITED
            if attempts >= most_attempts and is_end and action.is_wanted():
                return event
        return None

    def _can_send(self, action: PendingAction) -> bool:
        other = self._changing
        # An answer may hang after the game has shown the effect, which ends the other action's hold.
        is_held = action.changes_moves and other is not None and other is not action and other.is_wanted()
        return action.can_count() and not is_held

    def _let_others_send(self, action: PendingAction) -> None:
        if self._changing is action:
            self._changing = None
            self._waits.recheck()

    async def _send(self, action: PendingAction) -> tuple[ActionEvent, ServerError | None]:
        if action.changes_moves:
            self._changing = action
        try:
            await action.send()
        except TransientError as error:
            logger.info("game %s: %s: %s; trying again", self._game_id, action.name, error)
            return _E.LOST, error
        except RefusedError as error:
            logger.info("game %s: %s: %s; reading the game again", self._game_id, action.name, error)
            return _E.REFUSED, error
        await action.on_accepted()
        return _E.ACCEPTED, None

    async def _read_game(self) -> tuple[ActionEvent, ServerError | None]:
        try:
            async with self._reading:
                await self._read()
        except AuthError:
            raise
        except ServerError as error:
            logger.info("game %s: cannot read it again: %s", self._game_id, error)
            return _E.UNREADABLE, error
        return _E.READ, None
