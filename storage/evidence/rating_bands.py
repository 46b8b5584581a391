"""Rating bands, which group games by the opponent's rating."""

from dataclasses import dataclass
from typing import Self

BAND_WIDTH = 200
"""Width of a rating band, in rating points."""


@dataclass(frozen=True, slots=True)
class RatingBand:
    """The ratings from one multiple of `BAND_WIDTH` to just below the next, or no rating."""

    first: int | None
    """The lowest rating of the band; None if unrated."""

    @classmethod
    def of(cls, rating: float | None) -> Self:
        """Return the band of a rating; None or NaN belongs to the band of unrated people."""
        return cls(None if rating is None or rating != rating else int(rating // BAND_WIDTH) * BAND_WIDTH)

    @property
    def last(self) -> int | None:
        """The highest rating of the band; None if unrated."""
        return None if self.first is None else self.first + BAND_WIDTH - 1

    @property
    def text(self) -> str:
        """The band as text, for instance ``1400 to 1599``, or ``unrated``."""
        return "unrated" if self.first is None else f"{self.first} to {self.last}"
