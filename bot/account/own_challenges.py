"""Sends our own challenges: for matchmaking, for the operator, and for rematches.

A challenge holds a slot (`bot.account.game_slots`) from the moment it is sent until it is answered. If a game
follows, the game keeps the slot.
"""

import asyncio
from collections.abc import Callable
from http import HTTPStatus

from bot.account.challenge_policy import GameSlot
from bot.account.game_slots import GameSlots
from bot.base.dialects import DIALECTS
from bot.base.errors import RefusedError
from bot.base.events import Proposal, Reply
from bot.game.services import GameServices


class OwnChallenges:
    """Challenges other players, and holds a slot for each challenge.

    Args:
        services: The services that all games share.
        slots: The game slots.
        changed: Called after every change to the slots.
    """

    def __init__(self, services: GameServices, slots: GameSlots, *, changed: Callable[[], None]) -> None:
        self._server = services.server
        self._slots = slots
        self._changed = changed
        self._open: dict[asyncio.Future[Reply], bool] = {}
        """Maps each unanswered challenge to whether it is withdrawn when a challenger needs its slot."""

    async def send(
        self, opponent: str, proposal: Proposal, *, is_bot: bool = False, is_withdrawable: bool = True
    ) -> Reply | None:
        """Send a challenge and wait for the answer.  Cancelling this call withdraws the challenge.

        Args:
            opponent: The account's name or id at the site.
            proposal: The terms.
            is_bot: Whether the opponent is known to be a program.
            is_withdrawable: Whether to withdraw the challenge when a challenger needs its slot.

        Returns:
            The answer, or None if the challenge was withdrawn (`withdraw_unanswered`).

        Raises:
            RefusedError: No challenge can be sent now, or the server refused the challenge.
            ServerError: See `bot.servers.Server.challenge`.
        """
        dialect = DIALECTS[self._server.site]
        variant = dialect.variants.get(proposal.variant)
        boards = 1 if variant is None else variant.boards
        # The site gave the id of a program; a person's name may be typed in any case.
        slot = GameSlot(opponent if is_bot else opponent.lower(), is_bot=is_bot, boards=boards)
        key = f"our challenge to {opponent.lower()}"  # it contains a space, so it is never an id
        if self._slots.has_unstarted_slot(key):
            raise RefusedError(f"there is already a challenge to {opponent}", HTTPStatus.CONFLICT)
        if self._slots.closed_reason:
            raise RefusedError(f"no game may start: {self._slots.closed_reason}", HTTPStatus.CONFLICT)
        if not self._slots.has_room(slot.boards):
            raise RefusedError("there is no room for another game now", HTTPStatus.CONFLICT)
        self._slots.accept(key, slot)
        self._changed()
        asking = asyncio.ensure_future(self._server.challenge(opponent, proposal))
        self._open[asking] = is_withdrawable
        reply = None
        try:
            await asyncio.wait([asking], timeout=dialect.unanswered_s)
            if not asking.done():
                reply = Reply("", False, f"no answer in {dialect.unanswered_s:.0f} s")
            elif not asking.cancelled():
                reply = asking.result()
        finally:
            if self._open.pop(asking, None) is not None:
                asking.cancel()
            await asyncio.wait([asking])  # so that it is withdrawn before its slot is reused
            # If the site does not report whether it was accepted, its game may be about to start.
            is_open = reply is not None and reply.accepted is not False
            if reply is not None and is_open and not self._slots.has_ended(reply.challenge_id):
                self._slots.accept(reply.challenge_id, slot)
            self._slots.leave(key)
            self._changed()
        return reply

    def withdraw_unanswered(self, *, is_needed: bool) -> None:
        """Withdraw challenges that have no answer yet.

        Args:
            is_needed: True to withdraw only withdrawable challenges, to free a slot; False to withdraw all.
        """
        for asking, is_withdrawable in list(self._open.items()):
            if is_withdrawable or not is_needed:
                del self._open[asking]  # only once: withdrawing takes a while, too
                asking.cancel()
