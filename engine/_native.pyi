"""The C++ core: exact and strong search, and the flag that stops them."""

from collections.abc import Sequence

INFINITY: int

UNIT: str

class Stopped(Exception):
    pass

class StopFlag:
    """Tells a running search to end; set from any thread."""

    def __init__(self, *, processor_time: bool = False) -> None:
        """
        Its clock: the wall clock, or the processor time of all threads of this process together.
        """

    def now_s(self) -> float:
        """The time on the flag's clock, in seconds since some moment."""

    def follow_thread(self, most_stretch: float) -> None:
        """
        From now on the clock runs with the processor time of the calling thread, but at `1 / most_stretch`
        of the speed of the wall clock at least.
        """

    def set_most_stretch(self, most_stretch: float) -> None:
        """Change `most_stretch`; set the deadline afterwards."""

    def set(self) -> None:
        """End every search that was given this flag, within milliseconds."""

    def set_deadline(self, seconds: float) -> None:
        """
        Count as set, too, once this many seconds have passed from now, on the flag's clock.
        """

    def set_node_limit(self, nodes: int) -> None:
        """
        Count as set, too, once searches with this flag have visited about this many more positions.
        """

    def is_set(self) -> bool:
        """Whether a search should end."""

    def spend(self, nodes: int) -> bool:
        """
        Count this many positions as visited, and say whether the search should end.
        """

def units() -> list[str]:
    """Instruction sets of the core that this processor runs, the best last."""

class AnySearch:
    """
    Search of a game by one thread at a time, with tables of its own.

    Positions of Othello and Connect Four are the discs of the mover and of the other, those of chess and
    xiangqi texts: `FEN moves m1 m2 ... line l1 l2 ...`, the moves of the line not counting as the game's
    past.  `table_mb` is for the exact search; `think` and `solve` use as much again.
    """

    def search(
        self, position: tuple[int, int] | str, depth: int, alpha: int, beta: int, stop: StopFlag
    ) -> int:
        """
        Score in centi-units for the side to move: exact inside the window, else a bound (fail-soft).

        Releases the GIL.  Raises Stopped when the flag is or becomes set, ValueError for bad arguments.
        """

    def scores_after(
        self, position: tuple[int, int] | str, moves: Sequence[int], least: int, most: int, stop: StopFlag
    ) -> list[tuple[int, ...]]:
        """
        Exact scores of the positions after some legal moves, for whoever is to move there, by searches of
        `least` .. `most` plies: a tuple of them for each move.  Raises as `search` does.
        """

    def trappy_candidates(
        self,
        position: tuple[int, int] | str,
        depth: int,
        assessment: int,
        margin_centi: int,
        swindle: bool,
        expected: bytes,
        risk: float,
        risk_share: float,
        stop: StopFlag,
    ) -> list[tuple[int, int, bool, bool, list[tuple[int, tuple[int, ...], int, float]]]]:
        """
        Candidates as far as trappy minimax needs them to choose, in the fixed order of moves: tuples of
        move, raw, whether that is a bound, whether the profile is whole, and replies; each of these a tuple
        of move, scores s_2 .. s_D, bound on s_D, bound on the assessment (the bounds where there are no
        scores).  `expected` is `engine.expected.expected_table`, or empty for the paper's scale, and `risk`
        its budget in hundredths of a per cent, but for no move more than `risk_share` times what it is worth
        (infinity: no such limit).  Raises as `search` does.
        """

    def tempting_candidates(
        self,
        position: tuple[int, int] | str,
        depth: int,
        expected: bytes,
        weights: bytes,
        budget: int,
        share_percent: int,
        gap_centi: int,
        won_gap_centi: int,
        swindle: bool,
        stop: StopFlag,
    ) -> list[tuple[int, int, bool, bool, list[tuple[int, tuple[int, ...], int, float]]]]:
        """
        Candidates as far as the tempting player needs them to choose, at a depth of 4 or more: tuples as of
        `trappy_candidates`, but a reply has s_2 and s_3 alone, then the upper and the lower bound on s_D.
        Where every move loses by force and `swindle` is set, replies that let us escape have s_2 .. s_D,
        others nothing but the upper bound.  The other arguments are those of `engine.tempting_player`:
        `expected_table`, `weight_table`, the budget, its share, and `gaps_centi`.  Raises as `search` does.
        """

    def think(
        self,
        position: tuple[int, int] | str,
        depth: int,
        seconds: float,
        confidence: int,
        threads: int,
        contempt_centi: int,
        stop: StopFlag,
        nodes: int = 0,
    ) -> tuple[int, int, int, int, bool, tuple[int, ...], int]:
        """
        The best move within the limits by selective search, in Connect Four by full width: a tuple of move,
        score in centi-units, depth, confidence in percent (0: not known), whether solved, principal
        variation, and positions visited.

        `seconds` may be 0: as long as it takes; so may `nodes`.  Othello alone uses `confidence` (73, 87, 95,
        99, or 100: full width), and solves the ending with a depth of all the squares left, when there is
        time.  In chess and xiangqi a draw counts as -`contempt_centi` for the side to move, and a proven win
        or loss as solved.  Any other score is an estimate, unless of full width.  The same calls on a new
        object give the same, if there is no clock and one thread.  Stopped early, it answers with what it
        has.  Releases the GIL.  Raises Stopped when the flag is set too early for any answer, ValueError for
        bad arguments or a game that is over.
        """

    def evaluate(self, position: tuple[int, int] | str) -> int:
        """Static evaluation in centi-units for the side to move."""

    @property
    def nodes(self) -> int:
        """Positions visited since this object was made."""

