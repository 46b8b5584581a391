"""Bands of ratings."""

import math

import pytest

from storage.evidence.rating_bands import RatingBand


@pytest.mark.parametrize(
    ("rating", "text"),
    [
        (None, "unrated"),
        (math.nan, "unrated"),
        (0, "0 to 199"),
        (1399, "1200 to 1399"),
        (1400.0, "1400 to 1599"),
    ],
)
def test_texts(rating: float | None, text: str) -> None:
    assert RatingBand.of(rating).text == text


def test_limits() -> None:
    band = RatingBand.of(1450)
    assert (band.first, band.last) == (1400, 1599)
    assert RatingBand.of(None).last is None
