"""What is known about a site's people: how they differ from the model's people, and what its ratings mean.

A *shift* (dx, dk) is added to the mean of the prior of people without a rating (`engine.human.person_prior`).
A *curve* maps the site's ratings to the model's scale; it is monotone. Both are learned from the replies of
all the site's people: the shift as if nobody had a rating, the curve from those who have one. For a person
with a rating the curve says what the shift says for others: people who err more than the model's people of
their rating have a lower rating on the model's scale.

A calibrated model has no prior by rating, since it knows the rating itself, and predicts by it. There, the
bands of the site's ratings have a shift dk each, near those of their neighbours.

Each game adds to a sum of evidence in whole thousandths of a nat for each shift and each rating, so it does
not matter in which order games arrive. The games of one person tell nearly the same: the n-th weighs 1 / n.
"""

import hashlib
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from engine.human.person_prior import Gaussian, PersonPrior, features_of
from engine.person.card import PersonModel
from engine.person.error_rate import MIN_ERROR_COST
from engine.person.site_state import BAND, HIGHEST_BAND, RATINGS, SHIFTS, THOUSAND, SiteState, band_of
from engine.person.tilt import at_points, evidence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MIN_WEIGHT = 10 * THOUSAND
"""The `SiteState.weight` from which a site is known, such as that of ten games of ten persons."""

# The spreads are wide enough for people who err twice as often to be known after 50 games, and narrow enough
# that the people of a site like the model's cost .005 nats a reply after 10 games (`bench.people.site`).
_SHIFT_SPREADS = (0.2, 3.0)  # of sites, for dx and dk
_LEVEL_SPREAD = 300.0  # of a site's ratings around the model's scale
_STEP_SPREAD = 80.0  # of the curve's steps from band to band around BAND
_DK_STEP_SPREAD = 1.0  # of dk from band to band
_NO_DX = np.flatnonzero(SHIFTS.points[:, 0] == 0.0)
"""The shifts of k alone."""
_REACH = 2.0
"""How far the curve may go beyond the people model's ratings: a factor of their range."""


@dataclass(frozen=True, slots=True)
class SiteReply:
    """A person's reply at the site."""

    base: tuple[float, ...]
    """The probability of each reply by the base model, before the tilt."""
    costs: tuple[float, ...]
    """The cost of each reply, from 0 to 1 (`engine.human.person_prior.costs_of`)."""
    index: int
    """The index of the reply that was played."""


@dataclass(frozen=True, slots=True)
class SiteGame:
    """One game of a person at the site."""

    replies: tuple[SiteReply, ...]
    rating: float | None = None
    """The person's rating on the site's scale; None if unknown."""
    seconds: float | None = None
    """`engine.human.person_prior.estimated_side_time_s` of the game; None if unknown."""
    number: int = 1
    """How many games of the person there are up to this one."""


@dataclass(frozen=True, slots=True)
class RatingMap:
    """Maps a site's ratings to the model's scale: linear between its points, with slope 1 beyond them."""

    site: tuple[float, ...] = ()
    """Ratings of the site, ascending; empty if nothing is known: ratings stay as they are."""
    model: tuple[float, ...] = ()

    def of(self, rating: float) -> float:
        """The rating on the model's scale."""
        if not self.site:
            return rating
        inside = min(max(rating, self.site[0]), self.site[-1])
        return float(np.interp(inside, self.site, self.model)) + rating - inside


