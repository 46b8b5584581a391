"""What the bot says in a game's chat."""

from enum import StrEnum

from bot.config import ChatConfig
from bot.events import CHAT_LIMIT


class Verdict(StrEnum):
    """How a game ended for the bot, in the words of the farewell."""

    WON = "won"
    LOST = "lost"
    DRAWN = "drawn"
    ABORTED = "aborted"
    UNKNOWN = "over"
    """The server does not say who won."""


def greeting(config: ChatConfig, *, opponent: str, bot: str, game: str) -> str | None:
    """The line at the start of a game; None: say nothing."""
    return _say(config, config.greeting, opponent=opponent, bot=bot, game=game)


def farewell(
    config: ChatConfig, *, opponent: str, bot: str, game: str, result: Verdict, traps: int, fell: int
) -> str | None:
    """The line after a game; None: say nothing.

    Args:
        traps: Traps that were set in the game.
        fell: Those that the opponent fell into.
    """
    numbers = {"traps": str(traps), "fell": str(fell)}
    return _say(
        config, config.farewell, opponent=opponent, bot=bot, game=game, result=result.value, **numbers
    )


def _say(config: ChatConfig, template: str, **words: str) -> str | None:
    if not config.enabled or not template:
        return None
    text = template.format(**words)
    return text if len(text) <= CHAT_LIMIT else f"{text[: CHAT_LIMIT - 1]}…"
