"""Hands out jobs to workers, and repeats jobs whose worker died."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from bot.workers.pools import Workers, WorkersError

J = TypeVar("J")
R = TypeVar("R")

logger = logging.getLogger(__name__)

MAX_WORKER_DEATHS = 3
"""The run fails after this many worker deaths in a row, multiplied by the number of concurrent jobs."""


async def finished_jobs(
    jobs: Iterable[J],
    start: Callable[[J], "Future[R]"],
    name: Callable[[J], str],
    workers: Workers,
    stop: asyncio.Event,
    *,
    ahead: int = 1,
) -> AsyncGenerator[list[tuple[J, "asyncio.Future[R]"]], None]:
    """Keep as many jobs running as the workers can take, and yield finished jobs.

    A caller that leaves the loop early must close the generator (`contextlib.aclosing`), which drops running
    jobs.

    Args:
        start: Submits a job to a worker and returns its future.
        name: Returns a job's name for messages.
        stop: Set this event to end the run early.
        ahead: Number of jobs handed out per worker at a time.

    Yields:
        Jobs, each with a future that holds the job's result or exception.

    Raises:
        WorkersError: Workers keep dying, or no workers are available.
    """
    todo = deque(jobs)
    running: dict[asyncio.Future[R], J] = {}
    stopped = asyncio.ensure_future(stop.wait())
    deaths = 0
    try:
        while (todo or running) and not stop.is_set():
            slots = ahead * await asyncio.to_thread(workers.capacity)  # a cluster may block
            while todo and len(running) < slots:
                job = todo.popleft()
                running[asyncio.wrap_future(start(job))] = job
            both: set[asyncio.Future[Any]] = {*running, stopped}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            done = []
            for future in [each for each in running if each.done()]:
                job = running.pop(future)
                if not _has_died(future, workers):
                    deaths = 0
                    done.append((job, future))
                    continue
                deaths += 1
                if deaths >= MAX_WORKER_DEATHS * slots:
                    raise WorkersError(f"{deaths} workers died in a row, the last one with {name(job)}")
                logger.warning("%s: its worker died; retrying", name(job))
                todo.appendleft(job)
            if done:
                yield done
    finally:
        stopped.cancel()
        for future in running:
            if not future.cancel() and not future.cancelled():
                future.exception()  # retrieved only to silence asyncio


def _has_died(future: "asyncio.Future[Any]", workers: Workers) -> bool:
    try:
        return isinstance(future.exception(), workers.deaths)
    except (asyncio.CancelledError, CancelledError):  # not cancelled here
        raise WorkersError("no workers are left; run the command again to resume") from None
