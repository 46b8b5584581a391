"""Tilts the probabilities of a person's replies according to the person's rating and the game's speed.

A base model (a calibrated model or a human-move network) predicts average replies. Two numbers describe how a
person differs: b = e^x, how closely they follow the base model, and k, how much extra weight they give to the
replies' true costs. For n replies with the base model's probabilities p0 and costs c (exponential tilting)::

    p(r | x, k) = (1 - u) p0(r)^b exp(-k c(r)) / sum + u / n

The pair (x, k) is unknown, so the answer is the mean over its prior: a Gaussian on the points of a grid, with
a mean that depends on what is known about the person. A *card*, ``person_GAME.json`` beside this module, has
the priors, each for one base model (`lab.training.person_prior` fits them). The card's SHA-256 is the version
of the priors: every probability can be recomputed from the card, p0 and the costs.
"""

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from engine.decision import Candidate, ModelInfo
from engine.expected import WHOLE, expected_score
from engine.human.model import BadModel
from engine.plain_values import Range, reader

Floats = NDArray[np.float64]

CONSTANT, RATING, NEW, BULLET, RAPID = "constant", "rating", "new", "bullet", "rapid"
"""Names of the features on which the mean of a prior depends (`features_of`)."""
FEATURES = (CONSTANT, RATING, NEW, BULLET, RAPID)
BULLET_BELOW_S, RAPID_FROM_S = 180.0, 480.0
"""Limits of `estimated_side_time_s` for bullet and rapid games, as on Lichess."""
_INCREMENT_MOVES = 40
_MAX_POINTS = 10_000
_BASE = re.compile(r"[0-9a-f]{64}(\+[0-9a-f]{64})?")
_MAX_BYTES = 1 << 20


def estimated_side_time_s(initial_s: float | None, increment_s: float | None) -> float:
    """The estimated total time of one side in a game, in seconds; infinite without a clock."""
    return math.inf if initial_s is None else initial_s + _INCREMENT_MOVES * (increment_s or 0)


def costs_of(candidate: Candidate, logistic_centi: float, depth: int) -> tuple[float, ...]:
    """Each reply's cost to the person: the expected score lost compared with the best reply, from 0 to 1.

    Args:
        candidate: Our move with its complete profile.
        logistic_centi: `Game.expected_scale_centi` of the position in which the person replies.
        depth: Use the profile up to this depth, counted from our move; a shallower profile is used in full.

    Raises:
        IncompleteProfile: The profile is incomplete.
    """
    candidate.require_whole()
    # The first score is of 2 plies; ours are the person's losses.
    ours = [
        expected_score(reply.scores_centi[: depth - 1][-1], logistic_centi) for reply in candidate.replies
    ]
    least = min(ours, default=0)
    return tuple((each - least) / WHOLE for each in ours)


@dataclass(frozen=True, slots=True)
class PriorGrid:
    """The points (x, k) to which a prior assigns weights."""

    x: tuple[float, ...]
    k: tuple[float, ...]

    def __post_init__(self) -> None:
        if any(list(axis) != sorted(set(axis)) for axis in (self.x, self.k)):
            raise ValueError("the numbers of an axis are not ascending")
        if not 1 < len(self.x) * len(self.k) <= _MAX_POINTS:
            raise ValueError(f"{len(self.x) * len(self.k)} points, not 2 to {_MAX_POINTS}")

    @property
    def points(self) -> Floats:
        """All grid points, shape (points, 2): x and k, with k varying fastest."""
        return np.array([(x, k) for x in self.x for k in self.k], np.float64)

    @property
    def is_free(self) -> NDArray[np.bool_]:
        """For x and for k: whether it has more than one value on the grid."""
        return np.array([len(self.x) > 1, len(self.k) > 1])


@dataclass(frozen=True, slots=True)
class RatingScale:
    """Converts a rating to the features ``rating`` and ``new``."""

    origin: str
    """The rating scale of the data to which the prior was fitted, as readable text."""
    centre: float
    unit: Annotated[float, Range(1.0, 1e6)]
    most: Annotated[float, Range(0.0, 100.0)]
    """The rating feature is clipped to plus or minus this value."""
    games: Annotated[int, Range(0, 1_000_000)]
    """Number of rated games after which a rating counts in full; if 0, every rating counts in full."""


