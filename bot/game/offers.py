"""Decides on draws, resignation, takebacks, aborts and claims in one game, and has them carried out."""

import asyncio
import math
from collections.abc import Callable
from functools import partial

from bot.base.config import Claim
from bot.base.dialects import Capability
from bot.base.errors import RefusedError
from bot.base.events import EndReason, GameEnd
from bot.game import offer_policy
from bot.game.ledger import GameLedger
from bot.game.pending_actions import ActionEvent, ActionState, PendingAction, PendingActions
from bot.game.services import GameServices
from bot.game.session import Session, SessionState
from bot.game.side_tasks import SideTasks
from engine.games import get_rules
from engine.opponents.odds import gives_odds

MOST_DECLINES = 3
"""Requests with which we decline one draw offer; some sites go on showing an offer that was declined."""
MIN_REFUSALS_OF_ABORT = 3
"""Number of refusals after which a game that has not begun counts as impossible to abort."""


class GameOffers:
    """Handles offers and claims between the players.

    Args:
        game_id: The site's id.
        services: The services shared by all games.
        ledger: The game's ledger, open before the first call.
        side_tasks: Runs tasks concurrently with the game, so that they do not delay moves.
        actions: Carries out the actions.
        session: Returns the current session.
        set_cannot_begin: Told whether the opponent does not begin and the game cannot be aborted.
        can_abort: Whether the game's rules let us abort it.
    """

    def __init__(
        self,
        game_id: str,
        services: GameServices,
        ledger: GameLedger,
        side_tasks: SideTasks,
        actions: PendingActions,
        session: Callable[[], Session],
        set_cannot_begin: Callable[[bool], None],
        *,
        can_abort: bool = True,
    ) -> None:
        self._game_id = game_id
        self._services = services
        self._server = services.server
        self._config = services.config.manners
        self._ledger = ledger
        self._side_tasks = side_tasks
        self._actions = actions
        self._session = session
        self._claim_at_s: float | None = None
        """When the opponent's absence lets us claim the game, by the local clock; None: it is not absent."""
        self._claim: asyncio.Task[None] | None = None
        self._abort: asyncio.Task[None] | None = None
        self._set_cannot_begin = set_cannot_begin
        self._can_abort = can_abort
        self._offered_ply: int | None = None
        """The ply of our last draw offer."""

    def _facts(self) -> offer_policy.OfferFacts:
        game, plies = self._ledger.game, len(self._session().moves or ())
        return offer_policy.OfferFacts(
            scores_centi=self._ledger.scores_centi,
            is_decided=self._ledger.is_decided,
            plies=plies,
            opponent_rating=game.opponent_rating,
            opponent_is_bot=game.opponent_is_bot,
            rated=game.rated,
            in_trial=game.trial_id is not None,
            is_randomised=game.is_drawn,
            gives_odds=gives_odds(game.game, game.initial_position, game.our_side),
            has_draws=self._server.supports(Capability.DRAW)
            and offer_policy.has_draw_offers(get_rules(game.game)),
            plies_since_offer=None if self._offered_ply is None else plies - self._offered_ply,
        )

    # --- With our move ----------------------------------------------------------------------------------

    async def resign_or_accept_draw(self, is_current: Callable[[], bool]) -> GameEnd | None:
        """Resign or accept the offered draw if our decision requires it.

        A request that fails or has no effect is not repeated in this turn, because the clock is running and
        the move is ready.

        Args:
            is_current: Whether it is still the turn of our decision.

        Returns:
            As `resign`.
        """
        facts = self._facts()
        if offer_policy.should_resign(facts, self._config):
            return await self.resign(is_current)
        if self._session().draw_offered and offer_policy.should_accept_draw(facts, self._config):
            self._offered_ply = facts.plies  # it counts as our offer if theirs has just been withdrawn
            acceptance = PendingAction(
                name="accepting a draw",
                send=partial(self._server.answer_draw, self._game_id, True),
                is_wanted=is_current,
            )
            await self._actions.perform(acceptance, most_attempts=1)
        return None

    async def resign(self, is_wanted: Callable[[], bool], *, is_accepted: bool = False) -> GameEnd | None:
        """Resign once.

        Args:
            is_wanted: Whether we still want to resign.
            is_accepted: Whether the server has just accepted the request.

        Returns:
            The end of the game if the server accepts the resignation and does not show what came of it, as
            some servers do not; otherwise None.
        """

        async def on_accepted() -> None:
            nonlocal is_accepted
            is_accepted = True

        action = PendingAction(
            name="resigning",
            send=partial(self._server.resign, self._game_id),
            is_wanted=is_wanted,
            is_safe_to_repeat=True,
            on_accepted=on_accepted,
        )
        state = ActionState.CONFIRMING if is_accepted else ActionState.SENDING
        outcome = await self._actions.perform(action, state, most_attempts=1)
        is_over = self._session().state is SessionState.OVER
        if not is_accepted or not (is_over if outcome is None else outcome is ActionEvent.UNREADABLE):
            return None
        return GameEnd(EndReason.RESIGNATION, self._session().their_side, "resign")

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
        plies = len(self._session().moves or ())

        def is_open() -> bool:
            """Whether the offer still stands; if not, accepting it would make an offer of our own."""
            session = self._session()
            is_same = len(session.moves or ()) == plies and session.state is SessionState.WAITING
            return is_same and session.draw_offered

        answer = PendingAction(
            name="accepting a draw" if accepts else "declining a draw",
            send=partial(self._server.answer_draw, self._game_id, accepts),
            is_wanted=is_open,
        )
        most = math.inf if accepts else MOST_DECLINES
        self._side_tasks.start(answer.name, partial(self._actions.perform, answer, most_attempts=most))

    def answer_takeback(self) -> None:
        """Grant a takeback unless the maximum in the settings has been reached."""
        if self._server.supports(Capability.TAKEBACK):
            self._side_tasks.start("answering a takeback", self._answer_takeback)

    async def _answer_takeback(self) -> None:
        plies = len(self._session().moves or ())
        most = offer_policy.max_takebacks(self._facts(), self._config)
        is_granted = most > 0 and await self._ledger.grant_takeback(most)
        answer = PendingAction(
            name="granting a takeback" if is_granted else "declining a takeback",
            send=partial(self._server.answer_takeback, self._game_id, is_granted),
            is_wanted=lambda: self._session().takeback_offered and len(self._session().moves or ()) == plies,
            changes_moves=is_granted,
        )
        await self._actions.perform(answer)

    # --- When the opponent is not there -----------------------------------------------------------------

    def claim(self, in_s: float) -> None:
        """Claim the game after `in_s` seconds, unless the opponent who left comes back."""
        is_new = self._claim_at_s is None
        self._claim_at_s = self._services.clock() + in_s
        if is_new:
            self._claim = self._side_tasks.start("claiming the game", partial(self._claim_game, in_s))

    async def _claim_game(self, in_s: float) -> None:
        while in_s > 0 and (at_s := self._claim_at_s) is not None:
            await self._services.sleep(in_s)
            in_s = (self._claim_at_s or at_s) - at_s  # positive if the server has named a later time
        claim = offer_policy.choose_claim(self._facts(), self._config)
        if claim is Claim.NOTHING or not self._server.supports(Capability.CLAIM):
            return
        ask = self._server.claim_victory if claim is Claim.VICTORY else self._server.claim_draw
        action = PendingAction(
            name="claiming the game",
            send=partial(ask, self._game_id),
            is_wanted=lambda: self._claim_at_s is not None,
            # Lichess answers "ok" to a claim on our own turn, and does nothing.
            can_count=lambda: self._session().state is SessionState.WAITING,
            is_safe_to_repeat=True,
        )
        await self._actions.perform(action)

    def cancel_claim(self) -> None:
        """Cancel the pending claim, if any, because the opponent is back."""
        self._claim_at_s = None
        if self._claim is not None:
            self._claim.cancel()
            self._claim = None

    def watch_first_move(self) -> None:
        """Abort the game if the opponent does not begin; called after every change in the game."""
        if not self._session().awaits_beginning:
            self._set_cannot_begin(False)
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
        if not self._can_abort:
            self._set_cannot_begin(True)
            return
        action = PendingAction(
            name="aborting the game",
            send=partial(self._server.abort, self._game_id),
            is_wanted=lambda: self._session().awaits_beginning,
            is_safe_to_repeat=True,
            on_refused=self._on_refused_abort,
        )
        await self._actions.perform(action)

    async def _on_refused_abort(self, _error: RefusedError, refusals: int) -> None:
        self._set_cannot_begin(refusals >= MIN_REFUSALS_OF_ABORT)
