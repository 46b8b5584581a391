"""One arena game: frozen values and pure transitions; the caller supplies the time.

Every transition returns a new `ReplayedGame` or raises `ArenaRefusal`; the caller stores it, so a failed
write to the database leaves the game unchanged. As on Lichess, clocks start when both sides have made their
first move; until then a game can be aborted, and resigning aborts it.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from bot.arena.variants import ArenaVariant
from bot.base.errors import DesdemonaError
from bot.base.events import Clock
from engine.game import IllegalMove
from storage.arena.accounts import STARTED, AccountRecord, ArenaGameRecord

MAX_UNTIMED_MOVE_S = 24 * 3600
"""Maximum time per move, in seconds, in a game without a clock; ensures that every game ends."""

MAX_GAME_PLIES = 600
"""Number of plies after which a game is a draw. Normal games are much shorter; the limit bounds the cost of
replaying a game."""

_MARK_INTERVAL_PLIES = 16
"""Interval, in moves, between cached positions; a takeback replays fewer moves than this."""

T = TypeVar("T")

NOT_YOUR_TURN = "Not your turn, or game already over"


@dataclass(frozen=True, slots=True)
class Instant:
    """One moment, as read from two clocks."""

    now: float
    """The arena's time, in seconds."""
    at: datetime
    """In UTC."""


class ArenaRefusal(DesdemonaError):
    """Error: the rules do not currently allow the action; the message is for the caller."""

    status = 400
    """HTTP status of the response."""


@dataclass(frozen=True, slots=True)
class ReplayedGame:
    """A game's record and the state replayed from it."""

    record: ArenaGameRecord
    variant: ArenaVariant
    players: tuple[AccountRecord, AccountRecord]
    """The players of side 0 and side 1, as they were when the game was loaded."""
    position: Any
    names: tuple[str, ...]
    """The moves in the notation that people use."""
    api_moves: tuple[str, ...]
    """The moves in the API's notation."""
    last_squares: tuple[str, ...]
    """Squares of the latest move, for display."""
    turn_began: float
    """The arena's time, in seconds, at which the side to move started to think."""
    marks: tuple[Any, ...]
    """The positions after every `_MARK_INTERVAL_PLIES` moves, from move 0; empty for a finished game."""

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def clock(self) -> Clock | None:
        if self.record.initial_s is None or self.record.increment_s is None:
            return None
        return Clock(self.record.initial_s, self.record.increment_s)

    @property
    def is_over(self) -> bool:
        return self.record.status != STARTED

    @property
    def ending(self) -> str:
        """The rule that ended the game, as a sentence; empty if no rule has ended it."""
        rules = self.variant.rules
        if not self.is_over:
            return ""
        if self.is_drawn_by_length:
            return f"A game may have {MAX_GAME_PLIES} plies at most."
        return "" if rules.legal_moves(self.position) else rules.ending(self.position).text

    @property
    def is_drawn_by_length(self) -> bool:
        """Whether the game ended because it reached the maximum length."""
        is_long = self.record.status == "draw" and len(self.record.moves) >= MAX_GAME_PLIES
        return is_long and bool(self.variant.rules.legal_moves(self.position))

    @property
    def is_abortable(self) -> bool:
        """Whether at least one side has not moved yet."""
        return len(self.record.moves) < 2

    @property
    def to_move(self) -> int:
        """The side to move; still defined after the end of the game."""
        return self.variant.rules.side_to_move(self.position)

    def side_of(self, account_id: str) -> int | None:
        """The account's side, 0 or 1; None if the account does not play in this game."""
        return self.record.players.index(account_id) if account_id in self.record.players else None

    def remaining_ms(self, now: float) -> tuple[int, int] | None:
        """Time left for each side now, in milliseconds, never below 0; None if the game has no clock."""
        left = self.record.remaining_ms
        if left is None or self.is_over or self.is_abortable:
            return left
        spent = list(left)
        # A move can arrive before the other side's is applied: then it takes no time, and gains none.
        elapsed_s = max(0.0, now - self.turn_began)
        spent[self.to_move] = max(0, left[self.to_move] - round(elapsed_s * 1000))
        return spent[0], spent[1]

    def deadline(self, first_move_s: float) -> float | None:
        """The arena time at which the side to move runs out of time; None if it never does."""
        if self.is_over:
            return None
        if self.is_abortable:
            return self.turn_began + first_move_s if first_move_s else None
        left = self.record.remaining_ms
        return self.turn_began + (MAX_UNTIMED_MOVE_S if left is None else left[self.to_move] / 1000)


