"""Every number of an opponent's page is that of a recomputation from exports."""

from collections import Counter, defaultdict
from datetime import date
from statistics import median
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.bot.dashboard.numbers import printed
from tests.bot.dashboard.numbers.drawings import check_drawings
from tests.bot.dashboard.numbers.estimates import effective, leave_one_out, wilson
from tests.bot.dashboard.numbers.exported import Exported, Row
from tests.bot.dashboard.numbers.nearly import nearly
from tests.bot.dashboard.numbers.recount import (
    TITLES,
    Query,
    ago,
    at,
    counted,
    counts,
    of_day,
    percent,
    plural,
    rounded,
    score,
    shown,
    slips_line,
)
from tests.bot.dashboard.numbers.sample_database import NOW, REGULAR
from tests.bot.dashboard.numbers.test_lists import ended, game_json, pager
from tests.bot.dashboard.numbers.test_traps import card_json, card_lines, expected_loss_of
from tests.bot.dashboard.numbers.trials import counting, flags
from tests.bot.views.conftest import Visitor

# --- Progress ----------------------------------------------------------------------------------------------


def _quality(data: Exported, games: list[Row], *, has_bait: bool) -> Row:
    """Of the replies after moves with a bait, or of the others."""
    by_game = []
    for game in games:
        replies = [
            row
            for row in counting(data, game["game_id"])
            if row["is_decided"] == 0 and bool(row["has_bait"]) == has_bait and row["cost"] is not None
        ]
        if replies:
            by_game.append(replies)
    lengths = [len(replies) for replies in by_game]
    errors = [sum(row["is_error"] for row in replies) for replies in by_game]
    costs = [sum(row["cost"] for row in replies) for replies in by_game]
    many, wrong = sum(lengths), sum(errors)
    found: Row = {
        "replies": many,
        "errors": wrong,
        "games": len(by_game),
        "effective_games": effective(lengths),
        **dict.fromkeys(("error_share", "error_low", "error_high", "cost", "cost_low", "cost_high")),
    }
    if many < 20 or effective(lengths) < 10:
        return found
    share, half, _ = leave_one_out([*zip(errors, lengths, strict=True)])
    ends = [share - half, share + half, *wilson(wrong, many)]
    ends = [max(min(ends), 0.0), min(max(ends), 1.0)]
    found |= {"error_share": share, "error_low": ends[0], "error_high": ends[1]}
    cost, half, _ = leave_one_out([*zip(costs, lengths, strict=True)])
    found["cost"] = cost
    if wrong:
        ends = [cost - half, cost + half, *(end * cost / share for end in ends)]
        found |= {"cost_low": max(min(ends), 0.0), "cost_high": min(max(ends), 1.0)}
    return found


def _block(data: Exported, games: list[Row], first: int) -> Row:
    return {
        "first": first,
        "last": first + len(games) - 1,
        "since": _moment(games[0]["started_at"]),
        "until": _moment(games[-1]["started_at"]),
        "tempting": _quality(data, games, has_bait=True),
        "elsewhere": _quality(data, games, has_bait=False),
    }


def _moment(text: str) -> str:
    return at(text).isoformat()


def _by(games: list[Row], *columns: str) -> list[tuple[tuple[Any, ...], list[Row]]]:
    """Games by these columns, those with the most first."""
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for game in games:
        found[tuple(game[name] for name in columns)].append(game)
    return sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))


def _progress(data: Exported, games: list[Row]) -> list[Row]:
    return [
        {
            "game": game,
            "all": _block(data, some, 1),
            "blocks": [
                _block(data, some[start : start + 20], start + 1) for start in range(0, len(some), 20)
            ],
        }
        for (game,), some in _by(games, "game")
    ]


def _quality_cells(found: Row) -> list[str]:
    if found["error_share"] is None:
        return [str(found["replies"]), "too few", "too few"]
    cells = [str(found["replies"])]
    for value, low, high in (("error_share", "error_low", "error_high"), ("cost", "cost_low", "cost_high")):
        ends = [str(rounded(100 * found[each], 1)) for each in (low, high) if found[each] is not None]
        cells.append(" / ".join((percent(found[value], 1), *([" to ".join(ends)] if ends else []))))
    return cells


