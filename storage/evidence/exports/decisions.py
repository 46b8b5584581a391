"""The exports of decisions, outcomes, baits and replies."""

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Text, cast, select

from engine.bait_rule import FORECAST_RULE
from engine.expected import WHOLE
from engine.figure_9 import FIGURE_9_RULE, MIN_ERROR_COST
from storage.evidence.exports.columns import (
    OF_GAME,
    STRATEGY,
    ColumnKind,
    Export,
    ExportColumn,
    Value,
    computed,
    export_of,
    flag,
    number,
    of_moves,
    seconds,
    share,
    text,
    timestamp,
    whole,
)
from storage.evidence.replies import model_text
from storage.filters import standing_conditions
from storage.ledger.judgements import judgement_of_decision
from storage.packing.records import unpack
from storage.tables.games import (
    DecisionRow,
    ForecastRow,
    GameRow,
    JudgementRow,
    OpponentRow,
    OutcomeRow,
    ReplyTimeRow,
)
from storage.tables.types import as_stored

_WHOLE, _NUMBER, _TEXT = ColumnKind.WHOLE, ColumnKind.NUMBER, ColumnKind.TEXT


_DECISIONS = (
    select(DecisionRow.id, DecisionRow.game_id)
    .select_from(DecisionRow)
    .join(GameRow, GameRow.id == DecisionRow.game_id)
    .where(*standing_conditions())
    .order_by(DecisionRow.id)
)


def _is(rule: int, name: str, about: str, source: Any) -> ExportColumn:
    """A column that is 1 if the source is the current version of the rules, otherwise 0."""
    return computed(name, _WHOLE, about, lambda value: int(value == rule), source)


def _expected_loss(name: str, about: str) -> ExportColumn:
    def read(probability: float, cost: int) -> float:
        return probability * cost / WHOLE

    return computed(name, _NUMBER, about, read, ForecastRow.bait_probability, ForecastRow.bait_cost)


_KEYS: list[ExportColumn] = [
    whole("decision_id", "key of the decision", DecisionRow.id),
    whole("game_id", "key of its game", DecisionRow.game_id),
    whole("ply", "number of moves before ours", DecisionRow.ply),
]

DECISIONS = export_of(
    "One row for each of our moves.",
    _DECISIONS,
    [
        *_KEYS,
        text("move", "our move, in this program's notation", DecisionRow.move),
        text("state", "committed, sent or confirmed", DecisionRow.state),
        whole("depth", "plies searched", DecisionRow.depth),
        whole("nodes", "positions searched", DecisionRow.nodes),
        number("time_s", "thinking time in seconds", DecisionRow.time_s),
        flag("is_complete", "1: all replies to the move were searched", DecisionRow.is_complete),
        flag("is_decided", "1: the move forces the outcome; statistics exclude it", DecisionRow.is_decided),
        flag("is_trap", "1: the move sets a trap (Figure 9)", DecisionRow.is_trap),
        number(
            "trap_quality",
            "quality of the move's best trap, in per cent of expected score",
            DecisionRow.trap_quality,
            lambda quality: quality / 100,
        ),
        whole("reply_count", "number of legal replies", DecisionRow.reply_count),
        timestamp("at", "time of the decision", DecisionRow.created_at),
        computed(
            "send_s",
            _NUMBER,
            "seconds from the decision until the site accepted the move",
            seconds,
            DecisionRow.created_at,
            DecisionRow.sent_at,
        ),
        computed(
            "confirm_s",
            _NUMBER,
            "seconds from the site's acceptance until it showed the move",
            seconds,
            DecisionRow.sent_at,
            DecisionRow.confirmed_at,
        ),
    ],
    selected=of_moves,
)

