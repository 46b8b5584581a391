"""Blindness: leaks are found and named, chance alone finds none; and the difference in waits."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from storage.evidence.inference.blindness import (
    FALSE_ALARM_RATE,
    BlindnessReport,
    VisibleFeatures,
    blindness_report,
)
from storage.evidence.inference.persons import Floats
from storage.evidence.inference.trial import TrialTerms
from tests.storage.evidence.inference.samples import NOW, Game, game, games_of, played_games

LATER = NOW + timedelta(days=300)
NAMES = ("waits", "longest wait", "report")


def report_on(rows: list[Game], values: Floats, waits_s: Floats | None = None) -> BlindnessReport:
    keys = np.array([row.game_id for row in rows])
    waits_s = values[:, 0] if waits_s is None else waits_s
    return blindness_report(
        games_of(rows), VisibleFeatures(NAMES, keys, values, waits_s), TrialTerms(), LATER
    )


def visible(rows: list[Game], seed: int, leak: float = 0.0, column: int = 0) -> Floats:
    """Noise, with one feature larger by `leak` standard deviations in treated games."""
    values = np.random.default_rng(1000 + seed).normal(size=(len(rows), len(NAMES)))
    values[:, column] += leak * np.array([row.treated for row in rows])
    return values


def test_chance_alone_reveals_nothing() -> None:
    reports = [
        report_on(rows := played_games(400, 0.0, seed, persons=400), visible(rows, seed))
        for seed in range(40)
    ]
    assert not any(each.is_revealed for each in reports)
    assert max(each.e_value for each in reports) < 100
    assert np.mean([each.auc for each in reports if each.auc is not None]) == pytest.approx(0.5, abs=0.01)


def test_chance_reaches_an_e_value_as_seldom_as_it_may() -> None:
    """Levels that simulations can reach, unlike that of the alarm."""
    reports = [
        report_on(rows := played_games(150, 0.0, n, persons=150), visible(rows, n)) for n in range(200)
    ]
    for level in (3, 10):
        assert np.mean([each.e_value >= level for each in reports]) <= 1 / level
    assert any(each.e_value >= 2 for each in reports)


@pytest.mark.parametrize("column", range(len(NAMES)))
@pytest.mark.parametrize("leak", [1.4, -1.4])
def test_a_leak_is_found_and_named(column: int, leak: float) -> None:
    """1.4 standard deviations are an AUC of .84."""
    rows = played_games(400, 0.0, column, persons=400)
    values = visible(rows, 1, leak, column)
    found = report_on(rows, values)
    treated = np.array([row.treated for row in rows])
    least = (values[treated, column][:, None] > values[~treated, column]).mean()
    assert found.is_revealed
    assert found.best_feature == NAMES[column]
    assert found.auc == pytest.approx(max(least, 1 - least), abs=0.03)
    assert found.games == 390


def test_a_leak_that_no_feature_shows_alone_is_found() -> None:
    rows = played_games(600, 0.0, 1, persons=600)
    values = visible(rows, 1)
    values[:, 1] = values[:, 0] + 0.3 * values[:, 1] + 0.45 * np.array([row.treated for row in rows])
    found = report_on(rows, values)
    assert found.is_revealed
    assert found.auc is not None
    assert found.auc > 0.75


def test_what_was_revealed_once_stays_revealed() -> None:
    rows = played_games(800, 0.0, 3, persons=800)
    values = visible(rows, 3)
    values[:120] = visible(rows[:120], 3, 3.0)
    assert report_on(rows, values).is_revealed


def test_kinds_of_games_do_not_hide_a_leak_in_each() -> None:
    rows = [
        game(n, person=n, treated=bool(n % 3 % 2), speed="bullet" if n % 2 else "rapid") for n in range(200)
    ]
    values = visible(rows, 1, 2.0)
    values[:, 0] += [0.0 if row.speed == "bullet" else 100.0 for row in rows]
    assert report_on(rows, values).is_revealed


def test_a_prediction_never_uses_its_own_game() -> None:
    """Otherwise a feature that is unique in each game would tell everything."""
    rows = played_games(60, 0.0, 5, persons=60)
    values = visible(rows, 5)
    before = report_on(rows, values)
    rows[-1] = game(59, person=rows[-1].person, treated=not rows[-1].treated, probability=0.6)
    after = report_on(rows, values)
    assert before.auc != after.auc  # the same prediction, of another strategy
    assert before.e_value <= 1 / FALSE_ALARM_RATE >= after.e_value


@pytest.mark.parametrize("missing", [0, 1])
def test_missing_features_tell_nothing(missing: int) -> None:
    rows = played_games(200, 0.0, 2, persons=200)
    values = visible(rows, 2)
    values[:: missing + 1] = np.nan
    found = report_on(rows, values)
    assert not found.is_revealed
    assert found.wait.n == (0 if missing == 0 else 100)


@pytest.mark.parametrize("rows", [[], [game(1)], [game(n, treated=True) for n in range(30)]])
def test_few_games_and_one_strategy(rows: list[Game]) -> None:
    found = report_on(rows, np.zeros((len(rows), len(NAMES))))
    assert (found.games, found.auc, found.is_revealed) == (max(0, len(rows) - 10), None, False)
    assert (found.e_value >= 1, found.best_feature) == (True, "")


def test_the_difference_in_waits() -> None:
    rows = played_games(600, 0.0, 7, persons=200)
    waits_s = np.random.default_rng(7).normal(2.0, 0.3, len(rows))
    waits_s += 0.25 * np.array([row.treated for row in rows])
    found = report_on(rows, visible(rows, 7), waits_s).wait
    assert found.n == 600
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.25 < found.high
    assert found.mean == pytest.approx(0.25, abs=0.06)


def test_json_hides_an_early_difference() -> None:
    rows = played_games(50, 0.0, 1, persons=50)
    fields: dict[str, Any] = report_on(rows, visible(rows, 1)).to_json()
    assert fields["wait"]["mean"] is None
    assert (fields["is_revealed"], fields["false_alarm_rate"]) == (False, 0.001)
