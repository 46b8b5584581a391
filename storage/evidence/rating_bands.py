"""Rating bands, by which games are grouped."""

from dataclasses import dataclass
from typing import Self

BAND_WIDTH = 200
"""Width of a rating band, in rating points."""


@dataclass(frozen=True, slots=True)
class RatingBand:
    """The ratings from a multiple of `BAND_WIDTH` up to the next multiple."""

    first: int | None
    """The lowest rating of the band; None: unrated."""

    @classmethod
    def of(cls, rating: float | None) -> Self:
        """The band of a rating; the band of unrated people for None or NaN."""
        return cls(None if rating is None or rating != rating else int(rating // BAND_WIDTH) * BAND_WIDTH)

    @property
    def last(self) -> int | None:
        """The highest rating of the band."""
        return None if self.first is None else self.first + BAND_WIDTH - 1

    @property
    def text(self) -> str:
        """The band as text, for instance ``1400 to 1599``, or ``unrated``."""
        return "unrated" if self.first is None else f"{self.first} to {self.last}"
