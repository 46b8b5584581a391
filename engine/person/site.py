"""What is known about a site's people: how they differ from the model's people, and what its ratings mean.

A *shift* (dx, dk) is added to the mean of the prior of people without a rating (`engine.human.person_prior`).
A *curve* maps the site's ratings to the model's scale; it is monotone. Both are learned from the replies of
all the site's people: the shift as if nobody had a rating, the curve from those who have one. For a person
with a rating the curve says what the shift says for others: people who err more than the model's people of
their rating have a lower rating on the model's scale.

Each game adds to a sum of evidence in whole thousandths of a nat for each shift and each rating, so it does
not matter in which order games arrive. The games of one person tell nearly the same: the n-th weighs 1 / n.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from engine.errors import RecordError
from engine.human.person_prior import Gaussian, PersonPrior, PriorGrid, features_of
from engine.person.sealed import seal, unseal
from engine.person.tilt import evidence
from engine.plain_values import Range, reader

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHIFTS = PriorGrid(
    tuple(round(-1.0 + 0.2 * at, 1) for at in range(11)), tuple(float(k) for k in range(-12, 13))
)
"""The shifts that a site may have."""
RATINGS = tuple(range(400, 3050, 50))
"""The ratings on the model's scale that a rating of the site may have."""
BAND = 100
"""Width of a band of the site's ratings, which share a point of the curve."""

_SHIFT_SPREADS = (0.4, 4.0)  # of sites, for dx and dk
_LEVEL_SPREAD = 600.0  # of a site's ratings around the model's scale
_STEP_SPREAD = 80.0  # of the curve's steps from band to band around BAND
_PER_NAT = 1_000
_MAGIC = b"DSS1"
_Count = Annotated[int, Range(0, 2**31 - 1)]
_Evidence = Annotated[int, Range(-(2**62), 2**62)]


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
class SiteState:
    """What is known about one site's people in one game; immutable."""

    version: str
    """`SiteModel.version` of the model that folded the games."""
    games: int = 0
    replies: int = 0
    shifts: tuple[int, ...] = ()
    """The evidence against each of `SHIFTS`; empty before the first game."""
    bands: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """By the lower end of a band of the site's ratings: the evidence against each of `RATINGS`."""

    def to_bytes(self) -> bytes:
        """The state as bytes, which `from_bytes` reads."""
        content = {
            "version": self.version,
            "games": self.games,
            "replies": self.replies,
            "shifts": self.shifts,
            "bands": sorted(self.bands.items()),
        }
        return seal(_MAGIC, json.dumps(content, separators=(",", ":")).encode())

    @classmethod
    def from_bytes(cls, data: bytes) -> "SiteState":
        """Read the result of `to_bytes`.

        Raises:
            RecordError: The data is damaged.
        """
        text = unseal(_MAGIC, data, "the state of a site")
        try:
            found = reader(_Content)(json.loads(text))
            sizes = {len(evidence) for _, evidence in found.bands}
            if len(found.shifts) not in (0, len(SHIFTS.points)) or sizes - {len(RATINGS)}:
                raise ValueError("evidence of other shifts or ratings")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise RecordError(f"the state of a site is damaged: {error}") from None
        bands = MappingProxyType(dict(found.bands))
        return cls(found.version, found.games, found.replies, found.shifts, bands)


