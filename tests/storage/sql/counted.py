"""What each view says of drawn games, counted in Python from the rows and the replies."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from engine.figure_9 import MIN_ERROR_COST
from engine.judge import JUDGE_VERSION
from storage.records import DecisionState, GameResult, GameStatus
from tests.storage.sql.sample_games import NOW, Row, Sample

_AS_STORED = (
    "account",
    "site_game_id",
    "variant",
    "speed",
    "our_side",
    "our_rating",
    "state",
    "result",
    "end_reason",
    "rating_diff",
)
"""Columns of games."""
_POINTS = {GameResult.WIN: 1.0, GameResult.DRAW: 0.5, GameResult.LOSS: 0.0}


def timestamp(at: datetime | None) -> str | None:
    return None if at is None else at.strftime("%Y-%m-%d %H:%M:%S")


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return None if start is None or end is None else (end - start).total_seconds()


def _age(at: datetime) -> int:
    return (NOW - at).days


def _flag(value: bool | None) -> int | None:
    return None if value is None else int(value)


def _share(value: float | None) -> float | None:
    return None if value is None else value / 10_000


def _standing(sample: Sample) -> list[Row]:
    rows = sample.rows["decisions"]
    return [row for row in rows if row["takeback"] == 0 and row["state"] is not DecisionState.DROPPED]


def _band(rating: int | None) -> str:
    if rating is None:
        return "unrated"
    least = rating // 200 * 200
    return f"{least} to {least + 199}"


def _of_game(game: Row, opponent: Row) -> Row:
    return {
        "site": game["site"],
        "game": game["game"],
        "player": game["strategy"],
        "strategy": game["strategy"],
        "opponent_id": opponent["id"],
        "opponent": opponent["name"],
        "is_program": int(opponent["is_bot"]),
        "opponent_rating": game["opponent_rating"],
    }


def _costs(sample: Sample) -> dict[int, int]:
    """The costs by the latest version of the judge, by the decision's key."""
    version = max(each["version"] for each in sample.rows["judged_games"])
    return {
        each["decision_id"]: each["cost"] for each in sample.rows["judgements"] if each["version"] == version
    }


def _slips(summary: Row | None) -> int | None:
    """A game's slips; None if it has no summary, or replies that the present judge has not judged."""
    if summary is None or summary["unjudged"] or summary["judge_version"] != JUDGE_VERSION:
        return None
    slips: int = summary["slips"]
    return slips


def _games(sample: Sample) -> list[Row]:
    opponents, summaries = sample.by("opponents", "id"), sample.by("game_summaries", "game_id")
    found = []
    for game in sample.rows["games"]:
        ours, theirs, at = game["our_rating"], game["opponent_rating"], game["started_at"]
        rated = None not in (ours, theirs)
        found.append(
            {
                "game_id": game["id"],
                **_of_game(game, opponents[game["opponent_id"]]),
                **{name: game[name] for name in _AS_STORED},
                "rated": int(game["rated"]),
                "engine_version": "0.1",
                "trial": None if game["trial_id"] is None else "winter",
                **dict.fromkeys(
                    ("chance", "probability"), game["selection"].get("chances", {}).get(game["strategy"])
                ),
                "rating_band": _band(theirs),
                "points": _POINTS.get(game["result"]),
                "expected": 1 / (1 + 10 ** ((theirs - ours) / 400)) if rated else None,
                "started_at": timestamp(at),
                "ended_at": timestamp(game["ended_at"]),
                "day": f"{at:%Y-%m-%d}",
                "week": f"{at - timedelta(days=at.weekday()):%Y-%m-%d}",
                "month": f"{at:%Y-%m}",
                "hour": at.hour,
                "days_ago": _age(at),
                "duration_s": _seconds(at, game["ended_at"]),
                "plies": len(game["moves"].split()),
                **{
                    name: summaries[game["id"]][name] if game["id"] in summaries else None
                    for name in ("baits_set", "baits_taken")
                },
                "slips": _slips(summaries.get(game["id"])),
            }
        )
    return found


def _decisions(sample: Sample) -> list[Row]:
    same = ("game_id", "ply", "move", "state", "depth", "nodes", "time_s", "reply_count")
    return [
        {
            "decision_id": row["id"],
            **{name: row[name] for name in same},
            "is_complete": int(row["is_complete"]),
            "is_decided": _flag(row["is_decided"]),
            "is_trap": _flag(row["is_trap"]),
            "trap_quality": None if row["trap_quality"] is None else row["trap_quality"] / 100,
            "at": timestamp(row["created_at"]),
            "send_s": _seconds(row["created_at"], row["sent_at"]),
            "confirm_s": _seconds(row["sent_at"], row["confirmed_at"]),
        }
        for row in _standing(sample)
    ]


