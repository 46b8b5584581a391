"""What a trial of whole games says, from exports alone, by docs/statistics.md."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.bot.dashboard.numbers.estimates import any_time, elo
from tests.bot.dashboard.numbers.exported import Exported, Row
from tests.bot.dashboard.numbers.recount import Query, at, passes

PATIENCE = timedelta(days=14)
EARLY = ("mean", "sd", "low", "high", "e_value")


@dataclass(frozen=True)
class Drawn:
    """A game of the trial."""

    row: Row
    treated: bool
    chance: float
    cost: float | None
    """Mean of its judged replies."""

    @property
    def person(self) -> int:
        return int(self.row["opponent_id"])

    @property
    def score(self) -> float | None:
        points: float | None = self.row["points"]
        return points

    @property
    def stratum(self) -> tuple[Any, ...]:
        rating = self.row["opponent_rating"]
        band = None if rating is None else rating // 200 * 200
        return self.row["game"], self.row["site"], self.row["speed"], band


def counting(data: Exported, game: int) -> list[Row]:
    """The replies of a game that statistics count: judged and forecast by today's rules, with a choice."""
    return [
        row
        for row in data.outcomes_of[game]
        if row["is_current"]
        and row["is_forecast_current"]
        and row["reply"] is not None
        and (row["reply_count"] or 0) >= 2
    ]


def flags(data: Exported) -> dict[int, list[str]]:
    """Why games are suspect."""
    found: dict[int, list[str]] = defaultdict(list)
    for game in data.games:
        if game["is_program"]:
            continue
        left = game["result"] == "win" and game["end_reason"] in ("resignation", "left", "time")
        if left and game["plies"] < 10:
            found[game["game_id"]].append("left early")
        replies = data.outcomes_of[game["game_id"]]
        times = [row["reply_time_s"] for row in replies if row["reply_time_s"] is not None]
        if times and 2 * sum(time < 0.3 for time in times) >= len(times):
            found[game["game_id"]].append("fast replies")
    return found


