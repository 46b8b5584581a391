"""Carries out draws, resignation, takebacks, aborts and claims in one game."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from bot.base.config import Claim
from bot.base.dialects import Capability
from bot.base.errors import RefusedError, TransientError
from bot.base.events import EndReason, GameEnd
from bot.game import offer_policy
from bot.game.ledger import GameLedger
from bot.game.services import GameServices
from bot.game.session import Session, SessionState
from bot.game.side_tasks import SideTasks
from engine.games import get_rules

logger = logging.getLogger(__name__)

DRAW_CONFIRMATION_S = 1.0
"""Seconds that we wait for the server to report the end of the game after we have accepted a draw."""


class GameOffers:
    """Handles offers and claims between the players.

    Args:
        game_id: The site's id.
        services: The services shared by all games.
        ledger: The game's ledger, open before the first call.
        side_tasks: Runs tasks concurrently with the game, so that they do not delay moves.
        session: Returns the current session.
    """

    def __init__(
        self,
        game_id: str,
        services: GameServices,
        ledger: GameLedger,
        side_tasks: SideTasks,
        session: Callable[[], Session],
    ) -> None:
        self._game_id = game_id
        self._services = services
        self._server = services.server
        self._config = services.config.manners
        self._ledger = ledger
        self._side_tasks = side_tasks
        self._session = session
        self._claim: asyncio.Task[None] | None = None
        self._abort: asyncio.Task[None] | None = None
        self._offered_ply: int | None = None
        """The ply of our last draw offer."""

    def _facts(self) -> offer_policy.OfferFacts:
        game, plies = self._ledger.game, len(self._session().moves or ())
        return offer_policy.OfferFacts(
            scores_centi=self._ledger.scores_centi,
            plies=plies,
            opponent_rating=game.opponent_rating,
            opponent_is_bot=game.opponent_is_bot,
            rated=game.rated,
            in_trial=game.trial_id is not None,
            is_randomised=game.is_drawn,
            has_draws=self._server.supports(Capability.DRAW)
            and offer_policy.has_draw_offers(get_rules(game.game)),
            plies_since_offer=None if self._offered_ply is None else plies - self._offered_ply,
        )

    # --- With our move ----------------------------------------------------------------------------------

    async def resign_or_accept_draw(self) -> GameEnd | None:
        """Resign or accept the offered draw if our decision requires it.

        A failed request is not repeated, because the clock is running and the move is ready.

        Returns:
            The end of the game if we resigned (some servers do not report resignations); otherwise None.
        """
        facts = self._facts()
        try:
            if offer_policy.should_resign(facts, self._config):
                await self._server.resign(self._game_id)
                return GameEnd(EndReason.RESIGNATION, self._session().their_side, "resign")
            if self._session().draw_offered and offer_policy.should_accept_draw(facts, self._config):
                self._offered_ply = facts.plies  # it counts as our offer if theirs has just been withdrawn
                await self._server.answer_draw(self._game_id, True)
                await self._services.sleep(DRAW_CONFIRMATION_S)
        except TransientError as error:
            # It may have succeeded all the same; then the stream shows it, and no move is sent.
            logger.info("game %s: %s; playing on", self._game_id, error)
        except RefusedError as error:
            logger.info("game %s: %s; playing on", self._game_id, error)
        return None

    def should_offer_draw(self) -> bool:
        """Decide whether to offer a draw with the next move, and record the offer; call once per move."""
        facts = self._facts()
        offers = offer_policy.should_offer_draw(facts, self._config)
        if offers:
            self._offered_ply = facts.plies
        return offers

    # --- Requests of the opponent -----------------------------------------------------------------------

    def answer_draw(self) -> None:
        """Answer a draw offer on the opponent's turn. On our turn we search first, because the last move may
        be a blunder."""
        if not self._server.supports(Capability.DRAW) or self._session().state is not SessionState.WAITING:
            return
        accepts = offer_policy.should_accept_draw(self._facts(), self._config)
        call = partial(self._server.answer_draw, self._game_id, accepts)
        is_needed = self._is_draw_offer_open if accepts else lambda: True
        self._side_tasks.start(
            "answering a draw", partial(self._side_tasks.repeat_until_done, call, is_needed)
        )

    def _is_draw_offer_open(self) -> bool:
        """Whether the opponent's offer still stands; if not, accepting it would make an offer of our own."""
        session = self._session()
        return session.draw_offered and session.state is SessionState.WAITING

    def answer_takeback(self) -> None:
        """Grant a takeback unless the maximum in the settings has been reached."""
        if self._server.supports(Capability.TAKEBACK):
            self._side_tasks.start("answering a takeback", self._answer_takeback)

    async def _answer_takeback(self) -> None:
        most = offer_policy.max_takebacks(self._facts(), self._config)
        is_granted = most > 0 and await self._ledger.grant_takeback(most)
        await self._side_tasks.repeat_until_done(
            partial(self._server.answer_takeback, self._game_id, is_granted),
            lambda: self._session().takeback_offered,
        )

    # --- When the opponent is not there -----------------------------------------------------------------

    def claim(self, in_s: float) -> None:
        """Claim the game after `in_s` seconds, unless the opponent who left comes back."""
        self.cancel_claim()
        self._claim = self._side_tasks.start("claiming the game", partial(self._claim_game, in_s))

    async def _claim_game(self, in_s: float) -> None:
        await self._services.sleep(in_s)
        claim = offer_policy.choose_claim(self._facts(), self._config)
        if claim is Claim.NOTHING or not self._server.supports(Capability.CLAIM):
            return
        ask = self._server.claim_victory if claim is Claim.VICTORY else self._server.claim_draw
        await self._side_tasks.repeat_until_done(partial(ask, self._game_id))

    def cancel_claim(self) -> None:
        """Cancel the pending claim, if any, because the opponent is back."""
        if self._claim is not None:
            self._claim.cancel()
            self._claim = None

    def watch_first_move(self) -> None:
        """Abort the game if the opponent does not begin; called after every change in the game."""
        if not self._session().awaits_beginning:
            if self._abort is not None:
                self._abort.cancel()
                self._abort = None
        elif self._abort is None:
            has_clock = self._ledger.game.clock_initial_s is not None
            after_s = offer_policy.first_move_timeout_s(has_clock, self._config)
            if after_s is not None:
                self._abort = self._side_tasks.start("aborting the game", partial(self._abort_game, after_s))

    async def _abort_game(self, after_s: float) -> None:
        await self._services.sleep(after_s)
        await self._side_tasks.repeat_until_done(partial(self._server.abort, self._game_id))
