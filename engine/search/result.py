"""`SearchResult`: the strong search's move, score and confidence."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Result of a search for the best move within the limits."""

    move: str
    """The move, in the game's notation."""
    score_centi: int
    """Score in centi-units for the side to move: an estimate, unless `solved` or `confidence` is 100."""
    depth: int
    """Depth in plies of the deepest completed search; for a solved game, the number of remaining plies."""
    confidence_percent: int
    """Confidence, in per cent, that a full-width search agrees with each cut; 100 if no cut was selective."""
    solved: bool
    """Whether score and move are game-theoretically exact."""
    principal_variation: tuple[str, ...]
    """The expected line, beginning with `move`."""
    nodes: int
    """Positions visited."""
