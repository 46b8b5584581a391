"""Training in C++: self-play and learning of evaluations."""

from collections.abc import Sequence

import engine._native

class OthelloTrainer:
    """
    Learns Othello weights by a backward minimax sweep; for one thread at a time.
    """

    def __init__(self, seed: int, threads: int) -> None:
        """
        Starts from rules of thumb.  What follows depends on the seed, not on the number of threads.
        """

    def set_weights(self, weights: bytes) -> None:
        """Start from weights as `OthelloEvaluation` takes them."""

    @property
    def weights(self) -> bytes:
        """The present weights, as `OthelloEvaluation` takes them."""

    def play(self, per_stage: int, depth: int, well_played: float) -> int:
        """
        Play games for their positions, so many for each stage; forget those of earlier calls.

        A share `well_played` of the games has few random plies and stronger play, and its results count.
        Returns the number of games.
        """

    def learn(
        self,
        stage: int,
        label_depth: int,
        exact_empties: int,
        epochs: int,
        first_rate: float,
        last_rate: float,
        shrink: float,
        neighbours: float,
        result_share: float,
    ) -> tuple[int, int, float, float, float]:
        """
        Label the positions of a stage and learn them, then the one before again; for 0, 1 ...

        Returns positions learned, positions held out, the error on these (root mean square, discs),
        seconds that the labels took, and seconds of the descent.
        """

    def settle_parity(self, games: int, depth: int) -> list[float]:
        """
        Add a constant for each number of empty squares such that searches of `depth` plies and of one
        more agree on average.

        Returns the constants, in discs for the side to move, for 0 .. 60 empty squares.
        """

    def error(self, stage: int) -> float:
        """Error on the held-out positions of a stage with the present weights."""

    def check(self, empties: int, count: int) -> list[tuple[int, int]]:
        """
        Evaluation and exact result, in centidiscs, of positions from games with ten random plies.
        """

class AnyTrainer:
    """
    Learns a linear evaluation from games against itself; for one thread at a time.
    """

    def set_start(self, start: bytes) -> None:
        """The present weights, and what `fit` pulls them to."""

    @property
    def weights(self) -> bytes:
        """The present weights, as the game's evaluation takes them."""

    @weights.setter
    def weights(self, weights: bytes) -> None: ...
    def play(self, games: int, depth: int, asides: int, random_plies: tuple[int, int]) -> tuple[int, int]:
        """
        Play games by the present weights and keep their positions; numbers kept: to learn, held out.
        """

    def forget(self) -> None:
        """Drop the positions of all but the last call of `play`."""

    def fit(
        self,
        epochs: int,
        scale_centi: float,
        trace: float,
        first_rate: float,
        last_rate: float,
        pull: float,
        smooth: float,
        neighbours: Sequence[tuple[int, int]],
    ) -> tuple[float, float]:
        """
        Learn from the positions kept.

        Returns the log-loss and the root mean square error of the expected result on those held out.
        """

    def error(self, scale_centi: float, trace: float) -> tuple[float, float]:
        """As `fit` returns it, of the present weights."""

    def scored(self) -> list[tuple[int, int, int]]:
        """
        Positions of the last call's games: score of the search, share of the middle game (of 64), result
        (0 lost, 1 drawn, 2 won); for the side to move.
        """

    def match(self, others: bytes, games: int, nodes: int) -> tuple[int, int, int]:
        """
        Play the present weights against others, with so many nodes a move: wins, draws, losses.
        """

class ChessTrainer(AnyTrainer):
    """Learns the evaluation of chess."""

    def __init__(self, seed: int, threads: int) -> None:
        """What follows depends on the seed, not on the number of threads."""

class XiangqiTrainer(AnyTrainer):
    """Learns the evaluation of xiangqi."""

    def __init__(self, seed: int, threads: int) -> None:
        """What follows depends on the seed, not on the number of threads."""

def chess_self_play(
    evaluation: engine._native.ChessEvaluation,
    network: engine._native.ChessNetwork | None,
    seed: int,
    first_game: int,
    games: int,
    nodes: int,
    random_plies: tuple[int, int],
    threads: int,
) -> bytes:
    """
    Games of the strong search against itself, after so many random moves, as records (self_play.hpp).

    Depends on the seed and the numbers of the games, not on the threads.  Releases the GIL.
    """

def chess_samples(
    records: bytes, evaluation: engine._native.ChessEvaluation
) -> tuple[bytes, bytes, bytes, bytes, bytes]:
    """
    The quiet positions of such games: inputs of the network (16 bits; 32 for the mover's view, then 32 for
    the other's, filled up with the number of inputs), the search's scores and those of the evaluation (16
    bits, signed), results (8 bits: 0, 1, 2) and the number of the game among the records (32 bits).  Raises
    ValueError for other bytes.
    """

def xiangqi_self_play(
    evaluation: engine._native.XiangqiEvaluation,
    network: engine._native.XiangqiNetwork | None,
    seed: int,
    first_game: int,
    games: int,
    nodes: int,
    random_plies: tuple[int, int],
    threads: int,
) -> bytes:
    """
    Games of the strong search against itself, after so many random moves, as records (self_play.hpp).

    Depends on the seed and the numbers of the games, not on the threads.  Releases the GIL.
    """

def xiangqi_samples(
    records: bytes, evaluation: engine._native.XiangqiEvaluation
) -> tuple[bytes, bytes, bytes, bytes, bytes]:
    """
    The quiet positions of such games: inputs of the network (16 bits; 32 for the mover's view, then 32 for
    the other's, filled up with the number of inputs), the search's scores and those of the evaluation (16
    bits, signed), results (8 bits: 0, 1, 2) and the number of the game among the records (32 bits).  Raises
    ValueError for other bytes.
    """
