"""The tilts of persons at a site whose people are known."""

from dataclasses import replace

import numpy as np
import pytest

from engine.person.card import PersonModel
from engine.person.known import present_tilts
from engine.person.site import SiteGame, SiteModel, SiteReply
from engine.person.site_state import SiteState
from engine.person.state import FoldedGame, KnownPerson, PersonState, fold_games, tilts_after, tilts_at_start
from engine.person.tilt import MILLION, Weights, dense, mean_tilt, start_weights, with_prior, without_tail
from tests.engine.person.samples import empty, game, model

MODEL = model(is_rated=True)
SITE = SiteModel.of(MODEL)


def at_site(games: int, k: float = -6.0, rating: float | None = None, seed: int = 1) -> SiteState:
    """A site whose people have this k."""
    rng, state = np.random.default_rng(seed), SITE.new_state()
    for _ in range(games):
        played = game(rng, -0.2, k)
        replies = tuple(SiteReply(each.base, each.costs, each.index) for each in played.replies)
        state = SITE.fold(state, SiteGame(replies, rating))
    return state


def weights(state: PersonState, site: SiteState | None, of: PersonModel = MODEL) -> Weights:
    return present_tilts(KnownPerson(state, 20, site=site), of, None, None)


def folded(games: int, k: float = 3.0, of: PersonModel = MODEL) -> PersonState:
    rng = np.random.default_rng(2)
    return fold_games(empty(of), [game(rng, -0.2, k) for _ in range(games)], of)


@pytest.mark.parametrize("games", [0, 3])
@pytest.mark.parametrize("site", [None, SITE.new_state(), SiteState("another", 99, 99, 99_000), at_site(9)])
def test_at_a_site_of_which_too_little_is_known_nothing_changes(games: int, site: SiteState | None) -> None:
    state = folded(games)
    assert weights(state, site) == tilts_at_start(state, MODEL, None, None)


def test_who_is_not_known_is_one_of_the_site_s_people() -> None:
    state = at_site(20)
    found = weights(empty(MODEL), state)
    assert sum(weight for _, weight in found) == MILLION
    assert dense(found, len(MODEL.tilt.grid.points)) == pytest.approx(
        SITE.prior_weights(state, None, None), abs=1e-6
    )
    assert mean_tilt(MODEL.tilt, found)[1] < -3 < 2 < mean_tilt(MODEL.tilt, weights(empty(MODEL), None))[1]


def test_a_rating_is_mapped() -> None:
    """People rated 1600 reply as those rated some hundreds less."""
    state = at_site(20, k=0.0, rating=1600.0)
    known = KnownPerson(empty(MODEL), 20, site=state)
    found = present_tilts(known, MODEL, 1600.0, None)
    mapped = SITE.curve(state).of(1600.0)
    assert 1200 < mapped < 1450
    assert dense(found, len(MODEL.tilt.grid.points)) == pytest.approx(
        MODEL.tilt_weights(mapped, None), abs=1e-6
    )


@pytest.mark.parametrize("k", [-6.0, 3.0])
def test_a_person_s_games_weigh_as_if_they_had_begun_from_the_site(k: float) -> None:
    """With one game, that is Bayes' rule with the site's prior."""
    of = replace(MODEL, card=replace(MODEL.card, vector=None))
    state, site = folded(1, k, of), at_site(20)
    rng = np.random.default_rng(2)
    prior = SiteModel.of(of).prior_weights(replace(site, version=SiteModel.of(of).version), None, None)
    (own,) = [game(rng, -0.2, k)]
    start = with_prior(tilts_at_start(empty(of), of, None, None), of.tilt_weights(None, None), prior)
    exact = tilts_after(start, empty(of), of, own.replies)
    found = with_prior(state.tilts, of.tilt_weights(None, None), prior)
    points = len(of.tilt.grid.points)
    # Some points have a few millionths before the prior is replaced, and hundreds of times as much after.
    assert np.abs(dense(found, points) - dense(exact, points)).sum() < 0.05


@pytest.mark.parametrize("rating", [None, 1900.0])
def test_the_first_game_of_a_person_counts_in_full(rating: float | None) -> None:
    state, site = folded(1), at_site(20, rating=1900.0)
    priors = MODEL.tilt_weights(rating, None), SITE.prior_weights(site, rating, None)
    before = with_prior(state.tilts, *priors)
    found = present_tilts(KnownPerson(state, 20, site=site), MODEL, rating, None)
    assert found == start_weights(before, priors[1], MODEL.forgetting)
    alone = mean_tilt(MODEL.tilt, tilts_at_start(state, MODEL, rating, None))[1]
    assert mean_tilt(MODEL.tilt, found)[1] < alone - 0.5


def test_after_many_games_the_person_counts_more_than_the_site() -> None:
    careful = folded(30, k=8.0)
    alone, there = (mean_tilt(MODEL.tilt, weights(careful, site))[1] for site in (None, at_site(20)))
    assert alone - 3 < there < alone


def test_replies_in_the_game_count_at_a_site_too() -> None:
    rng = np.random.default_rng(5)
    played = FoldedGame(is_lost=False, replies=game(rng, -0.2, 10.0).replies)
    before, site = weights(empty(MODEL), at_site(20)), at_site(20)
    known = KnownPerson(empty(MODEL), 20, played.replies, site)
    after = present_tilts(known, MODEL, None, None)
    assert after == tilts_after(before, empty(MODEL), MODEL, played.replies)
    assert mean_tilt(MODEL.tilt, after)[1] > mean_tilt(MODEL.tilt, before)[1] + 2


def test_without_tail() -> None:
    weights: Weights = ((0, 10_000), (1, 900_000), (2, 10_000), (3, 80_000))
    assert without_tail(weights, 0.0) == weights
    assert without_tail(weights, 0.01) == weights[1:]
    assert without_tail(weights, 0.0199) == weights[1:]
    assert without_tail(weights, 0.02) == ((1, 900_000), (3, 80_000))
    assert without_tail((), 0.5) == ()


def test_with_prior() -> None:
    weights: Weights = ((0, 500_000), (2, 500_000))
    prior = np.array([0.5, 0.25, 0.25])
    assert with_prior(weights, prior, prior) == weights
    assert with_prior(weights, prior, np.array([0.25, 0.25, 0.5])) == ((0, 200_000), (2, 800_000))
    assert with_prior(weights, prior, np.array([0.0, 1.0, 0.0])) == ()
    assert with_prior((), prior, prior) == ()
    # What the prior excluded is not known to less than a millionth.
    rare = np.array([1.0, 0.0, 1e-12])
    assert with_prior(((0, 999_999), (2, 1)), rare, np.array([0.5, 0.0, 0.5])) == ((0, 500_000), (2, 500_000))
