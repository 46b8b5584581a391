"""Work in other processes, any of which may die at any time.

It imports little, so that a process that takes the place of a dead one starts soon.
"""

import contextlib
import logging
import multiprocessing
import os
import pickle
import signal
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from typing import TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")

logger = logging.getLogger(__name__)

_KILLED_S = 10.0
"""How long a killed process may take to end: it can't refuse, but a disk or a network drive may hold it."""


class WorkerDied(Exception):
    """The process that was at work has ended before it gave an answer."""


class ProcessPool:
    """Processes on this machine, each with a thread of this process that waits for its answers.

    A process shares nothing with the others: it has a line of its own to us, and no lock.  So one that dies,
    at whatever moment, fails what it was doing and nothing else.  Pools whose processes share queues (the
    standard library's, loky, Pebble) can't promise that: a process that is killed in the middle of a message
    leaves half of it in the queue, or a lock that nobody opens, and the others wait for ever.

    Processes are started afresh, not forked (a fork takes locks along that other threads hold).  Ctrl-C is
    for the one process that owns the pool; they never hear of it.  They end at once when that process ends,
    however that comes about, since then their lines do.
    """

    def __init__(self, processes: int) -> None:
        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="worker")
        self._lock = threading.Lock()
        """For the next three, and to start and reap, of which multiprocessing keeps a common record."""
        self._idle: list[_Process] = []
        self._alive: set[_Process] = set()
        self._is_closed = False

    def run(self, work: Callable[[T], R], task: T) -> "Future[R]":
        """Have something done: a function of a module, and what it is to be given."""
        return self._threads.submit(self._do, work, task)

    def close(self) -> None:
        """End the processes at once, whatever they are doing; what waits is cancelled, the rest has died."""
        with self._lock:
            self._is_closed = True
            for process in self._alive:
                process.kill()
        self._threads.shutdown(cancel_futures=True)  # they hear of it, and reap theirs
        for process in self._idle:
            self._reap(process)
        self._idle.clear()

    def _do(self, work: Callable[[T], R], task: T) -> R:
        """In a thread of ours."""
        job = pickle.dumps((work, task))
        process = self._take()
        try:
            answer = process.ask(job)
        except (EOFError, OSError):
            self._reap(process)
            raise WorkerDied("a worker died") from None
        self._idle.append(process)
        is_done, result = pickle.loads(answer)  # noqa: S301 - from a process of our own
        if not is_done:
            raise cast(Exception, result)
        return cast(R, result)

    def _take(self) -> "_Process":
        """One that is idle, or a new one."""
        with contextlib.suppress(IndexError):  # of an empty list
            while not (process := self._idle.pop()).is_alive():
                self._reap(process)
            return process
        with self._lock:
            if self._is_closed:
                raise WorkerDied("the workers are closed")
            process = _Process()
            self._alive.add(process)
            return process

    def _reap(self, process: "_Process") -> None:
        with self._lock:
            self._alive.discard(process)
            process.end()


class _Process:
    """A process that works, as its owner sees it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        resource_tracker.ensure_running()  # it unblocks the signal when it has to be started
        self._line, theirs = context.Pipe()
        # As a daemon it ends with this process in any case, also where nobody closes the pool.
        self._process = context.Process(target=_serve, args=(theirs,), name="worker", daemon=True)
        try:
            with _sigint_blocked():  # a new process has it blocked from its first moment on
                self._process.start()
        except BaseException:
            self._line.close()
            raise
        finally:
            theirs.close()  # so that the line ends when the process does

    def ask(self, job: bytes) -> bytes:
        """Have a job done, and wait for the answer.

        Raises:
            EOFError, OSError: The process died.
        """
        self._line.send_bytes(job)
        return self._line.recv_bytes()

    def is_alive(self) -> bool:
        """Whether it lived until now, asked between two jobs; then all there can be to read is its end."""
        return not self._line.poll()

    def kill(self) -> None:
        """Kill it, and let whoever waits for its answer go."""
        self._process.kill()
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self._line.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Kill it, and leave nothing of it behind."""
        self._process.kill()
        self._line.close()
        if not wait([self._process.sentinel], _KILLED_S):
            logger.warning("process %d does not end though it was killed", self._process.pid)
            return
        self._process.join()
        with contextlib.suppress(ValueError):  # just being reaped by `multiprocessing.active_children`
            self._process.close()


def _serve(line: Connection) -> None:
    """In a new process: do what one is told, one job after the other."""
    jobs: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(line, jobs), name="line", daemon=True).start()
    try:
        while True:
            line.send_bytes(_answer(jobs.get()))
    finally:
        os._exit(1)  # as in `_listen`


def _listen(line: Connection, jobs: "SimpleQueue[bytes]") -> None:
    """Take jobs in; the process ends with the line, whatever it is doing."""
    with contextlib.suppress(OSError, EOFError):
        while True:
            jobs.put(line.recv_bytes())
    # The interpreter is not taken apart, of which the core would complain while it is at work; other programs
    # that play here end when we do.
    os._exit(1)


def _answer(job: bytes) -> bytes:
    """Whether the job was done, and its result or what it raised."""
    try:
        work, task = pickle.loads(job)  # noqa: S301 - from the process that has started us
        return pickle.dumps((True, work(task)))
    except Exception as error:
        error.add_note(f"in a worker: {traceback.format_exc()}")
        try:
            answer = pickle.dumps((False, error))
            pickle.loads(answer)  # noqa: S301 - what cannot be read again must not be sent
            return answer
        except Exception:  # it holds what can't be sent
            plain = RuntimeError(f"{type(error).__name__}: {error}")
            plain.add_note(f"in a worker: {traceback.format_exc()}")
            return pickle.dumps((False, plain))


@contextlib.contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Processes that this thread starts inherit it; a signal that comes meanwhile is heard later."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
