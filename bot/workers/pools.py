"""Runs jobs that consist of many small tasks, in processes on this machine or on a Dask cluster.

Workers take a task and return its result; they have no access to the database. If a worker dies, its task can
be repeated, and the other tasks are unaffected.
"""

import importlib
import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from bot.base.errors import DesdemonaError
from bot.workers.process_pool import ProcessPool, WorkerDied

T = TypeVar("T")
R = TypeVar("R")

_CONNECT_TIMEOUT_S = 15.0
CLUSTER_EXTRA = "cluster"


class WorkersError(DesdemonaError):
    """There are no workers, or none are left; the message says why."""


class Workers(Protocol):
    """Runs functions in parallel."""

    deaths: tuple[type[BaseException], ...]
    """Exceptions that a task's future raises if its worker dies."""

    def capacity(self) -> int:
        """Number of tasks that can currently run in parallel; with a cluster, the call may block."""

    def run(self, work: Callable[[T], R], task: T) -> "Future[R]":
        """Run `work`, a module-level function, in a worker with `task` as its argument."""


class LocalWorkers(ProcessPool):
    """Worker processes on this machine."""

    deaths: tuple[type[BaseException], ...] = (WorkerDied,)

    def __init__(self, processes: int) -> None:
        super().__init__(processes)
        self._processes = processes

    def capacity(self) -> int:
        """See `Workers.capacity`."""
        return self._processes


class ClusterWorkers:
    """The workers of a Dask cluster; each of their threads runs one task at a time.

    Every worker needs the same version of this program and any external programs that the tasks use. When a
    worker dies, the scheduler gives its task to another one.

    Args:
        address: The scheduler's address, for instance ``tcp://10.0.0.1:8786``.
        most: Maximum number of parallel tasks; None for one per thread.

    Raises:
        WorkersError: dask.distributed is not installed, or the scheduler cannot be reached.
    """

    def __init__(self, address: str, most: int | None = None) -> None:
        try:
            distributed: Any = importlib.import_module("distributed")  # has no types
        except ImportError as error:
            raise WorkersError(
                f"--cluster needs dask.distributed: install the extra {CLUSTER_EXTRA!r}, "
                f"`pip install 'desdemona[{CLUSTER_EXTRA}]'` ({error})"
            ) from None
        self.deaths: tuple[type[BaseException], ...] = (distributed.KilledWorker,)
        # It reports a lost scheduler by tracebacks; this program does in one line.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self._address, self._most = address, most
        try:
            self._client = distributed.Client(address, timeout=_CONNECT_TIMEOUT_S, set_as_default=False)
        except (OSError, ValueError, ImportError) as error:
            raise WorkersError(f"--cluster: there is no scheduler at {address}: {error}") from None
        self._executor = self._client.get_executor(pure=False)

    def capacity(self) -> int:
        """See `Workers.capacity`; workers may join and leave at any time."""
        threads = sum(self._client.nthreads().values()) if self._client.status == "running" else 0
        return max(1, threads if self._most is None else min(threads, self._most))

    def run(self, work: Callable[[T], R], task: T) -> "Future[R]":
        """See `Workers.run`."""
        if self._client.status != "running":
            raise WorkersError(f"the cluster at {self._address} is gone; run the command again to resume")
        future: Future[R] = self._executor.submit(work, task)
        return future

    def close(self) -> None:
        """Release the workers and drop their running tasks."""
        self._executor.shutdown(wait=False)
        self._client.close()
