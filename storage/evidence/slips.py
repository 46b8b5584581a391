"""Decides whether a reply is a slip; chat, lists, pages, reports and exports all use this rule.

Its cost by the judge (`engine.judge`) alone makes a reply an error. A reply that throws away a forced win is
therefore a slip even if the position was decided; baits, however, count only in positions that were not
decided (docs/trials.md).
"""

from sqlalchemy import ColumnElement, and_, func

from engine.figure_9 import MIN_ERROR_COST
from storage.tables.games import DecisionRow, ForecastRow, JudgementRow


def is_slip(cost: float | None, *, is_taken: bool, is_decided: bool | None) -> bool:
    """Whether a reply costs 10 % or more of the game without taking a bait that counts.

    Args:
        cost: Cost of the reply by the judge, in hundredths of a per cent of the game; None if it is not
            judged yet.
        is_taken: Whether the reply took a bait.
        is_decided: Whether our move wins or loses by force; if so, its baits do not count. None if not all
            replies are known; then neither baits nor slips count.
    """
    if cost is None or is_decided is None:
        return False
    return cost >= MIN_ERROR_COST and (is_decided or not is_taken)


def slip_condition() -> ColumnElement[bool]:
    """`is_slip` in SQL, on a decision, its forecast and its judgement (null if made by earlier rules)."""
    is_taken = and_(DecisionRow.is_decided.is_(False), func.coalesce(ForecastRow.is_taken, False).is_(True))
    return and_(DecisionRow.is_decided.is_not(None), JudgementRow.cost >= MIN_ERROR_COST, ~is_taken)
