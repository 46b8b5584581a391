"""One arena game: frozen values and pure transitions; the caller passes the time in.

Every transition returns a new `ReplayedGame` or raises `ArenaRefusal`; the caller keeps it, so a game that
could not be written to the database has simply not changed.  As at Lichess, clocks start when both sides have
made their first move; before that a game can be aborted, and resigning aborts it.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from bot.arena.variants import ArenaVariant
from bot.base.errors import DesdemonaError
from bot.base.events import Clock
from engine.game import IllegalMove
from storage.arena import STARTED, AccountRecord, ArenaGameRecord

UNLIMITED_MOVE_S = 24 * 3600
"""Longest time for a move in a game without a clock, so that nothing stays open for ever."""

T = TypeVar("T")

NOT_YOUR_TURN = "Not your turn, or game already over"


class ArenaRefusal(DesdemonaError):
    """The rules do not allow this now; the message is for the one who asked."""


@dataclass(frozen=True, slots=True)
class ReplayedGame:
    """A game with what follows from its record."""

    record: ArenaGameRecord
    variant: ArenaVariant
    players: tuple[AccountRecord, AccountRecord]
    """Who plays side 0 and side 1, as they were when the game was taken up."""
    position: Any
    names: tuple[str, ...]
    """The moves as people write them, for display."""
    told: tuple[str, ...]
    """The moves as the API tells them."""
    last_squares: tuple[str, ...]
    """Squares of the latest move, for display."""
    turn_began: float
    """When the side to move began to think, by the arena's clock in seconds; a restart begins it anew."""

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
        """The rule that ended the game, for people; empty when it goes on, or ended in another way."""
        game = self.variant.game
        if not self.is_over or game.legal_moves(self.position):
            return ""
        return game.ending(self.position).text

    @property
    def is_abortable(self) -> bool:
        """Not both sides have moved."""
        return len(self.record.moves) < 2

    @property
    def to_move(self) -> int:
        """Side whose turn it is, or would be."""
        return self.variant.game.side_to_move(self.position)

    def side_of(self, account_id: str) -> int | None:
        """0 or 1; None for someone who does not play here."""
        return self.record.players.index(account_id) if account_id in self.record.players else None

    def remaining_ms(self, now: float) -> tuple[int, int] | None:
        """Time left for each side at this moment, never below 0; None without a clock."""
        left = self.record.remaining_ms
        if left is None or self.is_over or self.is_abortable:
            return left
        spent = list(left)
        # A move can arrive before the other side's is applied: then it took no time, and gained none.
        elapsed_s = max(0.0, now - self.turn_began)
        spent[self.to_move] = max(0, left[self.to_move] - round(elapsed_s * 1000))
        return spent[0], spent[1]

    def deadline(self, first_move_s: float) -> float | None:
        """When the side to move runs out of time, by the arena's clock; None: never."""
        if self.is_over:
            return None
        if self.is_abortable:
            return self.turn_began + first_move_s if first_move_s else None
        left = self.record.remaining_ms
        return self.turn_began + (UNLIMITED_MOVE_S if left is None else left[self.to_move] / 1000)


def take_up(
    record: ArenaGameRecord, variant: ArenaVariant, players: tuple[AccountRecord, AccountRecord], now: float
) -> ReplayedGame:
    """A game from its record, its running clock starting again at this moment."""
    position, names, told, squares = _replayed(variant, record.initial_fen, record.moves)
    return ReplayedGame(record, variant, players, position, names, told, squares, now)


def move(
    match: ReplayedGame,
    side: int,
    text: str,
    *,
    now: float,
    at: datetime,
    ply: int | None = None,
    draw: bool = False,
) -> ReplayedGame:
    """Play a move.

    Args:
        match: The game.
        side: Who wants to move.
        text: The move in the game's notation.
        now: When the move arrived, by the arena's clock.
        at: The same moment by the calendar.
        ply: Moves that the player knows of; a move for another position is refused.
        draw: Offer (or accept) a draw with the move.

    Raises:
        StaleBoard: The game has gone on (or back) since the player looked.
        Refused: It is not the player's turn, or the move is illegal.
    """
    record = match.record
    if ply is not None and ply != len(record.moves):
        raise StaleBoard(
            f"Your board is out of date: it shows move {ply}, the game is at {len(record.moves)}"
        )
    if match.is_over or match.to_move != side:
        raise ArenaRefusal(NOT_YOUR_TURN)
    left = match.remaining_ms(now)
    if left is not None and left[side] <= 0:
        raise ArenaRefusal("Your time is up")
    game = match.variant.game
    try:
        played = game.parse_move(match.position, text)
    except IllegalMove:
        legal = ", ".join(game.move_text(each) for each in game.legal_moves(match.position))
        raise ArenaRefusal(f"{text!r} is not a legal move here; legal: {legal}") from None
    if draw and record.draw_offers[1 - side]:
        return answer_draw(match, side, yes=True, now=now, at=at)
    clock = match.clock
    if left is not None and clock is not None and not match.is_abortable:
        left = _with(left, side, left[side] + 1000 * clock.increment_s)
    name, told = game.move_name(match.position, played), match.variant.told(match.position, played)
    position = game.play(match.position, played)
    record = replace(
        record,
        # As the game writes it: what it reads may be more generous.
        moves=(*record.moves, game.move_text(played)),
        remaining_ms=left,
        # Moving declines the other side's offers; one's own offer of a draw stays on the table.
        draw_offers=_with((False, False), side, draw or record.draw_offers[side]),
        takeback_offers=(False, False),
        last_move_at=at,
    )
    squares = game.move_squares(played)
    after = replace(
        match,
        record=record,
        position=position,
        names=(*match.names, name),
        told=(*match.told, told),
        last_squares=squares,
        turn_began=max(now, match.turn_began),
    )
    if game.legal_moves(position):
        return after
    result, mover = game.result_centi(position), game.side_to_move(position)
    winner = None if result == 0 else mover if result > 0 else 1 - mover
    return _end(after, game.ending(position).kind, winner, now, at)


