"""Builds a game's rows in the arrays that statistics use; no other module of statistics reads decisions.

Two SQL statements read whole games; `record_of` computes the rest from their rows.
"""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import groupby
from math import nan
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Select, case, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import FORECAST_RULE
from engine.decision import OutcomeKind, SearchMode
from engine.errors import RecordError
from engine.expected import WHOLE
from engine.figure_9 import FIGURE_9_RULE
from engine.strategies.registry import STRATEGIES
from storage.evidence.inference.suspects import MAX_FAST_REPLY_S, MIN_COPIED_PLIES, NO_OPENING
from storage.evidence.inference.timestamps import microseconds
from storage.evidence.replies import (
    EXPECTATIONS,
    GAME,
    NO_TRIAL,
    OUTCOMES,
    REPLY,
    SCORES,
    STATES,
    UNKNOWN,
    UNKNOWN_COST,
    Labels,
    ReplyFlag,
    model_text,
    packed_bait,
    packed_expectations,
)
from storage.evidence.slips import is_slip
from storage.evidence.trials import is_challenger_position
from storage.filters import phase_of, standing_conditions
from storage.ledger.judgements import judged_game, judgement_of_decision
from storage.records import DecisionState
from storage.tables.games import (
    DecisionRow,
    ForecastRow,
    GameRow,
    JudgedGameRow,
    JudgementRow,
    OutcomeRow,
    ReplyTimeRow,
)

logger = logging.getLogger(__name__)

