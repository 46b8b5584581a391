"""One game as a state machine that turns server events into actions.  No I/O.

::

    JOINING --our turn--> THINKING <--------> WAITING <--their turn-- JOINING
                              |    new moves     |
                              +----> OVER <------+

The position is rebuilt from the server's whole list of moves at each update, so the session recovers from a
missed message. A repeated list has no effect (draw offers arrive as states with the same moves); a shortened
list means a takeback. A transition missing from `TRANSITIONS` raises `ProtocolError`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from bot.base.errors import ProtocolError
from bot.base.events import (
    ChatLine,
    EndReason,
    GameAdjourned,
    GameEnd,
    GameEvent,
    GameSnapshot,
    GameState,
    OpponentGone,
)
from bot.game.offer_policy import MIN_COUNTED_PLIES
from engine.game import BadPosition, Game, IllegalMove, continued_position, replay, starting_position
from engine.games import get_rules


class SessionState(StrEnum):
    """The states of a session."""

    JOINING = "joining"
    """The server has not sent the game's state yet."""
    THINKING = "thinking"
    """It is our turn, until the server shows our move."""
    WAITING = "waiting"
    """It is the opponent's turn, or the game is over by its rules but the server has not reported it yet."""
    OVER = "over"
    """The server has reported the end of the game."""


class MessageKind(StrEnum):
    """The kinds of messages, by their meaning for a session."""

    OUR_TURN = "our turn"
    THEIR_TURN = "their turn"
    SAME = "same moves"
    END = "end"


TRANSITIONS: dict[tuple[SessionState, MessageKind], SessionState] = {
    (SessionState.JOINING, MessageKind.OUR_TURN): SessionState.THINKING,
    (SessionState.JOINING, MessageKind.THEIR_TURN): SessionState.WAITING,
    (SessionState.JOINING, MessageKind.END): SessionState.OVER,
    (
        SessionState.THINKING,
        MessageKind.OUR_TURN,
    ): SessionState.THINKING,  # both moves were taken back, or two messages were missed
    (SessionState.THINKING, MessageKind.THEIR_TURN): SessionState.WAITING,
    (SessionState.THINKING, MessageKind.SAME): SessionState.THINKING,
    (SessionState.THINKING, MessageKind.END): SessionState.OVER,
    (SessionState.WAITING, MessageKind.OUR_TURN): SessionState.THINKING,
    (SessionState.WAITING, MessageKind.THEIR_TURN): SessionState.WAITING,
    (SessionState.WAITING, MessageKind.SAME): SessionState.WAITING,
    (SessionState.WAITING, MessageKind.END): SessionState.OVER,
    (SessionState.OVER, MessageKind.SAME): SessionState.OVER,
    (SessionState.OVER, MessageKind.END): SessionState.OVER,  # an automatic draw arrives as two states
}


# --- Actions --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Join:
    """The first message: look the game up, or record it with the strategy that will play it."""

    snapshot: GameSnapshot


@dataclass(frozen=True, slots=True)
class StopThinking:
    """Stop the search: its position is no longer on the board."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The moves from this ply onwards were taken back."""

    ply: int


@dataclass(frozen=True, slots=True)
class Record:
    """The server shows these moves: confirm our moves, and judge the replies to them."""

    moves: tuple[str, ...]
    since_ply: int
    """The first ply that is not yet recorded."""


@dataclass(frozen=True, slots=True)
class Think:
    """It is our turn: find a move and send it."""

    moves: tuple[str, ...]
    remaining_s: float | None
    """Time on our clock; None without a clock."""
    their_remaining_s: float | None
    """Time on the opponent's clock, which is stopped; None without a clock."""

    @property
    def ply(self) -> int:
        """Number of the move to be found, counted from 0."""
        return len(self.moves)


@dataclass(frozen=True, slots=True)
class AnswerDraw:
    """The opponent offers a draw; returned once per offer."""


@dataclass(frozen=True, slots=True)
class AnswerTakeback:
    """The opponent requests a takeback; returned once per request."""


@dataclass(frozen=True, slots=True)
class ClaimGame:
    """The opponent has left."""

    in_s: float
    """Seconds until the server allows the claim."""


@dataclass(frozen=True, slots=True)
class CancelClaim:
    """The opponent is back."""


@dataclass(frozen=True, slots=True)
class HandleChat:
    """A line of chat arrived."""

    line: ChatLine


@dataclass(frozen=True, slots=True)
class Adjourn:
    """The game is interrupted: leave its ledger open, for another `GameRunner` to resume."""

    reason: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The game is over."""

    moves: tuple[str, ...]
    end: GameEnd


Action = (
    Join
    | StopThinking
    | TakenBack
    | Record
    | Think
    | AnswerDraw
    | AnswerTakeback
    | ClaimGame
    | CancelClaim
    | HandleChat
    | Adjourn
    | Finish
)


# --- The machine ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Session:
    """The state of one game."""

    state: SessionState = SessionState.JOINING
    game: str = ""
    initial_position: str | None = None
    our_side: int = 0
    moves: tuple[str, ...] | None = None
    """None before the first snapshot."""
    position: Any = field(default=None, compare=False, repr=False)
    """The position after `moves`, so that only new moves need to be played."""
    draw_offered: bool = False
    """Whether the opponent's draw offer stands."""
    takeback_offered: bool = False
    is_tournament: bool = False

    @property
    def their_side(self) -> int:
        return 1 - self.our_side

    @property
    def awaits_beginning(self) -> bool:
        """Whether the opponent is to move and the game can still be aborted."""
        is_beginning = self.state is SessionState.WAITING and len(self.moves or ()) < MIN_COUNTED_PLIES
        return is_beginning and not self.is_tournament

    def is_ahead_of(self, state: GameState) -> bool:
        """Whether a state is outdated: known moves are missing although no takeback was requested."""
        known, shown = self.moves or (), state.moves
        is_beginning = len(shown) < len(known) and known[: len(shown)] == shown
        return is_beginning and state.end is None and not self.takeback_offered


