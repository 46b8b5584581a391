"""An account on GGS as a state machine: messages in, commands and events out.  No I/O.

The server reuses its ids, so games and requests have keys of our own here.  `bot.servers.ggs_lifecycle` has
the tables of what may happen to the connection, to our attempts at a match and to a game.

The server does not store unrated games, but they may have ended unnoticed: they are looked up, too.
"""

import logging
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from bot.base.errors import ProtocolError, RefusedError
from bot.base.events import (
    OTHELLO_RANDOM,
    Challenge,
    ChallengeGone,
    ChallengeReceived,
    ChatLine,
    EndReason,
    GameEnd,
    GameFinished,
    GameSnapshot,
    GameStarted,
    GameState,
    MoveInfo,
    Opponent,
    Room,
    speed_of,
)
from bot.servers import ggs_wire as wire
from bot.servers.ggs_actions import GgsAction, Say, Tell, TellGame, say_all
from bot.servers.ggs_archive import TELLING_PLIES, Archive, ArchiveQuery
from bot.servers.ggs_game import (
    RULES,
    USUAL,
    WIPE_OUT,
    BoardRecord,
    GgsGame,
    agree,
    board_of,
    colourless,
    discs,
    end_of,
    is_same,
    match_of,
    read_board,
    start_of,
    type_of,
)
from bot.servers.ggs_games import GgsGames
from bot.servers.ggs_lifecycle import (
    LINK,
    GgsGameEvent,
    GgsStatus,
    LinkEvent,
    LinkState,
    RequestEvent,
    RequestState,
    after,
)
from bot.servers.ggs_matches import GgsMatch, Matches
from bot.servers.ggs_requests import Asked, Attempt, Requests
from bot.servers.ggs_wire import SERVICE, Flag, GgsClock, tell_service
from engine.formats.ggf import GgfGame
from engine.game import BadPosition, IllegalMove, replay

logger = logging.getLogger(__name__)

GAME = "othello"

WAITED_S = 60.0
"""Seconds of the opponent's thinking time after which we check, again and again, for a missed move."""
ALERTED_S = 30.0
"""Least seconds between two full resyncs: an overloaded server may drop messages all the time."""
LATER = ("no opponent present", "Your open value is too low")
"""Beginnings of the refusals after which we request an adjourned game again; after any other we do not."""
MAX_REQUESTS = 500
"""Further requests are ignored; the server has a few dozen at a time."""
KOMI_BID_DISCS = 0.0
"""Our bid for the side to move at the start of a komi game."""


