"""`Game`: the interface between searches and games.

A *game* has rules and no search; a *search* depends on no particular game. Positions are immutable values, so
there is nothing to undo, and moves are small integers that the game turns into text. A forced pass is an
ordinary move, so no search needs to know which game it plays.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, Self, TypeVar

Move = int

WIN_CENTI = 100_000
"""A score at least this far from zero is *decided*: a forced win if positive, a forced loss if negative.

A won game scores ``WIN_CENTI`` plus the game's own measure of the win (Othello: 100 per disc of margin), so
every forced win outranks every evaluation and better wins outrank worse ones.
"""

MAX_PLIES = 8_000
"""Last ply at which losses get distinct scores; longer games do not occur in practice."""

_IMMEDIATE_WIN_BONUS = 10_000

P = TypeVar("P")


def margin_centi(score_centi: int) -> int:
    """Convert a decided score to the game's own measure of the win; other scores remain unchanged."""
    if abs(score_centi) < WIN_CENTI:
        return score_centi
    return score_centi - WIN_CENTI if score_centi > 0 else score_centi + WIN_CENTI


def lost_centi(ply: int) -> int:
    """The losing side's score for a loss at this ply, for games without another measure of a win;
    later losses score better. `ply_of_loss` is the inverse.
    """
    return -WIN_CENTI - _IMMEDIATE_WIN_BONUS + min(ply, MAX_PLIES)


def ply_of_loss(score_centi: float) -> int | None:
    """The ply at which a side lost, from a score made by `lost_centi`; None for any other score."""
    ply = WIN_CENTI + _IMMEDIATE_WIN_BONUS - round(abs(score_centi))
    return ply if 0 <= ply <= MAX_PLIES else None


class BadPosition(ValueError):
    """The text is not a position of the game; the message says what is wrong and where."""


class IllegalMove(ValueError):
    """The move is illegal in this position."""

    def __init__(self, move: str, position: str) -> None:
        # A server may send a move text of any length.
        super().__init__(f"{move[:100]!r} is not a legal move in {position[:500]!r}")
        self.move = move
        self.position = position


class MoveName(str):
    """A move's name that people who read Chinese write otherwise."""

    chinese: str

    def __new__(cls, text: str, chinese: str = "") -> Self:
        name = super().__new__(cls, text)
        name.chinese = chinese
        return name


class Highlight(NamedTuple):
    """A fact that the board display should show to the player, such as a check."""

    kind: str
    """Kind of the fact, for styling, for instance ``check``."""
    squares: tuple[str, ...]
    text: str
    """A sentence for the player."""


class Ending(NamedTuple):
    """How a game ended under its rules."""

    kind: str
    """The ending, as servers name it: ``mate``, ``stalemate`` (a draw), ``draw``, or ``variantEnd`` (a
    win by another rule)."""
    text: str
    """The rule as a sentence for the player; empty if the result explains itself."""


