import asyncio

import pytest

from bot.arena.fairness import freeze_watch
from bot.arena.fairness.freeze_watch import FROZEN_S, FreezeWatch
from tests.bot.arena.conftest import FakeClock
from tests.patience import PATIENCE_S


def test_a_late_beat_is_told_with_its_length() -> None:
    clock, told = FakeClock(), list[float]()
    watch = FreezeWatch(told.append, clock)
    for seconds in (1.0, FROZEN_S, 60.0, 1.0):
        clock.advance(seconds)
        watch.beat()
    assert told == [60.0]


async def test_it_beats_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freeze_watch, "BEAT_S", 0.0)
    clock, told = FakeClock(), asyncio.Event()
    watch = FreezeWatch(lambda _seconds: told.set(), clock)
    watch.start()
    clock.advance(60)
    async with asyncio.timeout(PATIENCE_S):
        await told.wait()
    watch.stop()
    assert watch._timer is not None
    assert watch._timer.cancelled()
