"""Stores the result of each job of an experiment, so that a stopped run can be resumed."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.inserts import insert_new
from storage.tables.experiments import ExperimentResultRow
from storage.tables.types import now_utc


@dataclass(frozen=True, slots=True)
class ExperimentRun:
    """Identifies a run of an experiment; all results with the same key belong to one run."""

    experiment: str
    version: str
    """Version of the experiment; a change that alters results needs a new version."""
    size: str
    seed: int


async def keep_result(session: AsyncSession, run: ExperimentRun, job: str, result: dict[str, Any]) -> None:
    """Store a job's result, unless a result of this job is already stored."""
    await insert_new(
        session, ExperimentResultRow, **asdict(run), job=job, result=result, finished_at=now_utc()
    )


async def list_results(session: AsyncSession, run: ExperimentRun) -> dict[str, dict[str, Any]]:
    """The results of a run's finished jobs, by job name."""
    row = ExperimentResultRow
    statement = select(row.job, row.result).where(*_of(run))
    return {found.job: found.result for found in await session.execute(statement)}


async def finished_between(session: AsyncSession, run: ExperimentRun) -> tuple[datetime, datetime] | None:
    """Earliest and latest finishing time of a run's jobs; None if no job has finished."""
    at = ExperimentResultRow.finished_at
    first, last = (await session.execute(select(func.min(at), func.max(at)).where(*_of(run)))).one()
    return None if first is None else (first, last)


def _of(run: ExperimentRun) -> list[ColumnElement[bool]]:
    return [getattr(ExperimentResultRow, name) == value for name, value in asdict(run).items()]
