"""Listeners' queues: bounded, and ended in order."""

import json

from bot.arena.streams import MAX_QUEUED_LINES, Listeners, Stream


async def numbers(stream: Stream) -> list[int]:
    lines = await stream.read(0)
    assert lines is not None
    return [json.loads(line)["n"] for line in lines.splitlines()]


async def test_a_slow_reader_loses_the_oldest_lines() -> None:
    stream = Stream()
    for n in range(MAX_QUEUED_LINES + 10):
        stream.send({"n": n})
    assert await numbers(stream) == list(range(10, MAX_QUEUED_LINES + 10))


async def test_nothing_is_lost_at_the_end() -> None:
    stream = Stream()
    stream.send({"n": 1})
    stream.close()
    stream.send({"n": 2})
    assert await numbers(stream) == [1]
    assert await stream.read(0) is None


async def test_silence() -> None:
    stream = Stream()
    assert await stream.read(0) == b""
    stream.send({"n": 1})
    assert await numbers(stream) == [1]
    assert await stream.read(0) == b""


async def test_the_oldest_listener_gives_way() -> None:
    left: list[str] = []
    listeners: Listeners[str] = Listeners(left.append)
    first, second, third = Stream(), Stream(), Stream()
    for stream in (first, second, third):
        listeners.add("anna", stream, limit=2)
    assert await first.read(0) is None
    assert list(listeners.of("anna")) == [second, third]
    listeners.remove("anna", first)  # it has already been forgotten
    listeners.remove("anna", second)
    assert (left, listeners.is_listening("anna")) == ([], True)
    listeners.remove("anna", third)
    listeners.remove("anna", third)
    assert (left, listeners.is_listening("anna")) == (["anna"], False)
