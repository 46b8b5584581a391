"""Decides which challenges to accept, and gives a reason for each refusal.  Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.base.config import (
    MAX_GAMES_PER_SLOT,
    AssignmentConfig,
    AssignmentMethod,
    BotPolicy,
    ChallengesConfig,
)
from bot.base.events import FROM_POSITION, Challenge, Clock, DeclineReason, Opponent, Speed
from bot.game.shared_game_limit import MachineCapacity
from engine.game import BadPosition
from engine.games import get_rules
from engine.strategies.registry import strategy_named


@dataclass(frozen=True, slots=True)
class GameSlot:
    """A slot for one or more games: held by an accepted challenge, or needed by a waiting challenge."""

    opponent_id: str = ""
    """The opponent's id at the site; empty if unknown."""
    is_bot: bool = False
    """Whether the opponent is a program."""
    has_no_clock: bool = False
    """Whether the game has no real-time clock."""
    boards: int = 1
    """Number of games that the slot covers, all against one opponent."""
    can_abort: bool = True
    """As `bot.base.events.Challenge.can_abort`."""


@dataclass(frozen=True, slots=True)
class Load:
    """The running games and waiting challenges that a decision depends on."""

    games: Sequence[GameSlot] = ()
    queued_before: Sequence[GameSlot] = ()
    """The waiting challenges that come before the challenge being decided."""
    bot_games: Mapping[str, int] = field(default_factory=dict)
    """Number of games in the last 24 hours with each program, keyed by its id, including those in `games`."""
    closed_reason: str = ""
    """Why no game can start at the moment; empty if games can start."""
    machine: MachineCapacity = field(default_factory=MachineCapacity)
    """The capacity for games with a real-time clock on this machine, including those in `games`."""
    resting: int = 0
    """Number of `games` that need no slot, because their opponents have been thinking for a while."""


@dataclass(frozen=True, slots=True)
class Accept:
    """Decision: the challenge gets a slot now."""


@dataclass(frozen=True, slots=True)
class WaitForSlot:
    """Decision: the challenge waits until a slot becomes free."""

    why: str
    """The reason shown to the operator."""


@dataclass(frozen=True, slots=True)
class Decline:
    """Decision: the challenge is refused."""

    reason: DeclineReason
    """The reason sent to the challenger."""
    why: str
    """The reason shown to the operator."""


ChallengeAnswer = Accept | WaitForSlot | Decline


def required_slot(challenge: Challenge) -> GameSlot:
    """The slot that a challenge needs."""
    who = challenge.challenger
    return GameSlot(
        "" if who is None else who.id,
        who is not None and who.is_bot,
        challenge.clock is None,
        challenge.boards,
        challenge.can_abort,
    )


def permanent_refusal(
    challenge: Challenge, config: ChallengesConfig, blocked: Collection[str] = ()
) -> Decline | None:
    """Return a refusal if the challenge must be declined regardless of the load, otherwise None.

    Args:
        challenge: The incoming challenge.
        config: The operator's settings.
        blocked: Names and ids of players to decline, in addition to those in the settings.
    """
    who = challenge.challenger
    if who is None:
        return Decline(DeclineReason.GENERIC, "the challenger is anonymous")
    common, config = config, config.of(is_bot=who.is_bot)
    return (
        _opponent_refusal(who, common, blocked)
        or _variant_refusal(challenge, config)
        or _board_count_refusal(challenge, config)
        or _clock_refusal(challenge, who, config)
        or _rating_refusal(challenge, who, config)
        or _position_refusal(challenge)
    )


def model_refusal(
    challenge: Challenge, assignment: AssignmentConfig, has_network: Callable[[str], bool]
) -> Decline | None:
    """Decline a game that the account's strategy cannot imitate people at.

    Args:
        challenge: The challenge.
        assignment: How the account chooses its strategy.
        has_network: Whether there is a network of human moves for a game.
    """
    imitates = (
        assignment.method is AssignmentMethod.FIXED and strategy_named(assignment.strategy).imitates_people
    )
    if not imitates or challenge.game is None or has_network(challenge.game):
        return None
    return Decline(DeclineReason.VARIANT, f"there is no model of people's moves at {challenge.variant}")


