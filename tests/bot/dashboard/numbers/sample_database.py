"""A database with everything that pages count, in many combinations: all four games, people and programs."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import FORECAST_RULE
from engine.figure_9 import FIGURE_9_RULE
from engine.judge import JUDGE_VERSION
from engine.params import TrapParams
from storage.database import Database
from storage.evidence.summaries import games_to_summarise, summarise
from storage.ledger.decisions import reply_scores
from storage.records import MATCH_SITE, DecisionState, Endpoint, GameResult, GameStatus, TimeSource
from storage.tables.games import (
    DecisionRow,
    EngineConfigRow,
    EventRow,
    ForecastRow,
    GameRow,
    JudgedGameRow,
    JudgementRow,
    OpponentRow,
    OutcomeRow,
    ReplyTimeRow,
    TrialRow,
)
from tests.bot.dashboard.numbers.played import CHESS960, Move, PlayedGame, drawn_game, played
from tests.bot.dashboard.samples import NAMES

NOW = datetime(2026, 11, 25, 15, tzinfo=UTC)
"""When the pages are read."""
GAMES = 500
TRIAL = "winter"
TRIAL_START = datetime(2026, 10, 1, tzinfo=UTC)
OPT = 300
ACCOUNTS = {
    "arena": ("desdemona",),
    "lichess": ("desdemona", "iago2"),
    "ggs": ("desdemona",),
    MATCH_SITE: ("match",),
}
PLAYERS = ("trappy", "standard")
MATCHED, REGULAR = 45, 46
"""Opponents of their own: that of matches, and a person who plays much chess."""
OTHERS = (*range(1, 42), *range(47, 61))
DRAW_GAME = 113
"""The game in which a lot chose a move."""
Row = dict[str, Any]


async def fill(database: Database, games: int = GAMES) -> None:
    """Write everything into an empty database; most games get their summary, some stay without."""
    rng = random.Random(11)
    async with database.write() as session:
        await session.execute(insert(OpponentRow), [_opponent(key) for key in range(1, OTHERS[-1] + 1)])
        await session.execute(insert(EngineConfigRow), [_configuration(key) for key in (1, 2)])
        await session.execute(insert(TrialRow), [_trial()])
        await _games(session, rng, games)
        first = select(func.min(GameRow.started_at)).where(GameRow.opponent_id == OpponentRow.id)
        met = OpponentRow.id.in_(select(GameRow.opponent_id))
        await session.execute(update(OpponentRow).where(met).values(first_seen_at=first.scalar_subquery()))
        await session.execute(insert(EventRow), [_event(rng, key) for key in range(1, 141)])
    async with database.write() as session:
        await summarise(session, await games_to_summarise(session, 0, games * 3 // 4))


def _opponent(key: int) -> Row:
    sites = ("arena", "arena", "lichess", "lichess", "ggs")
    site = MATCH_SITE if key == MATCHED else sites[key % 5]
    name = NAMES[key - 1] if key <= len(NAMES) else f"Player {key}"
    return {
        "id": key,
        "site": site,
        "site_id": f"p{key}",
        "name": name,
        "is_bot": key % 9 == 0,
        "first_seen_at": NOW - timedelta(days=200),
    }


def _configuration(key: int) -> Row:
    params = TrapParams()
    return {
        "id": key,
        "strategy": PLAYERS[key - 1],
        "engine_version": f"0.{key}.0+{key}",
        "assessment": params.assessment.value,
        "margin_centi": params.margin_centi,
        "decided": params.decided.value,
        "threshold_centi": 0,
        "scale": params.scale.value,
        "risk_percent": params.risk_percent,
        "risk_share_percent": params.risk_share_percent,
        "logistic_centi": params.logistic_centi,
        "threshold_percent": params.threshold_percent,
    }


def _trial() -> Row:
    return {
        "id": 1,
        "name": TRIAL,
        "arms": ["standard", "trappy"],
        "configurations": {"standard": {}, "trappy": {}},
        "strata": {},
        "planned_n": OPT,
        "alpha": 0.05,
        "cap": 50,
        "endpoint": Endpoint.SCORE,
        "started_at": TRIAL_START,
        "ended_at": None,
        "open_slot": 1,
    }


async def _games(session: AsyncSession, rng: random.Random, games: int) -> None:
    tables = (GameRow, DecisionRow, OutcomeRow, ForecastRow, ReplyTimeRow, JudgementRow, JudgedGameRow)
    rows: dict[Any, list[Row]] = {table: [] for table in tables}
    for key in range(1, games + 1):
        who = _who(rng, key)
        likely = (3, 0 if who == REGULAR else 1)
        template = rng.choices(played(), [likely[each.game != "chess"] for each in played()])[0]
        if key == DRAW_GAME:
            template = drawn_game()
        game = _game(rng, key, who, template)
        rows[GameRow].append(game)
        # The judge has yet to judge a few games, none of them in the trial.
        is_judged = game["state"] is not GameStatus.OPEN and (key % 41 != 9 or game["trial_id"] is not None)
        if is_judged:
            rows[JudgedGameRow].append({"game_id": key, "version": JUDGE_VERSION})
        for move in template.ours:
            if move.ply < len(game["moves"].split()):
                _decision(rng, rows, game, move, is_judged=is_judged)
    for table, found in rows.items():
        await session.execute(insert(table), found)


def _who(rng: random.Random, key: int) -> int:
    if key % 14 == 5:
        return REGULAR
    return MATCHED if key % 40 == 0 else 42 + key % 3 if key in (101, 102, 103) else rng.choice(OTHERS)


def _game(rng: random.Random, key: int, who: int, template: PlayedGame) -> Row:
    site = _opponent(who)["site"]
    # Whole days and a fraction that keeps every age clear of being rounded either way.
    days = rng.choice([0, 0, 0, 1, 2, 5, 9, 20, 29, 33, 64, 120]) if key % 3 else rng.randrange(0, 50)
    began = NOW - timedelta(days=days, hours=2, seconds=7 * key)
    state = GameStatus.FINISHED
    if days == 0 and key % 7 == 0:
        state = GameStatus.OPEN
    elif key % 17 == 0:
        state = GameStatus.ABORTED
    player = "standard" if who == REGULAR and key % 4 else rng.choice(PLAYERS)
    variant = {None: "standard", CHESS960: "chess960"}.get(template.initial_position, "fromPosition")
    in_trial = began >= TRIAL_START and site != MATCH_SITE and key % 11 != 0 and variant != "fromPosition"
    result = rng.choice([GameResult.WIN] * (4 if player == "trappy" else 2) + [*GameResult] * 2)
    if key % 23 == 0:
        result = None
    moves = template.moves[: rng.choice([1, 4, 30, 30, 30]) if who != REGULAR else 30]
    return {
        "id": key,
        "site": site,
        "account": rng.choice(ACCOUNTS[site]),
        "site_game_id": f"g{key}",
        "game": template.game,
        "variant": variant,
        "initial_position": template.initial_position,
        "our_side": template.our_side,
        "rated": rng.random() < 0.7,
        "speed": rng.choice(["blitz", "rapid"]),
        "clock_initial_s": rng.choice([None, 180, 45]),
        "clock_increment_s": rng.choice([None, 2]),
        "opponent_id": who,
        "our_rating": rng.choice([None, *range(1500, 1900, 37)]),
        "opponent_rating": None if who % 8 == 0 else 1190 + 31 * (who % 25) + rng.randrange(20),
        "engine_config_id": 1 + PLAYERS.index(player),
        "strategy": player,
        "state": state,
        "is_settled": state is not GameStatus.OPEN,
        "result": result if state is GameStatus.FINISHED else None,
        "end_reason": None
        if state is GameStatus.OPEN
        else rng.choice(["mate", "resignation", "left", "normal"]),
        "rating_diff": rng.choice([None, 6, -5]),
        "started_at": began,
        "ended_at": None if state is GameStatus.OPEN else began + timedelta(minutes=6),
        "selection": {"method": "balanced", "chances": {"standard": 0.4, "trappy": 0.6}, "match": "m1"},
        "trial_id": 1 if in_trial else None,
        "moves": " ".join(moves),
    }


def _decision(
    rng: random.Random, rows: dict[Any, list[Row]], game: Row, move: Move, *, is_judged: bool
) -> None:
    key, found = len(rows[DecisionRow]) + 1, move.found
    is_complete = rng.random() < 0.95
    rule = FIGURE_9_RULE - 1 if key % 31 == 0 else FIGURE_9_RULE
    at = game["started_at"] + timedelta(seconds=4 * move.ply)
    sent = None if key % 29 == 0 else at + timedelta(milliseconds=rng.randrange(8, 900))
    is_shown = sent is not None and game["site"] != "ggs" and key % 13 != 0
    columns = found.columns if is_complete else dict.fromkeys(found.columns)
    rows[DecisionRow].append(
        {
            "id": key,
            "game_id": game["id"],
            "ply": move.ply,
            "takeback": 1 if key % 41 == 0 else 0,
            "state": DecisionState.CONFIRMED if is_shown else DecisionState.SENT,
            "move": found.decision.move,
            "depth": found.decision.depth,
            "nodes": found.decision.nodes,
            "time_s": rng.randrange(1, 900) / 128,
            "is_complete": is_complete,
            **columns,
            "rule": rule if is_complete else None,
            "created_at": at,
            "sent_at": sent,
            "confirmed_at": sent + timedelta(milliseconds=rng.randrange(5, 400))
            if is_shown and sent
            else None,
            "search_mode": found.decision.search_mode,
            "replies": reply_scores(found.decision.chosen) if is_complete else None,
            "record": found.record,
        }
    )
    texts = game["moves"].split()
    reply = texts[move.ply + 1] if move.ply + 1 < len(texts) else None
    if not is_complete or (reply is None and game["state"] is GameStatus.OPEN):
        return
    replies = [each.reply for each in found.decision.chosen.replies]
    outcome = None if reply is None else found.outcomes[replies.index(reply)]
    nothing: Row = {"kind": "unanswered", "reply": None, "fell_for_best": False}
    nothing |= {"quality": 0.0, "cost_centi": 0, "cost": 0}
    judged = {name: getattr(outcome, name) for name in nothing} if outcome is not None else nothing
    rows[OutcomeRow].append({"decision_id": key, **judged, "rule": rule, "at": at + timedelta(seconds=3)})
    if is_judged and outcome is not None and reply is not None:
        rows[JudgementRow].append({"decision_id": key, **found.judgements[reply]})
    if key % 19 == 0:  # not forecast yet
        return
    settled = {
        "is_taken": None if reply is None else reply in found.baits,
        "reply_probability": None if reply is None else found.probabilities[replies.index(reply)],
    }
    outdated = {"rule": FORECAST_RULE - 1} if key % 37 == 0 else {}
    rows[ForecastRow].append({"decision_id": key, **found.forecast, **settled, **outdated, "at": at})
    if reply is not None and key % 41 and rng.random() < 0.8:
        took = {
            "time_s": rng.randrange(1, 5 if game["id"] % 12 == 0 else 160) / 16,
            "source": TimeSource.SERVER,
        }
        rows[ReplyTimeRow].append({"decision_id": key, **took})


def _event(rng: random.Random, key: int) -> Row:
    kind = rng.choice(["challenge_declined", "challenge_declined", "account_link_lost", "alarm"])
    site = rng.choice(["arena", "lichess"])
    detail = rng.choice(
        [{"reason": "too fast, 30 s"}, {"error": f"it's {NAMES[0]}"}, {}, {"reason": None, "n": 7}]
    )
    return {
        "id": key,
        "at": NOW - timedelta(days=rng.choice([0, 0, 3, 6, 20, 80]), hours=2, seconds=11 * key),
        "site": site,
        "account": "desdemona",
        "kind": kind,
        "game_id": rng.choice([None, None, 2]),
        "detail": detail,
    }
