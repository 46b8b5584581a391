"""Learns what is known about a site's people from analysed games (`engine.person.site`), and measures it.

The state is learned from the games of one half of the persons; errors are counted on the other half.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.human.person_prior import PersonPrior, tilted_rows
from engine.person.site import SiteGame, SiteModel, SiteReply
from engine.person.site_state import SiteState
from lab.analysis.fitting import FitRefused
from lab.analysis.person_fitting import PersonReplies
from lab.analysis.population import MIN_ERROR_SCORE_LOSS
from lab.analysis.recorded_games import half_of_person

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PersonGame:
    """A game of a named person."""

    person: str
    game: SiteGame


@dataclass(frozen=True, slots=True)
class SiteErrors:
    """Errors of people from whom nothing was learned."""

    persons: int
    replies: int
    happened: int
    """Number of replies that cost 10 % of expected score or more."""
    expected_before: float
    """Number expected by the people model."""
    expected_after: float
    """Number expected with what is known about the site."""


@dataclass(frozen=True, slots=True)
class FittedSite:
    """What one half of the persons tells about the site, and how well it fits the other half."""

    state: SiteState
    errors: SiteErrors


def site_games(data: PersonReplies, games: list[str]) -> list[PersonGame]:
    """The games of a population's persons, in the order of the positions.

    Args:
        data: The replies.
        games: The key of each position's game.
    """
    given = data.replies
    ends = np.append(given.starts[1:], len(given.costs))
    found: dict[tuple[int, str], list[int]] = {}
    for at, (person, game) in enumerate(zip(data.persons.tolist(), games, strict=True)):
        found.setdefault((person, game), []).append(at)
    numbers: Counter[int] = Counter()
    made = []
    for (person, _), positions in found.items():
        numbers[person] += 1
        replies = []
        for at in positions:
            rows = slice(given.starts[at], ends[at])
            index = int(given.played[at] - given.starts[at])
            replies.append(
                SiteReply(tuple(given.probabilities[rows].tolist()), tuple(given.costs[rows].tolist()), index)
            )
        first = positions[0]
        played = SiteGame(tuple(replies), data.ratings[first], data.seconds[first], numbers[person])
        made.append(PersonGame(data.names[person], played))
    return made


def fit_site(prior: PersonPrior, base: str, games: list[PersonGame], seed: int) -> FittedSite:
    """Learn from one half of the persons, and count the errors of the other half.

    Args:
        prior: The people model.
        base: The base model (`engine.human.person_prior.base_key`).
        games: The games.
        seed: Random seed for the halves.

    Raises:
        FitRefused: The people model has no prior for the base model, or one half has no persons.
    """
    if base not in prior.bases:
        raise FitRefused(f"the people model has no prior for the base model {base[:12]}")
    model = SiteModel(prior, base)
    halves: tuple[list[PersonGame], list[PersonGame]] = ([], [])
    for each in games:
        halves[half_of_person(each.person, seed)].append(each)
    if not all(halves):
        raise FitRefused("one half of the persons is empty")
    state = model.new_state()
    for each in halves[0]:
        state = model.fold(state, each.game)
    return FittedSite(state, _errors(prior, base, model, state, halves[1]))


def _errors(
    prior: PersonPrior, base: str, model: SiteModel, state: SiteState, games: list[PersonGame]
) -> SiteErrors:
    expected = np.zeros(2)
    replies = happened = 0
    known = prior.bases[base]
    for game in (each.game for each in games):
        weights = np.stack(
            [
                prior.prior_weights(base, game.rating, game.seconds),
                model.prior_weights(state, game.rating, game.seconds),
            ],
            axis=1,
        )
        for reply in game.replies:
            costs = np.array(reply.costs)
            is_error = costs >= MIN_ERROR_SCORE_LOSS
            at_points = tilted_rows(
                known.grid.points,
                np.array(reply.base),
                costs,
                np.zeros(1, np.int64),
                known.least,
                prior.uniform,
            )
            expected += (at_points[is_error] @ weights).sum(axis=0)
            happened += int(is_error[reply.index])
            replies += 1
    before, after = expected.tolist()
    return SiteErrors(len({each.person for each in games}), replies, happened, before, after)
