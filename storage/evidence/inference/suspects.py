"""Suspect games, flagged by simple, verifiable rules.

A flag excludes nothing: a second line of the report leaves flagged games out.  Exclusion by events in a game
would bias the trial, since traps change those events.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from storage.evidence.inference.persons import codes_of

EARLY_PLY = 10
FAST_S = 0.3
ENGINE_ERRORS = 4.0
"""Standard errors above the model from which a person is suspect."""
ENGINE_REPLIES = 100
"""Least number of judged replies of a person."""
COPIED_PLIES = 20
COPIED_WITHIN = timedelta(days=7)


class SuspectFlag(StrEnum):
    """Why a game is suspect."""

    LEFT_EARLY = "left early"
    """The person resigned or left before ply 10."""
    FAST_REPLIES = "fast replies"
    """Half of the replies or more took less than 0.3 s."""
    ENGINE_LIKE = "engine-like"
    """Over 100 replies or more the person found the optimal one more often than the people model expects, by
    4 standard errors or more; flags all games of the person."""
    COPIED = "copied"
    """The first 20 plies are those of another account's game that began earlier, by 7 days at most."""


PLAYED = np.dtype(
    [
        *((name, "<i8") for name in ("id", "person", "began_us", "opening")),
        ("optimal_expected", "<f8"),
        *((name, "<i4") for name in ("plies", "has_left", "timed", "fast", "judged", "optimal")),
    ]
)
"""A game as the flags see it: its key and that of the opponent's account; when it began, in microseconds
since 1970 (UTC); a number that games share whose first `COPIED_PLIES` moves from the same start are the same
(`NO_OPENING`: it is shorter); the people model's probabilities of an optimal reply, summed over the judged
replies; moves of both sides; whether the person resigned, left, or lost on time; replies of which is known
how long they took, and those among them that took less than `FAST_S`; replies that were judged and have a
prediction, and the optimal ones among them."""
NO_OPENING = np.iinfo(np.int64).min
_WITHIN_US = COPIED_WITHIN // timedelta(microseconds=1)


Flags = Mapping[int, tuple[SuspectFlag, ...]]
"""The flags of each flagged game, by its key; in the order of `SuspectFlag`."""


class SuspectGames(Flags):
    """`Flags` as arrays: there may be tens of thousands.

    Args:
        games: Keys, each once, shape (n,).
        flags: Of each a bit for every flag it has, the lowest for the first, and never 0; shape (n,).
    """

    def __init__(self, games: NDArray[np.int64], flags: NDArray[np.intp]) -> None:
        order = np.argsort(games)
        self._games, self._flags = games[order], flags[order]

    def where(self, is_wanted: Callable[[NDArray[np.int64]], NDArray[np.bool_]]) -> "SuspectGames":
        """The flags of the games with these keys."""
        wanted = is_wanted(self._games)
        return SuspectGames(self._games[wanted], self._flags[wanted])

    def have(self, games: NDArray[np.int64]) -> dict[SuspectFlag, NDArray[np.bool_]]:
        """For every flag whether each of some games has it, shape (games,)."""
        flags = np.zeros(len(games), np.intp)
        if len(self._games):
            at = np.minimum(np.searchsorted(self._games, games), len(self._games) - 1)
            flags = np.where(self._games[at] == games, self._flags[at], 0)
        return {flag: (flags >> bit & 1).astype(bool) for bit, flag in enumerate(_FLAGS)}

    @cached_property
    def _by_game(self) -> dict[int, tuple[SuspectFlag, ...]]:
        # There are few sets of flags.
        sets = [
            tuple(flag for bit, flag in enumerate(_FLAGS) if flags >> bit & 1)
            for flags in range(1 << len(_FLAGS))
        ]
        return dict(zip(self._games.tolist(), map(sets.__getitem__, self._flags.tolist()), strict=True))

    def __getitem__(self, game: int) -> tuple[SuspectFlag, ...]:
        return self._by_game[game]

    def __iter__(self) -> Iterator[int]:
        return iter(self._by_game)

    def __len__(self) -> int:
        return len(self._games)


_FLAGS = tuple(SuspectFlag)
NO_SUSPECTS = SuspectGames(np.zeros(0, np.int64), np.zeros(0, np.intp))


def suspects(games: NDArray[np.void]) -> SuspectGames:
    """The flags of each flagged game.

    Args:
        games: Rows with the columns of `PLAYED` and any others, each game once, in any order.
    """
    has = {
        SuspectFlag.LEFT_EARLY: (games["has_left"] == 1) & (games["plies"] < EARLY_PLY),
        SuspectFlag.FAST_REPLIES: (games["timed"] > 0) & (2 * games["fast"] >= games["timed"]),
        SuspectFlag.ENGINE_LIKE: _play_like_engines(games),
        SuspectFlag.COPIED: _are_copied(games),
    }
    flags = np.zeros(len(games), np.intp)
    for bit, flag in enumerate(_FLAGS):
        flags |= has[flag].astype(np.intp) << bit
    flagged = np.flatnonzero(flags)
    return SuspectGames(games["id"][flagged], flags[flagged])


def _play_like_engines(games: NDArray[np.void]) -> NDArray[np.bool_]:
    """Of each game, whether its person's optimal replies exceed the model's expectation by `ENGINE_ERRORS`
    standard errors.

    The standard error is by game, but at least what independent replies would have: two games whose surpluses
    happen to be equal prove nothing.
    """
    persons, judged = codes_of(games["person"]), games["judged"].astype(np.float64)
    expected = np.minimum(games["optimal_expected"], judged)  # a sum of chances may be a rounding above
    surplus, is_judged = games["optimal"] - expected, judged > 0
    replies, many, total = (np.bincount(persons, each) for each in (judged, is_judged, surplus))
    apart = (surplus - (total / np.maximum(many, 1))[persons]) ** 2
    by_game = many / np.maximum(many - 1, 1) * np.bincount(persons, apart * is_judged)
    by_reply = np.bincount(persons, expected * (1 - expected / np.maximum(judged, 1)))
    error = np.sqrt(np.maximum(by_game, by_reply))
    found = (replies >= ENGINE_REPLIES) & (many >= 2) & (total > 0) & (total >= ENGINE_ERRORS * error)
    of_games: NDArray[np.bool_] = found[persons]
    return of_games


def _are_copied(games: NDArray[np.void]) -> NDArray[np.bool_]:
    """Of each game, whether an earlier one of another account has its opening, within `COPIED_WITHIN`.

    The earlier game is not flagged: otherwise anybody could flag a stranger's game by repeating it.
    """
    found = np.zeros(len(games), bool)
    long_enough = np.flatnonzero(games["opening"] != NO_OPENING)
    _, openings, counts = np.unique(games["opening"][long_enough], return_inverse=True, return_counts=True)
    is_repeated = counts[openings] > 1
    repeated, openings = long_enough[is_repeated], openings[is_repeated]
    order = np.lexsort((games["began_us"][repeated], openings))
    repeated, openings = repeated[order], openings[order]
    for alike in np.split(repeated, np.flatnonzero(np.diff(openings)) + 1):
        starts, persons = games["began_us"][alike], games["person"][alike]
        first = np.searchsorted(starts, starts - _WITHIN_US)
        last = np.searchsorted(starts, starts)
        for number, game in enumerate(alike.tolist()):
            found[game] = (persons[first[number] : last[number]] != persons[number]).any()
    return found
