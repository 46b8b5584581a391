"""Hand-made decisions for tests."""

from collections.abc import Sequence

from engine.decision import Candidate, Decision
from engine.params import TrapParams


def decision_with(
    candidates: Sequence[Candidate], move: str, *, strategy: str = "trappy", params: TrapParams | None = None
) -> Decision:
    """A decision made of given candidates, the rest filled in."""
    return Decision(
        game="othello",
        position="8/8/8/3wb3/3bw3/8/8/8 b",
        strategy=strategy,
        params=params or TrapParams(),
        move=move,
        candidates=tuple(candidates),
        depth=1 + max((len(r.scores_centi) for c in candidates for r in c.replies), default=1),
        principal_variation=(move,),
        nodes=1,
        time_s=0.0,
        profile_source="reference",
        engine_version="test",
    )