class GgsAccount:
    """The state of the account, its requests and games.

    Args:
        name: Of the account.
        programs: Names of opponents that are programs; the site does not mark them.
    """

    def __init__(self, name: str, *, programs: Collection[str] = ()) -> None:
        self.name = name
        self._programs = {program.casefold() for program in programs}
        self._most_games = 1
        """Most matches that the server lets us have at once."""
        self._may_begin: Callable[[int], bool] = lambda _: True
        """Whether there is room for that many further games."""
        self.games = GgsGames()
        self._requests = Requests(name)
        self._matches = Matches(name)
        self._is_full = False
        """The last request exceeded `MAX_REQUESTS`; logged once."""
        self._archive = Archive(name)
        self._resuming: set[str] = set()
        """Stored matches that we have asked to resume, by the server's id."""
        self._followed: set[str] = set()
        """Opponents of adjourned games whose logins the server announces to us."""
        self._link = LinkState.AWAY
        self.lists = 0
        """Lists of running matches received so far."""
        self._polled_at = 0.0
        self._alerted_at = -ALERTED_S
        self._shown_at = -ALERTED_S
        self._said_last = ("", "", "")
        """Our last chat line in a game: board, match and text."""

    @property
    def is_settled(self) -> bool:
        """Whether the server has listed its stored games."""
        return self._link is LinkState.SETTLED

    @property
    def _is_away(self) -> bool:
        return self._link is LinkState.AWAY

    # --- State ------------------------------------------------------------------------------------------

    def follow(self, most_games: int, may_begin: Callable[[int], bool]) -> list[GgsAction]:
        """Follow limits of games.

        Args:
            most_games: Most matches at once; the server knows and keeps it.
            may_begin: Whether there is room for that many further games.
        """
        is_told, self._may_begin = self._most_games == most_games or self._is_away, may_begin
        self._most_games = most_games
        return [] if is_told else [Say(tell_service("open", str(most_games)))]

    # --- Connecting and disconnecting -------------------------------------------------------------------

    def connected(self, now_s: float) -> list[GgsAction]:
        """We have logged in."""
        self._polled_at = now_s
        central = (
            "vt100 -",
            "bell -t -tc -tg -n -nc -ng -ni -nn",
            "verbose -news -faq -help -ack",
            "chann %",
            f"notify + {SERVICE}",
        )
        return [*map(Say, central), *self._set_up()]

    def _set_up(self) -> list[GgsAction]:
        """Configure the service when it appears, and request its lists of games."""
        self._link = after(LINK, self._link, LinkEvent.SET_UP)
        gone = self._drop_requests("the service has restarted")
        self._requests.is_registered = True  # until a setting is refused
        settings = ("client +", "trust +", "request -", "stored +", "rated +", f"open {self._most_games}")
        # In this order: running matches must be known before the stored ones show what is missing.
        commands = [Say(tell_service(word)) for word in settings]
        return [*gone, *commands, self.query_matches(), Say(tell_service("stored"))]

    def _drop_requests(self, reason: str) -> list[GgsAction]:
        """Forget every request; some may have been reported while the service was believed to be away."""
        return _gone(self._requests.lost(reason))

    def lost(self, reason: str) -> list[GgsAction]:
        """The connection or the service is gone, and with it every game and request on it."""
        out = self._drop_requests(reason)
        queries, _ = self._archive.give_up()  # games without a known end are searched on the next connection
        for query in queries:
            if query.message is not None:
                out += self._end_all(query.games, query.message, query.change)
        for game in list(self.games.live.values()):
            out += self.games.put_away(game, reason)
        for game in self.games.by_id.values():
            if game.status is GgsStatus.DOUBTFUL:
                out += self.games.put_away(game, reason)
        self.games.live.clear()
        self._matches.lost()
        self._resuming.clear()
        self._followed.clear()
        self._link = after(LINK, self._link, LinkEvent.LOST)
        return out

    def tick(self, now_s: float) -> list[GgsAction]:
        """Poll for messages that we may have missed; the answers also show that the connection is alive."""
        if now_s - self._polled_at < WAITED_S:
            return []
        self._polled_at = now_s
        if self._is_away:
            return [Say(tell_service("match"))]  # refused until the service is back
        given_up = self._end_queries(self._archive.overdue(now_s, WAITED_S))
        matches = {
            game.match
            for game in self.games.live.values()
            if game.is_played
            and (
                game.is_stale
                or game.result is not None
                or (not game.is_ours and now_s - game.turn_since_s >= WAITED_S)
            )
        }
        if not self.is_settled:
            return [*given_up, Say(tell_service("stored"))]
        out = [*given_up, *(Say(tell_service("moves", match)) for match in sorted(matches))]
        if self._archive.is_searching:
            out.append(Say(tell_service("history")))
        if self.games.away_opponents():
            out.append(Say(tell_service("stored")))
        if not self._requests.is_registered:
            out.append(Say(tell_service("finger")))
        return [*out, self.query_matches()]

    # --- Our actions ------------------------------------------------------------------------------------

    def accept(self, key: str) -> tuple[Attempt, list[GgsAction]]:
        """Take a challenge.

        Raises:
            RefusedError: The challenge is gone.
        """
        attempt, commands = self._requests.accept(self._requests.find(key))
        return attempt, say_all(commands)

    def decline(self, key: str) -> list[GgsAction]:
        """Decline a challenge; one that is gone needs no command."""
        return [Say(tell_service("decline", asked.line.id)) for asked in self._requests if asked.key == key]

    def ask(
        self, opponent: str, type_text: str, clock: GgsClock, *, rated: bool
    ) -> tuple[Attempt, list[GgsAction]]:
        """Request a game from a player, or from everybody (``*``)."""
        attempt, commands = self._requests.ask(opponent, type_text, clock, rated=rated)
        return attempt, say_all(commands)

    def cancel(self, attempt: Attempt) -> list[GgsAction]:
        """Withdraw a request of ours."""
        return say_all(self._requests.cancel(attempt))

    def play(self, game_id: str, move: str, info: MoveInfo | None) -> list[GgsAction]:
        """Send a move.

        Raises:
            RefusedError: The game is not live, or it is not our turn.
        """
        game = self._ours(game_id)
        if not game.is_ours or game.is_done or game.result is not None:
            raise RefusedError(f"game {game_id}: not our turn", 400)
        game.refusal, game.sent = "", move
        score = None if info is None or info.score_centi is None else discs(info.score_centi)
        written = wire.write_move(move, score, None if info is None else info.time_s)
        return [Say(tell_service("play", game.board, written))]

    def resign(self, game_id: str) -> list[GgsAction]:
        """Resign a game.

        Raises:
            RefusedError: The game is not live, or the other game of its match would be resigned with it.
        """
        game = self._ours(game_id)
        if game.board != game.match:
            raise RefusedError(f"game {game_id}: it would resign both games of the synchro match", 400)
        return [Say(tell_service("resign", game.board))]

    def abort(self, game_id: str) -> list[GgsAction]:
        """Offer the opponent to abort a game that this program does not play.

        Raises:
            RefusedError: We play this game; the opponent could accept the offer many moves later.
        """
        game = self._ours(game_id)
        if game.is_played:
            raise RefusedError(f"game {game_id}: it can be aborted by agreement only", 400)
        return [Say(tell_service("abort", game.match))]

    def say(self, game_id: str, text: str, room: Room) -> list[GgsAction]:
        """Say something in a game, or to the opponent when it is over.

        Raises:
            RefusedError: There is no such game.
        """
        game = self.games.find(game_id)
        if game is None:
            raise RefusedError(f"game {game_id}: there is no such game", 404)
        text = wire.spoken(text)
        if game.status is GgsStatus.LIVE:
            # Both games of a match share one conversation: send a greeting once.
            before, self._said_last = self._said_last, (game.board, game.match, text)
            if before[1:] == self._said_last[1:] and before[0] != game.board:
                return []
            to = "p" if room is Room.PLAYER else "o"
            return [Say(tell_service("tell", to, game.match, text))]
        return [Say(f"tell {game.about.opponent.name} {text}")] if room is Room.PLAYER else []

    def resync(self, game_id: str) -> list[GgsAction]:
        """Request the current state of a game."""
        game = self.games.by_id.get(game_id)
        return [] if game is None or game.status is not GgsStatus.LIVE else self._reread(game)

    def _ours(self, game_id: str) -> GgsGame:
        game = self.games.by_id.get(game_id)
        if game is None or game.status is not GgsStatus.LIVE:
            raise RefusedError(f"game {game_id}: it is not running", 400)
        return game

    def _reread(self, game: GgsGame) -> list[GgsAction]:
        game.is_stale = True
        return [Say(tell_service("moves", game.match))]

    # --- Messages ---------------------------------------------------------------------------------------

    def on_message(self, message: wire.GgsMessage, now_s: float, at: datetime) -> list[GgsAction]:
        """Process a message and return the actions that it causes.

        Args:
            message: From the server, after the login.
            now_s: On a monotonic clock, in seconds.
            at: Now, in UTC; part of the ids of new games.
        """
        match message:
            case wire.Presence(name, is_here) if name == SERVICE:
                return self._service(is_here)
            # Without a level it only confirms that we follow the user.
            case wire.Presence(name, True, int()) if name in self._followed:
                return self._resume_anew()
            case wire.CentralError() if message.is_service_away:
                return self._no_service()
            case wire.Alert() if now_s - self._alerted_at >= ALERTED_S:
                logger.warning("the server has dropped messages: requesting everything again")
                self._alerted_at = now_s
                return self._reread_all()
            case wire.BoardShown(id_) if now_s - self._shown_at >= ALERTED_S:
                self._shown_at = now_s
                return self._shown(id_)
            case wire.Request():
                return self._request(message)
            case wire.MatchBegan() if self.name in message.names:
                return self._began(message)
            case wire.Joined():
                return self._joined(message, now_s, at)
            case wire.Moved():
                return self._moved(message, now_s)
            case wire.GgsGameError(id_, text):
                return self._refused(id_, text)
            case wire.TimedOut(id_, name, is_fatal):
                logger.info("match %s: %s is out of time%s", id_, name, "" if is_fatal else ", and plays on")
                if is_fatal and id_ in self.games.live:
                    self.games.live[id_].timed_out = name
            case wire.BoardEnded():
                return self._board_ended(message)
            case wire.RatingsChanged(id_, changes):
                match_ = self._matches.find(id_)
                for name, change, _ in changes:
                    if name == self.name and match_ is not None:
                        match_.change = round(change)
            case wire.MatchEnded() if self.name in message.names:
                return self._match_ended(message)
            case wire.ServiceError():
                return self._service_error(message)
            case wire.StoredList() if message.name == self.name:
                return self._stored(message)
            case wire.StoredOpponent(_, True) if self.games.away_opponents():
                # The server sometimes gives the wrong name.
                return self._resume_anew()
            case wire.MatchList():
                return self._set_up() if self._is_away else self._listed(message)
            case wire.OtherMessage(wire.SERVICE, "look", lines):
                return self._looked(lines)
            case wire.OtherMessage(wire.SERVICE, "history", lines):
                return self._history(lines)
            case wire.OtherMessage(wire.SERVICE, "finger", lines):
                return self._fingered(lines)
            case wire.Said():
                return self._said(message)
            case wire.Offered(what, id_, name) if name != self.name:
                logger.info("match %s: %s offers %s; not answered", id_, name, what)
            case wire.TrustViolated(id_, name):
                logger.info("match %s: the server charges %s more time than reported", id_, name)
            case wire.Unknown(sender, lines):
                logger.info("not understood: %.40s: %.300r", sender, lines)
            case _:
                pass
        return []

    def _service(self, is_here: bool) -> list[GgsAction]:
        if not is_here:
            logger.warning("the Othello service has gone")
            return self.lost("the Othello service has gone")
        return self._set_up() if self._is_away else []

    def _fingered(self, lines: Sequence[str]) -> list[GgsAction]:
        """The service's report on our account shows whether it has been registered meanwhile."""
        report = wire.fields_of(lines)
        is_known = report.get("login") == self.name and report.get("level", "0") not in ("", "0")
        if self._requests.is_registered or not is_known:
            return []
        logger.info("the account has been registered: rated games can be played from now on")
        self._requests.is_registered = True
        return [Say(tell_service("rated +"))]  # refused when we logged in

    def _no_service(self) -> list[GgsAction]:
        reason = "there is no Othello service"
        if self._is_away:
            return self._drop_requests(reason)  # also those that were sent all the same
        return self.lost(reason)

    def query_matches(self) -> Say:
        """Query the running matches."""
        self._matches.queried()
        return Say(tell_service("match"))

    def _reread_all(self) -> list[GgsAction]:
        return [*self._reread_games(), self.query_matches(), Say(tell_service("stored"))]

    def _reread_games(self, more: str = "") -> list[GgsAction]:
        """Request the state of every game, and of the games of one more match."""
        games = [game for game in self.games.live.values() if game.is_played]
        for game in games:
            game.is_stale = True
        matches = dict.fromkeys([game.match for game in games] + [more] * bool(more))
        return [Say(tell_service("moves", match)) for match in matches]

    def _shown(self, id_: str) -> list[GgsAction]:
        """The server sent a board as a diagram, so it has lost our setting."""
        logger.warning("match %s: the server draws diagrams; requesting records again", id_)
        return [Say(tell_service("client +")), *self._reread_games(match_of(id_))]

    # --- Requests ---------------------------------------------------------------------------------------

    def _request(self, line: wire.Request) -> list[GgsAction]:
        if self.name not in (line.asker, line.other):  # between others, or open to everybody
            return []
        known = self._requests.remove(line.id)
        out = _gone([] if known is None else [known])
        if not line.is_new:
            # It may have led to a match whose game we have not received yet.
            return [*out, *(Say(tell_service("moves", match)) for match in self._lacking(known))]
        if len(self._requests) >= MAX_REQUESTS:
            if not self._is_full:
                logger.warning("too many requests: ignoring %s of %s and later ones", line.id, line.asker)
            self._is_full = True
            return out
        self._is_full = False
        asked = self._requests.add(line)
        if line.asker == self.name:
            if not self._requests.is_wanted(asked):  # its caller has given up
                out.append(Say(tell_service("cancel", line.id)))
            return out
        return [*out, *self._consider(asked)]

    def _consider(self, asked: Asked) -> list[GgsAction]:
        """Handle a request for us: to resume a game of ours, or a challenge."""
        if asked.line.flag is Flag.STORED:
            if (game := self._stored_game(asked.line, GgsStatus.AWAY, GgsStatus.DOUBTFUL)) is not None:
                logger.info("game %s: %s asks to resume it", game.about.game_id, asked.line.asker)
                return self._go_on(asked)
            is_first = asked.state is RequestState.LISTED
            if is_first and self._stored_game(asked.line, GgsStatus.LIVE) is not None:
                asked.pass_to(RequestEvent.UNCLEAR)  # we have missed the adjournment, or it is another game
                return [self.query_matches()]
        asked.pass_to(RequestEvent.CHALLENGES)
        return [Tell(ChallengeReceived(self._challenge(asked)))]

    def _go_on(self, asked: Asked) -> list[GgsAction]:
        """Resume an adjourned game at its opponent's request, now or when a slot is free."""
        out = _gone([asked])  # it was reported as a challenge before its game was known to be adjourned
        asked.pass_to(RequestEvent.RESUMES)
        if not self._has_room(asked.line.type_text) or self._requests.is_accepting(asked):
            return out
        return [*out, *say_all(self._requests.accept(asked)[1])]

    def _has_room(self, type_text: str) -> bool:
        """Whether an adjourned match may be resumed now, by the server's limit and by ours."""
        type_ = type_of(type_text)
        boards = 1 if type_ is None else type_.boards
        return len(self._matches) < self._most_games and self._may_begin(boards)

    def _lacking(self, asked: Asked | None = None) -> list[str]:
        """Matches of which we lack games: those that came from a request, or all."""
        lacking = []
        for id_ in self._matches:
            match = self._matches[id_]
            type_ = type_of(match.began.type_text)
            received = sum(game.match == id_ for game in self.games.live.values()) + len(match.ended)
            is_meant = asked is None or self._requests.origin(id_) is asked
            if is_meant and received < (1 if type_ is None else type_.boards):
                lacking.append(id_)
        return lacking

    def _challenge(self, asked: Asked) -> Challenge:
        line = asked.line
        clock, type_ = line.other_clock, type_of(line.type_text)
        is_played = type_ is not None and type_.is_wanted and clock.is_plain and line.asker_clock.is_plain
        is_random = type_ is not None and type_.discs is not None
        return Challenge(
            id=asked.key,
            challenger=self._opponent(line.asker, line.asker_rating),
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

    def _opponent(self, name: str, rating: float | None) -> Opponent:
        return Opponent(
            name, name, None if rating is None else round(rating), name.casefold() in self._programs
        )

    # --- Games begin and continue -----------------------------------------------------------------------

    def _began(self, message: wire.MatchBegan) -> list[GgsAction]:
        out: list[GgsAction] = []
        for game in [game for game in self.games.live.values() if game.match == message.id]:
            out += self.games.vanish(game, "another match has its id")
        self._matches.began(message)
        self._requests.began(message)
        return out

    def _joined(self, message: wire.Joined, now_s: float, at: datetime) -> list[GgsAction]:
        """The server sends a board: at its start, or because we have requested it."""
        match, game, record = (
            self._matches.find(match_of(message.id)),
            self.games.live.get(message.id),
            message.game,
        )
        if record is not None and (record.black == self.name) == (record.white == self.name):
            return []  # between others, or against ourselves
        if match is None:  # we have missed whether it is rated
            return [self.query_matches()]
        if message.id in match.ended:  # the server sends both games even when one is over
            return []
        if record is None:
            return self._unplayable(match, message.id, None, now_s, at) if game is None else []
        if game is not None and not game.is_played:
            return []
        try:
            board = read_board(message.id, record, self.name)
        except (BadPosition, IllegalMove, ProtocolError) as error:
            logger.warning("match %s: an impossible game: %s", message.id, error)
            return []
        if game is None:
            return self._board_began(match, board, now_s, at)
        if is_same(game, record, board.our_side):
            return self._update(game, board, now_s)
        gone = self.games.vanish(game, "another game has its id")
        return [*gone, *self._board_began(match, board, now_s, at)]

    def _board_began(
        self, match: GgsMatch, board: BoardRecord, now_s: float, at: datetime
    ) -> list[GgsAction]:
        """A board that is not among the live games: one of ours is resumed, or a new one begins."""
        if not board.is_played:
            return self._unplayable(match, board.id, board.record, now_s, at)
        if board.awaits_bids:
            return self._bid(board)
        if (last := self._taken_back(board)) is not None:
            match.ended[board.id] = None
            return [Say(tell_service("play", board.id, wire.write_move(last, None, None)))]
        game = self._resumed(match, board)
        if game is not None:
            return self._update(game, board, now_s)
        if board.is_done:  # one of two games, already over
            match.ended[board.id] = None
            return []
        game = self._new_game(match, board.id, board.record, now_s, at)
        return self._update(game, board, now_s, self._requests.key_of_challenge(board.match))

    def _update(self, game: GgsGame, board: BoardRecord, now_s: float, key: str = "") -> list[GgsAction]:
        """Bring a game up to date with its board.

        Args:
            key: Of the challenge that the game came from.
        """
        if game.status is not GgsStatus.LIVE or game.moves != board.moves:
            game.turn_since_s = now_s
        was_unheard = game.is_unheard
        self._archive.forget(game)
        game.pass_to(GgsGameEvent.JOINED)
        game.board, game.clocks, game.komi, game.end = board.id, board.clocks, board.record.komi or 0.0, None
        game.moves, game.times_s, game.position = board.moves, board.times_s, board.position
        game.is_stale, game.is_unheard = False, False
        self.games.live[board.id] = self.games.by_id[game.about.game_id] = game
        if game.result is not None and game.is_done:
            game.is_unheard = was_unheard
            return self._board_over(game, game.result)
        if not was_unheard:
            return [TellGame(game.about.game_id, game.state(now_s))]
        logger.info("match %s is game %s", board.id, game.about.game_id)
        return [Tell(GameStarted(game.about.game_id, True, key))]

    def _bid(self, board: BoardRecord) -> list[GgsAction]:
        """Begin a komi game: send the first move of the side to move, and our bid for it.

        The player who values the side to move higher gets it, and the komi is the mean of both values.  Only
        then does the game have colours, and the server sends it again.  We bid a draw, which
        is the value of the usual start.
        """
        record = board.record
        if (record.black_komi_move, record.white_komi_move)[board.our_side] is not None:
            return []  # the opponent has yet to bid
        first = RULES.legal_moves(RULES.parse_position(record.start))[0]
        bid = wire.write_bid(RULES.move_text(first), KOMI_BID_DISCS)
        return [Say(tell_service("play", board.id, bid))]

    def _taken_back(self, board: BoardRecord) -> str | None:
        """Our last move of a game that is over; None: a resumed board shows no such game.

        The server takes back the last move of a synchro game whose other game is a move behind when the match
        is adjourned, even a move that ended the game.  Only the same move again keeps our record true.
        """
        origin = self._requests.origin(board.match)
        if origin is None or origin.line.flag is not Flag.STORED:
            return None
        for game in self.games.by_id.values():
            is_over = game.status is GgsStatus.OVER and game.is_done and game.about.rated
            if is_over and is_same(game, board.record, board.our_side) and game.moves[:-1] == board.moves:
                before = replay(RULES, board.moves, start_of(game.about))
                return game.moves[-1] if game.moves and before.side == board.our_side else None
        return None

    def _resumed(self, match: GgsMatch, board: BoardRecord) -> GgsGame | None:
        """The game of ours that a board resumes; None: it is a new one.

        The server gives a resumed match a new id, so its request has to say what it is: a request with the
        stored flag and id.  Without one the match is a new game, with two exceptions, in which we have missed
        messages: the match was running before we heard of it, or it shows a beginning that contains
        every move of ours.  A tournament's match resumes nothing: the director begins new ones, and those
        that go on without us keep their ids.
        """
        moves = board.moves
        away = [
            game
            for game in self.games.by_id.values()
            if game.status in (GgsStatus.AWAY, GgsStatus.DOUBTFUL)
            and game.about.rated  # the server stores no others
            and is_same(game, board.record, board.our_side)
            and agree(game.moves, moves)
        ]
        origin = self._requests.origin(board.match)
        if match.began.flag is Flag.TOURNAMENT:
            found = [
                game
                for game in away
                if not match.is_heard
                and match_of(board_of(game.about.game_id)) == board.match
                and len(game.moves) <= len(moves)
            ]
        elif origin is not None and origin.line.flag is Flag.STORED:
            found = away
        elif match.is_heard or origin is not None:
            found = [game for game in away if TELLING_PLIES <= len(game.moves) <= len(moves)]
        else:
            found = away if moves else []
        # Of several with the same beginning, the one of the nearest length.
        return min(found, key=lambda game: abs(len(game.moves) - len(moves)), default=None)

    def _new_game(self, match: GgsMatch, board: str, record: GgfGame, now_s: float, at: datetime) -> GgsGame:
        """A game that has begun; its events reach no player before its start is reported."""
        names, ratings = (record.black, record.white), (record.black_rating, record.white_rating)
        our_side = names.index(self.name)
        clock = wire.parse_clock((record.black_clock, record.white_clock)[our_side]).clock
        ours = ratings[our_side]
        about = GameSnapshot(
            game_id=self.games.new_id(board, at),
            game=GAME,
            variant=record.kind,
            initial_position=None if record.start == USUAL else record.start,
            our_side=our_side,
            rated=match.began.flag is not Flag.UNRATED,
            speed=speed_of(clock),
            clock=clock,
            opponent=self._opponent(names[1 - our_side], ratings[1 - our_side]),
            our_rating=None if ours is None else round(ours),
            state=GameState((), None, (False, False), (False, False), None),
        )
        self.games.forget_some()
        return GgsGame(about, GgsStatus.LIVE, board=board, turn_since_s=now_s, is_unheard=True)

    def _unplayable(
        self, match: GgsMatch, board: str, record: GgfGame | None, now_s: float, at: datetime
    ) -> list[GgsAction]:
        """Start a game that this program cannot play, such as one set up by a tournament."""
        record = record or GgfGame(*match.began.names)
        game = self._new_game(match, board, replace(record, kind=record.kind or "?"), now_s, at)
        game.is_played = game.is_unheard = False
        self.games.live[board] = self.games.by_id[game.about.game_id] = game
        key = self._requests.key_of_challenge(game.match)
        return [Tell(GameStarted(game.about.game_id, False, key))]

    def _moved(self, message: wire.Moved, now_s: float) -> list[GgsAction]:
        game, move = self.games.live.get(message.id), message.move
        if game is None or not game.is_played:
            return []
        try:
            if game.is_ours and move.move != game.sent:  # we missed our own move, and this is the reply
                raise IllegalMove(move.move, RULES.position_text(game.position))
            game.position = RULES.play(game.position, RULES.parse_move(game.position, move.move))
        except IllegalMove:
            logger.info("game %s: %s does not fit; requesting its state", game.about.game_id, move.move)
            return self._reread(game)
        game.sent = ""
        game.moves = (*game.moves, move.move)
        game.times_s = (*game.times_s, move.time_s or 0.0)
        game.turn_since_s = now_s
        return [TellGame(game.about.game_id, game.state(now_s))]

    def _refused(self, id_: str, text: str) -> list[GgsAction]:
        out: list[GgsAction] = []
        for game in self.games.of(id_):
            game.refusal = text
            logger.info("game %s: %s", game.about.game_id, text)
            out += self._reread(game)
        return out

    def _service_error(self, message: wire.ServiceError) -> list[GgsAction]:
        if id_ := message.match_id:
            games = list(self.games.of(id_))
            for game in games:
                game.refusal = message.text
            # We have missed its end.
            return [self.query_matches()] if games else []
        if message.text.startswith("you are not registered"):
            if self._requests.is_registered:
                logger.warning("the service says: %s Only unrated games can be played", message.text)
            self._requests.is_registered = False
            return []
        logger.info("the service says: %s", message.text)
        if re.match(r"\w+ (?:[-+] )?ERR ", message.text):  # names its command: none that we wait for
            return []
        attempt = self._requests.refused(message.text)
        if attempt is None and message.text.startswith("no archived match"):
            return self._stop_looking()
        if attempt is not None and message.text.startswith(LATER):
            self._resuming.discard(attempt.stored_id)  # retry with the next list of stored games
        return []

    def _listed(self, message: wire.MatchList) -> list[GgsAction]:
        """Compare the server's running matches with our live games."""
        self.lists += 1
        gone = self._matches.listed(message)
        out: list[GgsAction] = []
        for game in list(self.games.live.values()):
            if game.match in gone:
                out += self.games.doubt(game)
        for asked in self._requests:
            if asked.state is RequestState.UNCLEAR:
                out += self._consider(asked)
        return out + [Say(tell_service("moves", match)) for match in self._lacking()]

    def _said(self, message: wire.Said) -> list[GgsAction]:
        if message.name == self.name:
            return []
        room = Room.SPECTATOR if message.to == "O" else Room.PLAYER
        if message.id:
            games = list(self.games.of(message.id))
        else:
            known = self.games.live.values()
            games = [
                game for game in known if game.about.opponent.name == message.name and not message.channel
            ]
        if not games:
            logger.info(
                "%s says%s: %.300s",
                message.name,
                f" on {message.channel}" * bool(message.channel),
                message.text,
            )
        return [
            TellGame(game.about.game_id, ChatLine(message.name, room, message.text)) for game in games[:1]
        ]

    # --- Games end or are adjourned ---------------------------------------------------------------------

    def _board_ended(self, message: wire.BoardEnded) -> list[GgsAction]:
        game = self.games.live.get(message.id)
        if game is None or message.result is None:  # the match's end will settle it
            return []
        game.result = message.result if message.names[0] == self.name else -message.result
        if game.is_done or game.timed_out or abs(game.result) == WIPE_OUT:
            return self._board_over(game, game.result)
        return self._reread(game)  # we have missed its last moves

    def _board_over(self, game: GgsGame, ours: float) -> list[GgsAction]:
        self._matches[game.match].ended[game.board] = game
        return self.games.end(game, end_of(game, ours))

    def _match_ended(self, message: wire.MatchEnded) -> list[GgsAction]:
        games, out = list(self.games.of(message.id)), list[GgsAction]()
        match = self._matches.ended(message.id)
        change = None if match is None else match.change
        self._requests.ended(message.id)
        if message.result is not None and message.stored_id:
            # Resigned, or we have missed the last move: the archive knows.
            unclear = [game for game in games if not game.is_done and not game.timed_out and game.is_played]
            if unclear:
                out += self._query(message.stored_id, ArchiveQuery(unclear, message, change))
            games = [game for game in games if game not in unclear]
        out += self._end_all(games, message, change)
        if match is not None and change is not None:
            # The two games change the rating once: record the change with one of them.
            first = next((game for _, game in sorted(match.ended.items()) if game is not None), None)
            if first is not None:
                out.append(Tell(GameFinished(first.about.game_id, change)))
        return out

    def _end_all(
        self, games: Sequence[GgsGame], message: wire.MatchEnded, change: int | None = None
    ) -> list[GgsAction]:
        """End or adjourn the running games of a match that has ended."""
        out: list[GgsAction] = []
        for game in games:
            if message.left_by and (message.stored_id or message.flag is not Flag.UNRATED):
                game.about = replace(game.about, rated=True)
                out += [
                    *self.games.put_away(game, f"{message.left_by} has left"),
                    Say(tell_service("stored")),
                ]
            elif message.left_by or message.result is None:
                word = f"{message.left_by} left" if message.left_by else "aborted"
                out += self.games.end(game, GameEnd(EndReason.ABORTED, None, word))
            elif game.board == game.match:
                ours = message.result if message.names[0] == self.name else -message.result
                out += self.games.end(game, end_of(game, ours), change)
            elif game.result is not None:
                out += self.games.end(game, end_of(game, game.result), change)
            else:  # we missed the board's own end; the match's result is the mean of both games
                out += self.games.end(game, GameEnd(EndReason.UNKNOWN, None, "ended"))
        return out

    # --- The archive ------------------------------------------------------------------------------------

    def _query(self, key: str, query: ArchiveQuery) -> list[GgsAction]:
        """Look up the results of games in the archive."""
        for game in query.games:
            self.games.off(game)
            game.pass_to(GgsGameEvent.UNLISTED)
            game.is_stale = True
        return [Say(self._archive.query(key, query))]

    def _search(self, game: GgsGame) -> list[GgsAction]:
        """Search the latest matches for a game whose end we have missed."""
        game.pass_to(GgsGameEvent.UNLISTED)
        game.is_stale = True
        return [Say(self._archive.search(game))]

    def _history(self, lines: Sequence[str]) -> list[GgsAction]:
        commands, missing = self._archive.history(lines)
        return [*say_all(commands), *self.games.vanish_all(missing)]

    def _looked(self, lines: Sequence[str]) -> list[GgsAction]:
        return [out for ended in self._archive.looked(lines) for out in self.games.end(*ended)]

    def _stop_looking(self) -> list[GgsAction]:
        """The archive lacks the requested games: end them with the known results."""
        queries, searched = self._archive.give_up()
        return [*self._end_queries(queries), *self.games.vanish_all(searched)]

    def _end_queries(self, queries: Sequence[ArchiveQuery]) -> list[GgsAction]:
        out: list[GgsAction] = []
        for query in queries:
            if query.message is not None:
                out += self._end_all(query.games, query.message, query.change)
            else:
                out += self.games.vanish_all(query.games)
        return out

    # --- Adjourned games --------------------------------------------------------------------------------

    def _stored(self, message: wire.StoredList) -> list[GgsAction]:
        """Compare the server's stored games with ours, and resume what we can."""
        games, out = message.games, list[GgsAction]()
        self._link = after(LINK, self._link, LinkEvent.LISTED)
        lacking = {name for match in self._lacking() for name in self._matches[match].began.names}
        for game in list(self.games.by_id.values()):
            kept = [stored for stored in games if self._is_kept(game, stored)]
            opponent = game.about.opponent.name
            match game.status:
                case GgsStatus.DOUBTFUL:
                    if self._archive.is_asked_about(game):
                        continue
                    if kept:
                        self._archive.forget(game)
                        out += self.games.put_away(game, "the server has stored it")
                    elif not self._archive.is_searched(game) and message.is_whole:
                        out += self._search(game)
                case GgsStatus.AWAY if not kept and message.is_whole and opponent not in lacking:
                    logger.warning("game %s: the server has not stored it", game.about.game_id)
                    out += self._search(game)
        on_the_table = {asked.line.stored_id: asked for asked in self._requests}
        for stored in games:
            away = (game for game in self.games.by_id.values() if game.status is GgsStatus.AWAY)
            ours = next((game for game in away if self._is_kept(game, stored)), None)
            if ours is None:
                continue
            if (opponent := ours.about.opponent.name) not in self._followed:
                self._followed.add(opponent)
                out.append(Say(f"notify + {opponent}"))  # announces their logins to us
            asked = on_the_table.get(stored.id)
            if asked is not None and asked.line.asker == opponent:
                out += self._go_on(asked)
            elif asked is None and stored.id not in self._resuming and self._has_room(stored.type_text):
                self._resuming.add(stored.id)
                logger.info(
                    "asking to resume the stored match %s of %s", stored.id, " and ".join(stored.names)
                )
                out += say_all(self._requests.resume(stored.id, opponent, stored.type_text))
        return out

    def _resume_anew(self) -> list[GgsAction]:
        """An opponent of an adjourned game has logged in: ask again, once."""
        self._resuming.clear()
        return [Say(tell_service("stored"))] if not self._is_away else []

    def _is_kept(self, game: GgsGame, stored: wire.AdjournedMatch) -> bool:
        names = {self.name, game.about.opponent.name}
        return (
            game.about.rated
            and {*stored.names} == names
            and colourless(stored.type_text) == colourless(game.about.variant)
        )

    def _stored_game(self, line: wire.Request, *where: GgsStatus) -> GgsGame | None:
        """Our game with one of these statuses that a request would resume; None: there is none."""
        stored = wire.AdjournedMatch(line.stored_id, (line.asker, self.name), line.type_text)
        games = (game for game in self.games.by_id.values() if game.status in where)
        return next((game for game in games if self._is_kept(game, stored)), None)


def _gone(asked: Iterable[Asked]) -> list[GgsAction]:
    """Events that end the requests reported as challenges."""
    return [Tell(ChallengeGone(each.key)) for each in asked if each.state is RequestState.CHALLENGE]
