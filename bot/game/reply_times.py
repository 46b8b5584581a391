"""Times the opponent's replies in one game: by the server's clock if it can be trusted, otherwise by ours.

By the server's clock, a reply's duration is the opponent's clock reading during our previous turn, minus the
reading during our next turn, plus the increment. Our own measurement starts when the server shows our move
and ends when it shows the reply, so network delays cancel out. If the server shows both at once, our
measurement starts when we send our move, and the known lag is subtracted.

The server's value is used only if it agrees with ours: it cannot exceed the time from sending our move to
seeing the reply, nor fall short of our measurement by more than the lag allowance. The two disagree if the
clock has byo-yomi or a delay instead of an increment. We also use our measurement for clocks in whole seconds
and for moves before a clock starts. A reply that could not be timed (the link was down, the program
restarted, several moves came at once) has no time.
"""

from collections.abc import Sequence

from storage.records import ReplyTime, TimeSource

MAX_LAG_COMPENSATION_S = 1.0
"""Maximum time that a server (lichess.org) deducts from a turn to make up for the opponent's lag."""
CLOCK_TOLERANCE_S = 0.05
"""Tolerance in seconds; servers round clock times, and stop a clock only after showing the move."""
MIN_SERVER_TIMED_PLY = 2
"""First ply timed by server clocks: on sites like Lichess, they do not run until both sides have moved."""
_CLOCK_DECIMALS = 3


class ReplyTimer:
    """Follows one game's states; `times` holds measured times that are not stored yet.

    All moments are seconds on one monotonic clock.
    """

    def __init__(self) -> None:
        self.times: dict[int, ReplyTime] = {}
        """Reply times, keyed by the reply's ply: the number of moves made before the reply."""
        self._moves: tuple[str, ...] | None = None
        self._is_theirs = False
        self._shown_at: float | None = None
        """When the opponent's turn was first shown; None if it is not their turn or we joined during it."""
        self._sent: tuple[int, float] | None = None
        """Ply and moment of the latest move that we sent."""
        self._stopped_s: float | None = None
        """Time left on the opponent's clock during our latest turn; None if unknown."""

    def start(self, ply: int, now: float) -> None:
        """Record that our move is about to be sent; if it is sent repeatedly, only the first time counts."""
        if self._sent is None or self._sent[0] != ply:
            self._sent = (ply, now)

    def update_clocks(
        self,
        moves: Sequence[str],
        *,
        is_theirs: bool,
        clock_s: float | None,
        increment_s: float,
        now: float,
        lag_s: float,
        is_prompt: bool = True,
    ) -> None:
        """Process a state of the game from the server.

        Args:
            moves: The complete list of moves.
            is_theirs: Whether it is the opponent's turn.
            clock_s: Time left on the opponent's clock; None if there is no clock.
            increment_s: Time that a move adds to that clock.
            now: When the state arrived.
            lag_s: Known round-trip time of a request to the server.
            is_prompt: Whether the state arrived as soon as it changed; False if requested after reconnecting.
        """
        moves, before = tuple(moves), self._moves
        added = None if before is None or moves[: len(before)] != before else len(moves) - len(before)
        if added == 0:
            return
        if added is not None and not is_theirs and added == (1 if self._is_theirs else 2):
            took = self._reply_time(len(moves) - 1, clock_s, increment_s, now, lag_s, is_prompt=is_prompt)
            if took is not None:
                self.times.setdefault(len(moves) - 1, took)
        # In the middle of their turn, and after a takeback, their clock has run already.
        begins = added is not None and is_prompt
        self._shown_at = now if is_theirs and begins else None
        if not is_theirs:
            self._stopped_s = clock_s
        elif added is None:
            self._stopped_s = None
        self._moves, self._is_theirs = moves, is_theirs

    def _reply_time(
        self,
        ply: int,
        clock_s: float | None,
        increment_s: float,
        now: float,
        lag_s: float,
        *,
        is_prompt: bool,
    ) -> ReplyTime | None:
        sent_at = self._sent[1] if self._sent is not None and self._sent[0] == ply - 1 else None
        if self._shown_at is not None:
            measured = now - self._shown_at
            longest = measured + lag_s if sent_at is None else now - sent_at
        elif sent_at is not None:
            measured, longest = max(0.0, now - sent_at - lag_s), now - sent_at
        else:
            return None
        stopped_s = self._stopped_s if ply >= MIN_SERVER_TIMED_PLY else None
        if stopped_s is not None and clock_s is not None and clock_s % 1:
            spent_s = stopped_s + increment_s - clock_s
            least = measured - MAX_LAG_COMPENSATION_S - lag_s if is_prompt else -CLOCK_TOLERANCE_S
            if max(least, -CLOCK_TOLERANCE_S) <= spent_s <= longest + CLOCK_TOLERANCE_S:
                return ReplyTime(round(max(0.0, spent_s), _CLOCK_DECIMALS), TimeSource.SERVER)
        return ReplyTime(round(measured, _CLOCK_DECIMALS), TimeSource.MEASURED) if is_prompt else None
