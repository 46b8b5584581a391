"""Match requests on GGS: those on the server's list, and the state of our own.  No I/O.

The server's answers do not say what they answer, but they come in the order of the commands: so the commands
that have no answer yet stand in a queue, and whatever answers one of them shows that the answers to those
before it were lost.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from bot.base.errors import RefusedError
from bot.servers import ggs_wire as wire
from bot.servers.ggs_game import colourless
from bot.servers.ggs_wire import Flag, GgsClock, tell_service

MAX_UNANSWERED = 50
"""Commands without an answer; the oldest is forgotten when there are more."""


@dataclass(slots=True)
class Asked:
    """A request on the server's table."""

    key: str
    """Ours; the server's ids are reused."""
    line: wire.Request
    is_resumption: bool = False
    """It is about an adjourned game of ours: such a request is no challenge."""
    is_unclear: bool = False
    """It may be about a game that is live as far as we know."""


@dataclass(slots=True, eq=False)
class Attempt:
    """Something that we try, until the server says what came of it."""

    words: tuple[str, ...] = ()
    """The command."""
    opponent: str = ""
    """Whom we ask; ``*``: everybody; empty: we accept."""
    type_text: str = ""
    stored_id: str = ""
    """Of the adjourned match that we would like to go on with; empty: a new one."""
    key: str = ""
    """Of the request that we accept, or that our asking has made."""
    began: bool = False
    """A match has come of it."""
    refusal: str = ""
    """Why none will."""
    is_lost: bool = False
    """The connection, or the service, has gone before there was an answer."""

    @property
    def is_settled(self) -> bool:
        return self.began or bool(self.refusal)


