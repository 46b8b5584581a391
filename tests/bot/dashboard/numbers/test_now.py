"""Every number of the first page is that of a recomputation from exports, or of the program's status."""

import json
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from bot.control.status_text import status_lines
from tests.bot.dashboard.desk_samples import FakeActions
from tests.bot.dashboard.numbers import printed
from tests.bot.dashboard.numbers.drawings import check_drawings
from tests.bot.dashboard.numbers.exported import Exported, Row
from tests.bot.dashboard.numbers.nearly import nearly
from tests.bot.dashboard.numbers.recount import (
    DASH,
    TITLES,
    at,
    counted,
    counts,
    of_day,
    percent,
    quantile,
    rounded,
)
from tests.bot.dashboard.numbers.sample_database import NOW
from tests.bot.views.conftest import Visitor

DAYS = 14


def _days(data: Exported) -> list[Row]:
    found = []
    for back in range(DAYS - 1, -1, -1):
        day = f"{NOW - timedelta(days=back):%Y-%m-%d}"
        games = [game for game in counted(data, {}) if game["day"] == day]
        points = [game["points"] for game in games if game["points"] is not None]
        baits = counts(data, games)
        found.append(
            {
                "day": day,
                "games": len(games),
                "decided": len(points),
                "points": float(sum(points)),
                "baits_set": baits.baits_set,
                "baits_taken": baits.baits_taken,
            }
        )
    return found


def _baits(data: Exported) -> list[Row]:
    games = {game["game_id"]: game for game in counted(data, {})}
    met = [
        (bait, data.outcome[bait["decision_id"]])
        for key in games
        for bait in data.baits_of[key]
        if bait["is_taken"] is not None and data.outcome[bait["decision_id"]]["is_current"]
    ]
    met.sort(key=lambda each: -each[0]["decision_id"])
    same = ("game_id", "game", "site", "opponent", "ply", "reply")
    return [
        {
            **{name: bait[name] for name in same},
            "opponent_site_id": data.game[bait["game_id"]]["opponent_site_id"],
            "at": outcome["at"],
            "is_taken": bool(bait["is_taken"]),
            "cost": outcome["cost"],
            "is_best": outcome["cost"] is not None and outcome["cost"] < 0.05,
        }
        for bait, outcome in met[:8]
    ]


def _times(data: Exported) -> list[Row]:
    by_hour: dict[str, list[float]] = defaultdict(list)
    for row in data.decisions:
        if data.game[row["game_id"]]["site"] != "match" and at(row["at"]) >= NOW - timedelta(days=1):
            by_hour[row["at"][:13]].append(row["time_s"])
    return [
        {
            "hour": f"{hour}:00:00+00:00",
            "moves": len(times),
            "median_s": quantile(times, Decimal("0.5")),
            "p95_s": quantile(times, Decimal("0.95")),
            "longest_s": max(times),
        }
        for hour, times in sorted(by_hour.items())
    ]


def _declined(data: Exported) -> list[Row]:
    return [
        {**row, **json.loads(row["detail"])}
        for row in data.events
        if row["kind"] == "challenge_declined" and row["at"] >= f"{NOW:%Y-%m-%d}"
    ]


def _tile(days: list[Row], values: list[float | None], words: str, *, is_share: bool = False) -> list[str]:
    def text(value: float) -> str:
        return percent(value) if is_share else f"{value:,.0f}"

    known = [value for value in values if value is not None]
    rows = [
        f"{datetime.fromisoformat(day['day']):%d %b}{'' if value is None else f' | {text(value)}'}"
        for day, value in zip(days, values, strict=True)
    ]
    title = f"{words.capitalize()}, last {DAYS} days"
    least, most, last = map(text, (min(known), max(known), known[-1]))
    today = values[-1]
    assert today is not None
    shown = percent(today) if is_share else f"{today:,.0f}"
    return [title, f"Lowest {least}, highest {most}, last {last}.", f"{shown}{words}", title, *rows]


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _live(status: Row) -> list[str]:
    """The lines of the running program."""
    up = datetime.fromisoformat(status["at"]) - datetime.fromisoformat(status["started_at"])
    names = [each["site"] for each in status["accounts"]]
    lines = [
        f"✓ok: {each['name']} {each['link']['lag_ms']} ms"
        for each in status["accounts"]
        if each["link"]["lag_ms"]
    ]
    load = status["workers"]
    lines += [
        f"✓ok: database {status['database']['answer_ms']:.0f} ms",
        f"✓ok: workers {load['busy']} of {load['threads']} busy",
        f"✓ok: arena server {status['arena']['games']} games",
    ]
    lines += [
        f"!wrong: {alarm['name'].replace('_', ' ')} {alarm['text']}"
        for alarm in status["alarms"]
        if any(each.isdigit() for each in alarm["text"])
    ]
    lines += [
        f"Playing at {', '.join(names[:-1])} and {names[-1]}; up for {up.days} d {up.seconds // 3600} h."
    ]
    for game in status["games"]:
        rating = "unrated" if game["opponent_rating"] is None else game["opponent_rating"]
        lines.append(
            f"{game['opponent']} {rating} Their clock: {_clock(game['their_clock_s'])}{game['strategy']}"
        )
        if game["bait"]:
            bait = game["bait"]
            probability, cost = percent(bait["probability"]), percent(bait["cost"])
            lines.append(f"{bait['reply']} is the bait: {probability} likely, costs {cost} of the game.")
        where = f"{TITLES[game['game']]} · {game['account']}"
        lines.append(f"{where}Our clock: {_clock(game['our_clock_s'])}")
    return lines


