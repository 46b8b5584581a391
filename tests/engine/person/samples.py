"""Models, positions and simulated persons for the tests of `engine.person`."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from engine.games import get_rules
from engine.human.person_prior import BasePrior, Gaussian, PersonPrior, PriorGrid, RatingScale
from engine.person.card import MemoryConstants, PersonCard, PersonModel, VectorPrior
from engine.person.state import FacedPosition, FoldedGame, FoldedReply, PersonState

BASE = "0" * 64
MEMORY = MemoryConstants(0.98, 10.0, 0.57, 0.4, 0.06, 1.05, 0.65)
SIZE = 4
"""Number of person planes."""


def vector_prior(forgetting: float = 0.05) -> VectorPrior:
    covariance = tuple(tuple(0.25 if row == column else 0.0 for column in range(SIZE)) for row in range(SIZE))
    return VectorPrior("1" * 64, (0.0,) * SIZE, covariance, forgetting)


def model(*, forgetting: float = 0.05, has_vector: bool = True, is_rated: bool = False) -> PersonModel:
    grid = PriorGrid(
        tuple(round(-1.0 + 0.2 * at, 1) for at in range(11)), tuple(float(k) for k in range(-8, 17, 2))
    )
    unrated = Gaussian(("constant",), np.array([[-0.2, 3.0]]), np.array([[0.05, 0.1], [0.1, 6.0]]))
    rated = Gaussian(
        ("constant", "rating"), np.array([[-0.2, 3.0], [0.0, 2.0]]), np.array([[0.05, 0.1], [0.1, 3.0]])
    )
    base = BasePrior(
        BASE,
        6,
        1e-5,
        grid,
        RatingScale("a test", 1600.0, 200.0, 4.0, 0),
        rated if is_rated else None,
        unrated,
    )
    prior = PersonPrior("othello", "2" * 64, 0.003, forgetting, {BASE: base})
    card = PersonCard("3" * 64, MEMORY, prior, vector_prior(forgetting) if has_vector else None)
    return PersonModel("othello", card, prior, BASE)


def empty(of: PersonModel) -> PersonState:
    return PersonState(of.version)


@cache
def positions(count: int, seed: int = 1) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    """Positions of random games of Othello with at least two moves: text, ply and moves."""
    rules, rng = get_rules("othello"), np.random.default_rng(seed)
    found: list[tuple[str, int, tuple[str, ...]]] = []
    while len(found) < count:
        position = rules.initial()
        for ply in range(50):
            moves = rules.legal_moves(position)
            if not moves:
                break
            if ply and len(moves) > 1:
                found.append(
                    (rules.position_text(position), ply, tuple(rules.move_text(move) for move in moves))
                )
            position = rules.play(position, int(rng.choice(moves)))
    return tuple(found[:count])


def faced(rng: np.random.Generator, at: int | None = None) -> FacedPosition:
    """A position with made-up probabilities, costs and planes."""
    known = positions(400)
    text, ply, replies = known[int(rng.integers(len(known))) if at is None else at]
    base = rng.dirichlet(np.ones(len(replies)) * 1.5)
    costs = rng.exponential(0.12, len(replies)).clip(0, 1)
    costs -= costs.min()
    return FacedPosition(
        position=text,
        ply=ply,
        replies=replies,
        base=tuple(base.round(6).tolist()),
        costs=tuple(costs.round(4).tolist()),
        planes=tuple(map(tuple, rng.normal(0, 1, (len(replies), SIZE)).round(4).tolist())),
    )


def folded(where: FacedPosition, index: int) -> FoldedReply:
    return FoldedReply(
        position=where.position,
        ply=where.ply,
        replies=where.replies,
        base=where.base,
        costs=where.costs,
        planes=where.planes,
        reply=where.replies[index],
        judged_cost=where.costs[index],
    )


def drawn(
    rng: np.random.Generator, where: FacedPosition, x: float, k: float, v: Sequence[float] = (0.0,) * SIZE
) -> FoldedReply:
    """The reply of a person with this tilt and vector."""
    planes = np.zeros((len(where.replies), SIZE)) if where.planes is None else np.array(where.planes)
    logits = math.exp(x) * (np.log(np.maximum(where.base, 1e-5)) + planes @ np.array(v))
    logits -= k * np.array(where.costs)
    powers = np.exp(logits - logits.max())
    p = 0.997 * powers / powers.sum() + 0.003 / len(powers)
    return folded(where, int(rng.choice(len(p), p=p / p.sum())))


def game(
    rng: np.random.Generator, x: float, k: float, v: Sequence[float] = (0.0,) * SIZE, replies: int = 20
) -> FoldedGame:
    return FoldedGame(
        is_lost=bool(rng.integers(2)), replies=tuple(drawn(rng, faced(rng), x, k, v) for _ in range(replies))
    )


def without_planes(of: FoldedGame) -> FoldedGame:
    return replace(of, replies=tuple(replace(each, planes=None) for each in of.replies))
