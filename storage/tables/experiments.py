"""The table of experiment results.

The statistics of the bot's own games use other tables and never read this one.
"""

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base
from storage.tables.types import BigInt, IntPk, JsonColumn, KeyColumn, NameColumn, UtcTime


class ExperimentResultRow(Base):
    """The result of one job of a run; the run's fields (`lab.experiments.experiment_results.ExperimentRun`)
    are columns."""

    __tablename__ = "experiment_results"
    __table_args__ = (UniqueConstraint("experiment", "version", "size", "seed", "job"),)

    id: Mapped[IntPk]
    experiment: Mapped[KeyColumn]
    version: Mapped[KeyColumn]
    size: Mapped[KeyColumn]
    seed: Mapped[int] = mapped_column(BigInt)
    # The job's name within the run.
    job: Mapped[NameColumn]
    # The job's result, in the form that the experiment's report reads.
    result: Mapped[JsonColumn]
    finished_at: Mapped[UtcTime]
