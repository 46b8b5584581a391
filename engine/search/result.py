"""`SearchResult`: the strong search's move, score and confidence."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Result of a search for the best move that the clock allows."""

    move: str
    """The move, in the game's notation."""
    score_centi: int
    """Score in centi-units, side to move's view: an estimate, unless `solved` or `confidence` is 100."""
    depth: int
    """Plies of the deepest search that was finished; of a solved game, all that are left."""
    confidence_percent: int
    """How sure each cut was that a search of full width would agree; 100: there was none."""
    solved: bool
    """Whether score and move are the true ones."""
    principal_variation: tuple[str, ...]
    """The line expected from here, `move` first."""
    nodes: int
    """Positions visited."""