def replay_record(
    record: ArenaGameRecord, variant: ArenaVariant, players: tuple[AccountRecord, AccountRecord], now: float
) -> ReplayedGame:
    """Replay a game from its record; a running clock that was not recorded restarts now."""
    turn_began = now if record.turn_began_ms is None else record.turn_began_ms / 1000
    start = variant.start(record.initial_fen)
    bare = ReplayedGame(record, variant, players, start, (), (), (), turn_began, (start,))
    game = _with_moves_played(bare, record.moves)
    return replace(game, marks=()) if game.is_over else game


def move(
    game: ReplayedGame,
    side: int,
    text: str,
    when: Instant,
    *,
    ply: int | None = None,
    draw: bool = False,
) -> ReplayedGame:
    """Play a move.

    Args:
        game: The game.
        side: The player's side.
        text: The move in the game's notation.
        when: When the move arrived.
        ply: Number of moves on the player's board; a move for another position is refused. None: unchecked.
        draw: Whether to offer (or accept) a draw with the move.

    Raises:
        StaleBoard: The position has changed since the player saw it.
        ArenaRefusal: It is not the player's turn, or the move is illegal.
    """
    record = game.record
    if ply is not None and ply != len(record.moves):
        raise StaleBoard(
            f"Your board is out of date: it shows move {ply}, the game is at {len(record.moves)}"
        )
    if game.is_over or game.to_move != side:
        raise ArenaRefusal(NOT_YOUR_TURN)
    left = game.remaining_ms(when.now)
    if left is not None and left[side] <= 0:
        raise ArenaRefusal("Your time is up")
    rules = game.variant.rules
    try:
        played = rules.parse_move(game.position, text)
    except IllegalMove:
        legal = ", ".join(rules.move_text(each) for each in rules.legal_moves(game.position))
        raise ArenaRefusal(f"{text!r} is not a legal move here; legal: {legal}") from None
    if draw and record.draw_offers[1 - side]:
        return answer_draw(game, side, when, yes=True)
    clock = game.clock
    if left is not None and clock is not None and not game.is_abortable:
        left = _set_side(left, side, left[side] + 1000 * clock.increment_s)
    # In the game's own notation, because the parser accepts other forms too.
    after = _with_moves_played(game, (rules.move_text(played),))
    record = replace(
        record,
        moves=(*record.moves, rules.move_text(played)),
        remaining_ms=left,
        # A move declines the other side's offers; the mover's own draw offer stands.
        draw_offers=_set_side((False, False), side, draw or record.draw_offers[side]),
        takeback_offers=(False, False),
        last_move_at=when.at,
    )
    after = replace(after, record=record, turn_began=max(when.now, game.turn_began))
    position = after.position
    if not rules.legal_moves(position):
        result, mover = rules.result_centi(position), rules.side_to_move(position)
        winner = None if result == 0 else mover if result > 0 else 1 - mover
        return _end(after, rules.ending(position).kind, winner, when)
    return _end(after, "draw", None, when) if len(record.moves) >= MAX_GAME_PLIES else after


class StaleBoard(ArenaRefusal):
    """Error: the move was made on an outdated board."""

    status = 409


def abort(game: ReplayedGame, when: Instant) -> ReplayedGame:
    """End a game without a result before both sides have moved."""
    _require_open(game)
    if not game.is_abortable:
        raise ArenaRefusal("This game can no longer be aborted; resign instead")
    return _end(game, "aborted", None, when)


def resign(game: ReplayedGame, side: int, when: Instant) -> ReplayedGame:
    """Resign; before both sides have moved, this aborts the game, as on Lichess."""
    _require_open(game)
    if game.is_abortable:
        return abort(game, when)
    return _end(game, "resign", 1 - side, when)


def answer_draw(game: ReplayedGame, side: int, when: Instant, *, yes: bool) -> ReplayedGame:
    """Offer a draw, or answer the other side's offer."""
    _require_open(game)
    if game.is_abortable:
        raise ArenaRefusal("It is too early for a draw")
    offers = game.record.draw_offers
    if yes and offers[1 - side]:
        return _end(game, "draw", None, when)
    if not yes and not offers[1 - side]:
        raise ArenaRefusal("There is no draw offer to decline")
    offers = _set_side(offers, side, True) if yes else _set_side(offers, 1 - side, False)
    return replace(game, record=replace(game.record, draw_offers=offers))


