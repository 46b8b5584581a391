"""Games and decisions for the tests; the numbers are made up, the positions are real."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Candidate, Decision, Outcome, OutcomeKind, ReplyProfile
from engine.figure_9 import FIGURE_9_RULE, profile_verdict
from engine.forecasts import decision_expectations
from engine.games import get_rules
from engine.human.reply_forecast import ReplyForecast
from engine.judge import JUDGE_VERSION
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from storage.ledger import decisions, forecasts
from storage.ledger.games import open_game
from storage.ledger.outcomes import record_outcome
from storage.records import AccountKey, NewGame, StoredGame
from storage.tables.games import DecisionRow, JudgedGameRow, JudgementRow, OutcomeRow

OPENING = "8/8/8/3wb3/3bw3/8/8/8 b"

ARENA = AccountKey("arena", "desdemona")
"""The account of the sample games."""

NEW_GAME = NewGame(
    site=ARENA.site,
    account=ARENA.name,
    site_game_id="game0001",
    game="othello",
    variant="othello",
    initial_position=None,
    our_side=0,
    rated=True,
    speed="blitz",
    clock_initial_s=180,
    clock_increment_s=2,
    opponent_id="anna",
    opponent_name="Anna",
    opponent_is_bot=False,
    our_rating=1500,
    opponent_rating=1600,
    strategy="trappy",
    params=TrapParams(),
    engine_version="1",
    selection={"method": "balanced", "p": 0.5},
)


async def opened(session: AsyncSession, key: str = "game0001", **changes: Any) -> StoredGame:
    """A game that has just begun."""
    at = changes.pop("at", None)
    return await open_game(session, replace(NEW_GAME, site_game_id=key, **changes), at=at)


def decision(*, quality: float = 0.0, replies: int = 3, complete: bool = True) -> Decision:
    """Black's first move f5; the best reply is f6.

    Args:
        quality: Of the trap at reply d6, as the player saw it: from 100 up it also reaches the threshold of
            `engine.figure_9`, below it does not, and with 0 no reply is a trap.
    """
    names = ("f6", "d6", "f4")[:replies]
    rows = ((50, 60, 100), (-300, -250, 400 if quality >= 100 else 200), (0, 50, 200))
    if not quality:
        rows = ((50, 60, 100), (600, 500, 400), (300, 250, 200))
    profiles = tuple(ReplyProfile(name, scores) for name, scores in zip(names, rows, strict=False))
    played = Candidate(
        move="f5",
        raw_centi=100,
        raw_is_bound=False,
        adjusted_centi=100 + (25 if quality else 0),
        quality_centi=quality,
        trap="d6" if quality else None,
        replies=profiles if complete else profiles[:1],
        complete=complete,
    )
    others = tuple(Candidate(move, 40, True, 40.0) for move in ("c4", "d3"))
    best = Candidate("e6", 110, False, 110.0)
    return Decision(
        game="othello",
        position=OPENING,
        strategy="trappy",
        params=TrapParams(),
        move="f5",
        candidates=(others[1], others[0], played, best),
        depth=4,
        principal_variation=("e6", "f6"),
        nodes=1234,
        time_s=0.25,
        profile_source="reference",
        engine_version="1",
    )


FELL = Outcome(OutcomeKind.FELL_FOR_PAPER_TRAP, "d6", True, 744.0, 300, 922, FIGURE_9_RULE)
FELL_ELSE = Outcome(OutcomeKind.FELL_FOR_PAPER_TRAP, "f4", False, 600.0, 250, 770, FIGURE_9_RULE)
OPTIMAL = Outcome(OutcomeKind.OPTIMAL, "f6", False, 0.0, 0, 0, FIGURE_9_RULE)
ERRED = Outcome(OutcomeKind.ERRED_ELSEWHERE, "f4", False, 205.0, 100, 313, FIGURE_9_RULE)
UNANSWERED = Outcome(OutcomeKind.UNANSWERED, None, False, 0.0, 0, 0, FIGURE_9_RULE)


DRAWN_AT = "4w3/3w1wb1/2w1wb2/1wbbbb2/2wwbb2/2wwbw2/2wwb3/3wb3 w"
"""Othello: to depth 6 trappy's f7 sets a trap, and d3, the best move that sets none, is nearly as good."""


@lru_cache(maxsize=2)
def drawn_decision(*, trap: bool) -> Decision:
    """A decision that a lot made at `DRAWN_AT`: for the move that sets a trap, or for the other one."""
    game = get_rules("othello")
    player = MoveChooser(strategy_named("randomised"), game, TrapParams(), make_searcher("othello", 1))
    seed = 0 if trap else (1 << 64) - 1
    made = player.choose(game.parse_position(DRAWN_AT), Limits(6), StopFlag(), seed=seed)
    assert made.move == ("f7" if trap else "d3")
    return made


async def commit_decision(session: AsyncSession, game_id: int, ply: int, made: Decision) -> int:
    """Commit a decision, judged if its profile is complete; its key."""
    judged = profile_verdict(made) if made.is_complete else None
    return (await decisions.commit_decision(session, game_id, ply, made, judged)).id


async def store_forecast(
    session: AsyncSession, decision_id: int, made: Decision, forecast: ReplyForecast
) -> bool:
    """Store a decision's forecast with its sums."""
    return await forecasts.store_forecast(
        session, decision_id, forecast, decision_expectations(made, forecast)
    )


async def settled(
    session: AsyncSession, game_id: int, ply: int, made: Decision, outcome: Outcome | None
) -> int:
    """Commit a decision and, unless it is None, its outcome."""
    decision_id = await commit_decision(session, game_id, ply, made)
    if outcome is not None:
        assert await record_outcome(session, decision_id, outcome)
    return decision_id


async def judge_replies(
    session: AsyncSession, game_id: int, costs: Mapping[int, int] | None = None, version: int = JUDGE_VERSION
) -> None:
    """Store the judge's costs of a game's replies, and that the game is judged.

    Args:
        costs: The costs, by decision; None or without a decision: what its outcome says.
        version: The judge's.
    """
    of_game = select(DecisionRow.id).where(DecisionRow.game_id == game_id)
    rows = await session.execute(
        select(DecisionRow.id, DecisionRow.record, OutcomeRow.reply, OutcomeRow.cost)
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .where(DecisionRow.game_id == game_id, OutcomeRow.reply.is_not(None))
    )
    await session.execute(delete(JudgementRow).where(JudgementRow.decision_id.in_(of_game)))
    await session.execute(delete(JudgedGameRow).where(JudgedGameRow.game_id == game_id))
    session.add(JudgedGameRow(game_id=game_id, version=version))
    for row in rows:
        cost = (costs or {}).get(row.id, row.cost)
        known = Decision.from_record(row.record).chosen.replies
        best = min(known, key=lambda each: each.final_centi).reply
        replies = [[row.reply, 0, cost, 12, 0], [best, 100, 0, 12, 0]][: 1 if row.reply == best else 2]
        session.add(
            JudgementRow(
                decision_id=row.id,
                version=version,
                cost=cost,
                best=best,
                best_centi=100,
                replies=replies,
            )
        )
    await session.flush()