ABANDONED_ENDINGS = ("resignation", "left", "time")
"""End reasons that can mean that a player abandoned the game."""
RANDOMISERS = tuple(sorted(kind.name for kind in STRATEGIES.values() if kind.draws_decisions))
"""Names of the strategies that randomise single decisions."""
_GAMES_PER_QUERY = 200
"""Number of games read by one SQL statement."""
_UNREADABLE_ROW_EXCEPTIONS = (ValueError, LookupError, TypeError, ArithmeticError, RecordError)
"""Exceptions that reading raises for a row that this program cannot have written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaitCounts:
    """Counts of the baits and slips of one game; baits in decided positions do not count."""

    baits_set: int = 0
    """Number of our moves with a bait, answered or not."""
    baits_taken: int = 0
    """Number of replies that took a bait."""
    slips: int = 0
    """Number of replies that took no bait but cost 10 % of the game or more; see `storage.evidence.slips`."""
    unjudged: int = 0
    """Number of replies that the judge has yet to judge; some of them may be slips."""


@dataclass(frozen=True, slots=True)
class GameSummary:
    """Everything that one game contributes to statistics and lists."""

    id: int
    labels: str
    """`storage.evidence.replies.Labels.text`."""
    game: bytes
    """A row in the layout of `GAME`."""
    replies: bytes
    """Rows in the layout of `REPLY`, in the order of play."""
    counts: BaitCounts


async def game_records(session: AsyncSession, games: Sequence[int]) -> dict[int, GameSummary]:
    """Build the records of the given games, keyed by game id.

    A game is omitted and logged if it has a row that this program cannot have written.
    """
    records: dict[int, GameSummary] = {}
    for start in range(0, len(games), _GAMES_PER_QUERY):
        records |= await _records(session, games[start : start + _GAMES_PER_QUERY])
    return records


async def _records(session: AsyncSession, games: Sequence[int]) -> dict[int, GameSummary]:
    try:
        rows = (await session.execute(_GAMES.where(GameRow.id.in_(games)))).all()
        # By the games' keys, so that no database reads all decisions.
        decisions = await session.execute(_DECISIONS.where(DecisionRow.game_id.in_(games)))
        by_game = {key: [*its] for key, its in groupby(decisions, lambda row: row.game_id)}
        return {row.id: record_of(row, by_game.get(row.id, ())) for row in rows}
    except (*_UNREADABLE_ROW_EXCEPTIONS, OperationalError) as error:
        if isinstance(error, OperationalError) and "Could not decode" not in str(error):
            raise  # the database fails, not a row
        if len(games) == 1:
            logger.warning("game %d is left out of statistics: %s", games[0], error)
            return {}
    # One such row hides its whole batch, so read this batch game by game.
    return {key: record for game in games for key, record in (await _records(session, [game])).items()}


_GAMES: Select[*tuple[Any, ...]] = select(
    GameRow.id,
    GameRow.opponent_id,
    GameRow.engine_config_id,
    GameRow.trial_id,
    case((GameRow.trial_id.is_not(None), GameRow.selection)).label("assignment"),
    GameRow.started_at,
    GameRow.ended_at,
    GameRow.opponent_rating,
    GameRow.our_rating,
    GameRow.strategy,
    GameRow.game,
    GameRow.site,
    GameRow.speed,
    GameRow.variant,
    GameRow.initial_position,
    GameRow.moves,
    GameRow.end_reason,
    GameRow.state,
    GameRow.is_settled,
    GameRow.result,
    JudgedGameRow.game_id.is_not(None).label("is_judged"),
).outerjoin(JudgedGameRow, judged_game())
_DECISIONS: Select[*tuple[Any, ...]] = (
    select(
        DecisionRow.id,
        DecisionRow.game_id,
        DecisionRow.ply,
        DecisionRow.takeback,
        DecisionRow.state,
        DecisionRow.move,
        DecisionRow.is_complete,
        DecisionRow.is_trap,
        DecisionRow.reply_count,
        DecisionRow.is_decided,
        DecisionRow.rule,
        DecisionRow.search_mode,
        OutcomeRow.rule.label("outcome_rule"),
        OutcomeRow.kind,
        OutcomeRow.reply,
        OutcomeRow.fell_for_best,
        ForecastRow.rule.label("forecast_rule"),
        ForecastRow.model_name,
        ForecastRow.model_sha256,
        ForecastRow.prior,
        *(getattr(ForecastRow, name) for name in EXPECTATIONS),
        ForecastRow.optimal_expected,
        ForecastRow.bait,
        ForecastRow.bait_probability,
        ForecastRow.bait_cost,
        ForecastRow.is_taken,
        ReplyTimeRow.time_s,
        JudgementRow.cost.label("judge_cost"),
    )
    .select_from(DecisionRow)
    .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
    .outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
    .outerjoin(ReplyTimeRow, ReplyTimeRow.decision_id == DecisionRow.id)
    .outerjoin(JudgementRow, judgement_of_decision())
    .order_by(DecisionRow.game_id, DecisionRow.ply, DecisionRow.id)
)


def record_of(game: Any, decisions: Sequence[Any]) -> GameSummary:
    """The record of one game.

    Args:
        game: A row from the statement that reads games.
        decisions: The game's rows from the statement that reads decisions, including taken-back ones.
    """
    standing = [each for each in decisions if not each.takeback and each.state != DecisionState.DROPPED]
    every = (_Reply.of(each, is_game_judged=bool(game.is_judged)) for each in standing)
    replies = [each for each in every if each is not None]
    models = sorted({each.model for each in replies})
    moves = game.moves.split()
    rows = np.array([each.packed(game, moves, models.index(each.model)) for each in replies], REPLY)
    counts = BaitCounts(
        baits_set=sum(each.counts and ReplyFlag.BAIT in each.flags for each in replies),
        baits_taken=sum(bool(each.row.is_taken) for each in replies if each.counts and each.is_forecast),
        slips=sum(each.is_slip for each in replies),
        unjudged=sum(ReplyFlag.UNJUDGED in each.flags for each in replies),
    )
    record = np.zeros((), GAME)
    columns = _of_game(game) | _of_decisions(game, decisions, standing, replies) | asdict(counts)
    for name, value in columns.items():
        record[name] = value
    probabilities = "" if game.trial_id is None else probabilities_part(game.assignment)
    labels = Labels(game.strategy, game.game, game.site, game.speed, probabilities, tuple(models))
    return GameSummary(game.id, labels.text, record.tobytes(), rows.tobytes(), counts)


def is_decision_randomised(search_mode: str | None, strategy: str) -> bool:
    """Whether a decision was a random choice between two moves.

    Args:
        search_mode: The decision's search mode; None if its record was damaged when migration 0012 read it.
        strategy: The strategy that chose the move.
    """
    return strategy in RANDOMISERS if search_mode is None else search_mode == SearchMode.TRIAL


@dataclass(frozen=True)
class _Reply:
    """A decision that has a row in `REPLY`, because its reply was classified or it set a bait."""

    row: Any
    is_game_judged: bool
    """Whether the judge has judged the game; it will not judge any replies that are left."""
    is_classified: bool
    """Whether the reply was classified under the current rules; other replies cannot be slips."""
    is_forecast: bool
    """Whether there is a forecast made under the current rules."""

    @classmethod
    def of(cls, row: Any, *, is_game_judged: bool) -> "_Reply | None":
        """Convert a row of the statement that reads decisions; None if the decision has no row in `REPLY`."""
        is_classified, is_forecast = row.outcome_rule == FIGURE_9_RULE, row.forecast_rule == FORECAST_RULE
        reply = cls(row, is_game_judged, is_classified, is_forecast)
        is_there = is_classified or (is_forecast and row.bait is not None)
        return reply if row.is_decided is not None and is_there else None

    @property
    def counts(self) -> bool:
        """Whether the game was still undecided after our move."""
        return not self.row.is_decided

    @property
    def is_slip(self) -> bool:
        """See `storage.evidence.slips`."""
        is_taken = self.is_forecast and bool(self.row.is_taken)
        return is_slip(self.cost, is_taken=is_taken, is_decided=not self.counts)

    @property
    def cost(self) -> int | None:
        """The judge's cost of the reply; None if it is unknown, or if the reply is not classified."""
        cost: int | None = self.row.judge_cost if self.is_classified else None
        return cost

    @property
    def model(self) -> str:
        """The model that made the forecast; empty if there is no forecast under the current rules."""
        row = self.row
        return model_text(row.model_name, row.model_sha256, row.prior) if self.is_forecast else ""

    @cached_property
    def flags(self) -> ReplyFlag:
        """The reply's flags."""
        row, flags = self.row, ReplyFlag(0)
        is_answered, is_judged = self.is_classified and row.reply is not None, self.cost is not None
        is_counted = is_answered and self.is_forecast and row.rule == FIGURE_9_RULE and row.reply_count >= 2
        for flag, is_true in (
            (ReplyFlag.COUNTED, is_counted),
            (ReplyFlag.JUDGED, is_judged),
            (ReplyFlag.UNJUDGED, is_answered and not is_judged and not self.is_game_judged),
            (ReplyFlag.DECIDED, row.is_decided),
            (ReplyFlag.PAPER_TRAP, row.is_trap),
            (ReplyFlag.FELL_FOR_BEST, row.fell_for_best),
            (ReplyFlag.BAIT, self.is_forecast and row.bait is not None),
            (ReplyFlag.TAKEN, self.is_forecast and row.is_taken),
            (ReplyFlag.ANSWERED, self.is_forecast and row.is_taken is not None),
        ):
            if is_true:
                flags |= flag
        return flags

    def packed(self, game: Any, moves: Sequence[str], model: int) -> tuple[float, ...]:
        """The reply's row in the layout of `REPLY`.

        Args:
            game: The game's row.
            moves: All moves of that game.
            model: Index of the forecast's model.
        """
        row = self.row
        values = {name: getattr(row, name) if self.is_forecast else 0.0 for name in EXPECTATIONS}
        for name in ("cost_uniform", "cost_expected"):
            values[name] /= WHOLE
        columns = packed_expectations(values, row.reply_count or 0) | packed_bait(0, 0.0, 0)
        if ReplyFlag.BAIT in self.flags:
            line = line_key(game.game, game.initial_position, moves[: row.ply], row.move, row.bait)
            columns |= packed_bait(line, row.bait_probability, row.bait_cost)
        columns |= {
            "decision": row.id,
            "time_s": nan if row.time_s is None else row.time_s,
            "cost": UNKNOWN_COST if self.cost is None else self.cost,
            "ply": row.ply,
            "phase": phase_of(row.ply + 1),
            "reply_count": row.reply_count or 0,
            "flags": int(self.flags),
            "model": model,
            "outcome": OUTCOMES.index(row.kind.value) if self.is_classified else 0,
        }
        return tuple(columns[name] for name in REPLY.names or ())


