"""Game slots: which games hold a slot, and which challenges wait for one.  No I/O.

::

    enqueue --> waiting --(Accept)--> accepted --start--> playing --end--> gone
                  |                      |
                  +--(Decline), leave    +--leave (withdrawn, refused, never started)

A slot is taken when we decide to accept, before we notify the server, so that there are never too many games,
whatever the order of events. A game that starts without a challenge seen here (from a tournament, or
from another program on the account) counts as soon as we know of it.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from bot.account.challenge_policy import (
    Accept,
    ChallengeAnswer,
    Decline,
    GameSlot,
    Load,
    WaitForSlot,
    decide_by_load,
    required_slot,
)
from bot.base.config import ChallengesConfig
from bot.base.events import Challenge, DeclineReason
from bot.game.shared_game_limit import MachineCapacity

MAX_CHALLENGE_WAIT_S = 60.0
"""Maximum time in seconds for which a challenge with a real-time clock waits for a slot. After a longer
wait, the challenger may have left, which lichess.org does not report, and would miss the game."""


MAX_REMEMBERED_GAMES = 100
"""Number of ended games that `GameSlots.has_ended` remembers."""


@dataclass(frozen=True, slots=True)
class _WaitingChallenge:
    challenge: Challenge
    since_s: float


@dataclass(frozen=True, slots=True)
class _HeldSlot:
    slot: GameSlot
    has_started: bool
    is_stored: bool = False
    """Whether the database's count of games in the last 24 hours includes this game."""


