"""The texts that the bot sends to a game's chat."""

import re
from enum import StrEnum

from bot.base.config import ChatConfig
from bot.base.events import MAX_CHAT_LENGTH
from storage.evidence.statistics.encounters import BaitCounts


class ResultForUs(StrEnum):
    """The bot's result, as worded in the farewell."""

    WON = "won"
    LOST = "lost"
    DRAWN = "drawn"
    ABORTED = "aborted"
    UNKNOWN = "over"
    """The server does not report the winner."""


_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+")


def greeting(config: ChatConfig, template: str, *, opponent: str, bot: str, game: str) -> str | None:
    """The greeting at the start of a game; None if chat is off or the template is empty.

    Args:
        template: The greeting for the room, from the settings.
    """
    return _fill(config, template, opponent=opponent, bot=bot, game=game)


def farewell(
    config: ChatConfig,
    *,
    names_traps: bool,
    opponent: str,
    bot: str,
    game: str,
    result: ResultForUs,
    counts: BaitCounts,
) -> str | None:
    """The farewell after a game; None after an aborted one, or if chat is off or the template is empty.

    Args:
        names_traps: Whether to include sentences about traps; they are omitted if the strategy sets no traps
            on purpose, unless the omission would reveal a secret strategy.
        counts: The game's counts, as shown on its page; slips are known once the game is judged.
    """
    if result is ResultForUs.ABORTED:
        return None
    template = config.farewell
    if not names_traps:
        sentences = _SENTENCE_ENDS.split(template)
        template = " ".join(each for each in sentences if "{traps}" not in each and "{fell}" not in each)
    numbers = {
        "traps": str(counts.baits_set),
        "fell": str(counts.baits_taken),
        "slips": "not judged yet" if counts.unjudged else str(counts.slips),
    }
    return _fill(config, template, opponent=opponent, bot=bot, game=game, result=result.value, **numbers)


def truncate_chat(text: str) -> str:
    """Cut a line to the length that sites of the Lichess family accept."""
    return text if len(text) <= MAX_CHAT_LENGTH else f"{text[: MAX_CHAT_LENGTH - 1]}…"


def _fill(config: ChatConfig, template: str, **words: str) -> str | None:
    return truncate_chat(template.format(**words)) if config.enabled and template else None
