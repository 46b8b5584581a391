"""Rules of Othello: move generation on bitboards held in plain Python integers.

Bit ``8 * row + column`` stands for a square, row 0 at the top, so a1 is bit 0, h1 bit 7, h8 bit 63 (the
order of WTHOR and of printed diagrams).  Moves are square numbers; `PASS` is the forced move of a side that
cannot place a disc.  The C++ core (``engine/native/othello/othello.hpp``) implements the same rules.
"""

import re
from typing import NamedTuple

from engine.game import WIN_CENTI, BadPosition, Ending, IllegalMove, Move
from engine.games import othello_evaluation, othello_result
from engine.games.plain import PlainGame

PASS: Move = 64
SQUARES = tuple(f"{column}{row}" for row in range(1, 9) for column in "abcdefgh")

_ALL = (1 << 64) - 1
_NOT_A = 0xFEFEFEFEFEFEFEFE
_NOT_H = 0x7F7F7F7F7F7F7F7F
# Left shift (negative: right), and the squares that this shift can reach without wrapping round an edge.
_DIRECTIONS = (
    (1, _NOT_A), (-1, _NOT_H), (8, _ALL), (-8, _ALL),
    (9, _NOT_A), (-9, _NOT_H), (7, _NOT_H), (-7, _NOT_A),
)  # fmt: skip


def _shift(board: int, step: int) -> int:
    return (board << step) & _ALL if step > 0 else board >> -step


def moves_mask(mover: int, waiter: int) -> int:
    """Bitboard of the squares where the mover may place a disc."""
    empty = ~(mover | waiter) & _ALL
    moves_mask = 0
    for step, reach in _DIRECTIONS:
        run = _shift(mover, step) & reach & waiter
        for _ in range(5):
            run |= _shift(run, step) & reach & waiter
        moves_mask |= _shift(run, step) & reach & empty
    return moves_mask


def flips_mask(mover: int, waiter: int, square: int) -> int:
    """Bitboard of the discs flipped by a disc placed on the square; 0 if the placement is illegal."""
    placed = 1 << square
    if placed & (mover | waiter):
        return 0
    flipped = 0
    for step, reach in _DIRECTIONS:
        run = 0
        cursor = _shift(placed, step) & reach
        while cursor & waiter:
            run |= cursor
            cursor = _shift(cursor, step) & reach
        if cursor & mover:
            flipped |= run
    return flipped


class OthelloPosition(NamedTuple):
    """Discs of the side to move, discs of the other side, and the colour of the side to move."""

    mover: int
    waiter: int
    side: int
    """The side to move: 0 for black, which moves first, and 1 for white."""


