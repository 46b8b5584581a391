"""Chooses the player for an opponent: fixed, by rule, or in a randomised, balanced comparison.  Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from bot.base.config import SelectionConfig, SelectionMethod, SelectionRule
from bot.base.events import Speed
from engine.players import kinds_for

FAVOUR = 0.75
"""Probability of choosing among the players that are behind.  Efron (1971, doi:10.1093/biomet/58.3.403) uses
2/3 for a whole trial; an opponent plays few games, so balance must come sooner, yet the next player stays
uncertain."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """The facts known before the first move."""

    site: str
    game: str
    speed: Speed
    opponent_rating: int | None
    against_opponent: Mapping[str, int]
    """Games so far of each player against this opponent; missing players have none."""
    overall: Mapping[str, int]
    """The same against all opponents."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A player, and how it came to be chosen."""

    player: str
    detail: dict[str, Any]
    """Plain JSON values, stored with the game."""


def select(occasion: Occasion, config: SelectionConfig, random: Random) -> Selection:
    """Choose the player of a game; if the settings choose none that can play it, the first that can."""
    kinds = kinds_for(occasion.game)
    only = Selection(kinds[0], {"method": "only"})
    match config.method:
        case SelectionMethod.FIXED:
            found = Selection(config.player, {"method": "fixed"})
        case SelectionMethod.RULES:
            found = _by_rules(occasion, config)
        case SelectionMethod.BALANCED:
            players = [player for player in config.players if player in kinds]
            found = _balanced(occasion, players, random) if players else only
    return found if found.player in kinds else only


def _by_rules(occasion: Occasion, config: SelectionConfig) -> Selection:
    for number, rule in enumerate(config.rules, start=1):
        if _matches(rule, occasion):
            return Selection(rule.player, {"method": "rules", "rule": number})
    return Selection(config.player, {"method": "rules", "rule": None})


def _matches(rule: SelectionRule, occasion: Occasion) -> bool:
    rating = occasion.opponent_rating
    return (
        rule.game in (None, occasion.game)
        and rule.site in (None, occasion.site)
        and rule.speed in (None, occasion.speed)
        and (rule.min_rating is None or (rating is not None and rating >= rule.min_rating))
        and (rule.max_rating is None or (rating is not None and rating <= rule.max_rating))
    )


def _balanced(occasion: Occasion, players: Sequence[str], random: Random) -> Selection:
    """Toss a biased coin that favours the players behind against this opponent, or else overall.

    A fair coin often leaves an opponent's few games lopsided; with a fixed order the opponent could predict
    the player.
    """
    against = [occasion.against_opponent.get(player, 0) for player in players]
    overall = [occasion.overall.get(player, 0) for player in players]
    counts = against if min(against) < max(against) else overall
    behind = [player for player, count in zip(players, counts, strict=True) if count == min(counts)]
    ahead = [player for player in players if player not in behind]
    favour = FAVOUR if ahead else 1.0
    # Always two draws, so that one seed gives one sequence whatever the counts.
    coin, pick = random.random(), random.random()
    group = behind if coin < favour else ahead
    player = group[int(pick * len(group))]
    return Selection(
        player,
        {
            "method": "balanced",
            "against_opponent": dict(zip(players, against, strict=True)),
            "overall": dict(zip(players, overall, strict=True)),
            "chance": (favour if player in behind else 1 - favour) / len(group),
        },
    )