def _of_game(row: Any) -> dict[str, Any]:
    """The columns of `GAME` that are computed from the game's own row."""
    result = None if row.result is None else row.result.value
    plies, opening = opening_of(row.game, row.initial_position, row.moves)
    return {
        "id": row.id,
        "person": row.opponent_id,
        "config": row.engine_config_id,
        "trial": NO_TRIAL if row.trial_id is None else row.trial_id,
        "began_us": microseconds(row.started_at),
        "ended_us": UNKNOWN if row.ended_at is None else microseconds(row.ended_at),
        "opening": NO_OPENING if opening is None else opening,
        "rating": nan if row.opponent_rating is None else row.opponent_rating,
        "our_rating": nan if row.our_rating is None else row.our_rating,
        "score": SCORES[result],
        "state": STATES.index(row.state.value),
        "is_settled": row.is_settled,
        "is_challenger_position": is_challenger_position(row.variant, row.initial_position),
        "plies": plies,
        "has_left": SCORES[result] == 1.0 and row.end_reason in ABANDONED_ENDINGS,
    }


def _of_decisions(
    game: Any, decisions: Sequence[Any], standing: Sequence[Any], replies: Sequence[_Reply]
) -> dict[str, Any]:
    """The columns of `GAME` that are derived from the game's decisions."""
    drawn = [each for each in decisions if is_decision_randomised(each.search_mode, game.strategy)]
    # Also replies that were taken back: the first one counts.
    times = [
        each.time_s
        for each in decisions
        if each.time_s is not None and (each.reply_count is None or each.reply_count >= 2)
    ]
    counted = [each for each in replies if ReplyFlag.COUNTED in each.flags and each.counts]
    expected = [each.row for each in counted if each.row.optimal_expected is not None]
    reply_costs = [each.cost for each in counted if each.cost is not None]
    return {
        "outdated": sum(is_outdated(each) for each in standing),
        "timed": len(times),
        "fast": sum(time_s < MAX_FAST_REPLY_S for time_s in times),
        "classified": len(expected),
        "optimal": sum(each.kind is OutcomeKind.OPTIMAL for each in expected),
        "optimal_expected": sum(each.optimal_expected for each in expected),
        "replies": len(reply_costs),
        "cost": sum(reply_costs),
        "draws": len(drawn),
        "draws_answered": sum(
            each.reply is not None and each.search_mode == SearchMode.TRIAL for each in drawn
        ),
    }


