"""Every number of "Does it work?" is recomputed from exports, and those of `stats` are the same."""

import json
import math
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlencode

import pytest

from bot import __main__ as program
from tests.bot.dashboard.numbers import printed
from tests.bot.dashboard.numbers.conftest import World
from tests.bot.dashboard.numbers.drawings import check_drawings
from tests.bot.dashboard.numbers.estimates import ALPHA, any_time, performance, tightness
from tests.bot.dashboard.numbers.exported import Exported, Row
from tests.bot.dashboard.numbers.nearly import nearly
from tests.bot.dashboard.numbers.recount import (
    DASH,
    TITLES,
    Query,
    counted,
    passes,
    percent,
    rounded,
    signed,
)
from tests.bot.dashboard.numbers.sample_database import NOW, OPT, TRIAL, TRIAL_START
from tests.bot.dashboard.numbers.trials import Trial, counting
from tests.bot.dashboard.pages.conftest import Visitor

QUERIES: tuple[Query, ...] = (
    {},
    {"opponents": "people", "since": "2026-10-10T00:00:00+00:00"},
    {"game": "chess"},
    {"site": "lichess", "rated": "rated", "min-rating": "1400"},
)
REPLIES, TRAPS = 20_000, 4_000
"""Where the intervals of groups are tightest (docs/statistics.md)."""

# --- Groups ------------------------------------------------------------------------------------------------


def _expected(rows: list[Row], happened: str, of: str, opt: int) -> Row:
    def value(row: Row) -> float:
        return float(row["kind"] == "fell") if happened == "fell" else float(row[happened])

    persons = [row["person"] for row in rows]
    found: Row = {"n": len(rows)}
    for name, columns in (("happened", None), ("chance", f"random_{of}"), ("model", f"expected_{of}")):
        values = [value(row) if columns is None else row[columns] for row in rows]
        found[name] = sum(values) / len(rows) if rows else None
    for name, column in (("beyond_chance", f"random_{of}"), ("beyond_model", f"expected_{of}")):
        found[name] = any_time([value(row) - row[column] for row in rows], persons, opt)
    return found


def _group(data: Exported, group: Row, games: list[Row]) -> Row:
    replies = [
        {**row, "person": game["opponent_id"]} for game in games for row in counting(data, game["game_id"])
    ]
    open_ = [row for row in replies if row["is_decided"] == 0]
    baits, traps = [row for row in open_ if row["has_bait"]], [row for row in open_ if row["is_trap"]]
    kinds = [row["kind"] for row in traps]
    rated = [(g["opponent_rating"], g["points"]) for g in games if g["opponent_rating"] is not None]
    return {
        "group": group,
        "games": len(games),
        "wins": sum(game["result"] == "win" for game in games),
        "draws": sum(game["result"] == "draw" for game in games),
        "losses": sum(game["result"] == "loss" for game in games),
        "unfinished": sum(game["state"] == "open" for game in games),
        "persons": len({game["opponent_id"] for game in games}),
        "performance": performance([each for each in rated if each[1] is not None]),
        "replies": len(open_),
        "optimal": sum(row["kind"] == "optimal" for row in open_),
        "decided": len(replies) - len(open_),
        "models": sorted({row["model"] for row in replies}),
        "errors": _expected(open_, "is_error", "error", REPLIES),
        "cost": _expected(open_, "cost", "cost", REPLIES),
        "baits_set": len(baits),
        "baits": _expected(baits, "is_bait_taken", "bait", TRAPS),
        "traps_set": len(traps),
        "traps_optimal": kinds.count("optimal"),
        "traps_fell": kinds.count("fell"),
        "traps_fell_for_best": sum(row["fell_for_best"] for row in traps),
        "traps_erred_elsewhere": kinds.count("erred_elsewhere"),
        "falls": _expected(traps, "fell", "fall", TRAPS),
    }


def groups(data: Exported, query: Query, by: tuple[str, str] = ("game", "player")) -> list[Row]:
    """The statistics of games by two columns."""
    found: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for game in counted(data, query):
        found[tuple(game[name] for name in by)].append(game)
    return [_group(data, dict(zip(by, key, strict=True)), some) for key, some in sorted(found.items())]


def _beyond(found: Row) -> str:
    if found["mean"] is None:
        return DASH
    if found["low"] is None:
        return "too early"
    mean, low, high = (signed(100 * found[name]) for name in ("mean", "low", "high"))
    return f"{mean} ({low} to {high})"


def _performance(found: Row) -> str:
    if not found["games"]:
        return DASH
    if found["low"] is None:
        return f"below {found['high']:.0f}"
    if found["high"] is None:
        return f"above {found['low']:.0f}"
    return f"{found['rating']:.0f} ({found['low']:.0f} to {found['high']:.0f})"


