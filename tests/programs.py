"""Other programs that some tests need."""

import os
import shutil

import pytest


def installed(name: str) -> str:
    """Path of an installed program; skips the test without it, or with CI=true fails it.

    Debian puts engines where not every PATH leads.
    """
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/games")
    if found is None:
        reason = f"needs {name}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found
