from collections.abc import Sequence

import engine._native

class OthelloTrainer:
    def __init__(self, seed: int, threads: int) -> None: ...
    def set_weights(self, weights: bytes) -> None: ...
    @property
    def weights(self) -> bytes: ...
    def play(self, per_stage: int, depth: int, well_played: float) -> int: ...
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
    ) -> tuple[int, int, float, float, float]: ...
    def settle_parity(self, games: int, depth: int) -> list[float]: ...
    def error(self, stage: int) -> float: ...
    def check(self, empties: int, count: int) -> list[tuple[int, int]]: ...

class AnyTrainer:
    def set_start(self, start: bytes) -> None: ...
    @property
    def weights(self) -> bytes: ...
    @weights.setter
    def weights(self, weights: bytes) -> None: ...
    def play(self, games: int, depth: int, asides: int, random_plies: tuple[int, int]) -> tuple[int, int]: ...
    def forget(self) -> None: ...
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
    ) -> tuple[float, float]: ...
    def error(self, scale_centi: float, trace: float) -> tuple[float, float]: ...
    def scored(self) -> list[tuple[int, int, int]]: ...
    def match(self, others: bytes, games: int, nodes: int) -> tuple[int, int, int]: ...

class ChessTrainer(AnyTrainer):
    def __init__(self, seed: int, threads: int) -> None: ...

class XiangqiTrainer(AnyTrainer):
    def __init__(self, seed: int, threads: int) -> None: ...

def chess_self_play(
    evaluation: engine._native.ChessEvaluation,
    network: engine._native.ChessNetwork | None,
    seed: int,
    first_game: int,
    games: int,
    nodes: int,
    random_plies: tuple[int, int],
    threads: int,
) -> bytes: ...
def chess_samples(
    records: bytes, evaluation: engine._native.ChessEvaluation
) -> tuple[bytes, bytes, bytes, bytes, bytes]: ...
def xiangqi_self_play(
    evaluation: engine._native.XiangqiEvaluation,
    network: engine._native.XiangqiNetwork | None,
    seed: int,
    first_game: int,
    games: int,
    nodes: int,
    random_plies: tuple[int, int],
    threads: int,
) -> bytes: ...
def xiangqi_samples(
    records: bytes, evaluation: engine._native.XiangqiEvaluation
) -> tuple[bytes, bytes, bytes, bytes, bytes]: ...
def chess_human_positions(
    movetexts: Sequence[str],
) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes]: ...
def xiangqi_human_positions(
    movetexts: Sequence[str],
) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes]: ...
