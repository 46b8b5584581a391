"""The export of games."""

import json
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, cast, func, select

from engine.bait_rule import RULE as FORECAST
from engine.judgement import RULE
from storage.evidence.exports.columns import (
    GAME_COLUMNS,
    OF_GAME,
    STRATEGY,
    ColumnKind,
    Read,
    Value,
    export_of,
    flag,
    moment_text,
    named,
    rating_band,
    seconds,
    text_of,
)
from storage.evidence.slips import slip_condition
from storage.filters import standing
from storage.records import GameStatus
from storage.tables.games import (
    DecisionRow,
    EngineConfigRow,
    ForecastRow,
    GameRow,
    OpponentRow,
    OutcomeRow,
    TrialRow,
)

_WHOLE, _NUMBER, _TEXT = ColumnKind.WHOLE, ColumnKind.NUMBER, ColumnKind.TEXT


def _expected(row: Any) -> Value:
    if row.our_rating is None or row.opponent_rating is None:
        return None
    return float(1 / (1 + 10.0 ** ((row.opponent_rating - row.our_rating) / 400)))


def _chance(row: Any) -> Value:
    try:
        found = json.loads(row.selection)["chances"][row.player]
        return None if found is None else float(found)
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def _week(start: datetime) -> str:
    return f"{start - timedelta(days=start.weekday()):%Y-%m-%d}"


_POINTS = {"win": 1.0, "draw": 0.5, "loss": 0.0}


def _count(*conditions: ColumnElement[bool]) -> Any:
    """Number of our moves in a closed game that fulfil conditions."""
    counted = (
        select(func.count())
        .select_from(DecisionRow)
        .outerjoin(ForecastRow, and_(ForecastRow.decision_id == DecisionRow.id, ForecastRow.rule == FORECAST))
        .outerjoin(OutcomeRow, and_(OutcomeRow.decision_id == DecisionRow.id, OutcomeRow.rule == RULE))
        .where(DecisionRow.game_id == GameRow.id, *standing(), *conditions)
        .correlate(GameRow)
    )
    return counted.scalar_subquery()


def _if_closed(name: str) -> Read:
    return lambda row: None if row.state is GameStatus.OPEN else getattr(row, name)


GAMES = export_of(
    "One row a game, aborted ones too (state).",
    select(
        GameRow.id,
        GameRow.id.label("game_id"),
        *GAME_COLUMNS,
        GameRow.account,
        GameRow.site_game_id,
        GameRow.variant,
        GameRow.speed,
        GameRow.rated,
        GameRow.our_side,
        EngineConfigRow.engine_version,
        TrialRow.name.label("trial"),
        cast(GameRow.selection, Text).label("selection"),
        GameRow.our_rating,
        GameRow.state,
        GameRow.result,
        GameRow.end_reason,
        OpponentRow.site_id.label("opponent_site_id"),
        GameRow.rating_diff,
        GameRow.started_at,
        GameRow.ended_at,
        GameRow.moves,
        GameRow.initial_position,
        GameRow.clock_initial_s,
        GameRow.clock_increment_s,
        _count(DecisionRow.is_decided.is_(False), ForecastRow.bait.is_not(None)).label("baits_set"),
        _count(DecisionRow.is_decided.is_(False), ForecastRow.is_taken.is_(True)).label("baits_taken"),
        _count(slip_condition()).label("slips"),
    )
    .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
    .join(EngineConfigRow, EngineConfigRow.id == GameRow.engine_config_id)
    .outerjoin(TrialRow, TrialRow.id == GameRow.trial_id)
    .order_by(GameRow.id),
    [
        ("game_id", _WHOLE, "its key, for the other exports", named("game_id")),
        *OF_GAME,
        ("account", _TEXT, "name of our account", named("account")),
        ("site_game_id", _TEXT, "the site's key, for `desdemona show`", named("site_game_id")),
        ("variant", _TEXT, "the site's key of the variant", named("variant")),
        (
            "speed",
            _TEXT,
            "the site's name of the speed class; a game without a clock counts as `correspondence`",
            named("speed"),
        ),
        ("rated", _WHOLE, "1: rated", lambda row: flag(row.rated)),
        ("our_side", _WHOLE, "0: we moved first; 1: the opponent did", named("our_side")),
        ("engine_version", _TEXT, "version of our engine", named("engine_version")),
        ("trial", _TEXT, "name of the trial that it belongs to; null: none", named("trial")),
        ("chance", _NUMBER, "the same as probability, which replaces it", _chance),
        ("our_rating", _WHOLE, "at the start; null: none", named("our_rating")),
        (
            "rating_band",
            _TEXT,
            "of the opponent, 200 points wide: 1400-1599; unrated",
            lambda row: rating_band(row.opponent_rating),
        ),
        ("state", _TEXT, "open, finished or aborted", lambda row: text_of(row.state)),
        ("result", _TEXT, "win, draw or loss, our view", lambda row: text_of(row.result)),
        (
            "points",
            _NUMBER,
            "ours: 1, 0.5, 0; null without a result",
            lambda row: None if row.result is None else _POINTS.get(str(row.result)),
        ),
        (
            "expected",
            _NUMBER,
            "ours by Elo's formula from the ratings; null without both",
            _expected,
        ),
        ("end_reason", _TEXT, "as the site says it", named("end_reason")),
        (
            "rating_diff",
            _WHOLE,
            "change of our rating; null: unrated or unknown",
            named("rating_diff"),
        ),
        ("started_at", _TEXT, "moment", lambda row: moment_text(row.started_at)),
        ("ended_at", _TEXT, "moment", lambda row: moment_text(row.ended_at)),
        ("day", _TEXT, "date of the start", lambda row: f"{row.started_at:%Y-%m-%d}"),
        ("week", _TEXT, "date of that week's Monday", lambda row: _week(row.started_at)),
        ("month", _TEXT, "for instance 2026-11", lambda row: f"{row.started_at:%Y-%m}"),
        ("hour", _WHOLE, "of the start, 0 to 23, UTC", lambda row: row.started_at.hour),
        (
            "duration_s",
            _NUMBER,
            "seconds from start to end",
            lambda row: seconds(row.started_at, row.ended_at),
        ),
        (
            "plies",
            _WHOLE,
            "moves of both sides, passes included",
            lambda row: len(row.moves.split()),
        ),
        (
            "baits_set",
            _WHOLE,
            "moves of ours with a confirmed bait; null while the game is open",
            _if_closed("baits_set"),
        ),
        ("baits_taken", _WHOLE, "of these, how often a bait was taken", _if_closed("baits_taken")),
        (
            "slips",
            _WHOLE,
            "other replies that cost a tenth of the game or more, in decided positions too",
            _if_closed("slips"),
        ),
        ("moves", _TEXT, "of both sides, as recorded, with a space between two", named("moves")),
        (
            "initial_position",
            _TEXT,
            "in the game's notation; null: the game's usual one",
            named("initial_position"),
        ),
        ("clock_initial_s", _WHOLE, "each side's time in seconds; null: none", named("clock_initial_s")),
        ("clock_increment_s", _WHOLE, "seconds added for each move; null: none", named("clock_increment_s")),
        ("opponent_site_id", _TEXT, "the opponent's key at the site", named("opponent_site_id")),
        STRATEGY,
        ("probability", _NUMBER, "with which our strategy was drawn at random", _chance),
    ],
)
