"""Real games and suites that may lie beside the project; tests that need them are skipped without."""

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


def shared_path(relative: str) -> Path:
    """A file or folder of the shared data; skips the calling test where there is none."""
    path = SHARED_DATA / relative
    if not path.exists():
        pytest.skip(f"needs {relative} of the shared data, which is not beside this clone")
    return path
