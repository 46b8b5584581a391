"""The life cycle of a game in the lobby, as one table of transitions.  No I/O.

::

    UNKNOWN --STARTED--> HELD --ROOM--> PLAYING --ENDED--> UNREPORTED --END_REPORTED--> UNKNOWN
       |                                   |
       |                                   +--END_REPORTED--> ENDING --ENDED--> UNKNOWN
       |                                   +--STARTED-------> RESUMING --ADJOURNED--> PLAYING
       |                                   +--ADJOURNED-----> UNKNOWN
       |                                   +--FAILED--------> GIVEN_UP --NOT_RUNNING--> READING_HELD
       |
       |                        READING_HELD --ROOM--> READING --ENDED--> UNREPORTED
       |
       +--STARTED_ELSEWHERE--> ABORTING --END_REPORTED--> UNKNOWN
                                  +--MUST_PLAY----> HELD
"""

from enum import Enum, auto


class Phase(Enum):
    """The phases of a game."""

    UNKNOWN = auto()
    """The game has not started or is completely finished; the lobby stores nothing about it."""
    HELD = auto()
    """The game waits for other games to end."""
    HELD_OVER = auto()
    """Like `HELD`, but the account's stream has reported the end; only the ledger remains to be closed."""
    PLAYING = auto()
    """A `GameRunner` plays the game."""
    RESUMING = auto()
    """The server reported a start during play; the game may be resuming after an adjournment that the game's
    own stream will report later."""
    ENDING = auto()
    """The account's stream has reported the end; the runner is closing the ledger."""
    ENDING_RESUMING = auto()
    """Like `ENDING`, but the account's stream has since reported another start."""
    UNREPORTED = auto()
    """Finished, but the account's stream has not reported the end; the rating change is still unknown."""
    GIVEN_UP = auto()
    """Abandoned after errors; the game is still running and is being aborted or resigned."""
    READING_HELD = auto()
    """Abandoned and over; the game waits for other games to end before we read its result."""
    READING_HELD_OVER = auto()
    """Like `READING_HELD`, but the account's stream has reported the end."""
    READING = auto()
    """Abandoned and over; another runner was started to close the ledger."""
    READING_OVER = auto()
    """Like `READING`, but the account's stream has reported the end."""
    UNREADABLE = auto()
    """Abandoned and over; the attempt to read the result has failed too."""
    ABORTING = auto()
    """A game that this program does not play; it is being aborted or has been aborted."""


class PhaseEvent(Enum):
    """Events that can change a game's phase."""

    STARTED = auto()
    """The server or the database says that the game is running."""
    STARTED_ELSEWHERE = auto()
    """Like `STARTED`, but this program does not play the game."""
    END_REPORTED = auto()
    """The account's stream reports that the game is over."""
    ROOM = auto()
    """There is room for the game: a `GameRunner` may start."""
    ENDED = auto()
    """The runner has closed the ledger."""
    ADJOURNED = auto()
    """The runner has stopped because the game is adjourned."""
    FAILED = auto()
    """The runner cannot continue."""
    NOT_RUNNING = auto()
    """The server no longer lists the game."""
    RATING_KNOWN = auto()
    """The server has answered the query for the rating change."""
    MUST_PLAY = auto()
    """The game cannot be aborted."""


class Action(Enum):
    """Actions that the lobby performs when a game's phase changes."""

    TAKE_SLOT = auto()
    RETAKE_SLOT = auto()
    """Take a slot again if the runner has already noticed the adjournment and freed the game's slot."""
    FREE_SLOT = auto()
    SEEK_ROOM = auto()
    """Produce `PhaseEvent.ROOM` as soon as there is room."""
    BEGIN = auto()
    """Start a `GameRunner`."""
    END_UNPLAYABLE = auto()
    """Store the game with the reason, and abort it or, if that is refused, resign it, until the server no
    longer lists it; produces `PhaseEvent.NOT_RUNNING`."""
    CLOSE = auto()
    """Close the game's ledger, although its result cannot be read."""
    ASK_RATING = auto()
    """Query the rating change if we may have missed its report; produces `PhaseEvent.RATING_KNOWN`."""
    ABORT = auto()
    """Abort the game, until the server no longer lists it; produces `PhaseEvent.NOT_RUNNING`. If only its
    engine is missing, produces `PhaseEvent.MUST_PLAY` if refused or without effect; otherwise as
    `END_UNPLAYABLE`."""


_P, _E, _A = Phase, PhaseEvent, Action

