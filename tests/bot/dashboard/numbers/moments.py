"""What a page says of one move of ours, from its exported record; only the games' rules are the program's."""

import json
from fractions import Fraction
from functools import cached_property
from typing import Any

from engine.games import get_game
from tests.bot.dashboard.numbers.exported import Exported, Row
from tests.bot.dashboard.numbers.recount import rounded

_WORDS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SHARES = [Fraction(1, n) for n in range(10, 1, -1)] + [
    Fraction(n, m) for n, m in ((2, 5), (3, 5), (2, 3), (3, 4), (4, 5), (9, 10))
]


class Moment:
    """One of our moves.

    Args:
        data: The exports.
        key: Of the decision.
    """

    def __init__(self, data: Exported, key: int) -> None:
        self.row = next(row for row in data.records if row["decision_id"] == key)
        self.outcome = data.outcome.get(key)
        self.record = json.loads(self.row["record"])
        self.forecast = None if self.row["forecast"] is None else json.loads(self.row["forecast"])
        self.rules: Any = get_game(self.record["game"])
        self.before = self.rules.for_search(self.rules.parse_position(self.record["position"]))
        self.after = self.rules.play(self.before, self.rules.parse_move(self.before, self.record["move"]))

    def name(self, text: str, position: Any = None) -> str:
        """A move as people write it: ours, or with another position one in it."""
        at = self.before if position is None else position
        return str(self.rules.move_name(at, self.rules.parse_move(at, text)))

    def reply_name(self, text: str) -> str:
        return self.name(text, self.after)

    @cached_property
    def scores(self) -> dict[str, list[int]]:
        """Our score of each reply by depth."""
        (chosen,) = [each for each in self.record["candidates"] if each["move"] == self.record["move"]]
        return {each["reply"]: each["scores_centi"] for each in chosen["replies"]}

    @cached_property
    def bests(self) -> list[str]:
        """The best replies for the opponent."""
        least = min(scores[-1] for scores in self.scores.values())
        return [reply for reply, scores in self.scores.items() if scores[-1] == least]

    @property
    def played(self) -> str | None:
        return None if self.outcome is None else self.outcome["reply"]

    @property
    def best(self) -> str:
        """The best reply that is shown."""
        return self.played if self.played in self.bests and self.played else self.bests[0]

    @cached_property
    def baits(self) -> list[Row]:
        """The confirmed ones, by falling surprise."""
        tempting = [] if self.forecast is None else self.forecast["tempting"]
        confirmed = [each for each in tempting if (each["confirmed_cost"] or 0) >= 1000]
        return sorted(confirmed, key=lambda each: -each["odds"] * each["cost"])

    def told(self, number: int = 0) -> str:
        """The sentences on a bait."""
        bait = self.baits[number]
        first = f"A trap: {people(bait['odds'])} {self.reply_name(bait['reply'])} here."
        looks = self._looks(self.scores[bait["reply"]])
        return " ".join(filter(None, (first, looks, f"It costs {of_game(bait['cost'] / 10_000)}.")))

    def _looks(self, mine: list[int]) -> str:
        others = [self.scores[reply] for reply in self.bests]
        depths = range(min(map(len, [mine, *others])) - 1)
        plies = [d for d in depths if all(mine[d] <= other[d] for other in others)]
        if not plies:
            return ""
        better = [mine[d] < self.scores[self.best][d] for d in plies]
        how = "better than" if all(better) else "at least as good as" if any(better) else "as good as"
        texts = [str(d + 2) for d in plies]
        if len(plies) > 2 and plies[-1] - plies[0] == len(plies) - 1:
            said = f"{texts[0]} to {texts[-1]}"
        else:
            said = " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
        return f"Looking {said} plies ahead it looks {how} {self.reply_name(self.best)}."


def people(odds: float) -> str:
    """``one player in three plays``."""
    if odds >= 0.95:
        return "nearly every player plays"
    share = min(_SHARES, key=lambda each: abs(float(each) - odds))
    many = _WORDS[share.denominator]
    one = f"one player in {many} plays"
    return one if share.numerator == 1 else f"{_WORDS[share.numerator]} players in {many} play"


def of_game(share: float) -> str:
    """``29 % of the game``."""
    return f"{'under 1' if 0 < share < 0.01 else rounded(100 * share, 0)} % of the game"