class StaleBoard(ArenaRefusal):
    """A move made on a board that does not show the game as it is."""


def abort(match: ReplayedGame, *, now: float, at: datetime) -> ReplayedGame:
    """End a game that has hardly begun, without a result."""
    _require_open(match)
    if not match.is_abortable:
        raise ArenaRefusal("This game can no longer be aborted; resign instead")
    return _end(match, "aborted", None, now, at)


def resign(match: ReplayedGame, side: int, *, now: float, at: datetime) -> ReplayedGame:
    """Give up; before both have moved it is an abort, as on Lichess."""
    _require_open(match)
    if match.is_abortable:
        return abort(match, now=now, at=at)
    return _end(match, "resign", 1 - side, now, at)


def answer_draw(match: ReplayedGame, side: int, *, yes: bool, now: float, at: datetime) -> ReplayedGame:
    """Offer a draw, or answer the other side's offer."""
    _require_open(match)
    if match.is_abortable:
        raise ArenaRefusal("It is too early for a draw")
    offers = match.record.draw_offers
    if yes and offers[1 - side]:
        return _end(match, "draw", None, now, at)
    if not yes and not offers[1 - side]:
        raise ArenaRefusal("There is no draw offer to decline")
    offers = _with(offers, side, True) if yes else _with(offers, 1 - side, False)
    return replace(match, record=replace(match.record, draw_offers=offers))


def answer_takeback(match: ReplayedGame, side: int, *, yes: bool, now: float, at: datetime) -> ReplayedGame:
    """Ask to take the own latest move back, or answer the other side's wish."""
    _require_open(match)
    record = match.record
    if yes and record.takeback_offers[1 - side]:
        return _take_back(match, 1 - side, now, at)
    if not yes:
        if not record.takeback_offers[1 - side]:
            raise ArenaRefusal("There is no takeback to decline")
        return replace(
            match, record=replace(record, takeback_offers=_with(record.takeback_offers, 1 - side, False))
        )
    if record.rated:
        raise ArenaRefusal("Moves cannot be taken back in a rated game")
    if len(record.moves) < _plies_back(match, side):
        raise ArenaRefusal("You have not moved yet")
    return replace(match, record=replace(record, takeback_offers=_with(record.takeback_offers, side, True)))


def _plies_back(match: ReplayedGame, side: int) -> int:
    """Moves to undo until the side is about to make its latest move again."""
    return 2 if match.to_move == side else 1


def _take_back(match: ReplayedGame, side: int, now: float, at: datetime) -> ReplayedGame:
    moves = match.record.moves[: -_plies_back(match, side)]
    record = replace(
        match.record,
        moves=moves,
        # Time that was spent stays spent, for both.
        remaining_ms=match.remaining_ms(now),
        draw_offers=(False, False),
        takeback_offers=(False, False),
        last_move_at=at,
    )
    position, names, told, squares = _replayed(match.variant, record.initial_fen, moves)
    return replace(
        match,
        record=record,
        position=position,
        names=names,
        told=told,
        last_squares=squares,
        turn_began=now,
    )


def _replayed(
    variant: ArenaVariant, initial_fen: str | None, moves: tuple[str, ...]
) -> tuple[Any, tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The position after the moves, their names, how the API tells them, and the squares of the last."""
    game = variant.game
    names, told = [], []
    position, squares = variant.start(initial_fen), tuple[str, ...]()
    for text in moves:
        move = game.parse_move(position, text)
        names.append(game.move_name(position, move))
        told.append(variant.told(position, move))
        squares = game.move_squares(move)
        position = game.play(position, move)
    return position, tuple(names), tuple(told), squares


def claim(match: ReplayedGame, side: int, *, victory: bool, now: float, at: datetime) -> ReplayedGame:
    """End a game that the other side has left (the caller knows that it has)."""
    _require_open(match)
    if match.clock is None:
        # As on Lichess: programs leave such games between their moves.
        raise ArenaRefusal("A game without a clock cannot be claimed")
    if match.is_abortable:
        raise ArenaRefusal("Not both players have moved: abort the game instead")
    return _end(match, "timeout", side, now, at) if victory else _end(match, "draw", None, now, at)


def run_out(match: ReplayedGame, *, now: float, at: datetime) -> ReplayedGame:
    """End a game whose deadline has passed: aborted before both have moved, else lost on time."""
    _require_open(match)
    if match.is_abortable:
        return _end(match, "aborted", None, now, at)
    return _end(match, "outoftime", 1 - match.to_move, now, at)


def _require_open(match: ReplayedGame) -> None:
    if match.is_over:
        raise ArenaRefusal("The game is already over")


def _end(match: ReplayedGame, status: str, winner: int | None, now: float, at: datetime) -> ReplayedGame:
    record = replace(
        match.record,
        status=status,
        winner=winner,
        remaining_ms=match.remaining_ms(now),
        draw_offers=(False, False),
        takeback_offers=(False, False),
        ended_at=at,
    )
    return replace(match, record=record)


def _with(pair: tuple[T, T], side: int, value: T) -> tuple[T, T]:
    return (value, pair[1]) if side == 0 else (pair[0], value)
