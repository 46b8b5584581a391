"""Randomised single decisions: in some decisions a random draw decides whether we set a trap.

This is a micro-randomised trial (Klasnja et al. 2015, doi:10.1037/hea0000305; Boruvka et al. 2018,
doi:10.1080/01621459.2017.1305274). The strategy chooses a move as trappy does. Let T be its choice, and N the
best move by raw value (the first in order among equals) that sets no trap. A random draw is made if:

- T sets a trap under the rule for Figure 9 (`engine.figure_9`);
- the profiles of T and N are complete, with at least two replies each;
- our expected score is from 5 to 95 % after each move, and neither move leads to a forced win or loss; with
  `RandomisedParams.by_pair` and both ratings known, it is that against this opponent;
- the two expected scores differ by at most `RandomisedParams.risk_budget`.

All of this is known before the random draw and depends on neither the draw nor later events. T is played if
``seed / 2^64 < chance``, otherwise N. The seed has 64 random bits and is stored with everything else before
the move is sent, so the whole decision can be recomputed from its record (`verify_trial`).
"""

import hashlib
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from engine.decision import Candidate, Decision, PairUse, Proof, SearchMode, TrialDraw
from engine.errors import RecordError
from engine.expected import expected_score
from engine.figure_9 import expected_scale_centi, reply_verdicts
from engine.game import WIN_CENTI, Game
from engine.games import get_rules
from engine.opponents.pair_value import MAX_VALUE, MIN_VALUE, PairRatings, is_decided, pair_model
from engine.params import RandomisedParams
from engine.search.profiles import Profiler, whole_profile
from engine.search.reference import Searcher
from engine.stop import StopFlag, Stopped
from engine.trappy import with_trap

SEED_BITS = 64
"""Number of bits in a seed."""

MIN_REPLIES = 2
"""Minimum number of replies to each move; with fewer, the opponent cannot make an error."""

_SEED = re.compile(r"[0-9a-f]{16}")


def selects_trap(seed: str, probability: float) -> bool:
    """Whether the random draw selects the move that sets a trap.

    Args:
        seed: 16 hexadecimal digits.
        probability: The probability that the draw selects the move that sets a trap.

    Raises:
        ValueError: The seed is malformed.
    """
    if not _SEED.fullmatch(seed):
        raise ValueError(f"the seed is {seed!r}, not 16 hexadecimal digits")
    return int(seed, 16) / (1 << SEED_BITS) < probability


