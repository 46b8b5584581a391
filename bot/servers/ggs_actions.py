"""Actions of an account on GGS: commands to send, and events to deliver."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.base.events import AccountEvent, GameEvent


@dataclass(frozen=True, slots=True)
class Say:
    """Send a command."""

    command: str


@dataclass(frozen=True, slots=True)
class Tell:
    """Deliver an event of the account."""

    event: AccountEvent


@dataclass(frozen=True, slots=True)
class TellGame:
    """Deliver an event of a game."""

    game_id: str
    event: GameEvent


GgsAction = Say | Tell | TellGame


def say_all(commands: Sequence[str]) -> list[GgsAction]:
    """Send some commands."""
    return [Say(command) for command in commands]
