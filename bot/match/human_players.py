"""Simulates people who move as a human-move model predicts; also opens models for other players."""

import random
import time
from collections.abc import Sequence
from typing import Any

from bot.match.move_list import MoveList
from bot.match.player_specs import HumanSpec, MatchError
from bot.match.processor_use import processor_time_s, used_s
from engine.decision import Person
from engine.game import continued_position
from engine.games import get_rules
from engine.human.model import BadModel, HumanModel, PredictionQuery, predictions_of
from engine.human.opponent_model_search import GameModels, query_model
from engine.human.registry import ModelRegistry, ModelSettings
from engine.human.shallow import ShallowModel
from engine.protocols.process import EngineError
from engine.protocols.settings import Allowance, ChosenMove
from engine.stop import StopFlag


class HumanPlayer:
    """Plays like people: chooses each move at random with a human-move model's probabilities.

    Args:
        spec: Specification of the simulated people.
        game_name: The game to play.
        seed: Seeds the random moves.

    Raises:
        MatchError: The model cannot be read.
    """

    def __init__(self, spec: HumanSpec, game_name: str, seed: str) -> None:
        self._model: HumanModel
        if spec.shallow is not None:
            self._model = ShallowModel(game_name, spec.shallow)
        else:
            settings = ModelSettings(models=() if spec.model is None else (spec.model,))
            self._model = open_human_models(spec.text, settings, game_name).human
        self.name = f"people by {self._model.info.name}"
        self.person = Person(spec.rating)
        """The person that the model predicts."""
        self._spec = spec
        self._game = get_rules(game_name)
        self._line = MoveList(self._game)
        self._rng = random.Random(seed)  # noqa: S311 - needs no secrecy

    @property
    def models(self) -> GameModels:
        """The model by which these people reply, for forecasts of their replies."""
        return GameModels(self._model)

    def new_game(self, start: Any = None) -> None:
        """Begin a game from a position, or from the standard starting position if None."""
        self._line.begin(start)

    def choose(self, moves: Sequence[str], allowance: Allowance, stop: StopFlag) -> ChosenMove:  # noqa: ARG002
        """Choose a random move according to the model.

        Raises:
            EngineError: The model gives no answer.
            ValueError: The game is over.
        """
        began, before_s = time.monotonic(), processor_time_s()
        game = self._game
        *before, last = self._line.positions(moves)
        position = continued_position(game, last)
        legal = game.legal_moves(position)
        if not legal:
            raise ValueError(f"the game is over: {game.position_text(position)}")
        clocks_s = allowance.remaining_s
        ours_s = None if clocks_s is None else clocks_s[game.side_to_move(position)]
        past = (*before, position)[-max(1, self._model.max_history_positions) :]
        try:
            query = PredictionQuery(past, Person(self._spec.rating, ours_s))
            [probabilities] = query_model(
                self._model.info.name, lambda: predictions_of(self._model, game, [query])
            )
        except BadModel as error:
            raise EngineError(str(error)) from error
        move = self._rng.choices(legal, apply_temperature(probabilities, self._spec.temperature))[0]
        text, time_s = game.move_text(move), time.monotonic() - began
        cpu_s = used_s(before_s, processor_time_s())
        return ChosenMove(
            text, evaluation_centi=None, variation=(text,), depth=None, time_s=time_s, cpu_s=cpu_s
        )

    def close(self) -> None:
        """Do nothing: no resource is open."""


def apply_temperature(probabilities: Sequence[float], temperature: float) -> list[float]:
    """Raise probabilities to the power 1 / temperature; at temperature 0, keep only the largest one."""
    best = max(probabilities)
    if temperature == 0:
        return [float(index == probabilities.index(best)) for index in range(len(probabilities))]
    return [(p / best) ** (1 / temperature) for p in probabilities]


def open_human_models(text: str, settings: ModelSettings, game_name: str) -> GameModels:
    """Open a game's models for the player with this specification.

    Raises:
        MatchError: A model cannot be read, or is for another game.
    """
    try:
        people = ModelRegistry(settings)
        for known in people.games:
            if known != game_name:
                raise MatchError(f"player {text!r}: its model is for {known}, not for {game_name}")
        return people.models(game_name)
    except BadModel as error:
        raise MatchError(f"player {text!r}: {error}") from None