def _side_line(each: Row) -> str:
    errors, baits = each["errors"], each["baits"]
    return " | ".join(
        (
            f"{TITLES[each['group']['game']]}, {each['group']['player']}",
            f"{each['games']} / {each['persons']} opponent{'' if each['persons'] == 1 else 's'}",
            f"{each['wins']} · {each['draws']} · {each['losses']}",
            f"{_performance(each['performance'])} / {each['performance']['games']} against rated",
            f"{each['replies']:,}",
            *(percent(errors[name], 1) for name in ("happened", "chance")),
            f"{percent(errors['model'], 1)} / {_beyond(errors['beyond_model'])}",
            percent(each["cost"]["happened"], 1),
            f"{baits['n']}",
            percent(baits["happened"], 1),
            f"{percent(baits['model'], 1)} / {_beyond(baits['beyond_model'])}",
        )
    )


def _figure_9(each: Row) -> str:
    names = ("set", "optimal", "fell", "fell_for_best", "erred_elsewhere")
    label = f"{TITLES[each['group']['game']]}, {each['group']['player']}"
    return " | ".join((label, *(str(each[f"traps_{name}"]) for name in names)))


# --- The trial ---------------------------------------------------------------------------------------------


def _width(n: int) -> float:
    """Half the interval at so many games, for a deviation of 1."""
    r = 1 + n * tightness(ALPHA) / OPT
    return math.sqrt(2 * r / (n * (r - 1)) * math.log(math.sqrt(r) / ALPHA))


def _games_until(n: int, width: float) -> int:
    more = 0
    while _width(n + more) > width:
        more += 1
    return more


def _more(score: Row) -> int | None:
    """Games until the interval is a third narrower at the same deviation."""
    if score["low"] is None:
        return None
    return _games_until(score["n"], _width(score["n"]) * 2 / 3)


def _known(score: Row) -> int:
    """Games until it leaves 0, or lies within 3 points of it, at the same mean and deviation."""
    return _games_until(score["n"], max(abs(score["mean"]), 0.03 - abs(score["mean"])) / score["sd"])


def _headline(score: Row, why: str | None) -> list[str]:
    if why is not None:
        return [
            f"{score['n']} games with {score['persons']} people count so far ({why}). Before 100 games "
            "with 30 people no interval can be trusted, so none is shown."
        ]
    mean, low, high = (100 * score[name] for name in ("mean", "low", "high"))
    more = f" About {_more(score)} more games would make the interval a third narrower."
    if (known := _known(score)) > 0:
        more += f" If the difference stays what it is, about {known:,} more games decide."
    return [
        f"Trappy scores {rounded(abs(mean), 1)} points {'more' if mean >= 0 else 'less'} in a hundred games.",
        f"Between {signed(low)} and {signed(high)}, whenever one looks (95 %). {score['n']} games with "
        f"{score['persons']} people, players drawn by lot, ratings taken into account.{more}",
    ]


def _funnel(trial: Trial) -> list[str]:
    """The table of the difference after each game, from the first that may be read."""
    scored = [each for each in trial.rows if each.score is not None]
    _, psi = trial.score_values(scored)
    rows = []
    for n in range(100, len(psi) + 1):
        found = any_time(psi[:n], [each.person for each in scored[:n]], OPT)
        if found["low"] is not None:
            mean, low, high = (signed(100 * found[name]) for name in ("mean", "low", "high"))
            rows.append(f"{n} | {mean} | {low} to {high}")
        elif rows:
            rows.append(f"{n}")
    return rows


def _stratum(name: Row) -> str:
    least = name["rating_from"]
    band = "unrated" if least is None else f"{least} to {least + 199}"
    return f"{TITLES[name['game']]}, {name['site']}, {name['speed']}, {band}"


def _draw(games: Row, why: str | None) -> list[str]:
    elo = games["elo"]
    lines = [
        f"drawn trappy, standard | {games['drawn_treated']}, {games['drawn_untreated']}",
        f"with a result | {games['counted']}",
        f"still open, or after one that is | {games['waiting']}",
        "beyond a person's first games | 0",
        *(f"left out: {reason} | {count}" for reason, count in games["excluded"].items()),
    ]
    if why is None:
        told = [signed(elo[name], 0) for name in ("value", "low", "high")]
        lines.append(f"as a difference in Elo | {told[0]} ({told[1]} to {told[2]})")
    return lines


def _verdict(games: Row) -> str:
    guard, score = games["guard"], games["score"]["estimate"]
    fewest = min(
        games["drawn_treated"] - guard["missing_treated"],
        games["drawn_untreated"] - guard["missing_untreated"],
    )
    if fewest < 100 or score["low"] is None or score["high"] - score["low"] > 0.3:
        return "too_early"
    if score["low"] > 0 or score["high"] < 0:
        return "more" if score["low"] > 0 else "less"
    return "no_difference" if score["low"] >= -0.03 and score["high"] <= 0.03 else "not_clear"


