"""The exports of decisions, outcomes, baits and replies."""

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Select, Text, cast, select

from engine.bait_rule import RULE as FORECAST_RULE
from engine.expected import WHOLE
from engine.judgement import RULE
from storage.evidence.exports.columns import (
    ERROR_COST,
    GAME_COLUMNS,
    OF_GAME,
    STRATEGY,
    ColumnKind,
    Export,
    ExportColumn,
    Reading,
    Value,
    export_of,
    flag,
    moment_text,
    named,
    number,
    of_moves,
    seconds,
    share,
    text_of,
)
from storage.evidence.replies import model_text
from storage.filters import standing
from storage.packing.records import unpack
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OpponentRow, OutcomeRow, ReplyTimeRow
from storage.tables.types import as_stored

_WHOLE, _NUMBER, _TEXT = ColumnKind.WHOLE, ColumnKind.NUMBER, ColumnKind.TEXT


def _of_decision(*columns: Any) -> Select[Any]:
    return (
        select(DecisionRow.id, DecisionRow.game_id, DecisionRow.ply, *columns)
        .select_from(DecisionRow)
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .where(*standing())
        .order_by(DecisionRow.id)
    )


_KEYS: list[Reading] = [
    ("decision_id", _WHOLE, "key of the decision", named("id")),
    ("game_id", _WHOLE, "key of its game", named("game_id")),
    ("ply", _WHOLE, "moves made before our move", named("ply")),
]

DECISIONS = export_of(
    "One row for each of our moves.",
    _of_decision(
        DecisionRow.move,
        DecisionRow.state,
        DecisionRow.depth,
        DecisionRow.nodes,
        DecisionRow.time_s,
        DecisionRow.is_complete,
        DecisionRow.is_decided,
        DecisionRow.is_trap,
        DecisionRow.trap_quality,
        DecisionRow.reply_count,
        DecisionRow.created_at,
        DecisionRow.sent_at,
        DecisionRow.confirmed_at,
    ),
    [
        *_KEYS,
        ("move", _TEXT, "in the game's notation for programs", named("move")),
        ("state", _TEXT, "committed, sent or confirmed", lambda row: text_of(row.state)),
        ("depth", _WHOLE, "plies searched", named("depth")),
        ("nodes", _WHOLE, "positions searched", named("nodes")),
        ("time_s", _NUMBER, "seconds it took", lambda row: number(row.time_s)),
        (
            "is_complete",
            _WHOLE,
            "1: all replies to it were searched",
            lambda row: flag(row.is_complete),
        ),
        (
            "is_decided",
            _WHOLE,
            "1: it won or lost by force; such moves count nowhere",
            lambda row: flag(row.is_decided),
        ),
        (
            "is_trap",
            _WHOLE,
            "1: it sets the paper's trap (Figure 9)",
            lambda row: flag(row.is_trap),
        ),
        (
            "trap_quality",
            _NUMBER,
            "of the best trap, in points of a hundred",
            lambda row: None if row.trap_quality is None else row.trap_quality / 100,
        ),
        ("reply_count", _WHOLE, "replies that the opponent had", named("reply_count")),
        ("at", _TEXT, "moment of the decision", lambda row: moment_text(row.created_at)),
        (
            "send_s",
            _NUMBER,
            "seconds until the site had accepted it",
            lambda row: seconds(row.created_at, row.sent_at),
        ),
        (
            "confirm_s",
            _NUMBER,
            "seconds from there until the site showed it",
            lambda row: seconds(row.sent_at, row.confirmed_at),
        ),
    ],
    selected=of_moves,
)

