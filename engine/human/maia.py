"""Maia: networks that move like lichess.org players of a given rating (McIlroy-Young et al. 2020).

The networks are third-party work: the operator supplies the published files, and
``desdemona lab import-model`` converts them into the form read here (`lab.training.maia_onnx`).
"""

import bisect
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from engine.decision import ModelInfo
from engine.games.standard_chess import ChessPosition, StandardChess
from engine.human.maia_planes import HISTORY, MOVES, InputPlanes, encode, places
from engine.human.model import DEFAULT_RATING, MAIA, BadModel, PredictionQuery
from engine.human.onnx import OnnxNetwork

GAME = "chess"

MIN_LEGAL_MASS = 0.997
"""Minimum total probability that a valid network gives to the legal moves in well-known openings."""
_MIN_MASS_ANYWHERE = 1e-4
"""The same minimum in other positions; even valid networks sometimes almost overlook a check or a pin."""
_OPENINGS = (
    "startpos",
    "startpos moves e2e4",
    "startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 d2d3 f8c5",
    "startpos moves d2d4 d7d5 c2c4 e7e6 b1c3 g8f6 c1g5 f8e7 e2e3",
)
"""Openings on which every network is tested, both sides to move."""
_BATCH = 64
"""Number of positions per batch; larger batches are no faster, and take more memory."""


@cache
def openings() -> tuple[tuple[ChessPosition, ...], ...]:
    """The test openings, as games from the start position; the first consists of the start position only."""
    game, openings = StandardChess(), []
    for text in _OPENINGS:
        start, _, moves = text.partition(" moves ")
        positions = [game.parse_position(start)]
        for move in moves.split():
            positions.append(game.play(positions[-1], game.parse_move(positions[-1], move)))
        openings.append(tuple(positions))
    return tuple(openings)


class MaiaModel:
    """One network, for people of one rating; it ignores the query's rating. Used by one thread at a time.

    Args:
        network: See `lab.training.maia_onnx`.

    Raises:
        BadModel: The network is of a different kind.
    """

    game = GAME
    max_history_positions = HISTORY

    def __init__(self, network: OnnxNetwork) -> None:
        network.require(MAIA, GAME)
        self._network = network
        self.info = network.info
        rating = network.metadata.get("rating", "")
        if rating and not (rating.isascii() and rating.isdigit() and len(rating) <= 4):
            raise BadModel(f"{network.where}: {rating[:20]!r} is not a rating")
        self.rating = int(rating) if rating else None
        """Rating of the people whom the model imitates; None if unknown."""
        self._is_tried = False

    def start(self) -> float:
        """Load the network, and test it in a few openings.

        Returns:
            The minimum total probability of the legal moves over these openings.

        Raises:
            BadModel: The network cannot be run, or gives illegal moves too much probability.
        """
        self._is_tried = True
        mass = min(self.ask(openings())[1])
        if mass < MIN_LEGAL_MASS:
            self._is_tried = False
            raise BadModel(
                f"{self.info.name}: in openings legal moves have only {mass:.4f} of the probability, "
                f"not {MIN_LEGAL_MASS} or more"
            )
        return mass

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        return self.ask([ask.positions for ask in asks])[0] if asks else []

    def ask(
        self, histories: Sequence[Sequence[ChessPosition]]
    ) -> tuple[list[tuple[float, ...]], list[float]]:
        """The probabilities of the legal moves, and the legal moves' share of the network's raw output.

        Args:
            histories: The latest positions of each game, oldest first; the last position has legal moves.

        Raises:
            BadModel: The output is malformed.
        """
        answers, masses = EncodedPositions(histories).answers(self)
        return [tuple(row) for row in answers], masses

    def moves(self, planes: InputPlanes) -> NDArray[np.float32]:
        """The network's output: shape (positions, 1858), probabilities of `maia_planes.SLOTS`.

        Raises:
            BadModel: The output is malformed.
        """
        if not self._is_tried:
            self.start()
        count = planes.now.shape[3]
        outputs = []
        for at in range(0, count, _BATCH):
            size = min(_BATCH, count - at)
            answers = self._network.run("moves", planes.part(at, at + size)._asdict())
            if answers.shape != (size, MOVES):
                shape = " x ".join(map(str, answers.shape))
                output = f"{shape} numbers" if shape else "a single number"
                raise BadModel(f"{self.info.name}: the output is {output}, not {size} x {MOVES}")
            outputs.append(answers)
        return np.concatenate(outputs) if len(outputs) != 1 else outputs[0]