OUTCOMES = export_of(
    "One row for each classified reply to our moves, with the forecasts for it.",
    _DECISIONS.join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
    .outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
    .outerjoin(ReplyTimeRow, ReplyTimeRow.decision_id == DecisionRow.id)
    .outerjoin(JudgementRow, judgement_of_decision()),
    [
        *_KEYS,
        text(
            "kind",
            "optimal, fell, erred_elsewhere (Figure 9, at the player's depth) or unanswered",
            OutcomeRow.kind,
        ),
        text("reply", "the reply; null: the game ended first", OutcomeRow.reply),
        flag("fell_for_best", "1: the reply falls into the best trap (Figure 9)", OutcomeRow.fell_for_best),
        share(
            "cost", "cost of the reply in expected score, by the judge; null: not judged", JudgementRow.cost
        ),
        computed(
            "is_error",
            _WHOLE,
            "1: the reply cost at least 10 % of expected score; null: not judged",
            lambda cost: None if cost is None else int(cost >= MIN_ERROR_COST),
            JudgementRow.cost,
        ),
        flag("is_decided", "1: our move forces the outcome; exclude such rows", DecisionRow.is_decided),
        whole("reply_count", "number of legal replies", DecisionRow.reply_count),
        number("random_error", "probability that a random reply is an error", ForecastRow.error_uniform),
        number("expected_error", "forecast probability that the reply errs", ForecastRow.error_expected),
        share("random_cost", "mean cost of a reply chosen at random", ForecastRow.cost_uniform),
        share("expected_cost", "forecast mean cost of the reply", ForecastRow.cost_expected),
        computed(
            "has_bait",
            _WHOLE,
            "1: our move set a bait",
            lambda bait: int(bait is not None),
            ForecastRow.bait,
        ),
        computed(
            "is_bait_taken",
            _WHOLE,
            "1: the reply takes a bait",
            lambda is_taken: int(bool(is_taken)),
            ForecastRow.is_taken,
        ),
        number("probability", "forecast probability of this reply", ForecastRow.reply_probability),
        number("reply_time_s", "seconds the opponent took to reply; null: not measured", ReplyTimeRow.time_s),
        timestamp("at", "time of the classification", OutcomeRow.at),
        flag("is_trap", "1: our move set a trap (Figure 9)", DecisionRow.is_trap),
        number("random_bait", "probability that a random reply takes a bait", ForecastRow.bait_uniform),
        number("expected_bait", "forecast probability that a bait is taken", ForecastRow.bait_expected),
        number(
            "random_fall",
            "probability that a random reply falls into a trap (Figure 9)",
            ForecastRow.fall_uniform,
        ),
        number("expected_fall", "forecast probability of a fall into a trap", ForecastRow.fall_expected),
        number(
            "expected_optimal",
            "forecast probability that the reply is optimal",
            ForecastRow.optimal_expected,
        ),
        computed(
            "model",
            _TEXT,
            "model that made the forecast, named as in `stats --by model`; null: none",
            lambda model_name, model_sha256, prior: (
                None if model_name is None else model_text(model_name, model_sha256, prior)
            ),
            ForecastRow.model_name,
            ForecastRow.model_sha256,
            ForecastRow.prior,
        ),
        _is(
            FIGURE_9_RULE,
            "is_current",
            "1: classified by current rules; statistics ignore other rows until `db recheck`",
            OutcomeRow.rule,
        ),
        _is(FORECAST_RULE, "is_forecast_current", "1: forecast by current rules", ForecastRow.rule),
        text("best", "the best reply by the judge; null: not judged", JudgementRow.best),
        whole("judge_version", "version of the judge; null: not judged", JudgementRow.version),
    ],
    selected=of_moves,
)

BAITS = export_of(
    "One row for each of our moves with a bait, except in decided positions.",
    _DECISIONS.join(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
    .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
    .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
    .outerjoin(JudgementRow, judgement_of_decision())
    .where(ForecastRow.bait.is_not(None), DecisionRow.is_decided.is_(False)),
    [
        *_KEYS,
        text("move", "our move", DecisionRow.move),
        text("bait", "the most tempting reply", ForecastRow.bait),
        number("probability", "forecast probability that the bait is played", ForecastRow.bait_probability),
        share("cost", "cost of the bait in expected score", ForecastRow.bait_cost),
        _expected_loss("surprise", "old name of expected_loss"),
        text("model", "model that made the forecast", ForecastRow.model_name),
        text("reply", "the reply played; null: none yet", OutcomeRow.reply),
        flag("is_taken", "1: the reply took a bait; null: no reply yet", ForecastRow.is_taken),
        share("reply_cost", "cost of the reply in expected score; null: not judged", JudgementRow.cost),
        *OF_GAME,
        timestamp("at", "time of the decision", DecisionRow.created_at),
        number(
            "expected",
            "forecast probability that the reply takes any bait of the move",
            ForecastRow.bait_expected,
        ),
        _is(
            FORECAST_RULE,
            "is_current",
            "1: forecast by current rules; statistics ignore other rows until `db recheck`",
            ForecastRow.rule,
        ),
        _expected_loss("expected_loss", "forecast probability times cost, used to rank baits"),
        STRATEGY,
    ],
    selected=of_moves,
)


def _reply_rows(row: Any, _with_names: bool) -> Iterable[tuple[Value, ...]]:
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
    "One row for each legal reply to each of our moves, with its scores.",
    (
        *_KEYS,
        ExportColumn("reply", _TEXT, "the reply, in this program's notation"),
        ExportColumn("is_played", _WHOLE, "1: this reply was played"),
        ExportColumn("first_centi", _WHOLE, "score from the shallowest search"),
        ExportColumn("glance_centi", _WHOLE, "old name of shallow_centi"),
        ExportColumn("final_centi", _WHOLE, "score at full depth"),
        ExportColumn("cost_centi", _WHOLE, "the best reply's score at full depth, minus this reply's"),
        ExportColumn("rank_first", _WHOLE, "rank in the shallowest search; 1: best"),
        ExportColumn("rank_final", _WHOLE, "rank at full depth; 1: best"),
        ExportColumn("shallow_centi", _WHOLE, "score at one ply below full depth"),
    ),
    _DECISIONS.add_columns(
        DecisionRow.ply, cast(DecisionRow.replies, Text).label("replies"), OutcomeRow.reply
    )
    .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
    .where(DecisionRow.replies.is_not(None)),
    _reply_rows,
    of_moves,
)


def _json(stored: object) -> str:
    return json.dumps(unpack(stored), ensure_ascii=False)


RECORDS = export_of(
    "One row for each of our moves, with the full record from which its other data can be computed.",
    _DECISIONS.outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id),
    [
        *_KEYS,
        text(
            "record",
            "JSON: position, candidates, scores by depth (from our point of view), settings, proof",
            as_stored(DecisionRow.record),
            _json,
        ),
        text(
            "forecast",
            "JSON: forecast of people's replies, with the baits; null: none",
            as_stored(ForecastRow.record),
            _json,
        ),
    ],
    selected=of_moves,
)
