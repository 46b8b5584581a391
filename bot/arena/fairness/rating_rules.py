"""Rating rules that prevent cheap rating gains.  No I/O."""

from enum import StrEnum

from bot.arena import glicko
from bot.arena.glicko import Rating

MAX_RATING_FROM_PROVISIONAL = 1700.0
"""Maximum rating reachable against provisionally rated players: the initial rating plus 200."""
_MIN_GAME_WEIGHT = 1 / 16


class UnratedReason(StrEnum):
    """Why a rated game did not change the ratings."""

    SHORT = "short"
    """The game has too few moves."""
    ADDRESS = "address"
    """The players shared a network address."""
    PAIR = "pair"
    """The two players have played too many rated games within the rating window."""
    VOID = "void"
    """The owner of the arena voided the game."""


_TEXTS = {
    UnratedReason.SHORT: "Not rated: the game has too few moves.",
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


def rate_game(before: tuple[Rating, Rating], first_score: float, weight: float) -> tuple[Rating, Rating]:
    """The ratings of both sides after a game.

    Args:
        before: The ratings before the game.
        first_score: The first side's score: 1 for a win, 0.5 for a draw, 0 for a loss.
        weight: The weight of the game, from 0 to 1 (see `game_weight`).
    """
    first, second = before
    return (
        _weighted(first, glicko.update_rating(first, [(second, first_score)]), second, weight),
        _weighted(second, glicko.update_rating(second, [(first, 1 - first_score)]), first, weight),
    )


def _weighted(old: Rating, new: Rating, opponent: Rating, weight: float) -> Rating:
    rating = old.rating + weight * (new.rating - old.rating)
    if opponent.is_provisional and rating > old.rating:
        rating = max(old.rating, min(rating, MAX_RATING_FROM_PROVISIONAL))
    return Rating(
        rating,
        old.deviation + weight * (new.deviation - old.deviation),
        old.volatility + weight * (new.volatility - old.volatility),
    )
