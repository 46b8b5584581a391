"""Fits the prior of the people model to a database's analyses and evaluates it on other persons.

Persons are split at random into halves: the prior is learned from one half and evaluated on the other
(log-loss, and expected errors divided by actual errors), with intervals from resampling persons. A prior
without a significant gain is rejected.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.human.person_prior import (
    BULLET,
    BULLET_BELOW_S,
    CONSTANT,
    NEW,
    RAPID,
    RAPID_FROM_S,
    RATING,
    BasePrior,
    Gaussian,
    PriorGrid,
    RatingScale,
    costs_of,
    features_of,
)
from lab.analysis.analysed_games import StoredPosition
from lab.analysis.elo import EloStanding
from lab.analysis.fitting import FitRefused
from lab.analysis.measures import Estimate, Resamples
from lab.analysis.persons import games_bands, is_person, rating_bands, seconds_of
from lab.analysis.population import MIN_ERROR_SCORE_LOSS, Population
from lab.analysis.recorded_games import half_of_person
from lab.training.person_prior import (
    LEAST_SPREAD_K,
    STEPS,
    JudgedReplies,
    fit_gaussian,
    log_likelihoods,
    predicted,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNIFORM, FORGETTING = 0.003, 0.05
"""See `engine.human.person_prior.PersonPrior`."""
TILTS = PriorGrid(
    tuple(round(-1.0 + 0.2 * at, 1) for at in range(11)), tuple(float(k) for k in range(-8, 17, 2))
)
TRUTH_ALONE = PriorGrid((0.0,), tuple(float(k) for k in range(-4, 21, 2)))
"""The grids over x and k, and over k alone (for data with few replies per person)."""
MIN_FIT_PERSONS, MIN_FIT_REPLIES = 40, 1000
"""Minimum amounts of data in each half; with less data, a prior would learn noise."""
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class BaseProbabilities:
    """The base model to tilt, with its probabilities for a population's replies."""

    name: str
    base: str
    """`engine.human.person_prior.base_key`."""
    probabilities: Floats
    least: float
    """See `engine.human.person_prior.BasePrior.least`."""


@dataclass(frozen=True, slots=True)
class PersonReplies:
    """Replies, with data about the persons who played them."""

    replies: JudgedReplies
    persons: Ints
    """The person of each position, numbered from 0."""
    names: tuple[str, ...]
    ratings: tuple[float | None, ...]
    """For each position, the person's rating before the game."""
    games: tuple[int | None, ...]
    """Number of games that the rating is based on; None if the rating is fully trusted."""
    seconds: tuple[float | None, ...]
    """`engine.human.person_prior.estimated_side_time_s` at each position."""
    experience: tuple[int | None, ...]
    """Number of games that each person had played before the year of the first position; None if unknown."""

    def features(self, names: tuple[str, ...], scale: RatingScale) -> Floats:
        """The features of each position, shape (positions, features)."""
        return np.array(
            [
                features_of(names, scale, *each)
                for each in zip(self.ratings, self.seconds, self.games, strict=True)
            ]
        )


@dataclass(frozen=True, slots=True)
class Band:
    """The evaluation on some of the positions."""

    name: str
    persons: int
    replies: int
    errors: int
    """Number of replies that cost 10 % of expected score or more."""
    nats: Estimate
    """Mean of -ln p(reply) of the base model."""
    ratio: Estimate
    """The number of errors that the base model expects, divided by the actual number."""
    gains: dict[str, Estimate]
    """Nats per reply gained by the tilt, for each prior (``unrated`` and ``rated``)."""
    ratios: dict[str, Estimate]
    """The value of `ratio` after the tilt."""


@dataclass(frozen=True, slots=True)
class FittedPrior:
    """A fitted prior over one base model, with its evaluation on other persons."""

    game: str
    base: BaseProbabilities
    prior: BasePrior
    persons: int
    """Number of persons from whom the prior was learned."""
    replies: int
    bands: tuple[Band, ...]

    def record(self, about: dict[str, Any]) -> dict[str, Any]:
        """The card's entry as plain JSON values: the prior, followed by its origin."""
        return {
            "model": self.base.name,
            **base_record(self.prior),
            "method": f"EM, {STEPS} steps, over the persons of one half; evaluated on the other half",
            "date": date.today().isoformat(),  # noqa: DTZ011 - a day, for people
            **about,
            "persons": self.persons,
            "replies": self.replies,
            "measured": [_band_record(band) for band in self.bands],
        }


