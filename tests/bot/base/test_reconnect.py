import itertools
import logging
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from bot.base.errors import AuthError, ProtocolError, RefusedError, ServerError, TransientError
from bot.base.reconnect import (
    FIRST_LOG_INTERVAL_S,
    FIRST_WAIT_S,
    MAX_LOGGED_REASONS,
    MAX_RECONNECT_WAIT_S,
    STABLE_CONNECTION_S,
    Retries,
    RetryStatus,
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


async def test_log_says_lost_each_reason_and_back_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    down: list[list[Step]] = [[TransientError("refused")] for _ in range(4)]
    script = MoveCodec(["a"], *down, ["stop"])
    await script.run()
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING", "INFO"]
    assert caplog.records[0].getMessage().startswith("test: connection lost: the stream ended; next try in")
    assert caplog.records[1].getMessage().startswith("test: still not connected: refused (2 failed attempts")
    assert caplog.records[2].getMessage().startswith("test: back after")
    assert script.changes == ["the stream ended", None]


async def test_a_long_outage_is_logged_at_growing_intervals(caplog: pytest.LogCaptureFixture) -> None:
    down: list[list[Step]] = [[TransientError("refused")] for _ in range(12_000)]
    script = MoveCodec(["a"], *down, ["stop"])
    await script.run()
    hours = (script.now - 1000.0) / 3600
    assert 15 < hours < 30
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 2 + 6 + int(hours - 63 / 60)  # after 1, 3, 7, .. 63 min, and then hourly
    again = r"^test: still not connected: refused \([0-9,]+ failed attempts in .*, next try in"
    assert re.search(again, warnings[-1])


async def test_a_link_that_never_holds_is_logged_at_growing_intervals(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Two programs that disconnect each other, for instance: each connection works for a moment."""
    caplog.set_level(logging.INFO)
    brief: list[list[Step]] = [["a"] for _ in range(100)]
    script = MoveCodec(*brief, ["stop"])
    await script.run()
    assert 500 < script.now - 1000.0 < 1000
    words = [record.getMessage().split(": ")[1].partition(" ")[0] for record in caplog.records]
    assert words == ["connection", "back"] * 4  # at once, and after 1, 3 and 7 min


def test_what_is_known_of_retries() -> None:
    times = [datetime(2026, 1, 2, tzinfo=UTC)]
    retries = Retries(lambda: 0.0, lambda: times[0])
    assert (retries.status, retries.text()) == (None, "")
    retries.record_failure("down", 4.0)
    begin = times[0]
    times[0] += timedelta(seconds=5)
    assert retries.text() == "1 failed attempt in 5 s, trying again now"
    retries.record_failure("out", 70.0)
    assert retries.status == RetryStatus(2, begin, "out", times[0] + timedelta(seconds=70))
    assert retries.text() == "2 failed attempts in 5 s, next try in 1 min 10 s"
    retries.record_success(is_stable=False)
    assert retries.text() == ""
    retries.record_failure("down", 4.0)
    assert retries.status == RetryStatus(3, begin, "down", times[0] + timedelta(seconds=4))
    retries.record_success()
    retries.record_failure("down", 4.0)
    assert retries.status == RetryStatus(1, times[0], "down", times[0] + timedelta(seconds=4))


def test_new_reasons_are_logged_and_not_without_end() -> None:
    time_s = [0.0]
    retries = Retries(lambda: time_s[0])
    due = [retries.record_failure(f"wait {number} s", 1.0) for number in (1, 1, *range(2, 20))]
    assert due == [True, False, *[True] * (MAX_LOGGED_REASONS - 1), *[False] * 14]
    time_s[0] = FIRST_LOG_INTERVAL_S
    assert [retries.record_failure("wait 99 s", 1.0) for _ in range(2)] == [True, False]
    time_s[0] += FIRST_LOG_INTERVAL_S
    assert not retries.record_failure("wait 99 s", 1.0)
    time_s[0] += FIRST_LOG_INTERVAL_S
    assert retries.record_failure("wait 99 s", 1.0)
    retries.record_success()
    assert [retries.record_failure(f"wait {number} s", 1.0) for number in (2, 1)] == [True, True]
    time_s[0] += FIRST_LOG_INTERVAL_S
    assert retries.record_failure("wait 1 s", 1.0)


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
