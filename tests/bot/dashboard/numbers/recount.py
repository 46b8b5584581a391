"""Counts what exports say, in plain Python; shares no code with the program.

Numbers are written as pages write them: `percent`, `signed`, `span`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from tests.bot.dashboard.numbers.exported import Exported, Row

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
TITLES = {"othello": "Othello", "chess": "Chess", "xiangqi": "Xiangqi", "connect4": "Connect Four"}
Query = Mapping[str, str]


def passes(game: Row, query: Query) -> bool:
    """Whether a game passes filters, written as in an address."""
    tests: dict[str, Any] = {
        "game": lambda value: game["game"] == value,
        "strategy": lambda value: game["strategy"] == value,
        "opponents": lambda value: game["is_program"] == (value == "programs"),
        "opponent": lambda value: game["opponent"].lower() == value.lower(),
        "site": lambda value: game["site"] == value,
        "account": lambda value: game["account"] == value,
        "speed": lambda value: game["speed"] == value,
        "rated": lambda value: game["rated"] == (value == "rated"),
        "side": lambda value: game["our_side"] == (value == "second"),
        "min-rating": lambda value: (game["opponent_rating"] or -1) >= int(value),
        "max-rating": lambda value: (game["opponent_rating"] or 9999) <= int(value),
        "since": lambda value: at(game["started_at"]) >= datetime.fromisoformat(value),
        "until": lambda value: at(game["started_at"]) < datetime.fromisoformat(value),
        "trial": lambda value: game["trial"] == value,
        "version": lambda value: game["engine_version"] == value,
    }
    return all(tests[name](value) for name, value in query.items() if name in tests)


def shown(data: Exported, query: Query) -> list[Row]:
    """The games of lists and counts: matches only if their site is asked for."""
    everything = [game for game in data.games if passes(game, query)]
    return [game for game in everything if "site" in query or game["site"] != "match"]


def counted(data: Exported, query: Query) -> list[Row]:
    """The same without aborted games."""
    return [game for game in shown(data, query) if game["state"] != "aborted"]


@dataclass(frozen=True)
class Counts:
    """Baits and slips."""

    baits_set: int
    baits_taken: int
    slips: int
    unjudged: int


def is_unjudged(data: Exported, row: Row) -> bool:
    """Whether the judge has yet to judge the reply of an outcome."""
    is_known = row["is_current"] and row["reply"] is not None and row["is_decided"] is not None
    return bool(is_known and row["cost"] is None and data.game[row["game_id"]]["slips"] is None)


def unjudged_games(data: Exported, games: Iterable[Row]) -> list[Row]:
    """Those that are over and have such replies."""
    return [
        game
        for game in games
        if game["state"] != "open"
        and any(is_unjudged(data, row) for row in data.outcomes_of[game["game_id"]])
    ]


def counts(data: Exported, games: Iterable[Row]) -> Counts:
    """What some games add up to."""
    keys = [game["game_id"] for game in games]
    baits = [bait for key in keys for bait in data.baits_of[key]]
    slips = [row for key in keys for row in data.outcomes_of[key] if is_slip(row)]
    left = [row for key in keys for row in data.outcomes_of[key] if is_unjudged(data, row)]
    return Counts(len(baits), sum(bait["is_taken"] == 1 for bait in baits), len(slips), len(left))


def slips_line(slips: int, unjudged: int) -> str:
    """The cell of a list."""
    return f"{slips}{f' / {unjudged} not judged yet' if unjudged else ''}"


def is_slip(row: Row) -> bool:
    """Whether an outcome is an error that took no bait; in decided positions there is none to take."""
    takes_bait = row["is_forecast_current"] and row["is_bait_taken"] and row["is_decided"] == 0
    return bool(row["is_decided"] is not None and row["is_current"] and row["is_error"] and not takes_bait)


def score(points: Sequence[float | None]) -> float | None:
    """The mean of what is known."""
    known = [each for each in points if each is not None]
    return sum(known) / len(known) if known else None


def quantile(values: Sequence[float], share: Decimal) -> float:
    """The least value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1]


# --- As pages write them -----------------------------------------------------------------------------------


def at(text: str) -> datetime:
    """A moment of an export."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def iso(text: str) -> str:
    """The same as JSON has it."""
    return text.replace(" ", "T") + "Z"


def rounded(value: float, digits: int) -> Decimal:
    """Halves go up, whatever the last bits of a sum are."""
    return Decimal(f"{value:.9f}").quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def percent(share: float | None, digits: int = 0) -> str:
    return DASH if share is None else f"{rounded(100 * share, digits)} %"


def signed(value: float | None, digits: int = 1) -> str:
    if value is None:
        return DASH
    text = f"{rounded(value, digits):+}"
    return text.replace("-", MINUS) if float(text) else text[1:]


def span(seconds: float) -> str:
    for length, name in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {name}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def ago(text: str, now: datetime) -> str:
    return f"{span((now - at(text)).total_seconds())} ago"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def of_day(value: Any, form: str) -> str:
    return at(value).strftime(form)


def rating_list(game: Row) -> str:
    """Lichess rates chess by speed, variants for all speeds; the arena rates everything for all speeds.

    GGS knows none of these variants.
    """
    if game["variant"] != "standard" and game["site"] != "ggs":
        return {"chess960": "chess960", "fromPosition": "from_position"}[game["variant"]]
    return "" if game["site"] == "arena" else str(game["speed"])


def curve_name(curve: Row) -> str:
    """The name of one of our ratings."""
    kind = curve["speed"].replace("_", " ")
    whose = f"{curve['account']} at {curve['site']}"
    return ", ".join(filter(None, (TITLES[curve["game"]], kind, whose)))
