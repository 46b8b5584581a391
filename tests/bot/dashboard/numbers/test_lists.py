"""Every number of the lists (Games, Opponents, Ratings, Events) is that of a recomputation from exports."""

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from itertools import cycle
from typing import Any, TypeVar
from urllib.parse import urlencode

import pytest

from tests.bot.dashboard.numbers import printed
from tests.bot.dashboard.numbers.drawings import check_drawings
from tests.bot.dashboard.numbers.exported import Exported, Row
from tests.bot.dashboard.numbers.recount import (
    DASH,
    TITLES,
    Query,
    ago,
    at,
    counted,
    counts,
    curve_name,
    iso,
    of_day,
    percent,
    plural,
    quantile,
    rating_list,
    rounded,
    score,
    shown,
    signed,
    slips_line,
)
from tests.bot.dashboard.numbers.sample_database import NOW
from tests.bot.views.conftest import Visitor

T = TypeVar("T")
QUERIES: tuple[Query, ...] = (
    {},
    {"game": "chess", "opponents": "people"},
    {"site": "lichess", "account": "iago2", "min-rating": "1400", "rated": "rated"},
    {"strategy": "trappy", "since": "2026-10-20T00:00:00+00:00", "max-rating": "1700"},
    {"site": "match"},
    {"game": "xiangqi", "account": "nobody"},
)
FEW = QUERIES[:4]


