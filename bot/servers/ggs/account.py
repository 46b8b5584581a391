"""A GGS account as a state machine that turns messages into commands and events. No I/O.

The server reuses its ids, so we assign our own keys to games and requests. The transition tables for games
and for our attempts at a match are in `bot.servers.ggs.lifecycle`.

The server does not store interrupted unrated games. For a missing game, we search the archive for its result.
"""

import logging
import re
from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from bot.servers.ggs import wire
from bot.servers.ggs.boards import Boards
from bot.servers.ggs.challenges import GgsChallenges
from bot.servers.ggs.game import match_of
from bot.servers.ggs.game_actions import GgsGameActions
from bot.servers.ggs.lifecycle import GgsStatus, LinkState
from bot.servers.ggs.state import GgsState
from bot.servers.ggs.wire import SERVICE

logger = logging.getLogger(__name__)

MISSED_MOVE_POLL_S = 60.0
"""Interval, in seconds, at which we check for missed moves while the opponent is thinking."""
MIN_RESYNC_S = 30.0
"""Minimum time between two full resyncs, in seconds; an overloaded server may drop messages constantly."""


class GgsAccount(GgsState):
    """The account's connection to the service; other objects hold the rest of the state.

    Args:
        name: Name of the account.
        programs: Names of opponents that are programs; needed because the site does not mark programs.
    """

    def __init__(self, name: str, *, programs: Collection[str] = ()) -> None:
        super().__init__(name)
        self.actions = GgsGameActions(self)
        self._boards = Boards(self, frozenset(program.casefold() for program in programs))
        self._challenges = GgsChallenges(self, self._boards)
        self._link = LinkState.AWAY
        self.lists = 0
        """Number of lists of running matches received so far."""
        self._polled_at = 0.0
        self._alerted_at = -MIN_RESYNC_S
        self._shown_at = -MIN_RESYNC_S

    @property
    def is_settled(self) -> bool:
        """Whether the server has listed its stored games."""
        return self._link is LinkState.SETTLED

    @property
    def _is_away(self) -> bool:
        return self._link is LinkState.AWAY

    def follow(self, most_games: int, may_begin: Callable[[int], bool]) -> None:
        """Set the limits on concurrent games.

        Args:
            most_games: Maximum number of concurrent matches; we tell the server, which enforces this limit.
            may_begin: Returns whether there is room for the specified number of additional games.
        """
        is_told = self._challenges.most_games == most_games or self._is_away
        self._challenges.most_games, self._challenges.may_begin = most_games, may_begin
        if not is_told:
            self.out.ask("open", most_games)

    # --- Connecting and disconnecting -------------------------------------------------------------------

    def connected(self, now_s: float) -> None:
        """Record that we are logged in."""
        self._polled_at = now_s
        self.out.say("vt100 -")
        self.out.say("bell -t -tc -tg -n -nc -ng -ni -nn")
        self.out.say("verbose -news -faq -help -ack")
        self.out.say("chann %")
        self.out.say(f"notify + {SERVICE}")
        self._set_up()

    def _set_up(self) -> None:
        """Configure the service when it appears, and request its lists of games."""
        self._link = LinkState.LISTING
        self.requests.lost("the service has restarted")
        self.requests.is_registered = True  # until a setting is refused
        for setting in ("client +", "trust +", "request -", "stored +", "rated +"):
            self.out.ask(setting)
        self.out.ask("open", self._challenges.most_games)
        # In this order: running matches must be known before the stored ones show what is missing.
        self.matches.query()
        self.out.ask("stored")

    def lost(self, reason: str) -> None:
        """Handle the loss of the connection or the service, which affects all games and requests."""
        self.requests.lost(reason)  # some may have been reported while the service was believed to be away
        self.archive.give_up(is_lost=True)
        for game in [*self.games.live.values(), *self.games.with_status(GgsStatus.DOUBTFUL)]:
            self.games.record_adjournment(game, reason)
        self.matches.lost()
        self._challenges.lost()
        self._link = LinkState.AWAY

    def tick(self, now_s: float) -> None:
        """Poll for messages that we may have missed; the answers also show that the connection is alive."""
        if now_s - self._polled_at < MISSED_MOVE_POLL_S:
            return
        self._polled_at = now_s
        if self._is_away:
            self.out.ask("match")  # refused until the service is back
            return
        self.archive.end_overdue(now_s, MISSED_MOVE_POLL_S)
        if not self.is_settled:
            self.out.ask("stored")
            return
        matches = {
            game.match
            for game in self.games.live.values()
            if game.is_played
            and (
                game.is_stale
                or game.result is not None
                or (not game.is_ours and now_s - game.turn_since_s >= MISSED_MOVE_POLL_S)
            )
        }
        for match in sorted(matches):
            self.out.ask("moves", match)
        if self.archive.is_searching:
            self.out.ask("history")
        if self.games.with_status(GgsStatus.AWAY):
            self.out.ask("stored")
        if not self.requests.is_registered:
            self.out.ask("finger")
        self.matches.query()

    # --- Messages ---------------------------------------------------------------------------------------

    def on_message(self, message: wire.GgsMessage, now_s: float, at: datetime) -> None:
        """Process a message.

        Args:
            message: A message that arrived after the login.
            now_s: Current time on a monotonic clock, in seconds.
            at: Current time in UTC; part of the ids of new games.
        """
        match message:
            case wire.Presence(name, is_here) if name == SERVICE:
                self._on_service_presence(is_here)
            # Without a level it only confirms that we follow the user.
            case wire.Presence(name, True, int()) if self._challenges.is_followed(name):
                self._resume_again()
            case wire.CentralError() if message.is_service_away:
                self._on_service_lost()
            case wire.Alert() if now_s - self._alerted_at >= MIN_RESYNC_S:
                logger.warning("the server has dropped messages: requesting everything again")
                self._alerted_at = now_s
                self._reread_games()
                self.matches.query()
                self.out.ask("stored")
            case wire.BoardShown(id_) if now_s - self._shown_at >= MIN_RESYNC_S:  # it has lost our setting
                self._shown_at = now_s
                logger.warning("match %s: the server sends diagrams; requesting records again", id_)
                self.out.ask("client +")
                self._reread_games(match_of(id_))
            case wire.Request():
                self._challenges.requested(message)
            case wire.MatchBegan() if self.name in message.names:
                self._boards.match_began(message)
            case wire.Joined():
                self._boards.joined(message, now_s, at)
            case wire.Moved():
                self._boards.moved(message, now_s)
            case wire.GgsGameError(id_, text):
                self._boards.refused(id_, text)
            case wire.TimedOut(id_, name, is_fatal):
                logger.info("match %s: %s is out of time%s", id_, name, "" if is_fatal else ", and plays on")
                if is_fatal and id_ in self.games.live:
                    self.games.live[id_].timed_out = name
            case wire.BoardEnded():
                self._boards.ended(message)
            case wire.RatingsChanged(id_, changes) if id_ in self.matches.by_id:
                for name, change, _ in changes:
                    if name == self.name:
                        self.matches.by_id[id_].change = round(change)
            case wire.MatchEnded() if self.name in message.names:
                self._boards.match_ended(message)
            case wire.ServiceError():
                self._service_error(message)
            case wire.StoredList() if message.name == self.name:
                if not self._is_away:  # else it answers a query from before the loss
                    self._link = LinkState.SETTLED
                self._challenges.stored(message)
            case wire.StoredOpponent(_, True) if self.games.with_status(GgsStatus.AWAY):
                # The server sometimes gives the wrong name.
                self._resume_again()
            case wire.MatchList():
                self._compare_with_running_list(message)
            case wire.OtherMessage(wire.SERVICE, "look", lines):
                self.archive.on_look_reply(lines)
            case wire.OtherMessage(wire.SERVICE, "history", lines):
                self.archive.on_history_reply(lines)
            case wire.OtherMessage(wire.SERVICE, "finger", lines):
                self._on_finger_reply(lines)
            case wire.Said():
                self.actions.heard(message)
            case wire.OtherMessage(wire.SERVICE, word, lines) if word in wire.NOTICES:
                logger.info("the service says: %.300s", " ".join(lines))
            case wire.UnknownBlock(sender, lines):
                logger.info("not understood: %.40s: %.300r", sender, lines)
            case _:
                pass

    def _on_service_presence(self, is_here: bool) -> None:
        if not is_here:
            logger.warning("the Othello service has gone")
            self.lost("the Othello service has gone")
        elif self._is_away:
            self._set_up()

    def _on_service_lost(self) -> None:
        reason = "there is no Othello service"
        if self._is_away:
            self.requests.lost(reason)  # also those that were sent all the same
        else:
            self.lost(reason)

    def _on_finger_reply(self, lines: Sequence[str]) -> None:
        """Check in the service's report whether our account has been registered since login."""
        report = wire.fields_of(lines)
        is_known = report.get("login") == self.name and report.get("level", "0") not in ("", "0")
        if not self.requests.is_registered and is_known:
            logger.info("the account has been registered: rated games can be played from now on")
            self.requests.is_registered = True
            self.out.ask("rated", "+")  # refused when we logged in

    def _reread_games(self, more: str = "") -> None:
        """Request the states of all live games and, if `more` names a match, of that match's games."""
        games = [game for game in self.games.live.values() if game.is_played]
        for game in games:
            game.is_stale = True
        for match in dict.fromkeys([game.match for game in games] + [more] * bool(more)):
            self.out.ask("moves", match)

    def _resume_again(self) -> None:
        """Handle the login of an adjourned game's opponent."""
        self._challenges.resume_again()
        if not self._is_away:
            self.out.ask("stored")

    def _compare_with_running_list(self, message: wire.MatchList) -> None:
        """Compare the server's running matches with the games that we believe to be live."""
        if self._is_away:
            self._set_up()
            return
        self.lists += 1
        gone = self.matches.listed(message)
        for match in gone.values():
            if match is not None:
                self._boards.bidding_ended(match)
        for game in list(self.games.live.values()):
            if game.match in gone:
                self.games.mark_unlisted(game)
                self.out.ask("stored")
        self._challenges.reconsider()
        self._boards.request_missing_games()

    def _service_error(self, message: wire.ServiceError) -> None:
        if id_ := message.match_id:
            games = list(self.games.of(id_))
            for game in games:
                game.refusal = message.text
            if games:  # we have missed its end
                self.matches.query()
            return
        if message.text.startswith("you are not registered"):
            if self.requests.is_registered:
                logger.warning("the service says: %s Only unrated games can be played", message.text)
            self.requests.is_registered = False
            return
        logger.info("the service says: %s", message.text)
        if re.match(r"\w+ (?:[-+] )?ERR ", message.text):  # names its command: none that we wait for
            return
        attempt = self.requests.refused(message.text)
        if attempt is not None:
            self._challenges.refused(attempt.stored_id, message.text)
        elif message.text.startswith("no archived match"):
            self.archive.give_up(is_lost=False)
