"""Statistics of groups of games in plain Python, from exports: what `stats --by` and several pages show."""

from collections import defaultdict
from collections.abc import Callable

from tests.bot.dashboard.numbers.estimates import any_time, performance
from tests.bot.dashboard.numbers.exported import Exported, Row
from tests.bot.dashboard.numbers.recount import (
    DASH,
    TITLES,
    Query,
    counted,
    is_unjudged,
    percent,
    plural,
    signed,
    unjudged_games,
)
from tests.bot.dashboard.numbers.trials import counting

RULES = {"judge": 4, "baits": 5, "figure_9": 2}
REPLIES, TRAPS = 20_000, 4_000
"""Where the intervals of groups are tightest (docs/statistics.md)."""


def _expected(rows: list[Row], happened: str, of: str, planned_n: int) -> Row:
    def value(row: Row) -> float:
        return float(row["kind"] == "fell") if happened == "fell" else float(row[happened])

    persons = [row["person"] for row in rows]
    found: Row = {"n": len(rows)}
    for name, columns in (("happened", None), ("chance", f"random_{of}"), ("model", f"expected_{of}")):
        values = [value(row) if columns is None else row[columns] for row in rows]
        found[name] = sum(values) / len(rows) if rows else None
    for name, column in (("beyond_chance", f"random_{of}"), ("beyond_model", f"expected_{of}")):
        found[name] = any_time([value(row) - row[column] for row in rows], persons, planned_n)
    return found


def _group(data: Exported, group: Row, games: list[Row]) -> Row:
    replies = [
        {**row, "person": game["opponent_id"]} for game in games for row in counting(data, game["game_id"])
    ]
    open_ = [row for row in replies if row["is_decided"] == 0]
    judged = [row for row in open_ if row["cost"] is not None]
    unjudged = [row for row in open_ if is_unjudged(data, row)]
    baits, traps = [row for row in open_ if row["has_bait"]], [row for row in open_ if row["is_trap"]]
    kinds = [row["kind"] for row in traps]
    usual = [game for game in games if game["variant"] != "fromPosition"]
    rated = [(g["opponent_rating"], g["points"]) for g in usual if g["opponent_rating"] is not None]
    return {
        "group": group,
        "games": len(games),
        "wins": sum(game["result"] == "win" for game in games),
        "draws": sum(game["result"] == "draw" for game in games),
        "losses": sum(game["result"] == "loss" for game in games),
        "unfinished": sum(game["state"] == "open" for game in games),
        "persons": len({game["opponent_id"] for game in games}),
        "performance": performance([each for each in rated if each[1] is not None]),
        "unjudged_games": len(unjudged_games(data, games)),
        "replies": len(judged),
        "unjudged": len(unjudged),
        "optimal": sum(row["kind"] == "optimal" for row in judged),
        "decided": len(replies) - len(open_),
        "models": sorted({row["model"] for row in replies}),
        "errors": _expected(judged, "is_error", "error", REPLIES),
        "cost": _expected(judged, "cost", "cost", REPLIES),
        "baits_set": len(baits),
        "baits": _expected(baits, "is_bait_taken", "bait", TRAPS),
        "traps_set": len(traps),
        "traps_optimal": kinds.count("optimal"),
        "traps_fell": kinds.count("fell"),
        "traps_fell_for_best": sum(row["fell_for_best"] for row in traps),
        "traps_erred_elsewhere": kinds.count("erred_elsewhere"),
        "falls": _expected(traps, "fell", "fall", TRAPS),
        "rules": RULES,
    }


_KEYS: dict[str, Callable[[Row], str]] = {
    "rating-band": lambda game: band(game["opponent_rating"]),
    "opponent-kind": lambda game: "program" if game["is_program"] else "person",
}
"""Groupings that are no column of the exports as they are."""


def band(rating: int | None) -> str:
    """200 points of rating."""
    return "unrated" if rating is None else f"{rating // 200 * 200} to {rating // 200 * 200 + 199}"


