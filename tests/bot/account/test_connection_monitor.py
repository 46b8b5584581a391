from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from bot.account.connection_monitor import ConnectionMonitor

AT = datetime(2026, 1, 2, tzinfo=UTC)


async def test_what_it_notes() -> None:
    now, closed = [AT], []

    async def stream() -> AsyncIterator[str | None]:
        try:
            yield None
            now[0] += timedelta(seconds=1)
            yield "event"
            now[0] += timedelta(seconds=1)
            yield None
        finally:
            closed.append(True)

    watch = ConnectionMonitor(now=lambda: now[0])
    assert (watch.up_since, watch.heard_at, watch.event_at, watch.trouble) == (None, None, None, "")
    watch.record_loss("no route")
    assert [event async for event in watch.record_times(stream())] == [None, "event", None]
    assert (watch.up_since, watch.trouble) == (AT, "")
    assert watch.event_at == AT + timedelta(seconds=1)
    assert watch.heard_at == AT + timedelta(seconds=2)
    watch.record_loss("the stream ended")
    assert (watch.up_since, watch.trouble) == (None, "the stream ended")
    events = watch.record_times(stream())
    await anext(events)
    await events.aclose()  # type: ignore[attr-defined]
    assert closed == [True, True]