class OthelloEvaluation:
    """Weights of the Othello evaluation; shared by searches."""

    def __init__(self, weights: bytes) -> None:
        """
        From little-endian 16-bit weights, all stages in turn.  Raises ValueError for a wrong length.
        """

class OthelloSearch(AnySearch):
    """Search of Othello."""

    def __init__(self, table_mb: int, evaluation: OthelloEvaluation) -> None: ...
    def solve(self, position: tuple[int, int], stop: StopFlag) -> tuple[int, int]:
        """
        A best move and the game's true score in centi-units, beyond +-100000, or 0.

        Releases the GIL.  Raises as `think` does; minutes from some 26 plies on.
        """

def othello_moves_mask(mover: int, waiter: int) -> int:
    """Bitboard of the squares where the mover may place a disc."""

def othello_perft(mover: int, waiter: int, depth: int) -> int:
    """Leaf positions at this depth in plies; a pass is a ply."""

class Connect4Search(AnySearch):
    """Search of Connect Four."""

    def __init__(self, table_mb: int) -> None: ...

class ChessEvaluation:
    """Weights of an evaluation; shared by searches."""

    def __init__(self, weights: bytes) -> None:
        """
        From little-endian 16-bit weights, for each feature that of the middle game and that of the
        endgame.  Raises ValueError for a wrong length.
        """

class ChessNetwork:
    """Weights of an evaluation network; shared by searches."""

    def __init__(self, weights: bytes) -> None:
        """
        From little-endian integers, as engine/native/network.hpp lists them.  Raises ValueError for a wrong
        length.
        """

class ChessSearch(AnySearch):
    """Search of the game."""

    def __init__(
        self, table_mb: int, evaluation: ChessEvaluation, network: ChessNetwork | None = None
    ) -> None:
        """Without a network the strong search uses the evaluation, too."""

    def strong_evaluation(self, position: tuple[int, int] | str, moves: Sequence[int]) -> int:
        """
        The strong search's static evaluation after these moves, which must be legal, in centi-units for
        the side to move there.
        """

def chess_perft(position: str, depth: int) -> int:
    """
    Leaf positions at this depth in plies by the rules of the board alone: repetition, counters and dead
    positions end no game.
    """

class XiangqiEvaluation:
    """Weights of an evaluation; shared by searches."""

    def __init__(self, weights: bytes) -> None:
        """
        From little-endian 16-bit weights, for each feature that of the middle game and that of the
        endgame.  Raises ValueError for a wrong length.
        """

class XiangqiNetwork:
    """Weights of an evaluation network; shared by searches."""

    def __init__(self, weights: bytes) -> None:
        """
        From little-endian integers, as engine/native/network.hpp lists them.  Raises ValueError for a wrong
        length.
        """

class XiangqiSearch(AnySearch):
    """Search of the game."""

    def __init__(
        self, table_mb: int, evaluation: XiangqiEvaluation, network: XiangqiNetwork | None = None
    ) -> None:
        """Without a network the strong search uses the evaluation, too."""

    def strong_evaluation(self, position: tuple[int, int] | str, moves: Sequence[int]) -> int:
        """
        The strong search's static evaluation after these moves, which must be legal, in centi-units for
        the side to move there.
        """

def xiangqi_perft(position: str, depth: int) -> int:
    """
    Leaf positions at this depth in plies by the rules of the board alone: repetition, counters and dead
    positions end no game.
    """