def base_record(prior: BasePrior) -> dict[str, Any]:
    """A base model's entry in a card, as plain JSON values, which `PersonPrior.parse` reads."""
    return {
        "base": prior.base,
        "depth": prior.depth,
        "least": prior.least,
        "grid": {"x": list(prior.grid.x), "k": list(prior.grid.k)},
        "rating": asdict(prior.scale),
        "rated": None if prior.rated is None else _gaussian_record(prior.rated),
        "unrated": _gaussian_record(prior.unrated),
    }


def _gaussian_record(prior: Gaussian) -> dict[str, Any]:
    points = zip(prior.features, prior.coefficients.tolist(), strict=True)
    return {
        "mean": {name: {"x": x, "k": k} for name, (x, k) in points},
        "covariance": prior.covariance.tolist(),
    }


def merged_card(game: str, known: dict[str, Any] | None, entry: dict[str, Any]) -> dict[str, Any]:
    """A card with a new entry, which replaces any entry for the same base model.

    Raises:
        FitRefused: The existing card has a different game, `uniform` or `forgetting`.
    """
    shared = {"game": game, "uniform": UNIFORM, "forgetting": FORGETTING}
    if known is not None and (other := {key: known.get(key) for key in shared}) != shared:
        raise FitRefused(f"the existing card is for {other}, not for {shared}; use another file")
    others = [] if known is None else [each for each in known["bases"] if each["base"] != entry["base"]]
    return {**shared, "bases": [*others, entry]}


def with_most_k(grid: PriorGrid, most: float) -> PriorGrid:
    """The grid with points of k up to `most`, at its own distances: for people or base models beyond it."""
    step = grid.k[1] - grid.k[0]
    count = math.ceil((most - grid.k[0]) / step - 1e-9) + 1
    return replace(grid, k=tuple(grid.k[0] + step * at for at in range(count)))


def replies_of(
    people: Population,
    probabilities: Floats,
    depth: int,
    standings: Mapping[str, tuple[EloStanding, EloStanding]] | None,
    experience: Mapping[str, int] | None,
) -> PersonReplies:
    """Return a population's replies for which the person is known.

    Args:
        probabilities: The base model's probability for each reply.
        depth: Search depth D at which costs were measured.
        standings: Reconstructed ratings by game (`lab.analysis.elo`), used instead of recorded ratings.
        experience: Number of games that each person had played previously, by name; a missing name means 0.

    Raises:
        FitRefused: None of the positions has a person's name.
    """
    counts = people.rows.counts
    wanted = [at for at, stored in enumerate(people.positions) if is_person(stored.name)]
    if not wanted:
        raise FitRefused("no position has a person's name")
    numbers: dict[str, int] = {}
    costs, persons, chosen = list[float](), [], []
    for at in wanted:
        stored = people.positions[at]
        costs += _costs(people, stored, depth)
        persons.append(numbers.setdefault(stored.name, len(numbers)))
        chosen.append(stored)
    starts = np.concatenate([[0], np.cumsum(counts[wanted])[:-1]]).astype(np.int64)
    rows = np.repeat(people.rows.starts[wanted] - starts, counts[wanted]) + np.arange(len(costs))
    known = [_standing(stored, standings) for stored in chosen]
    return PersonReplies(
        JudgedReplies(
            probabilities[rows],
            np.array(costs),
            starts,
            starts + (people.rows.played - people.rows.starts)[wanted],
        ),
        np.array(persons, np.int64),
        tuple(numbers),
        tuple(rating for rating, _ in known),
        tuple(games for _, games in known),
        tuple(seconds_of(stored.time_control) for stored in chosen),
        tuple(None if experience is None else experience.get(name, 0) for name in numbers),
    )


def _costs(people: Population, stored: StoredPosition, depth: int) -> tuple[float, ...]:
    game, found = people.game, stored.found
    root = game.parse_position(found.position)
    after = game.play(root, game.parse_move(root, found.move))
    return costs_of(found.candidate, game.expected_scale_centi(after), depth)


