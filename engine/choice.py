"""Chooses a move among scored candidates, and verifies a recorded choice."""

from collections.abc import Sequence

from engine.decision import (
    ENGINE_MOVE,
    EXPLORER,
    ONLINE_TABLEBASE,
    TRIAL_MODE,
    Candidate,
    Decision,
)
from engine.errors import BadSettings, IncompleteProfile, RecordError
from engine.human.value import choose_by_value, goes_by_values, verify_values
from engine.params import TemptingParams, TrapParams
from engine.player_kinds import Choosing, PlayerKind
from engine.pruning import require_unpruned
from engine.randomised import before_draw, verify_draw
from engine.tempting import LEAST_DEPTH, choose_tempting, verify_tempting
from engine.trappy import Standing, ceiling, is_swindle, standing, with_trap
from engine.variety import draw_move


def choose(
    candidates: Sequence[Candidate],
    kind: PlayerKind,
    params: TrapParams,
    tempting: TemptingParams | None = None,
) -> str:
    """The move to play: the highest standing, ties to the higher raw value, then to the first in order.

    That is for trappy and tempting players, each by an arithmetic of its own; positions lost by force both
    treat alike.  Players with an opponent model choose by values (`engine.human.value`), all others by raw
    values alone.  A candidate whose raw value is only bounded is never chosen.

    Raises:
        BadSettings: The player is a tempting one, and its settings are missing.
    """
    known = [c for c in candidates if not c.raw_is_bound]
    match kind.choosing:
        case Choosing.EXPECTED:
            return choose_by_value(candidates)
        case Choosing.ADJUSTED:
            swindle = is_swindle(candidates, params)
            return max(known, key=lambda c: standing(c, params, swindle)).move
        case Choosing.TEMPTING:
            if is_swindle(candidates, params):
                return max(known, key=lambda c: standing(c, params, True)).move
            if tempting is None:
                raise BadSettings(f"the {kind.name} player needs its settings")
            return choose_tempting(candidates, tempting, params.decided)
        case Choosing.RAW | Choosing.SELECTIVE:
            return max(known, key=lambda c: c.raw_centi).move


def verify(decision: Decision) -> None:
    """Recompute a choice from its record alone.

    Checks the arithmetic of every candidate, and that nothing the search left open (raw values and replies
    with only a proven bound, moves whose replies it never searched) could have changed the choice.  It does
    not check the scores themselves, nor that every legal move is there: that takes the rules and a searcher.
    A choice that did not follow from the candidates' scores (`Decision.search_mode`) is accepted as it is; of
    another engine's own move we check that the record has the engine, its score and the whole profile.
    Another engine's scores prove nothing about moves that it did not analyse: here we check that these are
    exactly the moves below the record's floor, and that all others have whole profiles; for players with an
    opponent model, that all likely replies were searched.  Of tempting players see `verify_tempting`; of a
    draw in a trial of single decisions `engine.randomised.verify_draw`.

    Raises:
        RecordError: The recorded choice does not follow from the record; the message says where.
        PrunedRecord: The record was pruned, so that nobody can tell; what is left of it is sound.
    """
    require_unpruned(decision)
    try:
        _verify(decision)
    except (BadSettings, IncompleteProfile) as error:  # the record lacks what its own arithmetic needs
        raise RecordError(str(error)) from error


def _verify(decision: Decision) -> None:
    params, candidates, kind = decision.params, decision.candidates, decision.kind
    if decision.search_mode == TRIAL_MODE:
        _verify(before_draw(decision))
        verify_draw(decision)
        return
    if decision.draw is not None:
        raise RecordError(f"there was a draw, but {decision.move} was chosen by {decision.search_mode!r}")
    if decision.move not in {c.move for c in candidates}:
        raise RecordError(f"{decision.move} was played, but is not among the candidates")
    if decision.depth < 2:
        raise RecordError(f"depth {decision.depth} is less than any player's")
    if len({c.move for c in candidates}) != len(candidates):
        raise RecordError("a move occurs twice among the candidates")
    if all(c.raw_is_bound for c in candidates):
        raise RecordError("no candidate has an exact raw value")
    trappy = kind.choosing is Choosing.ADJUSTED
    swindle = is_swindle(candidates, params)
    for candidate in candidates:
        again = with_trap(candidate, params, swindle or not trappy)
        if candidate != again:
            raise RecordError(f"{candidate.move}: recorded {candidate}, recomputed {again}")
        _verify_replies(candidate, decision.depth)
    if decision.search_mode == "lot":
        _verify_lot(decision)
        return
    if decision.search_mode not in ("exact", "engine"):
        if not _may_choose_by(kind, decision.search_mode):
            raise RecordError(f"{decision.player} players do not choose by {decision.search_mode!r}")
        if decision.pick is None or decision.chosen.raw_is_bound:
            raise RecordError(f"{decision.move}: chosen by {decision.search_mode}, which left no exact score")
        if decision.search_mode == ENGINE_MOVE:
            _verify_engine_move(decision)
        return
    if kind.models_opponent:
        verify_values(decision)
    follows = choose(candidates, kind, params, decision.tempting)
    if decision.move != follows:
        raise RecordError(f"{decision.move} was played, but {follows} follows")
    is_tempting = kind.choosing is Choosing.TEMPTING and decision.depth >= LEAST_DEPTH
    if decision.search_mode == "engine":
        _verify_window(decision, trappy)
    elif is_tempting and not swindle:
        verify_tempting(decision)
    elif not goes_by_values(decision):
        _verify_left_out(decision, trappy or (is_tempting and swindle), swindle)