def checksum(decision: Decision, draw: TrialDraw) -> str:
    """SHA-256, in hexadecimal, of all data known before a random draw, excluding `TrialDraw.sha256`.

    The hash detects later changes to the record, unless the hash was recomputed as well.
    """
    known = {each.move: each for each in decision.candidates}
    moves = [
        [each.move, each.raw_centi, [[reply.reply, *reply.scores_centi] for reply in each.replies]]
        for each in (known[draw.trap], known[draw.control])
    ]
    # By the names of the first release: a checksum must not change with a name.
    record = {
        "params": {name: value for name, value in asdict(draw.params).items() if name != "by_pair"},
        "trap": draw.trap,
        "sound": draw.control,
        "trap_value": draw.trap_value,
        "sound_value": draw.control_value,
        "seed": draw.seed,
        "sha256": "",
    }
    proofs = [None if proof is None else asdict(proof) for proof in (decision.proof, draw.control_proof)]
    if any(proofs):
        record["proofs"] = proofs
    if draw.params.by_pair:
        record["pair"] = None if draw.pair is None else asdict(draw.pair)
    about = [decision.game, decision.position, decision.depth, decision.engine_version]
    text = json.dumps([about, asdict(decision.params), record, moves], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def undrawn_candidate(decision: Decision) -> Candidate:
    """The move that the random draw did not select, with its complete profile.

    Raises:
        RecordError: The record has no random draw, or lacks that move.
    """
    draw = decision.trial_draw
    if draw is not None:
        other = draw.control if decision.move == draw.trap else draw.trap
        for each in decision.candidates:
            if each.move == other:
                return each
    raise RecordError(f"the record of {decision.move} has no other move that the random draw could select")


# --- Before the move ------------------------------------------------------------------------------------


def with_draw(
    decision: Decision,
    game: Game[Any],
    position: Any,
    searcher: Searcher,
    params: RandomisedParams,
    seed: int,
    stop: StopFlag,
    prove: Callable[[Decision, str], Proof | None] | None = None,
    ratings: PairRatings | None = None,
) -> Decision:
    """Randomise the move if the decision qualifies; otherwise leave the decision unchanged.

    Computes complete profiles of the moves within the budget, in order of decreasing value, to find N (the
    best move that sets no trap). If this search is stopped, the decision is left unchanged.

    Args:
        decision: A decision made by the trap arithmetic on exact scores.
        position: The decision's position, from `Game.for_search`.
        seed: A number from 0 to 2^64 - 1.
        stop: Ends the search.
        prove: Proves the control move, whose proof must stand; the trap move has been proved. None: moves are
            not proved.
        ratings: Our rating and the opponent's; None if one is unknown.
    """
    profiler = Profiler(game, searcher, position, decision.params, stop)
    scale_centi = game.expected_scale_centi(position)
    pair = _pair_use(game.name, params, ratings)
    is_undecided = _undecided_rule(game.name, position, scale_centi, pair)
    if not is_undecided(decision.chosen.raw_centi):
        return decision
    try:
        decision = decision.with_chosen(_whole(decision.chosen, profiler, decision))
        if not _sets_trap(decision.chosen, decision, scale_centi):
            return decision
        candidates = _with_control(decision, profiler, scale_centi, params)
    except Stopped:
        return decision
    control = _best_control(candidates, decision, scale_centi)
    trap = decision.chosen
    if control is None or _ineligibility(trap, control, scale_centi, params, is_undecided):
        return decision
    proof = None if prove is None else prove(replace(decision, candidates=tuple(candidates)), control.move)
    if proof is not None and not proof.stood:
        return decision
    trap_value, control_value = (expected_score(each.raw_centi, scale_centi) for each in (trap, control))
    draw = TrialDraw(
        params, trap.move, control.move, trap_value, control_value, f"{seed:016x}", "", proof, pair
    )
    move = trap.move if selects_trap(draw.seed, params.chance) else control.move
    drawn = replace(decision, candidates=tuple(candidates), move=move, search_mode=SearchMode.TRIAL)
    return replace(drawn, trial_draw=replace(draw, sha256=checksum(drawn, draw)))


def _with_control(
    decision: Decision, profiler: Profiler, scale_centi: float, params: RandomisedParams
) -> list[Candidate]:
    """The candidates with exact raw values within the budget, and complete profiles from the best move down
    to the first that sets no trap.

    Raises:
        Stopped: The search was stopped.
    """
    trap, candidates = decision.chosen, list(decision.candidates)
    least = _least_score(expected_score(trap.raw_centi, scale_centi) - params.risk_budget, scale_centi)
    for index, (move, known) in enumerate(zip(profiler.moves, candidates, strict=True)):
        if known.raw_is_bound and known.raw_centi >= least:
            raw, is_bound = profiler.raw_value_from(move, decision.depth, least)
            candidate = replace(known, raw_centi=raw, raw_is_bound=is_bound)
            candidates[index] = with_trap(candidate, decision.params)
    near = [
        index
        for index, each in enumerate(candidates)
        if not each.raw_is_bound and each.raw_centi >= least and each.move != trap.move
    ]
    near.sort(key=lambda index: -candidates[index].raw_centi)  # stable: ties stay in the game's order
    for index in near[: params.most_profiles]:
        candidates[index] = _whole(candidates[index], profiler, decision)
        if not _sets_trap(candidates[index], decision, scale_centi):
            break
    return candidates


def _whole(candidate: Candidate, profiler: Profiler, decision: Decision) -> Candidate:
    if candidate.is_whole:
        return candidate
    return with_trap(whole_profile(profiler, candidate, decision.depth), decision.params)


# --- Who takes part -------------------------------------------------------------------------------------


def _sets_trap(candidate: Candidate, decision: Decision, scale_centi: float) -> bool:
    return reply_verdicts(candidate, decision.params, scale_centi).is_trap


def _pair_use(game_name: str, params: RandomisedParams, ratings: PairRatings | None) -> PairUse | None:
    model = pair_model(game_name) if params.by_pair and ratings is not None else None
    return None if model is None or ratings is None else PairUse(*ratings, model.sha256)


def _undecided_rule(
    game_name: str, position: Any, scale_centi: float, pair: PairUse | None
) -> Callable[[int], bool]:
    """Return a function that tells from our score after a move whether the game is still undecided.

    A game won or lost by force is worth 100 % or 0.
    """
    if pair is None:
        return lambda raw_centi: MIN_VALUE <= expected_score(raw_centi, scale_centi) <= MAX_VALUE
    ours, theirs = pair.our_rating, pair.their_rating
    return lambda raw_centi: is_decided(game_name, position, raw_centi, ours, theirs) is False


def _best_control(
    candidates: Sequence[Candidate], decision: Decision, scale_centi: float
) -> Candidate | None:
    """The best move that sets no trap; None if the candidates do not prove which move it is."""
    trap = decision.chosen.move
    others = [(each.raw_centi, -index) for index, each in enumerate(candidates) if each.move != trap]
    for _, index in sorted(others, reverse=True):
        each = candidates[-index]
        if each.raw_is_bound or not each.is_whole:
            return None
        if not _sets_trap(each, decision, scale_centi):
            return each
    return None


def _ineligibility(
    trap: Candidate,
    control: Candidate,
    scale_centi: float,
    params: RandomisedParams,
    is_undecided: Callable[[int], bool],
) -> str:
    """Why two moves with complete profiles do not qualify for randomisation; empty if they qualify."""
    for each in (trap, control):
        if not is_undecided(each.raw_centi):
            return f"{each.move} leads to a nearly decided game"
        if len(each.replies) < MIN_REPLIES:
            return f"{each.move} leaves fewer than {MIN_REPLIES} replies"
    gap = expected_score(control.raw_centi, scale_centi) - expected_score(trap.raw_centi, scale_centi)
    if abs(gap) > params.risk_budget:
        return f"{control.move} and {trap.move} differ by {abs(gap)}, more than {params.risk_budget:g}"
    return ""


def _least_score(least_value: float, scale_centi: float) -> int:
    """The lowest score, excluding forced losses, whose expected score is at least `least_value`."""
    scores = range(-WIN_CENTI + 1, WIN_CENTI)
    return scores.start + bisect_left(
        scores, least_value, key=lambda score: expected_score(score, scale_centi)
    )


# --- Verification ---------------------------------------------------------------------------------------


def without_draw(decision: Decision) -> Decision:
    """The decision that the strategy would have made without the random draw; it can be verified as usual.

    Raises:
        RecordError: The record has no random draw, or has a move that is not a candidate.
    """
    draw = decision.trial_draw
    if draw is None:
        raise RecordError(f"{decision.move} was randomised in a trial, but the draw is not in the record")
    for move in (draw.trap, draw.control):
        if all(each.move != move for each in decision.candidates):
            raise RecordError(f"{move} took part in the random draw, but is not a candidate")
    return replace(decision, move=draw.trap, search_mode=SearchMode.EXACT, trial_draw=None)


def verify_trial(decision: Decision) -> None:
    """Recompute the two moves and the result of the random draw from a decision's record.

    It does not check that the trap move is the strategy's choice (`engine.strategies.randomised` does).

    Raises:
        RecordError: The random draw does not follow from the record; the message states the discrepancy.
    """
    own, draw = without_draw(decision), decision.trial_draw
    assert draw is not None  # noqa: S101 - for the type checker
    scale_centi, trap = expected_scale_centi(decision), own.chosen
    control = next(each for each in decision.candidates if each.move == draw.control)
    replies = _legal_replies(decision, (draw.trap, draw.control))
    for each in (trap, control):
        each.require_whole()
        if sorted(reply.reply for reply in each.replies) != replies[each.move]:
            raise RecordError(f"{each.move}: its profile does not have the legal replies")
    if not _sets_trap(trap, decision, scale_centi):
        raise RecordError(f"{trap.move} took part in the random draw, but sets no trap")
    best = _best_control(decision.candidates, own, scale_centi)
    if best is None or best.move != control.move:
        best_move = "no move" if best is None else best.move
        raise RecordError(
            f"{control.move} took part in the random draw, but {best_move} is the best without a trap"
        )
    if why := _ineligibility(trap, control, scale_centi, draw.params, _recorded_rule(decision, draw)):
        raise RecordError(f"there was a random draw, but {why}")
    place = decision.candidates.index(control)
    better = sum(
        each.raw_centi > control.raw_centi or (each.raw_centi == control.raw_centi and index < place)
        for index, each in enumerate(decision.candidates)
        if each.move != trap.move
    )
    if better >= draw.params.most_profiles:
        raise RecordError(
            f"{control.move} is number {better + 1} by value, more than the random draw's params allow"
        )
    values = tuple(expected_score(each.raw_centi, scale_centi) for each in (trap, control))
    if values != (draw.trap_value, draw.control_value):
        raise RecordError(f"the draw's values are {draw.trap_value} and {draw.control_value}, not {values}")
    verify_trial_draw(decision)


def _recorded_rule(decision: Decision, draw: TrialDraw) -> Callable[[int], bool]:
    """The rule by which the game was undecided, from the record.

    Raises:
        RecordError: The record says that it was used, but its params do not.
    """
    if draw.pair is not None and not draw.params.by_pair:
        raise RecordError("the draw used the players' ratings, but its params do not allow that")
    model = pair_model(decision.game)
    if draw.pair is not None and (model is None or model.sha256 != draw.pair.sha256):
        # By other coefficients, which this version no longer has.
        return lambda raw_centi: abs(raw_centi) < WIN_CENTI
    game = get_rules(decision.game)
    position = game.for_search(game.parse_position(decision.position))
    return _undecided_rule(decision.game, position, expected_scale_centi(decision), draw.pair)


def verify_trial_draw(decision: Decision) -> None:
    """Check, without a search, that a decision's seed selects the move played, and that the checksum matches.

    Raises:
        RecordError: The record has no random draw, or was changed; the message states the discrepancy.
    """
    draw = decision.trial_draw
    if draw is None:
        raise RecordError(f"the record of {decision.move} has no random draw")
    without_draw(decision)  # both moves are candidates
    try:
        move = draw.trap if selects_trap(draw.seed, draw.params.chance) else draw.control
    except ValueError as error:
        raise RecordError(str(error)) from error
    if move != decision.move:
        raise RecordError(f"{decision.move} was played, but seed {draw.seed} draws {move}")
    if checksum(decision, draw) != draw.sha256:
        raise RecordError("the draw's checksum does not match its record: something was changed")


def _legal_replies(decision: Decision, moves: Sequence[str]) -> dict[str, list[str]]:
    """The legal replies to each move, sorted."""
    game = get_rules(decision.game)
    position = game.for_search(game.parse_position(decision.position))
    legal_replies = {}
    for move in moves:
        after = game.play(position, game.parse_move(position, move))
        legal_replies[move] = sorted(map(game.move_text, game.legal_moves(after)))
    return legal_replies