class EncodedPositions:
    """Encoded positions, which can be the input of several networks."""

    def __init__(self, histories: Sequence[Sequence[ChessPosition]]) -> None:
        self._planes = encode(histories)
        self._sizes, self._places = places([history[-1] for history in histories])

    def answers(self, model: MaiaModel) -> tuple[list[list[float]], list[float]]:
        """The probabilities of each position's legal moves, and the legal moves' share of the raw output.

        Raises:
            BadModel: The output is malformed.
        """
        answers = model.moves(self._planes)
        rows = np.repeat(np.arange(len(self._sizes)), self._sizes)
        legal = answers[rows, self._places].astype(np.float64)
        ends = np.cumsum(self._sizes)
        masses = np.add.reduceat(legal, ends - self._sizes)
        if not (masses >= _MIN_MASS_ANYWHERE).all() or not (masses <= 1 + 1e-3).all() or legal.min() < 0:
            worst = float(masses[np.argmax(np.abs(masses - 1))])
            raise BadModel(
                f"{model.info.name}: legal moves have {worst:.4f} of the probability, not nearly all of it"
            )
        shares = legal / masses[rows]
        parts = [part.tolist() for part in np.split(shares, ends[:-1])]
        return parts, masses.tolist()


class MaiaFamily:
    """Several networks, each for people of one rating, with interpolation between two ratings.

    Weights are linear in the difference of the ratings; below the lowest and above the highest rating, only
    the nearest network is used. Used by one thread at a time.

    Args:
        models: Networks, each for a different rating.
        unrated: Rating assumed for people whose rating is unknown.

    Raises:
        BadModel: There are no models, or a rating is unknown or occurs twice.
    """

    game = GAME
    max_history_positions = HISTORY

    def __init__(self, models: Iterable[MaiaModel], unrated: int = DEFAULT_RATING) -> None:
        by_rating: dict[int, MaiaModel] = {}
        for model in models:
            if model.rating is None:
                raise BadModel(f"{model.info.name}: does not state its rating")
            if other := by_rating.get(model.rating):
                raise BadModel(f"{model.info.name} and {other.info.name} are both for {model.rating}")
            by_rating[model.rating] = model
        if not by_rating:
            raise BadModel("no network to choose from")
        self._ratings = sorted(by_rating)
        self._models = [by_rating[rating] for rating in self._ratings]
        self._unrated = unrated
        sums = " ".join(model.info.sha256 for model in self._models)
        name = "-".join(str(rating) for rating in (self._ratings[0], self._ratings[-1]))
        self.info = ModelInfo(MAIA, f"{MAIA}-{name}", hashlib.sha256(sums.encode()).hexdigest())

    def rating_weights(self, rating: int | None) -> list[tuple[MaiaModel, float]]:
        """The networks for a rating, with their weights, which add up to 1."""
        wanted = self._unrated if rating is None else rating
        above = bisect.bisect_left(self._ratings, wanted)
        if above == len(self._ratings):
            return [(self._models[-1], 1.0)]
        if above == 0 or self._ratings[above] == wanted:
            return [(self._models[above], 1.0)]
        low, high = self._ratings[above - 1], self._ratings[above]
        share = (wanted - low) / (high - low)
        return [(self._models[above - 1], 1 - share), (self._models[above], share)]

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        alike: dict[int | None, list[int]] = defaultdict(list)
        for index, ask in enumerate(asks):
            alike[ask.person.rating].append(index)
        found: list[tuple[float, ...]] = [()] * len(asks)
        for rating, group in alike.items():
            question = EncodedPositions([asks[index].positions for index in group])
            parts = [(question.answers(model)[0], share) for model, share in self.rating_weights(rating)]
            for at, index in enumerate(group):
                mixed = [np.multiply(answers[at], share) for answers, share in parts]
                found[index] = tuple(np.add.reduce(mixed).tolist())
        return found
