"""The export of games."""

import json
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, cast, func, select

from engine.bait_rule import RULE as FORECAST
from engine.judgement import RULE
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
    seconds,
    text,
    timestamp,
    whole,
)
from storage.evidence.rating_bands import RatingBand
from storage.evidence.slips import slip_condition
from storage.evidence.statistics.groups import week_text
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
    """Number of our moves in a closed game that meet the conditions, in SQL."""
    counted = (
        select(func.count())
        .select_from(DecisionRow)
        .outerjoin(ForecastRow, and_(ForecastRow.decision_id == DecisionRow.id, ForecastRow.rule == FORECAST))
        .outerjoin(OutcomeRow, and_(OutcomeRow.decision_id == DecisionRow.id, OutcomeRow.rule == RULE))
        .where(DecisionRow.game_id == GameRow.id, *standing(), *conditions)
        .correlate(GameRow)
    )
    return counted.scalar_subquery()


def _if_closed(name: str, about: str, *conditions: ColumnElement[bool]) -> ExportColumn:
    def read(state: GameStatus, count: int) -> Value:
        return None if state is GameStatus.OPEN else count

    return computed(name, _WHOLE, about, read, GameRow.state, _count(*conditions))


GAMES = export_of(
    "One row per game, including aborted games (see state).",
    select(GameRow.id, GameRow.id.label("game_id"))
    .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
    .join(EngineConfigRow, EngineConfigRow.id == GameRow.engine_config_id)
    .outerjoin(TrialRow, TrialRow.id == GameRow.trial_id)
    .order_by(GameRow.id),
    [
        whole("game_id", "key of the game, used in the other exports", GameRow.id),
        *OF_GAME,
        text("account", "name of our account", GameRow.account),
        text("site_game_id", "the site's key of the game, for `desdemona show`", GameRow.site_game_id),
        text("variant", "the site's key of the variant", GameRow.variant),
        text(
            "speed",
            "the site's name of the speed class; a game without a clock counts as `correspondence`",
            GameRow.speed,
        ),
        flag("rated", "1: rated", GameRow.rated),
        whole("our_side", "0: we moved first; 1: the opponent did", GameRow.our_side),
        text("engine_version", "version of our engine", EngineConfigRow.engine_version),
        text("trial", "name of the game's trial; null: none", TrialRow.name),
        _probability("chance", "old name of probability"),
        whole("our_rating", "our rating at the start; null: none", GameRow.our_rating),
        computed(
            "rating_band",
            _TEXT,
            "of the opponent, 200 points wide, such as 1400-1599; or unrated",
            lambda rating: RatingBand.of(rating).text.replace(" to ", "-"),
            GameRow.opponent_rating,
        ),
        text("state", "open, finished or aborted", GameRow.state),
        text("result", "win, draw or loss, our view", GameRow.result),
        number(
            "points",
            "ours: 1, 0.5, 0; null without a result",
            GameRow.result,
            lambda result: _POINTS.get(str(result)),
        ),
        computed(
            "expected",
            _NUMBER,
            "ours by Elo's formula from the ratings; null without both",
            _expected,
            GameRow.our_rating,
            GameRow.opponent_rating,
        ),
        text("end_reason", "as the site says it", GameRow.end_reason),
        whole("rating_diff", "change of our rating; null: unrated or unknown", GameRow.rating_diff),
        timestamp("started_at", "time", GameRow.started_at),
        timestamp("ended_at", "time", GameRow.ended_at),
        text("day", "date of the start", GameRow.started_at, "{:%Y-%m-%d}".format),
        text("week", "date of that week's Monday", GameRow.started_at, lambda start: week_text(start.date())),
        text("month", "for instance 2026-11", GameRow.started_at, "{:%Y-%m}".format),
        whole("hour", "of the start, 0 to 23, UTC", GameRow.started_at, lambda start: start.hour),
        computed(
            "duration_s", _NUMBER, "seconds from start to end", seconds, GameRow.started_at, GameRow.ended_at
        ),
        whole(
            "plies", "moves of both sides, passes included", GameRow.moves, lambda moves: len(moves.split())
        ),
        _if_closed(
            "baits_set",
            "moves of ours with a confirmed bait; null while the game is open",
            DecisionRow.is_decided.is_(False),
            ForecastRow.bait.is_not(None),
        ),
        _if_closed(
            "baits_taken",
            "of these, how often a bait was taken",
            DecisionRow.is_decided.is_(False),
            ForecastRow.is_taken.is_(True),
        ),
        _if_closed(
            "slips",
            "other replies that cost a tenth of the game or more, in decided positions too",
            slip_condition(),
        ),
        text("moves", "of both sides, as recorded, with a space between two", GameRow.moves),
        text(
            "initial_position", "in the game's notation; null: the game's usual one", GameRow.initial_position
        ),
        whole("clock_initial_s", "each side's time in seconds; null: none", GameRow.clock_initial_s),
        whole("clock_increment_s", "seconds added for each move; null: none", GameRow.clock_increment_s),
        text("opponent_site_id", "the opponent's key at the site", OpponentRow.site_id),
        STRATEGY,
        _probability("probability", "of the random draw of our strategy"),
    ],
)
