"""Offers people rematches after their games, up to a few in a row."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace

from bot.account.odds import at_odds, rematch_at_odds
from bot.base.dialects import DIALECTS, Capability
from bot.base.errors import RefusedError
from bot.base.events import Clock, Proposal, Reply
from bot.game.services import GameServices
from storage.ledger.games import load_game
from storage.records import StoredGame

logger = logging.getLogger(__name__)


class Rematches:
    """Offers rematches according to the setting `manners.rematches`.

    Args:
        services: The services that all games share.
        send: Challenges a player by id and waits for the answer, like
            `bot.account.own_challenges.OwnChallenges.send`.
    """

    def __init__(
        self, services: GameServices, send: Callable[[str, Proposal], Awaitable[Reply | None]]
    ) -> None:
        self._services = services
        self._send = send
        self._in_a_row: Counter[str] = Counter()
        """Number of consecutive rematches offered, keyed by opponent id."""

    async def offer(self, game_id: str) -> None:
        """Offer a rematch of a finished game if the settings allow one."""
        most = self._services.config.manners.rematches
        if not most or not self._services.server.supports(Capability.CHALLENGE):
            return
        async with self._services.database.read() as session:
            game = await load_game(session, self._services.owner, game_id)
        proposal = None if game is None else self._proposal_for(game)
        if game is None or proposal is None or self._in_a_row[game.opponent_id] >= most:
            if game is not None:
                del self._in_a_row[game.opponent_id]
            return
        self._in_a_row[game.opponent_id] += 1
        reason = ""
        try:
            reply = await self._send(game.opponent_id, proposal)
            if reply is None:
                reason = "withdrawn"
            elif reply.accepted is False:
                reason = reply.reason
        except RefusedError as error:
            reason = str(error)
        if reason:
            del self._in_a_row[game.opponent_id]
            logger.info("game %s: no rematch: %s", game_id, reason)

    def _proposal_for(self, game: StoredGame) -> Proposal | None:
        """The terms of a rematch; casual games may be at odds."""
        allowed, dialect = self._services.config.manners.odds, DIALECTS[self._services.owner.site]
        if game.initial_position is not None:
            same = proposal_for(replace(game, initial_position=None))
            return same and rematch_at_odds(same, dialect, game.game, game.initial_position, allowed)
        proposal, ratings = proposal_for(game), (game.our_rating, game.opponent_rating)
        return proposal and at_odds(proposal, dialect, ratings, allowed, self._services.rng)


def proposal_for(game: StoredGame) -> Proposal | None:
    """The terms of a rematch, with the colours swapped, or None if the game does not qualify for one."""
    if game.opponent_is_bot or game.result is None or game.initial_position is not None:
        return None
    if game.clock_initial_s is None:
        return None
    clock = Clock(game.clock_initial_s, game.clock_increment_s or 0)
    return Proposal(game.variant, game.rated, clock, side=1 - game.our_side)
