"""Suspect games: flags by plain rules that anybody can check.

A flag excludes nothing: a second line of the report leaves flagged games out.  Excluding by what happened in
a game would bias the trial, since a trap changes what happens.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from math import sqrt

from storage.inference.persons import PersonId

EARLY_PLY = 10
FAST_S = 0.3
ENGINE_ERRORS = 4.0
"""So many standard errors above the model."""
ENGINE_REPLIES = 100
"""From so many judged replies of a person on."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedGame:
    """A game as the flags see it."""

    game_id: int | str
    person: PersonId
    account: str
    """The opponent's account, with its site."""
    started_at: datetime
    """With a time zone."""
    game: str
    """What was played, with its first position where games may begin from others."""
    moves: tuple[str, ...]
    """The first `COPIED_PLIES` moves of both sides, or all of a shorter game."""
    plies: int
    person_left: bool
    """The person resigned, left, or lost on time."""
    timed_replies: int
    """Replies of which is known how long they took."""
    fast_replies: int
    """Those among them that took less than `FAST_S`."""
    judged: int
    """Replies that were judged and have a prediction."""
    optimal: int
    """Optimal ones among them."""
    expected_optimal: float
    """Sum of the people model's probabilities of an optimal reply over the judged ones."""

    def __post_init__(self) -> None:
        what = f"game {self.game_id}"
        if self.started_at.tzinfo is None:
            raise ValueError(f"{what}: started_at has no time zone")
        if not 0 <= self.fast_replies <= self.timed_replies:
            raise ValueError(f"{what}: {self.fast_replies} fast replies of {self.timed_replies}")
        if not 0 <= self.optimal <= self.judged:
            raise ValueError(f"{what}: {self.optimal} optimal replies of {self.judged}")
        if not 0 <= self.expected_optimal <= self.judged:
            raise ValueError(f"{what}: {self.expected_optimal} optimal replies expected of {self.judged}")


def suspects(games: Iterable[PlayedGame]) -> dict[int | str, tuple[SuspectFlag, ...]]:
    """The flags of each game that has any, in the order of `SuspectFlag`.

    Raises:
        ValueError: A game occurs twice.
    """
    played = list(games)
    found: dict[int | str, set[SuspectFlag]] = {game.game_id: set() for game in played}
    if len(found) < len(played):
        raise ValueError(f"{len(played) - len(found)} games occur twice")
    for game in played:
        if _left_early(game):
            found[game.game_id].add(SuspectFlag.LEFT_EARLY)
        if _replied_fast(game):
            found[game.game_id].add(SuspectFlag.FAST_REPLIES)
    by_person: dict[PersonId, list[PlayedGame]] = defaultdict(list)
    by_opening: dict[tuple[str, tuple[str, ...]], list[PlayedGame]] = defaultdict(list)
    for game in played:
        by_person[game.person].append(game)
        if len(game.moves) >= COPIED_PLIES:
            by_opening[game.game, game.moves[:COPIED_PLIES]].append(game)
    for theirs in by_person.values():
        if _plays_like_an_engine(theirs):
            for game in theirs:
                found[game.game_id].add(SuspectFlag.ENGINE_LIKE)
    for alike in by_opening.values():
        for game in _copied(alike):
            found[game.game_id].add(SuspectFlag.COPIED)
    return {
        game_id: tuple(flag for flag in SuspectFlag if flag in flags)
        for game_id, flags in found.items()
        if flags
    }


def _left_early(game: PlayedGame) -> bool:
    return game.person_left and game.plies < EARLY_PLY


def _replied_fast(game: PlayedGame) -> bool:
    return game.timed_replies > 0 and 2 * game.fast_replies >= game.timed_replies


def _plays_like_an_engine(games: Sequence[PlayedGame]) -> bool:
    """Whether a person's optimal replies exceed the model's expectation by `ENGINE_ERRORS` standard errors.

    The standard error is by game, but at least what independent replies would have: two games whose surpluses
    happen to be equal prove nothing.
    """
    judged = [game for game in games if game.judged]
    if sum(game.judged for game in judged) < ENGINE_REPLIES or len(judged) < 2:
        return False
    surplus = [game.optimal - game.expected_optimal for game in judged]
    mean = sum(surplus) / len(surplus)
    by_game = len(surplus) / (len(surplus) - 1) * sum((each - mean) ** 2 for each in surplus)
    by_reply = sum(game.expected_optimal * (1 - game.expected_optimal / game.judged) for game in judged)
    error = sqrt(max(by_game, by_reply))
    return sum(surplus) > 0 and sum(surplus) >= ENGINE_ERRORS * error


def _copied(alike: Sequence[PlayedGame]) -> list[PlayedGame]:
    """Games of one opening that have an earlier one of another account within `COPIED_WITHIN`.

    Not the earlier game: otherwise anybody could have a stranger's game flagged by repeating it.
    """
    ordered = sorted(alike, key=lambda game: game.started_at)
    starts = [game.started_at for game in ordered]
    found = []
    for game in ordered:
        first = bisect_left(starts, game.started_at - COPIED_WITHIN)
        earlier = ordered[first : bisect_left(starts, game.started_at)]
        if any(other.account != game.account for other in earlier):
            found.append(game)
    return found
