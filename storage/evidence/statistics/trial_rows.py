"""Reads the games and single decisions of a trial in the form that `storage.evidence.inference` uses.

A record that contradicts itself is reported and excluded; all other records still count.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import nan
from typing import Any, Literal

import numpy as np
from sqlalchemy import ColumnElement, Select, and_, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import expected_by_rank
from engine.decision import Candidate, Decision, SearchMode
from engine.errors import IncompleteProfile, RecordError
from engine.expected import WHOLE
from engine.figure_9 import expected_scale_centi, reply_verdicts
from engine.games import get_rules
from engine.human.reply_forecast import ReplyForecast
from engine.randomised import undrawn_candidate, verify_trial_draw
from storage.errors import decoding, reason_of
from storage.evidence.game_records import RANDOMISERS, probability_of
from storage.evidence.inference.decisions import TrialDecision
from storage.evidence.inference.games import TRIAL_GAME, GameKind, TrialGames
from storage.evidence.inference.trial import UNSETTLED, Exclusion, Units, exclusion_of
from storage.evidence.reading import read_games
from storage.evidence.replies import ABORTED, OPEN, GameRows, Labels, labels_of
from storage.evidence.statistics.suspect_rows import are_programs
from storage.evidence.trials import StoredTrial, is_challenger_position
from storage.filters import Filters, filter_conditions, game_conditions
from storage.ledger.judgements import judged_game, judgement_of_decision
from storage.packing.records import unpack
from storage.tables.games import (
    DecisionRow,
    ForecastRow,
    GameRow,
    JudgedGameRow,
    JudgementRow,
    OpponentRow,
    OutcomeRow,
)
from storage.tables.types import as_stored

_MAX_RECORDS_IN_MEMORY = 100
"""Maximum number of decision records in memory at a time; each takes about 10 KB."""
_GAMES_PER_QUERY = 5_000
"""Number of games read by one SQL statement."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A decision or a game that a trial's report leaves out because its record contradicts itself."""

    what: Literal["decision", "game"]
    id: int
    """Our key of the decision or game."""
    reason: str
    """The reason, in one line; it may quote unprintable characters from a value."""
    game_id: int
    """Our key of the decision's game, or of the game itself."""
    ply: int | None = None
    """Ply of the decision; None for a game."""


async def trial_games(
    session: AsyncSession,
    trial: StoredTrial,
    treated: str,
    control: str,
    filters: Filters | None = None,
) -> tuple[TrialGames, list[Unreadable]]:
    """The games of a trial between two of its strategies, and the games whose assignment cannot be read.

    Includes aborted games: an abort comes after the assignment and may depend on it, so such a game counts as
    missing. An aborted game has neither score nor cost, whatever replies preceded the abort.

    Args:
        session: The transaction's session.
        trial: The trial.
        treated: The strategy whose effect is estimated (A = 1).
        control: The strategy to compare it with; games of other arms are left out.
        filters: Which of the trial's games to read; None for all of them.

    Returns:
        The games in order of their start, and the excluded games.

    Raises:
        RecordError: Other stored data is damaged; the message names the game or decision.
    """
    rows = await read_games(session, GameRow.trial_id == trial.id, *game_conditions(filters))
    labels = [labels_of(text) for text in rows.labels.texts]
    units, kinds = _trial_rows(rows, labels)
    are_challenger_positions = rows.games["is_challenger_position"] == 1
    units["excluded"] = exclusion_of(await are_programs(session, units["person"]), are_challenger_positions)
    strategies = np.array([each.strategy for each in labels], str)
    probabilities = [_probability(each, treated, control) for each in labels]
    probability = np.array(
        [nan if isinstance(each, RecordError) else each for each in probabilities], np.float64
    )
    order = np.lexsort((units["id"], units["drawn_us"]))
    units, label = units[order], rows.labels.codes[order]
    units["treated"], units["probability"] = (strategies == treated)[label], probability[label]
    is_wanted, is_read = np.isin(strategies, (treated, control))[label], ~np.isnan(units["probability"])
    unreadable = [
        Unreadable("game", int(units["id"][at]), reason_of(error), int(units["id"][at]))
        for at in np.flatnonzero(is_wanted & ~is_read).tolist()
        if isinstance(error := probabilities[label[at]], RecordError)
    ]
    return TrialGames(units[is_wanted & is_read], kinds), unreadable


