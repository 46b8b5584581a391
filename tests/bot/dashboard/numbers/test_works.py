"""Every number of "Does it work?" is recomputed from exports, and those of `stats` are the same."""

import json
import math
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.bot.dashboard.numbers import printed
from tests.bot.dashboard.numbers.conftest import World
from tests.bot.dashboard.numbers.drawings import check_drawings
from tests.bot.dashboard.numbers.estimates import ALPHA, any_time, tightness
from tests.bot.dashboard.numbers.exported import Exported, Row, run_command
from tests.bot.dashboard.numbers.groups import group_lines, groups
from tests.bot.dashboard.numbers.nearly import nearly
from tests.bot.dashboard.numbers.recount import MINUS, TITLES, Query, counted, passes, rounded, signed
from tests.bot.dashboard.numbers.sample_database import NOW, OPT, TRIAL, TRIAL_START
from tests.bot.dashboard.numbers.trials import Trial
from tests.bot.views.conftest import Visitor, without_old_keys

QUERIES: tuple[Query, ...] = (
    {},
    {"opponents": "people", "since": "2026-10-10T00:00:00+00:00"},
    {"game": "chess"},
    {"site": "lichess", "rated": "rated", "min-rating": "1400"},
)

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


def _headline(games: Row) -> list[str]:
    score, who = games["score"]["estimate"], {"more": "Trappy", "less": "Standard"}
    values = f"{score['n']} games with {score['persons']} people"
    if score["why_too_early"] is not None:
        return [f"{values} so far. {_missing(score)}", *_exploratory(games)]
    mean, low, high = (100 * score[name] for name in ("mean", "low", "high"))
    verdict, said = _verdict(score), []
    if verdict in who:
        said.append(f"{who[verdict]} scores {rounded(abs(mean), 1)} points more per 100 games.")
        outlook = f"About {_more(score)} more games would make the interval a third narrower."
    else:
        assert verdict == "not_clear"
        outlook = f"At this rate the trial needs about {_known(score):,} more games."
    said.append(
        f"The difference is between {signed(low)} and {signed(high)} points per 100 games (95 %, valid at "
        f"any time), from {values}. {outlook}"
    )
    return [*said, *_exploratory(games)]


def _missing(score: Row) -> str:
    needs, like = ["100 games"] if score["n"] < 100 else [], ""
    if score["effective_persons"] < 30:
        needs.append("30 people")
        if (people := int(score["effective_persons"])) < score["persons"]:
            like = f"Most are from a few people, so they count like {people} people. "
    return f"{like}The interval appears at {' with '.join(needs)}."


def _exploratory(games: Row) -> list[str]:
    """The cost's headline, if it has a number in it."""
    cost = games["cost"]["estimate"]
    if cost["low"] is None or cost["low"] <= 0 <= cost["high"]:
        return []
    who = "trappy" if cost["low"] > 0 else "standard"
    return [
        f"Cost (exploratory): {who} costs people {rounded(abs(100 * cost['mean']), 2)} points more per reply."
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


def _clear_since(funnel: list[str]) -> str:
    """Since which game the interval of the table of differences excludes 0."""
    clear = 0
    for line in funnel:
        n, *rest = line.replace(MINUS, "-").split(" | ")
        ends = [float(each) for each in rest[1].split(" to ")] if rest else [-1.0, 1.0]
        clear = 0 if ends[0] <= 0 <= ends[1] else clear or int(n)
    return f" From {clear} games on, the interval excludes 0." if clear else ""


_BLINDNESS = (
    "mean wait for a move",
    "games in which the strategy was",
    "AUC of the guesses",
    "e-value against",
)
"""Beginnings of the lines about waits, which the exports lack; see tests/bot/views/statistics."""


def _stratum(name: Row) -> str:
    least = name["rating_from"]
    band = "unrated" if least is None else f"{least} to {least + 199}"
    return f"{TITLES[name['game']]}, {name['site']}, {name['speed']}, {band}"


def _draw(games: Row, why: str | None) -> list[str]:
    elo = games["elo"]
    lines = [
        f"assigned trappy, standard | {games['drawn_treated']}, {games['drawn_untreated']}",
        f"without a result | {games['guard']['missing_treated']}, {games['guard']['missing_untreated']}",
        f"with a result | {games['counted']}",
        f"still open, or after an open game | {games['waiting']}",
        "beyond the limit of games per person | 0",
        *(f"left out: {reason} | {count}" for reason, count in games["excluded"].items()),
    ]
    if why is None:
        told = [signed(elo[name], 0) for name in ("value", "low", "high")]
        lines.append(f"as a difference in Elo | {told[0]} ({told[1]} to {told[2]})")
    return lines


def _verdict(score: Row) -> str:
    if score["low"] is None:
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
    assert (found["verdict"], found["more_games"]) == (_verdict(score), _more(score))
    assert told["groups"] == nearly(sides)

    html = await visitor.text(f"/dash/works?{urlencode(query)}")
    everyone = [game for game in exported.games if game["trial"] == TRIAL]
    running = sum(game["state"] == "open" for game in everyone)
    funnel = _funnel(trial)
    band = [] if not funnel else ["points more per 100 games", "95 %, valid at any time", _FUNNEL_HEAD]
    whom = [_FOREST_HEAD]
    interval = "" if why else f"{signed(100 * score['low'])} to {signed(100 * score['high'])}"
    mean = "" if why else signed(100 * score["mean"])
    whom.append(" ".join(f"All games | {mean} | {interval} | {score['n']}".split()))
    whom += [f"{_stratum(each['stratum'])} | | | {each['score']['n']}" for each in strata[:12]]
    early = [] if funnel else [_NOTHING]
    shown = [line for line in printed.numbers(html) if not line.startswith(_BLINDNESS)]
    assert shown == [
        *_headline(games),
        *band,
        *funnel,
        *early,
        f"Trial {TRIAL}, since {TRIAL_START:%Y-%m-%d}; planned endpoint: score. {len(everyone)} games, "
        f"{running} of them running.{_clear_since(funnel)}",
        _PER_100,
        *whom,
        "Grey intervals include 0. Each interval, taken alone, misses the true value one time in twenty.",
        *_draw(games, why),
        *group_lines(exported, sides, counted(exported, query)),
    ]
    check_drawings(html)


_PER_100 = "points per 100 games · games"
_FUNNEL_HEAD = "games that count | points more per 100 games | 95 %, valid at any time"
_FOREST_HEAD = "Games | Points per 100 games | 95 %, valid at any time | Games"
_NOTHING = "Too early: intervals are reliable only from 100 games with 30 people on."


@pytest.mark.parametrize("by", ["strategy", "site", "speed", "month"])
def test_stats_say_the_same(
    world: World, exported: Exported, tmp_path: Path, capfd: pytest.CaptureFixture[str], by: str
) -> None:
    """`stats --by`, which has the numbers of the page's table "side by side"."""
    run_command(world.url, tmp_path, "stats", "--by", by, "--format", "json")
    told = json.loads(capfd.readouterr().out)
    wanted = groups(exported, {}, (by, "game"))
    assert without_old_keys(told) == nearly(wanted)


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
