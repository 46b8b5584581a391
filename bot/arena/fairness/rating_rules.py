"""Rating rules that prevent cheap rating gains.  No I/O.

What a loss costs never depends on the opponent's standing or the game's length, so that nobody can choose
which games count. What a win gains does: an opponent who is new, or gave up at once, may be a sock puppet.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

from bot.arena import glicko
from bot.arena.glicko import Rating

MAX_RATING_FROM_PROVISIONAL = 1700.0
"""Maximum rating reachable against provisionally rated players: the initial rating plus 200. Our own bots
have no limit, because nobody profits from sock puppets that lose to them; a player who has beaten one of our
bots can also reach that bot's rating."""
GAMES_PER_PERIOD = 15
"""Games in one rating period; Glickman suggests 10 to 15. If each game were a whole period, its added
uncertainty would exceed what a win against a newcomer removes, and no bot could ever be ranked."""
_MIN_GAME_WEIGHT = 1 / 16


class UnratedReason(StrEnum):
    """Why a rated game did not change the ratings."""

    SHORT = "short"
    """The game has too few moves: it can only lower ratings."""
    ADDRESS = "address"
    """The players shared a network address."""
    PAIR = "pair"
    """The two players have played too many rated games within the rating window."""
    VOID = "void"
    """The owner of the arena voided the game."""


_TEXTS = {
    UnratedReason.SHORT: "The game has too few moves: ratings can fall but not rise.",
    UnratedReason.ADDRESS: "Not rated: both players share a network address.",
    UnratedReason.PAIR: "Not rated: you two have played too many rated games today.",
    UnratedReason.VOID: "Not rated: the owner of the arena voided the game.",
}


def unrated_text(unrated: str | None) -> str | None:
    """Return the reason as a sentence."""
    return None if unrated is None else _TEXTS[UnratedReason(unrated)]


def game_weight(earlier: int, full_games: int) -> float:
    """The weight of a game's rating change, from 0 to 1.

    Args:
        earlier: Number of rated games between the two players in the variant within `arena.rating_window_h`.
        full_games: Number of games that count in full; each later game has half the previous game's weight.
    """
    weight: float = 0.5 ** max(0, earlier + 1 - full_games)
    return weight if weight >= _MIN_GAME_WEIGHT else 0.0


@dataclass(frozen=True, slots=True)
class GainLimit:
    """Limits what a game may add to a rating; what it takes away is not limited."""

    weight: float = 1.0
    """Maximum weight of the gain, from 0 to 1."""
    max_rating: float = math.inf
    """Highest rating that the gain can reach."""


def gain_limit(
    opponent: Rating, *, is_short: bool, is_ours: bool, network_games: int, full_games: int, beaten: float
) -> GainLimit:
    """The limit on a player's gain from one game.

    Args:
        opponent: The opponent's rating before the game.
        is_short: Whether the game has too few moves.
        is_ours: Whether the player is one of our own bots.
        network_games: Number of the player's earlier rated games in the variant, within
            `arena.rating_window_h`, against provisionally rated players of the opponent's network.
        full_games: As in `game_weight`.
        beaten: The highest rating of our bots that the player has beaten; 0 if there is none.
    """
    if is_short:
        return GainLimit(weight=0.0)
    if not opponent.is_provisional:
        return GainLimit()
    cap = math.inf if is_ours else max(MAX_RATING_FROM_PROVISIONAL, beaten)
    return GainLimit(game_weight(network_games, full_games), cap)


def rate_game(
    before: tuple[Rating, Rating],
    first_score: float,
    weight: float,
    limits: tuple[GainLimit, GainLimit] = (GainLimit(), GainLimit()),
) -> tuple[Rating, Rating]:
    """The ratings of both sides after a game.

    Args:
        before: The ratings before the game.
        first_score: The first side's score: 1 for a win, 0.5 for a draw, 0 for a loss.
        weight: The weight of the game, from 0 to 1 (see `game_weight`).
        limits: The limits on the sides' gains.
    """
    first, second = before
    return (
        _rated(first, second, first_score, weight, limits[0]),
        _rated(second, first, 1 - first_score, weight, limits[1]),
    )


def _rated(old: Rating, opponent: Rating, score: float, weight: float, limit: GainLimit) -> Rating:
    new = glicko.update_rating(old, [(opponent, score)], periods=1 / GAMES_PER_PERIOD)
    if new.rating > old.rating:
        weight = min(weight, limit.weight)
    rating = old.rating + weight * (new.rating - old.rating)
    if rating > old.rating:
        rating = max(old.rating, min(rating, limit.max_rating))
    return Rating(
        rating,
        old.deviation + weight * (new.deviation - old.deviation),
        old.volatility + weight * (new.volatility - old.volatility),
    )