def _trial_rows(rows: GameRows, labels: Sequence[Labels]) -> tuple[Units, list[GameKind]]:
    """Rows in the layout of `TRIAL_GAME` (without random choices), and the kinds of games."""
    games = rows.games
    kind_of = [GameKind(each.game, each.site, each.speed) for each in labels]
    kinds = [*dict.fromkeys(kind_of)]
    units = np.zeros(len(rows), TRIAL_GAME)
    for name in ("id", "person", "rating", "our_rating", "score"):
        units[name] = games[name]
    units["game_id"], units["drawn_us"] = games["id"], games["began_us"]
    # A clock that was set back must not put the end before the draw.
    ended_us = np.maximum(games["ended_us"], games["began_us"])
    is_over = (games["is_settled"] == 1) & (games["state"] != OPEN)
    units["settled_us"] = np.where(is_over, ended_us, UNSETTLED)
    units["kind"] = np.array([kinds.index(kind) for kind in kind_of], np.intp)[rows.labels.codes]
    counts = games["replies"].astype(np.float64)
    is_told = (counts > 0) & (games["state"] != ABORTED)
    units["is_unjudged"] = (games["unjudged"] > 0) & is_over
    units["cost"] = np.divide(games["cost"] / WHOLE, counts, out=np.full(len(rows), nan), where=is_told)
    return units, kinds


def _probability(labels: Labels, treated: str, control: str) -> float | RecordError:
    """The probability of assigning the treated strategy, or the error in the assignment's record."""
    try:
        return probability_of(labels.probabilities, treated, control)
    except RecordError as error:
        return error


async def trial_decisions(
    session: AsyncSession, trial: StoredTrial, filters: Filters | None = None
) -> tuple[list[TrialDecision], list[Unreadable]]:
    """The randomised decisions of a trial's games, in the order of their randomisation.

    Includes decisions in aborted games, and decisions whose move was never accepted or was taken back.
    The first reply counts, even if it was taken back.

    Args:
        trial: The trial.
        filters: Which of the trial's games to read; None for all of them.

    Returns:
        The decisions, and the unreadable ones, which are damaged or have a seed or checksum that does not
        match the record. The unreadable ones include decisions by a randomising strategy if their records do
        not say whether they were randomised.
    """
    keys = await _keys_of_draws(
        session, GameRow.trial_id == trial.id, *filter_conditions(filters or Filters())
    )
    games_before = await _games_before(session, trial)
    decisions, unreadable = [], []
    draws: set[tuple[int, int, str]] = set()
    for start in range(0, len(keys), _MAX_RECORDS_IN_MEMORY):
        some = keys[start : start + _MAX_RECORDS_IN_MEMORY]
        rows = {row.id: row for row in await session.execute(_statement(some))}
        for row in map(rows.__getitem__, some):
            try:
                decisions.append(_read(row, games_before[row.game_id], draws))
            except (RecordError, IncompleteProfile) as error:
                unreadable.append(Unreadable("decision", row.id, reason_of(error), row.game_id, row.ply))
    return decisions, unreadable


async def _keys_of_draws(session: AsyncSession, *which: ColumnElement[bool]) -> list[int]:
    """Keys of the randomised decisions in the selected games, in the order of randomisation."""
    known = (await read_games(session, *which)).games
    mode = DecisionRow.search_mode
    games = known["id"][known["draws"] > 0].tolist()
    draws: list[tuple[datetime, int]] = []
    for start in range(0, len(games), _GAMES_PER_QUERY):
        rows = await session.execute(
            select(DecisionRow.id, DecisionRow.created_at)
            .join(GameRow, GameRow.id == DecisionRow.game_id)
            # Filtered by the games' keys, so that no database reads all decisions.
            .where(
                DecisionRow.game_id.in_(games[start : start + _GAMES_PER_QUERY]),
                # Unknown if the record was damaged when migration 0012 read it.
                or_(mode == SearchMode.TRIAL, and_(mode.is_(None), GameRow.strategy.in_(RANDOMISERS))),
            )
        )
        draws += [(row.created_at, row.id) for row in rows]
    return [key for _, key in sorted(draws)]


async def _games_before(session: AsyncSession, trial: StoredTrial) -> dict[int, int]:
    """For each game of the trial, by key: how many of the trial's games the same person began earlier, with
    or without a randomised decision."""
    games = await session.execute(
        select(GameRow.id, GameRow.opponent_id)
        .where(GameRow.trial_id == trial.id)
        .order_by(GameRow.started_at, GameRow.id)
    )
    counts: Counter[int] = Counter()
    games_before = {}
    for game in games:
        games_before[game.id] = counts[game.opponent_id]
        counts[game.opponent_id] += 1
    return games_before


def _statement(keys: Sequence[int]) -> Select[*tuple[Any, ...]]:
    return (
        select(
            DecisionRow.id,
            DecisionRow.game_id,
            DecisionRow.ply,
            DecisionRow.created_at,
            DecisionRow.move,
            # Read as stored: a record that cannot be unpacked must not hide the others.
            as_stored(DecisionRow.record).label("record"),
            GameRow.opponent_id,
            GameRow.is_settled,
            GameRow.ended_at,
            JudgedGameRow.game_id.is_not(None).label("is_judged"),
            GameRow.variant,
            GameRow.initial_position,
            OpponentRow.is_bot,
            OutcomeRow.reply,
            JudgementRow.cost,
            as_stored(ForecastRow.record).label("forecast"),
        )
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .outerjoin(JudgementRow, judgement_of_decision())
        .outerjoin(JudgedGameRow, judged_game())
        .where(DecisionRow.id.in_(keys))
    )


