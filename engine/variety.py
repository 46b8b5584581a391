"""Random choice among moves nearly as good as the best, to avoid repeating a line or to weaken play.

A choice can be reproduced from its record: the candidates with their scores, and the random number.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.decision import Candidate, VarietyDraw
from engine.game import WIN_CENTI


@dataclass(frozen=True, slots=True)
class RepetitionAvoidance:
    """A request to avoid certain moves if another move is nearly as good."""

    avoid: tuple[str, ...]
    """Moves to avoid, unless no other move is nearly as good."""
    within_centi: int
    """A move is nearly as good as the best if it loses at most this much by plain minimax."""
    widest_centi: int = 0
    """If greater than `within_centi`: the maximum loss accepted to avoid a move when no alternative is nearly
    as good."""

    @property
    def reach_centi(self) -> int:
        """The greatest loss at which a move can still be chosen."""
        return max(self.within_centi, self.widest_centi)

    def draw(self, candidates: Sequence[Candidate], number: int) -> VarietyDraw | None:
        """The move that the number selects, with the loss limit as low as possible; None if there is none.

        The loss limit is doubled until there is a move to choose.
        """
        draw = VarietyDraw(self.within_centi, self.avoid, number)
        while draw_move(candidates, draw) is None:
            if draw.within_centi >= self.widest_centi:
                return None
            draw = replace(draw, within_centi=min(self.widest_centi, max(1, 2 * draw.within_centi)))
        return draw


@dataclass(frozen=True, slots=True)
class Level:
    """A level of weak play: how deep the player searches, and how much a move may lose."""

    depth: int
    """Maximum search depth in plies."""
    within_centi: int
    """See `RepetitionAvoidance`; in hundredths of a disc or pawn."""

    @property
    def avoidance(self) -> RepetitionAvoidance:
        """The request that makes the choice of each move random at this level."""
        return RepetitionAvoidance((), self.within_centi)


LEVELS = (Level(2, 500), Level(2, 250), Level(2, 100), Level(3, 50), Level(4, 25), Level(6, 0))
"""The levels, weakest first, numbered from 1 in settings and on pages."""


def draw_move(candidates: Sequence[Candidate], draw: VarietyDraw) -> str | None:
    """The move that a random number selects, or None if there is no move to choose.

    A move's weight falls linearly with its loss relative to the best. In a decided game the result is None.
    """
    best = max(c.raw_centi for c in candidates if not c.raw_is_bound)
    weights = {
        c.move: draw.within_centi + 1 - (best - c.raw_centi)
        for c in candidates
        if not c.raw_is_bound and best - c.raw_centi <= draw.within_centi and c.move not in draw.avoided
    }
    if not weights or abs(best) >= WIN_CENTI:
        return None
    rest = draw.number % sum(weights.values())
    for move, weight in weights.items():
        if rest < weight:
            return move
        rest -= weight
    raise AssertionError("a remainder is less than the divisor")