class Requests:
    """What is on the table, and what we try.

    Args:
        name: Of our account.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.is_registered = True
        """As far as we know: who is not has no rated games, and may not even say so."""
        self._table: dict[str, Asked] = {}
        """By the server's id."""
        self._keys = 0
        self._unanswered: deque[Attempt] = deque(maxlen=MAX_UNANSWERED)
        self._attempts: dict[str, Attempt] = {}
        """Those with a request on the table, by its key."""
        self._origins: dict[str, Asked] = {}
        """The request that a match came from, by the match's id."""

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[Asked]:
        return iter(list(self._table.values()))

    def find(self, key: str) -> Asked:
        """The request of a key.

        Raises:
            RefusedError: It has gone.
        """
        for asked in self:
            if asked.key == key:
                return asked
        raise RefusedError(f"challenge {key}: it has gone", 404)

    def origin(self, match: str) -> Asked | None:
        """The request that a match came from, if that is known."""
        return self._origins.get(match)

    def is_accepting(self, asked: Asked) -> bool:
        """We have accepted it, and have no answer yet."""
        return any(attempt.key == asked.key for attempt in self._unanswered)

    # --- What we do: commands ---------------------------------------------------------------------------

    def accept(self, asked: Asked) -> tuple[Attempt, list[str]]:
        """Take a request."""
        attempt = Attempt(("accept", asked.line.id), key=asked.key)
        self._attempts[asked.key] = attempt
        return attempt, self._try(attempt, rated=asked.line.flag is not Flag.UNRATED)

    def ask(
        self, opponent: str, type_text: str, clock: GgsClock, *, rated: bool
    ) -> tuple[Attempt, list[str]]:
        """Ask somebody, or everybody (``*``), for a game."""
        whom = () if opponent == "*" else (opponent,)
        attempt = Attempt(("ask", type_text, clock.text(), *whom), opponent, type_text)
        return attempt, self._try(attempt, rated=rated)

    def resume(self, stored_id: str, opponent: str, type_text: str) -> list[str]:
        """Ask to go on with an adjourned match."""
        return self._try(Attempt(("ask", stored_id), opponent, type_text, stored_id), rated=True)

    def cancel(self, attempt: Attempt) -> list[str]:
        """Withdraw what we have asked for: now, or as soon as the server shows it."""
        if not attempt.is_settled:
            attempt.refusal = "withdrawn"
        found = [asked for asked in self if asked.key == attempt.key and asked.line.asker == self._name]
        return [tell_service("cancel", asked.line.id) for asked in found]

    def _try(self, attempt: Attempt, *, rated: bool) -> list[str]:
        """A command with the account's setting as it needs it.

        The setting is + otherwise: nobody who would like a rated game can even ask one who has -.
        """
        self._unanswered.append(attempt)
        command = tell_service(*attempt.words)
        if not self.is_registered:
            return [command]
        if rated:
            return [tell_service("rated +"), command]
        return [tell_service("rated -"), command, tell_service("rated +")]

    # --- What we are told -------------------------------------------------------------------------------

    def add(self, line: wire.Request) -> Asked:
        """A request is on the table."""
        self._keys += 1
        asked = self._table[line.id] = Asked(f"{line.id}/{self._keys}", line)
        return asked

    def remove(self, id_: str) -> Asked | None:
        """It is not any more; None: we did not know it."""
        asked = self._table.pop(id_, None)
        attempt = None if asked is None else self._attempts.pop(asked.key, None)
        if attempt is not None and not attempt.is_settled:
            attempt.refusal = "declined" if attempt.opponent else "it has gone"
        return asked

    def is_wanted(self, asked: Asked) -> bool:
        """Whether somebody still waits for a request of ours, which has just been put on the table."""
        line = asked.line
        asked.is_resumption = line.flag is Flag.STORED
        told = ("", line.stored_id) if asked.is_resumption else (line.type_text, "")
        for attempt in self._unanswered:
            wanted = ("" if asked.is_resumption else attempt.type_text, attempt.stored_id)
            if attempt.opponent == (line.other or "*") and wanted == told:
                attempt.key = asked.key
                self._attempts[asked.key] = attempt
                self._answered(attempt)
                return not attempt.is_settled
        return asked.is_resumption

    def began(self, message: wire.MatchBegan) -> None:
        """A match of ours has begun."""
        origin = self._origin_of(message)
        self.ended(message.id)
        if origin is not None:
            self._origins[message.id] = origin
        attempt = None if origin is None else self._attempts.get(origin.key)
        if attempt is None:
            attempt = next((each for each in self._unanswered if _crosses(each, message)), None)
        if attempt is not None:
            self._answered(attempt)
            attempt.key = attempt.key if origin is None else origin.key
            attempt.began = attempt.began or not attempt.refusal

    def ended(self, match: str) -> None:
        """A match is over, or another one has its id."""
        self._origins.pop(match, None)

    def refused(self, text: str) -> Attempt | None:
        """What an error of the service answers, which is settled by it; None: nothing that we try.

        One that names something answers the command that names it, every other one the oldest.
        """
        named = re.search(r"'([^']*)'", text)
        for attempt in self._unanswered:
            if named is None or named[1] in attempt.words:
                self._answered(attempt)
                attempt.refusal = attempt.refusal or text
                return attempt
        return None

    def lost(self, reason: str) -> list[Asked]:
        """Everything has gone; what was on the table."""
        for attempt in (*self._unanswered, *self._attempts.values()):
            if not attempt.is_settled:
                attempt.refusal, attempt.is_lost = reason, True
        gone = list(self)
        self._table.clear()
        self._unanswered.clear()
        self._attempts.clear()
        self._origins.clear()
        return gone

    def _answered(self, attempt: Attempt) -> None:
        while attempt in self._unanswered:
            self._unanswered.popleft()

    def _origin_of(self, message: wire.MatchBegan) -> Asked | None:
        """The request that a match came from: one that we have accepted before others that look alike."""
        found: list[tuple[bool, bool, Asked]] = []
        for asked in self:
            line = asked.line
            others = (line.other,) if line.other else message.names
            is_rated = line.flag is not Flag.UNRATED
            if (
                line.asker in message.names
                and any(sorted((line.asker, other)) == sorted(message.names) for other in others)
                and colourless(line.type_text) == colourless(message.type_text)
                and is_rated == (message.flag is not Flag.UNRATED)
                and asked not in self._origins.values()
            ):
                # The server names the one who has asked in front.
                found.append((self.is_accepting(asked), line.asker == message.names[0], asked))
        return max(found, key=lambda each: each[:2])[2] if found else None


def _crosses(attempt: Attempt, message: wire.MatchBegan) -> bool:
    """Whether a match can have come of two that have asked each other at once."""
    return (
        bool(attempt.opponent)
        and (attempt.opponent == "*" or attempt.opponent in message.names)
        and colourless(attempt.type_text) == colourless(message.type_text)
    )
