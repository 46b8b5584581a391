"""The games and single decisions of a trial, as `storage.inference` counts them."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import TRIAL_MODE, Candidate, Decision
from engine.errors import RecordError
from engine.expected import WHOLE
from engine.judgement import expected_scale_centi, judge
from engine.randomised import other_move
from engine.temptation import ReplyForecast, expected_by_looks
from storage.filters import Filters, filter_conditions
from storage.inference.decisions import TrialDecision
from storage.inference.games import TrialGame
from storage.records import GameStatus
from storage.statistics.facts import GameFact, ReplyFact
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OpponentRow, OutcomeRow
from storage.trials import StoredTrial


async def trial_games(
    session: AsyncSession,
    trial: StoredTrial,
    treated: str,
    control: str,
    games: Sequence[GameFact],
    replies: Sequence[ReplyFact],
) -> list[TrialGame]:
    """The games of a trial between two of its players.

    Args:
        trial: The trial.
        treated: The player whose effect is asked for (A = 1).
        control: The player that it is compared with; games of other arms are left out.
        games: Facts of all games, aborted ones too (`storage.statistics.facts.game_facts`).  An abort comes
            after the draw and may depend on it, so an aborted game counts as missing: it has neither score
            nor cost, whatever was replied before.
        replies: Facts of their replies.
    """
    rows = await session.execute(select(GameRow.id, GameRow.selection).where(GameRow.trial_id == trial.id))
    drawn = {row.id: row.selection for row in rows}
    costs: dict[int, list[float]] = defaultdict(list)
    for reply in replies:
        if not reply.is_decided:
            costs[reply.game_id].append(reply.cost)
    found = []
    for game in games:
        selection = drawn.get(game.id)
        if selection is None or game.player not in (treated, control):
            continue
        chances = selection["chances"]
        spent = [] if game.state is GameStatus.ABORTED else costs[game.id]
        found.append(
            TrialGame(
                game_id=game.id,
                person=game.person,
                drawn_at=game.started_at,
                settled_at=None if game.state is GameStatus.OPEN else game.ended_at or game.started_at,
                game=game.game,
                site=game.site,
                speed=game.speed,
                rating=game.opponent_rating,
                our_rating=game.our_rating,
                treated=game.player == treated,
                chance=chances[treated] / (chances[treated] + chances[control]),
                score=game.score,
                cost=sum(spent) / len(spent) if spent else None,
                excluded="program" if game.is_bot else None,
            )
        )
    return found


async def trial_decisions(
    session: AsyncSession, trial: StoredTrial, filters: Filters | None = None
) -> list[TrialDecision]:
    """The decisions of a trial's games in which a lot chose the move, in the order of the draw.

    Everything that was drawn is here: also what the server never took, what was taken back, and aborted
    games.  The reply that counts is the first one, even if it was taken back.

    Args:
        trial: The trial.
        filters: Which of its games.

    Raises:
        RecordError: A decision's record cannot be read, or has no draw; the message names it.
    """
    # Numbered before the filters choose among them, games without a decision by lot included.
    number = func.row_number().over(
        partition_by=GameRow.opponent_id, order_by=(GameRow.started_at, GameRow.id)
    )
    numbers = select(GameRow.id, number.label("number")).where(GameRow.trial_id == trial.id).subquery()
    rows = await session.stream(
        select(
            DecisionRow.id,
            DecisionRow.game_id,
            DecisionRow.created_at,
            DecisionRow.record,
            GameRow.opponent_id,
            GameRow.state,
            GameRow.ended_at,
            OpponentRow.is_bot,
            OutcomeRow.reply,
            OutcomeRow.at,
            ForecastRow.record.label("forecast"),
            numbers.c.number,
        )
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .join(numbers, numbers.c.id == GameRow.id)
        .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .where(
            GameRow.trial_id == trial.id,
            DecisionRow.record["search_mode"].as_string() == TRIAL_MODE,
            *filter_conditions(filters or Filters()),
        )
        .order_by(DecisionRow.created_at, DecisionRow.id)
    )
    found = []
    async for row in rows:
        settled_at = row.at
        if row.state is not GameStatus.OPEN:  # outcomes that are judged anew have a later time
            ended_at = row.ended_at or row.created_at
            settled_at = ended_at if settled_at is None else min(settled_at, ended_at)
        try:
            found.append(
                trial_decision(
                    row.id,
                    row.game_id,
                    row.opponent_id,
                    row.number - 1,
                    row.created_at,
                    None if settled_at is None else max(settled_at, row.created_at),
                    Decision.from_record(row.record),
                    None if row.forecast is None else ReplyForecast.from_record(row.forecast),
                    row.reply,
                    "program" if row.is_bot else None,
                )
            )
        except RecordError as error:
            raise RecordError(f"decision {row.id}: {error}") from error
    return found


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
