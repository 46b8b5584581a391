"""Draws a move as people of a rating choose it; the draw can be repeated from its record (`PersonDraw`).

A model gives the share of people of that rating who play each move. It is used with two changes:

- Moves that fewer than `MIN_PROBABILITY` of people play are left out, unless no move is played by more: a few
  such draws in a game, each unlikely, would throw away games that these people win.
- Where a move wins at once, at least `win_share` of people play one of the moves that do.
"""

import math
import re
from collections.abc import Sequence

from engine.decision import Candidate, Decision, PersonDraw
from engine.errors import RecordError
from engine.game import WIN_CENTI
from engine.human.model import DEFAULT_RATING, MASS_TOLERANCE

SEED_BITS = 64
"""Number of random bits for one draw."""
MIN_PROBABILITY = 0.02
"""Least probability of a move that is drawn."""

# Of the mates in one of Lichess's games, by rating (`python -m bench.people.pace`).
_WIN_LOGIT, _WIN_LOGIT_PER_400 = 0.38, 0.29
_SEED = re.compile(r"[0-9a-f]{16}")


def win_share(rating: int | None) -> float:
    """The share of people of a rating who play a move that wins at once, if there is one."""
    away = ((DEFAULT_RATING if rating is None else rating) - DEFAULT_RATING) / 400
    return 1 / (1 + math.exp(-(_WIN_LOGIT + _WIN_LOGIT_PER_400 * away)))


def wins_at_once(candidate: Candidate) -> bool:
    """Whether a move ends the game with a win."""
    return candidate.complete and not candidate.replies and candidate.raw_centi >= WIN_CENTI


def draw_weights(
    probabilities: Sequence[float], wins: Sequence[bool], least_win_share: float, min_probability: float
) -> list[float]:
    """The probability with which each move is drawn; they add up to 1.

    Args:
        probabilities: By the model; they add up to 1.
        wins: Whether each move wins at once.
        least_win_share: See `win_share`.
        min_probability: See `MIN_PROBABILITY`.
    """
    known = list(probabilities)
    winning = math.fsum(p for p, won in zip(known, wins, strict=True) if won)
    if any(wins) and winning < least_win_share:
        rest = (1 - least_win_share) / (1 - winning)
        share = least_win_share / winning if winning > 0 else 0.0
        evenly = 0.0 if winning > 0 else least_win_share / sum(wins)
        known = [share * p + evenly if won else rest * p for p, won in zip(known, wins, strict=True)]
    kept = [p if p >= min_probability else 0.0 for p in known]
    if not any(kept):
        kept = known
    total = math.fsum(kept)
    return [p / total for p in kept]


def drawn_move(candidates: Sequence[Candidate], draw: PersonDraw) -> str:
    """The move that the draw's seed selects.

    Raises:
        RecordError: The draw is not one of these candidates, or malformed.
    """
    if len(draw.probabilities) != len(candidates) or not candidates:
        raise RecordError(f"{len(draw.probabilities)} probabilities of {len(candidates)} moves")
    if not all(0 <= p <= 1 + MASS_TOLERANCE for p in draw.probabilities):
        raise RecordError("the draw's probabilities are not from 0 to 1")
    if abs(math.fsum(draw.probabilities) - 1) > MASS_TOLERANCE:
        raise RecordError("the draw's probabilities do not add up to 1")
    if not _SEED.fullmatch(draw.seed):
        raise RecordError(f"the seed is {draw.seed!r}, not 16 hexadecimal digits")
    wins = [wins_at_once(each) for each in candidates]
    weights = draw_weights(draw.probabilities, wins, draw.win_share, draw.min_probability)
    rest = int(draw.seed, 16) / (1 << SEED_BITS)
    for candidate, weight in zip(candidates, weights, strict=True):
        rest -= weight
        if rest < 0:
            return candidate.move
    # Rounding may leave a remainder: it belongs to the last move that takes part.
    return next(each.move for each, p in zip(reversed(candidates), reversed(weights), strict=True) if p > 0)


def verify_person_draw(decision: Decision) -> None:
    """Repeat the draw of a decision from its record.

    Raises:
        RecordError: The record has no such draw, or the draw selects another move.
    """
    draw = decision.person_draw
    if draw is None:
        raise RecordError(f"{decision.move} was drawn as people choose, but the draw is not in the record")
    move = drawn_move(decision.candidates, draw)
    if move != decision.move:
        raise RecordError(f"{decision.move} was played, but seed {draw.seed} draws {move}")