class Trial:
    """The games of a trial that pass filters.

    Args:
        data: The exports.
        query: The filters.
        now: When it is asked.
        planned_n: Of the trial.
    """

    def __init__(self, data: Exported, query: Query, now: datetime, planned_n: int) -> None:
        self.planned_n, self._flags = planned_n, flags(data)
        games = [g for g in data.games if g["trial"] is not None and passes(g, query)]
        games.sort(key=lambda game: (game["started_at"], game["game_id"]))
        rows = [self._drawn(data, game) for game in games]
        self.excluded = Counter("program" for each in rows if each.row["is_program"])
        people = [each for each in rows if not each.row["is_program"]]
        is_open = [
            each.row["state"] == "open" and now - at(each.row["started_at"]) <= PATIENCE for each in people
        ]
        end = is_open.index(True) if any(is_open) else len(people)
        self.rows, self.waiting = people[:end], len(people) - end

    def _drawn(self, data: Exported, game: Row) -> Drawn:
        treated = game["strategy"] == "trappy"
        replies = counting(data, game["game_id"])
        costs = [row["cost"] for row in replies if row["is_decided"] == 0 and row["cost"] is not None]
        cost = sum(costs) / len(costs) if costs and game["state"] != "aborted" else None
        return Drawn(game, treated, game["chance"] if treated else 1 - game["chance"], cost)

    def json(self) -> Row:
        """As the page's JSON has it."""
        treated = sum(each.treated for each in self.rows)
        scored = [each for each in self.rows if each.score is not None]
        costed = [each for each in self.rows if each.cost is not None]
        guesses, score = self.score_values(scored)
        cost = self._cost_values(costed)
        guard, cost_guard = self._guard(scored), self._guard(costed)
        worth = sum(m * (1 - m) for m in guesses) / len(guesses) * 2.302585092994046 / 400
        whole = any_time(score, [each.person for each in scored], self.planned_n)
        return {
            "drawn": len(self.rows),
            "drawn_treated": treated,
            "drawn_untreated": len(self.rows) - treated,
            "counted": len(scored),
            "excluded": dict(self.excluded),
            "over_cap": 0,
            "waiting": self.waiting,
            "guard": guard,
            "score": self._endpoint(score, scored),
            "elo": {
                **{
                    name: None if whole["too_early"] else whole[of] / worth
                    for name, of in (("value", "mean"), ("low", "low"), ("high", "high"))
                },
                "score_per_elo": worth,
                "too_early": whole["too_early"] is not None,
            },
            "cost_guard": cost_guard,
            "cost": self._endpoint(cost, costed),
            "unjudged": 0,
            "strata": self._strata(scored, score, costed, cost),
        }

    def score_values(self, rows: Sequence[Drawn]) -> tuple[list[float], list[float]]:
        """m and psi of each game."""
        expected = [
            0.5
            if each.row["opponent_rating"] is None or each.row["our_rating"] is None
            else elo(each.row["our_rating"] - each.row["opponent_rating"])
            for each in rows
        ]
        outcomes = [each.score or 0.0 for each in rows]
        guesses = _guesses(outcomes, expected, [each.stratum for each in rows])
        return guesses, _psi(outcomes, guesses, rows)

    def _cost_values(self, rows: Sequence[Drawn]) -> list[float]:
        outcomes = [each.cost or 0.0 for each in rows]
        expected = _guesses(outcomes, [0.0] * len(rows), [()] * len(rows))
        return _psi(outcomes, _guesses(outcomes, expected, [each.stratum for each in rows]), rows)

    def _guard(self, having: Sequence[Drawn]) -> Row:
        missing = [each not in having for each in self.rows]
        persons = [each.person for each in self.rows]
        draw = any_time([each.treated - each.chance for each in self.rows], persons, self.planned_n)
        lost = _psi([float(each) for each in missing], [0.0] * len(missing), self.rows)
        both = list(zip(missing, self.rows, strict=True))
        found = {"draw": draw, "missing": any_time(lost, persons, self.planned_n)}
        return {
            **{name: early(each) for name, each in found.items()},
            "missing_treated": sum(gone and each.treated for gone, each in both),
            "missing_untreated": sum(gone and not each.treated for gone, each in both),
            "counted_treated": sum(not gone and each.treated for gone, each in both),
            "counted_untreated": sum(not gone and not each.treated for gone, each in both),
            "broken": [
                name
                for name, each in found.items()
                if each["low"] is not None and not each["low"] <= 0 <= each["high"]
            ],
        }

    def _endpoint(self, values: Sequence[float], rows: Sequence[Drawn]) -> Row:
        def of(test: Callable[[Drawn], bool]) -> Row:
            some = [(v, each.person) for v, each in zip(values, rows, strict=True) if test(each)]
            return early(any_time([v for v, _ in some], [person for _, person in some], self.planned_n))

        firsts: dict[int, Drawn] = {}
        for each in self.rows:
            firsts.setdefault(each.person, each)
        suspect = [each.row["game_id"] for each in rows if each.row["game_id"] in self._flags]
        mean = sum(values) / len(values)
        plain: dict[int, float] = defaultdict(float)
        clustered: dict[int, float] = defaultdict(float)
        for value, each in zip(values, rows, strict=True):
            plain[each.person] += (value - mean) ** 2
            clustered[each.person] += value - mean
        together = {person: off**2 for person, off in clustered.items()}
        parts = together if sum(together.values()) > sum(plain.values()) else plain
        largest = max(parts, key=lambda person: parts[person])
        return {
            "estimate": of(lambda _: True),
            "largest": {
                "person": largest,
                "share": parts[largest] / sum(parts.values()),
                "without": of(lambda each: each.person != largest),
            },
            "flagged": len(suspect),
            "flagged_for": dict(sorted(Counter(why for key in suspect for why in self._flags[key]).items())),
            "without_flagged": of(lambda each: each.row["game_id"] not in self._flags),
            "first_games": of(lambda each: firsts[each.person] is each),
            "later_games": of(lambda each: firsts[each.person] is not each),
        }

    def _strata(
        self, scored: Sequence[Drawn], score: Sequence[float], costed: Sequence[Drawn], cost: Sequence[float]
    ) -> list[Row]:
        def of(rows: Sequence[Drawn], values: Sequence[float], stratum: tuple[Any, ...]) -> Row:
            some = [(v, e.person) for v, e in zip(values, rows, strict=True) if e.stratum == stratum]
            return early(any_time([v for v, _ in some], [person for _, person in some], self.planned_n))

        names = ("game", "site", "speed", "rating_from")
        return [
            {
                "stratum": dict(zip(names, stratum, strict=True)),
                "score": of(scored, score, stratum),
                "cost": of(costed, cost, stratum),
            }
            for stratum in {each.stratum for each in (*scored, *costed)}
        ]


def _guesses(
    outcomes: Sequence[float], expected: Sequence[float], strata: Sequence[tuple[Any, ...]]
) -> list[float]:
    """m: what was expected, corrected by the mean residual of earlier games of the stratum."""
    before: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    found = []
    for outcome, e, stratum in zip(outcomes, expected, strata, strict=True):
        residuals = before[stratum]
        found.append(min(max(e + sum(residuals) / (len(residuals) + 10), 0.0), 1.0))
        residuals.append(outcome - e)
    return found


def _psi(outcomes: Sequence[float], guesses: Sequence[float], rows: Sequence[Drawn]) -> list[float]:
    return [
        (y - m) * (1 / each.chance if each.treated else -1 / (1 - each.chance))
        for y, m, each in zip(outcomes, guesses, rows, strict=True)
    ]


def early(found: Row) -> Row:
    """An estimate as the JSON of trials has it: hidden while it is too early."""
    why = found["too_early"]
    hidden = dict.fromkeys(EARLY) if why else {}
    return {**found, **hidden, "too_early": why is not None, "why_too_early": why}