class Othello(PlainGame[OthelloPosition]):
    """The standard rules: black begins; a side without a move passes; two passes end the game.

    The empty squares of a finished game count for the winner, as in WTHOR and in tournaments.
    """

    name = "othello"
    score_unit = "discs"
    is_numbered_in_pairs = False
    title = "Othello"
    sides = ("black", "white")
    deepest_search = 120  # 60 placements, each after a pass

    def initial(self) -> OthelloPosition:
        return OthelloPosition(0x0000000810000000, 0x0000001008000000, 0)

    def side_to_move(self, position: OthelloPosition) -> int:
        return position.side

    def legal_moves(self, position: OthelloPosition) -> tuple[Move, ...]:
        mask = moves_mask(position.mover, position.waiter)
        if mask:
            return tuple(square for square in range(64) if mask >> square & 1)
        return (PASS,) if moves_mask(position.waiter, position.mover) else ()

    def play(self, position: OthelloPosition, move: Move) -> OthelloPosition:
        mover, waiter, side = position
        if move == PASS:
            if moves_mask(mover, waiter) or not moves_mask(waiter, mover):
                raise IllegalMove("pass", self.position_text(position))
            return OthelloPosition(waiter, mover, 1 - side)
        flipped = flips_mask(mover, waiter, move) if 0 <= move < 64 else 0
        if not flipped:
            raise IllegalMove(self.move_text(move), self.position_text(position))
        return OthelloPosition(waiter & ~flipped, mover | flipped | 1 << move, 1 - side)

    def native_position(self, position: OthelloPosition) -> tuple[int, int]:
        """The position in the core's format: the mover's discs, then the other side's discs."""
        return position.mover, position.waiter

    def result_centi(self, position: OthelloPosition) -> int:
        return self.result_of_margin(self.margin_discs(position))

    @staticmethod
    def result_of_margin(discs: int) -> int:
        """Convert a final disc difference to a score."""
        return 0 if discs == 0 else (WIN_CENTI if discs > 0 else -WIN_CENTI) + 100 * discs

    def margin_discs(self, position: OthelloPosition) -> int:
        """Final score of a finished game in discs; the empty squares count for the winner."""
        mover, waiter = position.mover.bit_count(), position.waiter.bit_count()
        if mover == waiter:
            return 0
        return 64 - 2 * waiter if mover > waiter else 2 * mover - 64

    def ending(self, position: OthelloPosition) -> Ending:
        return Ending("variantEnd" if self.margin_discs(position) else "draw", "")

    def evaluate_centi(self, position: OthelloPosition) -> int:
        return othello_evaluation.evaluate_centi(position.mover, position.waiter)

    def score_text(self, score_centi: float, position: OthelloPosition) -> str:  # noqa: ARG002
        if abs(score_centi) >= WIN_CENTI:
            margin = (abs(score_centi) - WIN_CENTI) / 100
            return f"{'won' if score_centi > 0 else 'lost'} by {margin:.0f}"
        return f"{score_centi / 100:+.2f}"

    def expected_scale_centi(self, position: OthelloPosition) -> float:
        return othello_result.scale_centi(64 - (position.mover | position.waiter).bit_count())

    def move_text(self, move: Move) -> str:
        if move == PASS:
            return "pass"
        return SQUARES[move] if 0 <= move < 64 else f"square {move}"

    def position_text(self, position: OthelloPosition) -> str:
        rows = (re.sub(r"\.+", lambda run: str(len(run[0])), row) for row in self.board_rows(position))
        return f"{'/'.join(rows)} {'bw'[position.side]}"

    def parse_position(self, text: str) -> OthelloPosition:
        """Read ``8/8/8/3wb3/3bw3/8/8/8 b``, or the 64 letters of Othello programs: ``---...OX...--- X``."""
        obf = re.fullmatch(r"([-.XO*]{64})\s*([XO*])\s*;?.*", text.strip(), re.IGNORECASE | re.DOTALL)
        if obf:
            cells = obf[1].upper().translate(str.maketrans("X*O-", "bbw."))
            side = obf[2].upper().translate(str.maketrans("X*O", "bbw"))
        else:
            board, _, side = text.strip().partition(" ")
            rows = [re.sub(r"[1-8]", lambda digit: "." * int(digit[0]), row) for row in board.split("/")]
            for number, row in enumerate(rows, start=1):
                if not re.fullmatch(r"[bw.]{8}", row):
                    raise BadPosition(f"row {number} of {text!r} is not eight squares of b, w or empty")
            if len(rows) != 8 or side not in ("b", "w"):
                raise BadPosition(f"expected eight rows, a space and b or w, got {text!r}")
            cells = "".join(rows)
        black, white = (sum(1 << i for i, cell in enumerate(cells) if cell == disc) for disc in "bw")
        if not black | white:
            raise BadPosition(f"there are no discs in {text!r}")
        return OthelloPosition(black, white, 0) if side == "b" else OthelloPosition(white, black, 1)

    def board_rows(self, position: OthelloPosition) -> tuple[str, ...]:
        black, white = position[:2] if position.side == 0 else position[1::-1]
        cells = ["b" if black >> i & 1 else "w" if white >> i & 1 else "." for i in range(64)]
        return tuple("".join(cells[row : row + 8]) for row in range(0, 64, 8))

    def move_squares(self, move: Move) -> tuple[str, ...]:
        return () if move == PASS else (SQUARES[move],)

    def plies_left(self, position: OthelloPosition) -> int:
        return max(1, 64 - (position.mover | position.waiter).bit_count())

    def most_plies_left(self, position: OthelloPosition) -> int:
        return 2 * (64 - (position.mover | position.waiter).bit_count())  # each placement after a pass
