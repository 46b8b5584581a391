"""Flags suspect games by simple, verifiable rules.

A flag does not exclude a game: the report has a second line without the flagged games. Exclusion by events
in a game would bias the trial, because traps change those events.
"""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from storage.evidence.inference.persons import codes_of

EARLY_PLY = 10
MAX_FAST_REPLY_S = 0.3
ENGINE_ERRORS = 4.0
"""A person is suspect if their optimal replies outnumber the prediction by this many standard errors."""
ENGINE_REPLIES = 100
"""A person is compared with the prediction only after this many judged replies."""
MIN_COPIED_PLIES = 20
MAX_COPY_AGE = timedelta(days=7)


class SuspectFlag(StrEnum):
    """Why a game is suspect."""

    LEFT_EARLY = "left early"
    """The person resigned or left before ply 10."""
    FAST_REPLIES = "fast replies"
    """At least half of the replies took less than 0.3 s."""
    ENGINE_LIKE = "engine-like"
    """Over at least 100 replies, the person found the optimal one more often than the people model expects,
    by at least 4 standard errors; flags all the person's games."""
    COPIED = "copied"
    """The first 20 plies equal those of another account's game that began at most 7 days earlier."""


PLAYED_GAME = np.dtype(
    [
        *((name, "<i8") for name in ("id", "person", "began_us", "opening")),
        ("optimal_expected", "<f8"),
        *((name, "<i4") for name in ("plies", "has_left", "timed", "fast", "classified", "optimal")),
    ]
)
"""The fields of a game that the flags need, in order: the keys of the game and of the opponent's account; the
start time in microseconds since 1970 (UTC); a number shared by games with the same start and the same first
`MIN_COPIED_PLIES` moves (`NO_OPENING` if the game is shorter); the sum, over the judged replies, of the
people model's probability of an optimal reply; the number of moves of both sides; whether the person
resigned, left, or lost on time; the number of timed replies, and of those that took less than
`MAX_FAST_REPLY_S`; the number of judged replies with a prediction, and of optimal replies among them."""
NO_OPENING = np.iinfo(np.int64).min
_WITHIN_US = MAX_COPY_AGE // timedelta(microseconds=1)


Flags = Mapping[int, tuple[SuspectFlag, ...]]
"""The flags of each flagged game, indexed by the game's key, in the order of `SuspectFlag`."""


def flagged(flags: Flags, games: NDArray[np.int64]) -> dict[SuspectFlag, NDArray[np.bool_]]:
    """For each flag, a mask of the games that have it, shape (games,)."""
    return {
        flag: np.isin(games, np.array([key for key, its in flags.items() if flag in its], np.int64))
        for flag in SuspectFlag
    }


def suspects(games: NDArray[np.void]) -> Flags:
    """The flags of each flagged game.

    Args:
        games: Rows with at least the columns of `PLAYED_GAME`, each game once, in any order.
    """
    has = {
        SuspectFlag.LEFT_EARLY: (games["has_left"] == 1) & (games["plies"] < EARLY_PLY),
        SuspectFlag.FAST_REPLIES: (games["timed"] > 0) & (2 * games["fast"] >= games["timed"]),
        SuspectFlag.ENGINE_LIKE: _play_like_engines(games),
        SuspectFlag.COPIED: _are_copied(games),
    }
    flags: dict[int, tuple[SuspectFlag, ...]] = {}
    for flag, which in has.items():
        for key in games["id"][which].tolist():
            flags[key] = (*flags.get(key, ()), flag)
    return flags


def _play_like_engines(games: NDArray[np.void]) -> NDArray[np.bool_]:
    """For each game, whether its person found optimal replies more often than the model expects, by at least
    `ENGINE_ERRORS` standard errors.

    The standard error is clustered by game, but is at least that of independent replies: otherwise it
    would be 0 for two games that happen to have equal surpluses.
    """
    persons, judged = codes_of(games["person"]), games["classified"].astype(np.float64)
    expected = np.minimum(games["optimal_expected"], judged)  # rounding may make the sum slightly larger
    surplus, is_judged = games["optimal"] - expected, judged > 0
    replies, many, total = (np.bincount(persons, each) for each in (judged, is_judged, surplus))
    apart = (surplus - (total / np.maximum(many, 1))[persons]) ** 2
    by_game = many / np.maximum(many - 1, 1) * np.bincount(persons, apart * is_judged)
    by_reply = np.bincount(persons, expected * (1 - expected / np.maximum(judged, 1)))
    error = np.sqrt(np.maximum(by_game, by_reply))
    are_alike = (replies >= ENGINE_REPLIES) & (many >= 2) & (total > 0) & (total >= ENGINE_ERRORS * error)
    of_games: NDArray[np.bool_] = are_alike[persons]
    return of_games


def _are_copied(games: NDArray[np.void]) -> NDArray[np.bool_]:
    """Whether a game that another account began at most `MAX_COPY_AGE` earlier has the same opening.

    The earlier game is not flagged: otherwise anyone could get a stranger's game flagged by repeating it.
    """
    are_copied = np.zeros(len(games), bool)
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
            are_copied[game] = (persons[first[number] : last[number]] != persons[number]).any()
    return are_copied
