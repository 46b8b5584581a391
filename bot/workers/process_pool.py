"""A pool of worker processes, any of which may die at any time.

This module imports little, so that a replacement for a dead process starts quickly.
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

_KILL_TIMEOUT_S = 10.0
"""Maximum time to wait for a killed process to end, in seconds; a slow disk or network drive may delay it."""


class WorkerDied(Exception):
    """The worker process ended before returning a result."""


class ProcessPool:
    """Worker processes on this machine; for each, a thread of the owner sends jobs and waits for results.

    The worker processes share nothing: each has its own pipe to us, and there are no locks. Whenever a
    process dies, only its own job fails. Pools whose processes share queues (the standard library's,
    loky, Pebble) cannot guarantee that: a process killed in the middle of a message leaves half of it in the
    queue, or a lock that is never released, and the other processes wait forever.

    Processes are spawned, not forked (a fork copies locks that other threads hold). Ctrl-C reaches only the
    process that owns the pool; the workers block the signal. The workers end immediately when the owner
    ends or crashes, because their pipes close.
    """

    def __init__(self, processes: int) -> None:
        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="worker")
        self._lock = threading.Lock()
        """Guards the next three attributes, and multiprocessing while processes are started or reaped."""
        self._idle: list[_Process] = []
        self._alive: set[_Process] = set()
        self._is_closed = False

    def run(self, work: Callable[[T], R], task: T) -> "Future[R]":
        """Run a module-level function on a task in a worker."""
        return self._threads.submit(self._run_task, work, task)

    def close(self) -> None:
        """Kill all processes immediately; waiting tasks are cancelled and running tasks fail."""
        with self._lock:
            self._is_closed = True
            for process in self._alive:
                process.kill()
        self._threads.shutdown(cancel_futures=True)  # each thread sees its pipe close, and reaps its process
        for process in self._idle:
            self._discard_process(process)
        self._idle.clear()

    def _run_task(self, work: Callable[[T], R], task: T) -> R:
        """Run one task, in a thread of this process."""
        job = pickle.dumps((work, task))
        process = self._acquire_process()
        try:
            answer = process.run(job)
        except (EOFError, OSError):
            self._discard_process(process)
            raise WorkerDied("a worker died") from None
        self._idle.append(process)
        is_done, result = pickle.loads(answer)  # noqa: S301 - from our own process
        if not is_done:
            raise cast(Exception, result)
        return cast(R, result)

    def _acquire_process(self) -> "_Process":
        """Return an idle process, or a new one."""
        with contextlib.suppress(IndexError):  # the list is empty
            while not (process := self._idle.pop()).is_alive():
                self._discard_process(process)
            return process
        with self._lock:
            if self._is_closed:
                raise WorkerDied("the workers are closed")
            process = _Process()
            self._alive.add(process)
            return process

    def _discard_process(self, process: "_Process") -> None:
        with self._lock:
            self._alive.discard(process)
            process.end()


class _Process:
    """The owner's handle to a worker process."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        resource_tracker.ensure_running()  # starting it later would unblock the signal
        self._pipe, theirs = context.Pipe()
        # A daemon ends with this process, even if the pool is never closed.
        self._process = context.Process(target=_serve, args=(theirs,), name="worker", daemon=True)
        try:
            with _block_sigint():  # the new process starts with it blocked
                self._process.start()
        except BaseException:
            self._pipe.close()
            raise
        finally:
            theirs.close()  # so that the pipe closes when the process ends

    def run(self, job: bytes) -> bytes:
        """Send a job and wait for its result.

        Raises:
            EOFError, OSError: The process died.
        """
        self._pipe.send_bytes(job)
        return self._pipe.recv_bytes()

    def is_alive(self) -> bool:
        """Whether the process is alive; valid only between jobs, when a readable pipe means that it ended."""
        return not self._pipe.poll()

    def kill(self) -> None:
        """Kill the process, which releases the thread that waits for its result."""
        self._process.kill()
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self._pipe.fileno())) as pipe:
            pipe.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Kill the process and release its resources."""
        self._process.kill()
        self._pipe.close()
        if not wait([self._process.sentinel], _KILL_TIMEOUT_S):
            logger.warning("process %d was killed but has not exited", self._process.pid)
            return
        self._process.join()
        with contextlib.suppress(ValueError):  # `multiprocessing.active_children` is reaping it
            self._process.close()


def _serve(pipe: Connection) -> None:
    """Main function of a worker process: runs one job after another."""
    jobs: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, jobs), name="pipe", daemon=True).start()
    try:
        while True:
            pipe.send_bytes(_answer(jobs.get()))
    finally:
        os._exit(1)  # as in `_listen`


def _listen(pipe: Connection, jobs: "SimpleQueue[bytes]") -> None:
    """Receive jobs; end the process immediately when the pipe closes."""
    with contextlib.suppress(OSError, EOFError):
        while True:
            jobs.put(pipe.recv_bytes())
    # Skip the interpreter's shutdown, which the core does not tolerate during a search. Programs that this
    # process runs end with it.
    os._exit(1)


def _answer(job: bytes) -> bytes:
    """Run a job; return whether it succeeded, with its result or its exception."""
    try:
        work, task = pickle.loads(job)  # noqa: S301 - from the process that started us
        return pickle.dumps((True, work(task)))
    except Exception as error:
        error.add_note(f"in a worker: {traceback.format_exc()}")
        try:
            answer = pickle.dumps((False, error))
            pickle.loads(answer)  # noqa: S301 - a result that cannot be unpickled must not be sent
            return answer
        except Exception:  # it cannot be pickled
            plain = RuntimeError(f"{type(error).__name__}: {error}")
            plain.add_note(f"in a worker: {traceback.format_exc()}")
            return pickle.dumps((False, plain))


@contextlib.contextmanager
def _block_sigint() -> Iterator[None]:
    """Context manager that blocks SIGINT in this thread and in processes started there; a pending signal is
    delivered at the end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
