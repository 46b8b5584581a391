"""Requests to play us on GGS, including requests to resume adjourned games. No I/O."""

import logging
from collections.abc import Callable

from bot.base.events import OTHELLO_RANDOM, Challenge, ChallengeReceived, speed_of
from bot.servers.ggs.boards import GAME, Boards
from bot.servers.ggs.game import type_of
from bot.servers.ggs.lifecycle import GgsStatus, RequestEvent, RequestState
from bot.servers.ggs.requests import ListedRequest
from bot.servers.ggs.state import GgsState
from bot.servers.ggs.wire import AdjournedMatch, Flag, Request, StoredList

logger = logging.getLogger(__name__)

RETRYABLE_REFUSALS = ("no opponent present", "Your open value is too low")
"""Prefixes of refusals after which we ask again to resume an adjourned game; any other refusal is final."""
MAX_REQUESTS = 500
"""Maximum number of requests kept; further ones are ignored. The server usually lists a few dozen."""


class GgsChallenges:
    """Resumes adjourned games, and turns other requests into challenges.

    Args:
        state: State of the account.
        boards: Updates our games from the boards that the server sends.
    """

    def __init__(self, state: GgsState, boards: Boards) -> None:
        self._name, self._out = state.name, state.out
        self._games, self._matches, self._requests = state.games, state.matches, state.requests
        self._archive = state.archive
        self._boards = boards
        self.most_games = 1
        """Maximum number of concurrent matches that the server allows us to play."""
        self.may_begin: Callable[[int], bool] = lambda _: True
        """Returns whether there is room for the specified number of additional games."""
        self._is_full = False
        """Whether the last request exceeded `MAX_REQUESTS`; the excess is logged once."""
        self._resuming: set[str] = set()
        """Ids of stored matches that we have asked the server to resume."""
        self._followed: set[str] = set()
        """Opponents of adjourned games; the server notifies us when they log in."""

    def lost(self) -> None:
        """Handle the loss of the connection or the service."""
        self._resuming.clear()
        self._followed.clear()

    # --- Requests ---------------------------------------------------------------------------------------

    def requested(self, line: Request) -> None:
        """Handle a request that has appeared or disappeared."""
        if self._name not in (line.asker, line.other):  # between others, or open to everybody
            return
        known = self._requests.remove(line.id)
        if not line.is_new:
            # It may have led to a match whose game we have not received yet.
            self._boards.request_missing_games(known)
            return
        if len(self._requests) >= MAX_REQUESTS:
            if not self._is_full:
                logger.warning("too many requests: ignoring %s from %s and later ones", line.id, line.asker)
            self._is_full = True
            return
        self._is_full = False
        asked = self._requests.add(line)
        if line.asker != self._name:
            self._answer_request(asked)
        elif not self._requests.is_awaited(asked):  # its caller has given up
            self._out.ask("cancel", line.id)

    def reconsider(self) -> None:
        """Handle requests that could not be classified until the running matches were listed."""
        for asked in self._requests:
            if asked.state is RequestState.UNCLEAR:
                self._answer_request(asked)

    def _answer_request(self, asked: ListedRequest) -> None:
        """Handle a request to play us: a challenge, or a request to resume one of our games."""
        if asked.line.flag is Flag.STORED:
            game = self._games.stored_game(asked.line, GgsStatus.AWAY, GgsStatus.DOUBTFUL)
            if game is not None:
                logger.info("game %s: %s asks to resume it", game.about.game_id, asked.line.asker)
                self._resume_for_request(asked)
                return
            is_first = asked.state is RequestState.LISTED
            if is_first and self._games.stored_game(asked.line, GgsStatus.LIVE) is not None:
                asked.pass_to(RequestEvent.UNCLEAR)  # we have missed the adjournment, or it is another game
                self._matches.query()
                return
        asked.pass_to(RequestEvent.CHALLENGES)
        self._out.tell(ChallengeReceived(self._challenge(asked)))

    def _challenge(self, asked: ListedRequest) -> Challenge:
        line = asked.line
        clock, type_ = line.other_clock, type_of(line.type_text)
        is_played = type_ is not None and type_.is_acceptable and clock.is_plain and line.asker_clock.is_plain
        is_random = type_ is not None and type_.discs is not None
        return Challenge(
            id=asked.key,
            challenger=self._boards.opponent(line.asker, line.asker_rating),
            game=GAME if is_played else None,
            variant=line.type_text,
            kind="" if not is_played else OTHELLO_RANDOM if is_random else GAME,
            rated=line.flag is not Flag.UNRATED,
            speed=speed_of(clock.clock),
            clock=clock.clock,
            days_per_turn=None,
            initial_position=None,
            is_ours=False,
            our_rating=None if line.other_rating is None else round(line.other_rating),
            boards=1 if type_ is None else type_.boards,
        )

    # --- Adjourned games --------------------------------------------------------------------------------

    def stored(self, message: StoredList) -> None:
        """Compare the server's stored games with ours, and resume what we can."""
        lacking = {name for id_ in self._boards.incomplete() for name in self._matches.by_id[id_].began.names}
        for game in list(self._games.by_id.values()):
            may_be = any(self._games.matches_stored(game, stored) for stored in message.games)
            match game.status:
                case GgsStatus.DOUBTFUL if not self._archive.is_asked_about(game):
                    if may_be:
                        self._archive.forget(game)
                        self._games.record_adjournment(game, "the server has stored it")
                    elif not self._archive.is_searched(game) and message.is_whole:
                        self._archive.search(game)
                case GgsStatus.AWAY:
                    if not may_be and message.is_whole and game.about.opponent.name not in lacking:
                        logger.warning("game %s: the server has not stored it", game.about.game_id)
                        self._archive.search(game)
        requested = {asked.line.stored_id: asked for asked in self._requests}
        for stored in message.games:
            away = self._games.with_status(GgsStatus.AWAY)
            ours = next((game for game in away if self._games.matches_stored(game, stored)), None)
            if ours is not None:
                self._resume_stored(stored, ours.about.opponent.name, requested.get(stored.id))

    def _resume_stored(self, stored: AdjournedMatch, opponent: str, asked: ListedRequest | None) -> None:
        """Resume an adjourned match, now or when the opponent logs in."""
        if opponent not in self._followed:
            self._followed.add(opponent)
            self._out.say(f"notify + {opponent}")  # announces their logins to us
        if asked is not None and asked.line.asker == opponent:
            self._resume_for_request(asked)
        elif asked is None and stored.id not in self._resuming and self._has_room(stored.type_text):
            self._resuming.add(stored.id)
            logger.info("asking to resume the stored match %s of %s", stored.id, " and ".join(stored.names))
            self._requests.resume(stored.id, opponent, stored.type_text)

    def _resume_for_request(self, asked: ListedRequest) -> None:
        """Resume an adjourned game at the opponent's request, now or when a slot is free."""
        self._requests.resumes(asked)
        if self._has_room(asked.line.type_text) and not self._requests.is_accepting(asked):
            self._requests.accept(asked.key)

    def _has_room(self, type_text: str) -> bool:
        """Whether the server's limit and ours allow an adjourned match to be resumed now."""
        type_ = type_of(type_text)
        return len(self._matches) < self.most_games and self.may_begin(1 if type_ is None else type_.boards)

    def refused(self, stored_id: str, text: str) -> None:
        """Handle the service's refusal of our request to resume a stored match."""
        if text.startswith(RETRYABLE_REFUSALS):
            self._resuming.discard(stored_id)  # retry with the next list of stored games

    def is_followed(self, name: str) -> bool:
        """Whether the server notifies us of a player's logins."""
        return name in self._followed

    def resume_again(self) -> None:
        """After an opponent's login, ask again to resume the games in the next list of stored games."""
        self._resuming.clear()
