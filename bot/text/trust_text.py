"""How far the strategy exploit believes its model of an opponent, and why, in a sentence or two."""

from bot.base.rounding import percent, plural
from engine.opponents.exploit_value import MIN_ANALYSIS_TRUST
from engine.opponents.trust import UNKNOWN, ExploitFacts

_PLAYS_BEST = f"Below {percent(MIN_ANALYSIS_TRUST)} the bot plays the best moves, whatever the model says."


def trust_text(facts: ExploitFacts | None, *, is_bot: bool, rating: int | None) -> str:
    """One or two sentences for the operator.

    Args:
        facts: What is known after a game; None if there was none.
        is_bot: Whether the site says that the opponent is a program. Only in matches is one trusted to err.
        rating: The opponent's rating in the game; None if unknown.
    """
    if is_bot and (facts is None or not facts.trust):
        return f"Trust {percent(0)}: the site says that this is a program."
    if facts is None or (not facts.replies and facts.prior == UNKNOWN):
        return f"Trust {percent(UNKNOWN)}: nothing is known of this person yet. {_PLAYS_BEST}"
    said = f"Trust {percent(facts.trust)}"
    if not facts.replies:
        said += ", as after an earlier game: no reply says more yet."
    else:
        model = "the model of people" if rating is None else f"the model of a person rated {rating}"
        better, worse = (model, "good play") if facts.evidence > 0 else ("good play", model)
        over = plural(facts.replies, "reply", "replies")
        said += f" ({percent(facts.prior)} before): over {over} the moves fit {better} better than {worse}."
    if facts.trust < MIN_ANALYSIS_TRUST:
        said += f" {_PLAYS_BEST}"
    return said
