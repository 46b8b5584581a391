"""`RootSource`, the interface of opening books and endgame tablebases."""

import random
from typing import Any, NamedTuple, Protocol

from engine.decision import DirectMove, SearchMode
from engine.game import Move


class BadSource(ValueError):
    """The file or folder is not a book or table, or is damaged; the message states its name and the fault."""


class LookupMove(NamedTuple):
    """A move from a source."""

    move: Move
    mode: SearchMode
    """`Decision.search_mode` of a decision that plays this move."""
    pick: DirectMove


class RootSource(Protocol):
    """An immutable source of moves for some positions of one game, shared by all players."""

    @property
    def description(self) -> str:
        """A description for display: ``a book of 523 positions``."""

    def choose(self, position: Any, rng: random.Random) -> LookupMove | None:
        """A move for an unfinished game; None if the source does not have the position.

        Args:
            position: A position of the source's game, with earlier moves if they matter to the rules.
            rng: Decides among equally good moves; the same state selects the same move.
        """


class SingleMoveSource:
    """A source with a single move, which was found elsewhere for the queried position."""

    def __init__(self, found: LookupMove) -> None:
        self._found = found

    @property
    def description(self) -> str:
        """See `RootSource.description`."""
        return self._found.pick.origin

    def choose(self, position: Any, rng: random.Random) -> LookupMove | None:  # noqa: ARG002
        """See `RootSource.choose`."""
        return self._found
