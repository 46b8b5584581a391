"""Tests of the training of people's networks: tiny ones, on a few dozen games."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from lab.training.people.positions import HumanPositions
from lab.training.people.shapes import NetworkSize
from lab.training.people.training import (
    BadCheckpoint,
    TrainingBatches,
    TrainingRun,
    TrainingSettings,
    choose_device,
)
from tests.lab.training.people.habits import uneven, xiangqi_positions

SIZE = NetworkSize("xiangqi", channels=8, blocks=1)
SETTINGS = TrainingSettings(SIZE, seed=3, batch=32, steps=12, minutes=None)


@pytest.fixture(scope="module")
def positions() -> HumanPositions:
    return xiangqi_positions(12)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def silent(_: str) -> None:
    """Discard progress."""


def stop_after(run: TrainingRun, steps: int) -> Callable[[], bool]:
    return lambda: run.steps >= steps


def held_out_nats(run: TrainingRun, positions: HumanPositions) -> float:
    """Mean log-loss of the network as it stands."""
    batch = TrainingBatches(positions, replace(run.settings, batch=len(positions)))
    found = batch.prepare(0, np.arange(len(positions)))
    run.learner.eval()
    with torch.no_grad():
        moves, _ = run.learner.network(found.board.float(), found.who)
        scores, _ = run._scores(moves, found)
    return float(torch.nn.functional.cross_entropy(scores, found.played))


def test_learning_reduces_the_loss_on_games_it_has_not_seen() -> None:
    positions = xiangqi_positions(24)
    run = TrainingRun(replace(SETTINGS, steps=150))
    before = held_out_nats(run, positions.of(uneven(positions)))
    run.train(positions.of(~uneven(positions)), silent)
    assert held_out_nats(run, positions.of(uneven(positions))) < before - 0.3


def test_a_resumed_run_equals_an_uninterrupted_one(positions: HumanPositions, tmp_path: Path) -> None:
    whole = TrainingRun(SETTINGS)
    whole.train(positions, silent)
    file = tmp_path / "checkpoint"
    first = TrainingRun(SETTINGS)
    first.train(positions, silent, file, is_stopped=stop_after(first, 5))
    rest = TrainingRun(SETTINGS)
    rest.resume(file)
    assert rest.steps == 5
    rest.train(positions, silent, file)
    assert rest.steps == whole.steps == 12
    for name, values in whole.averaged().items():
        assert np.array_equal(values, rest.averaged()[name]), name


_KILLED = """
import os, signal, sys
from pathlib import Path
import torch
from lab.training.people.training import TrainingRun
from tests.lab.training.people.habits import xiangqi_positions
from tests.lab.training.people.test_training import SETTINGS, silent

torch.set_num_threads(1)
file, run = Path(sys.argv[1]), TrainingRun(SETTINGS)

def kill_after_saving():
    if run.steps == 4:
        run.save(file)
    if run.steps == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    return False

run.train(xiangqi_positions(12), silent, is_stopped=kill_after_saving)
"""


def test_a_killed_run_continues_as_if_nothing_had_happened(positions: HumanPositions, tmp_path: Path) -> None:
    file = tmp_path / "checkpoint"
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(file)], check=False)
    assert killed.returncode == -9
    rest, whole = TrainingRun(SETTINGS), TrainingRun(SETTINGS)
    rest.resume(file)
    assert rest.steps == 4
    rest.train(positions, silent)
    whole.train(positions, silent)
    for name, values in whole.averaged().items():
        assert np.array_equal(values, rest.averaged()[name]), name


def test_other_seeds_give_other_weights(positions: HumanPositions) -> None:
    runs = [TrainingRun(replace(SETTINGS, seed=seed, steps=2)) for seed in (1, 2)]
    for run in runs:
        run.train(positions, silent)
    one, two = (run.averaged()["stem.0.weight"] for run in runs)
    assert not np.allclose(one, two)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (replace(SETTINGS, size=replace(SIZE, channels=16)), "size"),
        (replace(SETTINGS, seed=4), "its seed is 3, not 4"),
        (replace(SETTINGS, batch=16), "batch"),
        (replace(SETTINGS, steps=None, minutes=1.0), "its budget is in steps"),
    ],
)
def test_checkpoints_of_other_runs_are_refused(
    positions: HumanPositions, tmp_path: Path, settings: TrainingSettings, why: str
) -> None:
    file = tmp_path / "checkpoint"
    TrainingRun(replace(SETTINGS, steps=1)).train(positions, silent, file)
    with pytest.raises(BadCheckpoint, match=why):
        TrainingRun(settings).resume(file)


def test_a_longer_budget_continues(positions: HumanPositions, tmp_path: Path) -> None:
    file = tmp_path / "checkpoint"
    TrainingRun(replace(SETTINGS, steps=1)).train(positions, silent, file)
    run = TrainingRun(SETTINGS)
    run.resume(file)
    run.train(positions, silent)
    assert run.steps == 12


def test_damaged_checkpoints_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "checkpoint"
    file.write_bytes(b"no checkpoint")
    with pytest.raises(BadCheckpoint, match="not a checkpoint"):
        TrainingRun(SETTINGS).resume(file)
    with pytest.raises(BadCheckpoint, match="No such file"):
        TrainingRun(SETTINGS).resume(tmp_path / "missing")


def test_a_budget_in_minutes_counts_the_time_of_all_runs(positions: HumanPositions, tmp_path: Path) -> None:
    file = tmp_path / "checkpoint"
    settings = replace(SETTINGS, steps=None, minutes=1.0)
    ticks = iter(range(0, 10_000, 10))
    run = TrainingRun(settings)
    run.train(positions, silent, file, clock=lambda: next(ticks), is_stopped=stop_after(run, 4))
    assert run.elapsed_s == 40
    rest = TrainingRun(settings)
    rest.resume(file)
    rest.train(positions, silent, clock=lambda: next(ticks))
    assert rest.elapsed_s == 60
    assert rest.steps == 6


def test_each_pass_shows_every_position_once_in_another_order(positions: HumanPositions) -> None:
    batches = TrainingBatches(positions, SETTINGS)
    per_pass = len(positions) // SETTINGS.batch
    one, two = (
        np.concatenate([batches.numbers(step) for step in range(start, start + per_pass)])
        for start in (0, per_pass)
    )
    assert len(np.unique(one)) == len(one) == per_pass * SETTINGS.batch
    assert not np.array_equal(one, two)
    assert np.array_equal(batches.numbers(1), one[SETTINGS.batch : 2 * SETTINGS.batch])


def test_each_feature_is_hidden_a_quarter_of_the_time(positions: HumanPositions) -> None:
    known = replace(positions, features=np.ones_like(positions.features))
    batches = TrainingBatches(known, SETTINGS)
    numbers = np.arange(len(known))
    flags = np.concatenate([batches.prepare(step, numbers).who[:, 3:].numpy() for step in range(8)])
    assert flags.mean(axis=0) == pytest.approx(0.75, abs=0.03)
    both = (flags[:, 0] * flags[:, 1]).mean()
    assert both == pytest.approx(0.75**2, abs=0.03)


def test_unknown_results_are_left_out_of_the_loss(positions: HumanPositions) -> None:
    run = TrainingRun(replace(SETTINGS, steps=2))
    run.train(positions.of(np.isnan(positions.result)), silent)
    assert all(np.isfinite(values).all() for values in run.averaged().values())


def test_a_missing_gpu_is_an_error() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert choose_device("auto")[0] == "cpu"
    with pytest.raises(ValueError, match="no GPU"):
        choose_device("cuda")
