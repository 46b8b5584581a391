"""The life cycles of a GGS request, attempt and game, each with its transition table. No I/O.

::

    Request  LISTED --ours--------> OURS
              |-------challenges--> CHALLENGE --resumes--> RESUMPTION
              |                         ^                      ^
              |-------unclear-----> UNCLEAR -------------------|
              |-------resumes----------------------------------|

    Attempt  SENT --listed--> LISTED --match began--> BEGAN
              |----match began-->|---------------------^
              |--refused---------|--> REFUSED
              |--lost------------|--> LOST

    Game     AWAY <--adjourned--- LIVE --unlisted--> DOUBTFUL
              |                   ^ ^ |                | |
              |------joined-------| |-|-----joined-----| |
              |                       |                  |
              |---ended--> OVER <-----|<------ended------|

A request that the server removes is forgotten. A doubtful game can turn out to be away, and an away game can
become doubtful. A settled attempt no longer changes, not even when the server removes its request after the
match has begun.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from bot.base.errors import ProtocolError


class LinkState(StrEnum):
    """The states of the connection to the service."""

    AWAY = "away"
    """There is no connection, or no Othello service."""
    LISTING = "listing"
    """We have requested the list of our stored games."""
    SETTLED = "settled"
    """The server has listed our stored games."""


class RequestState(StrEnum):
    """The states of a request on the server's list."""

    LISTED = "listed"
    OURS = "ours"
    """A request that we made."""
    CHALLENGE = "challenge"
    """A request to us for a new game."""
    UNCLEAR = "unclear"
    """A request that may resume a game that we believe to be live; we have asked for the running matches."""
    RESUMPTION = "resumption"
    """A request to us to resume an adjourned game; not a challenge."""


class RequestEvent(StrEnum):
    """Events of a request."""

    OURS = "ours"
    CHALLENGES = "challenges"
    UNCLEAR = "unclear"
    RESUMES = "resumes"


class AttemptState(StrEnum):
    """The states of one of our commands that request a match."""

    SENT = "sent"
    LISTED = "listed"
    """The server lists the request that the command created."""
    BEGAN = "began"
    REFUSED = "refused"
    """The request was refused, declined or withdrawn."""
    LOST = "lost"
    """The connection or the service was lost before the server answered."""


class AttemptEvent(StrEnum):
    """Events of an attempt."""

    LISTED = "listed"
    BEGAN = "match began"
    REFUSED = "refused"
    LOST = "lost"


class GgsStatus(StrEnum):
    """The states of a game."""

    LIVE = "live"
    AWAY = "away"
    """The server has adjourned and stored the game, or the game is left over from an earlier connection."""
    DOUBTFUL = "doubtful"
    """The game is no longer listed; the stored games or the archive will show whether it is away or over."""
    OVER = "over"


class GgsGameEvent(StrEnum):
    """Events of a game."""

    JOINED = "joined"
    ADJOURNED = "adjourned"
    UNLISTED = "unlisted"
    ENDED = "ended"


S = TypeVar("S", bound=StrEnum)
E = TypeVar("E", bound=StrEnum)

REQUEST_TRANSITIONS: Mapping[tuple[RequestState, RequestEvent], RequestState] = {
    (RequestState.LISTED, RequestEvent.OURS): RequestState.OURS,
    (RequestState.LISTED, RequestEvent.CHALLENGES): RequestState.CHALLENGE,
    (RequestState.LISTED, RequestEvent.UNCLEAR): RequestState.UNCLEAR,
    (RequestState.LISTED, RequestEvent.RESUMES): RequestState.RESUMPTION,
    (RequestState.UNCLEAR, RequestEvent.CHALLENGES): RequestState.CHALLENGE,
    (RequestState.UNCLEAR, RequestEvent.RESUMES): RequestState.RESUMPTION,
    (RequestState.CHALLENGE, RequestEvent.RESUMES): RequestState.RESUMPTION,
    (RequestState.RESUMPTION, RequestEvent.RESUMES): RequestState.RESUMPTION,
}

ATTEMPT_TRANSITIONS: Mapping[tuple[AttemptState, AttemptEvent], AttemptState] = {
    (AttemptState.SENT, AttemptEvent.LISTED): AttemptState.LISTED,
    (AttemptState.SENT, AttemptEvent.BEGAN): AttemptState.BEGAN,
    (AttemptState.SENT, AttemptEvent.REFUSED): AttemptState.REFUSED,
    (AttemptState.SENT, AttemptEvent.LOST): AttemptState.LOST,
    (AttemptState.LISTED, AttemptEvent.BEGAN): AttemptState.BEGAN,
    (AttemptState.LISTED, AttemptEvent.REFUSED): AttemptState.REFUSED,
    (AttemptState.LISTED, AttemptEvent.LOST): AttemptState.LOST,
    **{
        (settled, event): settled
        for settled in (AttemptState.BEGAN, AttemptState.REFUSED, AttemptState.LOST)
        for event in AttemptEvent
    },
}

GAME_TRANSITIONS: Mapping[tuple[GgsStatus, GgsGameEvent], GgsStatus] = {
    (GgsStatus.LIVE, GgsGameEvent.JOINED): GgsStatus.LIVE,
    (GgsStatus.LIVE, GgsGameEvent.ADJOURNED): GgsStatus.AWAY,
    (GgsStatus.LIVE, GgsGameEvent.UNLISTED): GgsStatus.DOUBTFUL,
    (GgsStatus.LIVE, GgsGameEvent.ENDED): GgsStatus.OVER,
    (GgsStatus.AWAY, GgsGameEvent.JOINED): GgsStatus.LIVE,
    (GgsStatus.AWAY, GgsGameEvent.UNLISTED): GgsStatus.DOUBTFUL,
    (GgsStatus.DOUBTFUL, GgsGameEvent.JOINED): GgsStatus.LIVE,
    (GgsStatus.DOUBTFUL, GgsGameEvent.ADJOURNED): GgsStatus.AWAY,
    (GgsStatus.DOUBTFUL, GgsGameEvent.UNLISTED): GgsStatus.DOUBTFUL,
    (GgsStatus.DOUBTFUL, GgsGameEvent.ENDED): GgsStatus.OVER,
}


def next_state(table: Mapping[tuple[S, E], S], state: S, event: E) -> S:
    """Return the state that follows the current state after an event.

    Raises:
        ProtocolError: The table has no such transition.
    """
    if (state, event) not in table:
        raise ProtocolError(f"{state.value!r} cannot see {event.value!r}", (state, event))
    return table[state, event]
