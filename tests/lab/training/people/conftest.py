"""Tests of training need PyTorch, which `make dev` does not install."""

from tests.lab.training.conftest import HAS_PYTORCH

collect_ignore = [] if HAS_PYTORCH else ["test_export.py", "test_training.py", "test_program.py"]