def _block_line(name: str, block: Row) -> str:
    cells = [*_quality_cells(block["tempting"]), *_quality_cells(block["elsewhere"])]
    return " | ".join((name, f"{at(block['since'][:19].replace('T', ' ')):%d %b %Y}", *cells))


def _progress_lines(found: Row) -> list[str]:
    lines = [_block_line(f"{TITLES[found['game']]}, all {found['all']['last']}", found["all"])]
    if len(found["blocks"]) > 1:
        lines += [_block_line(f"{each['first']} to {each['last']}", each) for each in found["blocks"]]
    return lines


def _course(found: Row) -> list[str]:
    """The tables of the two charts, if there is a course to draw."""
    kinds = ("tempting", "elsewhere")
    shown_blocks = [
        [each[kind]["error_share"] is not None for each in found["blocks"]].count(True) for kind in kinds
    ]
    if max(shown_blocks) < 2:
        return []
    lines = []
    for value, low, high in (("error_share", "error_low", "error_high"), ("cost", "cost_low", "cost_high")):
        drawn = [kind for kind, many in zip(kinds, shown_blocks, strict=True) if many]
        lines += ["95 %, by game"] * len(drawn)
        lines.append(" | ".join(("games played", *(f"{kind} | 95 %, by game" for kind in drawn))))
        for block in found["blocks"]:
            cells = [str(block["last"])]
            for kind in drawn:
                numbers = [block[kind][name] for name in (value, low, high)]
                if None in numbers:
                    cells += ["", ""]
                    continue
                middle, least, most = (str(rounded(100 * each, 1)) for each in numbers)
                cells += [f"{middle} %", f"{least} to {most}"]
            lines.append(" | ".join(cells).rstrip(" |"))
    return lines


# --- Everything else ---------------------------------------------------------------------------------------


def _visits(games: list[Row]) -> list[Row]:
    many = Counter(game["day"] for game in games)
    days = sorted(many)
    return [
        {
            "day": day,
            "games": many[day],
            "days_since": (date.fromisoformat(day) - date.fromisoformat(days[number - 1])).days
            if number
            else None,
        }
        for number, day in enumerate(days)
    ]


def _returns(visits: list[Row]) -> list[str]:
    last = f"{date.fromisoformat(visits[-1]['day']):%d %b %Y}"
    gaps = [visit["days_since"] for visit in visits[1:]]
    if not gaps:
        return [f"Came on one day only, {last}."]
    middle = median(gaps)
    between = f"a median of {middle:g} day{'' if middle == 1 else 's'} between visits"
    table = [
        f"{date.fromisoformat(visit['day']):%d %b %Y} | {visit['days_since']} d".lstrip("0")
        for visit in visits[1:]
    ]
    return [f"Came on {len(visits)} days, the last one {last}; {between}, at most {max(gaps)}.", *table]


def _tallies(games: list[Row]) -> list[Row]:
    found = []
    for (game, player, side), some in sorted(_by(games, "game", "strategy", "our_side")):
        results = Counter(each["result"] for each in some)
        found.append(
            {
                "game": game,
                "strategy": player,
                "our_side": side,
                "games": len(some),
                "wins": results["win"],
                "draws": results["draw"],
                "losses": results["loss"],
            }
        )
    return found


def _tally_lines(tallies: list[Row]) -> list[str]:
    sides: dict[tuple[str, str], list[str]] = defaultdict(lambda: ["\N{EN DASH}"] * 2)
    for each in tallies:
        results = f"{each['wins']} · {each['draws']} · {each['losses']}"
        cell = f"{results} / {plural(each['games'], 'game')}"
        sides[each["game"], each["strategy"]][each["our_side"]] = cell
    return [" | ".join((f"{TITLES[game]} / {player}", *cells)) for (game, player), cells in sides.items()]


def _rating_lines(ratings: list[Row]) -> list[str]:
    lines = []
    for each in ratings[:4]:
        many = len(each["points"])
        lines.append(f"Their rating at the start of each of {plural(many, 'game')}.")
        for point in each["points"]:
            start = point["at"][:19].replace("T", " ")
            lines.append(f"{at(start).day} {of_day(start, '%b %Y, %H:%M')} | {point['rating']}")
    return lines


