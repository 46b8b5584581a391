"""How far the model of people is believed for one opponent, from what the opponent replied.

After each reply to a move whose replies were predicted, the prediction is compared with the alternative that
the opponent simply plays well: a softmax of what the replies lose, averaged over strengths,
separately for each reply, since a person is not equally strong everywhere.
The ratio of the two probabilities is the evidence of the reply (a Bayes factor), and the trust is the
posterior probability of the people model. It begins at `UNKNOWN` for a person, or where it was after the game
before, and at 0 for a program, where it stays.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from engine.decision import ExploitUse
from engine.expected import expected_score
from engine.opponents.exploit_value import MIN_ERROR_DEPTH, given_up

UNKNOWN = 0.5
"""Trust in the model of a person of whom nothing is known."""
TEMPERATURES = (20.0, 100.0, 300.0, 1000.0)
"""Temperatures of a softmax over replies, from strong to weak play, in hundredths of a per cent of expected
score."""
OTHERS = 0.05
"""The alternative's probability of all replies together that were not weighed."""
MIN_P = 0.005
"""Probability of a reply that a model excludes: no model is that sure."""
MAX_EVIDENCE = math.log(10)
"""No single reply counts more."""
MIN_UNCERTAIN, MAX_UNCERTAIN = 0.1, 0.98
"""Limits of a trust that is neither 0 nor 1: a model may be right in another part of the game, or in another
game, and one reply that it does not expect must not settle the matter."""


class WeighedMove(NamedTuple):
    """A move of ours that was chosen by weighing the opponent's errors."""

    ply: int
    """Number of moves before it."""
    move: str
    use: ExploitUse


class ExploitFacts(NamedTuple):
    """What the strategy exploit knows of its opponent in a game."""

    trust: float
    """See `engine.human.opponent_model_search.Background`, also for `spent`."""
    spent: float
    prior: float = 0.0
    """The trust at the game's start."""
    replies: int = 0
    """The number of replies in the game that say whether the model is right."""
    evidence: float = 0.0
    """The sum of their evidence (`reply_evidence`)."""


def facts_of(prior: float, weighed: Iterable[WeighedMove], moves: Sequence[str]) -> ExploitFacts:
    """What the strategy exploit knows before its next move.

    Args:
        prior: The trust at the game's start.
        weighed: Its earlier choices, at most one for each ply; those that were taken back do not count.
        moves: The moves of the game.
    """
    spent, evidence = 0.0, []
    for ply, move, use in weighed:
        if ply < len(moves) and moves[ply] == move:
            spent += given_up(use, move)
            if ply + 1 < len(moves):
                evidence.append(reply_evidence(use, move, moves[ply + 1]))
    counted = [each for each in evidence if each is not None]
    return ExploitFacts(trust_after(prior, counted), spent, prior, len(counted), math.fsum(counted))


def reply_evidence(use: ExploitUse, move: str, reply: str) -> float | None:
    """The logarithm of the Bayes factor of a reply; positive if the model of people predicted it better.

    Args:
        use: How the move was chosen.
        move: Our move.
        reply: The reply that was played.

    Returns:
        The evidence; None if there is none, because the replies were not weighed, or by few plies, or there
        is only one.
    """
    weighed = next((each for each in use.contenders if each.move == move), None)
    if weighed is None or len(weighed.replies) < 2 or use.reply_depth < MIN_ERROR_DEPTH:
        return None
    # Compared with the best reply, as in an even game: far ahead or behind, all replies would seem alike.
    best_centi = min(each.score_centi for each in weighed.replies)
    values = [-expected_score(each.score_centi - best_centi, use.scale_centi) for each in weighed.replies]
    at = next((number for number, each in enumerate(weighed.replies) if each.reply == reply), None)
    rest = 1 - math.fsum(each.probability for each in weighed.replies)
    if at is None:  # neither likely nor the best: people play such moves more often than good players
        p, q = rest, OTHERS
    else:
        by_temperature = []
        for temperature in TEMPERATURES:
            weights = [math.exp((value - max(values)) / temperature) for value in values]
            by_temperature.append(weights[at] / math.fsum(weights))
        p, q = weighed.replies[at].probability, (1 - OTHERS) * math.fsum(by_temperature) / len(TEMPERATURES)
    return max(-MAX_EVIDENCE, min(MAX_EVIDENCE, math.log(max(MIN_P, p) / max(MIN_P, q))))


def trust_after(prior: float, evidence: Iterable[float]) -> float:
    """The trust after some replies, each time within `MIN_UNCERTAIN` and `MAX_UNCERTAIN`.

    Args:
        prior: The trust before them; at 0 and 1 it stays.
        evidence: `reply_evidence` of each reply, in their order.
    """
    if not 0 < prior < 1:
        return prior
    trust = _bounded(prior)
    for each in evidence:
        ratio = trust / (1 - trust) * math.exp(each)
        trust = _bounded(ratio / (1 + ratio))
    return trust


def _bounded(trust: float) -> float:
    return max(MIN_UNCERTAIN, min(MAX_UNCERTAIN, trust))
