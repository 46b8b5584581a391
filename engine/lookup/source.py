"""`RootSource`, the interface of opening books and endgame tablebases."""

import random
from typing import Any, NamedTuple, Protocol

from engine.decision import Pick
from engine.game import Move


class BadSource(ValueError):
    """A file or folder that is no book or table, or no longer one; the message names it and what is wrong."""


class LookupMove(NamedTuple):
    """A move that a source knows."""

    move: Move
    mode: str
    """`Decision.search_mode` of a decision that plays it: ``book`` or ``tablebase``."""
    pick: Pick


class RootSource(Protocol):
    """Knows moves of some positions of one game; never changes, so all players share it."""

    @property
    def about(self) -> str:
        """What it is, for people: ``a book of 523 positions``."""

    def choose(self, position: Any, rng: random.Random) -> LookupMove | None:
        """A move to play in a position that goes on; None: the source does not know the position.

        Args:
            position: Of the source's game, with the game before it if that matters to the rules.
            rng: Decides among moves that are as good as each other; the same state of it gives the same move.
        """