def _standing(
    stored: StoredPosition, standings: Mapping[str, tuple[EloStanding, EloStanding]] | None
) -> tuple[float | None, int | None]:
    if standings is None:
        return stored.found.rating, None
    found = standings.get(stored.game_key)
    return (
        (None, None) if found is None else (found[stored.found.side].rating, found[stored.found.side].games)
    )


def fit_person_prior(
    game: str,
    data: PersonReplies,
    base: BaseProbabilities,
    depth: int,
    grid: PriorGrid,
    scale: RatingScale,
    *,
    least_spread_k: float = LEAST_SPREAD_K,
    seed: int = 1,
    resamples: int = 1000,
    on_step: Callable[[str], None] = lambda _: None,
) -> FittedPrior:
    """Fit a prior to one half of the persons and evaluate it on the other half.

    Args:
        data: The replies, with the probabilities of `base` and the costs at `depth`.
        least_spread_k: Minimum standard deviation of k among persons; more than these persons have, if the
            prior is for people who differ more.
        seed: Random seed for the halves and the resamples.
        on_step: Called with the name of each step before it begins.

    Raises:
        FitRefused: There is too little data, or no significant gain from the prior.
    """
    halves = np.array([half_of_person(name, seed) for name in data.names], np.int64)[data.persons]
    _require_enough(data, halves)
    speeds = _speed_features(data.seconds)
    blank = Gaussian((CONSTANT,), np.zeros((1, 2)), np.eye(2))
    prior = BasePrior(base.base, depth, base.least, grid, scale, None, blank)
    learned = _part(data, np.flatnonzero(halves == 0))
    on_step("learning the prior without ratings")
    prior = replace(prior, unrated=_fitted(learned, (CONSTANT, *speeds), prior, least_spread_k))
    rated = _part(learned, _with_rating(learned))
    if len(rated.names) >= MIN_FIT_PERSONS:
        on_step("learning the prior with ratings")
        names = (CONSTANT, RATING, *((NEW,) if scale.games else ()), *speeds)
        prior = replace(prior, rated=_fitted(rated, names, prior, least_spread_k))
    on_step("evaluating on the other persons")
    bands = _measured(_part(data, np.flatnonzero(halves == 1)), prior, resamples, seed)
    kind, gain = list(bands[0].gains.items())[-1]
    if not gain.low > 0:
        raise FitRefused(
            f"the prior ({kind}) over {base.name} is not significantly better than no tilt: on "
            f"{bands[0].persons} other persons it gains {gain.value:+.4f} nats per reply ({gain.low:+.4f} to "
            f"{gain.high:+.4f}, 95 %); it was not saved"
        )
    return FittedPrior(game, base, prior, len(learned.names), len(learned.persons), bands)


def _require_enough(data: PersonReplies, halves: Ints) -> None:
    for half in (0, 1):
        inside = data.persons[halves == half]
        persons = len(np.unique(inside))
        if persons < MIN_FIT_PERSONS or len(inside) < MIN_FIT_REPLIES:
            raise FitRefused(
                f"too little to learn from: {len(inside)} replies by {persons} persons in one half; at least "
                f"{MIN_FIT_REPLIES} replies by {MIN_FIT_PERSONS} persons are needed"
            )


def _part(data: PersonReplies, positions: Ints) -> PersonReplies:
    """Select some positions of the data and renumber their persons."""
    given = data.replies
    counts = np.diff(np.append(given.starts, len(given.costs)))[positions]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    rows = np.repeat(given.starts[positions] - starts, counts) + np.arange(counts.sum())
    old, persons = np.unique(data.persons[positions], return_inverse=True)
    return PersonReplies(
        JudgedReplies(
            given.probabilities[rows],
            given.costs[rows],
            starts,
            starts + (given.played - given.starts)[positions],
        ),
        persons.astype(np.int64),
        tuple(data.names[at] for at in old),
        tuple(data.ratings[at] for at in positions),
        tuple(data.games[at] for at in positions),
        tuple(data.seconds[at] for at in positions),
        tuple(data.experience[at] for at in old),
    )


def _with_rating(data: PersonReplies) -> Ints:
    return np.flatnonzero(np.array([rating is not None for rating in data.ratings]))


