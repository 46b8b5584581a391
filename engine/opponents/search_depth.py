"""How deep an opponent searches, told from the replies: the model M* of Carmel and Markovitch (1996).

A complete decision has the scores of all replies after searches of 1, 2, ... plies from the opponent's
position. An opponent of depth d is assumed to choose the best reply by the scores of d plies, with noise:
with probability 1 - u the choice follows a softmax of the expected scores with temperature t, and with
probability u any reply is equally likely. `depth_estimate` returns the posterior over d, summed over a grid
of (t, u), with equal weights before the first reply. Gordon & Reda 2006 (section 3.2) say what it is good
for: against an opponent with a shallower minimax search, "looking at just that depth would be sufficient".

The depth is that of the program's own full-width search that replies most alike. A person gets one, too: with
much noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Self

import numpy as np
from numpy.typing import NDArray

from engine.decision import Decision, SearchMode
from engine.expected import WHOLE, expected_score
from engine.figure_9 import MIN_ERROR_COST, expected_scale_centi
from engine.opponents.trust import TEMPERATURES

RANDOM_SHARES = (0.01, 0.1, 0.3)
"""Shares u of random replies."""
MIN_REPLIES = 20
"""Minimum number of replies for which an estimate is shown."""
MIN_PROBABILITY = 0.8
"""Minimum probability of a depth that is shown."""
MIN_AGREEMENT = 0.5
"""Minimum share of replies that are the best at the depth that is shown. Tournament players of Othello have
50 to 70 % at their best depth, so the share is shown beside the depth."""
_MIN_USED_SHARE = 0.5
"""A depth is possible if at least this share of the decisions was searched deep enough to see it."""

_NOISES = tuple(product(TEMPERATURES, RANDOM_SHARES))
_INEXACT = (SearchMode.ENGINE, SearchMode.ENGINE_MOVE)


@dataclass(frozen=True, slots=True)
class SeenReply:
    """A reply that somebody played, with what searches of each depth think of all replies."""

    values: tuple[tuple[int, ...], ...]
    """For each depth of 1, 2, ... plies from the position before the reply: the expected score of each legal
    reply, from the replying side, in hundredths of a per cent. The last is the decision's own full depth."""
    played: int
    """Index of the reply that was played."""

    @classmethod
    def of(cls, decision: Decision, reply: str) -> Self | None:
        """What a decision says of the reply to its move.

        None if it says nothing: the reply was forced, the move's profile is incomplete or its scores come
        from another engine's selective searches, or the profile lacks the reply.
        """
        chosen = decision.chosen
        replies = [each.reply for each in chosen.replies]
        if decision.search_mode in _INEXACT or not chosen.is_whole or len(replies) < 2:
            return None
        if reply not in replies:
            return None
        scale = expected_scale_centi(decision)
        by_reply = [
            [WHOLE - expected_score(score, scale) for score in r.scores_centi] for r in chosen.replies
        ]
        return cls(tuple(zip(*by_reply, strict=True)), replies.index(reply))

    @property
    def depths(self) -> int:
        """Number of depths whose scores are known."""
        return len(self.values)

    def cost_at(self, depth: int) -> int:
        """What the reply costs by a search of this many plies, in hundredths of a per cent of expected score.

        Beyond `depths`, the cost at the last known depth.
        """
        values = self.values[min(depth, self.depths) - 1]
        return max(values) - values[self.played]


@dataclass(frozen=True, slots=True)
class DepthEstimate:
    """What an opponent's replies say about the depth of its search."""

    probabilities: tuple[float, ...]
    """The posterior probability of each depth, from 1 ply on; the last means that depth or more."""
    replies: int
    """Number of replies behind it."""
    agreement: float
    """Share of the replies that are the best, or as good, by a search of `depth` plies; 0 without replies."""
    errors: int
    """Number of replies that cost a tenth of the game or more by the decisions' own, full depth."""
    seen_errors: int
    """Number of replies that cost as much by a search of `depth` plies: errors that it could have seen."""
    unseen_errors: int
    """Number of `errors` that are no errors by a search of `depth` plies: it could not have seen them."""

    @property
    def depth(self) -> int:
        """The most probable depth in plies, counted from the position before the reply."""
        return self.probabilities.index(max(self.probabilities)) + 1

    @property
    def probability(self) -> float:
        """The probability of `depth`."""
        return max(self.probabilities)

    @property
    def is_limit(self) -> bool:
        """Whether `depth` is the greatest that the decisions can see, so that it means *or more*."""
        return self.depth == len(self.probabilities)

    @property
    def is_shown(self) -> bool:
        """Whether there is enough evidence that the opponent replies like a search of `depth` plies."""
        return (
            self.replies >= MIN_REPLIES
            and self.probability >= MIN_PROBABILITY
            and self.agreement >= MIN_AGREEMENT
        )


def depth_estimate(replies: Sequence[SeenReply]) -> DepthEstimate | None:
    """The posterior over the depth of the search that chose these replies; None without any.

    A decision of smaller depth than others says the same of all depths beyond its own.
    """
    if not replies:
        return None
    depths = sorted((each.depths for each in replies), reverse=True)
    most = depths[int((len(depths) - 1) * _MIN_USED_SHARE)]
    log_likelihoods = np.zeros((most, len(_NOISES)))
    for each in replies:
        log_likelihoods += np.log(_likelihoods(each, most))
    weights = np.exp(log_likelihoods - log_likelihoods.max()).sum(axis=1)
    probabilities = tuple(float(each) for each in weights / weights.sum())
    depth = probabilities.index(max(probabilities)) + 1
    errors = [each.cost_at(each.depths) >= MIN_ERROR_COST for each in replies]
    seen = [each.cost_at(depth) >= MIN_ERROR_COST for each in replies]
    return DepthEstimate(
        probabilities,
        len(replies),
        sum(each.cost_at(depth) == 0 for each in replies) / len(replies),
        sum(errors),
        sum(seen),
        sum(is_error and not is_seen for is_error, is_seen in zip(errors, seen, strict=True)),
    )


def _likelihoods(reply: SeenReply, most: int) -> NDArray[np.float64]:
    """The probability of the reply by depth and noise, shape (`most`, noises)."""
    values = np.array([reply.values[min(at, reply.depths - 1)] for at in range(most)], np.float64)
    below = values - values.max(axis=1, keepdims=True)
    found = np.empty((most, len(_NOISES)))
    for at, temperature in enumerate(TEMPERATURES):
        weights = np.exp(below / temperature)
        chosen = weights[:, reply.played] / weights.sum(axis=1)
        for beside, share in enumerate(RANDOM_SHARES):
            column = at * len(RANDOM_SHARES) + beside
            found[:, column] = (1 - share) * chosen + share / values.shape[1]
    return found
