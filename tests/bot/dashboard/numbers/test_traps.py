"""Every number of the gallery of baits is that of a recomputation from exports."""

import math
from collections import Counter, defaultdict
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.bot.dashboard.numbers import printed
from tests.bot.dashboard.numbers.estimates import effective, fixed_share
from tests.bot.dashboard.numbers.exported import Exported, Row
from tests.bot.dashboard.numbers.moments import Moment
from tests.bot.dashboard.numbers.nearly import nearly
from tests.bot.dashboard.numbers.recount import TITLES, Query, counted, iso, of_day, percent
from tests.bot.dashboard.numbers.test_game import Story
from tests.bot.views.conftest import Visitor


def _baits(data: Exported, query: Query) -> list[Row]:
    return [bait for game in counted(data, query) for bait in data.baits_of[game["game_id"]]]


def _group(start: int | None, baits: list[Row]) -> Row:
    met = [bait for bait in baits if bait["is_taken"] is not None]
    taken = [bait for bait in met if bait["is_taken"]]
    of_person, fell = (Counter(bait["opponent_id"] for bait in some) for some in (met, taken))
    expected = sum(bait["expected"] for bait in met)
    return {
        "start": start,
        "encounters": len(met),
        "taken": len(taken),
        "unanswered": len(baits) - len(met),
        "expected": pytest.approx(expected),
        "persons": len(of_person),
        "interval": fixed_share([(fell[each], many) for each, many in of_person.items()]),
        "effective_persons": pytest.approx(effective([*of_person.values()])),
        "share": pytest.approx(len(taken) / len(met)) if met else None,
        "expected_share": pytest.approx(expected / len(met)) if met else None,
    }


