"""A weakened standard strategy."""

from dataclasses import dataclass
from typing import ClassVar

from engine.strategies.standard import Standard


@dataclass(frozen=True, kw_only=True)
class Gentle(Standard):
    """Searches only a few plies, and chooses at random among nearly best moves (`engine.variety.Level`)."""

    has_level: ClassVar[bool] = True
    wins_plainly: ClassVar[bool] = False
    is_compared: ClassVar[bool] = False


GENTLE = Gentle(name="gentle")