@dataclass(frozen=True, slots=True)
class Gaussian:
    """A prior: the mean is linear in features of the person and the game."""

    features: tuple[str, ...]
    coefficients: Floats
    """Coefficients of the mean, shape (features, 2), for x and for k."""
    covariance: Floats
    """Covariance of x and k, shape (2, 2)."""

    def prior_weights(self, grid: PriorGrid, features: Floats) -> Floats:
        """The weight of each grid point, shape (persons, points); each row adds up to 1.

        Args:
            features: Shape (persons, features).
        """
        free = grid.is_free
        away = grid.points[None, :, free] - (features @ self.coefficients[:, free])[:, None, :]
        exact = np.linalg.inv(self.covariance[np.ix_(free, free)])
        logs = -0.5 * np.einsum("npi,ij,npj->np", away, exact, away)
        powers = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True)
class BasePrior:
    """The prior for one base model."""

    base: str
    """See `base_key`."""
    depth: int
    """Depth of the costs that the prior was fitted to (see `costs_of`)."""
    least: float
    """Lower limit for the base model's probabilities; smaller ones are raised to it."""
    grid: PriorGrid
    scale: RatingScale
    rated: Gaussian | None
    """The prior for people with a known rating; None if `unrated` applies to them too."""
    unrated: Gaussian


def base_key(model: ModelInfo, human: ModelInfo | None = None) -> str:
    """Identifies a base model by SHA-256: a human-move model, or a calibrated model and the human-move model
    whose predictions it received (None if there was none)."""
    return model.sha256 if human is None else f"{model.sha256}+{human.sha256}"


def features_of(
    names: Sequence[str], scale: RatingScale, rating: float | None, seconds: float | None, games: int | None
) -> list[float]:
    """The features of a person in a game.

    Args:
        names: A subset of `FEATURES`.
        rating: The person's rating, or None if unknown (treated as the centre of the scale).
        seconds: See `estimated_side_time_s`; None if unknown (treated as neither bullet nor rapid).
        games: Number of rated games behind the rating, or None if unknown (treated as enough).
    """
    full = 1.0 if games is None or scale.games == 0 else min(1.0, games / scale.games)
    z = 0.0 if rating is None else full * (rating - scale.centre) / scale.unit
    known = {
        CONSTANT: 1.0,
        RATING: max(-scale.most, min(scale.most, z)),
        NEW: 1.0 - full,
        BULLET: float(seconds is not None and seconds < BULLET_BELOW_S),
        RAPID: float(seconds is not None and seconds >= RAPID_FROM_S),
    }
    return [known[name] for name in names]


def tilted_rows(
    points: Floats,
    probabilities: Floats,
    costs: Floats,
    starts: NDArray[np.int64],
    least: float,
    uniform: float,
) -> Floats:
    """p(r | x, k) for the concatenated replies of many positions.

    Args:
        points: Shape (points, 2), as `PriorGrid.points`.
        probabilities: The base model's probabilities of the replies, shape (replies,).
        costs: Costs of the replies, from 0 to 1, shape (replies,).
        starts: Index of each position's first reply.
        least: See `BasePrior.least`.
        uniform: u, the share of the probability that is spread evenly.

    Returns:
        Shape (replies, points); each position's replies add up to 1 at every point.
    """
    counts = np.diff(np.append(starts, len(costs)))
    logs = np.log(np.maximum(probabilities, least))[:, None] * np.exp(points[:, 0]) - np.outer(
        costs, points[:, 1]
    )
    logs -= np.repeat(np.maximum.reduceat(logs, starts, axis=0), counts, axis=0)
    powers = np.exp(logs, out=logs)
    powers /= np.repeat(np.add.reduceat(powers, starts, axis=0), counts, axis=0)
    powers *= 1.0 - uniform
    powers += (uniform / np.repeat(counts, counts))[:, None]
    return np.asarray(powers)


