"""When to offer, to resign, to grant, to claim and to abort."""

from dataclasses import replace

import pytest

from bot.base.config import AssignmentConfig, AssignmentMethod, Claim, MannersConfig
from bot.game.offer_policy import (
    MIN_PLIES_BETWEEN_OFFERS,
    OfferFacts,
    choose_claim,
    first_move_timeout_s,
    has_draw_offers,
    max_takebacks,
    may_grant_takebacks,
    score_centi,
    should_accept_draw,
    should_offer_draw,
    should_resign,
)
from engine.decision import Candidate, Decision, DirectMove
from engine.game import WIN_CENTI
from engine.games import ENGINE_GAMES, GAMES
from engine.params import TrapParams

CONFIG = MannersConfig(
    draw_score_centi=15, draw_moves=3, draw_ply=40, resign=True, resign_score_centi=900, resign_moves=2
)
FACTS = OfferFacts(
    scores_centi=(300, 10, -15, 0),
    plies=40,
    opponent_rating=1600,
    opponent_is_bot=False,
    rated=True,
    has_draws=True,
)
LOST = replace(FACTS, scores_centi=(0, -900, -950))


def test_a_draw_after_many_even_moves() -> None:
    assert should_accept_draw(FACTS, CONFIG)
    assert should_offer_draw(FACTS, CONFIG)


def test_no_draw_in_a_game_that_is_decided_between_the_two() -> None:
    assert should_accept_draw(replace(FACTS, is_decided=False), CONFIG)
    assert not should_accept_draw(replace(FACTS, is_decided=True), CONFIG)


@pytest.mark.parametrize(
    "facts",
    [
        replace(FACTS, scores_centi=(10, -15, 16)),
        replace(FACTS, scores_centi=(10, -16, 0)),
        replace(FACTS, scores_centi=(0, WIN_CENTI, 0)),
        replace(FACTS, scores_centi=(0, 0)),
        replace(FACTS, scores_centi=()),
        replace(FACTS, plies=39),
        replace(FACTS, has_draws=False),
    ],
)
def test_no_draw(facts: OfferFacts) -> None:
    assert not should_accept_draw(facts, CONFIG)
    assert not should_offer_draw(facts, CONFIG)


def test_draws_can_be_switched_off() -> None:
    assert not should_accept_draw(FACTS, CONFIG.model_copy(update={"draws": False}))


def test_weaker_people_play_on() -> None:
    config = CONFIG.model_copy(update={"draw_min_rating": 1700})
    assert not should_accept_draw(FACTS, config)
    assert should_accept_draw(replace(FACTS, opponent_rating=1700), config)
    assert should_accept_draw(replace(FACTS, opponent_rating=None), config)
    assert should_accept_draw(replace(FACTS, opponent_is_bot=True), config)


def test_a_draw_is_not_offered_again_and_again() -> None:
    for plies in (0, 2, MIN_PLIES_BETWEEN_OFFERS - 1):
        facts = replace(FACTS, plies_since_offer=plies)
        assert should_accept_draw(facts, CONFIG)
        assert not should_offer_draw(facts, CONFIG)
    assert should_offer_draw(replace(FACTS, plies_since_offer=MIN_PLIES_BETWEEN_OFFERS), CONFIG)


def test_resigning() -> None:
    assert should_resign(LOST, CONFIG)
    assert should_resign(replace(LOST, scores_centi=(-WIN_CENTI - 50, -WIN_CENTI - 60)), CONFIG)
    assert not should_resign(LOST, MannersConfig())  # off unless asked for
    assert not should_resign(replace(LOST, gives_odds=True), CONFIG)
    assert not should_resign(replace(LOST, scores_centi=(-900, -899)), CONFIG)
    assert not should_resign(replace(LOST, scores_centi=(-950,)), CONFIG)
    assert not should_resign(replace(LOST, scores_centi=(950, 950)), CONFIG)
    assert not should_resign(replace(LOST, plies=1), CONFIG)


def test_weaker_opponents_have_to_show_it() -> None:
    config = CONFIG.model_copy(update={"resign_min_rating": 1700})
    assert not should_resign(LOST, config)
    assert not should_resign(replace(LOST, opponent_is_bot=True), config)
    assert should_resign(replace(LOST, opponent_rating=None), config)


def test_takebacks() -> None:
    config = MannersConfig(takebacks=2)
    casual = replace(FACTS, rated=False)
    assert max_takebacks(casual, config) == 2
    assert max_takebacks(casual, MannersConfig(takebacks=0)) == 0
    assert max_takebacks(replace(casual, in_trial=True), config) == 0
    assert max_takebacks(replace(casual, is_randomised=True), config) == 0
    assert max_takebacks(FACTS, config) == 0
    assert max_takebacks(FACTS, MannersConfig(takebacks=2, takebacks_rated=True)) == 2
    assert max_takebacks(replace(casual, opponent_is_bot=True), config) == 0


def test_whether_there_are_takebacks_at_all() -> None:
    fixed = AssignmentConfig(method=AssignmentMethod.FIXED)
    assert may_grant_takebacks(fixed, MannersConfig())
    assert not may_grant_takebacks(fixed, MannersConfig(takebacks=0))
    assert may_grant_takebacks(AssignmentConfig(), MannersConfig())  # in casual games
    balanced = AssignmentConfig(method=AssignmentMethod.BALANCED)
    assert not may_grant_takebacks(balanced, MannersConfig())
    randomised = AssignmentConfig(method=AssignmentMethod.FIXED, strategy="randomised")
    assert not may_grant_takebacks(randomised, MannersConfig())


def test_claims() -> None:
    assert choose_claim(FACTS, MannersConfig()) is Claim.VICTORY
    assert choose_claim(FACTS, MannersConfig(claim=Claim.NOTHING)) is Claim.NOTHING
    draw = MannersConfig(claim=Claim.DRAW, resign_score_centi=900)
    assert choose_claim(FACTS, draw) is Claim.DRAW
    assert choose_claim(replace(FACTS, scores_centi=()), draw) is Claim.DRAW
    assert choose_claim(replace(FACTS, scores_centi=(0, 900)), draw) is Claim.VICTORY


def test_aborting() -> None:
    assert first_move_timeout_s(True, MannersConfig(abort_after_s=60)) == 60
    assert first_move_timeout_s(True, MannersConfig(abort_after_s=0)) is None
    assert first_move_timeout_s(False, MannersConfig(abort_after_s=60)) is None


def test_games_in_which_players_agree_on_draws() -> None:
    assert {name for name, game in GAMES.items() if has_draw_offers(game)} == {
        "chess",
        "xiangqi",
        *ENGINE_GAMES,
    }


def test_the_score_of_a_decision() -> None:
    decision = Decision(
        game="othello",
        position="",
        strategy="strong",
        params=TrapParams(),
        move="d3",
        candidates=(Candidate("c4", 500, False, 500), Candidate("d3", 200, False, 200)),
        depth=4,
        principal_variation=("c4",),
        nodes=1,
        time_s=0.1,
        profile_source="native",
        engine_version="2",
    )
    assert score_centi(decision) == 200
    assert score_centi(replace(decision, pick=DirectMove(-30, 20, 73, False))) == -30
    assert score_centi(replace(decision, pick=DirectMove(None, 0, 0, False))) == 200
