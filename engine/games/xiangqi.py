"""Rules of xiangqi (Chinese chess): move generation in plain Python.

Squares are numbers ``9 * rank + file``, rank 0 being red's home row, so a1 is 0, i1 is 8, i10 is 89.  A board
is a string of 90 letters in that order: ``P A B N C R K`` (soldier, advisor, elephant, horse, cannon, rook,
general) in capitals for red, in small letters for black, and ``.`` for an empty point.  Moves are
``from | to << 7``.  The C++ core (``engine/native/xiangqi/xiangqi.hpp``) has the same rules.

Apart from mate, games end as follows:

* A side without a legal move has lost, whether or not it is in check. The generals must not face each other
  on an open file.
* The third occurrence of a position ends the game. A side that has checked with every move since the first
  occurrence loses, unless both have; otherwise the game is a draw. Perpetual chase is also a draw, because
  rule books define a chase at length (is the piece protected, is it pinned, which piece attacks) and differ.
* 100 plies without a capture are a draw.

A search judges a third occurrence by the game's moves up to the root only: see `XiangqiPosition.line`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.game import (
    MAX_PLIES,
    WIN_CENTI,
    BadPosition,
    Ending,
    Highlight,
    IllegalMove,
    Move,
    MoveName,
    lost_centi,
    ply_of_loss,
)
from engine.games import xiangqi_evaluation
from engine.games.xiangqi_notation import FILES, chinese_name, read_move, wxf_name

RANKS = 10
SQUARES = tuple(f"{file}{rank}" for rank in range(1, RANKS + 1) for file in "abcdefghi")
START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"

_MAX_QUIET_PLIES = 100

_KINDS = "PABNCRK"
_NAMES = dict(
    zip(_KINDS, ("soldier", "advisor", "elephant", "horse", "cannon", "rook", "general"), strict=True)
)
_OTHER_LETTERS = str.maketrans("EHeh", "BNbn")
"""Elephants and horses in other programs' FENs."""
_MAX_PIECES_OF_KIND = dict(zip(_KINDS, (5, 2, 2, 2, 2, 2, 1), strict=True))
_ELEPHANT_POINTS = {(2, 0), (6, 0), (0, 2), (4, 2), (8, 2), (2, 4), (6, 4)}
"""The points that elephants can reach: file, and rank counted from the owner's home rank."""


def _at(file: int, rank: int) -> int | None:
    return FILES * rank + file if 0 <= file < FILES and 0 <= rank < RANKS else None


