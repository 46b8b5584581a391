"""The memory of a person's own replies in positions that they have met before, up to symmetry.

A person repeats their own reply in the same position much more often than other people play it, errors
included, though seldom the costliest. A past reply that cost the share c of the game weighs
``decay^(games since) exp(-cost c^2)``, and less if the game was lost (`MemoryConstants`). With w(r) the
weights of past replies r, n their number, and c the weight of the prediction p without memory::

    p'(r) = (w(r) + c p(r)) / (sum of w + c)

Positions that are only similar are not used: they predict nothing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from engine.person.card import MemoryConstants
from engine.person.symmetry import PositionKeys

MICRO = 1_000_000
"""Weights are whole millionths, so that a fold gives the same state everywhere."""
MAX_PLAYS = 40_000
"""Maximum number of remembered pairs of a position and a reply; those that weigh least are forgotten."""
_LEAST_MICRO = 1_000
_MOST_MICRO, _MOST_PLAYS = 2**32 - 1, 2**16 - 1
"""What a stored state has room for."""
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Play:
    """What is remembered of one reply in one position."""

    reply: int
    """Key of the reply (`PositionKeys.replies`)."""
    weight_micro: int
    """The sum of its plays' weights, as of the game `game`, in millionths."""
    game: int
    """Number of the person's game in which it was last played, from 0."""
    plays: int
    """How often it was played."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a memory says about the replies in one position."""

    weights: tuple[float, ...]
    """w(r) of each legal reply, to six digits."""
    visits: int
    """Number of earlier replies in the position, n."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A person's replies by position; immutable."""

    positions: Mapping[int, tuple[Play, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Keyed by `PositionKeys.position`; the plays ascend by `Play.reply`."""

    def recall(self, constants: MemoryConstants, keys: PositionKeys, games: int) -> Recalled:
        """What is remembered of a position.

        Args:
            constants: From the card.
            keys: The position and its legal replies.
            games: Number of the person's games before this one.
        """
        plays = {play.reply: play for play in self.positions.get(keys.position, ())}
        weights = []
        for reply in keys.replies:
            play = plays.get(reply)
            weight = 0.0 if play is None else _weight_now(play, constants, games) / MICRO
            weights.append(round(weight / keys.replies.count(reply), _DIGITS))
        return Recalled(tuple(weights), sum(play.plays for play in plays.values()))

    def with_game(
        self,
        constants: MemoryConstants,
        replies: Sequence[tuple[PositionKeys, int, float]],
        game: int,
        *,
        is_lost: bool,
    ) -> "Memory":
        """Return the memory after a game.

        Args:
            constants: From the card.
            replies: For each reply of the person: the position, the reply's index, its cost from 0 to 1.
            game: Number of the game, from 0.
            is_lost: Whether the person lost it.
        """
        positions = dict(self.positions)
        for keys, index, cost in replies:
            key = keys.replies[index]
            plays = {play.reply: play for play in positions.get(keys.position, ())}
            before = plays.get(key, Play(key, 0, game, 0))
            fresh = math.exp(-constants.cost * cost**2) * (constants.lost if is_lost else 1.0)
            weight = round(_weight_now(before, constants, game)) + round(fresh * MICRO)
            plays[key] = Play(key, min(weight, _MOST_MICRO), game, min(before.plays + 1, _MOST_PLAYS))
            positions[keys.position] = tuple(plays[reply] for reply in sorted(plays))
        return Memory(MappingProxyType(_bounded(positions, constants, game)))


def _weight_now(play: Play, constants: MemoryConstants, games: int) -> float:
    """The weight in the game with this number."""
    return play.weight_micro * constants.decay ** (games - play.game)


def _bounded(
    positions: dict[int, tuple[Play, ...]], constants: MemoryConstants, game: int
) -> dict[int, tuple[Play, ...]]:
    """Drop plays that weigh next to nothing, and those that weigh least if there are too many.

    Which are dropped must not depend on the order of the positions.
    """
    if sum(map(len, positions.values())) <= MAX_PLAYS:
        return positions
    weighed = sorted(
        (
            (_weight_now(play, constants, game), key, play)
            for key, plays in positions.items()
            for play in plays
        ),
        key=lambda each: (-each[0], each[1], each[2].reply),
    )
    # Some more than necessary, so that this is not done after every game.
    kept = [(key, play) for weight, key, play in weighed[: MAX_PLAYS * 3 // 4] if weight >= _LEAST_MICRO]
    left: dict[int, list[Play]] = {}
    for key, play in kept:
        left.setdefault(key, []).append(play)
    return {key: tuple(sorted(plays, key=lambda each: each.reply)) for key, plays in left.items()}


def prior_weight(constants: MemoryConstants, ply: int, probabilities: Sequence[float], visits: int) -> float:
    """The weight c of the prediction without memory, to six digits.

    Args:
        constants: From the card.
        ply: Number of plies before the reply.
        probabilities: The prediction without memory.
        visits: `Recalled.visits`.
    """
    entropy = -math.fsum(p * math.log(p) for p in probabilities if p > 0)
    exponent = (
        constants.constant
        - constants.ply * ply
        - constants.entropy * entropy
        + constants.visits * math.log1p(visits)
    )
    return round(math.exp(exponent), _DIGITS)


def blended(weights: Sequence[float], own_weight: float, probabilities: Sequence[float]) -> tuple[float, ...]:
    """The probabilities with memory.

    Args:
        weights: `Recalled.weights`.
        own_weight: `prior_weight`.
        probabilities: The prediction without memory.
    """
    total = math.fsum(weights) + own_weight
    if total <= 0:
        return tuple(probabilities)
    return tuple((w + own_weight * p) / total for w, p in zip(weights, probabilities, strict=True))