def decide_by_load(challenge: Challenge, load: Load, config: ChallengesConfig) -> ChallengeAnswer:
    """Decide on a challenge that has no `permanent_refusal`, according to the current load."""
    slot = required_slot(challenge)
    return _daily_bot_limit_refusal(slot, load, config) or _decide_by_slots(slot, load, config) or Accept()


def is_on_name_list(who_id: str, name: str, names: Collection[str]) -> bool:
    """Whether an account is on a list of names and ids, ignoring case."""
    folded = {each.casefold() for each in names}
    return who_id.casefold() in folded or name.casefold() in folded


def _opponent_refusal(who: Opponent, config: ChallengesConfig, blocked: Collection[str]) -> Decline | None:
    if is_on_name_list(who.id, who.name, (*config.block, *blocked)):
        return Decline(DeclineReason.GENERIC, f"{who.name} is on the block list")
    if config.allow and not is_on_name_list(who.id, who.name, config.allow):
        return Decline(DeclineReason.GENERIC, f"{who.name} is not on the list of allowed opponents")
    if who.is_bot and config.bots is BotPolicy.DECLINE:
        return Decline(DeclineReason.NO_BOT, f"{who.name} is a program")
    if not who.is_bot and config.bots is BotPolicy.ONLY:
        return Decline(DeclineReason.ONLY_BOT, f"{who.name} is not a program")
    return None


def _variant_refusal(challenge: Challenge, config: ChallengesConfig) -> Decline | None:
    if challenge.game is None or challenge.game not in config.games:
        return Decline(DeclineReason.VARIANT, f"the bot does not play {challenge.variant}")
    if challenge.kind not in config.variants:
        if challenge.kind == FROM_POSITION:
            return Decline(DeclineReason.STANDARD, "only games from the usual start")
        return Decline(DeclineReason.VARIANT, f"the bot does not play {challenge.variant}")
    if challenge.rated and not config.rated:
        return Decline(DeclineReason.CASUAL, "only casual games")
    if not challenge.rated and not config.casual:
        return Decline(DeclineReason.RATED, "only rated games")
    return None


def _board_count_refusal(challenge: Challenge, config: ChallengesConfig) -> Decline | None:
    """Decline a challenge that needs more concurrent games than the limits ever allow."""
    most = min(config.max_games_per_opponent, config.max_games)
    if challenge.boards > most:
        return Decline(DeclineReason.VARIANT, f"{challenge.boards} concurrent games; the maximum is {most}")
    return None


def _position_refusal(challenge: Challenge) -> Decline | None:
    """Decline a start position that we cannot parse or in which the game is already over."""
    if challenge.game is None or challenge.initial_position is None:
        return None
    reason = DeclineReason.STANDARD if challenge.kind == FROM_POSITION else DeclineReason.VARIANT
    rules = get_rules(challenge.game)
    try:
        position = rules.parse_position(challenge.initial_position)
    except BadPosition as error:
        return Decline(reason, f"the position cannot be played: {error}")
    if not rules.legal_moves(position):
        return Decline(reason, f"the game is over in the position {challenge.initial_position!r}")
    return None


def _clock_refusal(challenge: Challenge, who: Opponent, config: ChallengesConfig) -> Decline | None:
    clock = challenge.clock
    if clock is None:
        return _correspondence_refusal(challenge.days_per_turn, config)
    shown = f"{clock.initial_s} s + {clock.increment_s} s"
    return _time_control_refusal(clock, challenge.speed, shown, config) or _bot_clock_refusal(
        challenge, who, shown, config
    )


def _time_control_refusal(clock: Clock, speed: Speed, shown: str, config: ChallengesConfig) -> Decline | None:
    if config.clocks:
        if {speed.value, f"{clock.initial_s}+{clock.increment_s}"}.isdisjoint(config.clocks):
            return Decline(DeclineReason.TIME_CONTROL, f"{shown} is not one of the allowed clocks")
        return None
    if clock.initial_s < config.min_initial_s or clock.increment_s < config.min_increment_s:
        return Decline(DeclineReason.TOO_FAST, f"{shown} is too fast")
    if clock.initial_s > config.max_initial_s or clock.increment_s > config.max_increment_s:
        return Decline(DeclineReason.TOO_SLOW, f"{shown} is too slow")
    return None


