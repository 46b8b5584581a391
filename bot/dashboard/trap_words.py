"""Baits in words: the same that the arena's trap report says to people (bot/arena/static/report/bait.js)."""

from collections.abc import Sequence
from fractions import Fraction

from bot.base.rounding import half_up
from storage.evidence.trap_report import ReplyReport

LONGEST_NAME = 40
"""Of people, within a sentence."""
MINUS = "\N{MINUS SIGN}"
_NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SHARES = (
    *(Fraction(1, many) for many in range(10, 1, -1)),
    *(Fraction(some, many) for some, many in ((2, 5), (3, 5), (2, 3), (3, 4), (4, 5), (9, 10))),
)
"""Shares that have words; the nearest one is said, of two the first."""
_NEARLY_ALL = 0.95


def people_play(odds: float) -> str:
    """A probability as a clause's subject and verb: ``one player in three plays``."""
    if odds >= _NEARLY_ALL:
        return "nearly every player plays"
    share = min(_SHARES, key=lambda each: abs(float(each) - odds))
    many = _NUMBERS[share.denominator]
    if share.numerator == 1:
        return f"one player in {many} plays"
    return f"{_NUMBERS[share.numerator]} players in {many} play"


def game_share(cost: float) -> str:
    """A share of the game, from 0 to 1: ``29 % of the game``."""
    return f"{'under 1' if 0 < cost < 0.01 else whole(100 * cost)} % of the game"


def short_name(name: str) -> str:
    """A name within a sentence: at most `LONGEST_NAME` characters, and unable to turn the words around it."""
    short = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}\N{HORIZONTAL ELLIPSIS}"
    return short if name.isascii() else f"\N{FIRST STRONG ISOLATE}{short}\N{POP DIRECTIONAL ISOLATE}"


def whole(value: float) -> int:
    """A number rounded, halves upwards, as browsers do."""
    return int(half_up(value))


def odds_text(odds: float | None) -> str:
    """A probability: ``41 %``, ``under 1 %``; a dash: there is none."""
    if odds is None:
        return "\N{EN DASH}"
    return "under 1 %" if odds < 0.01 else f"{whole(100 * odds)} %"


def score_text(text: str | None) -> str:
    """A score with a true minus sign, and a mate in words; a dash: there is none."""
    if not text:
        return "\N{EN DASH}"
    if text.startswith("#"):
        moves = text.removeprefix("#").removeprefix("-")
        return f"mated in {moves}" if text.startswith("#-") else f"mate in {moves}"
    return text.replace("-", MINUS, 1) if text.startswith("-") else text


def cost_text(text: str | None, unit: str) -> str:
    """What a reply costs: a number gets its unit, words such as ``the game`` stay; a dash: nothing."""
    if not text:
        return "\N{EN DASH}"
    if not is_number(text):
        return text
    short = text[:-1] if "." in text and text.endswith("0") and not text.endswith(".0") else text
    return f"{short} {unit}" if unit else short


def is_number(text: str | None) -> bool:
    """Whether a cost is a number, not a word."""
    return bool(text) and all(each in "0123456789." for each in text or "")


def price(share: float | None, text: str | None, unit: str) -> str:
    """What a reply costs: ``29 % of the game (3.5 discs)``."""
    if not share:
        return cost_text(text, unit)
    return f"{game_share(share)} ({cost_text(text, unit)})" if is_number(text) else game_share(share)


def looks_text(reply: ReplyReport) -> str:
    """A reply at a glance and in fact; only the latter if no shallower search is known."""
    fact = score_text(reply.their_text)
    return f"{score_text(reply.looks[0])} at a glance, {fact} in fact" if len(reply.looks) > 1 else fact


def how_it_looks(bait: ReplyReport, best: ReplyReport, bests: Sequence[ReplyReport]) -> str:
    """How a bait looks beside the best replies, where it looks no worse than any of them.

    Args:
        bait: The bait.
        best: The best reply that is shown.
        bests: All that are equally good.

    Returns:
        A sentence; empty: no shallower search is known, or the bait looks worse at each.
    """
    mine = bait.scores_centi
    shallow = range(min([len(mine), *(len(each.scores_centi) for each in bests)]) - 1)
    places = [at for at in shallow if all(mine[at] <= each.scores_centi[at] for each in bests)]
    if not places:
        return ""
    better = [mine[at] < best.scores_centi[at] for at in places]
    how = "better than" if all(better) else "at least as good as" if any(better) else "as good as"
    return f"Looking {_plies(places)} plies ahead it looks {how} {best.name}."


def _plies(places: Sequence[int]) -> str:
    plies = [str(at + 2) for at in places]
    if len(plies) > 2 and places[-1] - places[0] == len(places) - 1:
        return f"{plies[0]} to {plies[-1]}"
    return plies[0] if len(plies) == 1 else f"{', '.join(plies[:-1])} and {plies[-1]}"
