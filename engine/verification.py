"""Verifies a recorded choice."""

from engine.decision import Decision
from engine.errors import BadSettings, IncompleteProfile, RecordError
from engine.pruning import require_unpruned
from engine.strategies.registry import strategy_named


def verify(decision: Decision) -> None:
    """Recompute a choice from its record alone.

    Checks the arithmetic of every candidate, and that no score left open by the search (raw values and
    replies with only a proven bound, moves whose replies were not searched) could change the choice. Does not
    check the scores themselves, nor that every legal move is present: that would require the rules and a
    searcher. A choice that is not based on the candidates' scores (`Decision.search_mode`) is accepted
    unchecked. The strategy makes all further checks (`engine.strategies.strategy.Strategy.verify`).

    Raises:
        RecordError: The recorded choice does not follow from the record; the message says where.
        PrunedRecord: The record was pruned, so its choice cannot be verified; its remaining data is valid.
    """
    require_unpruned(decision)
    try:
        strategy_named(decision.strategy).verify(decision)
    except (BadSettings, IncompleteProfile) as error:  # the record lacks what its own arithmetic needs
        raise RecordError(str(error)) from error
