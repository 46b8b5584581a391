"""Boards on GGS: handles the server's messages about our games, from start to finish. No I/O."""

import logging
from dataclasses import replace
from datetime import datetime

from bot.base.errors import ProtocolError
from bot.base.events import (
    EndReason,
    GameEnd,
    GameFinished,
    GameSnapshot,
    GameStarted,
    GameState,
    Opponent,
    speed_of,
)
from bot.servers.ggs.archive import MIN_IDENTIFYING_PLIES
from bot.servers.ggs.game import (
    RESIGNED_DISCS,
    RULES,
    USUAL_START,
    BoardRecord,
    GgsGame,
    board_of,
    end_of,
    is_common_prefix,
    is_same_game,
    match_of,
    read_board,
    start_of,
    type_of,
)
from bot.servers.ggs.lifecycle import GgsGameEvent, GgsStatus
from bot.servers.ggs.matches import GgsMatch
from bot.servers.ggs.requests import ListedRequest
from bot.servers.ggs.state import GgsState
from bot.servers.ggs.wire import (
    BoardEnded,
    Flag,
    Joined,
    MatchBegan,
    MatchEnded,
    Moved,
    parse_clock,
    write_bid,
    write_move,
)
from engine.formats.ggf import GgfGame
from engine.game import BadPosition, IllegalMove, replay

logger = logging.getLogger(__name__)

GAME = "othello"

KOMI_BID_DISCS = 0.0
"""Our bid in a komi game for playing the side to move at the start."""