def _may_choose_by(kind: PlayerKind, search_mode: str) -> bool:
    """Whether a player may choose by something else than the candidates' scores."""
    if search_mode == "strong":
        return kind.searches_selectively
    if search_mode == ENGINE_MOVE:
        return kind.plays_engine_moves
    return kind.looks_up and search_mode in ("book", "tablebase", EXPLORER, ONLINE_TABLEBASE)


def _verify_engine_move(decision: Decision) -> None:
    source, pick = decision.source, decision.pick
    if source is None:
        raise RecordError(f"{decision.move} was an engine's, but the engine is not in the record")
    if decision.profile_source != source.name:
        return  # judged by exact scores
    if not decision.chosen.is_whole:
        raise RecordError(f"{decision.move} was judged by {source.name}, but its profile is not whole")
    if pick is not None and pick.score_centi not in (None, source.floor_centi):
        raise RecordError(
            f"{decision.move}: {source.name} found {pick.score_centi}, not {source.floor_centi}"
        )
    for other in decision.candidates:
        is_bound = other.raw_is_bound and not other.replies and other.raw_centi == source.floor_centi
        if other.move != decision.move and not is_bound:
            raise RecordError(f"{other.move} was not analysed, and is not bounded by {source.floor_centi}")


def _verify_left_out(decision: Decision, trappy: bool, swindle: bool) -> None:
    params, candidates = decision.params, decision.candidates
    chosen = candidates.index(decision.chosen)
    raw = decision.chosen.raw_centi
    played = standing(decision.chosen, params, swindle) if trappy else Standing(raw, 0)
    for index, candidate in enumerate(candidates):
        if index == chosen:
            continue
        best = ceiling(candidate, params, swindle) if trappy else Standing(candidate.raw_centi, 0)
        if best > played or (best == played and index < chosen):
            raise RecordError(f"{candidate.move} could stand at {best}, above {decision.move} at {played}")


def _verify_lot(decision: Decision) -> None:
    lot = decision.lot
    if lot is None:
        raise RecordError(f"{decision.move} was drawn, but the draw is not in the record")
    move = draw_move(decision.candidates, lot)
    if move != decision.move:
        raise RecordError(f"{decision.move} was played, but {lot} draws {move}")
    floor = max(c.raw_centi for c in decision.candidates if not c.raw_is_bound) - lot.within_centi
    for candidate in decision.candidates:
        if candidate.raw_is_bound and candidate.raw_centi >= floor:
            raise RecordError(f"{candidate.move} did not take part, but could be worth {candidate.raw_centi}")


def _verify_window(decision: Decision, trappy: bool) -> None:
    if not decision.kind.asks_engine or decision.source is None:
        raise RecordError(f"{decision.player} players with {decision.source} do not choose by 'engine'")
    for candidate in decision.candidates:
        if not candidate.raw_is_bound:
            if not candidate.is_whole and (trappy or candidate.move == decision.move):
                raise RecordError(f"{candidate.move} was analysed, but its profile is not whole")
        elif candidate.replies or candidate.complete:
            raise RecordError(f"{candidate.move} was not analysed, but has a profile")
        elif candidate.raw_centi > decision.source.floor_centi:
            raise RecordError(
                f"{candidate.move} was not analysed, but at {candidate.raw_centi} it is above the floor, "
                f"{decision.source.floor_centi}"
            )


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
