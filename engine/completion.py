"""Completes the profile of a decision's chosen move; the profile is needed to judge the reply."""

from engine import ENGINE_VERSION, is_same_search
from engine.decision import Decision
from engine.errors import EngineMismatch, RecordError
from engine.games import get_rules
from engine.search.profiles import Profiler, whole_profile
from engine.search.reference import Searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.trappy import is_swindle, with_trap

MAX_COMPLETION_S = 600.0
"""Time limit for completing one profile, in seconds; far longer than any search in a game. With few pieces
left, the transposition table lets a search reach depths at which completing a profile might never finish."""


def complete(decision: Decision, searcher: Searcher, stop: StopFlag) -> Decision:
    """Complete the profile of a decision's chosen move with the parameters in the record.

    The profile is needed to judge the reply, not to choose the move, so it can be completed while the
    opponent thinks. Scores are exact, so a later run in another process gives the same result.

    Raises:
        Stopped: The flag was set before the work was complete.
        EngineMismatch: The decision was made by an engine version with a different search; a profile must not
            mix scores from two searches.
        RecordError: The record contradicts the result of the search.
    """
    if decision.is_complete:
        return decision
    if not is_same_search(decision.engine_version):
        raise EngineMismatch(decision.engine_version)
    game = get_rules(decision.game)
    position = game.parse_position(decision.position)
    profiler = Profiler(game, searcher, position, decision.params, stop)
    if decision.move not in map(game.move_text, profiler.moves):
        raise RecordError(f"{decision.move} was recorded, but is not a legal move")
    full = whole_profile(profiler, decision.chosen, decision.depth)
    worst = min((reply.final_centi for reply in full.replies), default=full.raw_centi)
    if worst != full.raw_centi:
        raise RecordError(
            f"{decision.move} was recorded at {full.raw_centi}, but engine {ENGINE_VERSION}, "
            f"whose search is the same, finds {worst}"
        )
    swindle = is_swindle(decision.candidates, decision.params)
    counts_bonus = strategy_named(decision.strategy).counts_bonus
    return decision.with_chosen(with_trap(full, decision.params, swindle or not counts_bonus))
