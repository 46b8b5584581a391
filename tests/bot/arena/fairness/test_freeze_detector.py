import asyncio

import pytest

from bot.arena.fairness.freeze_detector import FREEZE_THRESHOLD_S, HEARTBEAT_INTERVAL_S, detect_freezes
from tests.bot.arena.conftest import FakeClock


async def test_a_late_beat_is_reported_with_its_length() -> None:
    clock, reported, waits_s = (
        FakeClock(),
        list[float](),
        [60.0, 1.0, FREEZE_THRESHOLD_S, HEARTBEAT_INTERVAL_S],
    )

    async def sleep(seconds: float) -> None:
        assert seconds == HEARTBEAT_INTERVAL_S
        if not waits_s:
            raise asyncio.CancelledError
        clock.advance(waits_s.pop())

    with pytest.raises(asyncio.CancelledError):
        await detect_freezes(reported.append, clock, sleep)
    assert reported == [60.0]