@pytest.mark.parametrize("query", QUERIES)
async def test_works(visitor: Visitor, exported: Exported, query: Query) -> None:
    trial, sides = Trial(exported, query, NOW, OPT), groups(exported, query)
    games = trial.json()
    score, why = games["score"]["estimate"], games["score"]["estimate"]["why_too_early"]
    told = await visitor.json(f"/dash/api/works?{urlencode(query)}")
    found = told["trial"]
    strata = found["games"].pop("strata")
    wanted = games.pop("strata")
    assert found["games"] == nearly(games)
    assert sorted(strata, key=lambda each: str(each["stratum"])) == nearly(
        sorted(wanted, key=lambda each: str(each["stratum"]))
    )
    counts = [each["score"]["n"] for each in strata]
    assert counts == sorted(counts, reverse=True)
    assert (found["verdict"], found["more_games"]) == (_verdict(games), _more(score))
    assert told["groups"] == nearly(sides)

    html = await visitor.text(f"/dash/works?{urlencode(query)}")
    everyone = [game for game in exported.games if game["trial"] == TRIAL]
    running = sum(game["state"] == "open" for game in everyone)
    funnel = _funnel(trial)
    band = [] if not funnel else ["points more per 100 games", "95 % at every moment", _FUNNEL_HEAD]
    whom = [_FOREST_HEAD]
    interval = "" if why else f"{signed(100 * score['low'])} to {signed(100 * score['high'])}"
    mean = "" if why else signed(100 * score["mean"])
    whom.append(" ".join(f"All games | {mean} | {interval} | {score['n']}".split()))
    whom += [f"{_stratum(each['stratum'])} | | | {each['score']['n']}" for each in strata[:12]]
    early = [] if funnel else [_NOTHING]
    assert printed.numbers(html) == [
        *_headline(score, why),
        *band,
        *funnel,
        *early,
        f"Trial {TRIAL}, since {TRIAL_START:%Y-%m-%d}; planned endpoint: score. {len(everyone)} games, "
        f"{running} of them running.",
        _PER_100,
        *whom,
        "Grey intervals hold 0. Each interval by itself misses the truth one time in twenty.",
        *_draw(games, why),
        *map(_side_line, sides),
        _NOTE,
        _FIGURE_9,
        *map(_figure_9, sides),
    ]
    check_drawings(html)


_PER_100 = "points per 100 games · games"
_FUNNEL_HEAD = "games that count | points more per 100 games | 95 % at every moment"
_FOREST_HEAD = "Games | Points per 100 games | 95 %, at any time | Games"
_NOTHING = "Too early: no interval can be trusted before 100 games with 30 people."
_FIGURE_9 = "Figure 9: what became of the traps, in the paper's terms"
_NOTE = (
    "Replies in positions that were not decided, the first 50 games of each opponent. An error costs 10 % of "
    "the game or more. “At random”: what somebody who moves at random would do in the very same positions. "
    "“Forecast”: what the model of people expects there; below it, what happened less that, in points of a "
    "hundred with its 95 % interval, right at any time. “Performance”: the rating at which this score is "
    "expected, with its 95 % interval."
)


def _run(world: World, folder: Path, *arguments: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("DESDEMONA_STORAGE__URL", world.url)
        patch.setattr("sys.argv", ["desdemona", *arguments])
        with pytest.raises(SystemExit) as left:
            program.main()
        assert left.value.code in (0, None)


@pytest.mark.parametrize("by", ["player", "site", "speed", "month"])
def test_stats_say_the_same(
    world: World, exported: Exported, tmp_path: Path, capfd: pytest.CaptureFixture[str], by: str
) -> None:
    """`stats --by`, which has the numbers of the page's table "side by side"."""
    _run(world, tmp_path, "stats", "--by", by, "--format", "json")
    told = json.loads(capfd.readouterr().out)
    wanted = groups(exported, {}, (by, "game"))
    assert told == nearly(wanted)


def test_there_is_something_to_compare(exported: Exported) -> None:
    """The filters of these tests select something, and not everything; some groups have intervals, others
    are too small."""
    lows = [each["errors"]["beyond_model"]["low"] for each in groups(exported, {})]
    assert 0 < lows.count(None) < len(lows)
    assert Trial(exported, {}, NOW, OPT).json()["score"]["flagged_for"].keys() == {
        "left early",
        "fast replies",
    }
    for query in QUERIES[1:]:
        assert 0 < sum(passes(game, query) for game in exported.games) < len(exported.games)