class Game(Protocol[P]):
    """The rules of one two-player game of perfect information.

    A position is more than the board: it may include the game's earlier moves, for repetition. Scores
    must not depend on the path to a position, or a transposition table would be unsound. So a search uses the
    game's history up to its root, but ignores the path within its own lines: `for_search` marks the boundary.

    Scores are whole centi-units (a hundredth of a disc, pawn, ...) from the side to move's point of view.
    """

    @property
    def name(self) -> str:
        """Key of the game in configuration and database, for instance ``othello``."""

    @property
    def title(self) -> str:
        """The game's display name, for instance ``Othello``."""

    @property
    def score_unit(self) -> str:
        """The unit of displayed scores, for instance ``discs``; empty if there is none."""

    @property
    def is_numbered_in_pairs(self) -> bool:
        """Whether a move number counts a move of each side, as in chess; otherwise, each move but a pass has
        its own number, as in Othello.
        """

    @property
    def sides(self) -> tuple[str, str]:
        """Names of the two sides, starting with the first mover: ``("black", "white")``."""

    @property
    def deepest_search(self) -> int:
        """Upper limit for the depth of a search, in plies."""

    def initial(self) -> P:
        """The standard starting position."""

    def side_to_move(self, position: P) -> int:
        """The side to move: 0 for the side that moved first in the game, 1 for the other."""

    def legal_moves(self, position: P) -> tuple[Move, ...]:
        """All legal moves in the game's fixed order (the final tie-break); none if the game is over."""

    def play(self, position: P, move: Move) -> P:
        """The position after a move.

        Raises:
            IllegalMove: The move is illegal.
        """

    def for_search(self, position: P) -> P:
        """The position as the root of a search: moves from here on do not count as the game's past.

        A position that is already a root, or lies on a searched line, is returned unchanged.
        """

    def without_rule_ending(self, position: P) -> P:
        """A finished game's last position without its counters and repetitions, for a server that continues
        the game.

        Servers differ in whether a third occurrence or a number of plies ends a game automatically. A
        position from which no game can continue is returned unchanged.
        """

    def is_repeated(self, position: P) -> bool:
        """Whether this position has occurred in the game before; always false within a searched line."""

    def result_centi(self, position: P) -> int:
        """Exact score of a finished game (no legal moves): 0, or at least `WIN_CENTI` in absolute value."""

    def ending(self, position: P) -> Ending:
        """The rule that ended a finished game (`legal_moves` is empty)."""

    def evaluate_centi(self, position: P) -> int:
        """Static evaluation of an unfinished game, well inside ``+-WIN_CENTI``."""

    def score_text(self, score_centi: float, position: P) -> str:
        """A score for display, for instance ``+3.5`` discs or ``won by 12``.

        Args:
            score_centi: The score.
            position: The root of the search, for scores that contain a distance (mate in N moves).
        """

    def expected_scale_centi(self, position: P) -> float:
        """The lead, in centi-units, that gives one of two equal players odds of e to 1 of winning."""

    def move_text(self, move: Move) -> str:
        """The move in the game's usual notation."""

    def move_name(self, position: P, move: Move) -> str:
        """A legal move in human-readable notation, which `parse_move` can also read."""

    def parse_move(self, position: P, text: str) -> Move:
        """Parse a legal move in the game's notation.

        Raises:
            IllegalMove: The text is not a move, or the rules do not allow it here.
        """

    def position_text(self, position: P) -> str:
        """The position as one line of text, from which `parse_position` restores it."""

    def board_text(self, position: P) -> str:
        """The board in the notation of other programs (a FEN), without the game's earlier moves."""

    def parse_position(self, text: str) -> P:
        """Parse a position from one line of text.

        Raises:
            BadPosition: The text is not a position of this game.
        """

    def board_rows(self, position: P) -> tuple[str, ...]:
        """The board for display, top row first, one letter per square; ``.`` is empty."""

    def move_squares(self, move: Move) -> tuple[str, ...]:
        """Squares to click, in order, to play the move; empty for a move without squares (a pass)."""

    def highlights(self, position: P) -> tuple[Highlight, ...]:
        """Facts that the displayed board should show the side to move, for instance a check."""

    def plies_left(self, position: P) -> int:
        """A rough estimate of the remaining plies, at least 1, for allocating clock time."""

    def most_plies_left(self, position: P) -> int:
        """Upper bound on the remaining plies: every line of this length ends in a finished game."""


def starting_position(game: Game[P], text: str | None) -> P:
    """The position that a text describes, or the game's standard starting position if the text is None.

    Raises:
        BadPosition: The text is not a valid position.
    """
    return game.initial() if text is None else game.parse_position(text)


def positions(game: Game[P], moves: Iterable[str], start: P | None = None) -> Iterator[P]:
    """The positions of a game: the start position, followed by the position after each move.

    Moves after a rule has ended the game are also played (`Game.without_rule_ending`), since not every server
    applies every rule.

    Raises:
        IllegalMove: A move is illegal; the message names the first illegal move.
    """
    position = game.initial() if start is None else start
    yield position
    for text in moves:
        try:
            position = game.play(position, game.parse_move(position, text))
        except IllegalMove:
            later = continued_position(game, position)
            if later is position:
                raise
            position = game.play(later, game.parse_move(later, text))
        yield position


def replay(game: Game[P], moves: Iterable[str], start: P | None = None) -> P:
    """The position after a list of moves in the game's notation: the last of `positions`.

    Raises:
        IllegalMove: A move is illegal; the message names the first illegal move.
    """
    *_, position = positions(game, moves, start)
    return position


def legal_prefix(game: Game[P], position: P, variation: Iterable[str]) -> tuple[str, ...]:
    """A variation up to its first illegal move, in the game's notation."""
    legal: list[str] = []
    for text in variation:
        try:
            move = game.parse_move(position, text)
        except IllegalMove:
            break
        legal.append(game.move_text(move))
        position = game.play(position, move)
    return tuple(legal)


def continued_position(game: Game[P], position: P) -> P:
    """The position from which a server continues the game, even if the rules have ended it: see
    `Game.without_rule_ending`."""
    return position if game.legal_moves(position) else game.without_rule_ending(position)


def move_count(moves: Sequence[str], ply: int) -> int:
    """The number of moves of both sides up to this ply, itself included; passes do not count.

    Args:
        moves: The game's moves; of a running game, the last ones may be missing.
        ply: Index of the last move to count.
    """
    return ply + 1 - list(moves[: ply + 1]).count("pass")


def move_number(rules: Game[P], moves: Sequence[str], ply: int) -> int:
    """The number of the move at this ply, as players of the game count; the first move has number 1."""
    return ply // 2 + 1 if rules.is_numbered_in_pairs else move_count(moves, ply)
