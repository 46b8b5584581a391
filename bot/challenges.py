"""Which challenges are taken: a pure policy that always says why not."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.config import BotPolicy, ChallengesConfig
from bot.events import FROM_POSITION, Challenge, DeclineReason


@dataclass(frozen=True, slots=True)
class Load:
    """What is going on already.  A game counts from the moment that its challenge is accepted."""

    opponents: Sequence[str] = ()
    """Id of the opponent of each game, once for each game; empty text when unknown."""
    is_open: bool = True
    """False while the program shuts down."""


@dataclass(frozen=True, slots=True)
class Accept:
    """Take it."""


@dataclass(frozen=True, slots=True)
class Decline:
    """Leave it."""

    reason: DeclineReason
    """What the challenger is told."""
    why: str
    """What the operator is told."""


Answer = Accept | Decline


def answer(challenge: Challenge, load: Load, config: ChallengesConfig) -> Answer:
    """Decide on a challenge of somebody else: lasting reasons come before passing ones."""
    return (
        _opponent(challenge, config)
        or _game(challenge, config)
        or _clock(challenge, config)
        or _load(challenge, load, config)
        or Accept()
    )


def _opponent(challenge: Challenge, config: ChallengesConfig) -> Decline | None:
    who = challenge.challenger
    if who is None:
        return Decline(DeclineReason.GENERIC, "the challenger is anonymous")
    blocked = {name.casefold() for name in config.block}
    if who.id.casefold() in blocked or who.name.casefold() in blocked:
        return Decline(DeclineReason.GENERIC, f"{who.name} is on the block list")
    if who.is_bot and config.bots is BotPolicy.DECLINE:
        return Decline(DeclineReason.NO_BOT, f"{who.name} is a program")
    if not who.is_bot and config.bots is BotPolicy.ONLY:
        return Decline(DeclineReason.ONLY_BOT, f"{who.name} is not a program")
    if who.rating is not None and not config.min_rating <= who.rating <= config.max_rating:
        return Decline(
            DeclineReason.GENERIC,
            f"rating {who.rating} is outside {config.min_rating} to {config.max_rating}",
        )
    return None


def _game(challenge: Challenge, config: ChallengesConfig) -> Decline | None:
    if challenge.game is None or challenge.kind not in config.variants:
        if challenge.kind == FROM_POSITION and challenge.game in config.variants:
            return Decline(DeclineReason.STANDARD, "only games from the usual start")
        return Decline(DeclineReason.VARIANT, f"{challenge.variant} is not played here")
    if challenge.rated and not config.rated:
        return Decline(DeclineReason.CASUAL, "only casual games")
    if not challenge.rated and not config.casual:
        return Decline(DeclineReason.RATED, "only rated games")
    return None


def _clock(challenge: Challenge, config: ChallengesConfig) -> Decline | None:
    clock = challenge.clock
    if clock is None:
        if config.unlimited:
            return None
        return Decline(DeclineReason.TIME_CONTROL, "only games with a real-time clock")
    shown = f"{clock.initial_s} s + {clock.increment_s} s"
    if clock.initial_s < config.min_initial_s or clock.increment_s < config.min_increment_s:
        return Decline(DeclineReason.TOO_FAST, f"{shown} is too fast")
    if clock.initial_s > config.max_initial_s or clock.increment_s > config.max_increment_s:
        return Decline(DeclineReason.TOO_SLOW, f"{shown} is too slow")
    return None


def _load(challenge: Challenge, load: Load, config: ChallengesConfig) -> Decline | None:
    if not load.is_open:
        return Decline(DeclineReason.LATER, "shutting down")
    if len(load.opponents) >= config.max_games:
        return Decline(DeclineReason.LATER, f"{len(load.opponents)} games are running")
    who = challenge.challenger
    with_them = sum(who is not None and opponent == who.id for opponent in load.opponents)
    if with_them >= config.max_games_per_opponent:
        return Decline(DeclineReason.LATER, f"{with_them} games with the same opponent are running")
    return None