_START_EVENTS = (_E.STARTED, _E.STARTED_ELSEWHERE)

TRANSITIONS: dict[tuple[Phase, PhaseEvent], tuple[Phase, tuple[Action, ...]]] = {
    (_P.UNKNOWN, _E.STARTED): (_P.HELD, (_A.TAKE_SLOT, _A.SEEK_ROOM)),
    (_P.UNKNOWN, _E.STARTED_ELSEWHERE): (_P.ABORTING, (_A.FREE_SLOT, _A.ABORT)),
    (_P.UNKNOWN, _E.END_REPORTED): (_P.UNKNOWN, (_A.FREE_SLOT,)),
    (_P.HELD, _E.ROOM): (_P.PLAYING, (_A.BEGIN,)),
    (_P.HELD, _E.END_REPORTED): (_P.HELD_OVER, (_A.FREE_SLOT,)),
    (_P.HELD_OVER, _E.ROOM): (_P.ENDING, (_A.BEGIN,)),
    (_P.HELD_OVER, _E.END_REPORTED): (_P.HELD_OVER, (_A.FREE_SLOT,)),
    **{(_P.PLAYING, start): (_P.RESUMING, (_A.RETAKE_SLOT,)) for start in _START_EVENTS},
    (_P.PLAYING, _E.END_REPORTED): (_P.ENDING, (_A.FREE_SLOT,)),
    (_P.PLAYING, _E.ENDED): (_P.UNREPORTED, (_A.FREE_SLOT, _A.ASK_RATING)),
    (_P.PLAYING, _E.ADJOURNED): (_P.UNKNOWN, (_A.FREE_SLOT,)),
    (_P.PLAYING, _E.FAILED): (_P.GIVEN_UP, (_A.FREE_SLOT, _A.END_UNPLAYABLE)),
    **{(_P.RESUMING, start): (_P.RESUMING, (_A.RETAKE_SLOT,)) for start in _START_EVENTS},
    (_P.RESUMING, _E.END_REPORTED): (_P.ENDING_RESUMING, (_A.FREE_SLOT,)),
    (_P.RESUMING, _E.ENDED): (_P.UNREPORTED, (_A.FREE_SLOT, _A.ASK_RATING)),
    (_P.RESUMING, _E.ADJOURNED): (_P.PLAYING, (_A.BEGIN,)),
    (_P.RESUMING, _E.FAILED): (_P.GIVEN_UP, (_A.FREE_SLOT, _A.END_UNPLAYABLE)),
    **{(_P.ENDING, start): (_P.ENDING_RESUMING, (_A.RETAKE_SLOT,)) for start in _START_EVENTS},
    (_P.ENDING, _E.END_REPORTED): (_P.ENDING, (_A.FREE_SLOT,)),
    (_P.ENDING, _E.ENDED): (_P.UNKNOWN, (_A.FREE_SLOT,)),
    (_P.ENDING, _E.ADJOURNED): (_P.UNKNOWN, (_A.FREE_SLOT,)),
    (_P.ENDING, _E.FAILED): (_P.GIVEN_UP, (_A.FREE_SLOT, _A.END_UNPLAYABLE)),
    **{(_P.ENDING_RESUMING, start): (_P.ENDING_RESUMING, (_A.RETAKE_SLOT,)) for start in _START_EVENTS},
    (_P.ENDING_RESUMING, _E.END_REPORTED): (_P.ENDING_RESUMING, (_A.FREE_SLOT,)),
    (_P.ENDING_RESUMING, _E.ENDED): (_P.UNKNOWN, (_A.FREE_SLOT,)),
    (_P.ENDING_RESUMING, _E.ADJOURNED): (_P.ENDING, (_A.BEGIN,)),
    (_P.ENDING_RESUMING, _E.FAILED): (_P.GIVEN_UP, (_A.FREE_SLOT, _A.END_UNPLAYABLE)),
    (_P.UNREPORTED, _E.STARTED): (_P.HELD, (_A.TAKE_SLOT, _A.SEEK_ROOM)),
    (_P.UNREPORTED, _E.END_REPORTED): (_P.UNKNOWN, (_A.FREE_SLOT,)),
    (_P.UNREPORTED, _E.RATING_KNOWN): (_P.UNKNOWN, ()),
    (_P.GIVEN_UP, _E.END_REPORTED): (_P.READING_HELD_OVER, (_A.FREE_SLOT, _A.SEEK_ROOM)),
    (_P.GIVEN_UP, _E.NOT_RUNNING): (_P.READING_HELD, (_A.SEEK_ROOM,)),
    (_P.READING_HELD, _E.ROOM): (_P.READING, (_A.BEGIN,)),
    (_P.READING_HELD, _E.END_REPORTED): (_P.READING_HELD_OVER, (_A.FREE_SLOT,)),
    (_P.READING_HELD_OVER, _E.ROOM): (_P.READING_OVER, (_A.BEGIN,)),
    (_P.READING_HELD_OVER, _E.END_REPORTED): (_P.READING_HELD_OVER, (_A.FREE_SLOT,)),
    **{(_P.READING, start): (_P.RESUMING, (_A.RETAKE_SLOT,)) for start in _START_EVENTS},
    (_P.READING, _E.END_REPORTED): (_P.READING_OVER, (_A.FREE_SLOT,)),
    (_P.READING, _E.ENDED): (_P.UNREPORTED, (_A.FREE_SLOT, _A.ASK_RATING)),
    (_P.READING, _E.ADJOURNED): (_P.UNKNOWN, (_A.FREE_SLOT,)),
    (_P.READING, _E.FAILED): (_P.UNREADABLE, (_A.FREE_SLOT, _A.CLOSE)),
    **{(_P.READING_OVER, start): (_P.ENDING_RESUMING, (_A.RETAKE_SLOT,)) for start in _START_EVENTS},
    (_P.READING_OVER, _E.END_REPORTED): (_P.READING_OVER, (_A.FREE_SLOT,)),
    (_P.READING_OVER, _E.ENDED): (_P.UNKNOWN, (_A.FREE_SLOT,)),
    (_P.READING_OVER, _E.ADJOURNED): (_P.UNKNOWN, (_A.FREE_SLOT,)),
    (_P.READING_OVER, _E.FAILED): (_P.UNREADABLE, (_A.FREE_SLOT, _A.CLOSE)),
    (_P.UNREADABLE, _E.END_REPORTED): (_P.READING_HELD_OVER, (_A.FREE_SLOT, _A.SEEK_ROOM)),
    (_P.ABORTING, _E.END_REPORTED): (_P.UNKNOWN, (_A.FREE_SLOT,)),
    (_P.ABORTING, _E.NOT_RUNNING): (_P.UNKNOWN, (_A.FREE_SLOT,)),
    (_P.ABORTING, _E.MUST_PLAY): (_P.HELD, (_A.TAKE_SLOT, _A.SEEK_ROOM)),
}
"""The next phase and the actions, keyed by phase and event.  Other pairs are ignored or indicate bugs."""

