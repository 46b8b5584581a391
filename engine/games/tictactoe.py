"""Rules of tic-tac-toe, which is small enough for tests to compare the searches with exhaustive search."""

from typing import NamedTuple

from engine.game import WIN_CENTI, BadPosition, Ending, IllegalMove, Move
from engine.games.plain import PlainGame

_LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
_FULL = 0o777
_CELLS = 9


class TicTacToePosition(NamedTuple):
    """The marks of each side as bits: bit ``3 * row + column`` is a square, with row 0 at the top."""

    mover: int
    waiter: int


def _is_line(cells: int) -> bool:
    return any(cells & line == line for line in _LINES)


class TicTacToe(PlainGame[TicTacToePosition]):
    """Noughts and crosses; crosses begin.  Squares are named ``a1`` (top left) to ``c3`` (bottom right)."""

    name = "tictactoe"
    score_unit = ""
    is_numbered_in_pairs = False
    title = "Tic-tac-toe"
    sides = ("x", "o")
    deepest_search = 60

    def initial(self) -> TicTacToePosition:
        return TicTacToePosition(0, 0)

    def side_to_move(self, position: TicTacToePosition) -> int:
        return (position.mover | position.waiter).bit_count() % 2

    def legal_moves(self, position: TicTacToePosition) -> tuple[Move, ...]:
        if _is_line(position.waiter):
            return ()
        taken = position.mover | position.waiter
        return tuple(cell for cell in range(_CELLS) if not taken >> cell & 1)

    def play(self, position: TicTacToePosition, move: Move) -> TicTacToePosition:
        if move not in self.legal_moves(position):
            raise IllegalMove(self.move_text(move), self.position_text(position))
        return TicTacToePosition(position.waiter, position.mover | 1 << move)

    def result_centi(self, position: TicTacToePosition) -> int:
        if not _is_line(position.waiter):
            return 0
        return -WIN_CENTI - 100 * (self.plies_left(position))  # the shorter a win, the better

    def ending(self, position: TicTacToePosition) -> Ending:
        return Ending("variantEnd" if _is_line(position.waiter) else "draw", "")

    def evaluate_centi(self, position: TicTacToePosition) -> int:
        """100 for each line that only the mover can still fill, -100 for each such line of the opponent."""
        open_lines = sum(not position.waiter & line for line in _LINES)
        closed_lines = sum(not position.mover & line for line in _LINES)
        return 100 * (open_lines - closed_lines)

    def score_text(self, score_centi: float, position: TicTacToePosition) -> str:  # noqa: ARG002
        if abs(score_centi) >= WIN_CENTI:
            return "won" if score_centi > 0 else "lost"
        return f"{score_centi / 100:+.2f}"

    def expected_scale_centi(self, position: TicTacToePosition) -> float:  # noqa: ARG002
        return 200.0

    def move_text(self, move: Move) -> str:
        return f"{'abc'[move % 3]}{move // 3 + 1}" if 0 <= move < _CELLS else f"cell {move}"

    def position_text(self, position: TicTacToePosition) -> str:
        return f"{'/'.join(self.board_rows(position))} {self.sides[self.side_to_move(position)]}"

    def parse_position(self, text: str) -> TicTacToePosition:
        board, _, side = text.partition(" ")
        cells = board.replace("/", "")
        if board.count("/") != 2 or len(cells) != _CELLS or set(cells) - set("xo."):
            raise BadPosition(f"expected three rows of x, o and . separated by /, got {text!r}")
        crosses, noughts = (sum(1 << i for i, cell in enumerate(cells) if cell == mark) for mark in "xo")
        to_move = self.sides[(crosses | noughts).bit_count() % 2]
        if crosses.bit_count() - noughts.bit_count() not in (0, 1) or side != to_move:
            raise BadPosition(f"the counts of x and o do not fit {side!r} to move in {text!r}")
        mover, waiter = (crosses, noughts) if side == "x" else (noughts, crosses)
        if _is_line(mover):
            raise BadPosition(f"the side to move has already won in {text!r}")
        return TicTacToePosition(mover, waiter)

    def board_rows(self, position: TicTacToePosition) -> tuple[str, ...]:
        marks = self.sides if self.side_to_move(position) == 0 else self.sides[::-1]
        cells = [
            marks[0] if position.mover >> i & 1 else marks[1] if position.waiter >> i & 1 else "."
            for i in range(_CELLS)
        ]
        return tuple("".join(cells[row : row + 3]) for row in (0, 3, 6))

    def move_squares(self, move: Move) -> tuple[str, ...]:
        return (self.move_text(move),)

    def most_plies_left(self, position: TicTacToePosition) -> int:
        return _CELLS - (position.mover | position.waiter).bit_count()