def _read(row: Any, games_before: int, draws: set[tuple[int, int, str]]) -> TrialDecision:
    """Convert a row of `_statement` to the form in which the trial counts the decision.

    Args:
        row: A row of `_statement`.
        games_before: Number of the trial's games that the person began before this game.
        draws: Game, ply and seed of all earlier rows; this function adds those of this row.

    Raises:
        RecordError: The row is damaged, or its seed or checksum does not match the stored data.
        IncompleteProfile: A profile that should be complete is incomplete.
    """
    decision = Decision.from_record(unpack(row.record))
    foreseen = None if row.forecast is None else ReplyForecast.from_record(unpack(row.forecast))
    with decoding():
        rules = get_rules(decision.game)
        rules.parse_position(decision.position)
    if row.move != decision.move:
        raise RecordError(f"move is {decision.move} in the record, but {row.move} in its row")
    verify_trial_draw(decision)
    assert decision.trial_draw is not None  # noqa: S101 - `verify_trial_draw` has seen to it
    for name in ("trap_value", "control_value"):
        if not 0 <= (value := getattr(decision.trial_draw, name)) <= WHOLE:
            raise RecordError(f"the draw's {name} is {value}, not from 0 to {WHOLE}")
    draw = row.game_id, row.ply, decision.trial_draw.seed
    # After a takeback the draw is already known, so nothing is drawn.
    is_own = is_challenger_position(row.variant, row.initial_position)
    excluded = Exclusion(int(exclusion_of(row.is_bot, is_own, draw in draws)))
    draws.add(draw)
    settled_at = max(row.ended_at or row.created_at, row.created_at) if row.is_settled else None
    return trial_decision(
        decision,
        foreseen,
        row.reply,
        None if row.cost is None else row.cost / WHOLE,
        is_unjudged=row.is_settled and row.reply is not None and row.cost is None and not row.is_judged,
        decision_id=row.id,
        game_id=row.game_id,
        person=row.opponent_id,
        games_before=games_before,
        drawn_at=row.created_at,
        settled_at=settled_at,
        excluded=Exclusion(int(excluded)),
    )


def trial_decision(
    decision: Decision, forecast: ReplyForecast | None, reply: str | None, cost: float | None, **unit: Any
) -> TrialDecision:
    """Convert a randomised decision to the form in which the trial counts it.

    Args:
        decision: The decision's record, with its random choice.
        forecast: Forecast of the replies to both moves; None: use the replies' shallow scores.
        reply: The person's first reply; None: there was no reply.
        cost: The judge's cost of the reply; None: not known.
        unit: The fields of `TrialDecision` that the record lacks.

    Raises:
        RecordError: The decision has no random choice, or the reply is not in the profile.
    """
    other, draw = undrawn_candidate(decision), decision.trial_draw
    assert draw is not None  # noqa: S101 - `undrawn_candidate` has seen to it
    is_trap = decision.move == draw.trap
    played = _Costs(decision, decision.chosen, forecast)
    left = _Costs(decision, other, None if forecast is None else forecast.other)
    trap, control = (played, left) if is_trap else (left, played)
    return TrialDecision(
        **unit,
        treated=is_trap,
        probability=draw.params.chance,
        cost=cost,
        own_cost=None if reply is None else played.of(reply),
        expected_trap=trap.expected,
        expected_control=control.expected,
        mean_trap=trap.mean,
        mean_control=control.mean,
        value_trap=draw.trap_value / WHOLE,
        value_control=draw.control_value / WHOLE,
    )


class _Costs:
    """Costs of the replies to a move in the decision's search, as shares of the game: the forecast's mean and
    the plain mean.

    Without a forecast, the probabilities come from the replies' shallow scores, which do not depend on
    anything after the random choice.
    """

    def __init__(self, decision: Decision, candidate: Candidate, forecast: ReplyForecast | None) -> None:
        scale_centi = expected_scale_centi(decision)
        self._judgement = reply_verdicts(candidate, decision.params, scale_centi)
        costs = [each.cost for each in self._judgement.replies]
        if forecast is None:
            probabilities = expected_by_rank(candidate, scale_centi).probabilities
        else:
            probabilities = tuple(forecast.probability_of(each.reply) for each in self._judgement.replies)
        total = sum(probabilities)  # 1, except for rounding
        self.expected = sum(p * cost for p, cost in zip(probabilities, costs, strict=True)) / total / WHOLE
        self.mean = sum(costs) / len(costs) / WHOLE

    def of(self, reply: str) -> float:
        """The cost of a reply, as a share of the game.

        Raises:
            RecordError: The reply is not in the profile.
        """
        return self._judgement.of(reply).cost / WHOLE
