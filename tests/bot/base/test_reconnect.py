import itertools
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from bot.base.errors import AuthError, ProtocolError, RefusedError, ServerError, TransientError
from bot.base.reconnect import (
    FIRST_WAIT_S,
    MAX_RECONNECT_WAIT_S,
    STABLE_CONNECTION_S,
    backoff_delays,
    stay_connected,
)

Step = str | None | Exception | float
"""A script's step: an event, a sign of life, an end with an error, or seconds that pass."""


class MoveCodec:
    """One list of steps per connection; time passes only in the script and in sleep."""

    def __init__(self, *connections: list[Step]) -> None:
        self.connections = iter(connections)
        self.now = 1000.0
        self.open = 0
        self.handled: list[str] = []
        self.slept: list[float] = []
        self.changes: list[str | None] = []

    async def connect(self) -> AsyncIterator[str | None]:
        steps = next(self.connections)
        self.open += 1
        try:
            for step in steps:
                if isinstance(step, float):
                    self.now += step
                elif isinstance(step, Exception):
                    raise step
                else:
                    yield step
        finally:
            self.open -= 1

    async def handle(self, event: str) -> None:
        self.handled.append(event)

    async def sleep(self, seconds: float) -> None:
        assert self.open == 0
        self.slept.append(seconds)
        self.now += seconds

    async def on_change(self, reason: str | None) -> None:
        self.changes.append(reason)

    async def run(self, until: str = "stop", handle: Callable[[str], Awaitable[None]] | None = None) -> None:
        await stay_connected(
            self.connect,
            handle or self.handle,
            name="test",
            done=lambda: until in self.handled,
            on_change=self.on_change,
            sleep=self.sleep,
            clock=lambda: self.now,
            rng=random.Random(7),
        )


def test_delays_are_random_growing_and_capped() -> None:
    waits = list(itertools.islice(backoff_delays(random.Random(1)), 40))
    upper = FIRST_WAIT_S
    for wait in waits:
        assert upper / 2 <= wait <= upper
        upper = min(2 * upper, MAX_RECONNECT_WAIT_S)
    assert max(waits) > MAX_RECONNECT_WAIT_S / 2
    assert len(set(waits)) == len(waits)
    assert waits != list(itertools.islice(backoff_delays(random.Random(2)), 40))


def test_the_first_delays_may_stay_short() -> None:
    waits = list(itertools.islice(backoff_delays(random.Random(1), quick=5), 8))
    assert all(FIRST_WAIT_S / 2 <= wait <= FIRST_WAIT_S for wait in waits[:6])
    assert waits[7] > FIRST_WAIT_S


async def test_clean_end_and_transient_errors_both_connect_again() -> None:
    script = MoveCodec(
        ["a"], ["b", TransientError("cut off")], [TransientError("refused")], ["c", "stop", "no"]
    )
    await script.run()
    assert script.handled == ["a", "b", "c", "stop"]
    assert len(script.slept) == 3
    assert script.open == 0


async def test_done_is_noticed_at_the_end_of_a_connection_and_at_a_sign_of_life() -> None:
    ended = MoveCodec(["stop"])
    await ended.run()
    assert ended.slept == []

    async def forget(event: str) -> None:
        alive.handled.append("later" if event == "stop" else event)

    alive = MoveCodec(["stop", None, "never"])
    await stay_connected(alive.connect, forget, name="test", done=lambda: "later" in alive.handled)
    assert alive.handled == ["later"]


async def test_a_sign_of_life_is_not_handled_but_counts_as_back() -> None:
    script = MoveCodec([TransientError("x")], [None, None, TransientError("y")], ["stop"])
    await script.run()
    assert script.handled == ["stop"]
    assert script.changes == ["x", None, "y", None]


async def test_the_server_names_the_wait() -> None:
    script = MoveCodec([TransientError("too many", retry_after_s=90.0)], ["stop"])
    await script.run()
    assert script.slept == [90.0]


async def test_waits_grow_while_links_do_not_hold_and_start_afresh_when_one_did() -> None:
    brief: list[list[Step]] = [["a"] for _ in range(5)]
    script = MoveCodec(*brief, ["b", STABLE_CONNECTION_S], ["stop"])
    await script.run()
    assert all(later > earlier for earlier, later in itertools.pairwise(script.slept[:5]))
    assert script.slept[5] <= FIRST_WAIT_S


async def test_log_says_lost_once_and_back_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    down: list[list[Step]] = [[TransientError("refused")] for _ in range(4)]
    script = MoveCodec(["a"], *down, ["stop"])
    await script.run()
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert caplog.records[0].getMessage().startswith("test: connection lost: the stream ended; next try in")
    assert caplog.records[1].getMessage().startswith("test: back after")
    assert script.changes == ["the stream ended", None]


@pytest.mark.parametrize("error", [AuthError("no"), RefusedError("no", 404), ProtocolError("no")])
async def test_other_errors_pass_through(error: ServerError) -> None:
    script = MoveCodec(["a", error], ["never"])
    with pytest.raises(type(error)):
        await script.run()
    assert script.slept == []
    assert script.open == 0


async def test_a_transient_error_of_the_handler_is_a_lost_link() -> None:
    async def handle(event: str) -> None:
        script.handled.append(event)
        if script.handled == ["a"]:
            raise TransientError("no answer to the move")

    script = MoveCodec(["a", "never"], ["b", "stop"])
    await script.run(handle=handle)
    assert script.handled == ["a", "b", "stop"]
    assert script.changes == ["no answer to the move", None]


async def test_a_failing_handler_closes_the_connection() -> None:
    async def handle(event: str) -> None:
        raise ZeroDivisionError(event)

    script = MoveCodec(["a", "b"])
    with pytest.raises(ZeroDivisionError):
        await script.run(handle=handle)
    assert script.open == 0
