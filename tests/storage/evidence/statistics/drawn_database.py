"""Databases of drawn games: everything that decides what is counted, in any combination."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import FORECAST_RULE
from engine.decision import OutcomeKind
from engine.expected import WHOLE
from engine.figure_9 import FIGURE_9_RULE
from engine.judge import JUDGE_VERSION
from storage.records import MATCH_SITE, DecisionState, GameResult, GameStatus, TimeSource
from storage.tables.games import (
    DecisionRow,
    EngineConfigRow,
    ForecastRow,
    GameRow,
    JudgedGameRow,
    JudgementRow,
    OpponentRow,
    OutcomeRow,
    ReplyTimeRow,
)
from tests.storage.samples import decision

START = datetime(2026, 10, 20, tzinfo=UTC)
RECORD = decision().to_record()
KINDS = (
    OutcomeKind.OPTIMAL,
    OutcomeKind.FELL_FOR_PAPER_TRAP,
    OutcomeKind.ERRED_ELSEWHERE,
    OutcomeKind.UNANSWERED,
)
SITES = ("arena", "lichess", MATCH_SITE, "arena")
"""Where the opponents are."""
PERSONS, CONFIGURATIONS = len(SITES), 2
Belonging = OutcomeRow | ForecastRow | ReplyTimeRow | JudgementRow


async def fill(session: AsyncSession, rng: random.Random, games: int) -> None:
    """Add opponents, configurations, games and all that belongs to them; the database is empty."""
    for key in range(1, PERSONS + 1):
        session.add(
            OpponentRow(
                id=key,
                site=SITES[key - 1],
                site_id=f"p{key}",
                name=f"P{key}",
                is_bot=rng.random() < 0.3,
                first_seen_at=START,
            )
        )
    for key in range(1, CONFIGURATIONS + 1):
        session.add(
            EngineConfigRow(
                id=key,
                strategy="trappy",
                engine_version=f"0.{key}",
                assessment="median",
                margin_centi=10 * key,
                decided="skip",
                threshold_centi=0,
                scale="expected",
                risk_percent=1.5,
                risk_share_percent=10.0,
                logistic_centi=0.0,
                threshold_percent=5.0,
            )
        )
    await session.flush()
    for key in range(1, games + 1):
        session.add(_game(rng, key))
    await session.flush()
    versions = {
        key: rng.choice([None, JUDGE_VERSION - 1, *[JUDGE_VERSION] * 4]) for key in range(1, games + 1)
    }
    judged = {key: version for key, version in versions.items() if version is not None}
    session.add_all(JudgedGameRow(game_id=key, version=version) for key, version in judged.items())
    # All decisions, which get their keys, and then what belongs to them: far fewer statements.
    drawn = [
        _decision(rng, key, ply, judged.get(key))
        for key in range(1, games + 1)
        for ply in range(rng.randrange(2), rng.randrange(1, 60), 2)
    ]
    session.add_all(row for row, _ in drawn)
    await session.flush()
    for row, belongings in drawn:
        for each in belongings:
            each.decision_id = row.id
            session.add(each)
    await session.flush()


def _game(rng: random.Random, key: int) -> GameRow:
    state = rng.choice([GameStatus.OPEN, GameStatus.ABORTED, *[GameStatus.FINISHED] * 4])
    opponent = rng.randrange(1, PERSONS + 1)
    return GameRow(
        id=key,
        site=SITES[opponent - 1],
        account="desdemona",
        site_game_id=f"g{key}",
        game=rng.choice(["othello", "chess"]),
        variant="standard",
        our_side=0,
        rated=rng.random() < 0.5,
        speed=rng.choice(["blitz", "rapid"]),
        opponent_id=opponent,
        opponent_rating=rng.choice([None, 1399, 1400, 1600]),
        engine_config_id=rng.randrange(1, CONFIGURATIONS + 1),
        strategy=rng.choice(["trappy", "standard"]),
        state=state,
        is_settled=state is not GameStatus.OPEN,
        result=rng.choice([None, *GameResult]) if state is GameStatus.FINISHED else None,
        started_at=START + timedelta(days=rng.randrange(30), hours=rng.randrange(24)),
        selection={},
        moves="",
    )


def _decision(
    rng: random.Random, game: int, ply: int, version: int | None
) -> tuple[DecisionRow, list[Belonging]]:
    """A decision, and what belongs to it, which has no key yet.

    Args:
        version: Of the judge that has judged the game, but a few replies; None: none has.
    """
    is_complete = rng.random() < 0.9
    of_profile: dict[str, Any] = {
        "is_trap": rng.random() < 0.5,
        "trap_quality": 0.0,
        "reply_count": rng.choice([1, 2, 3, 8]),
        "is_decided": rng.random() < 0.2,
        "rule": rng.choice([FIGURE_9_RULE, FIGURE_9_RULE, FIGURE_9_RULE, FIGURE_9_RULE - 1]),
    }
    row = DecisionRow(
        game_id=game,
        ply=ply,
        takeback=rng.choice([0, 0, 0, 0, 1]),
        state=rng.choice([DecisionState.DROPPED, *[DecisionState.CONFIRMED] * 5]),
        move="f5",
        depth=4,
        nodes=1,
        time_s=0.1,
        is_complete=is_complete,
        **(of_profile if is_complete else {}),
        created_at=START,
        record=RECORD,
    )
    found: list[Belonging] = []
    if rng.random() < 0.9:
        kind = rng.choice(KINDS)
        found.append(
            OutcomeRow(
                kind=kind,
                reply=None if kind is OutcomeKind.UNANSWERED else "d6",
                fell_for_best=rng.random() < 0.5,
                quality=0.0,
                cost_centi=0,
                cost=0,
                rule=rng.choice([FIGURE_9_RULE, FIGURE_9_RULE, FIGURE_9_RULE, FIGURE_9_RULE - 1]),
                at=START,
            )
        )
        if kind is not OutcomeKind.UNANSWERED and version is not None and rng.random() < 0.95:
            found.append(
                JudgementRow(
                    version=version,
                    cost=rng.choice([0, 999, 1000, 3333, WHOLE]),
                    best="d6",
                    best_centi=0,
                    replies=[["d6", 0, 0, 12, 0]],
                )
            )
    if rng.random() < 0.9:
        found.append(_forecast(rng, of_profile["reply_count"]))
    if rng.random() < 0.7:
        times = [0.1, 0.29, 0.3, 5.0]
        found.append(ReplyTimeRow(time_s=rng.choice(times), source=TimeSource.SERVER))
    return row, found


def _forecast(rng: random.Random, replies: int) -> ForecastRow:
    shares = {}
    for what in ("error", "fall", "bait", "optimal"):
        shares[f"{what}_uniform"] = rng.randrange(replies + 1) / replies
        shares[f"{what}_expected"] = rng.choice([0.0, 0.1, 0.333333, 1.0])
    models = [("looks 6.5", ""), ("maia-1500", "1f2e3d4c5b6a"), ("maia-1500", "9f8e7d6c5b4a")]
    model, sha256 = rng.choice(models)
    has_bait = rng.random() < 0.5
    return ForecastRow(
        rule=rng.choice([FORECAST_RULE, FORECAST_RULE, FORECAST_RULE, FORECAST_RULE - 1]),
        model_kind="looks",
        model_name=model,
        model_sha256=sha256,
        prior=rng.choice(["", "", "abcdef0123456789"]),
        cost_uniform=rng.randrange(WHOLE * replies + 1) / replies,
        cost_expected=rng.choice([0.0, 777.7, 9999.0]),
        bait="d6" if has_bait else None,
        bait_probability=0.25 if has_bait else None,
        bait_cost=2000 if has_bait else None,
        is_taken=rng.choice([None, False, True]) if has_bait else rng.choice([None, False]),
        confirm_depth=6,
        at=START,
        record={},
        **shares,
    )
