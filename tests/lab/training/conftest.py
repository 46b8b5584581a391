"""Games to learn from, and what the tests of training need."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.lab.training.othello_games import random_games, write_wthor

# PyTorch is large, and only needed to train what comes with the program trained: `make dev` goes without.
HAS_PYTORCH = find_spec("torch") is not None
collect_ignore = [] if HAS_PYTORCH else ["test_network_descent.py"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Games at random of three years, one of them for validation."""
    for year, count in ((1999, 5), (2015, 4), (2016, 3)):
        write_wthor(tmp_path / f"WTH_{year}.wtb", year, random_games(count, seed=year))
    return tmp_path
