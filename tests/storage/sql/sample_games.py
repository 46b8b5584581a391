"""Drawn games for questions in SQL, as plain rows: the database gets them, and tests count them in Python."""

import random
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import FORECAST_RULE
from engine.decision import OutcomeKind, ReplyProfile
from engine.figure_9 import FIGURE_9_RULE, MIN_ERROR_COST
from engine.judge import JUDGE_VERSION
from storage.ledger.decisions import reply_scores
from storage.records import DecisionState, GameResult, GameStatus, TimeSource
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
from storage.tables.summaries import GameSummaryRow
from tests.storage.samples import decision

Row = dict[str, Any]

_TICKS = datetime.now(UTC)
NOW = _TICKS.replace(microsecond=_TICKS.microsecond // 250_000 * 250_000)
"""Moments are a multiple of a quarter of a second from each other: a float has it exactly."""
MONDAY = datetime(2025, 9, 1, tzinfo=UTC)
"""The first day of a week and of a month."""

_TABLES = {
    "opponents": OpponentRow,
    "engine_configs": EngineConfigRow,
    "trials": TrialRow,
    "games": GameRow,
    "decisions": DecisionRow,
    "outcomes": OutcomeRow,
    "judgements": JudgementRow,
    "judged_games": JudgedGameRow,
    "forecasts": ForecastRow,
    "reply_times": ReplyTimeRow,
    "events": EventRow,
    "game_summaries": GameSummaryRow,
}


@dataclass
class Sample:
    """Rows of every table, in the order of their keys."""

    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    profiles: dict[int, tuple[ReplyProfile, ...]] = field(default_factory=dict)
    """The replies to each decision's move, by the decision's key."""

    def by(self, table: str, column: str) -> dict[Any, Row]:
        """A table's rows by one column."""
        return {row[column]: row for row in self.rows[table]}

    async def store(self, session: AsyncSession) -> None:
        """Write all of it into an empty database."""
        for name, kind in _TABLES.items():
            await session.execute(insert(kind), self.rows[name])


def drawn(seed: int = 1, games: int = 60) -> Sample:
    """Games of four persons and a program."""
    rng, sample = random.Random(seed), Sample()
    for key, (site, is_bot) in enumerate(
        [("arena", False), ("arena", False), ("lichess", False), ("ggs", False), ("arena", True)], 1
    ):
        sample.rows["opponents"].append(
            {
                "id": key,
                "site": site,
                "site_id": f"p{key}",
                "name": f"P'{key}\N{SNOWMAN}",
                "is_bot": is_bot,
                "first_seen_at": MONDAY,
            }
        )
    sample.rows["engine_configs"].append(_engine_config())
    sample.rows["trials"].append(_trial())
    for key in range(1, games + 1):
        sample.rows["games"].append(_game(rng, key, rng.choice(sample.rows["opponents"])))
    for game in sample.rows["games"]:
        # Some games are judged by an earlier version of the judge, and some not at all.
        version = rng.choice([None, JUDGE_VERSION - 1, *[JUDGE_VERSION] * 4])
        for ply in range(game["our_side"], rng.randrange(2, 50), 2):
            _add_decision(rng, sample, game, ply, version)
        if version is not None:
            sample.rows["judged_games"].append({"game_id": game["id"], "version": version})
        if rng.random() < 0.8:
            sample.rows["game_summaries"].append(_summary(sample, game["id"]))
    for key in range(1, 31):
        sample.rows["events"].append(_event(rng, key))
    return sample


def _engine_config() -> Row:
    return {
        "id": 1,
        "strategy": "trappy",
        "engine_version": "0.1",
        "assessment": "median",
        "margin_centi": 10,
        "decided": "skip",
        "threshold_centi": 0,
        "scale": "expected",
        "risk_percent": 1.5,
        "risk_share_percent": 10.0,
        "logistic_centi": 0.0,
        "threshold_percent": 5.0,
    }


def _trial() -> Row:
    return {
        "id": 1,
        "name": "winter",
        "arms": ["standard", "trappy"],
        "configurations": {},
        "strata": {},
        "planned_n": 100,
        "alpha": 0.05,
        "cap": 10,
        "endpoint": "score",
        "started_at": MONDAY,
        "ended_at": None,
        "open_slot": 1,
    }


def _game(rng: random.Random, key: int, opponent: Row) -> Row:
    state = rng.choice([GameStatus.OPEN, GameStatus.ABORTED, *[GameStatus.FINISHED] * 8])
    age = timedelta(days=rng.choice([0, 1, 5, 6, 7, 29, 30, 200]), seconds=rng.randrange(4000, 300_000) / 4)
    started = NOW - age
    if key <= 3:
        started = MONDAY + timedelta(seconds=(-0.25, 0, 86_399.75)[key - 1])
    over = started + timedelta(seconds=rng.randrange(1, 8000) / 4)
    player = rng.choice(["trappy", "standard"])
    by_draw = {"method": "drawn", "chances": {"trappy": 0.25, "standard": 0.75}}
    return {
        "id": key,
        "site": opponent["site"],
        "account": "desdemona",
        "site_game_id": f"g{key}",
        "game": rng.choice(["othello", "chess"]),
        "variant": "standard",
        "our_side": rng.randrange(2),
        "rated": rng.random() < 0.5,
        "speed": rng.choice(["blitz", "rapid"]),
        "opponent_id": opponent["id"],
        "our_rating": rng.choice([None, 1500, 1600, 1710]),
        "opponent_rating": rng.choice([None, -200, -1, 0, 199, 1399, 1500, 1600, 1700]),
        "engine_config_id": 1,
        "strategy": player,
        "state": state,
        "result": rng.choice([None, *list(GameResult) * 3]) if state is GameStatus.FINISHED else None,
        "end_reason": rng.choice(["checkmate", "resignation", None]),
        "rating_diff": rng.choice([None, -7, 8]),
        "started_at": started,
        "ended_at": None if state is GameStatus.OPEN else over,
        "selection": rng.choice([{}, {"method": "fixed", "chances": {}}, by_draw]),
        "trial_id": rng.choice([None, 1]),
        "moves": " ".join(["f5", "--"] * rng.randrange(4) + ["d6"] * rng.randrange(2)),
    }


def _add_decision(rng: random.Random, sample: Sample, game: Row, ply: int, version: int | None) -> None:
    key = len(sample.rows["decisions"]) + 1
    is_complete = rng.random() < 0.9
    made = decision(quality=100.0, complete=is_complete)
    profiles = tuple(
        ReplyProfile(name, tuple(rng.choice([-300, -100, 0, 5, 250, 400]) for _ in range(rng.choice([1, 3]))))
        for name in ("f6", "d6", "f4", "c4")[: rng.randrange(1, 5)]
    )
    played = next(each for each in made.candidates if each.move == made.move)
    whole = replace(played, replies=profiles)
    at = game["started_at"] + timedelta(seconds=ply * 2.25)
    row = {
        "id": key,
        "game_id": game["id"],
        "ply": ply,
        "takeback": rng.choice([*[0] * 9, 1]),
        "state": rng.choice([DecisionState.DROPPED, *[DecisionState.CONFIRMED] * 8, DecisionState.SENT]),
        "move": rng.choice(["f5", "d3"]),
        "depth": 4,
        "nodes": rng.randrange(1 << 40),
        "time_s": rng.randrange(1, 400) / 128,
        "is_complete": is_complete,
        "is_trap": rng.random() < 0.5 if is_complete else None,
        "trap_quality": rng.randrange(1000) / 8 if is_complete else None,
        "reply_count": len(profiles) if is_complete else None,
        "is_decided": rng.random() < 0.2 if is_complete else None,
        "rule": FIGURE_9_RULE if is_complete else None,
        "created_at": at,
        "sent_at": rng.choice([None, at + timedelta(seconds=rng.randrange(1, 40) / 4)]),
        "confirmed_at": rng.choice([None, at + timedelta(seconds=10.5)]),
        "search_mode": None,
        "replies": reply_scores(whole) if is_complete else None,
        "record": made.to_record(),
    }
    sample.rows["decisions"].append(row)
    if is_complete:
        sample.profiles[key] = profiles
        _judge(rng, sample, key, profiles, version)


def _judge(
    rng: random.Random, sample: Sample, key: int, profiles: tuple[ReplyProfile, ...], version: int | None
) -> None:
    reply, is_taken = rng.choice([None, *[each.reply for each in profiles] * 3]), None
    if is_judged := rng.random() < 0.9:
        kinds = (OutcomeKind.OPTIMAL, OutcomeKind.FELL_FOR_PAPER_TRAP, OutcomeKind.ERRED_ELSEWHERE)
        sample.rows["outcomes"].append(
            {
                "decision_id": key,
                "kind": OutcomeKind.UNANSWERED if reply is None else rng.choice(kinds),
                "reply": reply,
                "fell_for_best": rng.random() < 0.5,
                "quality": 0.0,
                "cost_centi": 0,
                "cost": 0,
                "rule": FIGURE_9_RULE,
                "at": NOW - timedelta(seconds=key / 4),
            }
        )
        if reply is not None and version is not None:
            sample.rows["judgements"].append(
                {
                    "decision_id": key,
                    "version": version,
                    "cost": rng.choice([0, MIN_ERROR_COST - 1, MIN_ERROR_COST, 3333, 10_000]),
                    "best": reply,
                    "best_centi": 0,
                    "replies": [],
                }
            )
    if rng.random() < 0.9:
        has_bait = rng.random() < 0.5
        is_answered = is_judged and reply is not None
        is_taken = (has_bait and rng.random() < 0.4) if is_answered else None
        sample.rows["forecasts"].append(_forecast(rng, key, is_taken=is_taken, has_bait=has_bait))
    if rng.random() < 0.7:
        took = {"decision_id": key, "time_s": rng.randrange(1, 90) / 4, "source": TimeSource.SERVER}
        sample.rows["reply_times"].append(took)


def _forecast(rng: random.Random, key: int, *, is_taken: bool | None, has_bait: bool) -> Row:
    names = ("error", "fall", "bait", "optimal")
    return {
        "decision_id": key,
        "rule": FORECAST_RULE,
        "model_kind": "looks",
        "model_name": rng.choice(["looks 6.5", "maia-1500"]),
        "model_sha256": "",
        "prior": "",
        **{f"{what}_{whose}": rng.randrange(65) / 64 for what in names for whose in ("uniform", "expected")},
        "cost_uniform": rng.randrange(20_000) / 4,
        "cost_expected": rng.randrange(20_000) / 4,
        "bait": "d6" if has_bait else None,
        "bait_probability": rng.randrange(7, 64) / 64 if has_bait else None,
        "bait_cost": rng.randrange(MIN_ERROR_COST, 10_000) if has_bait else None,
        "confirm_depth": 6,
        "is_taken": is_taken,
        "reply_probability": None if is_taken is None else rng.randrange(65) / 64,
        "at": NOW,
        "record": {},
    }


def _summary(sample: Sample, game: int) -> Row:
    forecasts, judgements = sample.by("forecasts", "decision_id"), sample.by("judgements", "decision_id")
    answered = {key for key, row in sample.by("outcomes", "decision_id").items() if row["reply"] is not None}
    version = sample.by("judged_games", "game_id").get(game, {}).get("version")
    met = taken = slips = unjudged = 0
    for each in sample.rows["decisions"]:
        counts = each["game_id"] == game and each["takeback"] == 0
        if not counts or each["state"] is DecisionState.DROPPED or each["is_decided"] is None:
            continue
        forecast = {} if each["is_decided"] else forecasts.get(each["id"], {})
        met += forecast.get("bait") is not None
        taken += bool(forecast.get("is_taken"))
        cost = judgements.get(each["id"], {}).get("cost", 0)
        slips += cost >= MIN_ERROR_COST and not forecast.get("is_taken")
        unjudged += version is None and each["id"] in answered
    return {
        "game_id": game,
        "layout": 1,
        "rule": FIGURE_9_RULE,
        "forecast_rule": FORECAST_RULE,
        "judge_version": version or JUDGE_VERSION,
        "stamp": game,
        "baits_set": met,
        "baits_taken": taken,
        "slips": slips,
        "unjudged": unjudged,
        "labels": "[]",
        "game": b"",
        "replies": b"",
    }


def _event(rng: random.Random, key: int) -> Row:
    return {
        "id": key,
        "at": NOW - timedelta(days=rng.choice([0, 3, 8, 40]), seconds=7200 + key / 4),
        "site": rng.choice(["arena", "lichess"]),
        "account": "desdemona",
        "kind": rng.choice(["challenge_declined", "link_lost", "game_crashed"]),
        "game_id": rng.choice([None, 1, 2]),
        "detail": rng.choice([{"reason": "variant"}, {"error": "it's \N{SNOWMAN}"}, {}, {"reason": None}]),
    }
