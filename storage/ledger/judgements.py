"""What replies cost by the judge (`engine.judge`): at most one judgement for each decision and version."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, func, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Decision
from engine.human.reply_forecast import ReplyForecast
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from engine.opponents.pair_value import PairRatings
from engine.plain_values import reader
from storage.errors import decoding
from storage.filters import standing_conditions
from storage.inserts import insert_all_new
from storage.ledger.forecasts import forecasts_of_game
from storage.ledger.persons import queue_game
from storage.records import MATCH_SITE
from storage.tables.games import DecisionRow, ForecastRow, GameRow, JudgedGameRow, JudgementRow, OutcomeRow
from storage.tables.puzzles import SearchedGame


@dataclass(frozen=True, slots=True)
class ReplyToJudge:
    """A decision whose reply is yet to be judged, or whose forecast was made by earlier rules."""

    decision_id: int
    decision: Decision
    reply: str | None
    """The reply that was played; None if there was none."""
    forecast: ReplyForecast | None
    """The forecast of the reply; None if there is none."""
    ratings: PairRatings | None
    """Our rating and the opponent's at the start of the game; None if one is unknown."""


def judgement_of_decision() -> ColumnElement[bool]:
    """SQL condition that joins a decision with its judgement by this version."""
    return and_(JudgementRow.decision_id == DecisionRow.id, JudgementRow.version == JUDGE_VERSION)


def judged_game() -> ColumnElement[bool]:
    """SQL condition that joins a game with its row in `JudgedGameRow` if this version has judged it."""
    return and_(JudgedGameRow.game_id == GameRow.id, JudgedGameRow.version == JUDGE_VERSION)


def _unjudged() -> tuple[ColumnElement[bool], ...]:
    """Conditions on `GameRow`: it is settled, and this version has not judged it."""
    judged = select(JudgedGameRow.game_id).where(judged_game())
    return GameRow.is_settled.is_(True), ~judged.exists()


async def next_game_to_judge(session: AsyncSession) -> int | None:
    """Key of the latest settled game that this version has not judged; None if there is none.

    Games of matches follow all others.
    """
    latest = select(GameRow.id).where(*_unjudged()).order_by(GameRow.id.desc()).limit(1)
    # One at a time: a sort by both would read all games.
    game = (await session.scalars(latest.where(GameRow.site != MATCH_SITE))).one_or_none()
    return (await session.scalars(latest)).one_or_none() if game is None else game


async def count_games_to_judge(session: AsyncSession) -> int:
    """The number of settled games that this version has not judged."""
    return int(await session.scalar(select(func.count()).select_from(GameRow).where(*_unjudged())) or 0)


