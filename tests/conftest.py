"""Settings of the whole suite."""

import gc
import os
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from xdist.scheduler import LoadScopeScheduling

# Several processes test at once: with threads of their own for sums they would only get in each other's way.
for _library in ("OPENBLAS", "OMP"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

# The same examples on every run and every machine, however busy it is, and nothing kept between runs.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")
# Else it also draws constants of the modules imported by then, which depend on the tests run before.
providers._get_local_constants = Constants

# In memory where there is room, because many databases are made and synchronized.
_MEMORY = Path("/dev/shm")
_ROOM = 4 << 30
if "TMPDIR" not in os.environ and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
    os.environ["TMPDIR"] = str(_MEMORY)

LONGEST = (
    "tests/browser",
    "tests/system",
    "tests/faults",
    "bot/cli/test_match",
    "bot/game/test_player_kill",
    "engine/external",
    "engine/test_players",
    "engine/native/test_exact",
    "tests/ggs",
    "engine/test_trappy",
    "engine/search",
    "engine/games",
    "engine/uci",
    "engine/training",
    "bot/engine_protocols",
    "bot/match",
)
"""What takes longest, roughly in order."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests first, so that with several processes none is left waiting for them at the end."""
    items.sort(
        key=lambda item: next((n for n, path in enumerate(LONGEST) if path in item.nodeid), len(LONGEST))
    )


def pytest_collection_finish() -> None:
    """What is there by now stays: the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores: some tests wait for other programs."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Whole files go to the processes, in the order in which they were collected."""
    config.option.loadscopereorder = False
    scheduling = LoadScopeScheduling(config, log)
    scheduling._split_scope = _scope
    return scheduling


def _scope(nodeid: str) -> str:
    """What goes to one process: a file, or all that shares a server whose start takes long."""
    if "postgres" in nodeid:
        return "PostgreSQL"
    path = nodeid.partition("::")[0]
    is_page = path.startswith("tests/browser") and "main_job" not in path
    return "Chromium" if is_page else path


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What a rude server said may stand in the log as it is, and could not be sent to the main process."""
    report = yield
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections
    ]
    return report
