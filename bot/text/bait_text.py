"""Describes baits and costs in sentences: how likely a bait is, how it looks, and what it costs."""

from fractions import Fraction

from bot.base.rounding import NO_VALUE
from bot.text.sentence import JoinedText, ListText, MoveText, ScoreText, Sentence, ShareText, TextPart
from bot.text.trap_report import BaitReport, JudgedReply, ReplyReport
from engine.bait_rule import SHALLOW_DEPTHS
from engine.expected import WHOLE

MAX_NAME_LENGTH = 40
"""Maximum length of a person's name within a sentence."""
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


def judged_share(judged: JudgedReply) -> float:
    """A cost by the judge as a share of the game, for display."""
    return judged.shown_cost / WHOLE


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


def price(share: float | None, text: str | None, unit: str) -> TextPart:
    """Format the cost of a reply as a share and a size: ``29 % of the game (3.5 discs)``."""
    if not share:
        return cost_part(text, unit)
    if not _is_number(text):
        return game_share(share)
    return Sentence("{share} ({size})", {"share": game_share(share), "size": cost_part(text, unit)})


def scores_part(reply: ReplyReport | None, judged: JudgedReply | None) -> TextPart:
    """How a reply looks at depth 2, and its score by the judge: ``+3.00 at depth 2, -9.00 to depth 14``.

    Args:
        reply: The reply in the decision's profile; None if it is not there.
        judged: The judge's verdict on the same reply; None if there is none yet.
    """
    first = None if reply is None or not reply.score_texts else score_part(reply.score_texts[0])
    if judged is None:
        return NO_VALUE if first is None else Sentence("{score} at depth 2", {"score": first})
    last = with_depth(score_part(judged.score_text), judged)
    if first is None:
        return last
    return JoinedText([Sentence("{score} at depth 2", {"score": first}), last], is_list=True)


def with_depth(said: TextPart, judged: JudgedReply | BaitReport) -> TextPart:
    """Add the depth to which a judged score or cost holds, if it is known."""
    if judged.is_solved:
        return Sentence("{what}, solved", {"what": said})
    if judged.judge_depth is None:
        return said
    return Sentence("{what} to depth {plies}", {"what": said, "plies": judged.judge_depth})


def bait_comparison(bait: ReplyReport, best: ReplyReport | None) -> Sentence | None:
    """Compare how a bait and the best reply look two and three plies ahead.

    By both scores added up, in expected score, a bait looks at least as good (`engine.bait_rule`).

    Args:
        bait: The bait.
        best: The best reply by the judge; None if its scores are not known.

    Returns:
        A sentence; None if a score is not known.
    """
    mine = bait.scores_centi[:SHALLOW_DEPTHS]
    theirs = () if best is None else best.scores_centi[:SHALLOW_DEPTHS]
    if best is None or not mine or len(mine) != len(theirs):
        return None
    plies = ListText([str(2 + at) for at in range(len(mine))])
    words: dict[str, TextPart] = {"plies": plies, "best": MoveText(best.name)}
    # Scores are from our point of view: the lower, the better a reply looks.
    pairs = list(zip(mine, theirs, strict=True))
    if all(one > other for one, other in pairs):
        return None
    if any(one > other for one, other in pairs):
        return Sentence(
            "Looking {plies} plies ahead, both taken together, it looks at least as good as {best}.", words
        )
    if all(one < other for one, other in pairs):
        return Sentence("Looking {plies} plies ahead it looks better than {best}.", words)
    if all(one == other for one, other in pairs):
        return Sentence("Looking {plies} plies ahead it looks as good as {best}.", words)
    return Sentence("Looking {plies} plies ahead it looks at least as good as {best}.", words)


def bait_costs(bait: BaitReport) -> Sentence:
    """Say what a bait costs, and to which depth that holds."""
    return Sentence("It costs {share}.", {"share": with_depth(game_share(bait.cost / WHOLE), bait)})


def _is_number(text: str | None) -> bool:
    """Whether a cost is a number rather than a word."""
    return bool(text) and all(each in "0123456789." for each in text or "")