OUTCOMES = export_of(
    "One row for each judged reply to a move of ours, beside what was expected.",
    _of_decision(
        OutcomeRow.kind,
        OutcomeRow.reply,
        OutcomeRow.fell_for_best,
        OutcomeRow.cost,
        OutcomeRow.at,
        DecisionRow.is_decided,
        DecisionRow.reply_count,
        ForecastRow.error_uniform,
        ForecastRow.error_expected,
        ForecastRow.cost_uniform,
        ForecastRow.cost_expected,
        ForecastRow.bait,
        ForecastRow.is_taken,
        ForecastRow.reply_odds,
        ReplyTimeRow.time_s,
        DecisionRow.is_trap,
        ForecastRow.bait_uniform,
        ForecastRow.bait_expected,
        ForecastRow.fall_uniform,
        ForecastRow.fall_expected,
        ForecastRow.optimal_expected,
        ForecastRow.model_name,
        ForecastRow.model_sha256,
        ForecastRow.prior,
        OutcomeRow.rule,
        ForecastRow.rule.label("forecast_rule"),
    )
    .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
    .outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
    .outerjoin(ReplyTimeRow, ReplyTimeRow.decision_id == DecisionRow.id),
    [
        *_KEYS,
        (
            "kind",
            _TEXT,
            "optimal, fell, erred_elsewhere (Figure 9) or unanswered",
            lambda row: text_of(row.kind),
        ),
        ("reply", _TEXT, "null: the game ended first", named("reply")),
        (
            "fell_for_best",
            _WHOLE,
            "1: it is the paper's best trap",
            lambda row: flag(row.fell_for_best),
        ),
        ("cost", _NUMBER, "what it cost, share of the game", lambda row: share(row.cost)),
        (
            "is_error",
            _WHOLE,
            "1: it cost a tenth of the game or more",
            lambda row: int(row.cost is not None and row.cost >= ERROR_COST),
        ),
        (
            "is_decided",
            _WHOLE,
            "1: our move won or lost by force; exclude these",
            lambda row: flag(row.is_decided),
        ),
        ("reply_count", _WHOLE, "number of legal replies", named("reply_count")),
        (
            "random_error",
            _NUMBER,
            "probability that a random reply is an error",
            lambda row: number(row.error_uniform),
        ),
        (
            "expected_error",
            _NUMBER,
            "the same by the forecast",
            lambda row: number(row.error_expected),
        ),
        ("random_cost", _NUMBER, "mean cost at random", lambda row: share(row.cost_uniform)),
        ("expected_cost", _NUMBER, "by the forecast", lambda row: share(row.cost_expected)),
        (
            "has_bait",
            _WHOLE,
            "1: our move had a confirmed bait",
            lambda row: int(row.bait is not None),
        ),
        ("is_bait_taken", _WHOLE, "1: the reply takes it", lambda row: int(bool(row.is_taken))),
        (
            "probability",
            _NUMBER,
            "of this reply by the forecast",
            lambda row: number(row.reply_odds),
        ),
        (
            "reply_time_s",
            _NUMBER,
            "seconds that the reply took; null: not timed",
            lambda row: number(row.time_s),
        ),
        ("at", _TEXT, "moment of the judgement", lambda row: moment_text(row.at)),
        ("is_trap", _WHOLE, "1: our move set the paper's trap", lambda row: flag(row.is_trap)),
        (
            "random_bait",
            _NUMBER,
            "probability that a random reply takes a bait",
            lambda row: number(row.bait_uniform),
        ),
        ("expected_bait", _NUMBER, "the same by the forecast", lambda row: number(row.bait_expected)),
        (
            "random_fall",
            _NUMBER,
            "probability that a random reply falls for the paper's trap",
            lambda row: number(row.fall_uniform),
        ),
        ("expected_fall", _NUMBER, "the same by the forecast", lambda row: number(row.fall_expected)),
        (
            "expected_optimal",
            _NUMBER,
            "probability of an optimal reply by the forecast",
            lambda row: number(row.optimal_expected),
        ),
        (
            "model",
            _TEXT,
            "who made the forecast, as `stats --by model` says it; null: there is none",
            lambda row: (
                None if row.model_name is None else model_text(row.model_name, row.model_sha256, row.prior)
            ),
        ),
        (
            "is_current",
            _WHOLE,
            "1: judged by this version's rules; others count nowhere until `db recheck`",
            lambda row: int(row.rule == RULE),
        ),
        (
            "is_forecast_current",
            _WHOLE,
            "1: forecast by them",
            lambda row: int(row.forecast_rule == FORECAST_RULE),
        ),
    ],
    selected=of_moves,
)

