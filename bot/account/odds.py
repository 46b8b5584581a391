"""Offers odds: challenges from a position that makes the expected score nearly even.  Pure."""

import random
from collections.abc import Collection
from dataclasses import replace

from bot.base.dialects import Dialect
from bot.base.events import Proposal
from engine.opponents.odds import Odds, odds_for, odds_from_start


def at_odds(
    proposal: Proposal,
    dialect: Dialect,
    ratings: tuple[int | None, int | None],
    allowed: Collection[str],
    rng: random.Random,
) -> Proposal:
    """The proposal at the odds that fit the ratings, or unchanged if no odds can or need be given.

    Sites rate no games from a position that a player has set, so that only casual games are at odds.

    Args:
        dialect: The site.
        ratings: Our rating and the opponent's in the list of this game; None: unknown or provisional.
        allowed: The names of odds that we may give.
        rng: Chooses our side if the proposal does not.
    """
    if proposal.rated or proposal.variant not in dialect.set_positions:
        return proposal
    odds = odds_for(dialect.variants[proposal.variant].game, *ratings, allowed)
    return proposal if odds is None else with_odds(proposal, odds, rng)


def with_odds(proposal: Proposal, odds: Odds, rng: random.Random) -> Proposal:
    """The proposal with odds that we give; our side is chosen at random if the proposal leaves it open."""
    side = rng.randrange(2) if proposal.side is None else proposal.side
    return replace(proposal, side=side, initial_position=odds.starts[side])


def rematch_at_odds(
    proposal: Proposal, dialect: Dialect, game: str, start: str, allowed: Collection[str]
) -> Proposal | None:
    """A rematch of a game at odds: the same odds from the other side, or None if we do not give them.

    Args:
        proposal: The terms without a position, for the side that we then have.
        game: The game's name in `engine.games`.
        start: The game's starting position.
    """
    given, key = odds_from_start(game, start), dialect.variant_of(game)
    if given is None or key not in dialect.set_positions or given[0].name not in allowed:
        return None
    odds, giver = given
    if giver == proposal.side:  # the opponent gave them
        return None
    return replace(proposal, variant=key, initial_position=odds.starts[1 - giver])
