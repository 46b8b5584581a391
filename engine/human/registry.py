"""The program's human-move models for each game; each searching thread opens its own copy.

For a game without a configured file, the program has a default: a network for Othello, the estimate from
shallow searches (`engine.human.shallow`) for other games. Default networks are opened on first use; the
operator's files are opened when the program starts, so that a bad file is reported immediately.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from engine.decision import ModelInfo
from engine.human.model import NO_MODEL, BadModel, HumanModel, PlanesModel, PredictionQuery
from engine.human.opponent_model_search import GameModels, ModelHealth
from engine.human.reply_model import ReplyModel, default_path
from engine.human.shallow import ShallowModel
from engine.params import OpponentParams

if TYPE_CHECKING:
    from engine.human.person_prior import PersonPrior

T = TypeVar("T", HumanModel, ReplyModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Settings that say which models to use and how to value moves with them."""

    models: tuple[str, ...] = ()
    """Files or folders of human-move models, at most one for each game."""
    calibrated: tuple[str, ...] = ()
    """Files of calibrated models, at most one for each game; they replace the program's own models."""
    value: OpponentParams = field(default_factory=OpponentParams)


def _open_human(path: Path) -> HumanModel:
    from engine.human.model_files import open_model  # onnxruntime takes a while to load: only when used

    return open_model(path)


def _open_reply_model(path: Path) -> ReplyModel:
    from engine.human.calibrated import open_calibrated

    return open_calibrated(path)


def _open_planes(path: Path) -> PlanesModel:
    from engine.human.othello_planes import open_planes

    return open_planes(path)


class ModelRegistry:
    """The program's models; each thread that uses a model has its own copy.

    Args:
        settings: The models to use.
        open_human: Opens a human-move model.
        open_reply_model: Opens a calibrated model.
        folder: Folder of the program's own models.

    Raises:
        BadModel: A model in the settings cannot be used, or two models are for the same game.
    """

    def __init__(
        self,
        settings: ModelSettings | None = None,
        open_human: Callable[[Path], HumanModel] = _open_human,
        open_reply_model: Callable[[Path], ReplyModel] = _open_reply_model,
        folder: Path = Path(__file__).parent,
    ) -> None:
        self._settings = settings or ModelSettings()
        self._open_human, self._open_reply_model = open_human, open_reply_model
        self._folder = folder
        self._lock = threading.Lock()
        self._health: dict[str, ModelHealth] = {}
        self._idle: dict[str, list[GameModels]] = {}
        # The first copy of each is reused: we had to open it to find out its game.
        self._humans = _by_game(self._settings.models, open_human)
        self._calibrated = _by_game(self._settings.calibrated, open_reply_model)

    @property
    def games(self) -> tuple[str, ...]:
        """The games for which the settings name a model file."""
        return tuple(sorted({*self._humans, *self._calibrated}))

    def has_network(self, game_name: str) -> bool:
        """Whether there is a network of human moves for a game; if not, shallow searches replace it."""
        return game_name in self._humans or self._own_network(game_name).exists()

    def predicts_people(self, game_name: str) -> bool:
        """Whether there is a network of human moves or a calibrated model for a game."""
        has_calibrated = game_name in self._calibrated or default_path(game_name, self._folder).exists()
        return has_calibrated or self.has_network(game_name)

    def failures(self) -> dict[str, tuple[int, int]]:
        """Count, for each game whose models have been used, the failures since the program started and the
        failures since the last successful query."""
        with self._lock:
            return {game: health.failures for game, health in sorted(self._health.items())}

    @contextmanager
    def lend(self, game_name: str) -> Iterator[GameModels]:
        """Lends a game's models to one thread for the duration of the context."""
        with self._lock:
            idle = self._idle.setdefault(game_name, [])
            models = idle.pop() if idle else None
            health = self._health.setdefault(game_name, ModelHealth())
        if models is None:
            models = self._open(game_name, health)
        try:
            yield models
        finally:
            if not isinstance(models.human, _Unopened):  # retry it the next time
                with self._lock:
                    self._idle[game_name].append(models)

    def models_record(self, game_name: str) -> dict[str, Any]:
        """Describe a game's models and the settings for valuing moves, as plain JSON values.

        Raises:
            BadModel: A model cannot be opened.
        """
        with self.lend(game_name) as models:
            if isinstance(models.human, _Unopened):
                raise models.human.error
            calibrated = None if models.calibrated is None else asdict(models.calibrated.info)
            return {
                "human": asdict(models.human.info),
                "calibrated": calibrated,
                "value": asdict(models.value),
            }

    def models(self, game_name: str) -> GameModels:
        """Return a new copy of a game's models, which the caller may keep.

        Raises:
            BadModel: A model cannot be opened.
        """
        return self._models(game_name, ModelHealth())

    def _open(self, game_name: str, health: ModelHealth) -> GameModels:
        try:
            return self._models(game_name, health)
        except BadModel as error:  # the player logs it on its first query, and plays on
            return GameModels(_Unopened(game_name, error), None, self._settings.value, health)

    def _models(self, game_name: str, health: ModelHealth) -> GameModels:
        return GameModels(
            self._human(game_name),
            self._reply_model(game_name),
            self._settings.value,
            health,
            self._person_prior(game_name),
            self._planes(game_name),
        )

    def _planes(self, game_name: str) -> PlanesModel | None:
        path = self._folder / f"{game_name}_persons.onnx"
        return _open_planes(path) if path.exists() else None

    def _person_prior(self, game_name: str) -> "PersonPrior | None":
        from engine.human.person_prior import card_path, read_card  # as above: numpy

        path = card_path(game_name, self._folder)
        if not path.exists():
            return None
        prior = read_card(path)
        if prior.game != game_name:
            raise BadModel(f"{path}: game: {prior.game!r}, not {game_name!r}")
        return prior

    def _human(self, game_name: str) -> HumanModel:
        if game_name in self._humans:
            path, first = self._taken(self._humans, game_name)
            return first or self._open_human(path)
        own = self._own_network(game_name)
        return self._open_human(own) if own.exists() else ShallowModel(game_name)

    def _own_network(self, game_name: str) -> Path:
        return self._folder / f"{game_name}_human.onnx"

    def _reply_model(self, game_name: str) -> ReplyModel | None:
        if game_name in self._calibrated:
            path, first = self._taken(self._calibrated, game_name)
            return first or self._open_reply_model(path)
        own = default_path(game_name, self._folder)
        return self._open_reply_model(own) if own.exists() else None

    def _taken(self, opened: dict[str, tuple[Path, T | None]], game_name: str) -> tuple[Path, T | None]:
        """Return a game's model file and, on the first call only, the model that was opened at startup."""
        with self._lock:
            path, first = opened[game_name]
            opened[game_name] = path, None
        return path, first


def _by_game(paths: Sequence[str], opened: Callable[[Path], T]) -> dict[str, tuple[Path, T | None]]:
    models: dict[str, tuple[Path, T | None]] = {}
    for text in paths:
        model = opened(Path(text))
        if model.game in models:
            raise BadModel(f"{models[model.game][0]} and {text} are both for {model.game}")
        models[model.game] = Path(text), model
    return models


class _Unopened:
    """Placeholder for a model whose file vanished or was damaged after startup; every query fails."""

    max_history_positions = 1

    def __init__(self, game_name: str, error: BadModel) -> None:
        self.game = game_name
        self.error = error
        self.info = ModelInfo(NO_MODEL, "no model", "")

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:  # noqa: ARG002
        raise self.error