def _speed_features(seconds: Sequence[float | None]) -> tuple[str, ...]:
    """The speed features that vary within the data."""
    known = np.array([np.nan if each is None else each for each in seconds])
    columns = {BULLET: known < BULLET_BELOW_S, RAPID: known >= RAPID_FROM_S}
    return tuple(name for name, column in columns.items() if column.any() and not column.all())


def _fitted(data: PersonReplies, names: tuple[str, ...], prior: BasePrior, least_spread_k: float) -> Gaussian:
    """A Gaussian in the form of the card, with rounded numbers."""
    size = len(data.names)
    likely = log_likelihoods(data.replies, data.persons, size, prior.grid, prior.least, UNIFORM)
    features = data.features(names, prior.scale)
    sums = np.zeros((size, len(names)))
    np.add.at(sums, data.persons, features)
    means = sums / np.bincount(data.persons, minlength=size)[:, None]
    found = fit_gaussian(names, means, likely, prior.grid, least_spread_k=least_spread_k)
    return Gaussian(names, found.coefficients.round(_DIGITS), found.covariance.round(_DIGITS))


# --- The measurement ------------------------------------------------------------------------------------


def _measured(data: PersonReplies, prior: BasePrior, resamples: int, seed: int) -> tuple[Band, ...]:
    replies = data.replies
    probabilities = {"": np.maximum(replies.probabilities, prior.least)}
    kinds = {"unrated": prior.unrated} | ({} if prior.rated is None else {"rated": prior.rated})
    for name, kind in kinds.items():
        features = data.features(kind.features, prior.scale)
        probabilities[name] = predicted(replies, kind, features, prior, UNIFORM)
    bands = []
    for name, inside in _band_masks(data).items():
        if inside.any():
            bands.append(_band(name, data, probabilities, np.flatnonzero(inside), resamples, seed))
    return tuple(bands)


def _band_masks(data: PersonReplies) -> dict[str, NDArray[np.bool_]]:
    experience = [data.experience[person] for person in data.persons]
    return {
        "all": np.ones(len(data.persons), bool),
        **rating_bands(data.ratings),
        **games_bands(experience),
    }


def _band(
    name: str,
    data: PersonReplies,
    probabilities: dict[str, Floats],
    positions: Ints,
    resamples: int,
    seed: int,
) -> Band:
    replies = data.replies
    persons = np.unique(data.persons[positions], return_inverse=True)[1].astype(np.int64)
    drawn = Resamples(persons, resamples, seed)
    played = replies.played[positions]
    happened = (replies.costs[played] >= MIN_ERROR_SCORE_LOSS).astype(np.float64)
    bad = replies.costs >= MIN_ERROR_SCORE_LOSS

    def expected(p: Floats) -> Estimate:
        sums = np.add.reduceat(np.where(bad, p, 0.0), replies.starts)[positions]
        return drawn.ratio(sums, happened).estimate

    def nats(p: Floats) -> Floats:
        return np.asarray(-np.log(np.maximum(p[played], 1e-12)))

    before = probabilities[""]
    tilted = {kind: p for kind, p in probabilities.items() if kind}
    return Band(
        name,
        int(persons.max()) + 1,
        len(positions),
        int(happened.sum()),
        drawn.mean(nats(before)).estimate,
        expected(before),
        {kind: drawn.mean(nats(before) - nats(p)).estimate for kind, p in tilted.items()},
        {kind: expected(p) for kind, p in tilted.items()},
    )


def _band_record(band: Band) -> dict[str, Any]:
    return {
        "people": band.name,
        "persons": band.persons,
        "replies": band.replies,
        "errors": band.errors,
        "nats": _numbers(band.nats),
        "expected_per_error": _numbers(band.ratio),
        "gain": {kind: _numbers(each) for kind, each in band.gains.items()},
        "expected_per_error_tilted": {kind: _numbers(each) for kind, each in band.ratios.items()},
    }


def _numbers(each: Estimate) -> list[float | None]:
    """The value and its interval, with None in place of NaN, which JSON lacks."""
    return [
        round(float(number), 4) if np.isfinite(number) else None
        for number in (each.value, each.low, each.high)
    ]
