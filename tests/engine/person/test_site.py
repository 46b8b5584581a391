"""Sites: careless people and other scales of ratings are learned from games made up with known habits."""

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import RecordError
from engine.human.person_prior import card_path, read_card, tilted_rows
from engine.person.site import RatingMap, SiteGame, SiteModel, SiteReply, SiteState

PRIOR = read_card(card_path("othello"))
BASE = next(iter(PRIOR.bases))
MODEL = SiteModel(PRIOR, BASE)
GRID = PRIOR.bases[BASE].grid
Floats = NDArray[np.float64]
REPLIES = 25
IS_ERROR = 0.1


class People:
    """Simulated people: positions at random, and replies by tilts drawn from a prior."""

    def __init__(self, seed: int, careless: float = 0.0) -> None:
        self.rng = np.random.default_rng(seed)
        self.careless = careless
        """What is taken from each person's k."""

    def game(self, rating: float | None, shown: float | None) -> SiteGame:
        """One game of a person of this rating on the model's scale, which the site shows as another."""
        weights = PRIOR.prior_weights(BASE, rating, None)
        x, k = GRID.points[self.rng.choice(len(weights), p=weights)]
        point = np.array([[x, k - self.careless]])
        return SiteGame(tuple(self.reply(point) for _ in range(REPLIES)), shown)

    def reply(self, point: Floats) -> SiteReply:
        count = int(self.rng.integers(3, 12))
        base = self.rng.dirichlet(np.full(count, 0.6))
        costs = self.rng.exponential(0.08, count).clip(0, 1)
        costs -= costs.min()
        found = self.probabilities(point, base, costs)[:, 0]
        index = int(self.rng.choice(count, p=found / found.sum()))
        return SiteReply(tuple(base.tolist()), tuple(costs.tolist()), index)

    @staticmethod
    def probabilities(points: Floats, base: Floats, costs: Floats) -> Floats:
        least = PRIOR.bases[BASE].least
        return tilted_rows(points, base, costs, np.zeros(1, np.int64), least, PRIOR.uniform)


def errors(games: list[SiteGame], weights: Floats) -> tuple[float, int]:
    """Errors that a prior expects, and those that happened."""
    expected, happened = 0.0, 0
    for reply in (each for game in games for each in game.replies):
        costs = np.array(reply.costs)
        found = People.probabilities(GRID.points, np.array(reply.base), costs) @ weights
        expected += float(found[costs >= IS_ERROR].sum())
        happened += int(costs[reply.index] >= IS_ERROR)
    return expected, happened


def folded(games: list[SiteGame]) -> SiteState:
    state = MODEL.new_state()
    for game in games:
        state = MODEL.fold(state, game)
    return state


@pytest.mark.parametrize("seed", range(3))
def test_people_who_are_twice_as_careless_are_known_after_fifty_games(seed: int) -> None:
    people = People(seed, careless=9.0)
    state = folded([people.game(None, None) for _ in range(50)])
    later = [people.game(None, None) for _ in range(400)]
    before, happened = errors(later, MODEL.prior_weights(MODEL.new_state(), None, None))
    after, _ = errors(later, MODEL.prior_weights(state, None, None))
    assert before / happened < 0.6
    assert 0.9 < after / happened < 1.1


@pytest.mark.parametrize("seed", range(3))
def test_ratings_of_another_scale_are_mapped(seed: int) -> None:
    people, rng = People(10 + seed), random.Random(seed)
    ratings = [rng.uniform(1100, 2100) for _ in range(400)]
    state = folded([people.game(rating, rating + 400) for rating in ratings])
    curve = MODEL.curve(state)
    for shown in range(1550, 2450, 100):
        assert abs(curve.of(shown) - (shown - 400)) <= 100
    assert list(curve.model) == sorted(curve.model)


def test_without_games_nothing_changes() -> None:
    empty = MODEL.new_state()
    assert MODEL.shift(empty) == (0.0, 0.0)
    assert MODEL.curve(empty).of(1777) == 1777
    for rating in (None, 1900.0):
        weights = MODEL.prior_weights(empty, rating, 60.0)
        assert weights == pytest.approx(PRIOR.prior_weights(BASE, rating, 60.0))
    assert MODEL.fold(empty, SiteGame((), 1500)) == empty


def test_a_curve_is_linear_between_its_points_and_has_slope_1_beyond() -> None:
    curve = RatingMap((1000.0, 1100.0), (900.0, 950.0))
    assert [curve.of(each) for each in (800, 1000, 1050, 1100, 1300)] == [700, 900, 925, 950, 1150]


def test_the_order_of_games_does_not_matter_and_a_state_survives_storing() -> None:
    people = People(4)
    games = [people.game(1500.0, 1500.0 + 10 * number) for number in range(12)]
    state = folded(games)
    assert folded(games[::-1]) == state
    assert SiteState.from_bytes(state.to_bytes()) == state
    assert len(state.to_bytes()) < 20_000
    assert (state.games, state.replies, len(state.bands)) == (12, 12 * REPLIES, 2)


def test_further_games_of_a_person_weigh_less() -> None:
    game = People(5, careless=9.0).game(None, None)
    first = MODEL.fold(MODEL.new_state(), game)
    tenth = MODEL.fold(MODEL.new_state(), SiteGame(game.replies, number=10))
    assert abs(MODEL.shift(tenth)[1]) < abs(MODEL.shift(first)[1])


@pytest.mark.parametrize("damage", [b"", b"x", bytes(40)])
def test_a_damaged_state_is_noticed(damage: bytes) -> None:
    with pytest.raises(RecordError, match="damaged"):
        SiteState.from_bytes(damage)
    with pytest.raises(RecordError, match="damaged"):
        SiteState.from_bytes(folded([People(6).game(None, None)]).to_bytes()[:-40] + damage)


def test_a_state_of_another_model_is_refused() -> None:
    other = SiteState("another")
    for use in (MODEL.shift, MODEL.curve, lambda state: MODEL.fold(state, SiteGame(()))):
        with pytest.raises(ValueError, match="another model"):
            use(other)