class Boards:
    """Updates our games according to the server's board messages.

    Args:
        state: State of the account.
        programs: Lower-case names of the opponents that are programs, because the server does not mark them.
    """

    def __init__(self, state: GgsState, programs: frozenset[str]) -> None:
        self._name, self._out = state.name, state.out
        self._games, self._matches, self._requests = state.games, state.matches, state.requests
        self._archive = state.archive
        self._programs = programs

    def opponent(self, name: str, rating: float | None) -> Opponent:
        """The opponent with this name, marked as a program if the name is listed as one."""
        is_bot = name.casefold() in self._programs
        return Opponent(name, name, None if rating is None else round(rating), is_bot)

    def request_missing_games(self, asked: ListedRequest | None = None) -> None:
        """Request our matches' missing games; with `asked`, only those of matches that the request led to."""
        for id_ in self.incomplete(asked):
            self._out.ask("moves", id_)

    def incomplete(self, asked: ListedRequest | None = None) -> list[str]:
        """Ids of our matches that lack games; with `asked`, only of matches that the request led to."""
        incomplete = []
        for id_, match in self._matches.by_id.items():
            type_ = type_of(match.began.type_text)
            received = sum(game.match == id_ for game in self._games.live.values()) + len(match.ended)
            is_meant = asked is None or self._requests.origins.get(id_) is asked
            if is_meant and received < (1 if type_ is None else type_.boards):
                incomplete.append(id_)
        return incomplete

    # --- Games begin and continue -----------------------------------------------------------------------

    def match_began(self, message: MatchBegan) -> None:
        """Handle the start of one of our matches."""
        for game in self._games.of(message.id):
            self._games.end_without_result(game, "another match has the same id")
        if (missed := self._matches.by_id.get(message.id)) is not None:
            self.bidding_ended(missed)
        self._matches.began(message)
        self._requests.began(message)

    def joined(self, message: Joined, now_s: float, at: datetime) -> None:
        """Handle a board that the server sends, at the start of a game or on request.

        Args:
            message: The message with the board.
            now_s: Current time on a monotonic clock, in seconds.
            at: Current time in UTC, used in the ids of new games.
        """
        match, game = self._matches.by_id.get(match_of(message.id)), self._games.live.get(message.id)
        record = message.game
        if record is not None and (record.black == self._name) == (record.white == self._name):
            return  # between others, or against ourselves
        if match is None:  # we have missed whether it is rated
            self._matches.query()
            return
        if message.id in match.ended:  # the server sends both games even when one is over
            return
        if record is None:
            if game is None:
                self._add_unplayable_game(match, message.id, None, now_s, at)
            return
        if game is not None and not game.is_played:
            return
        try:
            board = read_board(message.id, record, self._name)
        except (BadPosition, IllegalMove, ProtocolError) as error:
            logger.warning("match %s: impossible game: %s", message.id, error)
            return
        if game is not None and is_same_game(game, record, board.our_side):
            if self._is_move_withheld(game, board):
                game.is_stale = False
                self._out.tell_game(game.about.game_id, game.state(now_s))
            else:
                self._update(game, board, now_s)
            return
        if game is not None:
            self._games.end_without_result(game, "another game has the same id")
        self._board_began(match, board, now_s, at)

    @staticmethod
    def _is_move_withheld(game: GgsGame, board: BoardRecord) -> bool:
        """Whether the board of a live synchro game lacks only the opponent's last move, which we have heard.

        The server withholds that move from everyone but its player while its game is one move ahead of the
        other, and goes on doing so once the other game is over, when it has told the move and awaits ours.
        """
        return (
            board.id != board.match
            and game.status is GgsStatus.LIVE
            and game.is_ours
            and bool(game.moves)
            and game.moves[:-1] == board.moves
        )

    def _board_began(self, match: GgsMatch, board: BoardRecord, now_s: float, at: datetime) -> None:
        """Handle a board that is not a live game: resume one of our games, or begin a new one."""
        if not board.is_played:
            self._add_unplayable_game(match, board.id, board.record, now_s, at)
        elif board.awaits_bids:
            match.bidding.setdefault(board.id, (board.record, now_s, at))
            self._send_komi_bid(board)
        elif (last := self._undone_last_move(match, board)) is not None:
            match.ended[board.id] = None
            self._out.ask("play", board.id, write_move(last, None, None))
        elif (game := self._find_resumed_game(match, board)) is not None:
            self._update(game, board, now_s)
        elif board.is_done:  # one of two games, already over
            match.ended[board.id] = None
        else:
            match.bidding.pop(board.id, None)
            game = self._new_game(match, board.id, board.record, now_s, at)
            self._update(game, board, now_s, self._requests.key_of_challenge(board.match))

    def _update(self, game: GgsGame, board: BoardRecord, now_s: float, key: str = "") -> None:
        """Update a game from its board message.

        Args:
            key: Key of the challenge that led to the game, or empty.
        """
        if game.status is not GgsStatus.LIVE or game.moves != board.moves:
            game.turn_since_s = now_s
        was_unheard, game_id = game.is_unheard, game.about.game_id
        self._archive.forget(game)
        game.pass_to(GgsGameEvent.JOINED)
        game.board, game.clocks, game.komi, game.end = board.id, board.clocks, board.record.komi or 0.0, None
        game.moves, game.times_s, game.position = board.moves, board.times_s, board.position
        game.is_stale, game.is_unheard = False, False
        self._games.live[board.id] = self._games.by_id[game_id] = game
        if game.result is not None and game.is_done:
            game.is_unheard = was_unheard
            self._board_over(game, game.result)
        elif was_unheard:
            logger.info("match %s is game %s", board.id, game_id)
            self._out.tell(GameStarted(game_id, True, key))
        else:
            self._out.tell_game(game_id, game.state(now_s))

    def _send_komi_bid(self, board: BoardRecord) -> None:
        """Begin a komi game: send the first move of the side to move, and our bid for that side.

        The player with the higher bid plays the side to move, and the komi is the mean of both bids. The
        server sends the game again once the bids have determined the colours. For the standard starting
        position, our bid is 0, the value of a draw.
        """
        record = board.record
        if (record.black_komi_move, record.white_komi_move)[board.our_side] is not None:
            return  # the opponent has yet to bid
        first = RULES.legal_moves(RULES.parse_position(record.start))[0]
        self._out.ask("play", board.id, write_bid(RULES.move_text(first), KOMI_BID_DISCS))

    def _undone_last_move(self, match: GgsMatch, board: BoardRecord) -> str | None:
        """Our last move in a finished game that a resumed board reopens; None if there is no such game.

        At an adjournment, the server takes back the last move of a synchro game that is a move ahead of the
        other game, even if that move ended the game. Our record stays correct only if we repeat that move.
        """
        origin = self._requests.origins.get(board.match)
        if match.began.flag is not Flag.TOURNAMENT and (
            origin is None or origin.line.flag is not Flag.STORED
        ):
            return None
        for game in self._games.with_status(GgsStatus.OVER):
            is_over = game.is_done and game.about.rated
            if (
                is_over
                and is_same_game(game, board.record, board.our_side)
                and game.moves[:-1] == board.moves
            ):
                before = replay(RULES, board.moves, start_of(game.about))
                return game.moves[-1] if game.moves and before.side == board.our_side else None
        return None

    def _find_resumed_game(self, match: GgsMatch, board: BoardRecord) -> GgsGame | None:
        """Our game that a board resumes, or None if the game is new.

        The server gives a resumed match a new id, so only its request, with the stored flag and id,
        identifies it. Without such a request, the match is a new game unless we missed messages: the match
        was running before we knew of it, or its moves include all of ours. A tournament's director resumes a
        match without a request, so it begins with our moves, except the last if that was taken back (see
        `_undone_last_move`). A tournament match that went on without us keeps its id.
        """
        moves = board.moves
        away = [
            game
            for game in self._games.with_status(GgsStatus.AWAY, GgsStatus.DOUBTFUL)
            if game.about.rated  # the server stores no others
            and is_same_game(game, board.record, board.our_side)
            and is_common_prefix(game.moves, moves)
        ]
        origin = self._requests.origins.get(board.match)
        if match.began.flag is Flag.TOURNAMENT:
            candidates = [
                game
                for game in away
                if (moves and len(game.moves) - len(moves) in ((0, 1) if board.id != board.match else (0,)))
                or (
                    not match.is_heard
                    and match_of(board_of(game.about.game_id)) == board.match
                    and len(game.moves) <= len(moves)
                )
            ]
        elif origin is not None and origin.line.flag is Flag.STORED:
            candidates = away
        elif match.is_heard or origin is not None:
            candidates = [game for game in away if MIN_IDENTIFYING_PLIES <= len(game.moves) <= len(moves)]
        else:
            candidates = away if moves else []
        # Of several with the same beginning, the one of the nearest length.
        return min(candidates, key=lambda game: abs(len(game.moves) - len(moves)), default=None)

    def _new_game(self, match: GgsMatch, board: str, record: GgfGame, now_s: float, at: datetime) -> GgsGame:
        """Add a game that has begun; its events are held back until its start has been reported."""
        names, ratings = (record.black, record.white), (record.black_rating, record.white_rating)
        our_side = names.index(self._name)
        clock = parse_clock((record.black_clock, record.white_clock)[our_side]).clock
        ours = ratings[our_side]
        about = GameSnapshot(
            game_id=self._games.new_id(board, at),
            game=GAME,
            variant=record.kind,
            initial_position=None if record.start == USUAL_START else record.start,
            our_side=our_side,
            rated=match.began.flag is not Flag.UNRATED,
            speed=speed_of(clock),
            clock=clock,
            opponent=self.opponent(names[1 - our_side], ratings[1 - our_side]),
            our_rating=None if ours is None else round(ours),
            state=GameState((), None, (False, False), (False, False), None),
        )
        self._games.forget_some()
        return GgsGame(about, GgsStatus.LIVE, board=board, turn_since_s=now_s, is_unheard=True)

    def _add_unplayable_game(
        self, match: GgsMatch, board: str, record: GgfGame | None, now_s: float, at: datetime
    ) -> None:
        """Add a game that this program cannot play, for instance one set up by a tournament."""
        record = record or GgfGame(*match.began.names)
        game = self._new_game(match, board, replace(record, kind=record.kind or "?"), now_s, at)
        game.is_played = game.is_unheard = False
        self._games.live[board] = self._games.by_id[game.about.game_id] = game
        key = self._requests.key_of_challenge(game.match)
        self._out.tell(GameStarted(game.about.game_id, False, key))

    def moved(self, message: Moved, now_s: float) -> None:
        """Handle a move by either side."""
        game, move = self._games.live.get(message.id), message.move
        if game is None or not game.is_played:
            return
        try:
            if game.is_ours and move.move != game.sent:  # we missed our own move, and this is the reply
                raise IllegalMove(move.move, RULES.position_text(game.position))
            game.position = RULES.play(game.position, RULES.parse_move(game.position, move.move))
        except IllegalMove:
            logger.info("game %s: %s is not legal here; requesting the state", game.about.game_id, move.move)
            self._games.reread(game)
            return
        game.sent = ""
        game.moves = (*game.moves, move.move)
        game.times_s = (*game.times_s, move.time_s or 0.0)
        game.turn_since_s = now_s
        self._out.tell_game(game.about.game_id, game.state(now_s))

    def refused(self, id_: str, text: str) -> None:
        """Handle the server's refusal of one of our actions in a game."""
        for game in self._games.of(id_):
            game.refusal = text
            logger.info("game %s: %s", game.about.game_id, text)
            self._games.reread(game)

    # --- Games end or are adjourned ---------------------------------------------------------------------

    def ended(self, message: BoardEnded) -> None:
        """Handle the end of one of the two games of a match."""
        game = self._games.live.get(message.id)
        if game is None or message.result is None:  # the match's end will settle it
            return
        ours = game.result = message.result_of(self._name)
        if ours is not None and (game.is_done or game.timed_out or abs(ours) == RESIGNED_DISCS):
            self._board_over(game, ours)
        else:  # we have missed its last moves
            self._games.reread(game)

    def _board_over(self, game: GgsGame, ours: float) -> None:
        self._matches.by_id[game.match].ended[game.board] = game
        self._games.end(game, end_of(game, ours))

    def bidding_ended(self, match: GgsMatch, message: MatchEnded | None = None) -> None:
        """Report a match's komi games that ended before both players had bid, so that they are stored.

        Args:
            match: The match.
            message: The message that reported the match's end; None if we missed it.
        """
        ours = None if message is None or message.left_by else message.result_of(self._name)
        for board, (record, now_s, at) in match.bidding.items():
            game = self._new_game(match, board, record, now_s, at)
            self._games.by_id[game.about.game_id] = game
            aborted = GameEnd(EndReason.ABORTED, None, "ended during the bids")
            self._games.end(game, aborted if ours is None else end_of(game, ours), match.change)

    def match_ended(self, message: MatchEnded) -> None:
        """Handle the end or adjournment of all games of one of our matches."""
        games = list(self._games.of(message.id))
        match = self._matches.ended(message.id)
        change = None if match is None else match.change
        self._requests.ended(message.id)
        if message.result is not None and message.stored_id:
            # Resigned, or we have missed the last move: the archive knows.
            unclear = [game for game in games if not game.is_done and not game.timed_out and game.is_played]
            games = [game for game in games if game not in unclear]
            if unclear:
                self._archive.look_up(message, unclear, change)
        self._games.end_match(games, message, change)
        if match is not None:
            self.bidding_ended(match, message)
        if match is not None and change is not None:
            # The two games change the rating once: record the change with one of them.
            first = next((game for _, game in sorted(match.ended.items()) if game is not None), None)
            if first is not None:
                self._out.tell(GameFinished(first.about.game_id, change))
