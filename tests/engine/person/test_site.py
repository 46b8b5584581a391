"""Sites: careless people and other scales of ratings are learned from games made up with known habits."""

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.people.site import REPLIES, SITES, People, Site
from engine.errors import RecordError
from engine.human.person_prior import card_path, read_card
from engine.person.card import person_model
from engine.person.site import RatingMap, SiteGame, SiteModel
from engine.person.site_state import HIGHEST_BAND, SiteState

PRIOR = read_card(card_path("othello"))
BASE = next(iter(PRIOR.bases))
MODEL = SiteModel(PRIOR, BASE)
GRID = PRIOR.bases[BASE].grid
Floats = NDArray[np.float64]
IS_ERROR = 0.1
_, CARELESS, INFLATED = SITES


def errors(
    people: People, games: list[SiteGame], state: SiteState, model: SiteModel = MODEL
) -> tuple[float, int]:
    """Errors that the prior at a site expects, and those that happened."""
    expected, happened = 0.0, 0
    for game in games:
        weights = model.prior_weights(state, game.rating, game.seconds)
        for reply in game.replies:
            costs = np.array(reply.costs)
            if costs.max() >= IS_ERROR:
                found = people.probabilities(GRID.points, np.array(reply.base), costs) @ weights
                expected += float(found[costs >= IS_ERROR].sum())
            happened += int(costs[reply.index] >= IS_ERROR)
    return expected, happened


def folded(games: list[SiteGame], model: SiteModel = MODEL) -> SiteState:
    state = model.new_state()
    for game in games:
        state = model.fold(state, game)
    return state


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("is_rated", [False, True])
def test_people_who_are_twice_as_careless_are_known_after_fifty_games(seed: int, is_rated: bool) -> None:
    people = People(seed, CARELESS)
    make = people.rated_game if is_rated else people.unrated_game
    state = folded([make() for _ in range(50)])
    later = [make() for _ in range(150)]
    before, happened = errors(people, later, MODEL.new_state())
    after, _ = errors(people, later, state)
    assert before / happened < 0.6
    assert 0.9 < after / happened < 1.1


CALIBRATED = person_model("othello", PRIOR, "0" * 64)
"""A calibrated model has no prior by rating."""
BY_BANDS = SiteModel.of(CALIBRATED)


def test_another_model_of_persons_is_another_model_of_sites() -> None:
    other = SiteModel.of(person_model("othello", PRIOR, "1" * 64))
    assert len({other.version, BY_BANDS.version, MODEL.version}) == 3


@pytest.mark.parametrize("seed", range(2))
def test_by_a_calibrated_model_each_band_of_ratings_has_a_shift(seed: int) -> None:
    """The weaker half of a site are careless, which the other half and people without a rating are not."""
    careless, careful = (People(20 + seed, Site("", careless=k), CALIBRATED.card.tilt) for k in (6.0, 0.0))
    rng = random.Random(seed)

    def games(of: People, low: float, count: int) -> list[SiteGame]:
        return [of.game(None, rng.uniform(low, low + 300)) for _ in range(count)]

    state = folded([*games(careless, 1000, 60), *games(careful, 1900, 60)], BY_BANDS)
    assert BY_BANDS.curve(state) == RatingMap()
    for people, low in ((careless, 1000), (careful, 1900)):
        expected, happened = errors(people, games(people, low, 100), state, BY_BANDS)
        assert 0.85 < expected / happened < 1.15
    for low, at in ((-500, 1050), (5000, 2150)):
        beyond, inside = (BY_BANDS.prior_weights(state, rating, None) for rating in (low, at))
        assert beyond == pytest.approx(inside, abs=0.02)
    without = BY_BANDS.prior_weights(state, None, None) @ GRID.points[:, 1]
    assert -6 < without < -1
    restored = SiteState.from_bytes(state.to_bytes())
    assert restored == state


def test_a_band_without_games_is_like_its_neighbours() -> None:
    people = People(40, Site("", careless=6.0), CALIBRATED.card.tilt)
    state = folded([people.game(None, rating) for rating in (1050.0, 1450.0) * 10], BY_BANDS)
    between, beside = (BY_BANDS.prior_weights(state, at, None) @ GRID.points[:, 1] for at in (1250, 1050))
    assert beside < between < -3


