"""Runs an experiment: distributes the jobs that have no result yet, and stores each result on arrival."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from bot.base.errors import DesdemonaError
from bot.base.rounding import plural
from bot.workers.jobs import finished_jobs
from bot.workers.pools import Workers
from lab.experiments.catalogue import get_experiment
from lab.experiments.experiment import FOLDER, Experiment, Job, Result, Size
from lab.experiments.experiment_results import ExperimentRun, finished_between, keep_result, list_results
from storage.database import Database


@dataclass(frozen=True, slots=True)
class RunState:
    """The progress of a run, for its report."""

    run: ExperimentRun
    done: int
    jobs: int
    finished: tuple[datetime, datetime] | None
    """Times at which the first and the last job finished; None if no job has finished."""

    @property
    def text(self) -> str:
        """The progress as one line of text."""
        run, at = self.run, ""
        if self.finished is not None:
            at = ", {:%Y-%m-%d %H:%M} to {:%Y-%m-%d %H:%M} UTC".format(*self.finished)
        part = "" if self.done == self.jobs else "**Incomplete**: "
        of = f"{self.done} of {plural(self.jobs, 'job')}"
        return f"{part}{run.size}, seed {run.seed}, version {run.version}: {of}{at}"

    def to_json(self) -> dict[str, Any]:
        """The progress as plain JSON values."""
        times = [None, None] if self.finished is None else [each.isoformat() for each in self.finished]
        return {**asdict(self.run), "done": self.done, "jobs": self.jobs, "first": times[0], "last": times[1]}


class ExperimentError(DesdemonaError):
    """The experiment cannot continue; the message says why."""


def run_of(experiment: Experiment, size: Size, seed: int) -> ExperimentRun:
    """The key under which the results are stored."""
    return ExperimentRun(experiment.name, experiment.version, size.value, seed)


async def run_experiment(
    experiment: Experiment,
    size: Size,
    seed: int,
    database: Database,
    workers: Workers,
    on_count: Callable[[int], None],
    stop: asyncio.Event,
    folder: str | None = None,
) -> dict[str, Result]:
    """Run the jobs that have no result yet.

    Args:
        on_count: Called with the number of earlier results, then with 1 after each new result.
        stop: Set to end the run early; unfinished jobs are abandoned and start again when the run resumes.
        folder: Folder with the data of `Experiment.needs`, readable by the workers.

    Returns:
        All results so far, keyed by job name.

    Raises:
        ExperimentError: A job failed.
        StorageError: A result cannot be stored.
        WorkersError: The workers keep crashing, or the cluster has become unavailable.
    """
    run, jobs = run_of(experiment, size, seed), experiment.jobs(size)
    given = {} if folder is None else {FOLDER: folder}
    results = await stored_results(database, run, jobs)
    todo = [job for job in jobs if job.name not in results]
    on_count(len(results))

    def start(job: Job) -> Future[Result]:
        return workers.run(do_job, (experiment.name, {**job.arguments, **given}, seed))

    finished = finished_jobs(todo, start, lambda job: job.name, workers, stop)
    async with aclosing(finished):
        async for batch in finished:
            for job, future in batch:
                try:
                    result = future.result()
                except DesdemonaError as error:
                    raise ExperimentError(f"{job.name}: {error}") from error
                except Exception as error:
                    raise ExperimentError(f"{job.name}: {type(error).__name__}: {error}") from error
                async with database.write() as session:
                    await keep_result(session, run, job.name, result)
                results[job.name] = result
                on_count(1)
    return results


async def stored_results(database: Database, run: ExperimentRun, jobs: Sequence[Job]) -> dict[str, Result]:
    """The stored results of these jobs."""
    async with database.read() as session:
        results = await list_results(session, run)
    return {job.name: results[job.name] for job in jobs if job.name in results}


async def state_of(
    database: Database, run: ExperimentRun, results: Mapping[str, Result], jobs: Sequence[Job]
) -> RunState:
    """The progress of a run."""
    async with database.read() as session:
        return RunState(run, len(results), len(jobs), await finished_between(session, run))


def do_job(task: tuple[str, Mapping[str, Any], int]) -> Result:
    """Run a job in a worker; the task consists of the experiment's name, the job's arguments and the seed."""
    name, arguments, seed = task
    return get_experiment(name).run(arguments, seed)
