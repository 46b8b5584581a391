"""Counts the outcomes of a game's baits for the metrics, once both forecast and reply are stored."""

from collections.abc import Callable

from bot.base.metrics import BaitOutcome
from engine.bait_rule import ReplyForecast


class BaitCounter:
    """The baits of one game, in this run of the program.

    Decisions are known by their keys.  The forecast may be stored after the reply.

    Args:
        count: Takes each outcome.
    """

    def __init__(self, count: Callable[[BaitOutcome], None]) -> None:
        self._count = count
        self._forecasts: dict[int, ReplyForecast] = {}
        self._replies: dict[int, str] = {}

    def add_forecast(self, decision_id: int, made: ReplyForecast) -> None:
        """Record that a forecast with a bait was stored, possibly again."""
        if decision_id in self._forecasts:
            return
        self._forecasts[decision_id] = made
        self._count(BaitOutcome.SET)
        self._count_answered(decision_id)

    def add_reply(self, decision_id: int, reply: str) -> None:
        """Record that the reply to a decision was judged, with or without a bait."""
        self._replies[decision_id] = reply
        self._count_answered(decision_id)

    def _count_answered(self, decision_id: int) -> None:
        made, reply = self._forecasts.get(decision_id), self._replies.get(decision_id)
        if made is not None and reply is not None:
            self._count(BaitOutcome.TAKEN if made.is_bait(reply) else BaitOutcome.HELD)
