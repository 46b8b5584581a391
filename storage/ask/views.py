"""The views that questions in SQL may use: their names and columns are kept from version to version.

The migration that makes them has their SQL.  Flags are 0 or 1; moments are text in UTC,
``2026-11-30 18:00:05``; costs, chances and probabilities are from 0 to 1; scores named ``_centi`` are
hundredths of a disc or pawn, from the opponent's side.  Decisions that were taken back or never played are in
none of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AskView:
    """One view."""

    about: str
    columns: Mapping[str, str]
    """The meaning of each column, in order."""


_OF_GAME = {
    "site": "key of the server, for instance arena",
    "game": "othello, chess, xiangqi or connect4",
    "player": "old name of strategy",
    "strategy": "ours: trappy, standard, ...",
    "opponent_id": "key of the opponent's account",
    "opponent": "its name",
    "is_program": "1: a program, as far as the site says",
    "opponent_rating": "at the start; null: none",
}

VIEWS: Mapping[str, AskView] = {
    "ask_games": AskView(
        "One row a game, aborted ones too (state).",
        {
            "game_id": "its key, for the other views and for `desdemona show`",
            **_OF_GAME,
            "account": "name of our account",
            "site_game_id": "the site's key",
            "variant": "the site's key of the variant",
            "speed": "the site's name of the speed class",
            "rated": "1: rated",
            "our_side": "0: we moved first; 1: the opponent did",
            "engine_version": "version of our engine",
            "trial": "name of the trial that it belongs to; null: none",
            "chance": "old name of probability",
            "probability": "with which our strategy was drawn at random",
            "our_rating": "at the start; null: none",
            "rating_band": "of the opponent, 200 points wide: 1400 to 1599; unrated",
            "state": "open, finished or aborted",
            "result": "win, draw or loss, our view",
            "points": "ours: 1, 0.5, 0; null without a result",
            "expected": "ours by Elo's formula from the two ratings; null without both",
            "end_reason": "as the site says it",
            "rating_diff": "change of our rating; null: unrated or unknown",
            "started_at": "moment",
            "ended_at": "moment",
            "day": "date of the start",
            "week": "date of that week's Monday",
            "month": "for instance 2026-11",
            "hour": "of the start, 0 to 23, UTC",
            "days_ago": "whole days since the start",
            "duration_s": "seconds from start to end",
            "plies": "moves of both sides, passes included",
            "baits_set": "moves of ours with a confirmed bait; null until the game is summed up",
            "baits_taken": "of these, how often a bait was taken",
            "slips": "other replies that cost a tenth of the game or more, in decided positions too",
        },
    ),
    "ask_decisions": AskView(
        "One row for each of our moves.",
        {
            "decision_id": "its key",
            "game_id": "of ask_games",
            "ply": "moves made before it",
            "move": "in the game's notation for programs",
            "state": "committed, sent or confirmed",
            "depth": "plies searched",
            "nodes": "positions searched",
            "time_s": "seconds it took",
            "is_complete": "1: all replies to it were searched",
            "is_decided": "1: it won or lost by force; such moves count nowhere",
            "is_trap": "1: it sets the paper's trap (Figure 9)",
            "trap_quality": "of the best trap, in points of a hundred",
            "reply_count": "replies that the opponent had",
            "at": "moment of the decision",
            "send_s": "seconds until the site had accepted it",
            "confirm_s": "seconds from there until the site showed it",
        },
    ),
    "ask_outcomes": AskView(
        "One row for each judged reply to a move of ours, beside what was expected.",
        {
            "decision_id": "of ask_decisions",
            "game_id": "of ask_games",
            "ply": "of our move",
            "kind": "optimal, fell or erred_elsewhere (Figure 9)",
            "reply": "null: the game ended first",
            "fell_for_best": "1: it is the paper's best trap",
            "cost": "what it cost, share of the game",
            "is_error": "1: it cost a tenth of the game or more",
            "is_decided": "1: our move won or lost by force; exclude these",
            "reply_count": "number of legal replies",
            "random_error": "probability that a random reply is an error",
            "expected_error": "the same by the forecast",
            "random_cost": "mean cost at random",
            "expected_cost": "by the forecast",
            "has_bait": "1: our move had a confirmed bait",
            "is_bait_taken": "1: the reply takes it",
            "probability": "of this reply by the forecast",
            "reply_time_s": "seconds that the reply took; null: not timed",
            "at": "moment of the judgement",
        },
    ),
    "ask_baits": AskView(
        "One row for each move with a confirmed bait, in positions that were not decided.",
        {
            "decision_id": "of ask_decisions",
            "game_id": "of ask_games",
            "ply": "of our move",
            "move": "ours",
            "bait": "the reply that tempts most",
            "probability": "that people play it, by the forecast",
            "cost": "what it costs, share of the game",
            "surprise": "old name of expected_loss",
            "expected_loss": "probability times cost: the order of baits",
            "model": "who made the forecast",
            "reply": "what was played; null: nothing yet",
            "is_taken": "1: a bait; null: not judged yet",
            "reply_cost": "what the reply cost",
            **_OF_GAME,
            "at": "moment of the decision",
            "days_ago": "whole days since",
        },
    ),
    "ask_replies": AskView(
        "One row for each legal reply to each of our moves, with shallow and full scores. The largest "
        "view: name a game or a decision.",
        {
            "decision_id": "of ask_decisions",
            "game_id": "of ask_games",
            "ply": "of our move",
            "reply": "in the game's notation for programs",
            "is_played": "1: it was played",
            "first_centi": "score after the shallowest search",
            "glance_centi": "old name of shallow_centi",
            "shallow_centi": "after the deepest search but one",
            "final_centi": "at full depth",
            "cost_centi": "below the best reply's score at full depth",
            "rank_first": "1: looks best to the shallowest search",
            "rank_final": "1: is best",
        },
    ),
    "ask_opponents": AskView(
        "One row for each opponent's account; aborted games do not count.",
        {
            "opponent_id": "its key",
            "site": "of the account",
            "opponent": "its name",
            "is_program": "1: a program",
            "games": "with us",
            "days": "different days on which one began",
            "their_points": "won by the opponent",
            "best_rating": "highest at the start of a game",
            "first_at": "moment of the first game",
            "last_at": "moment of the last one",
            "days_since": "whole days since then",
            "baits_met": "moves of ours with a confirmed bait",
            "baits_taken": "of these, taken",
            "slips": "other errors",
        },
    ),
    "ask_events": AskView(
        "One row for each event that is no move: lost links, declined challenges, failures.",
        {
            "event_id": "its key",
            "site": "where",
            "account": "ours",
            "kind": "for instance challenge_declined",
            "game_id": "of ask_games; null: of none",
            "reason": "why, if it says so",
            "at": "moment",
            "day": "date",
            "days_ago": "whole days since",
        },
    ),
}
"""Every view by its name."""

TABLES = (
    "decisions",
    "engine_configs",
    "events",
    "forecasts",
    "game_summaries",
    "games",
    "opponents",
    "outcomes",
    "reply_times",
    "trials",
)
"""The tables that the views are made of.  On SQLite a question may read these, too: its authorizer cannot
tell a view's own reading from a query that has borrowed the view's name."""
