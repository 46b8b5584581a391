"""Hours of a program's life in no time: samples of a healthy program, with one thing wrong for a while."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.alarms.evaluator import AlarmEvaluator, AlarmNotice
from bot.alarms.lifecycle import AlarmState
from bot.alarms.samples import DiskSample, HealthSample
from bot.base.config import AlarmsConfig

START = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
EVERY_S = 15.0
WELL = HealthSample(
    0.0,
    links={"lichess": "", "arena": ""},
    overdue_s={},
    database_trouble="",
    model_failures={},
    disk=DiskSample(50 * 10**9, 10**9),
    backup_age_s=3600.0,
    losses={},
    ratings={},
    blindness={},
)
ALL_RULES = AlarmsConfig(backup_folder="backups", losing_streak=5, rating_drop=100)


class Life:
    """A program whose samples an alarm board takes."""

    def __init__(self, config: AlarmsConfig = ALL_RULES) -> None:
        self.at_s = 1000.0
        self.set_back_s = 0.0
        """How far the clock on the wall was set back."""
        self.board = AlarmEvaluator(
            config, now=lambda: START + timedelta(seconds=self.at_s - self.set_back_s)
        )
        self.sample = WELL
        self.states: list[tuple[float, str, str]] = []
        """Every change: seconds since the first sample, alarm, state."""
        self.notices: list[tuple[float, AlarmNotice]] = []
        self._began_s = self.at_s

    def count(self, **more: int) -> None:
        """Add to the tally."""
        tally = self.sample.tally
        known = {name: getattr(tally, name) + number for name, number in more.items()}
        self.sample = replace(self.sample, tally=replace(tally, **known))

    def live(self, seconds: float, **changes: Any) -> None:
        """Take samples for some seconds, with these values from now on."""
        self.sample = replace(self.sample, **changes)
        until = self.at_s + seconds
        while self.at_s < until:
            self.look()
            self.at_s += EVERY_S

    def look(self) -> None:
        """Take one sample now."""
        for change in self.board.evaluate(replace(self.sample, at_s=self.at_s)):
            self.states.append((self.at_s - self._began_s, change.name, change.state.value))
        self.notices += [(self.at_s - self._began_s, notice) for notice in self.board.due_notices()]

    def firing(self) -> list[str]:
        """Names of the alarms that fire."""
        return [alarm.name for alarm in self.board.alarms if alarm.state is AlarmState.FIRING]
