"""The live, adjourned and finished games of a GGS account."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from bot.base.events import EndReason, GameAdjourned, GameEnd, GameFinished, GameSnapshot, GameStarted
from bot.servers.ggs.actions import Outbox
from bot.servers.ggs.game import RULES, GgsGame, colourless, end_of, match_of, start_of, type_of
from bot.servers.ggs.lifecycle import GgsGameEvent, GgsStatus
from bot.servers.ggs.wire import AdjournedMatch, Flag, MatchEnded, Request
from engine.game import BadPosition, IllegalMove, replay

MAX_REMEMBERED_GAMES = 200
"""Number of finished games kept in `GgsGames.by_id`."""


class GgsGames:
    """The games, indexed by our ids and by the server's ids.

    Args:
        name: Name of our account.
        out: Receives our commands and events.
    """

    def __init__(self, name: str, out: Outbox) -> None:
        self._name = name
        self._out = out
        self.by_id: dict[str, GgsGame] = {}
        """Games by our id."""
        self.live: dict[str, GgsGame] = {}
        """Live games by the server's id."""
        self._stamp, self._stamped = "", Counter[str]()
        """Second in which the latest game began, and how many games began in that second on each board."""

    def remember(self, known: Sequence[GameSnapshot]) -> None:
        """Add the games that are still open in the database; call this before the first connection."""
        for about in known:
            away = GgsGame(about, GgsStatus.AWAY, moves=about.state.moves, is_unheard=True)
            with suppress(BadPosition, IllegalMove):  # of a game that is not played here
                away.position = replay(RULES, away.moves, start_of(about))
            self.by_id.setdefault(about.game_id, away)

    # --- Finding games ----------------------------------------------------------------------------------

    @property
    def playing(self) -> list[str]:
        """Ids of the live games that this program can play."""
        return [game.about.game_id for game in self.live.values() if game.is_played]

    def of(self, id_: str) -> Iterator[GgsGame]:
        """The live games of a match, or the live game on a board."""
        return (game for board, game in list(self.live.items()) if id_ in (board, match_of(board)))

    def with_status(self, *statuses: GgsStatus) -> list[GgsGame]:
        """The games with any of these statuses."""
        return [game for game in self.by_id.values() if game.status in statuses]

    def matches_stored(self, game: GgsGame, stored: AdjournedMatch) -> bool:
        """Whether a match stored on the server could be this game; only of a pair, one may be over."""
        type_ = type_of(stored.type_text)
        return (
            game.about.rated
            and (not game.is_done or type_ is None or type_.boards > 1)
            and {*stored.names} == {self._name, game.about.opponent.name}
            and colourless(stored.type_text) == colourless(game.about.variant)
        )

    def stored_game(self, line: Request, *statuses: GgsStatus) -> GgsGame | None:
        """The game that a request would resume, if the game has one of these statuses; otherwise None."""
        stored = AdjournedMatch(line.stored_id, (line.asker, self._name), line.type_text)
        return next((game for game in self.with_status(*statuses) if self.matches_stored(game, stored)), None)

    def first_event(self, game_id: str, now_s: float) -> GameSnapshot | GameAdjourned:
        """The first event of a game's stream; the game must be in `by_id`."""
        game = self.by_id[game_id]
        if game.status in (GgsStatus.AWAY, GgsStatus.DOUBTFUL):
            return GameAdjourned("the server has stored it")
        return replace(game.about, state=game.state(now_s))

    def new_id(self, board: str, at: datetime) -> str:
        """Make an id from the time and the board, because the server reuses match ids."""
        stamp = f"{at:%Y%m%dT%H%M%S}"
        if stamp != self._stamp:
            self._stamp, self._stamped = stamp, Counter()
        self._stamped[board] += 1
        double = self._stamped[board]
        return f"{stamp}-{board}" if double == 1 else f"{stamp}-{board}-{double}"

    def forget_some(self) -> None:
        """Forget all finished games except the latest ones."""
        for game in self.with_status(GgsStatus.OVER)[:-MAX_REMEMBERED_GAMES]:
            del self.by_id[game.about.game_id]

    # --- What happens to a game -------------------------------------------------------------------------

    def reread(self, game: GgsGame) -> None:
        """Request the current state of a live game."""
        game.is_stale = True
        self._out.ask("moves", game.match)

    def remove_live(self, game: GgsGame) -> None:
        """Remove a game from `live`, unless another game now uses its board id."""
        if self.live.get(game.board) is game:
            del self.live[game.board]

    def end(self, game: GgsGame, end: GameEnd, rating_diff: int | None = None) -> None:
        """End a game."""
        self.remove_live(game)
        game.pass_to(GgsGameEvent.ENDED)
        game.end, game.is_stale = end, False
        game_id = game.about.game_id
        if game.is_unheard:  # the end of a game that was away reaches its player only after a new start
            self._out.tell(GameStarted(game_id, True))
        self._out.tell_game(game_id, game.state(0.0))
        self._out.tell(GameFinished(game_id, rating_diff))

    def end_match(
        self, games: Sequence[GgsGame], message: MatchEnded, rating_diff: int | None = None
    ) -> None:
        """End or adjourn the running games of a finished match."""
        for game in games:
            ours = message.result_of(self._name) if game.board == game.match else game.result
            if message.left_by and (message.stored_id or message.flag is not Flag.UNRATED):
                game.about = replace(game.about, rated=True)
                self.record_adjournment(game, f"{message.left_by} has left")
                self._out.ask("stored")
            elif message.left_by or message.result is None:
                word = f"{message.left_by} left" if message.left_by else "aborted"
                self.end(game, GameEnd(EndReason.ABORTED, None, word))
            elif ours is not None:
                self.end(game, end_of(game, ours), rating_diff)
            else:  # we missed the board's own end; the match's result is the mean of both games
                self.end(game, GameEnd(EndReason.UNKNOWN, None, "ended"))

    def end_without_result(self, game: GgsGame, reason: str = "the server no longer lists it") -> None:
        """End a game that has no result, or whose result we cannot obtain."""
        may_be = game.about.rated or game.is_done
        self.end(game, GameEnd(EndReason.UNKNOWN if may_be else EndReason.ABORTED, None, reason))

    def record_adjournment(self, game: GgsGame, reason: str) -> None:
        """Record that the server has adjourned a game."""
        self.remove_live(game)
        game.pass_to(GgsGameEvent.ADJOURNED)
        game.is_stale, game.is_unheard = False, True
        self._out.tell_game(game.about.game_id, GameAdjourned(reason))

    def mark_unlisted(self, game: GgsGame) -> None:
        """Record that a game is no longer listed, so the server must have stored or archived it."""
        self.remove_live(game)
        game.pass_to(GgsGameEvent.UNLISTED)
        game.is_stale = True
