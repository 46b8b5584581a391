"""`Game`: everything that a search may know about a game.

A *game* knows its rules and no search; a *search* knows no game.  Positions are immutable values, so
there is nothing to undo, and moves are small integers whose text belongs to the game.  A forced pass is
an ordinary move, so no search ever asks which game it is in.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol, TypeVar

Move = int

WIN_CENTI = 100_000
"""Any score this far from zero is a *decided* game: a forced win (or, negative, a forced loss).

A won game scores ``WIN_CENTI`` plus what the game thinks of the win (Othello: 100 for each disc of the
margin), so every forced win outranks every evaluation and better wins outrank worse ones.
"""

MOST_PLIES = 8_000
"""Plies of a game that the score of its loss can tell apart; longer games are as good as impossible."""

_SOONEST = 10_000

P = TypeVar("P")


def margin_centi(score_centi: int) -> int:
    """A score on the scale of evaluations: a decided game is worth what the game thinks of its win."""
    if abs(score_centi) < WIN_CENTI:
        return score_centi
    return score_centi - WIN_CENTI if score_centi > 0 else score_centi + WIN_CENTI


def lost_centi(ply: int) -> int:
    """Score of the side that has lost after so many plies of the game: the later, the better for it.

    For games without another measure of a win.  `ply_of_loss` is the way back.
    """
    return -WIN_CENTI - _SOONEST + min(ply, MOST_PLIES)


def ply_of_loss(score_centi: float) -> int | None:
    """After how many plies either side has lost, by a score of `lost_centi`; None: it is some other win."""
    ply = WIN_CENTI + _SOONEST - round(abs(score_centi))
    return ply if 0 <= ply <= MOST_PLIES else None


class BadPosition(ValueError):
    """A text that is not a position of the game; the message says what is wrong and where."""


class IllegalMove(ValueError):
    """A move that the rules do not allow in a position."""

    def __init__(self, move: str, position: str) -> None:
        # What a server calls a move may be as long as it likes.
        super().__init__(f"{move[:100]!r} is not a legal move in {position[:500]!r}")
        self.move = move
        self.position = position


class Highlight(NamedTuple):
    """Something that a board should point out to a player."""

    kind: str
    """What it is, for the looks: ``check``, ..."""
    squares: tuple[str, ...]
    text: str
    """A sentence for people."""


class Ending(NamedTuple):
    """How a game ended by its rules."""

    kind: str
    """A word that game servers know: ``mate``, ``stalemate`` (a draw), ``draw``; ``variantEnd``: won by
    another rule."""
    text: str
    """The rule as a sentence for people; empty where the result says it all."""


class Game(Protocol[P]):
    """The rules of one two-player game of perfect information.

    A position may know of the game before it (repetition), so it is more than what stands on the board.
    Scores must not depend on the way to a position, else no search could remember them; so a search sees the
    game up to where it began, and not the way within its own lines: `for_search` is the border.

    Scores are whole centi-units (a hundredth of a disc, pawn, ...) from the side to move's point of view.
    """

    @property
    def name(self) -> str:
        """Key of the game in configuration and database, for instance ``othello``."""

    @property
    def title(self) -> str:
        """The game's name for people, for instance ``Othello``."""

    @property
    def sides(self) -> tuple[str, str]:
        """What the two sides are called, the one that moves first in front: ``("black", "white")``."""

    @property
    def deepest_search(self) -> int:
        """No search may be asked for more plies."""

    def initial(self) -> P:
        """The position that a game starts from."""

    def side_to_move(self, position: P) -> int:
        """0 for the side that moved first in the game, 1 for the other."""

    def legal_moves(self, position: P) -> tuple[Move, ...]:
        """Every legal move, in the game's fixed order (the last tie-break of every choice); empty: over."""

    def play(self, position: P, move: Move) -> P:
        """The position after a move.

        Raises:
            IllegalMove: The rules do not allow it.
        """

    def for_search(self, position: P) -> P:
        """The position as the root of searched lines: moves from here on do not count as the game's past.

        Of such a position, or a line's, the position itself.
        """

    def goes_on(self, position: P) -> P:
        """A finished game's last position where a server plays on: counts and repetitions begin anew.

        Servers differ in whether a third occurrence or a number of plies ends a game by itself.  A position
        that no game can go on from is returned as it is.
        """

    def stood_before(self, position: P) -> bool:
        """Whether the game has seen this very position already; within a searched line nobody looks."""

    def result_centi(self, position: P) -> int:
        """Exact score of a finished game (`legal_moves` is empty): 0, or beyond `WIN_CENTI`."""

    def ending(self, position: P) -> Ending:
        """By which rule a finished game ended (`legal_moves` is empty)."""

    def evaluate_centi(self, position: P) -> int:
        """Static evaluation of a game that goes on, well inside ``+-WIN_CENTI``."""

    def score_text(self, score_centi: float, position: P) -> str:
        """A score as people read it, for instance ``+3.5`` discs or ``won by 12``.

        Args:
            score_centi: The score.
            position: Where the search began, for scores that tell a distance (mate in so many moves).
        """

    def expected_scale_centi(self, position: P) -> float:
        """What a lead must be, in centi-units, to make the odds of winning e to 1 between equals."""

    def move_text(self, move: Move) -> str:
        """The move in the game's usual notation."""

    def move_name(self, position: P, move: Move) -> str:
        """A legal move as people write it in their notes; for the other way round there is `parse_move`."""

    def parse_move(self, position: P, text: str) -> Move:
        """A legal move from its notation.

        Raises:
            IllegalMove: Not a move, or not one that the rules allow here.
        """

    def position_text(self, position: P) -> str:
        """One line that `parse_position` turns back into the same position."""

    def board_text(self, position: P) -> str:
        """What stands on the board as other programs know it (a FEN), without the game before it."""

    def parse_position(self, text: str) -> P:
        """A position from one line of text.

        Raises:
            BadPosition: The text is no position of this game.
        """

    def board_rows(self, position: P) -> tuple[str, ...]:
        """The board for display, top row first, a letter for each square; ``.`` is empty."""

    def move_squares(self, move: Move) -> tuple[str, ...]:
        """Squares that a person touches to play the move, in order; empty for a move without one (a pass)."""

    def highlights(self, position: P) -> tuple[Highlight, ...]:
        """What the board should point out to the side to move, for instance that it is in check."""

    def plies_left(self, position: P) -> int:
        """Roughly how many plies are still to come, at least 1: for dividing up a clock."""

    def most_plies_left(self, position: P) -> int:
        """No line from here is longer: a search so deep sees nothing but finished games."""


def positions(game: Game[P], moves: Iterable[str], start: P | None = None) -> Iterator[P]:
    """The positions of a game, the one that it starts from first, and one more for each move.

    Where a rule that not every server keeps has ended the game, the moves after that are played all the same
    (`Game.goes_on`).

    Raises:
        IllegalMove: At the first move that the rules do not allow.
    """
    position = game.initial() if start is None else start
    yield position
    for text in moves:
        try:
            position = game.play(position, game.parse_move(position, text))
        except IllegalMove:
            later = if_it_goes_on(game, position)
            if later is position:
                raise
            position = game.play(later, game.parse_move(later, text))
        yield position


def replay(game: Game[P], moves: Iterable[str], start: P | None = None) -> P:
    """The position after a list of moves in the game's notation: the last of `positions`.

    Raises:
        IllegalMove: At the first move that the rules do not allow.
    """
    *_, position = positions(game, moves, start)
    return position


def if_it_goes_on(game: Game[P], position: P) -> P:
    """The position to move in if the game goes on, whatever the rules say: see `Game.goes_on`."""
    return position if game.legal_moves(position) else game.goes_on(position)
