"""Models of people for tests: their answers are made by a function."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.decision import Candidate, ModelInfo, Person
from engine.game import Game
from engine.games import get_rules
from engine.human.model import PredictionQuery
from engine.human.opponent_model_search import GameModels
from engine.human.registry import ModelRegistry
from engine.human.reply_forecast import JudgeTilt

Answer = Callable[[Game[Any], PredictionQuery], tuple[float, ...]]


def alike(game: Game[Any], ask: PredictionQuery) -> tuple[float, ...]:
    """All moves are as likely."""
    size = len(game.legal_moves(ask.positions[-1]))
    return (1 / size,) * size


class FakeModel:
    """A human-move model that answers by a function, and remembers what it was asked."""

    def __init__(self, game_name: str, answer: Answer = alike, max_history_positions: int = 1) -> None:
        self.game = game_name
        self.info = ModelInfo(game_name, "fake", "f" * 64)
        self.max_history_positions = max_history_positions
        self.asked: list[PredictionQuery] = []
        self._answer = answer

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        self.asked += asks
        return [self._answer(get_rules(self.game), ask) for ask in asks]


class FakeReplyModel:
    """Calibrated probabilities: the human-move model's, with what costs the person most made likelier."""

    def __init__(self, game_name: str, pull: float = 0.5) -> None:
        self.game = game_name
        self.info = ModelInfo("calibrated", "fake probabilities", "c" * 64)
        self.trained_with_model = "fake"
        self.judge_tilt: JudgeTilt | None = None
        self.people: list[Person] = []
        self._pull = pull

    def reply_probabilities(
        self,
        game: Game[Any],
        after: Any,
        candidate: Candidate,
        human: tuple[float, ...] | None,
        person: Person,
    ) -> dict[str, float]:
        assert game.name == self.game
        assert [game.move_text(move) for move in game.legal_moves(after)] == [
            reply.reply for reply in candidate.replies
        ]
        human = human or (1 / len(candidate.replies),) * len(candidate.replies)
        self.people.append(person)
        worst = max(candidate.replies, key=lambda reply: reply.final_centi)
        return {
            reply.reply: (1 - self._pull) * p + self._pull * (reply is worst)
            for reply, p in zip(candidate.replies, human, strict=True)
        }


class OneModel(ModelRegistry):
    """A program that has one model, which remembers what it was asked."""

    def __init__(self, model: FakeModel) -> None:
        super().__init__()
        self.model = model

    def models(self, game_name: str) -> GameModels:
        assert game_name == self.model.game
        return GameModels(self.model)

    @contextmanager
    def lend(self, game_name: str) -> Iterator[GameModels]:
        yield self.models(game_name)


class FakeNetwork:
    """A network of people's moves whose logits depend on every input in another way."""

    info = ModelInfo("people", "fake", "f" * 64)

    def __init__(self, planes: int, squares: int) -> None:
        rng = np.random.default_rng(0)
        self._origin, self._target = rng.standard_normal((2, planes * squares, squares)) / 10
        self.people: list[Person] = []
        self.boards: list[NDArray[np.float32]] = []

    def who(self, people: Sequence[Person]) -> NDArray[np.float32]:
        """Remember the people; their columns are their ratings."""
        self.people += people
        return np.array([[person.rating or 0] for person in people], dtype=np.float32)

    def run(
        self, output: str, board: NDArray[np.float32], who: NDArray[np.float32], shape: tuple[int, ...]
    ) -> NDArray[np.float64]:
        assert output == "moves"
        self.boards += list(board)
        flat = board.reshape(len(who), -1)
        logits: NDArray[np.float64] = (flat @ self._origin)[:, :, None] + (flat @ self._target)[:, None]
        assert logits.shape[1:] == shape
        return logits