def is_outdated(row: Any) -> bool:
    """Whether a complete decision was classified or forecast under earlier rules, or lacks a forecast.

    Statistics omit such a decision until ``desdemona db recheck`` has classified it again.
    """
    return row.is_complete and (
        row.rule not in (None, FIGURE_9_RULE)
        or row.outcome_rule not in (None, FIGURE_9_RULE)
        or row.forecast_rule != FORECAST_RULE
    )


def is_classified() -> ColumnElement[bool]:
    """Condition on `OutcomeRow`: the reply was classified under the current rules."""
    return OutcomeRow.rule == FIGURE_9_RULE


def named_bait() -> tuple[ColumnElement[bool], ...]:
    """Conditions on `DecisionRow` and `ForecastRow`: the move counts and set a bait."""
    return (
        *standing_conditions(),
        DecisionRow.is_decided.is_(False),
        ForecastRow.rule == FORECAST_RULE,
        ForecastRow.bait.is_not(None),
    )


def line_key(game: str, initial_position: str | None, moves: Sequence[str], move: str, bait: str) -> int:
    """A hash of the starting position, the moves and the bait, by which equal baits are found.

    Args:
        game: Name of the game.
        initial_position: The starting position; None for the standard one.
        moves: The moves before ours.
        move: Our move.
        bait: The tempting reply.

    Returns:
        The hash, a signed 64-bit number; among a million baits, the probability of a collision is 3e-8.
    """
    start = "-" if initial_position is None else f"+{initial_position}"
    return _key_of((game, start, *moves, move, bait))


def opening_of(game: str, initial_position: str | None, moves: str) -> tuple[int, int | None]:
    """A game's length in plies, and a key of its first `MIN_COPIED_PLIES` plies (None if it is shorter).

    Two games have the same key only if they share the starting position and these plies.
    """
    split = moves.split()
    if len(split) < MIN_COPIED_PLIES:
        return len(split), None
    return len(split), _key_of((f"{game} {initial_position or ''}", *split[:MIN_COPIED_PLIES]))


def _key_of(lines: Iterable[str]) -> int:
    digest = blake2b("\n".join(lines).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def probabilities_part(assignment: Any) -> str:
    """As JSON, the strategies' probabilities in an assignment's record or, if absent, the whole record.

    Records have different seeds, but only a few distinct sets of probabilities occur.
    """
    has_some = isinstance(assignment, dict) and "chances" in assignment
    part = {"chances": assignment["chances"]} if has_some else assignment
    return json.dumps(part, sort_keys=True, separators=(",", ":"))


def probability_of(part: str, treated: str, control: str) -> float:
    """The probability of `treated`, divided by the sum of the probabilities of `treated` and `control`.

    Raises:
        RecordError: The record does not contain this probability.
    """
    try:
        probabilities: Mapping[str, float] = json.loads(part)["chances"]
        probability = float(probabilities[treated] / (probabilities[treated] + probabilities[control]))
    except (ValueError, LookupError, TypeError, ArithmeticError) as error:
        raise RecordError(f"{type(error).__name__}: {error}") from error
    if not 0 < probability < 1:
        raise RecordError(f"the probability of treatment is {probability}, not between 0 and 1")
    return probability
