"""Where match games are played: in processes on this machine, or on a Dask cluster.

Workers play and hand back, and know nothing of the database.  One that dies takes its game along, which is
then played again; nobody else notices.  They do other work of many small parts as well (`run`).
"""

import importlib
import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from bot.base.process_pool import ProcessPool, WorkerDied
from bot.match.play import GameTask, Played, play
from bot.match.player_specs import MatchError

T = TypeVar("T")
R = TypeVar("R")

_CONNECT_S = 15.0
EXTRA = "cluster"


class Workers(Protocol):
    """Play games, several at a time."""

    deaths: tuple[type[BaseException], ...]
    """What a game's future raises when its worker died."""

    def capacity(self) -> int:
        """How many games can be played at a time, now."""

    def submit(self, task: GameTask) -> "Future[Played]":
        """Have a game played."""

    def close(self) -> None:
        """End the workers, or give back what they are doing; games that are being played are dropped."""


class LocalWorkers(ProcessPool):
    """Processes on this machine."""

    deaths: tuple[type[BaseException], ...] = (WorkerDied,)

    def __init__(self, processes: int) -> None:
        super().__init__(processes)
        self._processes = processes

    def capacity(self) -> int:
        """See `Workers.capacity`."""
        return self._processes

    def submit(self, task: GameTask) -> "Future[Played]":
        """See `Workers.submit`."""
        return self.run(play, task)


class ClusterWorkers:
    """The workers of a Dask cluster, as many games at a time as it has threads.

    Every worker needs this program, of the same version, and the other programs that play.  A game whose
    worker dies is given to another one by the scheduler.

    Args:
        address: Of the scheduler, for instance ``tcp://10.0.0.1:8786``.
        most: No more games at a time; None: as many as there are threads.

    Raises:
        MatchError: dask.distributed is not installed, or there is no scheduler.
    """

    def __init__(self, address: str, most: int | None = None) -> None:
        try:
            distributed: Any = importlib.import_module("distributed")  # which is not typed
        except ImportError as error:
            raise MatchError(
                f"--cluster needs dask.distributed: install the extra {EXTRA!r}, "
                f"`pip install 'desdemona[{EXTRA}]'` ({error})"
            ) from None
        self.deaths: tuple[type[BaseException], ...] = (distributed.KilledWorker,)
        # Of a lost scheduler it tells by tracebacks, and this program in a line.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self._address, self._most = address, most
        try:
            self._client = distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, ValueError, ImportError) as error:
            raise MatchError(f"--cluster: there is no scheduler at {address}: {error}") from None
        self._executor = self._client.get_executor(pure=False)

    def capacity(self) -> int:
        """See `Workers.capacity`; workers may come and go."""
        threads = sum(self._client.nthreads().values()) if self._client.status == "running" else 0
        return max(1, threads if self._most is None else min(threads, self._most))

    def submit(self, task: GameTask) -> "Future[Played]":
        """See `Workers.submit`."""
        return self.run(play, task)

    def run(self, work: Callable[[T], R], task: T) -> "Future[R]":
        """See `ProcessPool.run`."""
        if self._client.status != "running":
            raise MatchError(f"the cluster at {self._address} is gone; start again to go on")
        future: Future[R] = self._executor.submit(work, task)
        return future

    def close(self) -> None:
        """See `Workers.close`."""
        self._executor.shutdown(wait=False)
        self._client.close()
