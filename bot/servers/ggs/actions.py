"""Actions of a GGS account: commands to send, and events to deliver."""

from dataclasses import dataclass, field

from bot.base.events import AccountEvent, GameEvent
from bot.servers.ggs.wire import tell_service


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


@dataclass(slots=True)
class Outbox:
    """Collects actions in the order in which they must be performed."""

    _actions: list[GgsAction] = field(default_factory=list)

    def ask(self, *words: object) -> None:
        """Send a command to the Othello service."""
        self.say(tell_service(*words))

    def say(self, command: str) -> None:
        """Send a command to the central server."""
        self._actions.append(Say(command))

    def tell(self, event: AccountEvent) -> None:
        """Deliver an event of the account."""
        self._actions.append(Tell(event))

    def tell_game(self, game_id: str, event: GameEvent) -> None:
        """Deliver an event of a game."""
        self._actions.append(TellGame(game_id, event))

    def take(self) -> list[GgsAction]:
        """Return the actions and clear the list."""
        actions, self._actions = self._actions, []
        return actions
