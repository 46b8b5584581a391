"""Results of experiments: each job's result is stored once, so that a stopped run can be resumed."""

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
    """One run of an experiment; results of the same run belong together."""

    experiment: str
    version: str
    """Changes with everything that changes the results."""
    size: str
    seed: int


async def keep_result(session: AsyncSession, run: ExperimentRun, job: str, result: dict[str, Any]) -> None:
    """Store a job's result; the first one stays."""
    await insert_new(
        session, ExperimentResultRow, **asdict(run), job=job, result=result, finished_at=now_utc()
    )


async def list_results(session: AsyncSession, run: ExperimentRun) -> dict[str, dict[str, Any]]:
    """The results of a run's finished jobs, by the job's name."""
    row = ExperimentResultRow
    statement = select(row.job, row.result).where(*_of(run))
    return {found.job: found.result for found in await session.execute(statement)}


async def finished_between(session: AsyncSession, run: ExperimentRun) -> tuple[datetime, datetime] | None:
    """When the first and the last of a run's jobs were finished; None: none was."""
    at = ExperimentResultRow.finished_at
    first, last = (await session.execute(select(func.min(at), func.max(at)).where(*_of(run)))).one()
    return None if first is None else (first, last)


def _of(run: ExperimentRun) -> list[ColumnElement[bool]]:
    return [getattr(ExperimentResultRow, name) == value for name, value in asdict(run).items()]