def _steps(square: int, steps: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the squares at the given offsets (files, ranks) from a square, if they are on the board."""
    targets = (_at(square % FILES + files, square // FILES + ranks) for files, ranks in steps)
    return tuple(target for target in targets if target is not None)


_SIDEWAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))
_DIAGONALS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_RAYS = tuple(
    tuple(_steps(square, [(files * i, ranks * i) for i in range(1, RANKS)]) for files, ranks in _SIDEWAYS)
    for square in range(90)
)


def _horse_steps(square: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Return pairs of a horse's leg, which must be empty, and the target squares behind the leg."""
    pairs = []
    for files, ranks in _SIDEWAYS:
        for leg in _steps(square, [(files, ranks)]):
            ahead = [(2 * files + ranks * turn, 2 * ranks + files * turn) for turn in (1, -1)]
            pairs.append((leg, _steps(square, ahead)))
    return tuple(pairs)


_HORSE = tuple(_horse_steps(square) for square in range(90))
_HORSES_TO = tuple(
    tuple((start, leg) for start in range(90) for leg, targets in _HORSE[start] if square in targets)
    for square in range(90)
)
"""For each square, the squares from which a horse attacks it, each with that horse's leg."""
_GUARDS = tuple(
    frozenset({square, *(s for ray in _RAYS[square] for s in ray), *(leg for _, leg in _HORSES_TO[square])})
    for square in range(90)
)
"""For each square, the squares where an arriving or leaving piece can shield or expose a general on it."""


class _PieceTables(NamedTuple):
    """Move tables of a piece of a given kind and colour, computed in advance."""

    points: frozenset[int]
    """Squares that the piece can ever reach."""
    steps: tuple[tuple[int, ...], ...]
    """For each square, the squares to which a soldier, advisor or general can move."""
    elephant_steps: tuple[tuple[tuple[int, int], ...], ...]
    """For each square, pairs of an eye, which must be empty, and the elephant's target behind the eye."""


def _piece_tables(piece: str) -> _PieceTables:
    kind, is_black = piece.upper(), piece.islower()
    everywhere = range(FILES * RANKS)
    home_rank = [RANKS - 1 - s // FILES if is_black else s // FILES for s in everywhere]
    palace = [s for s in everywhere if 3 <= s % FILES <= 5 and home_rank[s] <= 2]
    points: dict[str, list[int]] = {
        "P": [s for s in everywhere if home_rank[s] >= 5 or (home_rank[s] >= 3 and s % FILES % 2 == 0)],
        "A": [s for s in palace if (s % FILES + home_rank[s]) % 2 == 1],
        "B": [s for s in everywhere if (s % FILES, home_rank[s]) in _ELEPHANT_POINTS],
        "K": palace,
    }
    allowed = frozenset(points.get(kind, everywhere))
    forward = (0, -1) if is_black else (0, 1)
    ways = {"P": (forward,), "A": _DIAGONALS, "K": _SIDEWAYS}.get(kind, ())
    crossed = (forward, (1, 0), (-1, 0))
    return _PieceTables(
        allowed,
        tuple(
            tuple(
                t for t in _steps(s, crossed if kind == "P" and home_rank[s] >= 5 else ways) if t in allowed
            )
            for s in everywhere
        ),
        tuple(
            tuple((eye, t) for way in _DIAGONALS for eye, t in _eye_and_target(s, *way) if t in allowed)
            for s in everywhere
        ),
    )


def _eye_and_target(square: int, files: int, ranks: int) -> list[tuple[int, int]]:
    """Return the eye and the target of an elephant's move; empty if the move leaves the board."""
    way = _steps(square, [(files, ranks), (2 * files, 2 * ranks)])
    return [(way[0], way[1])] if len(way) == 2 else []


_TABLES = {piece: _piece_tables(piece) for piece in _KINDS + _KINDS.lower()}


def _targets(board: Sequence[str], square: int) -> Iterator[int]:
    """Yield the pseudo-legal targets of a piece, without checking its general's safety."""
    piece = board[square]
    kind = piece.upper()
    if kind in "RC":
        for ray in _RAYS[square]:
            for index, target in enumerate(ray):
                if board[target] != ".":
                    if kind == "C":  # jumps over one piece to the next
                        beyond = next((t for t in ray[index + 1 :] if board[t] != "."), None)
                        if beyond is not None and board[beyond].isupper() != piece.isupper():
                            yield beyond
                    elif board[target].isupper() != piece.isupper():
                        yield target
                    break
                yield target
        return
    if kind == "N":
        reached = [target for leg, targets in _HORSE[square] if board[leg] == "." for target in targets]
    elif kind == "B":
        reached = [target for eye, target in _TABLES[piece].elephant_steps[square] if board[eye] == "."]
    else:
        reached = list(_TABLES[piece].steps[square])
    yield from (t for t in reached if board[t] == "." or board[t].isupper() != piece.isupper())


def _is_exposed(board: Sequence[str], side: int) -> bool:
    """Whether a side's general is attacked or faces the other general."""
    soldier, horse, cannon, rook, general = "PNCRK" if side else "pncrk"
    square = board.index("k" if side else "K")
    for ray in _RAYS[square]:
        met = [target for target in ray if board[target] != "."]
        if met and (board[met[0]] == rook or (board[met[0]] == general and abs(met[0] - square) >= FILES)):
            return True
        if len(met) > 1 and board[met[1]] == cannon:
            return True
    if any(board[start] == horse and board[leg] == "." for start, leg in _HORSES_TO[square]):
        return True
    forward = FILES if side == 0 else -FILES
    return any(board[start] == soldier for start in (square - 1, square + 1, square + forward))


class EarlierPosition(NamedTuple):
    """An earlier position of the game."""

    board: str
    move: Move
    """The move played from it."""
    is_check: bool
    """Whether the side to move was in check."""


class XiangqiPosition(NamedTuple):
    """A board, with the part of the game's history that can still affect the result."""

    board: str
    side: int
    """The side to move: 0 for red, which moves first, and 1 for black."""
    quiet_plies: int
    """Plies since the last capture."""
    ply: int
    """Plies since the game began, from the move number of the FEN."""
    past: tuple[EarlierPosition, ...]
    """The game's positions since its last capture or soldier's advance; earlier positions cannot recur."""
    line: tuple[Move, ...] | None
    """In a search, the moves since its root or since the last irreversible move; None in a game.

    `past` has the game's positions up to and including the root, but not those of the line, so a position's
    score does not depend on the path by which a search reached it.  A line ends when it reaches a position
    that occurs in `past` twice.
    """


def _apply(board: str, move: Move) -> str:
    start, target = move & 127, move >> 7
    after = list(board)
    after[target], after[start] = after[start], "."
    return "".join(after)


def _is_irreversible(board: str, move: Move) -> bool:
    start, target = move & 127, move >> 7
    return board[target] != "." or (board[start] in "Pp" and abs(target - start) == FILES)


def _perpetual_check(checks: Sequence[bool]) -> int:
    """Return -1 if the side to move at even indices loses by perpetual check, 1 if it wins, 0 otherwise.

    Args:
        checks: For each position between two occurrences of a position, whether the side to move is in check.
    """
    other_checks, own_checks = all(checks[::2]), all(checks[1::2])
    return other_checks - own_checks


class Xiangqi:
    """The rules as in Fairy-Stockfish, except that perpetual chase is a draw."""

    name = "xiangqi"
    score_unit = "pawns"
    is_numbered_in_pairs = True
    title = "Xiangqi"
    sides = ("red", "black")
    deepest_search = 60

    def initial(self) -> XiangqiPosition:
        return self.parse_position(START)

    def side_to_move(self, position: XiangqiPosition) -> int:
        return position.side

    def legal_moves(self, position: XiangqiPosition) -> tuple[Move, ...]:
        return () if self._is_drawn_or_repeated(position) else self._board_moves(position)

    def play(self, position: XiangqiPosition, move: Move) -> XiangqiPosition:
        board, side, quiet, ply, past, line = position
        after = self._after(position, move)
        if after is None:
            raise IllegalMove(self.move_text(move), self.position_text(position))
        if _is_irreversible(board, move):
            past, line = (), None if line is None else ()
        elif line is None:
            past = (*past, EarlierPosition(board, move, _is_exposed(board, side)))
        else:
            if not line:
                past = (*past, EarlierPosition(board, move, _is_exposed(board, side)))
            line = (*line, move)
        quiet = 0 if board[move >> 7] != "." else quiet + 1
        return XiangqiPosition(after, 1 - side, quiet, ply + 1, past, line)

    def native_position(self, position: XiangqiPosition) -> str:
        """Return the position in the core's format, which is text."""
        return self.position_text(position)

    def for_search(self, position: XiangqiPosition) -> XiangqiPosition:
        return position if position.line is not None else position._replace(line=())

    def is_repeated(self, position: XiangqiPosition) -> bool:
        return bool(self._earlier(position))

    def result_centi(self, position: XiangqiPosition) -> int:
        lost = lost_centi(position.ply)
        if not self._board_moves(position):
            return lost
        if position.quiet_plies >= _MAX_QUIET_PLIES:
            return 0
        return -lost * (self._repetition(position) or 0)

    def without_rule_ending(self, position: XiangqiPosition) -> XiangqiPosition:
        return position._replace(quiet_plies=0, past=(), line=None)

    def ending(self, position: XiangqiPosition) -> Ending:
        mover = self.sides[position.side].capitalize()
        if not self._board_moves(position):
            if _is_exposed(position.board, position.side):
                return Ending("mate", "Checkmate.")
            return Ending("variantEnd", f"{mover} has no legal move and loses.")
        if position.quiet_plies >= _MAX_QUIET_PLIES:
            return Ending("draw", "A hundred plies without a capture.")
        if self._repetition(position):
            return Ending("variantEnd", "The same position for the third time: perpetual check loses.")
        return Ending("draw", "The same position for the third time.")

    def evaluate_centi(self, position: XiangqiPosition) -> int:
        return xiangqi_evaluation.evaluate_centi(self.position_text(position))

    def score_text(self, score_centi: float, position: XiangqiPosition) -> str:
        """Return a score in soldiers (``+0.35``), or the moves to a win (``#3``) or to a loss (``#-3``)."""
        if abs(score_centi) < WIN_CENTI:
            return f"{score_centi / 100:+.2f}"
        last_ply = ply_of_loss(score_centi)
        if last_ply is None or last_ply == MAX_PLIES or last_ply < position.ply:
            return "won" if score_centi > 0 else "lost"
        return f"#{'' if score_centi > 0 else '-'}{(last_ply - position.ply + 1) // 2}"

    def expected_scale_centi(self, position: XiangqiPosition) -> float:
        return xiangqi_evaluation.expected_scale_centi(position.board)

    def move_text(self, move: Move) -> str:
        start, target = move & 127, move >> 7
        if 0 <= start < 90 and 0 <= target < 90:
            return f"{SQUARES[start]}{SQUARES[target]}"
        return f"move {move}"

    def move_name(self, position: XiangqiPosition, move: Move) -> MoveName:
        """The name by `engine.games.xiangqi_notation.wxf_name`, and by `chinese_name` there."""
        place = position.board, position.side, move
        return MoveName(wxf_name(*place), chinese_name(*place))

    def parse_move(self, position: XiangqiPosition, text: str, first_rank: int = 1) -> Move:
        """Read a move in any notation of `engine.games.xiangqi_notation`.

        Args:
            position: The position in which the move is legal.
            text: The move.
            first_rank: The number of red's home rank in coordinates, 0 or 1; in ICCS notation it is 0.

        Raises:
            IllegalMove: The text is not a move, means several moves, or the rules do not allow it here.
        """
        moves = read_move(position.board, position.side, text, first_rank)
        legal = [move for move in moves if self._after(position, move) is not None]
        if len(legal) != 1:
            raise IllegalMove(text, self.position_text(position))
        return legal[0]

    def position_text(self, position: XiangqiPosition) -> str:
        board, side, quiet, ply, past, line = position
        moves = [earlier.move for earlier in past]
        if past:
            if line:
                moves = moves[:-1]  # the last is the line's first
            back = len(moves) + len(line or ())
            board, side, quiet, ply = past[0].board, (side + back) % 2, quiet - back, ply - back
        text = self._fen(board, side, quiet, ply)
        for word, listed in (("moves", moves), ("line", line)):
            if listed:
                text += f" {word} {' '.join(self.move_text(move) for move in listed)}"
        return text

    def board_text(self, position: XiangqiPosition) -> str:
        return self._fen(position.board, position.side, position.quiet_plies, position.ply)

    def parse_position(self, text: str) -> XiangqiPosition:
        """Read ``FEN``, ``FEN moves m1 m2 ...`` (the game's moves) or ``FEN moves m1 ... line l1 ...``.

        ``startpos`` may replace the FEN.  The moves of a line are searched, not played: see
        `XiangqiPosition.line`.
        """
        game_text, _, line = f"{text} ".partition(" line ")
        fen, _, moves = f"{game_text} ".partition(" moves ")
        position = self._parse_fen(START if fen.strip() == "startpos" else fen)
        try:
            for move in moves.split():
                position = self.play(position, self.parse_move(position, move))
            if line.strip():
                position = self.for_search(position)
            for move in line.split():
                position = self.play(position, self.parse_move(position, move))
        except IllegalMove as error:
            raise BadPosition(f"{error} (of {text!r})") from None
        return position

    def board_rows(self, position: XiangqiPosition) -> tuple[str, ...]:
        return tuple(position.board[FILES * rank : FILES * (rank + 1)] for rank in reversed(range(RANKS)))

    def move_squares(self, move: Move) -> tuple[str, ...]:
        return SQUARES[move & 127], SQUARES[move >> 7]

    def highlights(self, position: XiangqiPosition) -> tuple[Highlight, ...]:
        board, side = position.board, position.side
        highlights = []
        if _is_exposed(board, side):
            square = board.index("k" if side else "K")
            text = f"{self.sides[side].capitalize()} is in check."
            highlights.append(Highlight("check", (SQUARES[square],), text))
        red, black = board.index("K"), board.index("k")
        between = [square for square in range(red + FILES, black, FILES) if board[square] != "."]
        if red % FILES == black % FILES and len(between) == 1:
            (square,) = between
            owner, kind = self.sides[board[square].islower()], _NAMES[board[square].upper()]
            text = (
                "The generals may not face each other on an open file: nothing but "
                f"{owner}'s {kind} on {SQUARES[square]} stands between them, so it may not leave the file."
            )
            highlights.append(Highlight("facing", (SQUARES[red], SQUARES[square], SQUARES[black]), text))
        return tuple(highlights)

    def plies_left(self, position: XiangqiPosition) -> int:
        """Estimate the remaining plies: 90 minus the plies played, but at least 24."""
        return max(24, 90 - position.ply)

    def most_plies_left(self, position: XiangqiPosition) -> int:
        to_capture = 88 - position.board.count(".")
        return max(0, _MAX_QUIET_PLIES - position.quiet_plies) + _MAX_QUIET_PLIES * to_capture

    # --- By the rules -----------------------------------------------------------------------------------

    @staticmethod
    def _is_own(piece: str, side: int) -> bool:
        return piece.islower() if side else piece.isupper()

    def _after(self, position: XiangqiPosition, move: Move) -> str | None:
        """Return the board after a move, or None if the move is illegal."""
        board, side = position.board, position.side
        start, target = move & 127, move >> 7
        if not (
            0 <= start < 90
            and 0 <= target < 90
            and self._is_own(board[start], side)
            and target in _targets(board, start)
            and not self._is_drawn_or_repeated(position)
        ):
            return None
        after = _apply(board, move)
        return None if _is_exposed(after, side) else after

    def _board_moves(self, position: XiangqiPosition) -> tuple[Move, ...]:
        """Return the moves that are legal unless a repetition or the move counter has ended the game."""
        board, side = position.board, position.side
        after = list(board)
        guards = _GUARDS[board.index("k" if side else "K")]
        is_exposed = _is_exposed(board, side)
        moves = []
        for start in range(90):
            if not self._is_own(board[start], side):
                continue
            is_guard = is_exposed or start in guards
            for target in _targets(board, start):
                if not is_guard and target not in guards:
                    moves.append(start | target << 7)
                    continue
                after[start], after[target] = ".", board[start]
                if not _is_exposed(after, side):
                    moves.append(start | target << 7)
                after[start], after[target] = board[start], board[target]
        return tuple(sorted(moves))

    def _is_drawn_or_repeated(self, position: XiangqiPosition) -> bool:
        return position.quiet_plies >= _MAX_QUIET_PLIES or self._repetition(position) is not None

    @staticmethod
    def _earlier(position: XiangqiPosition) -> list[int]:
        """Indices in `past` of the positions that are equal to this one."""
        board, past, line = position.board, position.past, position.line
        now = len(past) + len(line) - 1 if line else len(past)
        return [i for i in range(now % 2, len(past), 2) if past[i].board == board]

    @classmethod
    def _repetition(cls, position: XiangqiPosition) -> int | None:
        """The mover's result (1, 0 or -1) if a third occurrence ends the game; otherwise None.

        In a game, all moves since the first occurrence count. In a line, only the game's moves between the
        first and the second occurrence count, regardless of the line's moves that led to the third.
        """
        board, past, line = position.board, position.past, position.line
        times = cls._earlier(position)
        if len(times) < 2:
            return None
        first, second = times[-2:]
        checks = [earlier.is_check for earlier in past[first:]]
        if line:
            return _perpetual_check(checks[: second - first + 1])
        return _perpetual_check([*checks, _is_exposed(board, position.side)])

    # --- Text -------------------------------------------------------------------------------------------

    @staticmethod
    def _fen(board: str, side: int, quiet: int, ply: int) -> str:
        rows = (board[FILES * rank : FILES * (rank + 1)] for rank in reversed(range(RANKS)))
        short = "/".join(re.sub(r"\.+", lambda run: str(len(run[0])), row) for row in rows)
        return f"{short} {'wb'[side]} - - {quiet} {ply // 2 + 1}"

    def _parse_fen(self, fen: str) -> XiangqiPosition:
        words = fen.split()
        if not 2 <= len(words) <= 6:
            raise BadPosition(f"expected a board, w, r or b and at most four more fields, got {fen!r}")
        letters = words[0].translate(_OTHER_LETTERS)
        rows = [re.sub("[1-9]", lambda digit: "." * int(digit[0]), row) for row in letters.split("/")]
        for index, row in enumerate(rows):
            if not re.fullmatch("[PABNCRKpabncrk.]{9}", row) or "." in words[0]:
                raise BadPosition(f"row {RANKS - index} of {fen!r} is not nine points of {_KINDS} or empty")
        if len(rows) != RANKS:
            raise BadPosition(f"expected ten rows, got {fen!r}")
        if words[1] not in ("w", "r", "b"):
            raise BadPosition(f"expected w, r or b to move, got {words[1]!r} in {fen!r}")
        side = int(words[1] == "b")
        if any(word != "-" for word in words[2:4]):
            raise BadPosition(f"expected two dashes after the side to move, got {fen!r}")
        quiet, number = (words[4:] + ["0", "1"][len(words[4:]) :])[:2]
        if not re.fullmatch("[0-9]{1,3}", quiet) or not re.fullmatch("[0-9]{1,4}", number):
            raise BadPosition(f"expected plies since a capture and the move's number, got {fen!r}")
        board = "".join(reversed(rows))
        self._require_possible_position(board, side)
        return XiangqiPosition(board, side, int(quiet), 2 * max(0, int(number) - 1) + side, (), None)

    def _require_possible_position(self, board: str, side: int) -> None:
        for kind, most in _MAX_PIECES_OF_KIND.items():
            for piece in (kind, kind.lower()):
                owner = self.sides[piece.islower()]
                count = board.count(piece)
                if count > most or (kind == "K" and count == 0):
                    raise BadPosition(f"{owner} has {count} pieces of the kind {_NAMES[kind]}")
                for square in range(90):
                    if board[square] == piece and square not in _TABLES[piece].points:
                        raise BadPosition(f"{owner}'s {_NAMES[kind]} cannot stand on {SQUARES[square]}")
        if _is_exposed(board, 1 - side):
            raise BadPosition(f"{self.sides[side]} is to move and could take the general")
