"""The interface of experiments: independent jobs, and a report on their results."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from lab.experiments.experiment_report import Report

FOLDER = "folder"
"""Name of a job's argument, added when the job is handed out: the folder with data that is not in the
program."""

Result = dict[str, Any]
"""A job's result: plain JSON values."""


class Size(StrEnum):
    """The size of a run."""

    SMALL = "small"
    """A minute or less: only a smoke test."""
    FULL = "full"
    """The size reported in docs/research/papers.md."""


@dataclass(frozen=True, slots=True)
class Job:
    """A part of an experiment that one process does alone."""

    name: str
    """Unique within the run, whatever its size; at most 200 characters."""
    arguments: Mapping[str, Any]
    """Plain JSON values that, with the seed, determine the result."""


class Experiment(ABC):
    """One experiment; an instance has no state."""

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    """The paper, with figure or table."""
    version: ClassVar[str]
    """Changes with everything that changes the results."""
    needs: ClassVar[str] = ""
    """The required contents of the folder `FOLDER` for a full run, in words; empty: no folder is read."""

    @abstractmethod
    def jobs(self, size: Size) -> Sequence[Job]:
        """All jobs of a run."""

    @abstractmethod
    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        """Do a job: the same result for the same arguments and seed."""

    @abstractmethod
    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        """The report on the results, also while some are missing.

        Args:
            results: By the job's name.
        """
