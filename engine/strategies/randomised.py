"""The trappy strategy, except that on some moves a random number decides whether to set the trap."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from engine.decision import Decision, Proof, SearchMode
from engine.errors import RecordError
from engine.randomised import verify_trial, with_draw, without_draw
from engine.strategies.move_context import MoveContext, best_raw_move
from engine.strategies.proof import proof_of, proved, verify_proof
from engine.strategies.trappy import Trappy

# The rest is for the replies to both moves: with .75, a third of them are lost.
_OWN_SHARE = 0.6


@dataclass(frozen=True, kw_only=True)
class Randomised(Trappy):
    """Runs a micro-randomised trial (`engine.randomised`) with people; plays like trappy against programs."""

    draws_decisions: ClassVar[bool] = True
    is_compared: ClassVar[bool] = False

    def decide(self, context: MoveContext) -> Decision:
        """See `Strategy.decide`."""
        if context.seed is None:
            return super().decide(context)
        decision, use = super().decide(context.with_share(_OWN_SHARE)), context.use
        prove = None
        if use.proves:  # both moves, before the draw: a move that was drawn must be played
            decision = proved(context, decision, self.max_cost)
            if decision.proof is not None and not decision.proof.stood:
                return decision

            def prove(known: Decision, move: str) -> Proof | None:
                return proof_of(context, known, move, self.max_cost)

        drawn = with_draw(
            decision,
            use.game,
            context.root,
            use.searcher,
            use.randomised,
            context.seed,
            context.stop,
            prove,
            use.ratings,
        )
        # Of two best moves the first counts; if it was found only now, the proof has compared the other one.
        is_proof_valid = decision.proof is None or best_raw_move(drawn.candidates) == decision.proof.best
        return drawn if is_proof_valid else decision

    def verify(self, decision: Decision) -> None:
        """See `Strategy.verify`."""
        if decision.search_mode is SearchMode.TRIAL:
            super().verify(without_draw(decision))
            verify_trial(decision)
            self._verify_control(decision)
        else:
            super().verify(decision)

    def _verify_control(self, decision: Decision) -> None:
        draw = decision.trial_draw
        if draw is None or (decision.proof is None and draw.control_proof is None):
            return
        proof = draw.control_proof
        if proof is None:
            if draw.control != best_raw_move(decision.candidates):
                raise RecordError(
                    f"{draw.trap} was proved before the random draw, but {draw.control} was not"
                )
        elif proof.preferred != draw.control or not proof.stood:
            raise RecordError(f"{draw.control} was not proved before the random draw, but {proof.preferred}")
        else:
            verify_proof(replace(decision, move=draw.control), proof, self.max_cost)

    def verifiers_by_mode(self) -> Mapping[SearchMode, Callable[[Decision], None]]:
        """See `Strategy.verifiers_by_mode`."""
        return {**super().verifiers_by_mode(), SearchMode.TRIAL: verify_trial}


RANDOMISED = Randomised(name="randomised")
