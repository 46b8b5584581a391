"""The state of what is known about a site's people: sums over their games, with nothing about one of them.

All numbers are whole, so states add and subtract exactly: a site's state is the sum of what its people's
games tell, in whatever order they arrive, and what one person's games tell can be taken out again.
"""

import json
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated

from engine.errors import RecordError
from engine.human.person_prior import PriorGrid
from engine.person.sealed import seal, unseal
from engine.plain_values import Range, reader

SHIFTS = PriorGrid(
    tuple(round(-1.0 + 0.2 * at, 1) for at in range(11)), tuple(float(k) for k in range(-12, 13))
)
"""The shifts that a site may have."""
RATINGS = tuple(range(400, 3050, 50))
"""The ratings on the model's scale that a rating of the site may have."""
BAND = 100
"""Width of a band of the site's ratings, which share a point of the curve."""
HIGHEST_BAND = 3_900
"""The first band begins at 0, the last one here, which bounds a state; they include all ratings beyond."""
THOUSAND = 1_000

_MAGIC = b"DSS2"
_MAX_BYTES = 1 << 20
_Count = Annotated[int, Range(0, 2**31 - 1)]
_Sum = Annotated[int, Range(0, 2**62)]
_Evidence = Annotated[int, Range(-(2**62), 2**62)]


@dataclass(frozen=True, slots=True)
class SiteState:
    """What is known about people in one game: all people of a site, or one of them; immutable."""

    version: str
    """`engine.person.site.SiteModel.version` of the model that folded the games."""
    games: int = 0
    replies: int = 0
    weight: int = 0
    """The number of games in thousandths, where the n-th of a person counts 1 / n, as in all that follows."""
    errors: int = 0
    """The number of errors that happened, in thousandths."""
    expected: int = 0
    """The number of errors that the model expects of people without a rating, in thousandths."""
    shifts: tuple[int, ...] = ()
    """The evidence against each of `SHIFTS`; empty before the first game."""
    bands: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """By the lower end of a band of the site's ratings: the evidence against each of `RATINGS`, or without a
    prior by rating against each shift of k.

    Evidence that is 0 everywhere is left out."""

    def plus(self, other: "SiteState") -> "SiteState":
        """What both know together.

        Raises:
            RecordError: Another model folded the other state.
        """
        return self._combined(other, lambda one, two: one + two)

    def minus(self, other: "SiteState") -> "SiteState":
        """What is known without the other state, which was added before.

        Raises:
            RecordError: Another model folded the other state, or it was not added.
        """
        return self._combined(other, lambda one, two: one - two)

    def _combined(self, other: "SiteState", of: Callable[[int, int], int]) -> "SiteState":
        if other.version != self.version:
            raise RecordError("the state of the site was folded by another model")
        bands = {
            band: _each(self.bands.get(band, ()), other.bands.get(band, ()), of)
            for band in {*self.bands, *other.bands}
        }
        found = replace(
            self,
            games=of(self.games, other.games),
            replies=of(self.replies, other.replies),
            weight=of(self.weight, other.weight),
            errors=of(self.errors, other.errors),
            expected=of(self.expected, other.expected),
            shifts=_each(self.shifts, other.shifts, of),
            bands=MappingProxyType({band: row for band, row in sorted(bands.items()) if any(row)}),
        )
        if min(found.games, found.replies, found.weight, found.errors, found.expected) < 0:
            raise RecordError("the state of the site lacks what is to be taken out")
        return found if found.games else SiteState(self.version)

    def to_bytes(self) -> bytes:
        """The state as bytes, which `from_bytes` reads."""
        content = {
            "version": self.version,
            "games": self.games,
            "replies": self.replies,
            "weight": self.weight,
            "errors": self.errors,
            "expected": self.expected,
            "shifts": self.shifts,
            "bands": sorted(self.bands.items()),
        }
        return seal(_MAGIC, zlib.compress(json.dumps(content, separators=(",", ":")).encode()))

    @classmethod
    def from_bytes(cls, data: bytes) -> "SiteState":
        """Read the result of `to_bytes`.

        Raises:
            RecordError: The data is damaged.
        """
        packed = unseal(_MAGIC, data, "the state of a site")
        try:
            text = zlib.decompressobj().decompress(packed, _MAX_BYTES)
            found = reader(_Content)(json.loads(text))
            sizes = {len(evidence) for _, evidence in found.bands}
            if len(found.shifts) not in (0, len(SHIFTS.points)) or sizes - {len(RATINGS), len(SHIFTS.k)}:
                raise ValueError("evidence of other shifts or ratings")
        except (AttributeError, KeyError, TypeError, ValueError, zlib.error) as error:
            raise RecordError(f"the state of a site is damaged: {error}") from None
        return cls(
            found.version,
            found.games,
            found.replies,
            found.weight,
            found.errors,
            found.expected,
            found.shifts,
            MappingProxyType(dict(found.bands)),
        )


def band_of(rating: float) -> int:
    """The lower end of the band of a site's rating."""
    return min(max(BAND * math.floor(rating / BAND), 0), HIGHEST_BAND)


@dataclass(frozen=True, slots=True)
class _Content:
    version: str
    games: _Count
    replies: _Count
    weight: _Sum
    errors: _Sum
    expected: _Sum
    shifts: tuple[_Evidence, ...]
    bands: tuple[tuple[int, tuple[_Evidence, ...]], ...]


def _each(one: tuple[int, ...], two: tuple[int, ...], of: Callable[[int, int], int]) -> tuple[int, ...]:
    """Number by number; an empty row is as good as one of zeros."""
    none = (0,) * max(len(one), len(two))
    return tuple(map(of, one or none, two or none))
