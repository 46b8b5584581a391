"""What trappiness adds is found where people fall for it, and is nothing where they do not."""

from dataclasses import replace

import numpy as np

from engine.human.calibrated import FEATURES
from lab.analysis.added_value import FOLDS, added_by_trappiness
from lab.analysis.analysed_games import StoredPosition
from lab.analysis.population import population
from tests.lab.analysis.samples import REPLIES, made_up

COUNT = 600
EVEN = {"even": np.full(3 * COUNT, 1 / 3)}


def people_who_like_traps(much: float) -> list[StoredPosition]:
    """Sixty persons who play by `much` times the trappiness (median), and by nothing else."""
    given = made_up(COUNT, seed=3)
    rows = population("othello", given).rows
    likes = np.exp(much * rows.features[:, FEATURES.index("trappiness_median")]).reshape(-1, 3)
    rng = np.random.default_rng(4)
    found = []
    for at, (each, weights) in enumerate(zip(given, likes, strict=True)):
        played = int(rng.choice(3, p=weights / weights.sum()))
        reply = replace(each.found, reply=REPLIES[played])
        found.append(replace(each, found=reply, name=f"person {at % 60}"))
    return found


def test_it_adds_where_people_fall_for_traps() -> None:
    found = added_by_trappiness(population("othello", people_who_like_traps(4.0)), EVEN)
    assert [each.model for each in found] == ["even"]
    assert found[0].gain.low > 0.05


def test_it_adds_nothing_where_they_do_not() -> None:
    found = added_by_trappiness(population("othello", people_who_like_traps(0.0)), EVEN)
    assert found[0].gain.high < 0.01
    assert found[0].gain.low < 0  # judged on other persons, six useless features cost something
    assert abs(found[0].nats.value - np.log(3)) < 0.03


def test_a_good_model_is_used() -> None:
    """The probabilities themselves are a feature: who knows the replies predicts them."""
    people = population("othello", people_who_like_traps(4.0))
    sure = np.where(people.is_played, 0.98, 0.01)
    found = added_by_trappiness(people, {"sure": sure})
    assert found[0].nats.value < 0.05
    assert abs(found[0].gain.value) < 0.02


def test_too_few_persons_tell_nothing() -> None:
    given = [replace(each, name=f"person {at % (FOLDS - 1)}") for at, each in enumerate(made_up(30))]
    assert added_by_trappiness(population("othello", given), {"even": np.full(90, 1 / 3)}) == []