def _to_judge(game_id: int, rule: int) -> Select[int, str | None]:
    """Keys and replies of a game's decisions with work for the judge, in the order of play."""
    is_judged = select(JudgementRow.decision_id).where(judgement_of_decision())
    is_new = and_(OutcomeRow.reply.is_not(None), ~is_judged.exists())
    is_outdated = and_(ForecastRow.rule < rule, DecisionRow.is_complete, *standing_conditions())
    return (
        select(DecisionRow.id, OutcomeRow.reply)
        .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .outerjoin(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .where(DecisionRow.game_id == game_id, or_(is_new, is_outdated))
        .order_by(DecisionRow.ply, DecisionRow.id)
    )


async def work_of_game(session: AsyncSession, game_id: int, rule: int) -> list[tuple[int, str | None]]:
    """The keys and replies of the decisions that `replies_to_judge` returns, without their records."""
    return [(row.id, row.reply) for row in await session.execute(_to_judge(game_id, rule))]


async def replies_to_judge(session: AsyncSession, game_id: int, rule: int) -> list[ReplyToJudge]:
    """The decisions of a game with work for the judge, in the order of play.

    They are those whose reply this version has not judged, even if it was taken back later (trials count the
    first reply), and those with a forecast by earlier rules.

    Args:
        rule: The present rules of forecasts.

    Raises:
        RecordError: A record cannot be read.
    """
    rows = await session.execute(_to_judge(game_id, rule).add_columns(DecisionRow.record))
    forecasts = await forecasts_of_game(session, game_id)
    known = select(GameRow.our_rating, GameRow.opponent_rating).where(GameRow.id == game_id)
    ratings = [PairRatings.of(*row) for row in await session.execute(known)]
    return [
        ReplyToJudge(row.id, Decision.from_record(row.record), row.reply, forecasts.get(row.id), *ratings)
        for row in rows
    ]


async def lock_settled_game(session: AsyncSession, game_id: int) -> bool:
    """Keep a game from being changed until the transaction ends; return False if it is not settled."""
    locked = select(GameRow.id).where(GameRow.id == game_id, GameRow.is_settled.is_(True)).with_for_update()
    return (await session.execute(locked)).one_or_none() is not None


async def store_judgements(
    session: AsyncSession, game_id: int, judged: Mapping[int, tuple[str, ReplyCosts]]
) -> None:
    """Store the judgements of a game, remove those of earlier versions, and mark the game as judged.

    The trainer looks through the game again, and the person's state learns from it.

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
                "best": costs.best.reply,
                "best_centi": costs.best.score_centi,
                "replies": [_plain(each) for each in dict.fromkeys((*costs.replies, costs.best))],
            }
            for decision, (reply, costs) in judged.items()
        ],
    )
    of_game = select(DecisionRow.id).where(DecisionRow.game_id == game_id)
    older = JudgementRow.decision_id.in_(of_game), JudgementRow.version < JUDGE_VERSION
    await session.execute(delete(JudgementRow).where(*older))
    for table in (SearchedGame, JudgedGameRow):
        await session.execute(delete(table).where(table.game_id == game_id))
    await session.execute(insert(JudgedGameRow).values(game_id=game_id, version=JUDGE_VERSION))
    await queue_game(session, game_id)


async def forget_judgement(session: AsyncSession, game_id: int, decision_id: int) -> None:
    """Remove a decision's judgement, as its reply or its forecast has changed; its game is judged again."""
    await session.execute(delete(JudgementRow).where(JudgementRow.decision_id == decision_id))
    await session.execute(delete(JudgedGameRow).where(JudgedGameRow.game_id == game_id))


async def judge_missing_again(session: AsyncSession) -> None:
    """Mark games as not judged if a reply of theirs lacks its judgement.

    A judgement is missing if its row was lost, or the reply could not be judged.
    """
    judgement = select(JudgementRow.decision_id).where(judgement_of_decision())
    games = (
        select(DecisionRow.game_id)
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .where(OutcomeRow.reply.is_not(None), ~judgement.exists())
    )
    await session.execute(delete(JudgedGameRow).where(JudgedGameRow.game_id.in_(games)))


async def judgements_of_game(session: AsyncSession, game_id: int) -> dict[int, ReplyCosts]:
    """The judgements of a game by this version, keyed by decision."""
    return await _load(session, select(DecisionRow.id).where(DecisionRow.game_id == game_id))


async def load_judgements(session: AsyncSession, decision_ids: Collection[int]) -> dict[int, ReplyCosts]:
    """The judgements of the decisions with these keys by this version, keyed by decision."""
    return await _load(session, decision_ids)


def costs_of(row: Any) -> ReplyCosts:
    """The costs in a row of judgements by this version.

    Raises:
        RecordError: They are damaged.
    """
    with decoding(f"the judgement of decision {row.decision_id}"):
        replies = tuple(_cost(*each) for each in row.replies)
        best = next((each for each in replies if each.reply == row.best and not each.cost), None)
        if best is None:
            raise ValueError(f"{row.best} is not the best of its replies")
        if all(each.cost != row.cost for each in replies):
            raise ValueError(f"none of its replies costs {row.cost}")
        return ReplyCosts(row.version, best, replies)


async def _load(session: AsyncSession, decisions: Collection[int] | Select[int]) -> dict[int, ReplyCosts]:
    chosen = JudgementRow.decision_id.in_(decisions), JudgementRow.version == JUDGE_VERSION
    rows = await session.scalars(select(JudgementRow).where(*chosen))
    return {row.decision_id: costs_of(row) for row in rows}


def _plain(cost: ReplyCost) -> list[Any]:
    return [cost.reply, cost.score_centi, cost.cost, cost.depth, int(cost.is_solved)]


def _cost(reply: Any, score_centi: Any, cost: Any, depth: Any, is_solved: Any) -> ReplyCost:
    plain = {"reply": reply, "score_centi": score_centi, "cost": cost, "depth": depth}
    found: ReplyCost = reader(ReplyCost)(plain | {"is_solved": bool(is_solved)})
    return found
