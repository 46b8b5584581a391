"""Every number of Results, and of the report on a month, is that of a recomputation from exports."""

from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.bot.dashboard.numbers import printed
from tests.bot.dashboard.numbers.conftest import Stopped, World
from tests.bot.dashboard.numbers.drawings import check_drawings
from tests.bot.dashboard.numbers.exported import Exported, Row, run_command
from tests.bot.dashboard.numbers.groups import group_lines, groups
from tests.bot.dashboard.numbers.moments import Moment
from tests.bot.dashboard.numbers.nearly import nearly
from tests.bot.dashboard.numbers.recount import (
    TITLES,
    Query,
    at,
    counted,
    curve_name,
    of_day,
    passes,
    percent,
    rating_list,
    rounded,
    signed,
)
from tests.bot.dashboard.numbers.sample_database import NOW, TRIAL, TRIAL_START
from tests.bot.views.conftest import Visitor

# --- Results -----------------------------------------------------------------------------------------------


def _score(group: Row) -> float | None:
    decided = group["wins"] + group["draws"] + group["losses"]
    return (group["wins"] + group["draws"] / 2) / decided if decided else None


def _result_line(group: Row) -> str:
    names = [TITLES[text] if name == "game" else text for name, text in group["group"].items()]
    cells = (
        f"{group['games']:,}",
        f"{group['wins']} · {group['draws']} · {group['losses']}",
        percent(_score(group)),
        percent(group["errors"]["happened"], 1),
        f"{group['baits']['n']:,}",
        percent(group["baits"]["happened"]),
    )
    return " | ".join((*names, *cells))


@pytest.mark.parametrize(
    ("by", "columns", "query"),
    [
        ("week,game,rating-band", ("week", "game", "site", "rating-band"), {}),
        ("game,opponent-kind", ("game", "opponent-kind"), {"rated": "rated", "strategy": "trappy"}),
        ("speed,month", ("speed", "month", "game"), {"site": "lichess", "min-rating": "1400"}),
    ],
)
async def test_results(
    visitor: Visitor, exported: Exported, by: str, columns: tuple[str, ...], query: Query
) -> None:
    found = groups(exported, query, columns)
    assert len(found) > 5
    for time in {"week", "month"}.intersection(columns):
        found.sort(key=lambda group: group["group"][time], reverse=True)
    address = urlencode({**query, "by": by})
    told = await visitor.json(f"/dash/api/results?{address}")
    assert told["groups"] == nearly([{**group, "score": _score(group)} for group in found])
    html = await visitor.text(f"/dash/results?{address}")
    note = (
        "Weeks begin on Monday (UTC) and are named after that day. Score: our share of the points. Errors "
        "and baits: in positions that were not decided, the first 50 games of each opponent (all, in "
        "matches)."
    )
    assert printed.numbers(html) == [*map(_result_line, found), note]


# --- The report on a month ---------------------------------------------------------------------------------

MONTH: Query = {"since": "2026-11-01T00:00:00+00:00", "until": "2026-12-01T00:00:00+00:00"}


def _share(value: float | None) -> str:
    return "\N{EN DASH}" if value is None else f"{rounded(100 * value, 1)} %"


def _by_day(games: list[Row]) -> list[str]:
    """The tables of games and of the score."""
    counts, scores = [], []
    so_far: list[float] = []
    for day in range(1, NOW.day + 1):
        begun = [game for game in games if game["day"] == f"2026-11-{day:02}"]
        points = [game["points"] for game in begun if game["points"] is not None]
        so_far += points
        counts.append(f"{day} Nov 2026 | {len(begun)}")
        each = [f"{rounded(100 * sum(some) / len(some), 0)} %" for some in (so_far, points) if some]
        scores.append(" | ".join((f"{day} Nov 2026", *each)))
    return [*counts, *scores]


def _label(group: Row) -> str:
    return f"{TITLES[group['group']['game']]}, {group['group']['strategy']}"


def _performance_line(group: Row) -> str:
    found = group["performance"]
    ends = [found[name] for name in ("rating", "low", "high")]
    told = "|"
    if None not in ends:
        rating, low, high = (rounded(each, 0) for each in ends)
        told = f"{rating} | {low} to {high}"
    return f"{_label(group)} | {told} | {found['games']}"


def _difference_line(group: Row, name: str) -> str:
    found = group[name]["beyond_model"]
    told = "|"
    if found["low"] is not None:
        mean, low, high = (signed(100 * found[each]) for each in ("mean", "low", "high"))
        told = f"{mean} | {low} to {high}"
    return f"{_label(group)} | {told} | {group[name]['n']}"


