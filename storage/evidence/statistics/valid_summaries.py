"""Which summaries of games are valid, and which games have none (`storage.evidence.statistics.summaries`)."""

from sqlalchemy import ColumnElement, Select, and_, select

from engine.bait_rule import RULE as FORECAST_RULE
from engine.judgement import RULE
from storage.tables.games import GameRow
from storage.tables.summaries import GameSummaryRow

LAYOUT = 5
"""The version of the row; changes with the meaning of any of its columns, unless a rule changes with it."""


def is_valid() -> ColumnElement[bool]:
    """Whether a row of `GameSummaryRow` says what its game, a row of `GameRow`, adds to statistics."""
    return and_(GameSummaryRow.game_id == GameRow.id, GameRow.is_settled.is_(True), *is_of_today())


def is_of_today() -> tuple[ColumnElement[bool], ...]:
    """Conditions on `GameSummaryRow`: it was made by today's layout and rules."""
    return (
        GameSummaryRow.layout == LAYOUT,
        GameSummaryRow.rule == RULE,
        GameSummaryRow.forecast_rule == FORECAST_RULE,
    )


def without_summary(*which: ColumnElement[bool]) -> Select[int]:
    """Keys of the games, open ones too, that have no valid summary.

    Args:
        which: Conditions on `GameRow`.
    """
    return (
        select(GameRow.id)
        .outerjoin(GameSummaryRow, is_valid())
        .where(GameSummaryRow.game_id.is_(None), *which)
        .order_by(GameRow.id)
    )
