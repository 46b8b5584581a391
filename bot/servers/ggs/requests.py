"""Match requests on GGS: the server's list, and the state of our own requests. No I/O.

The server's answers arrive in the order of our commands, but do not identify them. Unanswered commands
therefore wait in a queue, and an answer to one of them shows that the answers to earlier ones were lost.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from bot.base.errors import RefusedError
from bot.base.events import ChallengeGone
from bot.servers.ggs import wire
from bot.servers.ggs.actions import Outbox
from bot.servers.ggs.game import colourless
from bot.servers.ggs.lifecycle import (
    ATTEMPT_TRANSITIONS,
    REQUEST_TRANSITIONS,
    AttemptEvent,
    AttemptState,
    RequestEvent,
    RequestState,
    next_state,
)
from bot.servers.ggs.wire import Flag, GgsClock

MAX_UNANSWERED = 50
"""Maximum number of unanswered commands to remember; the oldest are forgotten first."""


@dataclass(slots=True)
class ListedRequest:
    """A request on the server's list."""

    key: str
    """Our own key for the request, because the server reuses its request ids."""
    line: wire.Request
    state: RequestState = RequestState.LISTED

    def pass_to(self, event: RequestEvent) -> None:
        """Enter the state that follows an event.

        Raises:
            ProtocolError: The event cannot happen in the request's state.
        """
        self.state = next_state(REQUEST_TRANSITIONS, self.state, event)

    @property
    def resumes(self) -> bool:
        """Whether we know that the request resumes one of our adjourned games."""
        is_ours = self.state is RequestState.OURS
        return self.line.flag is Flag.STORED if is_ours else self.state is RequestState.RESUMPTION


@dataclass(slots=True, eq=False)
class Attempt:
    """One of our commands and its outcome."""

    words: tuple[str, ...] = ()
    """The command."""
    opponent: str = ""
    """The player whom we ask for a game; ``*`` for anybody; empty if the attempt accepts a request."""
    type_text: str = ""
    stored_id: str = ""
    """Id of the adjourned match to resume, or empty for a new match."""
    key: str = ""
    """Key of the request that we accepted or made."""
    state: AttemptState = AttemptState.SENT
    refusal: str = ""
    """Why the attempt failed; empty if the attempt is pending or has led to a match."""

    @property
    def began(self) -> bool:
        """Whether the attempt has led to a match."""
        return self.state is AttemptState.BEGAN

    @property
    def is_lost(self) -> bool:
        return self.state is AttemptState.LOST

    @property
    def is_settled(self) -> bool:
        return self.state not in (AttemptState.SENT, AttemptState.LISTED)

    def pass_to(self, event: AttemptEvent, refusal: str = "") -> None:
        """Enter the state that follows an event, keeping the reason of the first refusal."""
        if not self.is_settled:
            self.refusal = refusal
        self.state = next_state(ATTEMPT_TRANSITIONS, self.state, event)


