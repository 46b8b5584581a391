"""Makes the record of a decision smaller by removing most moves that were not chosen.

Pruning keeps the data that later questions need: every number about the choice; the chosen move's complete
profile, from which the reply was judged; the value of the move that the standard strategy might have played;
and, for a randomised decision, the profiles of both moves. All other candidates are removed.

After pruning, the choice can no longer be recomputed.
"""

from dataclasses import replace

from engine.decision import Decision
from engine.errors import IncompleteProfile, PrunedRecord, RecordError
from engine.randomised import verify_trial_draw


def pruned(decision: Decision) -> Decision:
    """Remove the candidates that were not chosen, except those that other fields depend on.

    Raises:
        IncompleteProfile: The chosen move's profile is incomplete, and completing it may need the other
            candidates.
    """
    if not decision.is_complete:
        raise IncompleteProfile(f"the profile of {decision.move} is not complete")
    needed = {decision.move}
    if decision.trial_draw is not None:
        needed |= {decision.trial_draw.trap, decision.trial_draw.control}
    exact = [each for each in decision.candidates if not each.raw_is_bound]
    known = {max(exact, key=lambda each: each.raw_centi).move} if exact else set()
    if decision.proof is not None:
        known |= {decision.proof.preferred}
    candidates = tuple(
        each if each.move in needed else replace(each, replies=(), complete=False)
        for each in decision.candidates
        if each.move in needed | known
    )
    return replace(decision, candidates=candidates, is_pruned=True)


def require_unpruned(decision: Decision) -> None:
    """Refuse a pruned decision, after checking its remaining data.

    Raises:
        PrunedRecord: The record is pruned, and its remaining data is valid.
        RecordError: The record is pruned, and its remaining data contradicts itself.
    """
    if not decision.is_pruned:
        return
    chosen = [each for each in decision.candidates if each.move == decision.move]
    if len(chosen) != 1:
        raise RecordError(f"{decision.move} was played, but occurs {len(chosen)} times among the candidates")
    if not chosen[0].is_whole:
        raise RecordError(f"the record is pruned, but the profile of {decision.move} is incomplete")
    finals = [each.final_centi for each in chosen[0].replies]
    if finals and not chosen[0].raw_is_bound and min(finals) != chosen[0].raw_centi:
        raise RecordError(
            f"{decision.move}: raw {chosen[0].raw_centi} is not the least of its replies, {min(finals)}"
        )
    if decision.trial_draw is not None:
        verify_trial_draw(decision)
    raise PrunedRecord(f"the record of {decision.move} is pruned")