def answer_takeback(
    game: ReplayedGame, side: int, when: Instant, *, yes: bool, ply: int | None = None
) -> ReplayedGame:
    """Propose to take back the caller's latest move, or answer the other side's proposal.

    Args:
        game: The game.
        side: The player's side.
        yes: True to propose or accept, False to decline.
        when: Now.
        ply: Number of moves that should remain after the takeback. If a different number would remain, the
            request merely repeats an earlier one and changes nothing. None: unchecked.

    Raises:
        ArenaRefusal: There is nothing to take back or to decline, or takebacks are not allowed in this game.
    """
    _require_open(game)
    record = game.record
    taker = 1 - side if record.takeback_offers[1 - side] else side
    if ply is not None and ply != len(record.moves) - _plies_back(game, taker):
        return game
    if yes and taker != side:
        return _take_back(game, taker, when)
    if not yes:
        if not record.takeback_offers[1 - side]:
            raise ArenaRefusal("There is no takeback to decline")
        return replace(
            game,
            record=replace(record, takeback_offers=_set_side(record.takeback_offers, 1 - side, False)),
        )
    if record.rated:
        raise ArenaRefusal("Moves cannot be taken back in a rated game")
    left = len(record.moves) - _plies_back(game, side)
    if left < 0:
        raise ArenaRefusal("You have not moved yet")
    if not game.is_abortable and left < 2:
        # The clocks run: the time for first moves, and aborting, must not come back.
        raise ArenaRefusal("The first moves cannot be taken back once both sides have moved")
    return replace(
        game, record=replace(record, takeback_offers=_set_side(record.takeback_offers, side, True))
    )


def _plies_back(game: ReplayedGame, side: int) -> int:
    """Number of moves to undo so that the side can replace its latest move."""
    return 2 if game.to_move == side else 1


def _take_back(game: ReplayedGame, side: int, when: Instant) -> ReplayedGame:
    moves = game.record.moves[: -_plies_back(game, side)]
    record = replace(
        game.record,
        moves=moves,
        # Neither side gets its time back.
        remaining_ms=game.remaining_ms(when.now),
        draw_offers=(False, False),
        takeback_offers=(False, False),
        last_move_at=when.at,
    )
    # The last mark before the last move that stays, whose squares are wanted.
    marks = game.marks[: max(0, len(moves) - 1) // _MARK_INTERVAL_PLIES + 1]
    known = _MARK_INTERVAL_PLIES * (len(marks) - 1)
    back = replace(
        game,
        record=record,
        position=marks[-1],
        names=game.names[:known],
        api_moves=game.api_moves[:known],
        last_squares=(),
        turn_began=when.now,
        marks=marks,
    )
    return _with_moves_played(back, moves[known:])


def _with_moves_played(game: ReplayedGame, moves: tuple[str, ...]) -> ReplayedGame:
    """The game after further moves; changes the position and the public move data but not the record."""
    variant, rules = game.variant, game.variant.rules
    names, api_moves, marks = list(game.names), list(game.api_moves), list(game.marks)
    position, squares = game.position, game.last_squares
    for text in moves:
        move = rules.parse_move(position, text)
        names.append(rules.move_name(position, move))
        api_moves.append(variant.api_move(position, move))
        squares = rules.move_squares(move)
        position = rules.play(position, move)
        if len(names) % _MARK_INTERVAL_PLIES == 0:
            marks.append(position)
    return replace(
        game,
        position=position,
        names=tuple(names),
        api_moves=tuple(api_moves),
        last_squares=squares,
        marks=tuple(marks),
    )


def claim(game: ReplayedGame, side: int, when: Instant, *, victory: bool) -> ReplayedGame:
    """End a game that the opponent has left; the caller must first verify that the opponent is absent."""
    _require_open(game)
    if game.clock is None:
        # As on Lichess: programs may leave such games between their moves.
        raise ArenaRefusal("A game without a clock cannot be claimed")
    if game.is_abortable:
        raise ArenaRefusal("One of you has not moved yet: abort the game instead")
    return _end(game, "timeout", side, when) if victory else _end(game, "draw", None, when)


def end_by_deadline(game: ReplayedGame, when: Instant) -> ReplayedGame:
    """End a game past its deadline: abort it if a side has not moved yet, or else score a loss on time."""
    _require_open(game)
    if game.is_abortable:
        return _end(game, "aborted", None, when)
    return _end(game, "outoftime", 1 - game.to_move, when)


def end_idle(game: ReplayedGame, when: Instant) -> ReplayedGame:
    """End a game whose player does not move although others want the slot: as if the player had left it."""
    _require_open(game)
    if game.is_abortable:
        return _end(game, "aborted", None, when)
    return _end(game, "timeout", 1 - game.to_move, when)


def _require_open(game: ReplayedGame) -> None:
    if game.is_over:
        raise ArenaRefusal("The game is already over")


def _end(game: ReplayedGame, status: str, winner: int | None, when: Instant) -> ReplayedGame:
    record = replace(
        game.record,
        status=status,
        winner=winner,
        remaining_ms=game.remaining_ms(when.now),
        draw_offers=(False, False),
        takeback_offers=(False, False),
        ended_at=when.at,
    )
    return replace(game, record=record, marks=())


def _set_side(pair: tuple[T, T], side: int, value: T) -> tuple[T, T]:
    return (value, pair[1]) if side == 0 else (pair[0], value)
