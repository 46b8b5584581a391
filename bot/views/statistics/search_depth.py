"""Shows what search an opponent replies like, and which errors it could not see."""

from collections.abc import Sequence

from bot.base.rounding import NO_VALUE, percent, plural
from bot.parts.values import Column, Part, TableCell, TablePart
from bot.text.values_text import number, title_of
from engine.opponents.search_depth import MIN_AGREEMENT, MIN_PROBABILITY, MIN_REPLIES, DepthEstimate
from storage.evidence.queries.opponent_depths import MAX_READ_REPLIES, GameDepth

_NOTE = (
    f"Small print: their latest replies (at most {MAX_READ_REPLIES}, without forced ones) compared with "
    "full-width searches of 1, 2, ... plies from the position before the reply, by the scores stored with "
    f"our moves. Shown from {MIN_REPLIES} replies, a probability of {percent(MIN_PROBABILITY)} and "
    f"{percent(MIN_AGREEMENT)} best replies on."
)
_ERRORS_NOTE = (
    " Errors cost a tenth of the game or more; those beyond its sight are none by a search of its own depth."
)


def depth_parts(depths: Sequence[GameDepth], *, is_bot: bool) -> tuple[Part, ...]:
    """Build the table of depths by game; empty if nobody has replied.

    Args:
        depths: What the replies say, by game.
        is_bot: Whether the opponent is a program; only a program's errors are judged at its depth.
    """
    if not depths:
        return ()
    columns = [Column("Game", is_text=True), Column("Replies like", is_text=True), Column("Best by it")]
    if is_bot:
        columns += [Column("Errors by our depth"), Column("By its depth"), Column("Beyond its sight")]
    rows = tuple(_row(each, is_bot=is_bot) for each in depths)
    note = _NOTE + (_ERRORS_NOTE if is_bot else "")
    return (TablePart("How deep they look", tuple(columns), rows, note, records="depths"),)


def depth_text(found: DepthEstimate) -> str:
    """Say what search the replies are like, for example ``a search of 3 plies``."""
    return f"a search of {plural(found.depth, 'ply', 'plies')}{' or more' if found.is_limit else ''}"


def _row(each: GameDepth, *, is_bot: bool) -> tuple[TableCell | str, ...]:
    found = each.estimate
    replies = plural(found.replies, "reply", "replies")
    if not found.is_shown:
        told: tuple[TableCell | str, ...] = (TableCell("cannot be told", f"from {replies}"), NO_VALUE)
    else:
        probability = "over 99 %" if found.probability > 0.99 else percent(found.probability)
        told = (
            TableCell(depth_text(found), f"probability {probability}"),
            TableCell(percent(found.agreement), f"of {replies}"),
        )
    if not is_bot:
        return title_of(each.game), *told
    by_depth = (found.seen_errors, found.unseen_errors) if found.is_shown else (None, None)
    counts = (NO_VALUE if count is None else number(count) for count in by_depth)
    return title_of(each.game), *told, number(found.errors), *counts