def step(session: Session, event: GameEvent) -> tuple[Session, tuple[Action, ...]]:
    """Process a message from the server; return the new session and the actions to perform in order.

    Raises:
        ProtocolError: The message is invalid: illegal moves, or a change to a finished game.
    """
    match event:
        case GameSnapshot():
            return _on_snapshot(session, event)
        case GameState():
            if session.moves is None:
                raise ProtocolError("a state arrived before the snapshot", event)
            return _on_state(session, event)
        case GameAdjourned(reason):
            return session, (Adjourn(reason),) if session.state is not SessionState.OVER else ()
        case _ if session.moves is None:
            return session, ()
        case OpponentGone(gone=True, claim_win_in_s=float() | int() as in_s):
            return session, (ClaimGame(in_s),)
        case OpponentGone(gone=False):
            return session, (CancelClaim(),)
        case OpponentGone():
            return session, ()
        case ChatLine():
            return session, (HandleChat(event),)


def common_plies(old: Sequence[str], new: Sequence[str]) -> int:
    """Number of moves in the common prefix of two lists of moves."""
    both = zip(old, new, strict=False)
    return next((ply for ply, (a, b) in enumerate(both) if a != b), min(len(old), len(new)))


def position_of(session: Session, moves: tuple[str, ...]) -> tuple[Game[Any], Any]:
    """Return the game's rules and its position after some moves.

    Raises:
        ProtocolError: A move is illegal.
    """
    game, known = get_rules(session.game), session.moves or ()
    try:
        if session.position is not None and moves[: len(known)] == known:
            return game, replay(game, moves[len(known) :], session.position)
        return game, replay(game, moves, starting_position(game, session.initial_position))
    except (BadPosition, IllegalMove) as error:
        raise ProtocolError(f"the server shows an impossible game: {error}", moves) from error


def _on_snapshot(session: Session, snapshot: GameSnapshot) -> tuple[Session, tuple[Action, ...]]:
    known = (session.game, session.initial_position, session.our_side)
    current = (snapshot.game, snapshot.initial_position, snapshot.our_side)
    if session.moves is None:
        session = replace(
            session,
            game=current[0],
            initial_position=current[1],
            our_side=current[2],
            is_tournament=snapshot.is_tournament,
            moves=(),
        )
        session, actions = _on_state(session, snapshot.state)
        return session, (Join(snapshot), *actions)
    if known != current:
        raise ProtocolError(f"the game was {known}, now it is {current}", snapshot)
    return _on_state(session, snapshot.state)


def _on_state(session: Session, state: GameState) -> tuple[Session, tuple[Action, ...]]:
    before = session.moves or ()
    game, position = position_of(session, state.moves)
    kind = _message_kind(session, state, game, position)
    if (session.state, kind) not in TRANSITIONS:
        raise ProtocolError(f"a game that is {session.state} cannot receive message {kind.value!r}", state)
    after = replace(
        session,
        state=TRANSITIONS[session.state, kind],
        moves=state.moves,
        position=position,
        draw_offered=state.draw_offered_by[session.their_side],
        takeback_offered=state.takeback_offered_by[session.their_side],
    )
    if session.state is SessionState.OVER:
        return replace(after, moves=before, position=session.position), ()

    actions: list[Action] = []
    common = common_plies(before, state.moves)
    if session.state is SessionState.THINKING and kind is not MessageKind.SAME:
        actions.append(StopThinking())
    if common < len(before):
        actions.append(TakenBack(common))
    if kind is MessageKind.OUR_TURN:
        clocks_s = state.remaining_s or (None, None)
        actions.append(Think(state.moves, clocks_s[session.our_side], clocks_s[session.their_side]))
    if state.end is not None:
        actions.append(Finish(state.moves, end_by_rules(state.end, game, position)))
        return after, tuple(actions)
    if kind is not MessageKind.SAME:
        actions.append(Record(state.moves, 0 if session.state is SessionState.JOINING else common))
    if after.draw_offered and not session.draw_offered:
        actions.append(AnswerDraw())
    if after.takeback_offered and not session.takeback_offered:
        actions.append(AnswerTakeback())
    return after, tuple(actions)


def _message_kind(session: Session, state: GameState, game: Game[Any], position: Any) -> MessageKind:
    if state.end is not None:
        return MessageKind.END
    if session.state is not SessionState.JOINING and state.moves == session.moves:
        return MessageKind.SAME
    is_over = not game.legal_moves(continued_position(game, position))
    ours = game.side_to_move(position) == session.our_side
    return MessageKind.OUR_TURN if ours and not is_over else MessageKind.THEIR_TURN


def end_by_rules(end: GameEnd, game: Game[Any], position: Any) -> GameEnd:
    """Return the end of a game; if the server omits the result, the rules determine it.

    Args:
        end: The end as the server reports it.
        game: The rules.
        position: The final position.
    """
    if end.reason is not EndReason.UNKNOWN or game.legal_moves(position):
        return end
    result, mover = game.result_centi(position), game.side_to_move(position)
    winner = None if result == 0 else mover if result > 0 else 1 - mover
    return GameEnd(EndReason.NORMAL, winner, end.status)
