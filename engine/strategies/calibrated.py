"""The opponent-model strategy with reply probabilities learned from recorded games."""

from dataclasses import dataclass
from typing import ClassVar

from engine.strategies.opponent_model import OpponentModel


@dataclass(frozen=True, kw_only=True)
class Calibrated(OpponentModel):
    """Predicts replies with `engine.human.calibrated`, from the complete profiles of the moves, and adapts
    them to the person by all that is known (`engine.person.prediction`), as forecasts do."""

    is_calibrated: ClassVar[bool] = True


CALIBRATED = Calibrated(name="calibrated")
