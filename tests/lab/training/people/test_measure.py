"""Tests of the measures of predictions."""

from dataclasses import replace

import numpy as np
import pytest

from lab.training.people import measure
from lab.training.people.positions import HumanPositions, scaled_rating
from lab.training.people.shapes import XIANGQI
from tests.lab.training.people.habits import xiangqi_positions


def test_quality_of_known_predictions() -> None:
    """Two legal moves with logits 0 and ln 3; in one position the likelier was played, in the other not."""
    positions = HumanPositions(
        board=np.zeros((2, 64), np.uint8),
        marks=np.zeros((2, 4), np.uint8),
        first=np.array([0, 2]),
        count=np.array([2, 2], np.int16),
        played=np.array([1, 0], np.int16),
        features=np.full((2, 3), np.nan, np.float32),
        result=np.array([1, np.nan], np.float32),
        game=np.array([0, 1], np.int32),
        ply=np.ones(2, np.int16),
        year=np.zeros(2, np.int16),
        person=np.zeros(2, np.int32),
        moves=np.array([5, 6, 5, 6], np.int16),
    )
    logits = np.full((2, 64), 50.0)
    logits[:, 5], logits[:, 6] = 0, np.log(3)
    found = measure._quality(logits, np.zeros(2), positions, np.arange(2))
    assert found.nats.tolist() == pytest.approx([-np.log(0.75), -np.log(0.25)])
    assert found.top1.tolist() == [1, 0]
    assert found.brier[0] == 0.25
    summary = measure.summary(found, positions.game)
    assert summary["brier"] == 0.25
    assert summary["games"] == 2


def test_intervals_are_by_game() -> None:
    """Ten copies of each game's position tell no more than one."""
    values, games = np.array([0.0, 1, 0, 1, 1, 1]), np.arange(6)
    repeated = measure.interval(np.repeat(values, 10), np.repeat(games, 10))
    assert repeated == measure.interval(values, games)
    wide = 1.96 * np.sqrt(((values - values.mean()) ** 2).sum() * 6 / 5) / 6
    assert repeated == pytest.approx([values.mean() - wide, values.mean() + wide], abs=1e-4)


def test_a_sample_has_whole_games() -> None:
    positions = xiangqi_positions(6)
    sample = measure.sample_of_games(positions, 100)
    assert 0 < len(sample) <= 100
    for game in np.unique(sample.game):
        assert (sample.game == game).sum() == (positions.game == game).sum()
    assert len(measure.sample_of_games(positions, 0)) == len(positions)
    assert np.array_equal(sample.game, measure.sample_of_games(positions, 100).game)


def test_reports_are_by_year_and_rating() -> None:
    ratings = np.array([1399, 1400, 1699, 1700, 2000, np.nan])
    n = len(ratings)
    positions = xiangqi_positions(2).of(np.arange(n))
    features = np.stack([scaled_rating(ratings), np.zeros(n), np.zeros(n)], axis=1).astype(np.float32)
    years = np.array([2001, 2001, 2002, 2002, 2002, 2002], np.int16)
    positions = replace(positions, features=features, year=years)
    known = measure.Predictions(np.arange(n) / 10, np.zeros(n), np.full(n, np.nan))
    unknown = measure.Predictions(known.nats + 0.5, known.top1, known.brier)
    found = measure.report(known, unknown, positions)
    assert {name: row["positions"] for name, row in found["by_rating"].items()} == {
        "below 1400": 1,
        "1400 to 1699": 2,
        "1700 or more": 2,
    }
    assert {name: (row["positions"], row["nats"]) for name, row in found["by_year"].items()} == {
        "2001": (2, 0.05),
        "2002": (4, 0.35),
    }
    assert found["nats_gained_by_person"] == 0.5
    assert found["without_person"]["nats"] == found["with_person"]["nats"] + 0.5
    assert "brier" not in found["with_person"]


def test_nothing_is_measured_without_positions() -> None:
    nothing = xiangqi_positions(1).of(np.empty(0, dtype=np.int64))
    assert measure.measured_card(b"no network", XIANGQI, nothing, lambda _: None) == {"positions": 0}
