"""The program's alarms: evaluates samples and produces notices.  No I/O."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.alarms.lifecycle import ACTIVE_STATES, MIN_RECOVERY_TIME_S, AlarmLifecycle, AlarmState
from bot.alarms.rules import RULES, AlarmRule
from bot.alarms.samples import HealthSample, SampleHistory
from bot.base.config import AlarmsConfig
from bot.base.errors import DesdemonaError
from storage.tables.types import now_utc

REMINDER_INTERVAL_S = 4 * 3600.0
"""Seconds between reminders of a firing alarm."""
CLEARED = "over"
"""The state in the notice of an alarm that has cleared."""
MAX_SNOOZE_MIN = 7 * 24 * 60.0
_CLEARED_TEXTS = {
    AlarmState.RECOVERING: "the problem is gone",
    AlarmState.OK: f"no problem for {MIN_RECOVERY_TIME_S / 60:.0f} minutes",
}
"""Text for an alarm that clears, keyed by new state; the alarm's own text describes the past problem."""


class AlarmError(DesdemonaError):
    """The alarm is unknown or not firing; the message lists the alarms."""


@dataclass(frozen=True, slots=True)
class AlarmStatus:
    """The status of an alarm, for display."""

    name: str
    state: AlarmState
    since: datetime
    """When the alarm fired; for a pending alarm, when the problem began."""
    headline: str
    text: str
    cure: str
    acknowledged_by: str
    """Who has acknowledged the alarm since it fired; empty if nobody has."""
    snoozed_until: datetime | None
    is_warning: bool = False
    """As `bot.alarms.rules.AlarmRule.is_warning`."""

    @property
    def is_active(self) -> bool:
        """Whether the alarm has fired and has not cleared."""
        return self.state in ACTIVE_STATES

    @property
    def is_unacknowledged(self) -> bool:
        """Whether the alarm needs attention: it is active and neither acknowledged nor snoozed."""
        return self.is_active and not self.acknowledged_by and self.snoozed_until is None


@dataclass(frozen=True, slots=True)
class AlarmChange:
    """A change of an alarm's state."""

    name: str
    before: AlarmState
    state: AlarmState
    text: str
    """The reason for the change: a description of the problem, or a note that it is over."""

    @property
    def is_notable(self) -> bool:
        """Whether the alarm is or was firing; False if it was only pending."""
        return self.before in ACTIVE_STATES or self.state in ACTIVE_STATES


@dataclass(frozen=True, slots=True)
class AlarmNotice:
    """A notice for the operator."""

    name: str
    state: str
    """State of the alarm: ``firing`` or ``over``."""
    since: datetime
    text: str
    cure: str


class _Alarm:
    """An alarm with the operator's acknowledgement and snooze."""

    def __init__(self, rule: AlarmRule, at_s: float, at: datetime) -> None:
        self.life = AlarmLifecycle(rule, at_s)
        self.since = at
        self.acknowledged_by = ""
        self.snoozed_at = at
        self.snoozed_until: datetime | None = None
        self.notified_at: datetime | None = None
        """When the last notice was sent; None if no notice has been sent since the alarm fired."""

    def notice(self, state: str) -> AlarmNotice:
        return AlarmNotice(self.life.rule.name, state, self.since, self.life.text, self.life.rule.cure)


