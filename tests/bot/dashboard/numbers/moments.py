"""What a page says of one move of ours, from its exported record; only the games' rules are the program's."""

import json
import math
from fractions import Fraction
from functools import cached_property
from typing import Any

from engine.games import get_rules
from tests.bot.dashboard.numbers.exported import Exported, Row
from tests.bot.dashboard.numbers.recount import DASH, MINUS, rounded

WON = 100_000
"""Scores of this size are forced results."""
_UNITS = {"othello": "discs", "chess": "pawns", "xiangqi": "pawns", "connect4": ""}

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
        self.row = data.record[key]
        self.outcome = data.outcome.get(key)
        self._moves = data.game[self.row["game_id"]]["moves"].split()
        self.record = json.loads(self.row["record"])
        self.forecast = None if self.row["forecast"] is None else json.loads(self.row["forecast"])
        self.rules: Any = get_rules(self.record["game"])
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
        least = min((scores[-1] for scores in self.scores.values()), default=0)
        return [reply for reply, scores in self.scores.items() if scores[-1] == least]

    @property
    def played(self) -> str | None:
        """The reply, whether it is judged or not."""
        if self.outcome is not None:
            reply: str | None = self.outcome["reply"]
            return reply
        return next(iter(self._moves[self.row["ply"] + 1 :]), None)

    @property
    def best(self) -> str:
        """The best reply that is shown."""
        return self.played if self.played in self.bests and self.played else self.bests[0]

    @cached_property
    def baits(self) -> list[Row]:
        """The confirmed ones, by falling expected loss."""
        tempting = [] if self.forecast is None else self.forecast["tempting"]
        confirmed = [each for each in tempting if (each["confirmed_cost"] or 0) >= 1000]
        return sorted(confirmed, key=lambda each: -each["odds"] * each["cost"])

    def told(self, number: int = 0) -> str:
        """The sentences on a bait."""
        bait = self.baits[number]
        who, name = people(bait["odds"]), self.reply_name(bait["reply"])
        first = f"Another: {who} {name}." if number else f"A trap: {who} {name} here."
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

    # --- Scores -----------------------------------------------------------------------------------------

    def score(self, centi: float, position: Any = None) -> str:
        """A score with its sign; forced results are told by the game's rules."""
        if abs(centi) >= WON:
            text = str(self.rules.score_text(centi, self.after if position is None else position))
            if text.startswith("#"):
                moves = text.lstrip("#-")
                return f"mated in {moves}" if text.startswith("#-") else f"mate in {moves}"
            return text
        return f"{rounded(centi / 100, 2):+}".replace("-", MINUS)

    def worth(self, centi: int) -> float:
        """Our expected score, in whole hundredths of a per cent."""
        if abs(centi) >= WON:
            return float(centi > 0)
        scale = self.rules.expected_scale_centi(self.before)
        size = math.floor(10_000 / (1 + math.exp(-abs(centi) / scale)) + 0.5)
        return (size if centi >= 0 else 10_000 - size) / 10_000

    @property
    def unit(self) -> str:
        return _UNITS[self.record["game"]]

    @cached_property
    def ordered(self) -> list[str]:
        """The replies, the best for the opponent first."""
        return sorted(self.scores, key=lambda reply: self.scores[reply][-1])

    @cached_property
    def raw_centi(self) -> int:
        """Of our move."""
        (chosen,) = [each for each in self.record["candidates"] if each["move"] == self.record["move"]]
        return int(chosen["raw_centi"])

    def lost(self, reply: str) -> str:
        """What a reply loses in the game's units; a dash: nothing."""
        size = self.scores[reply][-1] - self.raw_centi
        if size <= 0:
            return DASH
        return str(rounded(size / 100, 2))

    def cost(self, reply: str) -> float:
        """What a reply loses in expected score."""
        return max(0.0, self.worth(self.scores[reply][-1]) - self.worth(self.raw_centi))

    def probability(self, reply: str) -> float | None:
        """How likely people play it."""
        if self.forecast is None:
            return None
        return float(self.forecast["odds"][self.forecast["replies"].index(reply)])

    def price(self, reply: str) -> str:
        """What the reply that was played costs, in words."""
        short = f"{self.lost(reply)} {self.unit}".strip()
        share = of_game(self.cost(reply)) if self.cost(reply) else ""
        return f"{share} ({short})" if share else short


def people(probability: float) -> str:
    """``one player in three plays``."""
    if probability >= 0.95:
        return "nearly every player plays"
    share = min(_SHARES, key=lambda each: abs(float(each) - probability))
    many = _WORDS[share.denominator]
    one = f"one player in {many} plays"
    return one if share.numerator == 1 else f"{_WORDS[share.numerator]} players in {many} play"


def of_game(share: float) -> str:
    """``29 % of the game``."""
    return f"{'under 1' if 0 < share < 0.01 else rounded(100 * share, 0)} % of the game"


def probability_text(probability: float | None) -> str:
    """``41 %``, ``under 1 %``."""
    if probability is None:
        return DASH
    return "under 1 %" if probability < 0.01 else f"{rounded(100 * probability, 0)} %"
