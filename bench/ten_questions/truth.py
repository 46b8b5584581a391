"""Recomputes the answers to the ten questions from `desdemona export`; compares them with command and page.

    python -m bench.ten_questions.truth FOLDER [--month 2026-11]

FOLDER has the database that `bench.ten_questions.soak` made.  For each question the command's output (as
JSON) is compared with the JSON of the page that the dashboard serves, and both with a few lines of arithmetic
on the exported rows, which share no code with either.  Prints a line for each comparison; exits with 1 if one
fails.  Seconds are of the whole command, its start included.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp

from bot.base.config import DashboardConfig
from bot.dashboard.menu import pages
from bot.dashboard.questions import Question, questions
from bot.dashboard.server import Dashboard
from storage.database import Database

Row = Mapping[str, Any]
Exports = Mapping[str, list[Row]]
DESDEMONA = str(Path(sys.executable).with_name("desdemona"))
CAP = 50
"""Games of each person that count in a trial."""


def run(folder: Path, *arguments: str) -> tuple[str, float]:
    """A command's output, and its seconds."""
    began = time.monotonic()
    done = subprocess.run([DESDEMONA, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout, time.monotonic() - began


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def works(told: Any, rows: Exports, since: datetime) -> str:
    """How many games count, by player; and a plain difference of means, which must lie in the interval."""
    counted: list[Row] = []
    seen: Counter[int] = Counter()
    for game in sorted(rows["games"], key=lambda row: (row["started_at"], row["game_id"])):
        # The cap holds among the games that the filters select.
        if moment(game["started_at"]) >= since:
            seen[game["opponent_id"]] += 1
            if seen[game["opponent_id"]] <= CAP:
                counted.append(game)
    found = told["trial"]["games"]
    by = {arm: [row["points"] for row in counted if row["player"] == arm] for arm in ("trappy", "standard")}
    assert found["counted"] == len(counted), (found["counted"], len(counted))
    assert (found["drawn_treated"], found["drawn_untreated"]) == tuple(map(len, by.values()))
    estimate = found["score"]["estimate"]
    plain = sum(by["trappy"]) / len(by["trappy"]) - sum(by["standard"]) / len(by["standard"])
    if estimate["low"] is not None:
        assert estimate["low"] < plain < estimate["high"]
    return f"{len(counted)} games count; plain difference {100 * plain:+.1f} points a hundred games"


def traps(told: Any, rows: Exports, _since: datetime) -> str:
    def is_met(row: Row) -> bool:
        rating = row["opponent_rating"]
        return rating is not None and 1500 <= rating <= 1700 and row["is_taken"] is not None

    met = [row for row in rows["baits"] if is_met(row)]
    taken = sum(row["is_taken"] for row in met)
    assert (told["all"]["met"], told["all"]["taken"]) == (len(met), taken)
    first = told["baits"][0]
    return f"{taken} of {len(met)} taken; first in the list: {first['taken']} of {first['met']}"


def opponents(told: Any, rows: Exports, _since: datetime) -> str:
    days: dict[str, set[str]] = defaultdict(set)
    baits: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for game in rows["games"]:
        days[game["opponent"]].add(game["day"])
        baits[game["opponent"]][0] += game["baits_set"]
        baits[game["opponent"]][1] += game["baits_taken"]
    assert told["returned"] == sum(len(each) > 1 for each in days.values())
    for line in told["opponents"]:
        assert [line["baits_set"], line["baits_taken"]] == baits[line["name"]], line
        assert line["days"] == len(days[line["name"]]), line
    shares = [met_taken[1] / met_taken[0] for met_taken in baits.values() if met_taken[0] >= 5]
    first = told["opponents"][0]
    assert first["baits_taken"] / first["baits_set"] == max(shares)
    return f"{told['returned']} of {told['count']} returned; first {first['name']}, {max(shares):.0%}"


def results(told: Any, rows: Exports, _since: datetime) -> str:
    found: Counter[tuple[str, ...]] = Counter()
    for game in rows["games"]:
        day = date.fromisoformat(game["day"])
        band = game["rating_band"].replace("-", " to ")
        found[str(day - timedelta(days=day.weekday())), game["game"], band, game["result"]] += 1
    for each in told["groups"]:
        group = each["group"]
        key = group["week"], group["game"], group["rating-band"]
        assert [each[name] for name in ("wins", "draws", "losses")] == [
            found[*key, result] for result in ("win", "draw", "loss")
        ], key
    assert sum(each["games"] for each in told["groups"]) == len(rows["games"])
    return f"{len(told['groups'])} groups, {len(rows['games'])} games"


def events(told: Any, rows: Exports, _since: datetime) -> str:
    now = datetime.now(UTC)
    recent = [row for row in rows["games"] if now - moment(row["started_at"]) < timedelta(days=30)]
    ends = Counter((row["result"], row["end_reason"]) for row in recent)
    assert {(each["result"], each["reason"]): each["count"] for each in told["endings"]} == ends
    last = [row for row in recent if now - moment(row["started_at"]) < timedelta(days=7)]
    week = {row["game_id"]: row["game"] for row in last}
    times: dict[str, list[float]] = defaultdict(list)
    sent: list[float] = []
    for row in rows["decisions"]:
        if row["game_id"] in week:
            times[week[row["game_id"]]].append(row["time_s"])
            if row["send_s"] is not None:
                sent.append(row["send_s"])
    for each in told["thinking"]:
        ordered = sorted(times[each["game"]])
        p95 = ordered[-(-95 * len(ordered) // 100) - 1]
        assert (each["moves"], each["p95_s"]) == (len(ordered), p95), each["game"]
    (site,) = told["times"]
    sent.sort()
    middle = sent[-(-len(sent) // 2) - 1]
    assert site["moves"] == len(sent)
    assert abs(site["send_median_s"] - middle) < 0.001, (site, middle)
    declined = sum(each["count"] for each in told["counts"] if each["kind"] == "challenge_declined")
    return f"{ends['win', 'time']} won on time, {declined} declines, {len(sent)} moves sent in 7 days"


def ratings(told: Any, rows: Exports, _since: datetime) -> str:
    curves: dict[tuple[str, str], list[int]] = defaultdict(list)
    for game in sorted(rows["games"], key=lambda row: row["game_id"]):
        if game["rated"]:
            curves[game["game"], game["speed"]].append(game["our_rating"])
    found = {
        (each["game"], each["speed"]): [point["rating"] for point in each["points"]]
        for each in told["curves"]
    }
    assert {key: sorted(curve) for key, curve in found.items()} == {
        key: sorted(curve) for key, curve in curves.items()
    }
    return f"{len(curves)} curves, {sum(map(len, curves.values()))} rated games"


CHECKS: Mapping[str, Callable[[Any, Exports, datetime], str]] = {
    "works": works,
    "traps": traps,
    "opponents": opponents,
    "results": results,
    "events": events,
    "ratings": ratings,
}


async def served(url: str, asked: tuple[Question, ...]) -> dict[str, tuple[Any, float]]:
    """The JSON of each question's page, and the seconds that the page takes as HTML."""
    database = await Database.open(url, upgrade=False)
    found = {}
    config = DashboardConfig(port=0)
    try:
        async with (
            Dashboard(config, database, pages()).running() as address,
            aiohttp.ClientSession(address.removesuffix("/dash")) as http,
        ):
            for question in asked:
                link = question.link.partition("#")[0]
                began = time.monotonic()
                async with http.get(link) as answer:
                    assert answer.status == 200, await answer.text()
                    await answer.read()
                seconds = time.monotonic() - began
                path = link.replace("/dash/", "/dash/api/", 1) if link != "/dash" else "/dash/api/now"
                async with http.get(path) as answer:
                    found[question.text] = json.loads(await answer.text()), seconds
    finally:
        await database.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--month", help="this month by default")
    options = parser.parse_args()
    at = datetime.now().astimezone()
    asked = questions(datetime.strptime(options.month, "%Y-%m").astimezone() if options.month else at)
    exports = {
        what: [
            json.loads(line)
            for line in run(options.folder, "export", "--format", "jsonl", "--what", what)[0].splitlines()
        ]
        for what in ("games", "decisions", "baits")
    }
    page_of = asyncio.run(served(f"sqlite:///{options.folder.resolve()}/data/desdemona.db", asked))
    is_wrong = False
    for number, question in enumerate(asked, 1):
        page, page_s = page_of[question.text]
        if question.command == "status":
            print(f"{number:2}. {question.text} page {page_s:.2f} s; of a running program only")
            continue
        text, command_s = run(options.folder, *question.command.split(), "--format", "json")
        name = question.command.split()[1]
        since = datetime.fromisoformat(question.link.partition("since=")[2] or "2000-01-01").astimezone()
        try:
            said = CHECKS[name](json.loads(text), exports, since)
            assert json.loads(text) == page, "command and page differ"
        except AssertionError as error:
            is_wrong, said = True, f"WRONG: {error}"
        print(f"{number:2}. {question.text} command {command_s:.2f} s, page {page_s:.2f} s: {said}")
    sys.exit(is_wrong)


if __name__ == "__main__":
    main()