def last_page(rows: list[Any], size: int) -> int:
    return max(1, -(-len(rows) // size))


def pager(rows: list[Any], size: int, page: int) -> list[str]:
    """The line below a list."""
    pages = last_page(rows, size)
    if pages == 1:
        return []
    earlier, later = ("Earlier" if page > 1 else ""), (" Later" if page < pages else "")
    return [f"{earlier}page {page} of {pages}{later}"]


# --- Games -------------------------------------------------------------------------------------------------

ENDED = {"win": "won", "draw": "drawn", "loss": "lost", None: "result unknown"}
RESULTS: dict[str, Any] = {
    "any": lambda _: True,
    "win": lambda game: game["result"] == "win",
    "aborted": lambda game: game["state"] == "aborted",
    "unknown": lambda game: game["state"] == "finished" and game["result"] is None,
}


def each_once(queries: Sequence[Query], wishes: Sequence[T]) -> list[tuple[Query, T]]:
    """Every filter with one of the wishes in turn, and the first with all: neither depends on the other."""
    return [(queries[0], wish) for wish in wishes] + list(zip(queries[1:], cycle(wishes), strict=False))


LISTED = (
    ("any", "newest", 2),
    ("win", "baits-taken", 1),
    ("aborted", "strongest", 1),
    ("unknown", "longest", 1),
)
"""The games to list: results, order, and number of the page."""


def ended(game: Row) -> str:
    """How a game ended, in a word."""
    return {"open": "being played", "aborted": "aborted"}.get(game["state"], ENDED[game["result"]])


def game_json(data: Exported, game: Row) -> Row:
    """A game's JSON."""
    same: tuple[str, ...] = ("game_id", "site", "site_game_id", "game", "speed", "strategy", "opponent")
    same += ("our_rating",)
    same += ("opponent_rating", "our_side", "state", "result", "end_reason", "plies")
    found = counts(data, [game])
    return {
        **{name: game[name] for name in same},
        "rated": bool(game["rated"]),
        "opponent_site_id": game["opponent_site_id"],
        "opponent_is_bot": bool(game["is_program"]),
        "started_at": iso(game["started_at"]),
        "baits_set": found.baits_set,
        "baits_taken": found.baits_taken,
        "slips": found.slips,
        "unjudged": found.unjudged,
    }


def _game_line(data: Exported, game: Row) -> str:
    found = counts(data, [game])
    program = " program" if game["is_program"] else ""
    rating = "unrated" if game["opponent_rating"] is None else game["opponent_rating"]
    against = "" if game["our_rating"] is None else f" against {game['our_rating']}"
    reason = f" / {printed.reason_text(game['end_reason'])}" if game["end_reason"] else ""
    baits = f"{found.baits_taken} of {found.baits_set}" if found.baits_set else "no baits"
    return " | ".join(
        (
            f"{game['opponent']}{program} / {rating}{against} · opponent",
            f"{TITLES[game['game']]} / {game['strategy']} · {game['site']}",
            f"{ended(game)}{reason}",
            f"{game['plies']:,}",
            baits,
            slips_line(found.slips, found.unjudged),
            f"{of_day(game['started_at'], '%d %b %Y')} / {of_day(game['started_at'], '%H:%M')}",
        )
    )


def _ordered(data: Exported, games: list[Row], order: str) -> list[Row]:
    latest = sorted(games, key=lambda game: (game["started_at"], game["game_id"]), reverse=True)
    keys: dict[str, Any] = {
        "newest": lambda _: 0,
        "strongest": lambda game: -(game["opponent_rating"] or -1),
        "longest": lambda game: -game["plies"],
        "baits-taken": lambda game: -counts(data, [game]).baits_taken,
    }
    return sorted(latest, key=keys[order])


@pytest.mark.parametrize(
    ("query", "result", "order", "number"), [(query, *wish) for query, wish in each_once(QUERIES, LISTED)]
)
async def test_games(
    visitor: Visitor, exported: Exported, query: Query, result: str, order: str, number: int
) -> None:
    found = [game for game in shown(exported, query) if RESULTS[result](game)]
    number = min(number, last_page(found, 40))
    games = _ordered(exported, found, order)[40 * (number - 1) : 40 * number]
    address = urlencode({**query, "result": result, "sort": order, "page": number})
    told = await visitor.json(f"/dash/api/games?{address}")
    assert told["games"] == [game_json(exported, game) for game in games]
    assert (told["count"], told["page"], told["pages"]) == (len(found), number, last_page(found, 40))
    html = await visitor.text(f"/dash/games?{address}")
    head = [plural(len(found), "game")] if found else []
    lines = [_game_line(exported, game) for game in games]
    assert printed.numbers(html) == [*head, *lines, *pager(found, 40, number)]


# --- Opponents ---------------------------------------------------------------------------------------------


def _opponents(data: Exported, query: Query) -> list[Row]:
    games_of: dict[int, list[Row]] = defaultdict(list)
    for game in counted(data, query):
        games_of[game["opponent_id"]].append(game)
    found = []
    for key, games in games_of.items():
        starts = [game["started_at"] for game in games]
        ours = [game["points"] for game in games if game["points"] is not None]
        ratings = [game["opponent_rating"] for game in games if game["opponent_rating"] is not None]
        found.append(
            {
                "opponent_id": key,
                "site": games[0]["site"],
                "site_id": games[0]["opponent_site_id"],
                "name": games[0]["opponent"],
                "is_bot": bool(games[0]["is_program"]),
                "games": len(games),
                "days": len({start[:10] for start in starts}),
                "decided": len(ours),
                "points": float(sum(1 - each for each in ours)),
                "best_rating": max(ratings, default=None),
                "first_at": iso(min(starts)),
                "last_at": iso(max(starts)),
                **vars(counts(data, games)),
                "score": score([1 - each for each in ours]),
            }
        )
    return found


def _rank(line: Row, order: str) -> tuple[float, ...]:
    first = 0.0
    if order == "games":
        first = -line["games"]
    elif order == "baits-taken":
        first = -line["baits_taken"] / line["baits_set"] if line["baits_set"] >= 5 else 1.0
    elif order == "score":
        first = 1.0 if line["score"] is None else -line["score"]
    moment = at(line["last_at"].replace("Z", "").replace("T", " "))
    return first, -moment.timestamp(), line["opponent_id"]


def _opponent_line(line: Row) -> str:
    program = " program" if line["is_bot"] else ""
    days = f" / on {line['days']} days" if line["days"] > 1 else ""
    decided = f" / of {line['decided']:,}" if line["decided"] != line["games"] else ""
    baits = f"{line['baits_taken']} of {line['baits_set']}" if line["baits_set"] else "no baits"
    return " | ".join(
        (
            f"{line['name']}{program} / {line['site']}",
            f"{line['games']:,}{days}",
            f"{percent(line['score'])}{decided}",
            baits,
            slips_line(line["slips"], line["unjudged"]),
            "unrated" if line["best_rating"] is None else str(line["best_rating"]),
            ago(line["last_at"].replace("T", " ").removesuffix("Z"), NOW),
        )
    )


@pytest.mark.parametrize(("query", "order"), each_once(QUERIES, ["latest", "games", "baits-taken", "score"]))
async def test_opponents(visitor: Visitor, exported: Exported, query: Query, order: str) -> None:
    found = sorted(_opponents(exported, query), key=lambda line: _rank(line, order))
    returned, programs = sum(line["days"] > 1 for line in found), sum(line["is_bot"] for line in found)
    address = urlencode({**query, "sort": order})
    told = await visitor.json(f"/dash/api/opponents?{address}")
    assert told["opponents"] == found[:50]
    assert (told["count"], told["returned"], told["programs"]) == (len(found), returned, programs)
    html = await visitor.text(f"/dash/opponents?{address}")
    are = "is a program" if programs == 1 else "are programs"
    head = [
        f"{plural(len(found), 'opponent')}, {returned:,} came back.",
        f"{programs:,} of them {are}. An opponent came back if their games began on different days.",
    ]
    choices = "First latest most games take baits most often (at least 5 baits met) score most"
    lines = [_opponent_line(line) for line in found[:50]]
    assert printed.numbers(html) == [*(head if found else []), choices, *lines, *pager(found, 50, 1)]


# --- Ratings -----------------------------------------------------------------------------------------------


def _curves(data: Exported, query: Query) -> list[Row]:
    points: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    games = [game for game in data.games if game["site"] != "match" and game["state"] != "aborted"]
    for game in sorted(games, key=lambda game: (game["started_at"], game["game_id"])):
        if game["rated"] and game["our_rating"] is not None and game in shown(data, query):
            key = (*(game[name] for name in ("site", "account", "game")), rating_list(game))
            points[key].append({"at": game["started_at"], "rating": game["our_rating"]})
    found = []
    for key, some in points.items():
        ratings = [point["rating"] for point in some]
        month = NOW - timedelta(days=30)
        before = [point["rating"] for point in some if at(point["at"]) < month]
        found.append(
            {
                **dict(zip(("site", "account", "game", "speed"), key, strict=True)),
                "points": some,
                "now": ratings[-1],
                "change_30_days": ratings[-1] - before[-1] if before else None,
                "lowest": min(ratings),
                "highest": max(ratings),
            }
        )
    return sorted(found, key=lambda each: (-len(each["points"]), each["site"], each["account"], each["game"]))


def _curve_line(curve: Row) -> str:
    change = signed(curve["change_30_days"], 0)
    cells = (curve_name(curve), curve["now"], change, curve["lowest"], curve["highest"])
    return " | ".join(map(str, (*cells, len(curve["points"]), ago(curve["points"][-1]["at"], NOW))))


def _curve_table(curve: Row) -> list[str]:
    rows = [
        f"{of_day(point['at'], '%d').lstrip('0')} {of_day(point['at'], '%b %Y, %H:%M')} | {point['rating']}"
        for point in curve["points"]
    ]
    title = [curve_name(curve)] if any(each.isdigit() for each in curve_name(curve)) else []
    # Its heading, the drawing's title, the table's caption.
    return [*title, *title, *title, *rows]


@pytest.mark.parametrize(
    "query", [*FEW[:2], {"site": "lichess", "account": "iago2"}, {"opponents": "programs"}]
)
async def test_ratings(visitor: Visitor, exported: Exported, query: Query) -> None:
    found = _curves(exported, query)
    assert found
    told = (await visitor.json(f"/dash/api/ratings?{urlencode(query)}"))["curves"]
    for curve in told:
        for point in curve["points"]:
            point["at"] = point["at"].replace("T", " ")[:19]
    assert told == found
    html = await visitor.text(f"/dash/ratings?{urlencode(query)}")
    assert "At the start of the latest game" in html
    head = "Games | Rating | 30 days | Lowest | Highest | Rated games | Last"
    tables = [line for curve in found[:12] for line in _curve_table(curve)]
    assert printed.numbers(html) == [head, *map(_curve_line, found), *tables]
    check_drawings(html)


# --- Events ------------------------------------------------------------------------------------------------

KINDS = {
    "challenge_declined": "challenge declined",
    "account_link_lost": "account's connection lost",
    "alarm": "alarm changed state",
}


def _reason(event: Row) -> str:
    detail = json.loads(event["detail"])
    return str(detail.get("reason") or detail.get("error") or "")


def _counts(events: list[Row]) -> list[Row]:
    alike: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for event in events:
        alike[event["kind"], event["site"], _reason(event)].append(event["at"])
    return [
        {"kind": kind, "site": site, "reason": reason, "count": len(times), "last_at": max(times)}
        for (kind, site, reason), times in alike.items()
    ]


def _times(data: Exported, days: int, site: str) -> list[Row]:
    since = NOW - timedelta(days=min(days, 7))
    found = []
    for each in sorted({game["site"] for game in data.games}):
        if each != site and (site or each == "match"):
            continue
        games = {g["game_id"] for g in data.games if g["site"] == each and at(g["started_at"]) >= since}
        moves = [row for row in data.decisions if row["game_id"] in games and row["send_s"] is not None]
        sent = [row["send_s"] for row in moves]
        seen = [row["confirm_s"] for row in moves if row["confirm_s"] is not None]
        if sent:
            middle, most = Decimal("0.5"), Decimal("0.95")
            found.append(
                {
                    "site": each,
                    "moves": len(sent),
                    "send_median_s": quantile(sent, middle),
                    "send_p95_s": quantile(sent, most),
                    "confirmed": len(seen),
                    "confirm_median_s": quantile(seen, middle) if seen else None,
                    "confirm_p95_s": quantile(seen, most) if seen else None,
                }
            )
    return found


def _ms(value: float | None) -> str:
    return DASH if value is None else f"{rounded(1000 * value, 0):,} ms"


def _times_line(row: Row) -> str:
    shown_after = (_ms(row["confirm_median_s"]), _ms(row["confirm_p95_s"]))
    sent_after = (_ms(row["send_median_s"]), _ms(row["send_p95_s"]))
    return " | ".join((row["site"], f"{row['moves']:,}", *sent_after, f"{row['confirmed']:,}", *shown_after))


def _endings(data: Exported, days: int, site: str) -> list[Row]:
    since = NOW - timedelta(days=days)
    alike: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for game in data.games:
        is_of_site = game["site"] == site if site else game["site"] != "match"
        if is_of_site and game["state"] != "open" and at(game["started_at"]) >= since:
            result = "aborted" if game["state"] == "aborted" else game["result"] or "unknown"
            alike[game["site"], result, game["end_reason"] or ""].append(game["started_at"])
    found = [
        {"site": key[0], "result": key[1], "reason": key[2], "count": len(starts), "last_at": max(starts)}
        for key, starts in alike.items()
    ]
    return sorted(found, key=lambda row: (-row["count"], row["site"], row["result"], row["reason"]))


def _endings_line(row: Row) -> str:
    when = ago(row["last_at"], NOW)
    return " ".join(f"{row['result']} | {row['reason']} | {row['site']} | {row['count']:,} | {when}".split())


def _thinking(data: Exported, days: int, site: str) -> list[Row]:
    since = NOW - timedelta(days=min(days, 7))
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for move in data.decisions:
        game = data.game[move["game_id"]]
        is_of_site = game["site"] == site if site else game["site"] != "match"
        if is_of_site and at(game["started_at"]) >= since:
            times[game["site"], game["game"]].append(move["time_s"])
    return [
        {
            "site": key[0],
            "game": key[1],
            "moves": len(taken),
            "median_s": quantile(taken, Decimal("0.5")),
            "p95_s": quantile(taken, Decimal("0.95")),
            "longest_s": max(taken),
        }
        for key, taken in sorted(times.items())
    ]


_THINKING_HEAD = "Game | Site | Moves | Median | 95th percentile | longest"
_TIMES_HEAD = (
    "Site | Moves sent | Accepted after | 95th percentile | Moves shown | Shown after | 95th percentile"
)


def _thinking_line(row: Row) -> str:
    times = (_ms(row["median_s"]), _ms(row["p95_s"]), _ms(row["longest_s"]))
    return " | ".join((TITLES[row["game"]], row["site"], f"{row['moves']:,}", *times))


def _event_line(data: Exported, event: Row) -> str:
    detail = json.loads(event["detail"])
    told = ", ".join(f"{name}: {value}" for name, value in detail.items() if value not in (None, ""))
    game = "" if event["game_id"] is None else data.game[event["game_id"]]["opponent"]
    when = of_day(event["at"], "%Y-%m-%d %H:%M:%S")
    cells = [when, KINDS[event["kind"]], f"{event['account']} at {event['site']}", game, told]
    while not cells[-1]:
        cells.pop()
    return " ".join(" | ".join(cells).split())


@pytest.mark.parametrize(
    ("days", "kind", "site", "number"),
    [(30, "", "", 1), (90, "", "", 2), (7, "challenge_declined", "arena", 1), (1, "alarm", "lichess", 1)],
)
async def test_events(
    visitor: Visitor, exported: Exported, days: int, kind: str, site: str, number: int
) -> None:
    since = NOW - timedelta(days=days)
    events = [
        event
        for event in exported.events
        if at(event["at"]) >= since and kind in ("", event["kind"]) and site in ("", event["site"])
    ]
    events.sort(key=lambda event: (event["at"], event["event_id"]), reverse=True)
    latest = events[50 * (number - 1) : 50 * number]
    query = urlencode({"days": days, "kind": kind, "site": site, "number": number})
    told = await visitor.json(f"/dash/api/events?{query}")
    for row in (*told["counts"], *told["endings"]):
        row["last_at"] = row["last_at"].replace("T", " ")[:19]
    found = _counts(events)
    assert sorted(told["counts"], key=str) == sorted(found, key=str)
    assert [row["count"] for row in told["counts"]] == sorted((row["count"] for row in found), reverse=True)
    assert [row["id"] for row in told["latest"]] == [row["event_id"] for row in latest]
    times = _times(exported, days, site)
    assert told["times"] == [pytest.approx(row) for row in times]
    endings, thinking = _endings(exported, days, site), _thinking(exported, days, site)
    assert told["endings"] == endings
    assert told["thinking"] == [pytest.approx(row) for row in thinking]
    html = await visitor.text(f"/dash/events?{query}")
    span = "games of the last 1 day" if days == 1 else f"games of the last {min(days, 7)} days"
    lines = [
        f"{KINDS[row['kind']]} | {row['site']} | {row['reason']} | {row['count']:,} | "
        f"{ago(row['last_at'], NOW)}"
        for row in told["counts"]
    ]
    alarms = [
        line
        for alarm in told["alarms"]
        for line in (f"firing {alarm['name']} just now", f"{alarm['headline']} {alarm['text']}")
        if any(each.isdigit() for each in line)
    ]
    assert printed.numbers(html) == [
        "Last 1 day 7 days 30 days 90 days 365 days",
        *alarms,
        *(" ".join(line.split()) for line in lines),
        *map(_endings_line, endings),
        span,
        *([_THINKING_HEAD] if thinking else []),
        *map(_thinking_line, thinking),
        span,
        *([_TIMES_HEAD] if times else []),
        *map(_times_line, times),
        *(_event_line(exported, event) for event in latest),
    ]
