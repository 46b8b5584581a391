"""Processes that work for us, and die.  Waits have an end only so that a fault is told, not waited for."""

import multiprocessing.spawn
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from bot.base.process_pool import ProcessPool, WorkerDied

LONG_S = 300.0


def pid(_: object) -> int:
    return os.getpid()


def die(_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_half_told(_: object) -> bytes:
    """The process is killed in the middle of its answer."""

    def send(line: Connection, data: Any) -> None:
        os.write(line.fileno(), bytes(data)[: len(data) // 2])
        die(None)

    Connection._send = send  # type: ignore[attr-defined]
    return bytes(1_000)


def wait_for(place: Path) -> str:
    """Tell that we are at work, and wait until we are told to end."""
    with (place / "told").open("w") as told:
        told.write(f"{os.getpid()}\n")
    with (place / "go").open() as go:
        return go.readline()


def fail(_: object) -> None:
    raise ValueError("on purpose")


class Odd(Exception):
    """It can be sent, and not be read again."""

    def __init__(self, what: str, number: int) -> None:
        super().__init__(f"{what} {number}")


def fail_oddly(_: object) -> None:
    raise Odd("odd", 1)


def fail_with_a_lock(_: object) -> None:
    error = ValueError("holds what can't be sent")
    error.lock = threading.Lock()  # type: ignore[attr-defined]
    raise error


def answer_oddly(_: object) -> object:
    return lambda: None


def mask(_: object) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def leave(_: object) -> None:
    sys.exit("by itself")


@pytest.fixture
def pool() -> Iterator[ProcessPool]:
    made = ProcessPool(2)
    yield made
    made.close()


class Place:
    """Where a job says that it is at work, and waits to be told to end: two pipes with names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("told", "go"):
            os.mkfifo(folder / name)
        # For both directions, so that opening waits for nobody.
        self.told = os.open(folder / "told", os.O_RDWR)
        self.go = os.open(folder / "go", os.O_RDWR)

    def job(self, pool: ProcessPool) -> tuple["Future[str]", int]:
        """A job that has begun, and the process that does it."""
        job = pool.run(wait_for, self.folder)
        assert select.select([self.told], [], [], LONG_S)[0], "it has not begun"
        return job, int(os.read(self.told, 100))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    os.close(made.told)
    os.close(made.go)


def gone(worker: int) -> bool:
    try:
        os.kill(worker, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("death", [die, die_half_told, leave])
def test_a_process_that_dies_fails_its_own_job_alone(pool: ProcessPool, place: Place, death: Any) -> None:
    job, worker = place.job(pool)
    for _ in range(2):
        with pytest.raises(WorkerDied):
            pool.run(death, None).result(LONG_S)
    assert pool.run(pid, None).result(LONG_S) != worker
    os.write(place.go, b"go\n")
    assert job.result(LONG_S) == "go\n"


def test_one_that_dies_while_it_starts(pool: ProcessPool, monkeypatch: pytest.MonkeyPatch) -> None:
    resource_tracker.ensure_running()  # which is started in the same way
    with monkeypatch.context() as patched:
        patched.setattr(multiprocessing.spawn, "_python_exe", b"/bin/false")
        with pytest.raises(WorkerDied):
            pool.run(pid, None).result(LONG_S)
    assert pool.run(pid, None).result(LONG_S) != os.getpid()


def test_one_that_dies_between_two_jobs_costs_nothing(pool: ProcessPool) -> None:
    worker = pool.run(pid, None).result(LONG_S)
    os.kill(worker, signal.SIGKILL)
    os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)
    assert pool.run(pid, None).result(LONG_S) != worker
    assert gone(worker)


def test_a_job_that_fails_leaves_its_process_to_others() -> None:
    pool = ProcessPool(1)
    worker = pool.run(pid, None).result(LONG_S)
    with pytest.raises(ValueError, match="on purpose") as caught:
        pool.run(fail, None).result(LONG_S)
    assert "in fail\n" in caught.value.__notes__[0]
    with pytest.raises(TypeError, match="missing 1 required"):
        pool.run(fail_oddly, None).result(LONG_S)
    with pytest.raises(RuntimeError, match="ValueError: holds what can't be sent"):
        pool.run(fail_with_a_lock, None).result(LONG_S)
    with pytest.raises(AttributeError, match="Can't pickle"):
        pool.run(answer_oddly, None).result(LONG_S)
    with pytest.raises(AttributeError, match="Can't pickle"):
        pool.run(pid, lambda: None).result(LONG_S)
    assert pool.run(pid, None).result(LONG_S) == worker
    pool.close()


@pytest.mark.parametrize("is_stopped", [False, True])
def test_closing_ends_all_at_once(place: Place, is_stopped: bool) -> None:
    pool = ProcessPool(1)
    job, worker = place.job(pool)
    waiting = pool.run(pid, None)
    if is_stopped:
        os.kill(worker, signal.SIGSTOP)
    pool.close()
    assert gone(worker)
    with pytest.raises(WorkerDied):
        job.result(LONG_S)
    with pytest.raises(CancelledError):
        waiting.result(LONG_S)
    pool.close()  # twice does no harm


def test_closing_ends_idle_ones(pool: ProcessPool) -> None:
    worker = pool.run(pid, None).result(LONG_S)
    pool.close()
    assert gone(worker)
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.run(pid, None)


def test_closing_while_a_process_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that has its turn after the pool was closed starts nothing."""
    pool = ProcessPool(1)
    take = pool._take

    def closed_first() -> Any:
        with pool._lock:
            pool._is_closed = True
        return take()

    monkeypatch.setattr(pool, "_take", closed_first)
    with pytest.raises(WorkerDied, match="are closed"):
        pool.run(pid, None).result(LONG_S)
    assert not pool._alive
    pool.close()


SCRIPT = """
import sys
from bot.base.process_pool import ProcessPool
from tests.bot.base import test_process_pool as jobs

if __name__ == "__main__":
    pool = ProcessPool(2)
    print(pool.run(jobs.mask, None).result(), flush=True)  # of the very first one
    pool.run(jobs.forever, None).result()
"""


def forever(_: object) -> None:
    print("at work", flush=True)  # noqa: T201 - read below
    while True:
        pass


def test_processes_hear_of_no_ctrl_c_and_end_with_their_owner() -> None:
    """Also with one that is killed; its output ends when the last of them has ended."""
    root = Path(__file__).parents[3]
    owner = subprocess.Popen([sys.executable, "-c", SCRIPT], cwd=root, stdout=subprocess.PIPE, text=True)
    net = threading.Timer(LONG_S, owner.kill)
    net.start()
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "True\n"
        assert owner.stdout.readline() == "at work\n"
    finally:
        net.cancel()
        owner.kill()
    told, _ = owner.communicate(timeout=LONG_S)
    assert told == ""
