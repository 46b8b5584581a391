"""The games of an account on GGS: those that are live, adjourned or over."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from bot.base.events import EndReason, GameAdjourned, GameEnd, GameFinished, GameSnapshot, GameStarted
from bot.servers.ggs_actions import GgsAction, Say, Tell, TellGame
from bot.servers.ggs_game import GgsGame, match_of
from bot.servers.ggs_lifecycle import GgsGameEvent, GgsStatus
from bot.servers.ggs_wire import tell_service

REMEMBERED = 200
"""Finished games that `GgsAccount.find` still returns."""


class GgsGames:
    """The games, by our ids and by the server's."""

    def __init__(self) -> None:
        self.by_id: dict[str, GgsGame] = {}
        """By our id."""
        self.live: dict[str, GgsGame] = {}
        """By the server's id."""
        self._stamp, self._stamped = "", Counter[str]()
        """The second in which the last game began, and how many did on each board."""

    def remember(self, known: Sequence[GameSnapshot]) -> None:
        """Add the games that are open in the database; call it before the first connection."""
        for about in known:
            away = GgsGame(about, GgsStatus.AWAY, moves=about.state.moves, is_unheard=True)
            self.by_id.setdefault(about.game_id, away)

    @property
    def playing(self) -> list[str]:
        """Ids of the games that are live."""
        return [game.about.game_id for game in self.live.values() if game.is_played]

    def find(self, game_id: str) -> GgsGame | None:
        """A current or recent game; None: unknown."""
        return self.by_id.get(game_id)

    def first_event(self, game_id: str, now_s: float) -> GameSnapshot | GameAdjourned:
        """The first event of a game's stream; `find` must have found the game."""
        game = self.by_id[game_id]
        if game.status in (GgsStatus.AWAY, GgsStatus.DOUBTFUL):
            return GameAdjourned("the server has stored it")
        return replace(game.about, state=game.state(now_s))

    def new_id(self, board: str, at: datetime) -> str:
        """An id from the time and the board: the server reuses match ids."""
        stamp = f"{at:%Y%m%dT%H%M%S}"
        if stamp != self._stamp:
            self._stamp, self._stamped = stamp, Counter()
        self._stamped[board] += 1
        double = self._stamped[board]
        return f"{stamp}-{board}" if double == 1 else f"{stamp}-{board}-{double}"

    def forget_some(self) -> None:
        """Forget finished games but the latest."""
        over = [key for key, game in self.by_id.items() if game.status is GgsStatus.OVER]
        for key in over[:-REMEMBERED]:
            del self.by_id[key]

    def of(self, id_: str) -> Iterator[GgsGame]:
        """The live games of a match, or the live game on a board."""
        return (game for board, game in list(self.live.items()) if id_ in (board, match_of(board)))

    def end(self, game: GgsGame, end: GameEnd, rating_diff: int | None = None) -> list[GgsAction]:
        """End a game."""
        self.off(game)
        game.pass_to(GgsGameEvent.ENDED)
        game.end, game.is_stale = end, False
        game_id = game.about.game_id
        # The end of a game that was away reaches its player only after a new start.
        begun = [Tell(GameStarted(game_id, True))] if game.is_unheard else []
        return [*begun, TellGame(game_id, game.state(0.0)), Tell(GameFinished(game_id, rating_diff))]

    def off(self, game: GgsGame) -> None:
        """Remove a game from the live ones, unless its board's id belongs to another game by now."""
        if self.live.get(game.board) is game:
            del self.live[game.board]

    def vanish(self, game: GgsGame, reason: str) -> list[GgsAction]:
        """End a game that has no result, or whose result we cannot get."""
        if game.about.rated or game.is_done:
            return self.end(game, GameEnd(EndReason.UNKNOWN, None, reason))
        return self.end(game, GameEnd(EndReason.ABORTED, None, reason))

    def vanish_all(self, games: Sequence[GgsGame]) -> list[GgsAction]:
        """End games that the server no longer lists."""
        return [out for game in games for out in self.vanish(game, "the server no longer lists it")]

    def put_away(self, game: GgsGame, reason: str) -> list[GgsAction]:
        """The server has adjourned a game."""
        self.off(game)
        game.pass_to(GgsGameEvent.ADJOURNED)
        game.is_stale, game.is_unheard = False, True
        return [TellGame(game.about.game_id, GameAdjourned(reason))]

    def doubt(self, game: GgsGame) -> list[GgsAction]:
        """The server no longer lists a game: check whether it is stored."""
        self.off(game)
        game.pass_to(GgsGameEvent.UNLISTED)
        game.is_stale = True
        return [Say(tell_service("stored"))]

    def away_opponents(self) -> set[str]:
        """Names of the opponents of adjourned games."""
        return {game.about.opponent.name for game in self.by_id.values() if game.status is GgsStatus.AWAY}
