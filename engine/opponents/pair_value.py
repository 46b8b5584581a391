"""What a position is worth between two players: a logistic of search score, stage and rating difference.

A game's scale (`Game.expected_scale_centi`) says what a score is worth between equal programs. People lose
won games, the stronger of two wins lost ones, and less so near the end. For the side to move::

    logit w = b0 + b1 x + b2 e + b3 x e + b4 d + b5 d e

x is the search's score over the game's scale (at most `MAX_X` in size), e the share of the game that is left
(`stage_of`), d the rating of the side to move minus the other's over `POINTS`, at most `MAX_DIFFERENCE` in
size. The coefficients of each game are in `pair_GAME.json`, with the games behind them;
`desdemona lab fit-pair` fits them. Ratings must be on one scale, the site's own. A forced result stays one.
"""

import hashlib
import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, NamedTuple, Self

from engine.decision import Decision, PairScale
from engine.errors import RecordError
from engine.expected import PER_PERCENT, WHOLE
from engine.game import WIN_CENTI, Game
from engine.games import get_rules
from engine.plain_values import reader

POINTS = 400.0
MAX_X = 6.0
MAX_DIFFERENCE = 2.0
"""Larger differences hardly occur among the games that the coefficients were fitted to."""
MIN_VALUE, MAX_VALUE = 5 * PER_PERCENT, 95 * PER_PERCENT
"""Outside this range of expected scores, in hundredths of a per cent, a game is decided for the players."""


class PairRatings(NamedTuple):
    """The ratings of the two players at one site."""

    ours: int
    theirs: int

    @classmethod
    def of(cls, ours: int | None, theirs: int | None) -> Self | None:
        """The ratings; None unless both are known."""
        return None if ours is None or theirs is None else cls(ours, theirs)


class PairFeatures(NamedTuple):
    """The numbers from which a position's worth is computed."""

    x: float
    stage: float
    difference: float


def stage_of(game: Game[Any], position: Any) -> float:
    """The share of the game that is left, from 0 to 1: plies left of those from the initial position."""
    return min(1.0, game.plies_left(position) / game.plies_left(game.initial()))


def pair_features(score_centi: int, scale_centi: float, stage: float, difference: float) -> PairFeatures:
    """The features of a position.

    Args:
        score_centi: The search's score for the side to move.
        scale_centi: `Game.expected_scale_centi` of the position.
        stage: `stage_of` the position.
        difference: The rating of the side to move minus the other side's.
    """
    return PairFeatures(
        max(-MAX_X, min(MAX_X, score_centi / scale_centi)),
        stage,
        max(-MAX_DIFFERENCE, min(MAX_DIFFERENCE, difference / POINTS)),
    )


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The coefficients b0 to b5 of the module's formula."""

    constant: float
    score: float
    stage: float
    score_stage: float
    difference: float
    difference_stage: float

    def __post_init__(self) -> None:
        if min(self.score, self.score + self.score_stage) <= 0:
            raise ValueError("a better score is worth less")

    def between(self, difference: float, root_stage: float) -> PairScale:
        """The scale for two players.

        Args:
            difference: The rating of the player whose score it is minus the other's.
            root_stage: `stage_of` a decision's position.
        """
        d = max(-MAX_DIFFERENCE, min(MAX_DIFFERENCE, difference / POINTS))
        return PairScale(
            self.constant + self.difference * d,
            self.stage + self.difference_stage * d,
            self.score,
            self.score_stage,
            root_stage,
        )

    def value(self, features: PairFeatures) -> float:
        """The expected score of the side to move, from 0 to 1."""
        x, stage, difference = features
        logit = (
            self.constant
            + (self.score + self.score_stage * stage) * x
            + self.stage * stage
            + (self.difference + self.difference_stage * stage) * difference
        )
        return 1 / (1 + math.exp(-logit))


@dataclass(frozen=True, slots=True)
class PairModel:
    """The coefficients of one game."""

    game: str
    coefficients: Coefficients
    sha256: str
    """SHA-256 of the card, in hexadecimal."""

    @classmethod
    def parse(cls, data: bytes, name: str) -> Self:
        """Read a card.

        Args:
            data: The card, JSON.
            name: Its name, for messages.

        Raises:
            RecordError: It is not a card, or a better score would be worth less.
        """
        try:
            card = json.loads(data)
            coefficients = reader(Coefficients)(card["coefficients"])
            game = reader(str)(card["game"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"{name}: not the card of a pair's value: {error}") from None
        return cls(game, coefficients, hashlib.sha256(data).hexdigest())


@cache
def pair_model(game_name: str) -> PairModel | None:
    """The bundled coefficients of a game; None if it has none."""
    path = resources.files(__package__) / f"pair_{game_name}.json"
    if not path.is_file():
        return None
    return PairModel.parse(path.read_bytes(), path.name)


def pair_value(
    game_name: str, position: Any, score_centi: int, mover_rating: int, other_rating: int
) -> int | None:
    """What a position is worth to the side to move against this opponent; None if the game has no model.

    Args:
        game_name: Key of the game.
        position: The position, from `Game.for_search`.
        score_centi: The search's score for the side to move.
        mover_rating: The rating of the side to move.
        other_rating: The other side's rating, at the same site.

    Returns:
        Hundredths of a per cent; 0 or `WHOLE` for a forced result.
    """
    if abs(score_centi) >= WIN_CENTI:
        return WHOLE if score_centi > 0 else 0
    model = pair_model(game_name)
    if model is None:
        return None
    game = get_rules(game_name)
    scale, stage = game.expected_scale_centi(position), stage_of(game, position)
    found = model.coefficients.value(pair_features(score_centi, scale, stage, mover_rating - other_rating))
    return round(WHOLE * found)


def is_decided(
    game_name: str, position: Any, score_centi: int, mover_rating: int, other_rating: int
) -> bool | None:
    """Whether a game is decided between these two players: one of them scores less than `MIN_VALUE`.

    Args:
        game_name: See `pair_value`, also for the other arguments.

    Returns:
        None if the game has no model.
    """
    value = pair_value(game_name, position, score_centi, mover_rating, other_rating)
    return None if value is None else not MIN_VALUE <= value <= MAX_VALUE


def decides(decision: Decision, score_centi: int, ratings: PairRatings | None) -> bool | None:
    """Whether the game is decided between us and our opponent by our score for a decision.

    Args:
        decision: Our decision.
        score_centi: Our score after the chosen move.
        ratings: Both ratings; None if one is unknown.

    Returns:
        None if a rating is unknown or the game has no model.
    """
    if ratings is None:
        return None
    game = get_rules(decision.game)
    root = game.for_search(game.parse_position(decision.position))
    return is_decided(decision.game, root, score_centi, ratings.ours, ratings.theirs)