def _game_line(data: Exported, game: Row) -> str:
    found = counts(data, [game])
    baits = f"{found.baits_taken} of {found.baits_set}" if found.baits_set else "no baits"
    reason = f" / {printed.reason_text(game['end_reason'])}" if game["end_reason"] else ""
    rating = "unrated" if game["opponent_rating"] is None else game["opponent_rating"]
    return " | ".join(
        (
            f"{TITLES[game['game']]} / {game['strategy']}",
            f"{rating} / {game['speed']}",
            f"{ended(game)}{reason}",
            f"{game['plies']:,}",
            baits,
            slips_line(found.slips, found.unjudged),
            f"{of_day(game['started_at'], '%d %b %Y')} / {of_day(game['started_at'], '%H:%M')}",
        )
    )


_RULES = (
    "Left early: they resigned, left or lost on time before ply 10. Fast replies: at least half of them "
    "took less than 0.3 s. Engine-like: of at least 100 replies, far more are optimal than the model of "
    "people expects. Copied: the first 20 plies equal those of another account's game in the week before. "
    "Flagged games still count."
)
_ENOUGH = (
    "Small print: 95 % interval, clustered by game. Numbers need 20 replies that count like 10 games or "
    "more. An error costs a tenth of the game or more by the judge; decided positions, and replies that are "
    "not judged yet, do not count."
)


class Met:
    """One opponent's games that pass filters.

    Args:
        data: The exports.
        key: Of the account.
        query: The filters.
    """

    def __init__(self, data: Exported, key: int, query: Query) -> None:
        self.data = data
        self.everything = [game for game in data.games if game["opponent_id"] == key]
        site = self.everything[0]["site"]
        chosen = {**query, "site": site}
        self.listed = [game for game in shown(data, chosen) if game["opponent_id"] == key]
        self.listed.sort(key=lambda game: (game["started_at"], game["game_id"]), reverse=True)
        self.games = [game for game in counted(data, chosen) if game["opponent_id"] == key]
        self.games.sort(key=lambda game: (game["started_at"], game["game_id"]))
        self.ours = [game["points"] for game in self.games if game["points"] is not None]
        self.ratings_met = [
            game["opponent_rating"] for game in self.games if game["opponent_rating"] is not None
        ]
        self.baits = [bait for game in self.games for bait in data.baits_of[game["game_id"]]]
        taken = [bait for bait in self.baits if bait["is_taken"]]
        taken.sort(key=lambda bait: (expected_loss_of(bait), bait["decision_id"]), reverse=True)
        self.cards = taken[:6]
        marked = flags(data)
        self.suspects = [game for game in reversed(self.games) if game["game_id"] in marked]
        self.flags = {game["game_id"]: marked[game["game_id"]] for game in self.suspects}

    @property
    def ratings(self) -> list[Row]:
        rated = [game for game in self.games if game["opponent_rating"] is not None]
        names = {"game_id": "game_id", "rating": "opponent_rating"}
        return [
            {
                "game": game,
                "speed": speed,
                "points": [
                    {"at": _moment(each["started_at"])} | {name: each[of] for name, of in names.items()}
                    for each in some
                ],
            }
            for (game, speed), some in _by(rated, "game", "speed")
        ]

    def json(self) -> Row:
        first, *_ = self.everything
        return {
            "opponent_id": first["opponent_id"],
            "site": first["site"],
            "site_id": first["opponent_site_id"],
            "name": first["opponent"],
            "former_names": [],
            "is_bot": bool(first["is_program"]),
            "first_seen_at": min(_moment(game["started_at"]) for game in self.everything),
            "blocked_as": None,
            "first_at": _moment(self.games[0]["started_at"]),
            "last_at": _moment(self.games[-1]["started_at"]),
            "games": len(self.games),
            "days": len(_visits(self.games)),
            "decided": len(self.ours),
            "points": float(sum(1 - each for each in self.ours)),
            "best_rating": max(self.ratings_met, default=None),
            **vars(counts(self.data, self.games)),
            "tallies": _tallies(self.games),
            "progress": _progress(self.data, self.games),
            "ratings": self.ratings,
            "visits": _visits(self.games),
            "suspect_games": [
                {
                    "game_id": game["game_id"],
                    "at": _moment(game["started_at"]),
                    "game": game["game"],
                    "flags": self.flags[game["game_id"]],
                }
                for game in self.suspects
            ],
            "baits": [card_json(self.data, bait, 1, 1) for bait in self.cards],
        }

    def _head(self) -> list[str]:
        first, found = self.everything[0], counts(self.data, self.games)
        start = min(game["started_at"] for game in self.everything)
        last = self.games[-1]["started_at"]
        many = Counter(flag for some in self.flags.values() for flag in some)
        best = max(self.ratings_met, default=None)
        return [
            f"Opponents · {first['site']} · {first['opponent_site_id']}",
            first["opponent"],
            plural(len(self.games), "game"),
            f"they score {percent(score([1 - each for each in self.ours]))} of {len(self.ours)}",
            f"{found.baits_taken} of {found.baits_set} baits taken",
            plural(found.slips, "slip"),
            *(
                [f"{plural(found.unjudged, 'reply').replace('replys', 'replies')} not judged yet"]
                * (found.unjudged > 0)
            ),
            f"best rating {'unknown' if best is None else best}",
            *(
                f"{flag} {plural(many[flag], 'game')}"
                for flag in ("left early", "fast replies")
                if many[flag]
            ),
            f"First seen {of_day(start, '%d %b %Y')}, last {of_day(last, '%d %b %Y, %H:%M')} UTC "
            f"({ago(last, NOW)}). {_trust(self.everything[0])}",
        ]

    def _rules(self) -> str:
        more = len(self.suspects) - 10
        return f"And {more} more; the CSV has all. {_RULES}" if more > 0 else _RULES

    def lines(self, page: int) -> list[str]:
        first, progress = self.everything[0], _progress(self.data, self.games)
        cards = [card_lines(self.data, bait, 1, 1) for bait in self.cards]
        suspects = [
            f"{TITLES[game['game']]}, {of_day(game['started_at'], '%Y-%m-%d %H:%M')}"
            f" | {', '.join(self.flags[game['game_id']])}"
            for game in self.suspects[:10]
        ]
        found = [
            *self._head(),
            *(line for each in progress for line in _course(each)),
            "Progress: their replies in blocks of 20 games",
            *(line for each in progress for line in _progress_lines(each)),
            _ENOUGH,
            *(line for card in cards for line in card),
            *([] if cards or not self.baits else [f"They met {len(self.baits)} baits and took none."]),
            *_tally_lines(_tallies(self.games)),
            *_returns(_visits(self.games)),
            *_rating_lines(self.ratings),
            *([] if first["is_program"] or not suspects else [*suspects, self._rules()]),
            *(_game_line(self.data, game) for game in self.listed[10 * (page - 1) : 10 * page]),
            *pager(self.listed, 10, page),
        ]
        return [line for line in found if any(each.isdigit() for each in line)]