BAITS = export_of(
    "One row for each move with a confirmed bait, in positions that were not decided.",
    _of_decision(
        DecisionRow.move,
        DecisionRow.created_at,
        ForecastRow.bait,
        ForecastRow.bait_odds,
        ForecastRow.bait_cost,
        ForecastRow.model_name,
        ForecastRow.is_taken,
        OutcomeRow.reply,
        OutcomeRow.cost,
        ForecastRow.bait_expected,
        ForecastRow.rule.label("forecast_rule"),
        *GAME_COLUMNS,
    )
    .join(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
    .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
    .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id),
    [
        *_KEYS,
        ("move", _TEXT, "ours", named("move")),
        ("bait", _TEXT, "the reply that tempts most", named("bait")),
        (
            "probability",
            _NUMBER,
            "that people play it, by the forecast",
            lambda row: number(row.bait_odds),
        ),
        ("cost", _NUMBER, "what it costs, share of the game", lambda row: share(row.bait_cost)),
        (
            "surprise",
            _NUMBER,
            "the same as expected_loss, which replaces it",
            lambda row: row.bait_odds * row.bait_cost / WHOLE,
        ),
        ("model", _TEXT, "who made the forecast", named("model_name")),
        ("reply", _TEXT, "what was played; null: nothing yet", named("reply")),
        ("is_taken", _WHOLE, "1: a bait; null: not judged yet", lambda row: flag(row.is_taken)),
        ("reply_cost", _NUMBER, "what the reply cost", lambda row: share(row.cost)),
        *OF_GAME,
        ("at", _TEXT, "moment of the decision", lambda row: moment_text(row.created_at)),
        (
            "expected",
            _NUMBER,
            "probability by the forecast that the reply takes any bait of the move",
            lambda row: number(row.bait_expected),
        ),
        (
            "is_current",
            _WHOLE,
            "1: forecast by this version's rules; others count nowhere until `db recheck`",
            lambda row: int(row.forecast_rule == FORECAST_RULE),
        ),
        (
            "expected_loss",
            _NUMBER,
            "probability times cost: the order of baits",
            lambda row: row.bait_odds * row.bait_cost / WHOLE,
        ),
        STRATEGY,
    ],
    [ForecastRow.bait.is_not(None), DecisionRow.is_decided.is_(False)],
    selected=of_moves,
)


def _reply_rows(row: Any) -> Iterable[tuple[Value, ...]]:
    replies = json.loads(row.replies)
    firsts, finals = sorted(each[1] for each in replies), sorted(each[3] for each in replies)
    for reply, first, shallow, final in replies:
        yield (
            row.id,
            row.game_id,
            row.ply,
            reply,
            int(row.reply == reply),
            -first,
            -shallow,
            -final,
            final - finals[0],
            1 + firsts.index(first),
            1 + finals.index(final),
            -shallow,
        )


REPLIES = Export(
    "One row for each legal reply to each of our moves, with shallow and full scores.",
    (
        *(ExportColumn(name, kind, about) for name, kind, about, _ in _KEYS),
        ExportColumn("reply", _TEXT, "in the game's notation for programs"),
        ExportColumn("is_played", _WHOLE, "1: it was played"),
        ExportColumn("first_centi", _WHOLE, "score after the shallowest search"),
        ExportColumn("glance_centi", _WHOLE, "the same as shallow_centi, which replaces it"),
        ExportColumn("final_centi", _WHOLE, "at full depth"),
        ExportColumn("cost_centi", _WHOLE, "below the best reply's score at full depth"),
        ExportColumn("rank_first", _WHOLE, "1: looks best to the shallowest search"),
        ExportColumn("rank_final", _WHOLE, "1: is best"),
        ExportColumn("shallow_centi", _WHOLE, "after the deepest search but one"),
    ),
    _of_decision(cast(DecisionRow.replies, Text).label("replies"), OutcomeRow.reply)
    .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
    .where(DecisionRow.replies.is_not(None)),
    _reply_rows,
    of_moves,
)


def _json(stored: object) -> str:
    return json.dumps(unpack(stored), ensure_ascii=False)


RECORDS = export_of(
    "One row for each of our moves with its whole record, from which everything else follows.",
    _of_decision(
        as_stored(DecisionRow.record).label("record"), as_stored(ForecastRow.record).label("forecast")
    ).outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id),
    [
        *_KEYS,
        (
            "record",
            _TEXT,
            "JSON: position, candidates, scores by depth, settings; scores from our side",
            lambda row: _json(row.record),
        ),
        (
            "forecast",
            _TEXT,
            "JSON: what people were expected to reply, and the baits; null: there is none",
            lambda row: None if row.forecast is None else _json(row.forecast),
        ),
    ],
    selected=of_moves,
)