IGNORED_EVENTS: frozenset[tuple[Phase, PhaseEvent]] = frozenset(
    {
        # Servers repeat the start of a game whenever a stream is opened.
        *(
            (phase, start)
            for phase in (
                _P.HELD, _P.HELD_OVER, _P.GIVEN_UP, _P.READING_HELD, _P.READING_HELD_OVER,
                _P.UNREADABLE, _P.ABORTING,
            )
            for start in _START_EVENTS
        ),
        (_P.UNREPORTED, _E.STARTED_ELSEWHERE),  # old news
        # Answers to questions that were overtaken by events.
        *((phase, _E.NOT_RUNNING) for phase in Phase if phase not in (_P.GIVEN_UP, _P.ABORTING)),
        *((phase, _E.RATING_KNOWN) for phase in Phase if phase is not _P.UNREPORTED),
        *((phase, _E.MUST_PLAY) for phase in Phase if phase is not _P.ABORTING),
    }
)  # fmt: skip
"""Pairs of a phase and an event that is ignored in that phase."""

WAITING_PHASES = frozenset({Phase.HELD, Phase.HELD_OVER, Phase.READING_HELD, Phase.READING_HELD_OVER})
"""Phases in which a game waits for other games to end."""


class ImpossibleEvent(Exception):
    """An event that cannot happen in the current phase; it indicates a bug in the lobby."""


def advance(phase: Phase, event: PhaseEvent) -> tuple[Phase, tuple[Action, ...]]:
    """Return the next phase and the actions to perform, in order.

    Raises:
        ImpossibleEvent: The event cannot happen in this phase.
    """
    if (phase, event) in IGNORED_EVENTS:
        return phase, ()
    try:
        return TRANSITIONS[phase, event]
    except KeyError:
        raise ImpossibleEvent(f"{event.name} in phase {phase.name}") from None