class SiteModel:
    """Folds a site's games, and gives the prior of its people; any number of threads may share it.

    Args:
        prior: The people model.
        base: The base model whose predictions the games have (`engine.human.person_prior.base_key`).
        persons: `engine.person.card.PersonModel.version` if the games are those of persons' states.

    Raises:
        KeyError: The people model has no prior for this base model.
    """

    def __init__(self, prior: PersonPrior, base: str, persons: str = "") -> None:
        self._prior, self._base, self._key = prior, prior.bases[base], base
        # At a site whose people are weaker than any of the model's, ratings mean less than the model's least.
        self._scale = replace(self._base.scale, most=_REACH * self._base.scale.most)
        spreads = (_SHIFT_SPREADS, _LEVEL_SPREAD, _STEP_SPREAD, _DK_STEP_SPREAD, _REACH)
        grids = (SHIFTS, RATINGS, BAND, HIGHEST_BAND)
        known = (prior.version, base, persons, grids, spreads, MIN_ERROR_COST)
        self.version = hashlib.sha256(str(known).encode()).hexdigest()
        """Changes with whatever the states depend on."""
        self._of_shifts: dict[tuple[float, ...], Floats] = {}
        self._of_ratings: dict[tuple[tuple[float, ...], ...], Floats] = {}

    @classmethod
    def of(cls, model: PersonModel) -> "SiteModel":
        """The model of the sites whose persons are predicted by a model of persons."""
        return cls(model.tilt_prior, model.tilt.base, model.version)

    def new_state(self) -> SiteState:
        """The state before the first game."""
        return SiteState(self.version)

    # --- Learning ---------------------------------------------------------------------------------------

    def fold(self, state: SiteState, game: SiteGame) -> SiteState:
        """The state after one more game.

        Raises:
            ValueError: The state was folded by another model.
        """
        self._require(state)
        if not game.replies:
            return state
        replies = [(each.base, each.costs, each.index) for each in game.replies]
        against = evidence(self._base, self._prior.uniform, replies)
        at_shifts = self._shifted(game.seconds)
        bands = {}
        if game.rating is not None:
            of_bands = at_shifts[_NO_DX] if self._base.rated is None else self._rated(game.seconds)
            bands[band_of(game.rating)] = self._against(of_bands, against, game.number)
        happened = sum(each.costs[each.index] >= MIN_ERROR_COST for each in game.replies)
        return state.plus(
            SiteState(
                self.version,
                games=1,
                replies=len(replies),
                weight=round(THOUSAND / game.number),
                errors=round(THOUSAND * happened / game.number),
                expected=round(THOUSAND * self._expected_errors(game) / game.number),
                shifts=self._against(at_shifts, against, game.number),
                bands=MappingProxyType(bands),
            )
        )

    def _expected_errors(self, game: SiteGame) -> float:
        """The number of errors that people without a rating make in a game's positions."""
        weights = self._prior_of_unrated(game.seconds, (0.0, 0.0))
        total = 0.0
        for each in game.replies:
            is_error = np.array(each.costs) >= MIN_ERROR_COST
            if is_error.any():
                found = at_points(self._base, self._prior.uniform, each.base, each.costs)
                total += float(found[is_error].sum(axis=0) @ weights)
        return total

    def _against(self, weights: Floats, against: Ints, number: int) -> tuple[int, ...]:
        """The evidence of a game against each row of weights of the people model's grid."""
        least = int(against.min())
        shares = weights @ np.exp(-(against - least) / THOUSAND)
        found = least - THOUSAND * np.log(np.maximum(shares, 1e-300))
        return tuple(np.rint(found / number).astype(np.int64).tolist())

    def _shifted(self, seconds: float | None) -> Floats:
        """The prior of people without a rating at each of `SHIFTS`, shape (shifts, points)."""
        unrated = self._base.unrated
        features = features_of(unrated.features, self._base.scale, None, seconds, None)
        if (key := tuple(features)) not in self._of_shifts:
            rows = np.hstack([np.tile(features, (len(SHIFTS.points), 1)), SHIFTS.points])
            self._of_shifts[key] = _with_shift(unrated).prior_weights(self._base.grid, rows)
        return self._of_shifts[key]

    def _rated(self, seconds: float | None) -> Floats:
        """The prior of people at each of `RATINGS`, shape (ratings, points)."""
        rated = self._base.rated or self._base.unrated
        rows = [features_of(rated.features, self._scale, each, seconds, None) for each in RATINGS]
        key = tuple(map(tuple, rows))
        if key not in self._of_ratings:
            self._of_ratings[key] = rated.prior_weights(self._base.grid, np.array(rows))
        return self._of_ratings[key]

    # --- Using ------------------------------------------------------------------------------------------

    def shift(self, state: SiteState) -> tuple[float, float]:
        """The mean shift (dx, dk) of the site's people; (0, 0) before the first game.

        Raises:
            ValueError: The state was folded by another model.
        """
        self._require(state)
        logs = -0.5 * np.square(SHIFTS.points / np.array(_SHIFT_SPREADS)).sum(axis=1)
        if state.shifts:
            against = np.array(state.shifts, np.float64)
            logs -= (against - against.min()) / THOUSAND
        powers = np.exp(logs - logs.max())
        x, k = (powers / powers.sum()) @ SHIFTS.points
        return round(float(x), 6), round(float(k), 6)

    def curve(self, state: SiteState) -> RatingMap:
        """The likeliest curve: at each band the evidence, near slope 1 and near the model's own scale.

        Empty if the model has no prior by rating.

        Raises:
            ValueError: The state was folded by another model.
        """
        self._require(state)
        if not state.bands or self._base.rated is None:
            return RatingMap()
        middles = _middles(state)
        ratings = np.array(RATINGS, np.float64)
        levels = np.square((ratings - middles[:, None]) / _LEVEL_SPREAD) / 2
        steps = ratings[None, :] - ratings[:, None]  # from, to
        costs = np.where(steps < 0, np.inf, np.square((steps - BAND) / _STEP_SPREAD) / 2)
        return RatingMap(tuple(middles.tolist()), tuple(_likeliest(state, ratings, levels, costs).tolist()))

    def _shift_at(self, state: SiteState, rating: float | None) -> tuple[float, float]:
        """The shift of people with this rating, by a model without a prior by rating."""
        dx, dk = self.shift(state)
        if rating is None or not state.bands:
            return dx, dk
        values = SHIFTS.points[_NO_DX, 1]
        levels = np.square(values / _SHIFT_SPREADS[1])[None, :] / 2
        costs = np.square((values[None, :] - values[:, None]) / _DK_STEP_SPREAD) / 2
        of_bands = _likeliest(state, values, levels, costs)
        return dx, float(np.interp(rating, _middles(state), of_bands))

    def prior_weights(self, state: SiteState, rating: float | None, seconds: float | None) -> Floats:
        """The prior of a person at the site, as `PersonPrior.prior_weights` for a person anywhere.

        Args:
            state: The state of the site.
            rating: The person's rating on the site's scale; None if unknown.
            seconds: See `SiteGame.seconds`.

        Raises:
            ValueError: The state was folded by another model.
        """
        rated = self._base.rated
        if not state.games:
            return self._prior.prior_weights(self._key, rating, seconds)
        if rating is not None and rated is not None:
            mapped = self.curve(state).of(rating)
            features = features_of(rated.features, self._scale, mapped, seconds, None)
            return np.asarray(rated.prior_weights(self._base.grid, np.array([features]))[0])
        return self._prior_of_unrated(seconds, self._shift_at(state, rating))

    def _prior_of_unrated(self, seconds: float | None, shift: tuple[float, float]) -> Floats:
        unrated = self._base.unrated
        features = features_of(unrated.features, self._base.scale, None, seconds, None)
        row = np.array([[*features, *shift]])
        return np.asarray(_with_shift(unrated).prior_weights(self._base.grid, row)[0])

    def is_known(self, state: SiteState) -> bool:
        """Whether enough is known of the site's people to predict their replies by it."""
        return state.version == self.version and state.weight >= MIN_WEIGHT

    def _require(self, state: SiteState) -> None:
        if state.version != self.version:
            raise ValueError("the state of the site was folded by another model")


