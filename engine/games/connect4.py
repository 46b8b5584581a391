"""Rules of Connect Four, the example in docs/adding-a-game.md."""

import re
from typing import NamedTuple

from engine.game import WIN_CENTI, BadPosition, Ending, IllegalMove, Move
from engine.games.plain import PlainGame

COLUMNS, ROWS = 7, 6
_HEIGHT = ROWS + 1  # each column has one bit more, so that lines cannot wrap over the top
_BOARD = sum(((1 << ROWS) - 1) << _HEIGHT * column for column in range(COLUMNS))
_STEPS = (1, _HEIGHT, _HEIGHT - 1, _HEIGHT + 1)  # up, right, down right, up right
_VALUE_CENTI = (0, 4, 15, 60, 0)
"""Value of a line of four that only one side can still fill, by the number of discs in it. As a rule of
thumb, each disc makes the line about four times as valuable."""

LINES = tuple(
    line
    for start in range(COLUMNS * _HEIGHT)
    for step in _STEPS
    if (line := sum(1 << start + n * step for n in range(4))) | _BOARD == _BOARD
)
"""All 69 lines of four."""


class Connect4Position(NamedTuple):
    """The discs of each side as bits: bit ``7 * column + row`` stands for a square; row 0 is the lowest."""

    mover: int
    waiter: int


def has_four(discs: int) -> bool:
    """Whether four of these discs are in a line."""
    for step in _STEPS:
        pairs = discs & discs >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


class Connect4(PlainGame[Connect4Position]):
    """A line of four wins; red begins.  A move is the bit number of the square where the disc lands."""

    name = "connect4"
    score_unit = ""
    is_numbered_in_pairs = False
    title = "Connect Four"
    sides = ("red", "yellow")
    deepest_search = COLUMNS * ROWS

    def initial(self) -> Connect4Position:
        return Connect4Position(0, 0)

    def side_to_move(self, position: Connect4Position) -> int:
        return (position.mover | position.waiter).bit_count() % 2

    def legal_moves(self, position: Connect4Position) -> tuple[Move, ...]:
        if has_four(position.waiter):
            return ()
        discs = position.mover | position.waiter
        bottom = sum(1 << _HEIGHT * column for column in range(COLUMNS))
        free = (discs + bottom) & _BOARD  # in each column the lowest empty square
        return tuple(place for place in range(COLUMNS * _HEIGHT) if free >> place & 1)

    def native_position(self, position: Connect4Position) -> tuple[int, int]:
        """The position in the core's format: the mover's discs, then the opponent's discs."""
        return position.mover, position.waiter

    def play(self, position: Connect4Position, move: Move) -> Connect4Position:
        if move not in self.legal_moves(position):
            raise IllegalMove(self.move_text(move), self.position_text(position))
        return Connect4Position(position.waiter, position.mover | 1 << move)

    def result_centi(self, position: Connect4Position) -> int:
        if not has_four(position.waiter):
            return 0
        return -WIN_CENTI - 100 * self.most_plies_left(position)  # the shorter a win, the better

    def ending(self, position: Connect4Position) -> Ending:
        return Ending("variantEnd", "Four in a line.") if has_four(position.waiter) else Ending("draw", "")

    def evaluate_centi(self, position: Connect4Position) -> int:
        """Value of the mover's open lines minus the value of the opponent's."""
        mover, waiter = position
        return sum(
            (not waiter & line) * _VALUE_CENTI[(mover & line).bit_count()]
            - (not mover & line) * _VALUE_CENTI[(waiter & line).bit_count()]
            for line in LINES
        )

    def score_text(self, score_centi: float, position: Connect4Position) -> str:
        if abs(score_centi) < WIN_CENTI:
            return f"{score_centi / 100:+.2f}"
        left = self.most_plies_left(position) - round((abs(score_centi) - WIN_CENTI) / 100)
        return f"{'won' if score_centi > 0 else 'lost'} in {(left + 1) // 2}"

    def expected_scale_centi(self, position: Connect4Position) -> float:  # noqa: ARG002
        return 100.0

    def move_text(self, move: Move) -> str:
        column, row = divmod(move, _HEIGHT)
        return f"{'abcdefg'[column]}{row + 1}" if 0 <= column < COLUMNS and row < ROWS else f"place {move}"

    def position_text(self, position: Connect4Position) -> str:
        return f"{'/'.join(self.board_rows(position))} {'ry'[self.side_to_move(position)]}"

    def parse_position(self, text: str) -> Connect4Position:
        match = re.fullmatch(rf"((?:[ry.]{{{COLUMNS}}}/){{{ROWS - 1}}}[ry.]{{{COLUMNS}}}) ([ry])", text)
        if not match:
            raise BadPosition(f"expected six rows of r, y and . separated by /, and r or y, got {text!r}")
        rows, side = match[1].split("/")[::-1], match[2]
        red, yellow = (
            sum(1 << _HEIGHT * c + r for r, row in enumerate(rows) for c in range(COLUMNS) if row[c] == disc)
            for disc in "ry"
        )
        discs = red | yellow
        if (discs + sum(1 << _HEIGHT * column for column in range(COLUMNS))) & discs:
            raise BadPosition(f"a disc has an empty square below it in {text!r}")
        if red.bit_count() - yellow.bit_count() != (side == "y"):
            raise BadPosition(f"the counts of r and y do not fit {side!r} to move in {text!r}")
        position = Connect4Position(red, yellow) if side == "r" else Connect4Position(yellow, red)
        if has_four(position.mover):
            raise BadPosition(f"the side to move has already won in {text!r}")
        return position

    def board_rows(self, position: Connect4Position) -> tuple[str, ...]:
        red, yellow = position if self.side_to_move(position) == 0 else position[::-1]
        return tuple(
            "".join(
                "r"
                if red >> _HEIGHT * column + row & 1
                else "y"
                if yellow >> _HEIGHT * column + row & 1
                else "."
                for column in range(COLUMNS)
            )
            for row in reversed(range(ROWS))
        )

    def move_squares(self, move: Move) -> tuple[str, ...]:
        return (self.move_text(move),)

    def most_plies_left(self, position: Connect4Position) -> int:
        return COLUMNS * ROWS - (position.mover | position.waiter).bit_count()
