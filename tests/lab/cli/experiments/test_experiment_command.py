"""`desdemona lab` in this process, on an experiment that takes no time."""

import json
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bot.workers import pools
from bot.workers.pools import LocalWorkers
from lab.cli.experiments import experiment_command
from lab.experiments.experiment import Job, Size
from lab.experiments.experiment_report import Report
from lab.experiments.gordon_reda.formulas import Formulas

T = TypeVar("T")
R = TypeVar("R")
Command = Callable[..., tuple[int, str, str]]


class Here(LocalWorkers):
    """Workers without a process of their own, which takes a second to start."""

    def run(self, work: Callable[[T], R], task: T) -> "Future[R]":
        future: Future[R] = Future()
        future.set_running_or_notify_cancel()
        future.set_result(work(task))
        return future


@pytest.fixture(autouse=True)
def here(migrated_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    monkeypatch.setattr(pools, "LocalWorkers", Here)


def test_an_experiment_is_run_once_and_told_as_often_as_one_likes(
    desdemona: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code, out, err = desdemona("lab", "tell", "figures-3-to-5")
    assert (code, out) == (2, "")
    assert "no results for figures-3-to-5 (small, seed 1) in " in err
    assert "run `desdemona lab run figures-3-to-5`, or set" in err
    code, out, err = desdemona("lab", "run", "figures-3-to-5", "--plots", str(tmp_path / "plots"))
    assert (code, err.splitlines()[0][:47]) == (0, "figures-3-to-5: 1 job, small, seed 1; results a")
    assert err.splitlines()[1] == "figures-3-to-5: 1 of 1"
    assert "\n\nsmall, seed 1, version 1: 1 of 1 job, 2" in out
    assert "qualities 60, 0 and 100 (not printed) | holds | 448, 400, -37.5 |" in out
    names = sorted(path.name for path in (tmp_path / "plots").iterdir())
    assert names == ["figures-3-to-5-figure-3.svg", "figures-3-to-5-figure-5.svg"]
    monkeypatch.setattr(Formulas, "run", None)  # it would fail
    assert desdemona("lab", "run", "figures-3-to-5")[:2] == (0, out)
    code, out, _ = desdemona("lab", "tell", "figures-3-to-5", "--format", "json")
    found: dict[str, Any] = json.loads(out)
    assert (found["run"]["seed"], found["run"]["done"], found["run"]["jobs"]) == (1, 1, 1)
    assert [claim["verdict"] for claim in found["claims"]][-1] == "does not hold"
    assert desdemona("lab", "tell", "figures-3-to-5", "--seed", "2")[0] == 2
    code, _, err = desdemona("lab", "tell", "figures-3-to-5", "--full", "--seed", "2")
    assert (code, "`desdemona lab run figures-3-to-5 --full --seed 2`, or set" in err) == (2, True)


def test_the_list_and_names_that_are_not_in_it(desdemona: Command) -> None:
    code, out, _ = desdemona("lab", "list")
    assert code == 0
    assert "pathology: Deeper search that plays worse: board splitting\n" in out
    code, _, err = desdemona("lab", "run", "figure-66")
    assert (code, "unknown experiment 'figure-66'; known: figure-6," in err) == (2, True)


def test_a_signal_stops_it_and_the_same_command_resumes(
    desdemona: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: Formulas, arguments: Mapping[str, Any], seed: int) -> dict[str, Any]:
        assert seed == 1
        if arguments["n"] == 1:
            signal.raise_signal(signal.SIGINT)
        return {"n": arguments["n"]}

    def jobs(_: Formulas, size: Size) -> list[Job]:
        assert size is Size.FULL
        return [Job(f"job {n}", {"n": n}) for n in range(4)]

    monkeypatch.setattr(Formulas, "jobs", jobs)
    monkeypatch.setattr(Formulas, "run", interrupted)
    code, out, err = desdemona("lab", "run", "figures-3-to-5", "--full")
    assert (code, out) == (128 + signal.SIGINT, "")
    assert "stopped; run the same command again to resume" in err
    monkeypatch.setattr(Formulas, "report", lambda *_: Report())
    code, out, err = desdemona("lab", "tell", "figures-3-to-5", "--full")
    assert "**Incomplete**: full, seed 1, version 1: 2 of 4 jobs, 2" in out
    assert "2 of 4 jobs are done; verdicts are based on these" in err


def test_a_full_run_that_reads_files_needs_their_folder(
    desdemona: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[Any] = []

    def looked(_: Formulas, arguments: Mapping[str, Any], seed: int) -> dict[str, Any]:  # noqa: ARG001
        seen.append(arguments)
        return {}

    monkeypatch.setattr(Formulas, "needs", "a file")
    monkeypatch.setattr(Formulas, "run", looked)
    monkeypatch.setattr(Formulas, "report", lambda *_: Report())
    run = ("lab", "run", "figures-3-to-5")
    assert "--full needs --folder with a file" in desdemona("lab", "list")[1]
    code, _, err = desdemona(*run, "--full")
    assert (code, "figures-3-to-5 --full needs --folder with a file" in err) == (2, True)
    code, _, err = desdemona(*run, "--full", "--folder", str(tmp_path / "none"))
    assert (code, "none is not a folder" in err) == (2, True)
    code, _, err = desdemona(*run, "--folder", str(tmp_path))
    assert (code, "figures-3-to-5 (small) needs no files" in err) == (2, True)
    assert desdemona(*run, "--full", "--folder", str(tmp_path))[0] == 0
    assert seen == [{"folder": str(tmp_path.resolve())}]


def test_where_charts_cannot_go_nothing_is_run(
    desdemona: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(experiment_command, "run_experiment", None)
    code, _, err = desdemona("lab", "run", "figures-3-to-5", "--plots", str(tmp_path / "file"))
    assert (code, "file: File exists" in err) == (2, True)