class GameSlots:
    """One account's games, from waiting challenges to finished games, keyed by challenge id.

    On most sites a game has its challenge's id; on other sites the game's start event names the challenge.

    Args:
        config: The limits.
        machine: Returns how many games with a real-time clock the machine allows us.
        is_paused: Returns whether the operator has paused new games.
        resting: Returns how many running games need no slot, because their opponents have been thinking for a
            while; None if all games need one.
    """

    def __init__(
        self,
        config: ChallengesConfig,
        machine: Callable[[], MachineCapacity] = MachineCapacity,
        is_paused: Callable[[], bool] = lambda: False,
        resting: Callable[[], int] | None = None,
    ) -> None:
        self.is_stopping = False
        """Whether the program is shutting down; waiting challenges are then declined."""
        self._is_paused = is_paused
        self.config = config
        self._machine = machine
        self._resting = resting
        self._waiting: dict[str, _WaitingChallenge] = {}
        """Waiting challenges by id, in order of arrival."""
        self._queued: set[str] = set()
        """Challenges for which `decide_waiting` has returned `WaitForSlot`."""
        self._taken: dict[str, _HeldSlot] = {}
        self._ended: deque[str] = deque(maxlen=MAX_REMEMBERED_GAMES)
        self._became: dict[str, str] = {}
        """Challenge ids by game id, for games that started before we saw their challenges accepted."""

    @property
    def closed_reason(self) -> str:
        """The reason why no game may start now; empty if games may start."""
        if self.is_stopping:
            return "the program is stopping"
        return "paused by the operator" if self._is_paused() else ""

    @property
    def is_open(self) -> bool:
        """Whether games may start: the program is neither paused nor stopping."""
        return not self.closed_reason

    # --- Events -----------------------------------------------------------------------------------------

    def enqueue(self, challenge: Challenge, now_s: float) -> None:
        """Queue an incoming challenge that has no `bot.account.challenge_policy.permanent_refusal`.

        `decide_waiting` later decides on it.  Servers may repeat a challenge; its first arrival counts.

        Args:
            challenge: The incoming challenge.
            now_s: The current time of a monotonic clock, in seconds.
        """
        if challenge.id not in self._taken and challenge.id not in self._waiting:
            self._waiting[challenge.id] = _WaitingChallenge(challenge, now_s)

    def leave(self, challenge_id: str) -> None:
        """Remove a challenge that was withdrawn, refused or never started; a running game keeps its slot."""
        self._waiting.pop(challenge_id, None)
        self._queued.discard(challenge_id)
        if self.has_unstarted_slot(challenge_id):
            del self._taken[challenge_id]

    def accept(self, challenge_id: str, slot: GameSlot) -> None:
        """Reserve a slot for a challenge that we will accept, or for a challenge that we send."""
        self._waiting.pop(challenge_id, None)
        self._queued.discard(challenge_id)
        begun = [game_id for game_id, challenge in self._became.items() if challenge == challenge_id]
        for key in begun or [challenge_id]:
            known = self._taken.get(key)
            self._taken[key] = _HeldSlot(slot, False) if known is None else replace(known, slot=slot)

    def start(self, game_id: str, slot: GameSlot | None = None, challenge_id: str = "") -> None:
        """Record that a game is running.

        Args:
            game_id: The game's id.
            slot: The game's slot if the database has the game; None to use the accepted slot, if any.
            challenge_id: The challenge's id, if it differs from the game's.
        """
        if challenge_id:
            self._assign_board_to_game(challenge_id, game_id)
        self._waiting.pop(game_id, None)
        self._queued.discard(game_id)
        known = self._taken.get(game_id, _HeldSlot(GameSlot(), True))
        if slot is not None:
            known = replace(known, slot=slot, is_stored=True)
        self._taken[game_id] = replace(known, has_started=True)

    def end(self, game_id: str) -> None:
        """Free the slot of a game that is over or adjourned, whether or not we saw it start."""
        if self._taken.pop(game_id, None) is not None:
            self._ended.append(game_id)
        self._became.pop(game_id, None)

    def _assign_board_to_game(self, challenge_id: str, game_id: str) -> None:
        """Assign one of a challenge's boards to a game that started from that challenge."""
        self._waiting.pop(challenge_id, None)
        self._queued.discard(challenge_id)
        held = self._taken.get(challenge_id)
        if game_id in self._taken:
            return
        if held is None:
            self._became[game_id] = challenge_id
            return
        self._taken[game_id] = replace(held, slot=replace(held.slot, boards=1))
        if held.slot.boards > 1:
            self._taken[challenge_id] = replace(held, slot=replace(held.slot, boards=held.slot.boards - 1))
        else:
            del self._taken[challenge_id]

    # --- State ------------------------------------------------------------------------------------------

    def has_unstarted_slot(self, challenge_id: str) -> bool:
        """Whether a slot is reserved for a game that has not started yet."""
        taken = self._taken.get(challenge_id)
        return taken is not None and not taken.has_started

    def has_ended(self, game_id: str) -> bool:
        """Whether a game has recently freed its slot."""
        return game_id in self._ended

    @property
    def games_not_stored(self) -> list[str]:
        """Running games that are not known to be in the database."""
        return [key for key, taken in self._taken.items() if taken.has_started and not taken.is_stored]

    @property
    def waiting_slots(self) -> list[GameSlot]:
        """Slots that waiting challenges need: people's first, then programs', each in order of arrival."""
        return [required_slot(challenge) for challenge in self._by_priority()]

    def queue(self, now_s: float) -> list[tuple[Challenge, float]]:
        """Waiting challenges in the order of `waiting_slots`, each with the seconds that it has waited."""
        return [(each, now_s - self._waiting[each.id].since_s) for each in self._by_priority()]

    def next_wait_timeout_s(self, now_s: float) -> float | None:
        """Seconds until the next waiting challenge times out; None if no waiting challenge has a time limit.

        Args:
            now_s: See `enqueue`.
        """
        since_s = [each.since_s for each in self._waiting.values() if each.challenge.clock is not None]
        return max(0.0, min(since_s) + MAX_CHALLENGE_WAIT_S - now_s) if since_s else None

    def can_abort(self, game_id: str) -> bool:
        """Whether the rules of a game's challenge, if known, let us abort the game."""
        taken = self._taken.get(game_id)
        return taken is None or taken.slot.can_abort

    def has_no_clock(self, game_id: str) -> bool:
        """Whether a running or accepted game is known to have no real-time clock."""
        taken = self._taken.get(game_id)
        return taken is not None and taken.slot.has_no_clock

    @property
    def live_boards(self) -> int:
        """Number of running and accepted games with a real-time clock."""
        return sum(taken.slot.boards for taken in self._taken.values() if not taken.slot.has_no_clock)

    @property
    def active_boards(self) -> int:
        """Number of running and accepted games that need a slot for games with a real-time clock."""
        return self.live_boards - (self._resting() if self._resting else 0)

    @property
    def can_rest(self) -> bool:
        """Whether a running game can stop needing a slot without an event."""
        return self._resting is not None

    def has_room(self, boards: int = 1) -> bool:
        """Whether this many more games with a real-time clock may start now."""
        return self.active_boards + boards <= min(self._machine().max_games, self.config.max_games)

    @property
    def is_idle(self) -> bool:
        """Whether there is no waiting challenge and no running or accepted game with a real-time clock."""
        return not self._waiting and all(taken.slot.has_no_clock for taken in self._taken.values())

    def current_load(self, bot_games: Mapping[str, int], queued_before: Collection[GameSlot] = ()) -> Load:
        """The current load.

        Args:
            bot_games: Number of stored games of the last 24 hours against each program, by program id; query
                it after the last call of `start`.
            queued_before: Waiting challenges ahead of the challenge to decide on.
        """
        # A game not yet marked as stored may be in `bot_games` already; it then counts twice for a while,
        # which errs on the safe side.
        unstored = (taken.slot for taken in self._taken.values() if not taken.is_stored)
        today = Counter(bot_games) + Counter(slot.opponent_id for slot in unstored if slot.is_bot)
        games = [taken.slot for taken in self._taken.values()]
        return Load(
            games,
            list(queued_before),
            today,
            self.closed_reason,
            self._machine(),
            self._resting() if self._resting else 0,
        )

    # --- Decisions --------------------------------------------------------------------------------------

    def decide_waiting(
        self, bot_games: Mapping[str, int], now_s: float
    ) -> list[tuple[Challenge, ChallengeAnswer]]:
        """Decide on waiting challenges: people before programs, each group in order of arrival.

        An accepted challenge holds a slot from now on. A declined challenge is removed. A decision to wait is
        returned only once per challenge.

        Args:
            bot_games: See `current_load`.
            now_s: See `enqueue`.
        """
        decided: list[tuple[Challenge, ChallengeAnswer]] = []
        queued_before: list[GameSlot] = []
        for challenge in self._by_priority():
            waited_s = now_s - self._waiting[challenge.id].since_s
            if challenge.clock is not None and waited_s >= MAX_CHALLENGE_WAIT_S:
                decision: ChallengeAnswer = Decline(DeclineReason.LATER, f"no free slot in {waited_s:.0f} s")
            else:
                decision = decide_by_load(challenge, self.current_load(bot_games, queued_before), self.config)
            match decision:
                case Accept():
                    self.accept(challenge.id, required_slot(challenge))
                case Decline():
                    self.leave(challenge.id)
                case WaitForSlot():
                    queued_before.append(required_slot(challenge))
                    if challenge.id in self._queued:
                        continue
                    self._queued.add(challenge.id)
            decided.append((challenge, decision))
        return decided

    def _by_priority(self) -> list[Challenge]:
        challenges = [each.challenge for each in self._waiting.values()]
        return sorted(challenges, key=lambda challenge: required_slot(challenge).is_bot)
