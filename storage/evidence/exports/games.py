"""The export of games."""

import json
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, cast, func, select

from engine.bait_rule import FORECAST_RULE
from storage.evidence.exports.columns import (
    OF_GAME,
    STRATEGY,
    ColumnKind,
    ExportColumn,
    Value,
    computed,
    export_of,
    flag,
    number,
    opponent_text,
    seconds,
    text,
    timestamp,
    whole,
)
from storage.evidence.rating_bands import RatingBand
from storage.evidence.slips import slip_condition
from storage.evidence.statistics.groups import week_text
from storage.filters import standing_conditions
from storage.ledger.judgements import judged_game, judgement_of_decision
from storage.records import GameStatus
from storage.tables.games import (
    DecisionRow,
    EngineConfigRow,
    ForecastRow,
    GameRow,
    JudgedGameRow,
    JudgementRow,
    OpponentRow,
    TrialRow,
    move_order,
)

_WHOLE, _NUMBER, _TEXT = ColumnKind.WHOLE, ColumnKind.NUMBER, ColumnKind.TEXT


def _expected(ours: int | None, theirs: int | None) -> Value:
    if ours is None or theirs is None:
        return None
    return float(1 / (1 + 10.0 ** ((theirs - ours) / 400)))


def _probability(name: str, about: str) -> ExportColumn:
    def read(selection: str, strategy: str) -> Value:
        try:
            probability = json.loads(selection)["chances"][strategy]
            return None if probability is None else float(probability)
        except (ValueError, TypeError, LookupError, RecursionError):
            return None

    return computed(name, _NUMBER, about, read, cast(GameRow.selection, Text), GameRow.strategy)


_POINTS = {"win": 1.0, "draw": 0.5, "loss": 0.0}


def _count(*conditions: ColumnElement[bool]) -> Any:
    """SQL expression for the number of our moves in a game, counting only moves that meet all conditions."""
    counted = (
        select(func.count())
        .select_from(DecisionRow)
        .outerjoin(
            ForecastRow, and_(ForecastRow.decision_id == DecisionRow.id, ForecastRow.rule == FORECAST_RULE)
        )
        .outerjoin(JudgementRow, judgement_of_decision())
        .where(DecisionRow.game_id == GameRow.id, *standing_conditions(), *conditions)
        .correlate(GameRow)
    )
    return counted.scalar_subquery()


def _if_closed(name: str, about: str, *conditions: ColumnElement[bool]) -> ExportColumn:
    def read(state: GameStatus, count: int) -> Value:
        return None if state is GameStatus.OPEN else count

    return computed(name, _WHOLE, about, read, GameRow.state, _count(*conditions))


GAMES = export_of(
    "One row for each game, including aborted games.",
    select(GameRow.id, GameRow.id.label("game_id"))
    .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
    .join(EngineConfigRow, EngineConfigRow.id == GameRow.engine_config_id)
    .outerjoin(TrialRow, TrialRow.id == GameRow.trial_id)
    .outerjoin(JudgedGameRow, judged_game())
    .order_by(GameRow.id),
    [
        whole("game_id", "the game's key in all exports", GameRow.id),
        *OF_GAME,
        text("account", "name of our account", GameRow.account),
        text("site_game_id", "the site's ID of the game, for `desdemona show`", GameRow.site_game_id),
        text("variant", "the site's name for the variant", GameRow.variant),
        text(
            "speed",
            "the site's name for the speed; `correspondence` if there is no clock",
            GameRow.speed,
        ),
        flag("rated", "1: the game is rated", GameRow.rated),
        whole("our_side", "0: we move first; 1: the opponent moves first", move_order()),
        text("engine_version", "version of our engine", EngineConfigRow.engine_version),
        text("trial", "name of the game's trial; null: none", TrialRow.name),
        _probability("chance", "old name of probability"),
        whole("our_rating", "our rating at the start; null: unknown", GameRow.our_rating),
        computed(
            "rating_band",
            _TEXT,
            "opponent's rating band, for instance 1400-1599; or unrated",
            lambda rating: RatingBand.of(rating).text.replace(" to ", "-"),
            GameRow.opponent_rating,
        ),
        text("state", "open, finished or aborted", GameRow.state),
        text("result", "win, draw or loss, from our point of view", GameRow.result),
        number(
            "points",
            "our points: 1, 0.5 or 0; null: no result",
            GameRow.result,
            lambda result: _POINTS.get(str(result)),
        ),
        computed(
            "expected",
            _NUMBER,
            "our expected points by Elo's formula; null if a rating is unknown",
            _expected,
            GameRow.our_rating,
            GameRow.opponent_rating,
        ),
        text("end_reason", "reason for the end, as reported by the site", GameRow.end_reason),
        whole("rating_diff", "change in our rating; null: unrated or unknown", GameRow.rating_diff),
        timestamp("started_at", "time of the start", GameRow.started_at),
        timestamp("ended_at", "time of the end", GameRow.ended_at),
        text("day", "date of the start", GameRow.started_at, "{:%Y-%m-%d}".format),
        text("week", "Monday of the game's week", GameRow.started_at, lambda start: week_text(start.date())),
        text("month", "month of the start, for instance 2026-11", GameRow.started_at, "{:%Y-%m}".format),
        whole("hour", "hour of the start, 0 to 23 (UTC)", GameRow.started_at, lambda start: start.hour),
        computed(
            "duration_s", _NUMBER, "seconds from start to end", seconds, GameRow.started_at, GameRow.ended_at
        ),
        whole(
            "plies",
            "number of moves of both sides, including passes",
            GameRow.moves,
            lambda moves: len(moves.split()),
        ),
        _if_closed(
            "baits_set",
            "number of our moves with a bait; null while the game is open",
            DecisionRow.is_decided.is_(False),
            ForecastRow.bait.is_not(None),
        ),
        _if_closed(
            "baits_taken",
            "number of our baits that the opponent took",
            DecisionRow.is_decided.is_(False),
            ForecastRow.is_taken.is_(True),
        ),
        computed(
            "slips",
            _WHOLE,
            "number of replies that cost 10 % or more by the judge, except `baits_taken`; includes decided "
            "positions; null: the game is not judged",
            lambda is_judged, count: count if is_judged else None,
            JudgedGameRow.game_id.is_not(None),
            _count(slip_condition()),
        ),
        text("moves", "moves of both sides as recorded, separated by spaces", GameRow.moves),
        text(
            "initial_position",
            "starting position, in the game's notation; null: the standard position",
            GameRow.initial_position,
        ),
        whole(
            "clock_initial_s", "each side's initial time in seconds; null: no clock", GameRow.clock_initial_s
        ),
        whole("clock_increment_s", "seconds added per move; null: no clock", GameRow.clock_increment_s),
        opponent_text(
            "opponent_site_id", "the site's ID of the opponent; null as opponent", OpponentRow.site_id
        ),
        STRATEGY,
        _probability("probability", "probability with which our strategy was chosen"),
    ],
)
