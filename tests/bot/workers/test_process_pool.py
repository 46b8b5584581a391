"""Worker processes, and their deaths.  Waits have time-outs only so that a fault does not hang the test."""

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
from pathlib import Path
from typing import Any

import pytest

from bot.workers.process_pool import ProcessPool, WorkerDied
from tests.bot.workers import jobs

LONG_S = 300.0


@pytest.fixture
def pool() -> Iterator[ProcessPool]:
    made = ProcessPool(2)
    yield made
    made.close()


class Place:
    """Two named pipes: on one a job reports that it runs, on the other it waits for permission to end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("told", "go"):
            os.mkfifo(folder / name)
        # For both directions, so that opening does not block.
        self.told = os.open(folder / "told", os.O_RDWR)
        self.go = os.open(folder / "go", os.O_RDWR)

    def job(self, pool: ProcessPool) -> tuple["Future[str]", int]:
        """Start a job; return its future and the process that runs it."""
        job = pool.run(jobs.wait_for, self.folder)
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


@pytest.mark.parametrize("death", [jobs.die, jobs.die_half_told, jobs.leave])
def test_a_process_that_dies_fails_its_own_job_alone(pool: ProcessPool, place: Place, death: Any) -> None:
    job, worker = place.job(pool)
    for _ in range(2):
        with pytest.raises(WorkerDied):
            pool.run(death, None).result(LONG_S)
    assert pool.run(jobs.pid, None).result(LONG_S) != worker
    os.write(place.go, b"go\n")
    assert job.result(LONG_S) == "go\n"


def test_one_that_dies_while_it_starts(pool: ProcessPool, monkeypatch: pytest.MonkeyPatch) -> None:
    resource_tracker.ensure_running()  # it is started in the same way
    with monkeypatch.context() as patched:
        patched.setattr(multiprocessing.spawn, "_python_exe", b"/bin/false")
        with pytest.raises(WorkerDied):
            pool.run(jobs.pid, None).result(LONG_S)
    assert pool.run(jobs.pid, None).result(LONG_S) != os.getpid()


def test_one_that_dies_between_two_jobs_costs_nothing(pool: ProcessPool) -> None:
    worker = pool.run(jobs.pid, None).result(LONG_S)
    os.kill(worker, signal.SIGKILL)
    os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)
    assert pool.run(jobs.pid, None).result(LONG_S) != worker
    assert gone(worker)


def test_a_job_that_fails_leaves_its_process_to_others() -> None:
    pool = ProcessPool(1)
    worker = pool.run(jobs.pid, None).result(LONG_S)
    with pytest.raises(ValueError, match="on purpose") as caught:
        pool.run(jobs.fail, None).result(LONG_S)
    assert "in fail\n" in caught.value.__notes__[0]
    with pytest.raises(RuntimeError, match="Odd: ") as caught_oddly:
        pool.run(jobs.fail_oddly, None).result(LONG_S)
    assert "in fail_oddly\n" in caught_oddly.value.__notes__[0]
    with pytest.raises(RuntimeError, match="ValueError: holds what can't be sent"):
        pool.run(jobs.fail_with_a_lock, None).result(LONG_S)
    with pytest.raises(AttributeError, match="local object"):
        pool.run(jobs.answer_oddly, None).result(LONG_S)
    with pytest.raises(AttributeError, match="local object"):
        pool.run(jobs.pid, lambda: None).result(LONG_S)
    assert pool.run(jobs.pid, None).result(LONG_S) == worker
    pool.close()


@pytest.mark.parametrize("is_stopped", [False, True])
def test_closing_ends_all_at_once(place: Place, is_stopped: bool) -> None:
    pool = ProcessPool(1)
    job, worker = place.job(pool)
    waiting = pool.run(jobs.pid, None)
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
    worker = pool.run(jobs.pid, None).result(LONG_S)
    pool.close()
    assert gone(worker)
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.run(jobs.pid, None)


def test_closing_while_a_process_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job whose turn comes after the pool was closed starts nothing."""
    pool = ProcessPool(1)
    take = pool._acquire_process

    def closed_first() -> Any:
        with pool._lock:
            pool._is_closed = True
        return take()

    monkeypatch.setattr(pool, "_acquire_process", closed_first)
    with pytest.raises(WorkerDied, match="are closed"):
        pool.run(jobs.pid, None).result(LONG_S)
    assert not pool._alive
    pool.close()


SCRIPT = """
import sys
from bot.workers.process_pool import ProcessPool
from tests.bot.workers import jobs

if __name__ == "__main__":
    pool = ProcessPool(2)
    print(pool.run(jobs.mask, None).result(), flush=True)  # of the very first one
    pool.run(jobs.forever, None).result()
"""


def test_processes_hear_of_no_ctrl_c_and_end_with_their_owner() -> None:
    """Even with an owner that is killed; its output ends when the last of them has ended."""
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
