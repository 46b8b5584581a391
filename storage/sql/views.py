"""The views for SQL questions; their names and columns stay the same across versions.

Their SQL is in the migration that creates them; most columns have the same meaning as in the exports
(`storage.evidence.exports`). Costs and errors are the judge's, of its latest version that has judged a game.
Flags are 0 or 1; times are UTC text, ``2026-11-30 18:00:05``; costs and
probabilities range from 0 to 1; scores named ``_centi`` are hundredths of a disc or pawn, from the opponent's
point of view. The views exclude decisions that were taken back or never played.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from storage.evidence.exports.columns import Export
from storage.evidence.exports.decisions import BAITS, DECISIONS, OUTCOMES, REPLIES
from storage.evidence.exports.events import EVENTS
from storage.evidence.exports.games import GAMES


@dataclass(frozen=True, slots=True)
class AskView:
    """One view."""

    about: str
    columns: Mapping[str, str]
    """Each column's meaning, in column order."""


def _like(export: Export, names: str, **others: str) -> AskView:
    """A view that contains some of an export's columns.

    Args:
        export: The export that defines the columns.
        names: The view's columns in order, separated by spaces.
        others: The meaning of columns that the export lacks or defines differently.
    """
    meanings = {column.name: column.about for column in export.columns} | others
    return AskView(export.about, {name: meanings[name] for name in names.split()})


_OF_GAME = "site game player strategy opponent_id opponent is_program opponent_rating"

VIEWS: Mapping[str, AskView] = {
    "ask_games": _like(
        GAMES,
        f"game_id {_OF_GAME} account site_game_id variant speed rated our_side engine_version trial chance "
        "probability our_rating rating_band state result points expected end_reason rating_diff started_at "
        "ended_at day week month hour days_ago duration_s plies baits_set baits_taken slips",
        game_id="the game's key in the other views and for `desdemona show`",
        rating_band="opponent's rating band, for instance 1400 to 1599; or unrated",
        days_ago="whole days since the start",
        baits_set="number of our moves with a bait; null until the game is summarised",
    ),
    "ask_decisions": _like(
        DECISIONS,
        "decision_id game_id ply move state depth nodes time_s is_complete is_decided is_trap trap_quality "
        "reply_count at send_s confirm_s",
    ),
    "ask_outcomes": _like(
        OUTCOMES,
        "decision_id game_id ply kind reply fell_for_best cost is_error is_decided reply_count random_error "
        "expected_error random_cost expected_cost has_bait is_bait_taken probability reply_time_s at",
    ),
    "ask_baits": _like(
        BAITS,
        "decision_id game_id ply move bait probability cost surprise expected_loss model reply is_taken "
        f"reply_cost {_OF_GAME} at days_ago",
        days_ago="whole days since the decision",
    ),
    "ask_replies": replace(
        _like(
            REPLIES,
            "decision_id game_id ply reply is_played first_centi glance_centi shallow_centi final_centi "
            "cost_centi rank_first rank_final",
        ),
        about=f"{REPLIES.about} This is the largest view, so filter by game or decision.",
    ),
    "ask_opponents": AskView(
        "One row for each opponent account; aborted games are not counted.",
        {
            "opponent_id": "key of the account",
            "site": "site of the account",
            "opponent": "name of the account",
            "is_program": "1: the opponent is a program",
            "games": "number of games against us",
            "days": "number of days on which a game began",
            "their_points": "points that the opponent scored against us",
            "best_rating": "highest rating at the start of a game",
            "first_at": "time of the first game",
            "last_at": "time of the last game",
            "days_since": "whole days since the last game",
            "baits_met": "number of our moves with a bait",
            "baits_taken": "number of our baits that the opponent took",
            "slips": "number of errors other than taken baits, in judged games",
        },
    ),
    "ask_events": replace(
        _like(
            EVENTS,
            "event_id site account kind game_id reason at day days_ago",
            reason="reason, if stated",
            day="date of the event",
            days_ago="whole days since the event",
        ),
        about="One row for each event other than a move, such as a lost connection or declined challenge.",
    ),
}
"""All views by name."""