class AlarmEvaluator:
    """The alarms.

    Args:
        config: The settings.
        now: Returns the current time with its time zone.
        rules: The rules of all alarms; the settings may disable some.
    """

    def __init__(
        self,
        config: AlarmsConfig | None = None,
        now: Callable[[], datetime] = now_utc,
        rules: Sequence[AlarmRule] = RULES,
    ) -> None:
        self._config = config or AlarmsConfig()
        self._now = now
        self._rules = [rule for rule in rules if rule.is_on(self._config)]
        self._history = SampleHistory()
        self._alarms: dict[str, _Alarm] = {}
        """Alarms by name; empty before the first sample."""

    def evaluate(self, sample: HealthSample) -> list[AlarmChange]:
        """Take the next sample; return the changes of alarm state that it causes."""
        at = self._now()
        if not self._alarms:
            self._alarms = {rule.name: _Alarm(rule, sample.at_s, at) for rule in self._rules}
        self._history.add(sample)
        changes = []
        for name, alarm in self._alarms.items():
            before = alarm.life.state
            reading = alarm.life.rule.condition(self._history, self._config)
            if not alarm.life.step(sample.at_s, reading):
                continue
            state = alarm.life.state
            changes.append(AlarmChange(name, before, state, _CLEARED_TEXTS.get(state, alarm.life.text)))
            if state is AlarmState.PENDING or (state is AlarmState.FIRING and before is AlarmState.OK):
                alarm.since = at
            if state is AlarmState.OK:
                alarm.acknowledged_by = ""
        return changes

    def due_notices(self) -> list[AlarmNotice]:
        """Return the pending notices; each notice is returned only once."""
        at, notices = self._now(), []
        for alarm in self._alarms.values():
            if alarm.life.state not in ACTIVE_STATES:
                if alarm.notified_at is not None:
                    alarm.notified_at = None
                    notices.append(alarm.notice(CLEARED))
                continue
            is_quiet = self._snoozed_until(alarm) is not None or bool(alarm.acknowledged_by)
            # Not sooner; but a clock that was set back must not hold it back.
            waits = alarm.notified_at is not None and _is_between(
                alarm.notified_at, at, alarm.notified_at + timedelta(seconds=REMINDER_INTERVAL_S)
            )
            if not waits and not is_quiet and alarm.life.state is AlarmState.FIRING:
                alarm.notified_at = at
                notices.append(alarm.notice(AlarmState.FIRING))
        return notices

    @property
    def alarms(self) -> tuple[AlarmStatus, ...]:
        """All alarms that are snoozed or not ok, with firing alarms first."""
        order = list(AlarmState)
        statuses = [self._status(alarm) for alarm in self._alarms.values()]
        shown = [
            each for each in statuses if each.state is not AlarmState.OK or each.snoozed_until is not None
        ]
        ranks = {AlarmState.FIRING: 0, AlarmState.RECOVERING: 1, AlarmState.PENDING: 2}
        return tuple(sorted(shown, key=lambda each: ranks.get(each.state, len(order))))

    @property
    def firing(self) -> dict[str, bool]:
        """Whether each alarm is firing, by name."""
        return {name: alarm.life.state in ACTIVE_STATES for name, alarm in self._alarms.items()}

    def acknowledge(self, name: str, by: str) -> str:
        """Send no more notices of a firing alarm until it clears; return a one-line result.

        Raises:
            AlarmError: No alarm has this name, or the alarm is not firing.
        """
        alarm = self._alarm(name)
        if alarm.life.state not in ACTIVE_STATES:
            raise AlarmError(f"alarm {name} is not firing")
        alarm.acknowledged_by = by
        return f"alarm {name}: acknowledged until it clears"

    def snooze(self, name: str, minutes: float) -> str:
        """Send no notices of an alarm for a number of minutes, whether or not it is firing now.

        Args:
            name: The alarm.
            minutes: More than 0, at most `MAX_SNOOZE_MIN`.

        Raises:
            AlarmError: No alarm has this name, or `minutes` is out of range.
        """
        alarm = self._alarm(name)
        if not 0 < minutes <= MAX_SNOOZE_MIN:
            raise AlarmError(f"minutes must be more than 0 and at most {MAX_SNOOZE_MIN:g}")
        alarm.snoozed_at = self._now()
        alarm.snoozed_until = alarm.snoozed_at + timedelta(minutes=minutes)
        return f"alarm {name}: snoozed for {minutes:g} minutes"

    def _alarm(self, name: str) -> _Alarm:
        if name not in self._alarms:
            known = ", ".join(self._alarms) or "none yet"
            raise AlarmError(f"no alarm {name!a:.40}; known: {known}")
        return self._alarms[name]

    def _snoozed_until(self, alarm: _Alarm) -> datetime | None:
        until = alarm.snoozed_until
        return until if until is not None and _is_between(alarm.snoozed_at, self._now(), until) else None

    def _status(self, alarm: _Alarm) -> AlarmStatus:
        rule = alarm.life.rule
        return AlarmStatus(
            rule.name,
            alarm.life.state,
            alarm.since,
            rule.headline,
            alarm.life.text,
            rule.cure,
            alarm.acknowledged_by,
            self._snoozed_until(alarm),
            rule.is_warning,
        )


def _is_between(first: datetime, now: datetime, last: datetime) -> bool:
    """Whether `now` lies between two moments; False if the clock was set back to before the first one."""
    return first <= now < last
