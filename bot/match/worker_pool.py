"""Where match games are played: in processes on this machine, or on a Dask cluster.

Workers play and hand back, and know nothing of the database.  One that dies takes its game along, which is
then played again; nobody else notices.  They do other work of many small parts as well (`run`).
"""

import atexit
import contextlib
import importlib
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Any, Protocol, TypeVar

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


class LocalWorkers:
    """Processes on this machine.

    They are started afresh, not forked (a fork takes locks along that other threads hold).  Ctrl-C is for the
    one process that runs the match; they never hear of it.  They end at once when that process ends, however
    that comes about: they hold the reading end of a pipe whose other end only it holds.
    """

    deaths: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._leash, self._hold = multiprocessing.Pipe(duplex=False)
        self._pool = self._new_pool()

    def capacity(self) -> int:
        """See `Workers.capacity`."""
        return self._processes

    def submit(self, task: GameTask) -> "Future[Played]":
        """See `Workers.submit`."""
        return self.run(play, task)

    def run(self, work: Callable[[T], R], task: T) -> "Future[R]":
        """Have something done: a function of a module, and what it is to be given."""
        with _sigint_blocked():  # a new process has it blocked from its first moment on
            try:
                return self._pool.submit(work, task)
            except BrokenProcessPool:  # when one process dies, all the others are ended
                self._pool.shutdown()
                self._pool = self._new_pool()
                return self._pool.submit(work, task)

    def close(self) -> None:
        """See `Workers.close`."""
        self._hold.close()
        self._pool.shutdown(cancel_futures=True)
        self._leash.close()

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._processes,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(self._leash,),
        )


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
        """See `LocalWorkers.run`."""
        if self._client.status != "running":
            raise MatchError(f"the cluster at {self._address} is gone; start again to go on")
        future: Future[R] = self._executor.submit(work, task)
        return future

    def close(self) -> None:
        """See `Workers.close`."""
        self._executor.shutdown(wait=False)
        self._client.close()


@contextlib.contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Processes that this thread starts inherit it; a signal that comes meanwhile is heard later."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(leash: Connection) -> None:
    """In a new process."""
    # It leaves without taking the interpreter apart, of which the core would complain while the thread runs.
    atexit.register(os._exit, 0)
    threading.Thread(target=_follow, args=(leash,), name="leash", daemon=True).start()


def _follow(leash: Connection) -> None:
    with contextlib.suppress(OSError, EOFError):
        leash.recv_bytes()  # nobody ever sends anything: it ends with the other end
    os._exit(1)  # other programs that play here end when we do
