"""Runs an experiment: hands out the jobs that have no result yet, and stores each result when it arrives."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from bot.base.errors import DesdemonaError
from bot.experiments.catalogue import get_experiment
from bot.experiments.experiment import FOLDER, Experiment, Job, Result, Size
from storage.database import Database
from storage.experiments.results import ExperimentRun, keep_result, list_results

logger = logging.getLogger(__name__)

MOST_DEATHS = 3
"""Consecutive worker deaths that end the run, per worker."""

OnResult = Callable[[int, int], None]
"""Called with the number of finished jobs and of all, first when the earlier results have been read."""


class ExperimentError(DesdemonaError):
    """The experiment cannot go on; the message says why."""


class JobPool(Protocol):
    """Runs functions in other processes."""

    deaths: tuple[type[BaseException], ...]
    """Exceptions of a future whose worker died."""

    def capacity(self) -> int:
        """Number of tasks that can currently run in parallel."""

    def run(self, work: Callable[[Any], Result], task: Any) -> "Future[Result]":
        """Run a module-level function on a task in a worker."""


def run_of(experiment: Experiment, size: Size, seed: int) -> ExperimentRun:
    """The key under which the results are stored."""
    return ExperimentRun(experiment.name, experiment.version, size.value, seed)


async def run_experiment(
    experiment: Experiment,
    size: Size,
    seed: int,
    database: Database,
    workers: JobPool,
    on_result: OnResult,
    stop: asyncio.Event,
    folder: str | None = None,
) -> dict[str, Result]:
    """Do the jobs that have no result yet.

    Args:
        stop: Ends the run early; running jobs are dropped, and done again when it is resumed.
        folder: What `Experiment.needs` asks for, where the workers see it.

    Returns:
        All results so far by the job's name.

    Raises:
        ExperimentError: A job failed.
        StorageError: A result cannot be stored.
    """
    run, jobs = run_of(experiment, size, seed), experiment.jobs(size)
    given = {} if folder is None else {FOLDER: folder}
    results = await stored_results(database, run, jobs)
    todo = deque(job for job in jobs if job.name not in results)
    on_result(len(results), len(jobs))
    running: dict[asyncio.Future[Result], Job] = {}
    stopped = asyncio.ensure_future(stop.wait())
    deaths = 0
    try:
        while (todo or running) and not stop.is_set():
            capacity = await asyncio.to_thread(workers.capacity)  # a cluster may block
            while todo and len(running) < capacity:
                job = todo.popleft()
                task = (experiment.name, {**job.arguments, **given}, seed)
                running[asyncio.wrap_future(workers.run(do_job, task))] = job
            both: set[asyncio.Future[Any]] = {*running, stopped}
            done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for future in [each for each in running if each in done]:
                job = running.pop(future)
                try:
                    result = future.result()
                except workers.deaths:
                    deaths += 1
                    if deaths >= MOST_DEATHS * capacity:
                        raise ExperimentError(
                            f"{deaths} workers died one after the other; last with {job.name}"
                        ) from None
                    logger.warning("%s: its worker died; doing it again", job.name)
                    todo.appendleft(job)
                    continue
                except DesdemonaError as error:
                    raise ExperimentError(f"{job.name}: {error}") from error
                except Exception as error:
                    raise ExperimentError(f"{job.name}: {type(error).__name__}: {error}") from error
                deaths = 0
                async with database.write() as session:
                    await keep_result(session, run, job.name, result)
                results[job.name] = result
                on_result(len(results), len(jobs))
    finally:
        stopped.cancel()
        for future in running:
            if not future.cancel() and not future.cancelled():
                future.exception()  # retrieved only to silence asyncio
    return results


async def stored_results(database: Database, run: ExperimentRun, jobs: Sequence[Job]) -> dict[str, Result]:
    """The results of these jobs that are in the database."""
    async with database.read() as session:
        kept = await list_results(session, run)
    return {job.name: kept[job.name] for job in jobs if job.name in kept}


def do_job(task: tuple[str, Mapping[str, Any], int]) -> Result:
    """Do a job in a worker; the task is the experiment's name, the job's arguments and the seed."""
    name, arguments, seed = task
    return get_experiment(name).run(arguments, seed)
