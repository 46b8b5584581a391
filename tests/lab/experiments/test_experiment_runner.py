import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, ClassVar

import pytest

from bot.workers.pools import WorkersError
from lab.experiments import experiment_runner as runner
from lab.experiments.experiment import Experiment, Job, Result, Size
from lab.experiments.experiment_report import Report
from lab.experiments.experiment_runner import ExperimentError, run_experiment
from storage.database import Database


class WorkerDeath(Exception):
    """A worker's end, in these tests."""


class Doubles(Experiment):
    """Doubles numbers."""

    name: ClassVar = "doubles"
    title: ClassVar = "Doubles"
    source: ClassVar = "none"
    version: ClassVar = "1"

    def jobs(self, size: Size) -> Sequence[Job]:
        return [Job(f"job {n}", {"n": n}) for n in range(3 if size is Size.SMALL else 6)]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        if arguments["n"] < 0:
            raise ValueError("negative")
        return {"twice": 2 * arguments["n"] + seed}

    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        raise NotImplementedError


class InlinePool:
    """Does a job when it is handed out."""

    deaths: tuple[type[BaseException], ...] = (WorkerDeath,)

    def __init__(self, deaths: int = 0) -> None:
        self.done: list[int] = []
        self.left = deaths

    def capacity(self) -> int:
        return 2

    def run(self, work: Callable[[Any], Any], task: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        self.done.append(task[1]["n"])
        try:
            if self.left:
                self.left -= 1
                raise WorkerDeath
            future.set_result(work(task))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture(autouse=True)
def doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "get_experiment", lambda _: Doubles())


async def run(
    database: Database, pool: InlinePool, size: Size = Size.SMALL, seed: int = 1
) -> tuple[dict[str, Result], list[int]]:
    counts: list[int] = []
    results = await run_experiment(Doubles(), size, seed, database, pool, counts.append, asyncio.Event())
    return results, counts


async def test_every_result_is_stored_and_a_run_goes_on_from_there(database: Database) -> None:
    small, large = InlinePool(), InlinePool()
    results, counts = await run(database, small)
    assert results == {"job 0": {"twice": 1}, "job 1": {"twice": 3}, "job 2": {"twice": 5}}
    assert counts == [0, 1, 1, 1]
    again = InlinePool()
    assert await run(database, again) == (results, [3])
    assert again.done == []
    assert len((await run(database, large, Size.FULL))[0]) == 6
    assert large.done == [0, 1, 2, 3, 4, 5]  # sizes are runs of their own
    assert (await run(database, InlinePool(), seed=5))[0]["job 0"] == {"twice": 5}


async def test_a_job_whose_worker_died_is_done_again(database: Database) -> None:
    pool = InlinePool(deaths=2)
    assert len((await run(database, pool))[0]) == 3
    assert sorted(pool.done) == [0, 0, 1, 1, 2]
    with pytest.raises(WorkersError, match="workers died in a row, the last one with job"):
        await run(database, InlinePool(deaths=99), seed=2)


async def test_a_failing_job_is_named(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Doubles, "jobs", lambda *_: [Job("bad", {"n": -1})])
    with pytest.raises(ExperimentError, match="bad: ValueError: negative"):
        await run(database, InlinePool())


async def test_a_stopped_run_hands_out_nothing_more(database: Database) -> None:
    stop, pool = asyncio.Event(), InlinePool()

    def on_count(more: int) -> None:
        if more:
            stop.set()

    await run_experiment(Doubles(), Size.FULL, 1, database, pool, on_count, stop)
    assert len(pool.done) < 6
    assert len((await run(database, pool, Size.FULL))[0]) == 6