@dataclass(frozen=True, slots=True)
class PersonPrior:
    """A card, with one game's priors by base model.  Immutable, so any number of threads may share it."""

    game: str
    version: str
    """SHA-256 of the card, in hexadecimal."""
    uniform: float
    """u: share of the probability that is spread evenly over all replies."""
    forgetting: float
    """Share of the prior that is mixed in again before each further game of a person, when the evidence from
    their replies is carried over between games."""
    bases: dict[str, BasePrior]
    """The priors, keyed by `base_key`."""

    def prior_weights(self, base: str, rating: float | None, seconds: float | None) -> Floats:
        """The prior for a person: the weight of each of the grid's points.

        Raises:
            KeyError: The card has no prior for this base model.
        """
        prior = self.bases[base]
        kind = prior.unrated if rating is None or prior.rated is None else prior.rated
        features = features_of(kind.features, prior.scale, rating, seconds, games=None)
        return np.asarray(kind.prior_weights(prior.grid, np.array([features]))[0])

    def tilted(
        self,
        base: str,
        probabilities: Sequence[float],
        costs: Sequence[float],
        rating: float | None,
        seconds: float | None,
    ) -> tuple[float, ...]:
        """The probabilities of a position's replies for this person.

        Args:
            base: The model that the probabilities come from (`base_key`). If the card lacks this model, the
                probabilities are returned unchanged.
            probabilities: Probabilities from that model.
            costs: `costs_of` with `BasePrior.depth`, in the same order.
            rating: The rating on the site's scale, or None if unknown.
            seconds: `estimated_side_time_s` of the game, or None if unknown.

        Raises:
            ValueError: The number of costs differs from the number of probabilities.
        """
        prior = self.bases.get(base)
        if len(probabilities) != len(costs):
            raise ValueError(f"{len(probabilities)} probabilities and {len(costs)} costs")
        if prior is None or len(costs) < 2:
            return tuple(probabilities)
        weights = self.prior_weights(base, rating, seconds)
        at_points = tilted_rows(
            prior.grid.points,
            np.asarray(probabilities, np.float64),
            np.asarray(costs, np.float64),
            np.zeros(1, np.int64),
            prior.least,
            self.uniform,
        )
        found: list[float] = (at_points @ weights).tolist()
        total = math.fsum(found)
        return tuple(p / total for p in found)

    @classmethod
    def parse(cls, data: bytes, where: str) -> "PersonPrior":
        """Read a card.

        Args:
            data: The content of the file.
            where: The file's name in messages.

        Raises:
            BadModel: The data is not a card; the message names the file and says what is wrong.
        """
        try:
            content = json.loads(data)
        except ValueError as error:  # also for bad UTF-8
            raise BadModel(f"{where}: not JSON: {error}") from None
        try:
            bases = [_base_of(part) for part in content["bases"]]
            prior = cls(
                reader(str)(content["game"]),
                hashlib.sha256(data).hexdigest(),
                reader(Annotated[float, Range(0.0, 0.5)])(content["uniform"]),
                reader(Annotated[float, Range(0.0, 1.0)])(content["forgetting"]),
                {each.base: each for each in bases},
            )
            if len(prior.bases) != len(bases) or not bases:
                raise ValueError("bases: none, or two for the same base")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadModel(f"{where}: not a card: {type(error).__name__}: {error}") from None
        return prior


def card_path(game: str, folder: Path = Path(__file__).parent) -> Path:
    """Path of the bundled card for a game, whether or not the file exists."""
    return folder / f"person_{game}.json"


@lru_cache(maxsize=16)
def read_card(path: Path) -> PersonPrior:
    """The priors in a card; repeated calls use a cache.

    Raises:
        BadModel: The file is missing or not a card; the message names it.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise BadModel(f"{path}: {error.strerror}") from None
    if len(data) > _MAX_BYTES:
        raise BadModel(f"{path}: longer than {_MAX_BYTES >> 20} MiB")
    return PersonPrior.parse(data, str(path))


# --- The card -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Point:
    """Coefficients of one feature."""

    x: float
    k: float


def _base_of(card: dict[str, Any]) -> BasePrior:
    base, grid = reader(str)(card["base"]), reader(PriorGrid)(card["grid"])
    if not _BASE.fullmatch(base):
        raise ValueError("base: not one or two SHA-256 in hexadecimal, joined by +")
    return BasePrior(
        base,
        reader(Annotated[int, Range(2, 64)])(card["depth"]),
        reader(Annotated[float, Range(1e-12, 0.1)])(card["least"]),
        grid,
        reader(RatingScale)(card["rating"]),
        None if card["rated"] is None else _gaussian_of(card["rated"], grid),
        _gaussian_of(card["unrated"], grid),
    )


def _gaussian_of(card: dict[str, Any], grid: PriorGrid) -> Gaussian:
    points = {name: reader(_Point)(value) for name, value in card["mean"].items()}
    if not points or points.keys() - set(FEATURES):
        raise ValueError(f"mean: {', '.join(points)} are not all in {', '.join(FEATURES)}")
    row = tuple[float, float]
    covariance = np.array(reader(tuple[row, row])(card["covariance"]), np.float64)
    free = covariance[np.ix_(grid.is_free, grid.is_free)]
    if not np.array_equal(covariance, covariance.T) or np.linalg.eigvalsh(free).min() < 1e-9:
        raise ValueError("covariance: not symmetric and positive definite")
    coefficients = np.array([(point.x, point.k) for point in points.values()], np.float64)
    return Gaussian(tuple(points), coefficients, covariance)
