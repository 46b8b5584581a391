"""Finds the result of GGS games that ended while we were away, in the server's archive.  No I/O.

A game is *searched* among the account's latest matches (``history``) as long as the archive's id is unknown;
then its match is *looked* up (``look``).
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from bot.base.events import GameEnd
from bot.servers import ggs_wire as wire
from bot.servers.ggs_game import RULES, GgsGame, colourless, end_of, is_same, start_of
from bot.servers.ggs_wire import tell_service
from engine.formats.ggf import BadGgf, GgfGame, parse_line, stated_result
from engine.game import IllegalMove, replay

logger = logging.getLogger(__name__)

TELLING_PLIES = 4
"""So many moves tell a game from others of the same opponents."""


@dataclass(slots=True, eq=False)
class Look:
    """Games of one match, whose last moves and results the archive knows."""

    games: list[GgsGame]
    message: wire.MatchEnded | None = None
    """Their match's end; None: it was lost."""
    change: int | None = None
    """Of our rating."""
    since_s: float | None = None
    """When it was first seen to wait; None: not yet."""


class Archive:
    """What we would like to know, and do not yet.

    Args:
        name: Of our account.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._searched: list[GgsGame] = []
        self._looks: dict[str, Look] = {}
        """By the archive's ids."""

    def is_asked_about(self, game: GgsGame) -> bool:
        """Its match is looked up."""
        return any(each is game for look in self._looks.values() for each in look.games)

    def is_searched(self, game: GgsGame) -> bool:
        return any(each is game for each in self._searched)

    @property
    def is_searching(self) -> bool:
        return bool(self._searched)

    # --- What we do: commands ---------------------------------------------------------------------------

    def look(self, key: str, look: Look) -> str:
        """Ask how games have gone."""
        self._looks[key] = look
        return tell_service("look", key)

    def search(self, game: GgsGame) -> str:
        """Ask which matches have ended lately."""
        self._searched.append(game)
        return tell_service("history")

    def forget(self, game: GgsGame) -> None:
        """It is known where it stands."""
        self._searched = [each for each in self._searched if each is not game]
        for look in self._looks.values():
            look.games = [each for each in look.games if each is not game]

    # --- What we are told -------------------------------------------------------------------------------

    def history(self, lines: Sequence[str]) -> tuple[list[str], list[GgsGame]]:
        """The latest matches of ours: the ends that we have missed are among them.

        Returns:
            Commands, and the searched games that are not there.
        """
        keys: dict[tuple[frozenset[str], object], str] = {}
        for words in (line.split() for line in lines[1:]):
            if len(words) >= 11 and words[0].startswith("."):
                keys[frozenset((words[6], words[8])), colourless(words[10])] = words[0]
        commands, missing = list[str](), list[GgsGame]()
        searched, self._searched = self._searched, []
        for game in searched:
            names = frozenset((self._name, game.about.opponent.name))
            key = keys.get((names, colourless(game.about.variant)))
            if key is None or len(game.moves) < TELLING_PLIES:
                missing.append(game)
            elif key in self._looks:
                self._looks[key].games.append(game)
            else:
                commands.append(self.look(key, Look([game])))
        return commands, missing

    def looked(self, lines: Sequence[str]) -> list[tuple[GgsGame, GameEnd, int | None]]:
        """The records of a match.

        Returns:
            Games that have ended, with all their moves by now, how, and how our rating has changed.
        """
        ends: list[tuple[GgsGame, GameEnd, int | None]] = []
        try:
            records = parse_line(" ".join(lines[1:]))
            for key, look in list(self._looks.items()):
                for game in list(look.games):
                    found = (told for told in records if self._is_record_of(game, told))
                    told = next(found, None)
                    stated = None if told is None else stated_result(told)
                    if told is None or stated is None:
                        continue
                    moves = tuple(move.move for move in told.moves)
                    game.position = replay(RULES, moves, start_of(game.about))  # may raise: so first
                    look.games.remove(game)
                    game.moves = moves
                    game.times_s = tuple(move.time_s or 0.0 for move in told.moves)
                    ours = stated.discs if game.about.our_side == 0 else -stated.discs
                    game.timed_out = game.timed_out or ("t" if stated.how == "t" else "")
                    ends.append((game, end_of(game, ours), look.change))
                if not look.games:
                    del self._looks[key]
        except (BadGgf, IllegalMove) as error:
            logger.warning("the archive has what cannot be: %s", error)
        return ends

    def _is_record_of(self, game: GgsGame, told: GgfGame) -> bool:
        is_ours = self._name in (told.black, told.white)
        moves = tuple(move.move for move in told.moves)
        side = 0 if told.black == self._name else 1
        return is_ours and is_same(game, told, side) and moves[: len(game.moves)] == game.moves

    # --- What is given up -------------------------------------------------------------------------------

    def overdue(self, now_s: float, patience_s: float) -> list[Look]:
        """Those that have waited for too long since they were first seen here: they are given up."""
        late = []
        for key, look in list(self._looks.items()):
            if look.since_s is None:
                look.since_s = now_s
            elif now_s - look.since_s >= patience_s:
                late.append(self._looks.pop(key))
        return late

    def give_up(self) -> tuple[list[Look], list[GgsGame]]:
        """Everything: what was looked up, and what was searched."""
        looks, searched = list(self._looks.values()), self._searched
        self._looks.clear()
        self._searched = []
        return looks, searched
