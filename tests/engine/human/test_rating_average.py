from collections.abc import Sequence

import pytest

from engine.decision import ModelInfo, Person
from engine.human.model import PredictionQuery
from engine.human.rating_average import RatingAverage


class ByRating:
    """The higher the rating, the likelier the first of two moves."""

    game = "othello"
    info = ModelInfo("maia", "family", "ab")
    max_history_positions = 3

    def predict(self, asks: Sequence[PredictionQuery]) -> list[tuple[float, ...]]:
        return [(p := (ask.person.rating or 0) / 2000, 1 - p) for ask in asks]


@pytest.fixture
def wide() -> RatingAverage:
    return RatingAverage(ByRating(), [1900, 1100, 1200, 1300, 1500, 1600, 1700])


def test_those_near_the_person_count_most(wide: RatingAverage) -> None:
    shares = wide.rating_weights(1300)
    assert len(shares) == 5  # of 1100, 1300, ... 1900
    assert sum(shares) == pytest.approx(1)
    assert max(shares) == shares[1]
    assert shares[0] == pytest.approx(shares[2])
    assert shares[3] / shares[2] == pytest.approx(2.718281828 ** (-200 / 300))


def test_beyond_the_ratings_that_are_known_the_last_counts_most(wide: RatingAverage) -> None:
    assert wide.rating_weights(2500) == wide.rating_weights(1900)
    assert wide.rating_weights(None) == wide.rating_weights(1500)


def test_the_mean(wide: RatingAverage) -> None:
    low, middle = wide.predict(
        [PredictionQuery((None,), Person(800)), PredictionQuery((None,), Person(1500, 3.0))]
    )
    assert middle == pytest.approx((0.75, 0.25))
    assert 0.55 < low[0] < 0.75
    assert sum(low) == pytest.approx(1)


def test_which_model_it_is(wide: RatingAverage) -> None:
    other = RatingAverage(ByRating(), [1100, 1500])
    assert (wide.game, wide.max_history_positions, wide.info.kind, wide.info.name) == (
        "othello",
        3,
        "maia",
        "family wide",
    )
    assert len({wide.info.sha256, other.info.sha256, RatingAverage(ByRating(), [1100]).info.sha256}) == 3
