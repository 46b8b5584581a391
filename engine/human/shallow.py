"""A human-move model without data: replies that look good to a shallow search are likely.

Each reply's value is the mean expected score over searches of the first few depths; its probability grows
with this mean (softmax), and a small share is spread evenly over all replies, because people overlook things.
The model has only three parameters (`ShallowOptions`) and works for any game.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine.decision import ModelInfo
from engine.errors import BadSettings
from engine.expected import WHOLE, expected_score
from engine.game import Game
from engine.games import get_rules
from engine.human.model import SHALLOW, PredictionQuery
from engine.search.profiles import scores_after
from engine.search.reference import Searcher
from engine.search.searchers import make_searcher
from engine.stop import StopFlag

TABLE_MB = 1


@dataclass(frozen=True, slots=True)
class ShallowOptions:
    """How deep people are assumed to search, and how strongly the search determines their moves.

    Fitted on 2026-11-22 by ``python -m bench.shallow_people`` to 1,503 human moves in chess and 1,502 in
    Othello: log-loss 2.43 and 1.32 nats with two plies, 2.32 and 1.24 with four, 3.28 and 2.05 if uniform. On
    2026-11-25, with the scores of search revision 3, separate parameters for each game would have
    gained less than 0.005 nats (5.5 points and 5 % in chess, 6.5 and 2 % in Othello), so we did not use them.

    In chess, searching two plies takes about 0.1 ms per reply; four plies take about 2 ms.
    """

    plies: int = 2
    """People are assumed to search 1, 2, ... up to this many plies, counting the reply; 0 makes all replies
    equally likely."""
    percent: float = 6.0
    """Difference in expected score, in percentage points, that makes a reply e times as likely."""
    share_percent: float = 5.0
    """Percentage of the probability that is spread evenly over all replies."""

    def __post_init__(self) -> None:
        if not 0 <= self.plies <= 10:
            raise BadSettings(f"plies is {self.plies}, must be 0 to 10")
        if not 0 < self.percent <= 100_000:  # nor NaN
            raise BadSettings(f"percent is {self.percent}, must be above 0")
        if not 0 <= self.share_percent <= 100:
            raise BadSettings(f"share_percent is {self.share_percent}, must be 0 to 100")


class ShallowModel:
    """A `HumanModel` for any game, based on shallow searches.

    Args:
        game_name: The game's name in `engine.games`.
        options: The model's parameters.
        searcher: A searcher for that game; if None, the model creates one.
    """

    max_history_positions = 1

    def __init__(
        self, game_name: str, options: ShallowOptions | None = None, searcher: Searcher | None = None
    ) -> None:
        options = options or ShallowOptions()
        self.game = game_name
        self._rules: Game[Any] = get_rules(game_name)
        self._options = options
        self._searcher = searcher or make_searcher(game_name, TABLE_MB)
        text = " ".join(f"{name}={value}" for name, value in asdict(options).items())
        name = f"{SHALLOW}-{options.plies}" if options.plies else "uniform"
        self.info = ModelInfo(SHALLOW, name, hashlib.sha256(text.encode()).hexdigest())

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        """See `HumanModel.predict`."""
        return [self._predict(ask.positions[-1]) for ask in asks]

    def _predict(self, position: Any) -> tuple[float, ...]:
        rules, plies = self._rules, self._options.plies
        root = rules.for_search(position)
        scale_centi, moves = rules.expected_scale_centi(root), rules.legal_moves(root)
        seen = [0.0] * len(moves)
        if plies:
            found = scores_after(rules, self._searcher, root, moves, 0, plies - 1, StopFlag())
            expected_scores = [[expected_score(-score, scale_centi) for score in scores] for scores in found]
            seen = [100 * math.fsum(each) / (plies * WHOLE) for each in expected_scores]
        best = max(seen)
        weights = [math.exp((worth - best) / self._options.percent) for worth in seen]
        total, share = math.fsum(weights), self._options.share_percent / 100
        return tuple((1 - share) * weight / total + share / len(weights) for weight in weights)
