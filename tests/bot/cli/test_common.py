"""What commands share."""

import asyncio
import os
import signal

import pytest

from bot.cli.common import stop_on_signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_stops_and_is_known(number: signal.Signals) -> None:
    stop, received = stop_on_signals()
    try:
        assert not stop.is_set()
        os.kill(os.getpid(), number)
        await stop.wait()
        assert received == [number]
    finally:
        for each in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().remove_signal_handler(each)
