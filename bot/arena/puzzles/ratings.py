"""The trainer's Glicko-2 ratings: a person who finds the right reply wins against the position.  No I/O."""

import math
from dataclasses import replace

from bot.arena import glicko
from bot.arena.glicko import Rating
from storage.arena.puzzles.positions import NewMistake, PuzzleRating

_NEW = Rating()
START_RATING = PuzzleRating(_NEW.rating, _NEW.deviation, _NEW.volatility)
"""A person's initial rating."""
PUZZLE_START_DEVIATION = 200.0
"""Initial rating deviation of a position, whose initial rating comes from a forecast, not from answers."""
_MIN_PROBABILITY, _MAX_PROBABILITY = 0.05, 0.95
_MIN_START, _MAX_START = 800.0, 2400.0
_RATING_POINTS_PER_TENFOLD_ODDS = 400.0  # points of rating that make the odds ten to one


def start_rating(mistake: NewMistake) -> PuzzleRating:
    """Initial rating of a position, before any answer.

    It is chosen so that a player as strong as the first victim takes the bait with the forecast probability.
    """
    person = START_RATING.rating if mistake.opponent_rating is None else float(mistake.opponent_rating)
    p = min(max(mistake.probability, _MIN_PROBABILITY), _MAX_PROBABILITY)
    rating = person + _RATING_POINTS_PER_TENFOLD_ODDS * math.log10(p / (1 - p))
    return PuzzleRating(min(max(rating, _MIN_START), _MAX_START), PUZZLE_START_DEVIATION, _NEW.volatility)


def rate_answer(
    person: PuzzleRating, position: PuzzleRating, *, is_solved: bool
) -> tuple[PuzzleRating, PuzzleRating]:
    """The ratings of a person and a position after a rated answer."""
    score = float(is_solved)
    return (
        _after(person, position, score, is_solved=is_solved),
        _after(position, person, 1 - score, is_solved=is_solved),
    )


def _after(old: PuzzleRating, opponent: PuzzleRating, score: float, *, is_solved: bool) -> PuzzleRating:
    new = glicko.update_rating(_rating(old), [(_rating(opponent), score)])
    return replace(
        old,
        rating=new.rating,
        deviation=new.deviation,
        volatility=new.volatility,
        answers=old.answers + 1,
        solved=old.solved + is_solved,
    )


def _rating(found: PuzzleRating) -> Rating:
    return Rating(found.rating, found.deviation, found.volatility)


def is_provisional(found: PuzzleRating) -> bool:
    """Whether a rating is provisional."""
    return _rating(found).is_provisional
