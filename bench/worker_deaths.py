"""Kills hundreds of workers at random moments.

    python -m bench.worker_deaths [--kills 500]

A pool of processes does small jobs, some with long answers, while its processes are killed with SIGKILL: at
work, while starting, and while their pool closes.  A job whose worker died is submitted again.  Then another
pool does the same number of jobs undisturbed.  Exit status 1 if a job was lost or done twice, the work
stalled, or a process was left behind.
"""

import argparse
import asyncio
import contextlib
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bot.workers.process_pool import ProcessPool, WorkerDied

HUNG_S = 60.0
"""Seconds without a completed job or a dead worker after which the work counts as hung."""
KILLS_A_POOL = 25
"""After this many the pool is closed in the middle of its work, and another one continues."""
LONG = 300_000
"""Bytes of a long answer, more than a pipe's buffer: a kill may truncate it."""

Job = tuple[int, int]


def work(job: Job) -> tuple[int, bytes]:
    """A job: a little counting, and an answer of the given size."""
    number, length = job
    return number + 0 * sum(range(20_000)), bytes(length)


class Pool(Protocol):
    """The pool under test."""

    def run(self, work: Callable[[Job], tuple[int, bytes]], task: Job) -> "Future[tuple[int, bytes]]":
        """Submit a job."""

    def close(self) -> None:
        """Close the pool."""


@dataclass
class Told:
    """The results of a run."""

    asked: int = 0
    done: Counter[int] = field(default_factory=Counter)
    deaths: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    hangs: int = 0
    stall_s: float = 0.0
    """Longest stall of the event loop."""
    took_s: float = 0.0


def children() -> dict[int, float]:
    """Our live child processes, with their start times in clock ticks, except multiprocessing's tracker."""
    found = {}
    for task in Path("/proc/self/task").iterdir():
        try:
            pids = (task / "children").read_text().split()
        except OSError:  # the thread has ended
            continue
        for pid in pids:
            try:
                command = Path(f"/proc/{pid}/cmdline").read_bytes()
                stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if b"resource_tracker" not in command and stat[0] != "Z":
                found[int(pid)] = float(stat[19])
    return found


