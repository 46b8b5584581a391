"""Decides on draws, resignations, takebacks, aborts, and claims when an opponent has left.  Pure.

All decisions depend only on the settings and the facts of the game.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.base.config import AssignmentConfig, AssignmentMethod, Claim, MannersConfig
from engine.decision import Decision
from engine.game import Game
from engine.strategies.registry import strategy_named

MIN_PLIES_BETWEEN_OFFERS = 20
"""Minimum number of plies between two of our draw offers."""

MIN_COUNTED_PLIES = 2
"""Minimum length of a game that counts, in plies; sites abort shorter games, even when a player resigns."""

MIN_DRAWABLE_GAME_PLIES = 1_000
"""Players can agree to a draw only in games that can last longer than this many plies. A game that fills its
board (Othello, at most 120 plies) soon ends anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferFacts:
    """The facts on which decisions about offers and claims are based."""

    scores_centi: Sequence[int]
    """Scores of our decisions in the order of play, from our point of view; see `score_centi`."""
    is_decided: bool | None = None
    """Whether the latest score decides the game between these two players (`engine.opponents.pair_value`);
    None if a rating is unknown or the game has no model."""
    plies: int
    """Number of moves played."""
    opponent_rating: int | None
    opponent_is_bot: bool
    rated: bool
    has_draws: bool
    """Whether players of this game can agree to a draw at this site."""
    in_trial: bool = False
    """Whether the game belongs to a trial (`storage.evidence.trials`)."""
    is_randomised: bool = False
    """Whether our strategy was assigned at random or randomises moves."""
    gives_odds: bool = False
    """Whether we began the game at odds: then a lead of the opponent is what both wanted."""
    plies_since_offer: int | None = None
    """Plies since our last draw offer; None if there was none."""


def score_centi(decision: Decision) -> int:
    """Our score for a decision's chosen move; its absolute value is at least `WIN_CENTI` if decided."""
    pick = decision.pick
    if pick is not None and pick.score_centi is not None:
        return pick.score_centi
    return decision.chosen.raw_centi


def has_draw_offers(game: Game[Any]) -> bool:
    """Whether players of a game can agree to a draw."""
    return game.most_plies_left(game.initial()) > MIN_DRAWABLE_GAME_PLIES


def should_accept_draw(facts: OfferFacts, config: MannersConfig) -> bool:
    """Whether to accept a draw offer."""
    last = facts.scores_centi[-config.draw_moves :]
    return (
        config.draws
        and facts.has_draws
        and facts.plies >= config.draw_ply
        and len(last) == config.draw_moves
        and all(abs(score) <= config.draw_score_centi for score in last)
        and facts.is_decided is not True
        and (facts.opponent_is_bot or _is_rated_at_least(facts.opponent_rating, config.draw_min_rating))
    )


def should_offer_draw(facts: OfferFacts, config: MannersConfig) -> bool:
    """Whether to offer a draw with the next move."""
    since = facts.plies_since_offer
    return should_accept_draw(facts, config) and (since is None or since >= MIN_PLIES_BETWEEN_OFFERS)


def should_resign(facts: OfferFacts, config: MannersConfig) -> bool:
    """Whether to resign instead of moving."""
    last = facts.scores_centi[-config.resign_moves :]
    return (
        config.resign
        and not facts.gives_odds
        and facts.plies >= MIN_COUNTED_PLIES
        and len(last) == config.resign_moves
        and all(score <= -config.resign_score_centi for score in last)
        and _is_rated_at_least(facts.opponent_rating, config.resign_min_rating)
    )


def max_takebacks(facts: OfferFacts, config: MannersConfig) -> int:
    """Maximum number of takebacks to grant the opponent in this game.

    The number is 0 in a trial, or if the strategy or its moves are chosen at random: comparisons exclude
    decisions that were taken back, and opponents would take back their costly replies.
    """
    is_compared = facts.in_trial or facts.is_randomised
    if facts.opponent_is_bot or is_compared or (facts.rated and not config.takebacks_rated):
        return 0
    return config.takebacks


def may_grant_takebacks(assignment: AssignmentConfig, config: MannersConfig) -> bool:
    """Whether an account's settings allow takebacks at all."""
    draws_decisions = (
        assignment.method is AssignmentMethod.FIXED and strategy_named(assignment.strategy).draws_decisions
    )
    return config.takebacks > 0 and not (assignment.draws_casual_games or draws_decisions)


def choose_claim(facts: OfferFacts, config: MannersConfig) -> Claim:
    """The claim to make when the opponent has left: as configured, but a win instead of a draw if we lead."""
    is_won = bool(facts.scores_centi) and facts.scores_centi[-1] >= config.resign_score_centi
    return Claim.VICTORY if config.claim is Claim.DRAW and is_won else config.claim


def first_move_timeout_s(has_clock: bool, config: MannersConfig) -> float | None:
    """Seconds to wait for the opponent's first move; None for no limit, as in games without a clock."""
    return config.abort_after_s if has_clock and config.abort_after_s else None


def _is_rated_at_least(rating: int | None, least: int) -> bool:
    return rating is None or rating >= least