def _bait_line(bait: Row) -> str:
    is_slip = not bait["is_taken"] and (bait["cost"] or 0) >= 0.1
    left = "left the bait, but slipped" if is_slip else "left the bait"
    how = "took the bait" if bait["is_taken"] else "saw through it" if bait["is_best"] else left
    end = f"\N{MINUS SIGN}{percent(bait['cost'])}" if bait["is_taken"] or is_slip else "held"
    if bait["cost"] is None:
        how, end = f"{how} / not judged yet", DASH
    when, who = of_day(bait["at"], "%d %b, %H:%M"), " ".join(bait["opponent"].split())
    return f"{who} / {when}, {TITLES[bait['game']]} | {how} | {end}"


async def test_now(visitor: Visitor, exported: Exported) -> None:
    days, baits, times = _days(exported), _baits(exported), _times(exported)
    told = await visitor.json("/dash/api/now")
    for bait in told["baits"]:
        bait["at"] = bait["at"].replace("T", " ")[:19]
    for row in told["times"]:
        row["hour"] = row["hour"].replace("T", " ")
    assert told["days"] == nearly(days)
    assert told["baits"] == nearly(baits)
    assert told["times"] == nearly(times)
    declined = _declined(exported)
    sites = Counter((row["site"], row.get("reason") or row.get("error") or "") for row in declined)
    assert {(row["site"], row["reason"]): row["count"] for row in told["declined"]} == sites

    reasons = Counter(row.get("reason") or row.get("error") or "no reason" for row in declined)
    status, html = told["status"], await visitor.text("/dash")
    lines = printed.numbers(html)
    (said,) = [line for line in lines if line.startswith("Declined today: ")]
    assert said.startswith(f"Declined today: {len(declined)} (")
    inside = said.partition("(")[2].removesuffix(").")
    assert sorted(inside.split("; ")) == sorted(f"{reason}: {count}" for reason, count in reasons.items())
    score = [day["points"] / day["decided"] if day["decided"] else None for day in days]
    hours = [
        f"{datetime.fromisoformat(row['hour']):%d %b %Y, %H:%M} | {rounded(row['median_s'], 2)} s | 0.00 to "
        f"{rounded(row['p95_s'], 2)}".lstrip("0")
        for row in times
    ]
    waiting = [
        f"{each['challenger']} | {each['variant']} at {each['account']} | {each['waited_s']:.0f} s"
        for each in status["queue"]
    ]
    chart, moves = "Time to move, last 24 hours", sum(row["moves"] for row in times)
    assert lines == [
        *_live(status),
        *_tile(days, [day["games"] for day in days], "games today"),
        *_tile(days, score, "of the points", is_share=True),
        *_tile(days, [day["baits_set"] for day in days], "baits set"),
        *_tile(days, [day["baits_taken"] for day in days], "baits taken"),
        *[chart, f"{moves} moves", chart, chart],
        *hours,
        *map(_bait_line, baits),
        *waiting,
        said,
        *["for 15 minutes", "for 8 hours"],
        "Which trap works best against people rated 1500 to 1700?",
    ]
    check_drawings(html)


async def test_the_status_says_the_same(visitor: Visitor, actions: FakeActions) -> None:
    """`desdemona status` and the page: the same numbers of the same program."""
    lines = "\n".join(status_lines(await actions.status()))
    told = (await visitor.json("/dash/api/now"))["status"]
    assert f"games: {len(told['games'])}" in lines
    assert f"waiting challenges: {len(told['queue'])}" in lines
    assert f"up {(NOW - datetime.fromisoformat(told['started_at'])).days} d 5 h" in lines
    assert f"answers in {told['database']['answer_ms']:g} ms" in lines
    for each in told["accounts"]:
        assert (
            f"{each['name']}: playing as {each['login']} at {each['site']}; games: {each['games']}" in lines
        )
        assert f"lag {each['link']['lag_ms']} ms" in lines or not each["link"]["lag_ms"]
    for game in told["games"]:
        clocks = f"{_clock(game['our_clock_s'])} : {_clock(game['their_clock_s'])}"
        assert f"{game['opponent']} ({game['opponent_rating'] or 'unrated'})" in lines
        assert clocks in lines


@pytest.mark.parametrize("days", [1, 30])
async def test_alarms_of_the_events_page(visitor: Visitor, actions: FakeActions, days: int) -> None:
    told = (await visitor.json(f"/dash/api/events?days={days}"))["alarms"]
    assert [each["name"] for each in told] == [alarm.name for alarm in actions.alarms]
    page = printed.lines(await visitor.text(f"/dash/events?days={days}"))
    for alarm in told:
        assert f"firing {alarm['name']} just now" in page
        assert f"{alarm['headline']} {alarm['text']}" in page
