"""The interface of experiments: independent jobs, and a report on their results."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from lab.experiments.experiment_report import Report

FOLDER = "folder"
"""Name of the job argument for the folder with external data; the runner adds this argument to each job."""

Result = dict[str, Any]
"""A job's result: plain JSON values."""


class Size(StrEnum):
    """The size of a run."""

    SMALL = "small"
    """A smoke test that takes a minute or less."""
    FULL = "full"
    """The full-size run, whose results are in docs/research/papers.md."""


@dataclass(frozen=True, slots=True)
class Job:
    """One part of an experiment, computed by a single process."""

    name: str
    """Unique within a run; at most 200 characters."""
    arguments: Mapping[str, Any]
    """Plain JSON values that determine the result, together with the seed."""


class Experiment(ABC):
    """An experiment; instances are stateless."""

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    """The paper, and its figure or table."""
    version: ClassVar[str]
    """Version of the experiment; change it whenever results change."""
    needs: ClassVar[str] = ""
    """Description of the data that a full run reads from the folder `FOLDER`; empty if it needs no files."""

    @abstractmethod
    def jobs(self, size: Size) -> Sequence[Job]:
        """All jobs of a run."""

    @abstractmethod
    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        """Run a job; the same arguments and seed always give the same result."""

    @abstractmethod
    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        """The report on the results; some results may be missing.

        Args:
            results: Results, keyed by job name.
        """
