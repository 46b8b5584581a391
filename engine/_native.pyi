from collections.abc import Sequence

INFINITY: int

UNIT: str

class Stopped(Exception):
    pass

class StopFlag:
    def __init__(self, *, processor_time: bool = False, parent: StopFlag | None = None) -> None: ...
    def now_s(self) -> float: ...
    def follow_thread(self, most_stretch: float) -> None: ...
    def set_most_stretch(self, most_stretch: float) -> None: ...
    def set(self) -> None: ...
    def set_deadline(self, seconds: float) -> None: ...
    def set_node_limit(self, nodes: int) -> None: ...
    def is_set(self) -> bool: ...
    def spend(self, nodes: int) -> bool: ...

def units() -> list[str]: ...

class AnySearch:
    def search(
        self, position: tuple[int, int] | str, depth: int, alpha: int, beta: int, stop: StopFlag
    ) -> int: ...
    def scores_after(
        self, position: tuple[int, int] | str, moves: Sequence[int], least: int, most: int, stop: StopFlag
    ) -> list[tuple[int, ...]]: ...
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
    ) -> list[tuple[int, int, bool, bool, list[tuple[int, tuple[int, ...], int, float]]]]: ...
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
    ) -> list[tuple[int, int, bool, bool, list[tuple[int, tuple[int, ...], int, float]]]]: ...
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
    ) -> tuple[int, int, int, int, bool, tuple[int, ...], int]: ...
    def probe(
        self,
        position: tuple[int, int] | str,
        depth: int,
        alpha: int,
        beta: int,
        confidence: int,
        contempt_centi: int,
        stop: StopFlag,
    ) -> int: ...
    def evaluate(self, position: tuple[int, int] | str) -> int: ...
    @property
    def nodes(self) -> int: ...

class OthelloEvaluation:
    def __init__(self, weights: bytes) -> None: ...

class OthelloSearch(AnySearch):
    def __init__(self, table_mb: int, evaluation: OthelloEvaluation) -> None: ...
    def solve(self, position: tuple[int, int], stop: StopFlag) -> tuple[int, int]: ...

def othello_moves_mask(mover: int, waiter: int) -> int: ...
def othello_perft(mover: int, waiter: int, depth: int) -> int: ...

class Connect4Search(AnySearch):
    def __init__(self, table_mb: int) -> None: ...

class ChessEvaluation:
    def __init__(self, weights: bytes) -> None: ...

class ChessNetwork:
    def __init__(self, weights: bytes) -> None: ...

class ChessSearch(AnySearch):
    def __init__(
        self, table_mb: int, evaluation: ChessEvaluation, network: ChessNetwork | None = None
    ) -> None: ...
    def strong_evaluation(self, position: tuple[int, int] | str, moves: Sequence[int]) -> int: ...

def chess_perft(position: str, depth: int) -> int: ...

class XiangqiEvaluation:
    def __init__(self, weights: bytes) -> None: ...

class XiangqiNetwork:
    def __init__(self, weights: bytes) -> None: ...

class XiangqiSearch(AnySearch):
    def __init__(
        self, table_mb: int, evaluation: XiangqiEvaluation, network: XiangqiNetwork | None = None
    ) -> None: ...
    def strong_evaluation(self, position: tuple[int, int] | str, moves: Sequence[int]) -> int: ...

def xiangqi_perft(position: str, depth: int) -> int: ...
