"""Checks of records that several strategies share."""

from engine.decision import Candidate, Decision
from engine.errors import RecordError
from engine.trappy import Standing, is_swindle, max_standing, standing, with_trap
from engine.variety import draw_move


def verify_candidates(decision: Decision, *, counts_bonus: bool) -> None:
    """Check the arithmetic of every candidate, and that the chosen move is among the candidates.

    Args:
        decision: The record.
        counts_bonus: See `engine.strategies.strategy.Strategy.counts_bonus`.

    Raises:
        RecordError: The record contradicts itself; the message says where.
    """
    params, candidates = decision.params, decision.candidates
    if decision.move not in {c.move for c in candidates}:
        raise RecordError(f"{decision.move} was played, but is not among the candidates")
    if decision.depth < 2:
        raise RecordError(f"depth {decision.depth} is less than any player uses")
    if len({c.move for c in candidates}) != len(candidates):
        raise RecordError("a move occurs twice among the candidates")
    if all(c.raw_is_bound for c in candidates):
        raise RecordError("no candidate has an exact raw value")
    swindle = is_swindle(candidates, params)
    for candidate in candidates:
        again = with_trap(candidate, params, swindle or not counts_bonus)
        if candidate != again:
            raise RecordError(f"{candidate.move}: recorded {candidate}, recomputed {again}")
        _verify_replies(candidate, decision.depth)


def _verify_replies(candidate: Candidate, depth: int) -> None:
    move, raw = candidate.move, candidate.raw_centi
    if len({reply.reply for reply in candidate.replies}) != len(candidate.replies):
        raise RecordError(f"{move}: a reply occurs twice")
    for reply in candidate.replies:
        if reply.bound_centi is not None and reply.scores_centi:
            raise RecordError(f"{move}: {reply.reply} has both scores and a bound")
        if reply.bound_centi is None and len(reply.scores_centi) != depth - 1:
            raise RecordError(f"{move}: {reply.reply} has {len(reply.scores_centi)} scores, not {depth - 1}")
        if reply.final_centi < raw and not candidate.raw_is_bound:
            raise RecordError(
                f"{move}: {reply.reply} is worth {reply.final_centi}, below the raw value {raw}"
            )
    least = min((reply.final_centi for reply in candidate.replies), default=raw)
    if candidate.complete and least != raw:
        raise RecordError(f"{move}: raw {raw} is not the least of its replies, {least}")


def verify_pruned_candidates(decision: Decision, *, counts_bonus: bool, swindle: bool) -> None:
    """Check that the choice does not depend on any score known only as a bound.

    Args:
        decision: The record.
        counts_bonus: Whether adjusted values decide the choice.
        swindle: Whether every move leads to a forced loss (`engine.trappy.is_swindle`).

    Raises:
        RecordError: Another move could have a higher value than the chosen move.
    """
    params, candidates = decision.params, decision.candidates
    chosen = candidates.index(decision.chosen)
    raw = decision.chosen.raw_centi
    played = standing(decision.chosen, params, swindle) if counts_bonus else Standing(raw, 0)
    for index, candidate in enumerate(candidates):
        if index == chosen:
            continue
        best = max_standing(candidate, params, swindle) if counts_bonus else Standing(candidate.raw_centi, 0)
        if best > played or (best == played and index < chosen):
            raise RecordError(f"{candidate.move} could stand at {best}, above {decision.move} at {played}")


def verify_variety_draw(decision: Decision) -> None:
    """Check a random choice among the moves that are nearly as good as the best.

    Raises:
        RecordError: The record lacks the random number, or the number selects a different move.
    """
    draw = decision.variety_draw
    if draw is None:
        raise RecordError(f"{decision.move} was chosen at random, but the draw is not in the record")
    move = draw_move(decision.candidates, draw)
    if move != decision.move:
        raise RecordError(f"{decision.move} was played, but {draw} selects {move}")
    floor = max(c.raw_centi for c in decision.candidates if not c.raw_is_bound) - draw.within_centi
    for candidate in decision.candidates:
        if candidate.raw_is_bound and candidate.raw_centi >= floor:
            raise RecordError(f"{candidate.move} did not take part, but could be worth {candidate.raw_centi}")


def verify_unscored_choice(decision: Decision) -> None:
    """Check a move that was not chosen by exact scores; it is accepted if its replies can be judged.

    Raises:
        RecordError: The record lacks `Decision.pick`, or the move's exact value.
    """
    if decision.pick is None or decision.chosen.raw_is_bound:
        raise RecordError(
            f"{decision.move}: chosen by {decision.search_mode.value}, which left no exact score"
        )
