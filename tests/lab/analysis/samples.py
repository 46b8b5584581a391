"""Analysed positions for the tests: made up where that is enough, otherwise from a real game."""

from collections.abc import Sequence

import numpy as np

from engine.decision import ReplyProfile
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from lab.analysis.analysed_games import AnalysedPosition, StoredPosition

ROOT = "8/8/8/3wb3/3bw3/8/8/8 b"
MOVE = "f5"
REPLIES = ("d6", "f4", "f6")
LOGISTIC = 500.0


def position(
    number: int, scores: Sequence[Sequence[int]], played: int, human: Sequence[float] | None = None
) -> StoredPosition:
    """An Othello position with three replies of these scores, from our view."""
    replies = tuple(ReplyProfile(text, tuple(row)) for text, row in zip(REPLIES, scores, strict=True))
    return StoredPosition(
        id=number,
        game_key=f"game {number // 3}",
        date=str(2000 + number % 20),
        found=AnalysedPosition(
            game_id=1 + number // 3,
            ply=1,
            side=1,
            position=ROOT,
            move=MOVE,
            reply=REPLIES[played],
            rating=1500 + number % 500,
            clock_s=None,
            logistic_centi=LOGISTIC,
            replies=replies,
            nodes=1,
            time_s=0.0,
        ),
        human=None if human is None else tuple(human),
    )


def costs_of(*costs: int) -> ReplyCosts:
    """The judge's costs of the three replies."""
    each = tuple(
        ReplyCost(reply, -cost, cost, 9, is_solved=False) for reply, cost in zip(REPLIES, costs, strict=True)
    )
    return ReplyCosts(JUDGE_VERSION, each[costs.index(0)], each)


def made_up(count: int, seed: int = 1, shun: float = 3.0, bias: float = 0.0) -> list[StoredPosition]:
    """Positions of people who play by a human-move model's probabilities, but shun moves that cost them.

    Args:
        shun: How much.
        bias: How much of the model's prediction is noise to the people.
    """
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        scores = rng.integers(-800, 800, (3, 4))
        worth = 1 / (1 + np.exp(scores[:, -1] / LOGISTIC))
        human = rng.dirichlet(np.ones(3) * 2)
        probabilities = human ** (1 - bias) * np.exp(shun * worth)
        played = int(rng.choice(3, p=probabilities / probabilities.sum()))
        found.append(position(number, scores.tolist(), played, human.tolist()))
    return found
