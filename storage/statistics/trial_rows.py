"""The games and single decisions of a trial, as `storage.inference` counts them.

Where a stored record is damaged, the others still count: each damaged one is named.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Select, Text, cast, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Candidate, Decision
from engine.errors import IncompleteProfile, RecordError
from engine.expected import WHOLE
from engine.games import get_game
from engine.judgement import expected_scale_centi, judge
from engine.randomised import other_move, verify_lot
from engine.temptation import ReplyForecast, expected_by_looks
from storage.damage import Unreadable, decoding, read_batch, read_json, require_number
from storage.filters import Filters, filter_conditions
from storage.inference.decisions import TrialDecision
from storage.inference.games import TrialGame
from storage.packing.records import unpack
from storage.records import GameStatus
from storage.statistics.facts import GameFact
from storage.statistics.lots import DRAWING, is_by_lot
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OpponentRow, OutcomeRow
from storage.tables.types import as_stored
from storage.trials import StoredTrial, is_own_position

_BATCH = 100
"""Records of decisions in memory at a time: about 10 KB each."""


async def trial_games(
    session: AsyncSession,
    trial: StoredTrial,
    treated: str,
    control: str,
    games: Sequence[GameFact],
    costs: Mapping[int, float],
) -> tuple[list[TrialGame], list[Unreadable]]:
    """The games of a trial between two of its players, and those whose draw cannot be read.

    Args:
        trial: The trial.
        treated: The player whose effect is asked for (A = 1).
        control: The player that it is compared with; games of other arms are left out.
        games: Facts of all games, aborted ones too (`storage.statistics.facts.game_facts`).  An abort comes
            after the draw and may depend on it, so an aborted game counts as missing: it has neither score
            nor cost, whatever was replied before.
        costs: Of the replies in each (`storage.statistics.game_costs.mean_costs`).
    """
    # As text: one damaged draw must not hide the others.
    selection = cast(GameRow.selection, Text).label("selection")
    drawn = {
        row.id: row
        for row in await session.execute(
            select(GameRow.id, selection, GameRow.variant, GameRow.initial_position).where(
                GameRow.trial_id == trial.id
            )
        )
    }
    found, unreadable = [], []
    for game in games:
        if game.id not in drawn or game.player not in (treated, control):
            continue
        row = drawn[game.id]
        try:
            chance = _chance(row.selection, treated, control)
        except RecordError as error:
            unreadable.append(Unreadable.because("game", game.id, error))
            continue
        excluded = _excluded(game.is_bot, row.variant, row.initial_position)
        found.append(_trial_game(game, game.player == treated, chance, costs.get(game.id), excluded))
    return found, unreadable


def _chance(selection: str, treated: str, control: str) -> float:
    """The chance of the treated player, among these two, that the record of a draw has.

    Raises:
        RecordError: The record is damaged.
    """
    with decoding():
        chances = read_json(selection)["chances"]
        chance = chances[treated] / (chances[treated] + chances[control])
    if not 0 < chance < 1:
        raise RecordError(f"the chance of treatment is {chance}, not between 0 and 1")
    return float(chance)


def _excluded(is_bot: bool, variant: str, initial_position: str | None) -> str | None:
    """Why a game does not count; None: it does."""
    if is_bot:
        return "program"
    return "own position" if is_own_position(variant, initial_position) else None


def _trial_game(
    game: GameFact, is_treated: bool, chance: float, cost: float | None, excluded: str | None
) -> TrialGame:
    settled_at = None
    if game.is_settled:  # a clock that was set back must not put the end before the draw
        settled_at = max(game.ended_at or game.started_at, game.started_at)
    return TrialGame(
        game_id=game.id,
        person=game.person,
        drawn_at=game.started_at,
        settled_at=settled_at,
        game=game.game,
        site=game.site,
        speed=game.speed,
        rating=game.opponent_rating,
        our_rating=game.our_rating,
        treated=is_treated,
        chance=chance,
        score=game.score,
        cost=None if game.state is GameStatus.ABORTED else cost,
        excluded=excluded,
    )


async def trial_decisions(
    session: AsyncSession, trial: StoredTrial, filters: Filters | None = None
) -> tuple[list[TrialDecision], list[Unreadable]]:
    """The decisions of a trial's games in which a lot chose the move, in the order of the draw.

    Everything that was drawn is here: also what the server never took, what was taken back, and aborted
    games.  The reply that counts is the first one, even if it was taken back.

    Args:
        trial: The trial.
        filters: Which of its games.

    Returns:
        The decisions, and those that cannot be read, or whose seed or checksum does not belong to what is
        stored.  Among the latter are the decisions whose record does not say whether there was a lot, in
        games of players that draw decisions.
    """
    statement = (
        select(DecisionRow.id)
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .where(
            GameRow.trial_id == trial.id,
            is_by_lot(GameRow.player.in_(DRAWING)),
            *filter_conditions(filters or Filters()),
        )
        .order_by(DecisionRow.created_at, DecisionRow.id)
    )
    keys = (await session.scalars(statement)).all()
    games_before = await _games_before(session, trial)
    found, unreadable = [], []
    lots: set[tuple[int, int, str]] = set()
    for start in range(0, len(keys), _BATCH):
        for row in await _rows(session, keys[start : start + _BATCH]):
            if isinstance(row, Unreadable):
                unreadable.append(row)
                continue
            try:
                found.append(_read(row, games_before[row.game_id], lots))
            except (RecordError, IncompleteProfile) as error:
                unreadable.append(Unreadable.because("decision", row.id, error))
    return found, unreadable


async def _games_before(session: AsyncSession, trial: StoredTrial) -> dict[int, int]:
    """For each game of the trial how many its person began before it, with a decision by lot or without."""
    games = await session.execute(
        select(GameRow.id, GameRow.opponent_id)
        .where(GameRow.trial_id == trial.id)
        .order_by(GameRow.started_at, GameRow.id)
    )
    counts: Counter[int] = Counter()
    found = {}
    for game in games:
        found[game.id] = counts[game.opponent_id]
        counts[game.opponent_id] += 1
    return found


async def _rows(session: AsyncSession, keys: Sequence[int]) -> list[Any]:
    """The rows of `_statement` with these keys, in their order; `Unreadable` in place of a damaged one."""

    async def read(some: Sequence[int]) -> list[Any]:
        rows = {row.id: row for row in await session.execute(_statement(some))}
        return [rows[key] for key in some]

    return await read_batch(keys, read, partial(Unreadable.because, "decision"))


def _statement(keys: Sequence[int]) -> Select[*tuple[Any, ...]]:
    return (
        select(
            DecisionRow.id,
            DecisionRow.game_id,
            DecisionRow.ply,
            DecisionRow.created_at,
            DecisionRow.move,
            # As they are: one damaged record must not hide the others.
            as_stored(DecisionRow.record).label("record"),
            GameRow.opponent_id,
            GameRow.is_settled,
            GameRow.ended_at,
            GameRow.variant,
            GameRow.initial_position,
            OpponentRow.is_bot,
            OutcomeRow.reply,
            OutcomeRow.at,
            as_stored(ForecastRow.record).label("forecast"),
        )
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .where(DecisionRow.id.in_(keys))
    )


def _read(row: Any, games_before: int, lots: set[tuple[int, int, str]]) -> TrialDecision:
    """A row of `_statement`, as it is counted.

    Args:
        row: The row.
        games_before: As `trial_decision` wants it.
        lots: Game, ply and seed of the rows before it; this one's are added.

    Raises:
        RecordError: It is damaged, or its seed or checksum does not belong to what is stored.
        IncompleteProfile: A profile that should be whole is not.
    """
    made = Decision.from_record(unpack(row.record))
    foreseen = None if row.forecast is None else ReplyForecast.from_record(unpack(row.forecast))
    with decoding():
        rules = get_game(made.game)
        rules.parse_position(made.position)
    if row.move != made.move:
        raise RecordError(f"move is {made.move} in the record, but {row.move} in its row")
    verify_lot(made)
    for name in ("trap_value", "sound_value"):
        require_number(f"the draw's {name}", getattr(made.draw, name), 0, WHOLE)
    excluded = _excluded(row.is_bot, row.variant, row.initial_position)
    if made.draw is not None:
        lot = row.game_id, row.ply, made.draw.seed
        if lot in lots and excluded is None:  # after a takeback: known before, so nothing is drawn
            excluded = "repeated lot"
        lots.add(lot)
    settled_at = row.at
    if row.is_settled:  # outcomes that are judged anew have a later time
        ended_at = row.ended_at or row.created_at
        settled_at = ended_at if settled_at is None else min(settled_at, ended_at)
    return trial_decision(
        row.id,
        row.game_id,
        row.opponent_id,
        games_before,
        row.created_at,
        None if settled_at is None else max(settled_at, row.created_at),
        made,
        foreseen,
        row.reply,
        excluded,
    )


def trial_decision(
    decision_id: int,
    game_id: int,
    person: int,
    games_before: int,
    drawn_at: datetime,
    settled_at: datetime | None,
    decision: Decision,
    forecast: ReplyForecast | None,
    reply: str | None,
    excluded: str | None,
) -> TrialDecision:
    """A decision by lot, as it is counted.

    Args:
        decision_id: Its key.
        game_id: Its game's key.
        person: The opponent's key.
        games_before: Games of the trial that the person began before this one.
        drawn_at: When the move was drawn.
        settled_at: When the person replied, or the game ended without a reply; None: neither has happened.
        decision: The record, with the draw.
        forecast: Of both moves' replies; None: by their looks.
        reply: The person's first reply; None: there was none.
        excluded: Why it does not count.

    Raises:
        RecordError: The decision has no draw, or the reply is not in the profile.
    """
    other, draw = other_move(decision), decision.draw
    assert draw is not None  # noqa: S101 - `other_move` has seen to it
    is_trap = decision.move == draw.trap
    played = _Costs(decision, decision.chosen, forecast)
    left = _Costs(decision, other, None if forecast is None else forecast.other)
    trap, sound = (played, left) if is_trap else (left, played)
    return TrialDecision(
        decision_id=decision_id,
        game_id=game_id,
        person=person,
        games_before=games_before,
        drawn_at=drawn_at,
        settled_at=settled_at,
        treated=is_trap,
        chance=draw.params.chance,
        cost=None if reply is None else played.of(reply),
        expected_trap=trap.expected,
        expected_sound=sound.expected,
        mean_trap=trap.mean,
        mean_sound=sound.mean,
        value_trap=draw.trap_value / WHOLE,
        value_sound=draw.sound_value / WHOLE,
        excluded=excluded,
    )


class _Costs:
    """What the replies to a move cost, as shares of the game.

    Without a forecast the replies' looks say what is likely: that depends on nothing after the draw.
    """

    def __init__(self, decision: Decision, candidate: Candidate, forecast: ReplyForecast | None) -> None:
        scale_centi = expected_scale_centi(decision)
        self._judgement = judge(candidate, decision.params, scale_centi)
        costs = [each.cost for each in self._judgement.replies]
        if forecast is None:
            odds = expected_by_looks(candidate, scale_centi).odds
        else:
            odds = tuple(forecast.odds_of(each.reply) for each in self._judgement.replies)
        total = sum(odds)  # 1, but for rounding
        self.expected = sum(p * cost for p, cost in zip(odds, costs, strict=True)) / total / WHOLE
        self.mean = sum(costs) / len(costs) / WHOLE

    def of(self, reply: str) -> float:
        """The cost of a reply.

        Raises:
            RecordError: It is not in the profile.
        """
        return self._judgement.of(reply).cost / WHOLE
