"""An event loop on real sockets whose clock jumps to the next timer whenever the loop is idle."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple
from unittest.mock import patch

from bot.threads.search_pool import SearchPool
from tests.inline_sqlite import sqlite_threads

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

SETTLE_S = 0.01
"""How long the loopback may take to deliver, in real seconds."""


class _Selector(selectors.DefaultSelector):
    """Waits for files as usual, but never for timers."""

    loop: "VirtualTimeLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0) or (super().select(SETTLE_S) if timeout is None or timeout > 0 else [])
        if not ready and timeout is not None and not self.loop.threads:
            self.loop.now += max(0.0, timeout)
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Time stands still while code runs, threads included, and jumps while everything waits."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.threads = 0
        """Number of functions running in threads."""
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        self.threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._returned)
        return future

    def _returned(self, _: asyncio.Future[Any]) -> None:
        self.threads -= 1


def _counted(call: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., Coroutine[Any, Any, T]]:
    """The same, counted among the functions running in threads."""

    async def counted(*arguments: Any, **more: Any) -> T:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, VirtualTimeLoop):
            return await call(*arguments, **more)
        loop.threads += 1
        try:
            return await call(*arguments, **more)
        finally:
            loop.threads -= 1

    return counted


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine without waiting for time to pass; return its result.

    Searches run in threads of their own, and no time passes while they work.
    """
    searching = patch.object(SearchPool, "run", _counted(SearchPool.run))
    with searching, sqlite_threads(wanted=False), asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)
