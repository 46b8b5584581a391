"""Shares out the games that one of our bots can play at a time, and ends idle ones when all are in use.

A bot has a number of slots. A game with a clock in which the opponent has thought for `REST_AFTER_S` rests:
it costs the bot no computing time, so it needs no slot until the opponent moves. The more games a network
has with the bot, the more slots must be free for another one; the last slot is kept for networks without a
game today. If even resting games fill up (`MAX_GAMES_PER_SLOT`) and somebody asks for a game, the opponent
who has thought longest gets a notice and, without a move, loses the game as if they had left it. No I/O.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bot.arena.proxies import LIMIT_FACTORS, networks
from bot.arena.traffic.budgets import DAY_S
from bot.arena.traffic.game_quota import QuotaEntry, is_in_network
from bot.base.config import MAX_GAMES_PER_SLOT, ArenaConfig

IDLE_AFTER_S, IDLE_CLOCK_SHARE, IDLE_WITHOUT_CLOCK_S = 180.0, 0.1, 3600.0
"""Thinking time after which a game may end: in seconds, or if longer as a share of the initial clock time;
and in seconds for a game without a clock."""
NOTICE_S = 60.0
"""Seconds between the notice to the opponent and the end of the game."""
WANTED_S = 120.0
"""Seconds after a request for a game during which idle games end if all are in use."""
_MAX_NETWORKS = 20_000


@dataclass(frozen=True, slots=True)
class BotSlots:
    """The number of games that one of our bots can play at a time."""

    with_clock: int
    without_clock: int

    def of(self, *, has_clock: bool) -> int:
        """The number of slots for games with or without a clock."""
        return self.with_clock if has_clock else self.without_clock

    def max_games(self, *, has_clock: bool) -> int:
        """The maximum number of games with or without a clock, resting games included."""
        return self.with_clock * MAX_GAMES_PER_SLOT if has_clock else self.without_clock


def idle_limit_s(initial_s: int | None) -> float:
    """Seconds of thinking after which a game with this initial clock time, if any, may end."""
    return IDLE_WITHOUT_CLOCK_S if initial_s is None else max(IDLE_AFTER_S, IDLE_CLOCK_SHARE * initial_s)


class GamesToday:
    """Remembers which networks have begun games with our bots in the last 24 hours.

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begun: OrderedDict[str, deque[float]] = OrderedDict()
        """The times of each network's latest games, oldest first."""

    def note(self, address: str) -> None:
        """Record that somebody at an address has begun a game."""
        for network, _ in networks(address):
            self._begun.setdefault(network, deque(maxlen=max(LIMIT_FACTORS))).append(self._clock())
            self._begun.move_to_end(network)
        while len(self._begun) > _MAX_NETWORKS:
            self._begun.popitem(last=False)

    def has_played(self, address: str) -> bool:
        """Whether the address has begun a game today, or a network around it as many as its factor."""
        since = self._clock() - DAY_S
        return any(
            sum(at > since for at in self._begun.get(network, ())) >= factor
            for network, factor in networks(address)
        )


def slot_refusal(
    config: ArenaConfig,
    slots: int,
    games: Iterable[QuotaEntry],
    address: str,
    *,
    has_played: bool,
) -> str | None:
    """Why a challenge to one of our bots gets none of its slots; None if it may have one.

    If `arena.games_per_opponent` lets one address have all slots, they are not shared out. When no slot is
    free, the first game of a network still waits in the bot's queue.

    Args:
        config: The limits.
        slots: Number of slots for games of this kind (with or without a clock).
        games: The bot's games and unanswered challenges of this kind.
        address: The challenger's address; if it is empty, no limits apply.
        has_played: Whether the challenger's network has had a game today.
    """
    if not address or config.games_per_opponent >= slots:
        return None
    games = list(games)
    free = slots - sum(not each.is_resting for each in games)
    own = max(
        sum(is_in_network(each, network) for each in games) // factor for network, factor in networks(address)
    )
    # With 3 games per opponent, the second needs 3 free slots, and the third 5.
    if own and free < 1 + 6 * own // config.games_per_opponent:
        return "You have a game with this bot already; its last slots are kept for others"
    if has_played and free < 2:
        return "The last slot with this bot is kept for people who have not played today"
    return None


NO_SLOTS: Mapping[str, BotSlots] = {}
"""The slots of our bots, keyed by account id, if none are known."""
