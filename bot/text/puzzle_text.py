"""The trainer's sentences about replies: the hint, the response to a wrong reply, and the solution."""

from collections.abc import Sequence

from bot.base.rounding import half_up
from bot.text.bait_text import bait_costs, game_share, judged_share, with_depth
from bot.text.sentence import JoinedText, ListText, MoveText, Sentence, TextPart
from bot.text.trap_report import BaitReport, JudgedReply


def _in_hundred(probability: float) -> Sentence:
    return Sentence("{n} in 100 play this", {"n": max(1, int(half_up(100 * probability, 0)))})


def hint_text(name: str, probability: float) -> Sentence:
    """The hint, which names the bait and says how often people play it."""
    return Sentence(
        "Not {move}: it tempts, {often}.", {"move": MoveText(name), "often": _in_hundred(probability)}
    )


def wrong_text(wrong: JudgedReply, probability: float | None) -> Sentence:
    """Respond to a wrong reply.

    Args:
        wrong: The reply.
        probability: If the reply is a bait, the probability that people play it; otherwise None.
    """
    arguments: dict[str, TextPart] = {"move": MoveText(wrong.name), "share": _cost(wrong)}
    if probability is None:
        return Sentence("{move} is not good: it costs {share}. Try again.", arguments)
    return Sentence(
        "{move} is the bait: {often}, and it costs {share}. Try again.",
        {**arguments, "often": _in_hundred(probability)},
    )


def title_text(good: Sequence[JudgedReply], found: JudgedReply | None) -> Sentence:
    """The heading of a solution; `found` is the person's good reply, or None."""
    if found is not None:
        return Sentence("Found") if found.is_best else Sentence("A good reply")
    one = Sentence("This was the reply to find")
    return one if len(good) == 1 else Sentence("These were the replies to find")


def good_replies_text(good: Sequence[JudgedReply], found: JudgedReply | None) -> JoinedText:
    """List the good replies in a sentence.

    Args:
        good: All good replies, best first.
        found: The person's good reply; None if they found none.
    """
    best = good[0]
    shown = found or best
    is_best = shown.is_best
    arguments: dict[str, TextPart] = {"move": MoveText(shown.name)}
    first = Sentence("{move} is the best reply.", arguments)
    if not is_best:
        arguments |= {"share": _cost(shown), "best": MoveText(best.name)}
        first = Sentence("{move} is good: it costs {share} compared with {best}, the best reply.", arguments)
    named = [shown] if is_best else [shown, best]
    others = [MoveText(each.name) for each in good if each not in named]
    if not others:
        return JoinedText([first])
    return JoinedText([first, Sentence("Good as well: {moves}.", {"moves": ListText(others)})])


def _cost(judged: JudgedReply) -> TextPart:
    return with_depth(game_share(judged_share(judged)), judged)


def bait_text(bait: BaitReport, comparison: Sentence | None) -> JoinedText:
    """Explain why the bait is tempting, and what it costs.

    Args:
        bait: The bait.
        comparison: Comparison with the best reply (`bot.text.bait_text.bait_comparison`); None if unknown.
    """
    was = Sentence(
        "The bait was {move}: {often}.", {"move": MoveText(bait.name), "often": _in_hundred(bait.probability)}
    )
    costs = bait_costs(bait)
    return JoinedText([each for each in (was, comparison, costs) if each is not None])