def _bot_clock_refusal(
    challenge: Challenge, who: Opponent, shown: str, config: ChallengesConfig
) -> Decline | None:
    if who.is_bot and config.reserved_for_humans >= config.max_games:
        return Decline(DeclineReason.NO_BOT, "every slot is reserved for people")
    is_bullet = challenge.speed in (Speed.ULTRABULLET, Speed.BULLET)
    has_increment = challenge.clock is not None and challenge.clock.increment_s > 0
    if config.bots_need_increment and who.is_bot and is_bullet and not has_increment:
        return Decline(DeclineReason.TIME_CONTROL, f"{shown}: no bullet without increment against programs")
    return None


def _correspondence_refusal(days: int | None, config: ChallengesConfig) -> Decline | None:
    if days is None:
        if config.unlimited:
            return None
        return Decline(DeclineReason.TIME_CONTROL, "no games without a clock")
    if config.min_days == 0:
        return Decline(DeclineReason.TIME_CONTROL, "no correspondence games")
    if days < config.min_days:
        return Decline(DeclineReason.TOO_FAST, f"{days} days per move are too few")
    if days > config.max_days:
        return Decline(DeclineReason.TOO_SLOW, f"{days} days per move are too many")
    return None


def _rating_refusal(challenge: Challenge, who: Opponent, config: ChallengesConfig) -> Decline | None:
    if who.rating is None:
        return None
    if not config.min_rating <= who.rating <= config.max_rating:
        return Decline(
            DeclineReason.GENERIC,
            f"rating {who.rating} is outside {config.min_rating} to {config.max_rating}",
        )
    ours = challenge.our_rating
    if ours is not None and abs(who.rating - ours) > config.max_rating_difference:
        return Decline(DeclineReason.GENERIC, f"rating {who.rating} is too far from our rating of {ours}")
    return None


def _daily_bot_limit_refusal(slot: GameSlot, load: Load, config: ChallengesConfig) -> Decline | None:
    if not slot.is_bot:
        return None
    with_them, with_all = load.bot_games.get(slot.opponent_id, 0), sum(load.bot_games.values())
    if with_them >= config.max_games_per_bot_per_day:
        return Decline(DeclineReason.LATER, f"games against the same program in 24 hours: {with_them}")
    if with_all >= config.max_bot_games_per_day:
        return Decline(DeclineReason.LATER, f"games against programs in 24 hours: {with_all}")
    return None


def _decide_by_slots(slot: GameSlot, load: Load, config: ChallengesConfig) -> WaitForSlot | Decline | None:
    if load.closed_reason:
        return Decline(DeclineReason.LATER, load.closed_reason)
    why = _no_slot_reason(slot, load, config)
    if why is None:
        return None
    if len(load.queued_before) >= config.max_waiting:
        return Decline(DeclineReason.LATER, f"{why}; already waiting: {len(load.queued_before)}")
    # No single opponent may fill the queue.
    of_theirs = _total_boards(each for each in load.queued_before if each.opponent_id == slot.opponent_id)
    if of_theirs + slot.boards > config.max_games_per_opponent:
        return Decline(DeclineReason.LATER, f"{why}; already waiting from the same opponent: {of_theirs}")
    return WaitForSlot(why)


def _no_slot_reason(slot: GameSlot, load: Load, config: ChallengesConfig) -> str | None:
    """Return the reason why no slot is free, or None if there is a free slot."""
    games = load.games
    with_them = _total_boards(each for each in games if each.opponent_id == slot.opponent_id)
    if with_them + slot.boards > config.max_games_per_opponent:
        return f"games against the same opponent: {with_them}"
    alike = [each for each in games if each.has_no_clock == slot.has_no_clock]
    going_on = _total_boards(alike)
    if slot.has_no_clock:
        is_free = going_on + slot.boards <= config.max_slow_games
        return None if is_free else f"running games without a clock: {going_on}"
    if going_on + slot.boards > config.max_games * (MAX_GAMES_PER_SLOT if load.resting else 1):
        return f"running games: {going_on}"
    active = going_on - load.resting
    if active + slot.boards > config.max_games:
        return f"running games: {active}"
    if active + slot.boards > load.machine.max_games:
        return load.machine.reason
    with_bots = _total_boards(each for each in alike if each.is_bot)
    if slot.is_bot and with_bots + slot.boards > config.max_games - config.reserved_for_humans:
        return f"running games against programs: {with_bots}; the other slots are reserved for people"
    return None


def _total_boards(slots: Iterable[GameSlot]) -> int:
    return sum(slot.boards for slot in slots)
