"""Describes baits and costs in sentences: how likely a bait is, how it looks, and what it costs."""

from collections.abc import Sequence
from fractions import Fraction

from bot.base.rounding import NO_VALUE
from bot.text.sentence import ListText, MoveText, ScoreText, Sentence, ShareText, TextPart
from bot.text.trap_report import ReplyReport
from engine.expected import WHOLE

MAX_NAME_LENGTH = 40
"""Maximum length of a person's name within a sentence."""
DEPTH_PHRASES = (Sentence("at depth 2"), Sentence("a little deeper"), Sentence("deep"))
"""Phrases for depths in a blind report; their number must not reveal the search depth."""
_NUMBERS = (
    *(None, None, Sentence("two"), Sentence("three"), Sentence("four"), Sentence("five"), Sentence("six")),
    *(Sentence("seven"), Sentence("eight"), Sentence("nine"), Sentence("ten")),
)
_SHARES = (
    *(Fraction(1, many) for many in range(10, 1, -1)),
    *(Fraction(some, many) for some, many in ((2, 5), (3, 5), (2, 3), (3, 4), (4, 5), (9, 10))),
)
"""The shares used in sentences; a probability is rounded to the nearest share (if tied, the first)."""
_MIN_NEARLY_ALL_PROBABILITY = 0.95


def people_play(probability: float) -> Sentence:
    """Express a probability as the subject and verb of a clause: ``one player in three plays``."""
    if probability >= _MIN_NEARLY_ALL_PROBABILITY:
        return Sentence("nearly every player plays")
    share = min(_SHARES, key=lambda each: abs(float(each) - probability))
    some, many = _NUMBERS[share.numerator], _NUMBERS[share.denominator] or ""
    if some is None:
        return Sentence("one player in {many} plays", {"many": many})
    return Sentence("{some} players in {many} play", {"some": some, "many": many})


def game_share(cost: float) -> Sentence:
    """Express a share of the game, from 0 to 1: ``29 % of the game``."""
    return Sentence("{share} of the game", {"share": ShareText(cost)})


def short_name(name: str) -> str:
    """Make a name safe to use in a sentence: limit it to `MAX_NAME_LENGTH` characters and keep it from
    changing the direction of the surrounding text."""
    short = name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1]}\N{HORIZONTAL ELLIPSIS}"
    return short if name.isascii() else f"\N{FIRST STRONG ISOLATE}{short}\N{POP DIRECTIONAL ISOLATE}"


def probability_text(probability: float | None) -> str:
    """Format a probability: ``41 %``, ``under 1 %``, or a dash if there is none."""
    if probability is None:
        return NO_VALUE
    return "under 1 %" if probability < 0.01 else str(ShareText(probability))


def score_part(text: str | None) -> TextPart:
    """Format a score with a true minus sign, or a mate in words; return a dash if there is no score."""
    return ScoreText(text) if text else NO_VALUE


def score_text(text: str | None) -> str:
    """The text of `score_part` in English."""
    return str(score_part(text))


def cost_part(text: str | None, unit: str) -> TextPart:
    """Format the cost of a reply: a number with its unit, words such as ``the game``, or a dash."""
    if not text:
        return NO_VALUE
    if not _is_number(text):
        return Sentence(text)
    size = ScoreText(text)
    return Sentence("{n} {unit}", {"n": size, "unit": Sentence(unit)}) if unit else size


def cost_text(text: str | None, unit: str) -> str:
    """The text of `cost_part` in English."""
    return str(cost_part(text, unit))


def price(share: float | None, text: str | None, unit: str) -> TextPart:
    """Format the cost of a reply as a share and a size: ``29 % of the game (3.5 discs)``."""
    if not share:
        return cost_part(text, unit)
    if not _is_number(text):
        return game_share(share)
    return Sentence("{share} ({size})", {"share": game_share(share), "size": cost_part(text, unit)})


def scores_part(reply: ReplyReport) -> TextPart:
    """The shallow and the final score of a reply; only the final score if no shallower one is known."""
    fact = score_part(reply.their_text)
    if len(reply.score_texts) < 2:
        return fact
    return Sentence(
        "{first} at depth 2, {last} in fact", {"first": score_part(reply.score_texts[0]), "last": fact}
    )


def bait_comparison(
    bait: ReplyReport, best: ReplyReport, bests: Sequence[ReplyReport], steps: Sequence[int] = ()
) -> Sentence | None:
    """Compare a bait with the best replies at a depth where it looks no worse than any of them.

    Args:
        bait: The bait.
        best: The best reply to name.
        bests: All replies as good as the best one.
        steps: Indices of the depths to show, for a blind report; empty to show all depths.

    Returns:
        A sentence; None if no shallower search is known or the bait looks worse at every depth.
    """
    depths = min(len(each.scores_centi) for each in (bait, *bests))
    if steps and not 0 <= steps[-1] < depths:
        return None
    shown = steps or range(depths)
    mine = bait.scores_centi
    arguments = [
        step for step, at in enumerate(shown[:-1]) if all(mine[at] <= each.scores_centi[at] for each in bests)
    ]
    if not arguments:
        return None
    better = [mine[shown[step]] < best.scores_centi[shown[step]] for step in arguments]
    words: dict[str, TextPart] = {
        "where": ListText([DEPTH_PHRASES[step] for step in arguments])
        if steps
        else _plies_ahead([step + 2 for step in arguments]),
        "best": MoveText(best.name),
    }
    if all(better):
        return Sentence("{where} it looks better than {best}.", words, is_capital=True)
    if any(better):
        return Sentence("{where} it looks at least as good as {best}.", words, is_capital=True)
    return Sentence("{where} it looks as good as {best}.", words, is_capital=True)


def _plies_ahead(plies: Sequence[int]) -> Sentence:
    if len(plies) > 2 and plies[-1] - plies[0] == len(plies) - 1:
        return Sentence("looking {first} to {last} plies ahead", {"first": plies[0], "last": plies[-1]})
    return Sentence("looking {plies} plies ahead", {"plies": ListText([str(each) for each in plies])})


def bait_costs(cost: int) -> Sentence:
    """Format the cost of a bait, given in hundredths of a per cent."""
    return Sentence("It costs {share}.", {"share": game_share(cost / WHOLE)})


def _is_number(text: str | None) -> bool:
    """Whether a cost is a number rather than a word."""
    return bool(text) and all(each in "0123456789." for each in text or "")