def _trust(first: Row) -> str:
    """Nobody has met exploit."""
    if first["is_program"]:
        return "Trust 0 %: the site says that this is a program."
    said = "Trust 50 %: nothing is known of this person yet."
    return f"{said} Below 70 % the bot plays the best moves, whatever the model says."


def _is_of_depths(line: str) -> bool:
    return "cannot be told" in line or line.startswith("Small print: their latest replies")


@pytest.mark.parametrize(
    ("key", "query", "page"),
    [
        (REGULAR, {}, 2),
        (REGULAR, {"strategy": "standard", "since": "2026-11-01T00:00:00+00:00"}, 1),
        (27, {}, 1),
        (8, {}, 1),
        (2, {"game": "othello"}, 1),
    ],
)
async def test_opponent(visitor: Visitor, exported: Exported, key: int, query: Query, page: int) -> None:
    met = Met(exported, key, query)
    first = met.everything[0]
    address = urlencode({"site": first["site"], "id": first["opponent_site_id"], "page": page, **query})
    told = await visitor.json(f"/dash/api/opponent?{address}")
    listed, depths = told.pop("list"), told.pop("depths")
    # Too few replies to tell a depth; what one is told from has tests of its own.
    assert all(each["depth"] is None and each["replies"] < 200 for each in depths)
    assert told.pop("trust") == [_trust(first)]
    assert told == nearly(met.json())
    games = met.listed[10 * (page - 1) : 10 * page]
    assert listed["games"] == [game_json(exported, game) for game in games]
    assert (listed["page"], listed["count"]) == (page, len(met.listed))

    html = await visitor.text(f"/dash/opponent?{address}")
    lines = [line for line in printed.numbers(html) if not _is_of_depths(line)]
    assert lines == met.lines(page)
    check_drawings(html)