@pytest.mark.parametrize("seed", range(2))
def test_careless_people_are_known_by_a_calibrated_model(seed: int) -> None:
    people = People(30 + seed, Site("", careless=6.0), CALIBRATED.card.tilt)
    games = [people.game(None, 1500.0 + number) for number in range(50)]
    state = folded(games, BY_BANDS)
    later = [people.game(None, 1500.0) for _ in range(150)]
    before, happened = errors(people, later, BY_BANDS.new_state(), BY_BANDS)
    after, _ = errors(people, later, state, BY_BANDS)
    assert before / happened < 0.7
    assert 0.9 < after / happened < 1.1


@pytest.mark.parametrize("seed", range(3))
def test_people_like_the_models_stay_what_they_are(seed: int) -> None:
    people = People(seed)
    state = folded([people.unrated_game() for _ in range(50)])
    after, happened = errors(people, [people.unrated_game() for _ in range(100)], state)
    assert 0.85 < after / happened < 1.15
    assert 0.85 < state.errors / state.expected < 1.15


@pytest.mark.parametrize("seed", range(3))
def test_ratings_of_another_scale_are_mapped(seed: int) -> None:
    people, rng = People(10 + seed), random.Random(seed)
    ratings = [rng.uniform(1100, 2100) for _ in range(400)]
    state = folded([people.game(rating, rating + INFLATED.inflation) for rating in ratings])
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
    game = People(5, CARELESS).unrated_game()
    first = MODEL.fold(MODEL.new_state(), game)
    tenth = MODEL.fold(MODEL.new_state(), SiteGame(game.replies, number=10))
    assert abs(MODEL.shift(tenth)[1]) < abs(MODEL.shift(first)[1])
    assert (first.weight, tenth.weight) == (1000, 100)
    assert tenth.errors == round(first.errors / 10)
    assert tenth.expected == pytest.approx(first.expected / 10, abs=1)


def test_the_errors_of_a_game_are_those_that_happened_and_that_the_models_people_make() -> None:
    people = People(7)
    games = [people.unrated_game() for _ in range(3)]
    state = folded(games)
    expected, happened = errors(people, games, MODEL.new_state())
    assert state.errors == 1000 * happened
    assert state.expected == pytest.approx(1000 * expected, abs=2)


def test_a_site_is_known_from_ten_games_of_ten_persons() -> None:
    game = People(8).unrated_game()
    state = folded([game] * 9)
    assert not MODEL.is_known(state)
    assert MODEL.is_known(MODEL.fold(state, game))
    one_person = folded([SiteGame(game.replies, number=number) for number in range(1, 30)])
    assert not MODEL.is_known(one_person)
    assert not MODEL.is_known(SiteState("another", 100, weight=100_000))


def test_what_was_added_can_be_taken_out() -> None:
    people = People(9)
    ours, theirs = ([people.rated_game() for _ in range(4)] for _ in range(2))
    both = folded([*ours, *theirs])
    assert folded(ours).plus(folded(theirs)) == both
    assert both.minus(folded(theirs)) == folded(ours)
    assert both.minus(both) == MODEL.new_state()
    assert MODEL.new_state().plus(both) == both
    with pytest.raises(RecordError, match="lacks what is to be taken out"):
        folded(ours).minus(both)
    for combine in (both.plus, both.minus):
        with pytest.raises(RecordError, match="another model"):
            combine(SiteState("another"))


@pytest.mark.parametrize("rating", [-(10.0**9), 0.0, 1234.0, 10.0**9])
def test_strange_ratings_do_not_make_a_state_grow(rating: float) -> None:
    game = People(12).unrated_game()
    state = folded([SiteGame(game.replies, each) for each in (1500.0, rating)])
    assert all(0 <= band <= HIGHEST_BAND for band in state.bands)
    assert np.isfinite(MODEL.prior_weights(state, rating, None)).all()


def test_the_largest_state() -> None:
    game = People(13).unrated_game()
    state = folded([SiteGame(game.replies, float(rating)) for rating in range(-100, 5000, 50)])
    assert len(state.bands) == 40
    large = SiteState(
        state.version,
        10**9,
        10**9,
        10**12,
        10**12,
        10**12,
        tuple(10**12 + each * 7919 for each in state.shifts),
        {band: tuple(10**12 + each * 7919 for each in row) for band, row in state.bands.items()},
    )
    assert SiteState.from_bytes(large.to_bytes()) == large
    assert len(large.to_bytes()) < 40_000


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
