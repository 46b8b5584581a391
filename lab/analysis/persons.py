"""Data about the person who replied: identity, speed, and bands of rating and experience."""

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.formats.clock import BadClock, GgfClock
from engine.human.person_prior import estimated_side_time_s
from lab.analysis.analysed_games import StoredPosition

RATING_STEPS = (1300, 1700, 2100)
GAMES_STEPS = (1, 31, 201)
_INCREMENT = re.compile(r"(\d{1,6})(?:\+(\d{1,5}))?")


def is_person(name: str) -> bool:
    """Whether a name is a person's; in WTHOR a name with an author in parentheses is a program's."""
    return bool(name) and not set(name) & set("?(")


def person_key(stored: StoredPosition) -> str:
    """The key of the person who replied, for clustering by person: the name, or the game's key if the name is
    unknown."""
    return stored.name if stored.name.strip("? ") else f"game {stored.game_key}"


def seconds_of(time_control: str) -> float | None:
    """The `engine.human.person_prior.estimated_side_time_s` of a time control written as in PGN or GGF files;
    None if unknown.
    """
    if match := _INCREMENT.fullmatch(time_control):
        return estimated_side_time_s(float(match[1]), float(match[2] or 0))
    if ":" not in time_control:
        return None
    try:
        clock = GgfClock.parse(time_control)
    except BadClock:
        return None
    return estimated_side_time_s(clock.initial_s, clock.increment_s)


def rating_bands(ratings: Sequence[float | None]) -> dict[str, NDArray[np.bool_]]:
    """A Boolean mask for each rating band, keyed by its name; the last band contains unrated people."""
    known = _numbers(ratings)
    found = _bands("rated", known, (-np.inf, *RATING_STEPS, np.inf))
    return found | {"without a rating": np.isnan(known)}


def games_bands(games: Sequence[float | None]) -> dict[str, NDArray[np.bool_]]:
    """A Boolean mask for each band of earlier-game counts, keyed by name; unknown counts are in no band."""
    return _bands("games before:", _numbers(games), (0, *GAMES_STEPS, np.inf))


def _numbers(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if each is None else each for each in values], np.float64)


def _bands(what: str, values: NDArray[np.float64], edges: Sequence[float]) -> dict[str, NDArray[np.bool_]]:
    return {_range_text(what, low, high): (values >= low) & (values < high) for low, high in pairwise(edges)}


def _range_text(what: str, low: float, high: float) -> str:
    if low == -np.inf:
        return f"{what} under {high:.0f}"
    if high == np.inf:
        return f"{what} from {low:.0f}"
    return f"{what} {low:.0f}" if high - low == 1 else f"{what} {low:.0f}-{high - 1:.0f}"