def groups(data: Exported, query: Query, by: tuple[str, ...] = ("game", "strategy")) -> list[Row]:
    """The statistics of games by some columns."""
    found: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for game in counted(data, query):
        found[tuple(_KEYS[name](game) if name in _KEYS else game[name] for name in by)].append(game)
    return [_group(data, dict(zip(by, key, strict=True)), some) for key, some in sorted(found.items())]


def beyond(found: Row) -> str:
    """What happened less what was expected, in points of a hundred."""
    if found["mean"] is None:
        return DASH
    if found["low"] is None:
        return "too early"
    mean, low, high = (signed(100 * found[name]) for name in ("mean", "low", "high"))
    return f"{mean} ({low} to {high})"


def performance_text(found: Row) -> str:
    """A performance rating with its interval."""
    if not found["games"]:
        return DASH
    if found["low"] is None:
        return f"below {found['high']:.0f}"
    if found["high"] is None:
        return f"above {found['low']:.0f}"
    return f"{found['rating']:.0f} ({found['low']:.0f} to {found['high']:.0f})"


def _label(group: Row) -> str:
    return f"{TITLES[group['group']['game']]}, {group['group']['strategy']}"


def _games_line(each: Row) -> str:
    share = each["optimal"] / each["replies"] if each["replies"] else None
    return " | ".join(
        (
            _label(each),
            f"{each['games']} / {plural(each['persons'], 'opponent')}",
            f"{each['wins']} · {each['draws']} · {each['losses']}",
            f"{each['unfinished']}",
            f"{performance_text(each['performance'])} / {each['performance']['games']} against rated",
            f"{each['replies']:,}",
            f"{percent(share, 1)} / {each['optimal']}",
            f"{each['decided']}",
        )
    )


def _expected_lines(each: Row) -> list[str]:
    measures = {"errors": "errors", "cost of a reply": "cost", "baits taken": "baits", "Figure 9": "falls"}
    lines = []
    for words, name in measures.items():
        found = each[name]
        shares = (percent(found[of], 1) for of in ("happened", "chance", "model"))
        points = (beyond(found[of]) for of in ("beyond_chance", "beyond_model"))
        lines.append(" | ".join((_label(each), words, f"{found['n']}", *shares, *points)))
    return lines


def _figure_9(each: Row) -> str:
    names = ("set", "optimal", "fell", "fell_for_best", "erred_elsewhere")
    return " | ".join((_label(each), *(str(each[f"traps_{name}"]) for name in names)))


def group_lines(data: Exported, found: list[Row], games: list[Row]) -> list[str]:
    """The tables of groups by game and player.

    Args:
        data: The exports.
        found: The groups.
        games: All of their games.
    """
    left = len(unjudged_games(data, games))
    are = "game is still being judged: its" if left == 1 else "games are still being judged: their"
    waiting = f" {left} {are} replies count in no cost or error yet." if left else ""
    return [
        *map(_games_line, found),
        _GAMES_NOTE,
        *(line for each in found for line in _expected_lines(each)),
        _EXPECTED_NOTE,
        "Figure 9: outcomes of the traps, in the paper's terms",
        *map(_figure_9, found),
        f"{_RULES_NOTE}{waiting}",
    ]


_GAMES_NOTE = (
    "“Performance”: the rating at which this score is expected, with its 95 % interval, valid at one "
    "planned analysis if games are independent. Replies: replies in undecided positions, in the first 50 "
    "games of each opponent (in matches, in all games), without replies that are not judged yet; optimal: by "
    "the paper's rule, at the player's depth; decided: replies in decided positions."
)
_RULES_NOTE = (
    "Costs and errors: judge, version 4. Baits: rule 5. Figure 9: paper's rule 2, at the player's depth."
)
_EXPECTED_NOTE = (
    "An error costs 10 % of the game or more by the judge, a deep search of fixed size. A bait is a likely "
    "error that looks at least as good as the best replies in a shallow search. Figure 9: replies that fell "
    "for a trap in the sense of Gordon and Reda. “At random”: the value for random moves in these positions. "
    "“Forecast”: the value that the model of people expects. Beyond: actual minus expected, in percentage "
    "points, with a 95 % interval valid under continuous monitoring and with returning opponents."
)
