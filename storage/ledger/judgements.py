"""What replies cost by the judge (`engine.judge`): at most one judgement for each decision and version."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.human.reply_forecast import ReplyForecast
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from storage.filters import standing_conditions
from storage.inserts import insert_all_new
from storage.ledger.forecasts import forecasts_of_game
from storage.tables.games import DecisionRow, GameRow, JudgedGameRow, JudgementRow, OutcomeRow

LIKELIEST = 2
"""Number of likeliest replies that are judged besides the reply that was played."""


@dataclass(frozen=True, slots=True)
class ReplyToJudge:
    """A decision whose reply is yet to be judged."""

    decision_id: int
    ply: int
    """Number of moves before the decision."""
    reply: str
    likeliest: tuple[str, ...]
    """The likeliest replies by the forecast, at most `LIKELIEST`; empty if there is no forecast."""


def judgement_of_decision() -> ColumnElement[bool]:
    """SQL condition that joins a decision with its judgement by this version."""
    return and_(JudgementRow.decision_id == DecisionRow.id, JudgementRow.version == JUDGE_VERSION)


def _unjudged() -> tuple[ColumnElement[bool], ...]:
    """Conditions on `GameRow`: it is settled, and this version has not judged it."""
    judged = select(JudgedGameRow.game_id).where(
        JudgedGameRow.game_id == GameRow.id, JudgedGameRow.version == JUDGE_VERSION
    )
    return GameRow.is_settled.is_(True), ~judged.exists()


async def next_game_to_judge(session: AsyncSession) -> int | None:
    """Key of the latest settled game that this version has not judged; None if there is none."""
    latest = select(GameRow.id).where(*_unjudged()).order_by(GameRow.id.desc()).limit(1)
    return (await session.scalars(latest)).one_or_none()


async def count_games_to_judge(session: AsyncSession) -> int:
    """The number of settled games that this version has not judged."""
    return int(await session.scalar(select(func.count()).select_from(GameRow).where(*_unjudged())) or 0)


async def replies_to_judge(session: AsyncSession, game_id: int) -> list[ReplyToJudge]:
    """The answered decisions of a game that this version has not judged, in the order of play."""
    is_judged = select(JudgementRow.decision_id).where(judgement_of_decision())
    rows = await session.execute(
        select(DecisionRow.id, DecisionRow.ply, OutcomeRow.reply)
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .where(
            DecisionRow.game_id == game_id,
            *standing_conditions(),
            OutcomeRow.reply.is_not(None),
            ~is_judged.exists(),
        )
        .order_by(DecisionRow.ply)
    )
    forecasts = await forecasts_of_game(session, game_id)
    return [
        ReplyToJudge(row.id, row.ply, row.reply, _likeliest(forecasts[row.id]) if row.id in forecasts else ())
        for row in rows
    ]


def _likeliest(made: ReplyForecast) -> tuple[str, ...]:
    by_probability = sorted(zip(made.probabilities, made.replies, strict=True), key=lambda each: -each[0])
    return tuple(reply for _, reply in by_probability[:LIKELIEST])


async def store_judgements(
    session: AsyncSession, game_id: int, judged: Mapping[int, tuple[str, ReplyCosts]]
) -> None:
    """Store the judgements of a game, remove those of earlier versions, and mark the game as judged.

    Args:
        judged: For each decision the reply that was played, and what it and other replies cost.
    """
    await insert_all_new(
        session,
        JudgementRow,
        [
            {
                "decision_id": decision,
                "version": costs.version,
                "cost": costs.of(reply).cost,
                "best": costs.best,
                "best_centi": costs.best_centi,
                "replies": [
                    [each.reply, each.cost, each.depth, int(each.is_solved)] for each in costs.replies
                ],
            }
            for decision, (reply, costs) in judged.items()
        ],
    )
    of_game = select(DecisionRow.id).where(DecisionRow.game_id == game_id)
    older = JudgementRow.decision_id.in_(of_game), JudgementRow.version < JUDGE_VERSION
    await session.execute(delete(JudgementRow).where(*older))
    await session.execute(delete(JudgedGameRow).where(JudgedGameRow.game_id == game_id))
    await session.execute(insert(JudgedGameRow).values(game_id=game_id, version=JUDGE_VERSION))


async def forget_judgement(session: AsyncSession, game_id: int, decision_id: int) -> None:
    """Remove a decision's judgement, as its reply or its forecast has changed; its game is judged again."""
    await session.execute(delete(JudgementRow).where(JudgementRow.decision_id == decision_id))
    await session.execute(delete(JudgedGameRow).where(JudgedGameRow.game_id == game_id))


async def judgements_of_game(session: AsyncSession, game_id: int) -> dict[int, ReplyCosts]:
    """The judgements of a game by this version, keyed by decision."""
    rows = await session.scalars(
        select(JudgementRow)
        .join(DecisionRow, DecisionRow.id == JudgementRow.decision_id)
        .where(DecisionRow.game_id == game_id, JudgementRow.version == JUDGE_VERSION)
    )
    return {
        row.decision_id: ReplyCosts(
            row.version,
            row.best,
            row.best_centi,
            tuple(ReplyCost(reply, cost, depth, bool(solved)) for reply, cost, depth, solved in row.replies),
        )
        for row in rows
    }