class Requests:
    """The requests on the server's list and our unanswered commands.

    Args:
        name: Name of our account.
        out: Collects the commands to send and the events to report.
    """

    def __init__(self, name: str, out: Outbox) -> None:
        self._name = name
        self._out = out
        self.is_registered = True
        """Whether the account is registered, which rated games require; True until the server denies it."""
        self._table: dict[str, ListedRequest] = {}
        """Requests, keyed by the server's request id."""
        self._keys = 0
        self._unanswered: deque[Attempt] = deque(maxlen=MAX_UNANSWERED)
        self._attempts: dict[str, Attempt] = {}
        """Attempts whose request is on the server's list, keyed by the request's key."""
        self.origins: dict[str, ListedRequest] = {}
        """The request that led to each match, by match id."""

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[ListedRequest]:
        return iter(list(self._table.values()))

    def key_of_challenge(self, match: str) -> str:
        """The key of the challenge that led to a match; empty if there was none or the match is resumed."""
        origin = self.origins.get(match)
        return "" if origin is None or origin.resumes else origin.key

    def is_accepting(self, asked: ListedRequest) -> bool:
        """Whether the server has not yet answered our acceptance of a request."""
        return any(attempt.key == asked.key for attempt in self._unanswered)

    # --- Our commands -----------------------------------------------------------------------------------

    def accept(self, key: str) -> Attempt:
        """Accept the request with the specified key.

        Raises:
            RefusedError: The request no longer exists.
        """
        asked = next((each for each in self if each.key == key), None)
        if asked is None:
            raise RefusedError(f"challenge {key} no longer exists", 404)
        attempt = self._attempts[key] = Attempt(("accept", asked.line.id), key=key)
        return self._try(attempt, rated=asked.line.flag is not Flag.UNRATED)

    def decline(self, key: str) -> None:
        """Decline a request, or do nothing if the request no longer exists."""
        for asked in self:
            if asked.key == key:
                self._out.ask("decline", asked.line.id)

    def ask(self, opponent: str, type_text: str, clock: GgsClock, *, rated: bool) -> Attempt:
        """Request a game from a player, or from everybody (``*``)."""
        addressee = () if opponent == "*" else (opponent,)
        attempt = Attempt(("ask", type_text, clock.text(), *addressee), opponent, type_text)
        return self._try(attempt, rated=rated)

    def resume(self, stored_id: str, opponent: str, type_text: str) -> None:
        """Request to resume an adjourned match."""
        self._try(Attempt(("ask", stored_id), opponent, type_text, stored_id), rated=True)

    def cancel(self, attempt: Attempt) -> None:
        """Withdraw one of our requests, now or as soon as the server lists it."""
        attempt.pass_to(AttemptEvent.REFUSED, "withdrawn")
        for asked in self:
            if asked.key == attempt.key and asked.line.asker == self._name:
                self._out.ask("cancel", asked.line.id)

    def _try(self, attempt: Attempt, *, rated: bool) -> Attempt:
        """Send a command after giving the account the ``rated`` setting that the command needs.

        Between commands the setting is +: while the setting is -, the server refuses rated requests to us.
        """
        self._unanswered.append(attempt)
        if self.is_registered:
            self._out.ask("rated", "+" if rated else "-")
        self._out.ask(*attempt.words)
        if self.is_registered and not rated:
            self._out.ask("rated", "+")
        return attempt

    # --- Server messages --------------------------------------------------------------------------------

    def add(self, line: wire.Request) -> ListedRequest:
        """Add a request from the server's list."""
        self._keys += 1
        asked = self._table[line.id] = ListedRequest(f"{line.id}/{self._keys}", line)
        return asked

    def remove(self, id_: str) -> ListedRequest | None:
        """Remove a request that the server no longer lists, and return it; None if we did not know it."""
        asked = self._table.pop(id_, None)
        if asked is None:
            return None
        self._tell_gone(asked)
        attempt = self._attempts.pop(asked.key, None)
        if attempt is not None:
            attempt.pass_to(AttemptEvent.REFUSED, "declined" if attempt.opponent else "it is gone")
        return asked

    def is_awaited(self, asked: ListedRequest) -> bool:
        """Find the attempt that led to a listed request of ours; return whether we still want the request."""
        asked.pass_to(RequestEvent.OURS)
        line = asked.line
        is_resumption = line.flag is Flag.STORED
        listed = ("", line.stored_id) if is_resumption else (line.type_text, "")
        for attempt in self._unanswered:
            wanted = ("" if is_resumption else attempt.type_text, attempt.stored_id)
            if attempt.opponent == (line.other or "*") and wanted == listed:
                attempt.key = asked.key
                self._attempts[asked.key] = attempt
                attempt.pass_to(AttemptEvent.LISTED)
                self._answered(attempt)
                return not attempt.is_settled
        return is_resumption

    def began(self, message: wire.MatchBegan) -> None:
        """Record the start of one of our matches."""
        origin = self._origin_of(message)
        self.ended(message.id)
        if origin is not None:
            self.origins[message.id] = origin
        attempt = None if origin is None else self._attempts.get(origin.key)
        if attempt is None:
            attempt = next((each for each in self._unanswered if _may_cross(each, message)), None)
        if attempt is not None:
            self._answered(attempt)
            attempt.key = attempt.key if origin is None else origin.key
            attempt.pass_to(AttemptEvent.BEGAN)

    def ended(self, match: str) -> None:
        """Forget a match that is over or whose id now belongs to another match."""
        self.origins.pop(match, None)

    def refused(self, text: str) -> Attempt | None:
        """Settle and return the attempt to which a service error responds; None if there is no such attempt.

        An error that quotes a word responds to the oldest command that contains the word; any other error
        responds to the oldest command.
        """
        named = re.search(r"'([^']*)'", text)
        for attempt in self._unanswered:
            if named is None or named[1] in attempt.words:
                self._answered(attempt)
                attempt.pass_to(AttemptEvent.REFUSED, text)
                return attempt
        return None

    def resumes(self, asked: ListedRequest) -> None:
        """Record that a request resumes one of our adjourned games and is therefore not a challenge."""
        self._tell_gone(asked)
        asked.pass_to(RequestEvent.RESUMES)

    def lost(self, reason: str) -> None:
        """Clear everything after a loss of the connection or service."""
        for attempt in (*self._unanswered, *self._attempts.values()):
            attempt.pass_to(AttemptEvent.LOST, reason)
        for asked in self:
            self._tell_gone(asked)
        self._table.clear()
        self._unanswered.clear()
        self._attempts.clear()
        self.origins.clear()

    def _tell_gone(self, asked: ListedRequest) -> None:
        if asked.state is RequestState.CHALLENGE:
            self._out.tell(ChallengeGone(asked.key))

    def _answered(self, attempt: Attempt) -> None:
        while attempt in self._unanswered:
            self._unanswered.popleft()

    def _origin_of(self, message: wire.MatchBegan) -> ListedRequest | None:
        """Find the request that led to a match; among similar requests, prefer one that we accepted.

        Tournament matches have no request: the director starts them.
        """
        if message.flag is Flag.TOURNAMENT:
            return None
        origins: list[tuple[bool, bool, ListedRequest]] = []
        for asked in self:
            line = asked.line
            others = (line.other,) if line.other else message.names
            is_rated = line.flag is not Flag.UNRATED
            if (
                line.asker in message.names
                and any(sorted((line.asker, other)) == sorted(message.names) for other in others)
                and colourless(line.type_text) == colourless(message.type_text)
                and is_rated == (message.flag is not Flag.UNRATED)
                and asked not in self.origins.values()
            ):
                # The server names the requester first.
                origins.append((self.is_accepting(asked), line.asker == message.names[0], asked))
        return max(origins, key=lambda each: each[:2])[2] if origins else None


def _may_cross(attempt: Attempt, message: wire.MatchBegan) -> bool:
    """Whether a match may have begun because our attempt crossed a similar request from the opponent."""
    return (
        bool(attempt.opponent)
        and message.flag is not Flag.TOURNAMENT
        and (attempt.opponent == "*" or attempt.opponent in message.names)
        and colourless(attempt.type_text) == colourless(message.type_text)
    )