def _outcomes(sample: Sample) -> list[Row]:
    outcomes, forecasts = sample.by("outcomes", "decision_id"), sample.by("forecasts", "decision_id")
    times, found = sample.by("reply_times", "decision_id"), []
    costs = _costs(sample)
    for row in _standing(sample):
        if row["id"] not in outcomes:
            continue
        outcome, forecast = outcomes[row["id"]], forecasts.get(row["id"], {})
        found.append(
            {
                "decision_id": row["id"],
                "game_id": row["game_id"],
                "ply": row["ply"],
                "kind": outcome["kind"],
                "reply": outcome["reply"],
                "fell_for_best": int(outcome["fell_for_best"]),
                "cost": _share(costs.get(row["id"])),
                "is_error": int(costs[row["id"]] >= MIN_ERROR_COST) if row["id"] in costs else None,
                "is_decided": _flag(row["is_decided"]),
                "reply_count": row["reply_count"],
                "random_error": forecast.get("error_uniform"),
                "expected_error": forecast.get("error_expected"),
                "random_cost": _share(forecast.get("cost_uniform")),
                "expected_cost": _share(forecast.get("cost_expected")),
                "has_bait": int(forecast.get("bait") is not None),
                "is_bait_taken": int(bool(forecast.get("is_taken"))),
                "probability": forecast.get("reply_probability"),
                "reply_time_s": times.get(row["id"], {}).get("time_s"),
                "at": timestamp(outcome["at"]),
            }
        )
    return found


def _baits(sample: Sample) -> list[Row]:
    opponents, games = sample.by("opponents", "id"), sample.by("games", "id")
    outcomes, forecasts = sample.by("outcomes", "decision_id"), sample.by("forecasts", "decision_id")
    costs, found = _costs(sample), []
    for row in _standing(sample):
        forecast, outcome = forecasts.get(row["id"], {}), outcomes.get(row["id"], {})
        if forecast.get("bait") is None or row["is_decided"] is not False:
            continue
        game = games[row["game_id"]]
        found.append(
            {
                "decision_id": row["id"],
                "game_id": row["game_id"],
                "ply": row["ply"],
                "move": row["move"],
                "bait": forecast["bait"],
                "probability": forecast["bait_probability"],
                "cost": forecast["bait_cost"] / 10_000,
                **dict.fromkeys(
                    ("surprise", "expected_loss"),
                    forecast["bait_probability"] * forecast["bait_cost"] / 10_000,
                ),
                "model": forecast["model_name"],
                "reply": outcome.get("reply"),
                "is_taken": _flag(forecast["is_taken"]),
                "reply_cost": _share(costs.get(row["id"])),
                **_of_game(game, opponents[game["opponent_id"]]),
                "at": timestamp(row["created_at"]),
                "days_ago": _age(row["created_at"]),
            }
        )
    return found


def _replies(sample: Sample) -> list[Row]:
    outcomes, found = sample.by("outcomes", "decision_id"), []
    for row in _standing(sample):
        profiles = sample.profiles.get(row["id"], ())
        # Opponent's view: higher is better.
        first = [-each.scores_centi[0] for each in profiles]
        final = [-each.scores_centi[-1] for each in profiles]
        for number, each in enumerate(profiles):
            found.append(
                {
                    "decision_id": row["id"],
                    "game_id": row["game_id"],
                    "ply": row["ply"],
                    "reply": each.reply,
                    "is_played": int(outcomes.get(row["id"], {}).get("reply") == each.reply),
                    "first_centi": first[number],
                    **dict.fromkeys(("glance_centi", "shallow_centi"), -each.scores_centi[-2:][0]),
                    "final_centi": final[number],
                    "cost_centi": max(final) - final[number],
                    "rank_first": 1 + sum(other > first[number] for other in first),
                    "rank_final": 1 + sum(other > final[number] for other in final),
                }
            )
    return found


def _opponents(sample: Sample) -> list[Row]:
    summaries, found = sample.by("game_summaries", "game_id"), []
    for person in sample.rows["opponents"]:
        games = [
            game
            for game in sample.rows["games"]
            if game["opponent_id"] == person["id"] and game["state"] is not GameStatus.ABORTED
        ]
        starts = [game["started_at"] for game in games]
        ratings = [game["opponent_rating"] for game in games if game["opponent_rating"] is not None]
        points = [1 - _POINTS[game["result"]] for game in games if game["result"] is not None]
        summed = [summaries[game["id"]] for game in games if game["id"] in summaries]
        found.append(
            {
                "opponent_id": person["id"],
                "site": person["site"],
                "opponent": person["name"],
                "is_program": int(person["is_bot"]),
                "games": len(games),
                "days": len({at.date() for at in starts}),
                "their_points": sum(points) if points else None,
                "best_rating": max(ratings, default=None),
                "first_at": timestamp(min(starts, default=None)),
                "last_at": timestamp(max(starts, default=None)),
                "days_since": _age(max(starts)) if starts else None,
                "baits_met": sum(each["baits_set"] for each in summed),
                "baits_taken": sum(each["baits_taken"] for each in summed),
                "slips": sum(_slips(each) or 0 for each in summed),
            }
        )
    return found


def _events(sample: Sample) -> list[Row]:
    return [
        {
            "event_id": row["id"],
            **{name: row[name] for name in ("site", "account", "kind", "game_id")},
            "reason": row["detail"].get("reason") or row["detail"].get("error"),
            "at": timestamp(row["at"]),
            "day": f"{row['at']:%Y-%m-%d}",
            "days_ago": _age(row["at"]),
        }
        for row in sample.rows["events"]
    ]


COUNTED: dict[str, Callable[[Sample], list[dict[str, Any]]]] = {
    "ask_games": _games,
    "ask_decisions": _decisions,
    "ask_outcomes": _outcomes,
    "ask_baits": _baits,
    "ask_replies": _replies,
    "ask_opponents": _opponents,
    "ask_events": _events,
}
"""The rows of each view, in any order."""