class Strike:
    """One run of jobs by pools of workers, with or without kills."""

    def __init__(
        self, make: Callable[[], Pool], deaths: tuple[type[BaseException], ...], places: int, seed: int
    ) -> None:
        self._make, self._deaths, self._places = make, deaths, places
        self._rng = random.Random(seed)
        self._pool = make()
        self._todo: list[Job] = []
        self._running: dict[asyncio.Future[tuple[int, bytes]], Job] = {}
        self.told = Told()

    async def run(self, kills: int, jobs: int) -> Told:
        """Run until this many kills and at least this many jobs are done; 0 kills: no disturbance."""
        began = time.monotonic()
        monitor = asyncio.create_task(self._monitor())
        killer = asyncio.create_task(self._kill(kills))
        told = self.told
        try:
            while self._running or self._todo or not killer.done() or told.asked < jobs:
                while len(self._running) < 2 * self._places and (
                    self._todo or not killer.done() or told.asked < jobs
                ):
                    self._give()
                if not await self._some_done():
                    told.hangs += 1
                    break
        finally:
            if killer.done():
                killer.result()
            killer.cancel()
            told.took_s = time.monotonic() - began
            self._pool.close()
            await asyncio.sleep(0)
            monitor.cancel()
        return told

    def _give(self) -> None:
        if not self._todo:
            self._todo.append((self.told.asked, LONG if self._rng.random() < 0.25 else 10))
            self.told.asked += 1
        job = self._todo.pop()
        self._running[asyncio.wrap_future(self._pool.run(work, job))] = job

    async def _some_done(self) -> bool:
        running = list(self._running)
        done, _ = await asyncio.wait(running, timeout=HUNG_S, return_when=asyncio.FIRST_COMPLETED)
        for future in done:
            job = self._running.pop(future)
            try:
                number, answer = future.result()
            except self._deaths:
                self.told.deaths += 1
                self._todo.append(job)
            except (asyncio.CancelledError, CancelledError):  # its pool was closed before its turn
                self._todo.append(job)
            else:
                if (number, len(answer)) != job:
                    raise RuntimeError(f"job {job} got the answer of {number}")
                self.told.done[number] += 1
        return bool(done)

    async def _kill(self, kills: int) -> None:
        rng = self._rng
        while self.told.kills.total() < kills:
            if rng.random() < 0.5:  # until some are at work again
                goal = self.told.done.total() + rng.randrange(1, 30)
                while self.told.done.total() < goal:  # noqa: ASYNC110 - on purpose not at once
                    await asyncio.sleep(0.002)
                await asyncio.sleep(rng.uniform(0, 0.01))
                self._strike("at random")
            else:
                await asyncio.sleep(rng.uniform(0, 0.2))
                self._strike("the youngest")
            if self.told.kills.total() % KILLS_A_POOL == KILLS_A_POOL - 1:
                self._close_in_strife()

    def _strike(self, how: str) -> None:
        alive = children()
        if alive:
            victim = (
                max(alive, key=lambda pid: alive[pid])
                if how == "the youngest"
                else self._rng.choice(list(alive))
            )
            self._send_kill(victim, how)

    def _send_kill(self, pid: int, how: str) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.told.kills[how] += 1

    def _close_in_strife(self) -> None:
        """Close the pool while another thread keeps killing its workers, and replace it by a new one."""
        victims = list(children())
        delay_s = self._rng.uniform(0, 0.002)

        def strike() -> None:
            for pid in victims:
                self._send_kill(pid, "while closing")
                time.sleep(delay_s)

        thread = threading.Thread(target=strike)
        thread.start()
        self._pool.close()
        thread.join()
        self._pool = self._make()

    async def _monitor(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            self.told.stall_s = max(self.told.stall_s, time.monotonic() - before - 0.01)


def left_behind() -> int:
    """Number of processes still alive some seconds after the last pool was closed."""
    give_up = time.monotonic() + 10
    while children() and time.monotonic() < give_up:
        time.sleep(0.05)
    return len(children())


def report(struck: Told, alone: Told, left: int) -> bool:
    """Print the results; returns whether the run passed."""
    lost = struck.asked - len(struck.done)
    twice = sum(count > 1 for count in struck.done.values())
    kinds = ", ".join(f"{count} {how}" for how, count in sorted(struck.kills.items()))
    slower = (struck.took_s / len(struck.done)) / (alone.took_s / len(alone.done)) if struck.done else 0.0
    print(f"kills                 {struck.kills.total()} ({kinds})")
    print(f"jobs submitted, done  {struck.asked}, {len(struck.done)}; resubmitted {struck.deaths}")
    print(f"lost, done twice      {lost}, {twice}")
    print(f"hangs                 {struck.hangs}")
    print(f"processes left behind {left}")
    print(
        f"longest stall         {struck.stall_s:.3f} s of the event loop; without kills {alone.stall_s:.3f} s"
    )
    print(f"time                  {struck.took_s:.1f} s; without kills {alone.took_s:.1f} s for as many jobs")
    print(f"time for a job        {slower:.1f} times that without kills")
    return not (lost or twice or struck.hangs or left)


async def _both(
    make: Callable[[], Pool], deaths: tuple[type[BaseException], ...], kills: int, places: int, seed: int
) -> tuple[Told, Told]:
    struck = await Strike(make, deaths, places, seed).run(kills, jobs=0)
    return struck, await Strike(make, deaths, places, seed).run(0, jobs=len(struck.done))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    struck, alone = asyncio.run(
        _both(
            lambda: ProcessPool(options.processes),
            (WorkerDied,),
            options.kills,
            options.processes,
            options.seed,
        )
    )
    if not report(struck, alone, left_behind()):
        sys.exit(1)


if __name__ == "__main__":
    main()
