"""Looks up, in the GGS server's archive, the results of games that ended while we were away. No I/O.

A game is *searched* for among the account's latest matches (``on_history_reply``) until the archive's match
id is known; then that match is *looked up* (``look``).
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from bot.base.events import GameEnd
from bot.servers.ggs.actions import Outbox
from bot.servers.ggs.game import RULES, GgsGame, colourless, end_of, is_same_game, start_of
from bot.servers.ggs.ggs_games import GgsGames
from bot.servers.ggs.wire import MatchEnded
from engine.formats.ggf import BadGgf, GgfGame, parse_line, stated_result
from engine.game import IllegalMove, replay

logger = logging.getLogger(__name__)

MIN_IDENTIFYING_PLIES = 4
"""Number of moves from the standard start that identify a game among others by the same players."""
MAX_QUERIES = 8
"""Maximum number of matches with the right players and type to look up, newest first."""


@dataclass(slots=True, eq=False)
class _ArchiveQuery:
    """A pending look-up of one match, with the games whose last moves and results it must provide."""

    games: list[GgsGame]
    message: MatchEnded | None = None
    """The message that reported the end of the match; None if we missed that message."""
    change: int | None = None
    """Change in our rating, in rating points."""
    since_s: float | None = None
    """When `Archive.end_overdue` first saw the look-up; None before that."""


class Archive:
    """Our pending searches and look-ups.

    Args:
        name: Name of our account.
        games: The account's games.
        out: Sends commands to the server.
    """

    def __init__(self, name: str, games: GgsGames, out: Outbox) -> None:
        self._name = name
        self._games = games
        self._out = out
        self._searched: list[GgsGame] = []
        self._queries: dict[str, _ArchiveQuery] = {}
        """Look-ups, keyed by the archive's match id."""

    def is_asked_about(self, game: GgsGame) -> bool:
        """Whether the game's match is being looked up."""
        return any(each is game for query in self._queries.values() for each in query.games)

    def is_searched(self, game: GgsGame) -> bool:
        return any(each is game for each in self._searched)

    @property
    def is_searching(self) -> bool:
        return bool(self._searched)

    # --- Our questions ----------------------------------------------------------------------------------

    def look_up(self, message: MatchEnded, games: list[GgsGame], change: int | None) -> None:
        """Look up how the games of a match ended.

        Args:
            message: The message that reported the end of the match.
            games: The games of the match whose results are unknown.
            change: Change in our rating, in rating points.
        """
        for game in games:
            self._games.mark_unlisted(game)
        self._query(message.stored_id, _ArchiveQuery(games, message, change))

    def search(self, game: GgsGame) -> None:
        """Search the latest matches for a game whose end we missed."""
        self._games.mark_unlisted(game)
        self._searched.append(game)
        self._out.ask("history")

    def forget(self, game: GgsGame) -> None:
        """Stop looking up a game whose state is now known."""
        self._searched = [each for each in self._searched if each is not game]
        for query in self._queries.values():
            query.games = [each for each in query.games if each is not game]

    def _query(self, key: str, query: _ArchiveQuery) -> None:
        self._queries[key] = query
        self._out.ask("look", key)

    # --- The archive's answers --------------------------------------------------------------------------

    def on_history_reply(self, lines: Sequence[str]) -> None:
        """Look up the latest matches that may contain the sought games; end the others without a result."""
        keys: dict[tuple[frozenset[str], object], list[str]] = {}
        for words in (line.split() for line in reversed(lines[1:])):  # the server lists the latest last
            if len(words) >= 11 and words[0].startswith("."):
                keys.setdefault((frozenset((words[6], words[8])), colourless(words[10])), []).append(words[0])
        missing = list[GgsGame]()
        searched, self._searched = self._searched, []
        for game in searched:
            names = frozenset((self._name, game.about.opponent.name))
            matches = keys.get((names, colourless(game.about.variant)), [])[:MAX_QUERIES]
            if not matches or not _is_identifiable(game):
                missing.append(game)
                continue
            for key in matches:
                if key in self._queries:
                    self._queries[key].games.append(game)
                else:
                    self._query(key, _ArchiveQuery([game]))
        for game in missing:
            self._games.end_without_result(game)

    def on_look_reply(self, lines: Sequence[str]) -> None:
        """Complete and end games using the archived records of a match."""
        ends: list[tuple[GgsGame, GameEnd, int | None]] = []
        try:
            records = parse_line(" ".join(lines[1:]))
            for query in list(self._queries.values()):
                for game in list(query.games):
                    matching = (record for record in records if self._is_record_of(game, record))
                    record = next(matching, None)
                    stated = None if record is None else stated_result(record)
                    if record is None or stated is None:
                        continue
                    moves = tuple(move.move for move in record.moves)
                    game.position = replay(RULES, moves, start_of(game.about))  # first, because it may raise
                    self.forget(game)
                    game.moves, game.komi = moves, record.komi or 0.0
                    game.times_s = tuple(move.time_s or 0.0 for move in record.moves)
                    ours = stated.discs if game.about.our_side == 0 else -stated.discs
                    game.timed_out = game.timed_out or ("t" if stated.how == "t" else "")
                    ends.append((game, end_of(game, ours), query.change))
            self._queries = {key: query for key, query in self._queries.items() if query.games}
        except (BadGgf, IllegalMove) as error:
            logger.warning("impossible record in the archive: %s", error)
        for ended in ends:
            self._games.end(*ended)

    def _is_record_of(self, game: GgsGame, record: GgfGame) -> bool:
        is_ours = self._name in (record.black, record.white)
        moves = tuple(move.move for move in record.moves)
        side = 0 if record.black == self._name else 1
        return is_ours and is_same_game(game, record, side) and moves[: len(game.moves)] == game.moves

    # --- Giving up --------------------------------------------------------------------------------------

    def end_overdue(self, now_s: float, timeout_s: float) -> None:
        """Give up look-ups that are still pending `timeout_s` seconds after the first call that saw them."""
        late = []
        for key, query in list(self._queries.items()):
            if query.since_s is None:
                query.since_s = now_s
            elif now_s - query.since_s >= timeout_s:
                late.append(self._queries.pop(key))
        self._end(late)

    def give_up(self, *, is_lost: bool) -> None:
        """Give up all look-ups, and end their games with the information available.

        Args:
            is_lost: Whether the connection is lost; if so, games with an unknown end are looked up on the
                next connection.
        """
        queries, searched = list(self._queries.values()), self._searched
        self._queries.clear()
        self._searched = []
        self._end(queries, is_lost=is_lost)
        for game in searched if not is_lost else ():
            self._games.end_without_result(game)

    def _end(self, given_up: list[_ArchiveQuery], *, is_lost: bool = False) -> None:
        left = [game for query in self._queries.values() for game in query.games]
        for query in given_up:
            # A game that is in another look-up, too, is given up with that.
            query.games = [game for game in query.games if not any(game is each for each in left)]
            left += query.games
        for query in given_up:
            if query.message is not None:
                self._games.end_match(query.games, query.message, query.change)
                continue
            for game in query.games if not is_lost else ():
                self._games.end_without_result(game)


def _is_identifiable(game: GgsGame) -> bool:
    """Whether the game's start and moves suffice to identify its record; a random start alone suffices."""
    return len(game.moves) >= MIN_IDENTIFYING_PLIES or game.about.initial_position is not None
