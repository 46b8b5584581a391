"""Gives the operator's page access to the running program: actions, health and metrics."""

import asyncio
from dataclasses import dataclass
from typing import Any

from bot.alarms.evaluator import AlarmEvaluator, AlarmStatus
from bot.base.metrics import Metrics
from bot.control.actions import OperatorActions
from bot.control.exporter import exposition
from bot.control.health_monitor import HealthMonitor, plain_readiness
from engine.human.registry import ModelRegistry


@dataclass(frozen=True)
class OperatorServices:
    """The parts of the running program that the operator's page uses."""

    actions: OperatorActions
    health: HealthMonitor
    board: AlarmEvaluator
    models: ModelRegistry
    metrics: Metrics

    @property
    def unacknowledged_alarms(self) -> tuple[AlarmStatus, ...]:
        """The alarms shown on every page, excluding warnings."""
        return tuple(alarm for alarm in self.board.alarms if alarm.is_unacknowledged and not alarm.is_warning)

    async def readiness(self) -> dict[str, Any]:
        """As `bot.control.health_monitor.plain_readiness`."""
        return plain_readiness(await self.actions.status(), self.models.failures())

    async def exposition(self) -> bytes:
        """The metrics in Prometheus's text format."""
        status = await self.actions.status()
        self.metrics.tasks.set(len(asyncio.all_tasks()))
        return exposition(self.metrics, status, self.health.recent, self.models.failures(), self.board.firing)