def _groups(baits: list[Row]) -> tuple[list[Row], list[Row]]:
    phases, bands = defaultdict(list), defaultdict(list)
    for bait in baits:
        phases[(bait["ply"] + 1) // 20 * 20].append(bait)
        rating = bait["opponent_rating"]
        bands[None if rating is None else rating // 200 * 200].append(bait)
    by_phase = [_group(start, phases[start]) for start in sorted(phases)]
    order = sorted(bands, key=lambda each: (each is None, each or 0))
    return by_phase, [_group(start, bands[start]) for start in order]


def _interval(group: Row) -> str:
    found = group["interval"]
    if found is None:
        people = math.floor(group["effective_persons"].expected)
        return f"too few people for an interval ({people} of 30)"
    low = percent(max(found["low"], 0.0)).removesuffix(" %")
    return f"{low} to {percent(min(found['high'], 1.0))}"


def _share(group: Row, name: str) -> str:
    return percent(None if group[name] is None else group[name].expected)


def _group_line(name: str, group: Row) -> str:
    taken = f"{_share(group, 'share')} / {_interval(group)}"
    return " | ".join((name, f"{group['encounters']:,}", taken, _share(group, "expected_share")))


def _json(found: Row) -> Row:
    """A group as it is compared: its interval's numbers nearly."""
    return {**found, "interval": nearly(found["interval"])}


def expected_loss_of(bait: Row) -> float:
    """Probability times cost."""
    return float(bait["probability"] * round(10_000 * bait["cost"]))


ORDERS: dict[str, Any] = {
    "expected_loss": expected_loss_of,
    "cost": lambda bait: round(10_000 * bait["cost"]),
    "newest": lambda bait: bait["decision_id"],
}
OUTCOMES: dict[str, Any] = {
    "all": lambda _: True,
    "taken": lambda bait: bait["is_taken"] == 1,
    "held": lambda bait: bait["is_taken"] == 0,
}


def _cards(data: Exported, baits: list[Row], order: str) -> list[tuple[Row, int, int]]:
    """Baits in their order, each with how often it was met and taken."""
    if order != "taken":
        ordered = sorted(baits, key=lambda bait: (ORDERS[order](bait), bait["decision_id"]), reverse=True)
        return [(bait, int(bait["is_taken"] is not None), bait["is_taken"] or 0) for bait in ordered]
    alike: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for bait in sorted(baits, key=lambda bait: -bait["decision_id"]):
        if bait["is_taken"] is not None:
            game = data.game[bait["game_id"]]
            moves = tuple(game["moves"].split()[: bait["ply"]])
            line = (game["game"], game["initial_position"], moves, bait["move"], bait["bait"])
            alike[line].append(bait)
    found = [
        (some[0], len(some), sum(b["is_taken"] for b in some)) for some in alike.values() if len(some) > 1
    ]
    return sorted(found, key=lambda each: (-each[2] / each[1], -each[1], -each[0]["decision_id"]))


def card_json(data: Exported, bait: Row, met: int, taken: int) -> Row:
    """A card's JSON."""
    outcome = data.outcome.get(bait["decision_id"])
    is_judged = outcome is not None and outcome["is_current"]
    same = ("decision_id", "game_id", "game", "site", "strategy", "opponent", "opponent_rating", "ply")
    return {
        **{name: bait[name] for name in (*same, "move", "bait", "cost")},
        "opponent_site_id": data.game[bait["game_id"]]["opponent_site_id"],
        "reply": bait["reply"] if is_judged else None,
        "probability": bait["probability"],
        "reply_cost": bait["reply_cost"],
        "is_taken": None if bait["is_taken"] is None else bool(bait["is_taken"]),
        "at": iso(bait["at"]),
        "expected_loss": pytest.approx(bait["expected_loss"]),
        "encounters": met,
        "taken": taken,
        "damage": "",
    }


def _short(name: str) -> str:
    return " ".join(name.split())


def _outcome(data: Exported, bait: Row) -> str:
    story, outcome = Story(data, bait["decision_id"]), data.outcome[bait["decision_id"]]
    if bait["is_taken"] is None:
        return "The game ended before the reply."
    if not outcome["is_current"]:
        return f"{story.who} {'took a bait' if bait['is_taken'] else 'left it alone'}."
    (said,) = story.outcome(story.kind)
    return said


def card_lines(data: Exported, bait: Row, met: int, taken: int, order: str = "") -> list[str]:
    """The lines of a card."""
    moment = Moment(data, bait["decision_id"])
    rating = "" if bait["opponent_rating"] is None else f" {bait['opponent_rating']}"
    outcome = {None: "not answered", 0: "held", 1: "taken"}[bait["is_taken"]]
    if outcome == "held" and (bait["reply_cost"] or 0) >= 0.1:
        outcome = "slipped"
    last = ""
    if order == "taken":
        outcome, last = f"{taken} of {met} took it", f"Met {met:,} times. Last: "
    where = f"{TITLES[bait['game']]} · {bait['site']} · {bait['strategy']}"
    lines = [
        f"{bait['opponent']}{rating} {outcome}",
        f"We played {moment.name(moment.record['move'])}.",
        *(moment.told(number) for number in range(len(moment.baits))),
        f"{last}{_outcome(data, bait)}",
        f"{where}{of_day(bait['at'], '%d %b %Y')}",
    ]
    return [_short(line) for line in lines if any(each.isdigit() for each in line)]


@pytest.mark.parametrize(
    ("query", "outcome", "order", "number"),
    [
        ({}, "all", "expected_loss", 2),
        ({}, "all", "newest", 1),
        ({}, "taken", "taken", 1),
        ({"game": "chess", "opponents": "people"}, "taken", "cost", 1),
        ({"site": "lichess", "account": "iago2", "rated": "rated"}, "held", "newest", 1),
        ({"strategy": "standard", "since": "2026-10-20T00:00:00+00:00"}, "all", "cost", 3),
        ({"site": "match"}, "all", "expected_loss", 1),
    ],
)
async def test_traps(
    visitor: Visitor, exported: Exported, query: Query, outcome: str, order: str, number: int
) -> None:
    baits = _baits(exported, query)
    everything, (by_phase, by_rating) = _group(None, baits), _groups(baits)
    chosen = baits if order == "taken" else [bait for bait in baits if OUTCOMES[outcome](bait)]
    cards = _cards(exported, chosen, order)
    if order == "taken":
        cards = [card for card in cards if card[2] or outcome != "taken"]
    some = cards[12 * (number - 1) : 12 * number]
    assert some
    address = urlencode({**query, "outcome": outcome, "sort": order, "page": number})
    told = await visitor.json(f"/dash/api/traps?{address}")
    assert told["all"] == _json(everything)
    assert told["by_phase"] == [_json(group) for group in by_phase]
    assert told["by_rating"] == [_json(group) for group in by_rating]
    pages = max(1, -(-len(cards) // 12))
    assert (told["count"], told["page"], told["pages"]) == (len(cards), number, pages)
    assert told["baits"] == [card_json(exported, *card) for card in some]

    html = await visitor.text(f"/dash/traps?{address}")
    more, verb = everything["unanswered"], "was" if everything["unanswered"] == 1 else "were"
    noun = "bait" if everything["encounters"] == 1 else "baits"
    head = [
        f"{everything['taken']:,} of {everything['encounters']:,} {noun} fooled somebody.",
        "A bait is a reply that looks good, is likely to be played, and costs a tenth of the game or more. "
        f"People took {_share(everything, 'share')} of them; the models of people expected "
        f"{_share(everything, 'expected_share')}. 95 % interval by person: {_interval(everything)}."
        + (f" {more:,} more {verb} never answered." if more else ""),
    ]
    note = (
        "Bar: taken; line: expected by the models of people. Small print: the 95 % interval, clustered by "
        "person; it needs the equivalent of 30 people who met equally many baits."
    )
    phases = [_group_line(f"{g['start'] // 2 + 1} to {g['start'] // 2 + 10}", g) for g in by_phase]
    bands = [
        _group_line("unrated" if g["start"] is None else f"{g['start']} to {g['start'] + 199}", g)
        for g in by_rating
    ]
    earlier, later = ("Earlier" if number > 1 else ""), (" Later" if number < pages else "")
    pager = [f"{earlier}page {number} of {pages}{later}"] if pages > 1 else []
    cards_lines = [line for card in some for line in card_lines(exported, *card, order)]
    assert printed.numbers(html) == [*head, *cards_lines, *pager, *phases, note, *bands, note]