def _with_shift(prior: Gaussian) -> Gaussian:
    """The prior with a shift as two further features."""
    names = (*prior.features, "dx", "dk")
    return Gaussian(names, np.vstack([prior.coefficients, np.eye(2)]), prior.covariance)


def _bands(state: SiteState) -> range:
    return range(min(state.bands), max(state.bands) + 1, BAND)


def _middles(state: SiteState) -> Floats:
    return np.array([band + BAND / 2 for band in _bands(state)])


def _likeliest(state: SiteState, values: Floats, levels: Floats, steps: Floats) -> Floats:
    """The likeliest value of each band, by the evidence and the costs of values and steps, in nats.

    Args:
        state: Has evidence for these values in at least one band.
        values: What a band may have.
        levels: The cost of each value, shape (bands or 1, values); all bands together cost their mean.
        steps: The cost of a step from value to value in the next band.
    """
    bands = _bands(state)
    costs = np.broadcast_to(levels / len(bands), (len(bands), len(values)))
    total, came_from = np.zeros(len(values)), []
    for at, band in enumerate(bands):
        if at:
            through = total[:, None] + steps
            came_from.append(through.argmin(axis=0))
            total = through.min(axis=0)
        total = total + costs[at] + np.array(state.bands.get(band, (0,) * len(values))) / THOUSAND
    path = [int(total.argmin())]
    for chosen in reversed(came_from):
        path.append(int(chosen[path[-1]]))
    return np.asarray(values[path[::-1]])
