"""The life cycle of one alarm: pending, firing, recovering.  No I/O.

::

    ok --wrong--> pending --wrong for `min_duration_s`--> firing --right--> recovering --right for 5 min--> ok
    pending --right--> ok                        recovering --wrong--> firing

Without data an alarm keeps its state; after five minutes without data it fires.
"""

from enum import StrEnum

from bot.alarms.rules import AlarmRule, Reading

MIN_RECOVERY_TIME_S = 300.0
NO_DATA_TIMEOUT_S = 300.0


class AlarmState(StrEnum):
    """The state of an alarm."""

    OK = "ok"
    PENDING = "pending"
    """The condition holds, but has not yet held for long enough for the alarm to fire."""
    FIRING = "firing"
    RECOVERING = "recovering"
    """The condition no longer holds, but has not been absent for long enough for the alarm to clear."""


ACTIVE_STATES = frozenset({AlarmState.FIRING, AlarmState.RECOVERING})
"""States of an alarm that has fired and has not cleared."""


class AlarmLifecycle:
    """The state machine of one alarm.

    Args:
        rule: The alarm's rule.
        at_s: Time of the first evaluation, in seconds of a monotonic clock.
    """

    def __init__(self, rule: AlarmRule, at_s: float) -> None:
        self.rule = rule
        self.state = AlarmState.OK
        self.text = ""
        """The current problem or, if there is none, the latest one."""
        self._since_s = at_s
        """When the state began."""
        self._known_s = at_s
        """Time of the latest data."""

    def step(self, at_s: float, reading: Reading) -> bool:
        """Update the state from a new reading; return whether the state has changed.

        Args:
            at_s: The time of the reading; must not decrease between calls.
            reading: Result of the rule's condition.
        """
        if reading is not None:
            self._known_s = at_s
        elif at_s - self._known_s < NO_DATA_TIMEOUT_S:
            return False
        is_missing = reading is None
        if reading is None:
            reading = f"no data for {(at_s - self._known_s) / 60:.0f} minutes"
        if reading:
            self.text = reading
        before = self.state
        self.state = AlarmState.FIRING if is_missing else self._next(at_s, is_wrong=bool(reading))
        if self.state is not before:
            self._since_s = at_s
        return self.state is not before

    def _next(self, at_s: float, *, is_wrong: bool) -> AlarmState:
        lasted_s = at_s - self._since_s
        match self.state:
            case AlarmState.OK if is_wrong:
                return AlarmState.PENDING if self.rule.min_duration_s > 0 else AlarmState.FIRING
            case AlarmState.PENDING if not is_wrong:
                return AlarmState.OK
            case AlarmState.PENDING if lasted_s >= self.rule.min_duration_s:
                return AlarmState.FIRING
            case AlarmState.FIRING if not is_wrong:
                return AlarmState.RECOVERING
            case AlarmState.RECOVERING if is_wrong:
                return AlarmState.FIRING
            case AlarmState.RECOVERING if lasted_s >= MIN_RECOVERY_TIME_S:
                return AlarmState.OK
        return self.state