@dataclass(frozen=True, slots=True)
class _Content:
    version: str
    games: _Count
    replies: _Count
    shifts: tuple[_Evidence, ...]
    bands: tuple[tuple[int, tuple[_Evidence, ...]], ...]


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

    Raises:
        KeyError: The people model has no prior for this base model.
    """

    def __init__(self, prior: PersonPrior, base: str) -> None:
        self._prior, self._base, self._key = prior, prior.bases[base], base
        known = (prior.version, base, SHIFTS, RATINGS, BAND, _SHIFT_SPREADS, _LEVEL_SPREAD, _STEP_SPREAD)
        self.version = hashlib.sha256(str(known).encode()).hexdigest()
        """Changes with whatever the states depend on."""
        self._of_shifts: dict[tuple[float, ...], Floats] = {}
        self._of_ratings: dict[tuple[tuple[float, ...], ...], Floats] = {}

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
        shifts = _added(state.shifts, self._against(self._shifted(game.seconds), against, game.number))
        bands = dict(state.bands)
        if game.rating is not None and self._base.rated is not None:
            band = BAND * math.floor(game.rating / BAND)
            found = self._against(self._rated(game.seconds), against, game.number)
            bands[band] = _added(bands.get(band, ()), found)
        count = state.replies + len(replies)
        return SiteState(self.version, state.games + 1, count, shifts, MappingProxyType(bands))

    def _against(self, weights: Floats, against: Ints, number: int) -> Ints:
        """The evidence of a game against each row of weights of the people model's grid."""
        least = int(against.min())
        shares = weights @ np.exp(-(against - least) / _PER_NAT)
        found = least - _PER_NAT * np.log(np.maximum(shares, 1e-300))
        rounded: Ints = np.rint(found / number).astype(np.int64)
        return rounded

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
        rows = [features_of(rated.features, self._base.scale, each, seconds, None) for each in RATINGS]
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
            logs -= (against - against.min()) / _PER_NAT
        powers = np.exp(logs - logs.max())
        x, k = (powers / powers.sum()) @ SHIFTS.points
        return round(float(x), 6), round(float(k), 6)

    def curve(self, state: SiteState) -> RatingMap:
        """The likeliest curve: at each band the evidence, near slope 1 and near the model's own scale.

        Raises:
            ValueError: The state was folded by another model.
        """
        self._require(state)
        if not state.bands:
            return RatingMap()
        bands = range(min(state.bands), max(state.bands) + 1, BAND)
        ratings = np.array(RATINGS, np.float64)
        steps = ratings[None, :] - ratings[:, None]  # from, to
        costs_of_steps = np.where(steps < 0, np.inf, np.square((steps - BAND) / _STEP_SPREAD) / 2)
        total, came_from = np.zeros(len(ratings)), []
        for at, band in enumerate(bands):
            if at:
                through = total[:, None] + costs_of_steps
                came_from.append(through.argmin(axis=0))
                total = through.min(axis=0)
            away = (ratings - (band + BAND / 2)) / _LEVEL_SPREAD
            total = total + np.square(away) / 2 / len(bands)
            total = total + np.array(state.bands.get(band, (0,) * len(ratings))) / _PER_NAT
        path = [int(total.argmin())]
        for chosen in reversed(came_from):
            path.append(int(chosen[path[-1]]))
        return RatingMap(
            tuple(band + BAND / 2 for band in bands), tuple(float(RATINGS[at]) for at in reversed(path))
        )

    def prior_weights(self, state: SiteState, rating: float | None, seconds: float | None) -> Floats:
        """The prior of a person at the site, as `PersonPrior.prior_weights` for a person anywhere.

        Args:
            state: The state of the site.
            rating: The person's rating on the site's scale; None if unknown.
            seconds: See `SiteGame.seconds`.

        Raises:
            ValueError: The state was folded by another model.
        """
        if rating is not None and self._base.rated is not None:
            return self._prior.prior_weights(self._key, self.curve(state).of(rating), seconds)
        unrated = self._base.unrated
        features = features_of(unrated.features, self._base.scale, None, seconds, None)
        row = np.array([[*features, *self.shift(state)]])
        return np.asarray(_with_shift(unrated).prior_weights(self._base.grid, row)[0])

    def _require(self, state: SiteState) -> None:
        if state.version != self.version:
            raise ValueError("the state of the site was folded by another model")


def _with_shift(prior: Gaussian) -> Gaussian:
    """The prior with a shift as two further features."""
    names = (*prior.features, "dx", "dk")
    return Gaussian(names, np.vstack([prior.coefficients, np.eye(2)]), prior.covariance)


def _added(known: Sequence[int], more: Ints) -> tuple[int, ...]:
    total = more if not known else np.array(known, np.int64) + more
    return tuple(total.tolist())