def _outcome_line(group: Row) -> str:
    counts = [group[f"traps_{name}"] for name in ("optimal", "fell", "erred_elsewhere")]
    total = sum(counts)
    parts = [f"{each} ({rounded(100 * each / total, 0)} %)" if total else "0" for each in counts]
    return " | ".join((_label(group), *parts, str(total)))


def _curves(games: list[Row]) -> list[str]:
    found: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for game in sorted(games, key=lambda game: (game["started_at"], game["game_id"])):
        if game["rated"] and game["our_rating"] is not None:
            key = (*(game[name] for name in ("site", "account", "game")), rating_list(game))
            found[key].append(game)
    lines = []
    for key, some in sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))[:6]:
        name = curve_name(dict(zip(("site", "account", "game", "speed"), key, strict=True)))
        starts = [each["started_at"] for each in some]
        days = [f"{at(start).day} {of_day(start, '%b %Y, %H:%M')}" for start in starts]
        points = [f"{day} | {each['our_rating']}" for day, each in zip(days, some, strict=True)]
        lines += [f"Rating: {name}", name, name, *points]
    return [line for line in lines if any(each.isdigit() for each in line)]


def _dearest(data: Exported, games: list[Row]) -> list[str]:
    taken = [
        (bait, data.outcome[bait["decision_id"]])
        for game in games
        for bait in data.baits_of[game["game_id"]]
        if bait["is_taken"]
        and data.outcome[bait["decision_id"]]["is_current"]
        and data.outcome[bait["decision_id"]]["cost"] is not None
    ]
    taken.sort(key=lambda each: (-each[1]["cost"], each[0]["decision_id"]))
    lines = []
    for bait, outcome in taken[:8]:
        moment, game = Moment(data, bait["decision_id"]), data.game[bait["game_id"]]
        ours, theirs = moment.name(moment.record["move"]), moment.reply_name(bait["reply"])
        cost, probability = (rounded(100 * outcome[name], 0) for name in ("cost", "probability"))
        lines += [
            game["opponent"],
            f"{ours}, then {theirs}: cost {cost} % of the game, expected of {probability} % of people",
            f"{game['site']} {game['site_game_id']}, {of_day(bait['at'], '%Y-%m-%d')}",
        ]
    return [" ".join(line.split()) for line in lines if any(each.isdigit() for each in line)]


def _events(data: Exported, site: str | None) -> list[str]:
    month = [event for event in data.events if event["at"].startswith("2026-11")]
    counts = Counter(event["kind"] for event in month if site in (None, event["site"]))
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return [f"{kind.replace('_', ' ')} | {count:,}" for kind, count in ordered]


_SELECTED = "Only opponents people, site lichess."


@pytest.mark.parametrize(
    ("options", "query", "selected"),
    [
        ((), {}, "All games."),
        (("--site", "lichess", "--people"), {"site": "lichess", "opponents": "people"}, _SELECTED),
    ],
)
def test_month(
    world: World,
    exported: Exported,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    query: Query,
    selected: str,
) -> None:
    monkeypatch.setattr("bot.cli.monthly.month_command.datetime", Stopped)
    run_command(world.url, tmp_path, "page", "month", "--month", "2026-11", *options, "--out", "month.html")
    html = (tmp_path / "month.html").read_text("utf-8")
    chosen = {**MONTH, **query}
    games, found = counted(exported, chosen), groups(exported, chosen, ("strategy", "game"))
    points = [game["points"] for game in games if game["points"] is not None]
    of_trial = [game for game in exported.games if game["trial"] == TRIAL]
    arms = Counter(game["strategy"] for game in of_trial if passes(game, chosen))
    share = _share(sum(points) / len(points))
    said = printed.numbers(html)
    (verdict,) = (line for line in said if line.startswith(f"{TRIAL}: "))
    assert "points per 100 games" in verdict  # its numbers: test_works.py
    assert [line for line in said if line != verdict] == [
        "Desdemona: November 2026",
        f"{len(games)} games, score {sum(points):g} of {len(points)} ({share}). {selected}",
        f"Made {NOW:%Y-%m-%d %H:%M} UTC; days and months are in UTC.",
        *_by_day(games),
        *group_lines(exported, found, games),
        "strategy | performance | 95 % | games",
        *map(_performance_line, found),
        "strategy | difference | 95 %, valid at any time | baits",
        *(_difference_line(group, "baits") for group in found),
        *map(_outcome_line, found),
        "strategy | difference | 95 %, valid at any time | replies",
        *(_difference_line(group, "errors") for group in found),
        *_curves(games),
        f"{TRIAL} | {TRIAL_START:%Y-%m-%d} | open | score | standard {arms['standard']}, "
        f"trappy {arms['trappy']} | {len(of_trial)}",
        *_dearest(exported, games),
        *_events(exported, query.get("site")),
    ]
    check_drawings(html)
