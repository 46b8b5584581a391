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
        self._judgement = data.judgement.get(key)
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

    @property
    def played(self) -> str | None:
        """The reply, whether it is judged or not."""
        if self.outcome is not None:
            reply: str | None = self.outcome["reply"]
            return reply
        return next(iter(self._moves[self.row["ply"] + 1 :]), None)

    # --- The judge --------------------------------------------------------------------------------------

    @cached_property
    def costs(self) -> dict[str, Row]:
        """What the judge says of replies, the best one first."""
        found: dict[str, Row] = {}
        for each in self._known:
            for reply in (each["best"], *each["replies"]) if not found else each["replies"]:
                found.setdefault(reply["reply"], reply)
        good = [each for each in found.values() if each["cost"] < 200]
        best = max(good, key=lambda each: each["score_centi"], default=None)
        return found if best is None else {best["reply"]: best, **found}

    @property
    def _known(self) -> list[Row]:
        """Of the reply played, and of the likeliest."""
        forecast = None if self.forecast is None else self.forecast["costs"]
        return [each for each in (self._judgement, forecast) if each is not None]

    @property
    def judged(self) -> Row | None:
        """The reply played."""
        return None if self.outcome is None else self.costs.get(self.outcome["reply"])

    @property
    def best(self) -> str | None:
        """The best reply."""
        return next(iter(self.costs), None)

    def is_best(self, reply: str | None) -> bool:
        """Whether it is as good as the best."""
        if reply not in self.costs:
            return False
        if self.is_lost:
            return bool(self.costs[reply]["score_centi"] == self.costs[self.best or ""]["score_centi"])
        return bool(self.costs[reply]["cost"] < 200)

    @property
    def is_lost(self) -> bool:
        """Whether even the best reply leaves less than 5 % of the game."""
        scale = self.rules.expected_scale_centi(self.after)
        return bool(self.costs) and self.worth(self.costs[self.best or ""]["score_centi"], scale) < 0.05

    @property
    def is_checked(self) -> bool:
        """Whether baits are known."""
        return bool(self.forecast and (self.forecast["costs"] or len(self.forecast["replies"]) < 2))

    @cached_property
    def baits(self) -> list[Row]:
        """By falling expected loss."""
        if self.forecast is None or not self.forecast["costs"]:
            return []
        judged = {each["reply"]: each for each in self.forecast["costs"]["replies"]}
        found = [judged[reply] | {"odds": self.probability(reply)} for reply in self.forecast["bait_replies"]]
        return sorted(found, key=lambda each: -each["odds"] * each["cost"])

    def told(self, number: int = 0) -> str:
        """The sentences on a bait."""
        bait = self.baits[number]
        who, name = people(bait["odds"]), self.reply_name(bait["reply"])
        first = f"Another: {who} {name}." if number else f"A trap: {who} {name} here."
        price = to_depth(of_game(bait["cost"] / 10_000), bait)
        return " ".join(filter(None, (first, self._looks(bait["reply"]), f"It costs {price}.")))

    def _looks(self, bait: str) -> str:
        mine, others = self.scores[bait][:2], self.scores.get(self.best or "", [])[:2]
        if not others or not mine or len(mine) != len(others):
            return ""
        better = [one < other for one, other in zip(mine, others, strict=True)]
        worse = [one > other for one, other in zip(mine, others, strict=True)]
        if all(worse):
            return ""
        plies, together = " and ".join("23"[: len(mine)]), ", both taken together," * any(worse)
        how = "better than" if all(better) else "at least as good as" if any(better + worse) else "as good as"
        return f"Looking {plies} plies ahead{together} it looks {how} {self.reply_name(self.best or '')}."

    # --- Scores -----------------------------------------------------------------------------------------

    def score(self, centi: float, position: Any = None) -> str:
        """A score with its sign; forced results are told by the game's rules."""
        if abs(centi) >= WON:
            text = str(self.rules.score_text(centi, self.after if position is None else position))
            if text.startswith("#"):
                moves = text.lstrip("#-")
                return f"mated in {moves}" if text.startswith("#-") else f"mate in {moves}"
            return text
        return f"{centi / 100:+.2f}".replace("-", MINUS)  # averages may end in halves, which need not go up

    def worth(self, centi: int, scale: float | None = None) -> float:
        """The expected score, in whole hundredths of a per cent; by default ours, before our move."""
        if abs(centi) >= WON:
            return float(centi > 0)
        scale = scale or self.rules.expected_scale_centi(self.before)
        size = math.floor(10_000 / (1 + math.exp(-abs(centi) / scale)) + 0.5)
        return (size if centi >= 0 else 10_000 - size) / 10_000

    @property
    def unit(self) -> str:
        return _UNITS[self.record["game"]]

    @cached_property
    def ordered(self) -> list[str]:
        """The replies: the judge's best one, then the best for the opponent first."""
        return sorted(self.scores, key=lambda reply: (reply != self.best, self.scores[reply][-1]))

    @cached_property
    def raw_centi(self) -> int:
        """Of our move."""
        (chosen,) = [each for each in self.record["candidates"] if each["move"] == self.record["move"]]
        return int(chosen["raw_centi"])

    def cost(self, reply: str) -> float:
        """What a reply loses in expected score, by the forecast's costs or else by our own search."""
        costs = self.forecast and self.forecast["costs"]
        judged = {each["reply"]: each["cost"] for each in (costs["best"], *costs["replies"])} if costs else {}
        if reply in judged:
            return float(judged[reply] / 10_000)
        return max(0.0, self.worth(self.scores[reply][-1]) - self.worth(self.raw_centi))

    def seen(self, reply: str) -> str:
        """How a reply looks, and what it is worth."""
        scores, judged = self.scores.get(reply), self.costs.get(reply)
        found = [f"{self.score(-scores[0])} at depth 2"] if scores else []
        return ", ".join((*found, *([to_depth(self.score(judged["score_centi"]), judged)] if judged else [])))

    def probability(self, reply: str) -> float | None:
        """How likely people play it."""
        if self.forecast is None:
            return None
        return float(self.forecast["odds"][self.forecast["replies"].index(reply)])

    def price(self) -> str:
        """What the reply that was played costs, in words; one that is good or small never seems worse."""
        judged = self.judged
        assert judged is not None
        cost = judged["cost"]
        most = next((limit - 51 for limit in (500, 1000) if cost < limit), cost)
        size = self.costs[self.best or ""]["score_centi"] - judged["score_centi"]
        short = ""
        if 0 <= size < WON / 2:
            short = f" ({rounded(size / 100, 2)} {self.unit}".rstrip() + ")"
        return to_depth(of_game(min(cost, most) / 10_000) + short, judged)


def to_depth(said: str, judged: Row) -> str:
    """A judged score or cost with its depth, which counts our move, too."""
    return f"{said}, solved" if judged["is_solved"] else f"{said} to depth {judged['depth'] + 1}"


def percentage(share: float) -> str:
    """``29 %``."""
    return f"{'under 1' if 0 < share < 0.01 else rounded(100 * share, 0)} %"


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
    return f"{percentage(share)} of the game"


def probability_text(probability: float | None) -> str:
    """``41 %``, ``under 1 %``."""
    if probability is None:
        return DASH
    return "under 1 %" if probability < 0.01 else f"{rounded(100 * probability, 0)} %"
