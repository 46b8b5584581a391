"""The constants by which a person's state is folded and used, in cards beside this module.

``othello.json`` is for Othello; ``games.json`` is for all other games. The SHA-256 of a card is part of the
version of every state that was folded by it (`PersonModel.version`).
"""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from engine.human.model import BadModel
from engine.human.person_prior import BasePrior, PersonPrior
from engine.plain_values import Range, reader

Floats = NDArray[np.float64]

_Share = Annotated[float, Range(0.0, 1.0)]
_Size = Annotated[float, Range(0.0, 100.0)]
_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class MemoryConstants:
    """How much a remembered reply weighs, and how much the prediction without memory does
    (`engine.person.memory`)."""

    decay: _Share
    """Factor of a play's weight for each game since then."""
    cost: _Size
    """A play that cost the share c of the game weighs exp(-`cost` c^2)."""
    lost: _Share
    """Factor of the weight of a play in a game that the person lost."""
    constant: float
    ply: float
    entropy: float
    visits: float
    """The prediction without memory weighs exp(`constant` - `ply` t - `entropy` H + `visits` ln(1 + n)) at
    ply t, where H is its entropy in nats and n the number of earlier replies in the position."""


@dataclass(frozen=True, slots=True)
class VectorPrior:
    """The distribution of people's vectors (`engine.person.vector`)."""

    network: str
    """SHA-256 of the network that computes the planes."""
    mean: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    forgetting: _Share
    """Share of the prior's precision that replaces learned precision after each game."""

    def __post_init__(self) -> None:
        size = len(self.mean)
        if not size or [len(row) for row in self.covariance] != [size] * size:
            raise ValueError("mean and covariance differ in size")
        covariance = np.array(self.covariance)
        if not np.array_equal(covariance, covariance.T) or np.linalg.eigvalsh(covariance).min() < 1e-9:
            raise ValueError("covariance: not symmetric and positive definite")

    @property
    def precision(self) -> Floats:
        """The inverse of the covariance."""
        return np.asarray(np.linalg.inv(np.array(self.covariance)))


@dataclass(frozen=True, slots=True)
class PersonCard:
    """A card; immutable."""

    version: str
    """SHA-256 of the file, in hexadecimal."""
    memory: MemoryConstants
    tilt: PersonPrior
    """Has one prior, for all base models without a prior of their own."""
    vector: VectorPrior | None
    """None if the game has no network with planes of persons."""

    @classmethod
    def parse(cls, data: bytes, where: str) -> "PersonCard":
        """Read a card.

        Raises:
            BadModel: The data is not a card; the message names the file and says what is wrong.
        """
        try:
            content = json.loads(data)
            memory, vector, tilt = content["memory"], content["vector"], content["tilt"]
            return cls(
                hashlib.sha256(data).hexdigest(),
                reader(MemoryConstants)(memory),
                PersonPrior.parse(json.dumps(tilt).encode(), where),
                None if vector is None else reader(VectorPrior)(vector),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadModel(f"{where}: not a card: {type(error).__name__}: {error}") from None


@dataclass(frozen=True, slots=True)
class PersonModel:
    """How the replies of one game's persons are learned and predicted."""

    game: str
    card: PersonCard
    prior: PersonPrior | None
    """The game's priors of the tilt, if it has any."""
    base: str
    """`engine.human.person_prior.base_key` of the model whose probabilities are adapted to the person."""
    folded_as: str = ""
    """The version of states that were folded beside a base model that is not at hand; empty if it is."""

    @property
    def version(self) -> str:
        """Identifies all that a state's numbers depend on but the games: a SHA-256 in hexadecimal."""
        if self.folded_as:
            return self.folded_as
        tilt = "" if self._own_prior is None else self._own_prior.version
        return hashlib.sha256(f"{self.game} {self.card.version} {tilt} {self.base}".encode()).hexdigest()

    @property
    def tilt(self) -> BasePrior:
        """The prior of the tilt for this base model."""
        own = self._own_prior
        return next(iter(self.card.tilt.bases.values())) if own is None else own.bases[self.base]

    @property
    def tilt_prior(self) -> PersonPrior:
        """The priors among which `tilt` is."""
        return self._own_prior or self.card.tilt

    @property
    def uniform(self) -> float:
        """See `PersonPrior.uniform`."""
        return self.tilt_prior.uniform

    @property
    def forgetting(self) -> float:
        """See `PersonPrior.forgetting`."""
        return self.tilt_prior.forgetting

    def tilt_weights(self, rating: float | None, seconds: float | None) -> Floats:
        """`PersonPrior.prior_weights` for a person and a game."""
        return self.tilt_prior.prior_weights(self.tilt.base, rating, seconds)

    @property
    def _own_prior(self) -> PersonPrior | None:
        return None if self.prior is None or self.base not in self.prior.bases else self.prior


def person_model(
    game: str, prior: PersonPrior | None, base: str, folder: Path = Path(__file__).parent
) -> PersonModel:
    """The model with the game's card.

    Args:
        game: The game's name.
        prior: The game's priors of the tilt.
        base: See `PersonModel.base`.
        folder: Where the cards are.

    Raises:
        BadModel: The card is missing or damaged; the message names it.
    """
    own = folder / f"{game}.json"
    return PersonModel(game, _read(own if own.exists() else folder / "games.json"), prior, base)


@lru_cache(maxsize=16)
def _read(path: Path) -> PersonCard:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise BadModel(f"{path}: {error.strerror}") from None
    return PersonCard.parse(data, str(path))
