"""Settings of the whole suite."""

import gc
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from xdist.scheduler import LoadScopeScheduling

from bot.threads.cores import available_cores
from engine.judge import NODES
from tests.inline_sqlite import sqlite_threads
from tests.migrated_once import migrations
from tests.shared_databases import postgres, postgres_template, sqlite_template
from tests.shared_statements import shared_statements

__all__ = ["postgres", "postgres_template", "sqlite_template"]  # fixtures, used by name

# Several processes test at once: with numerical threads of their own they would only slow each other down.
for _library in ("OPENBLAS", "OMP"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

# The same examples on every run and every machine, however busy it is, and nothing stored between runs.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None, max_examples=50)
settings.load_profile("repeatable")
# Otherwise it also draws constants from the modules imported so far, which depend on the tests run before.
providers._get_local_constants = Constants

# The judge's full searches would take most of the time of tests that play games.
NODES.update(dict.fromkeys(NODES, 4_000))

# In memory where there is room, because the tests create and synchronize many databases.
_MEMORY = Path("/dev/shm")
_ROOM = 4 << 30
if "TMPDIR" not in os.environ and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
    os.environ["TMPDIR"] = str(_MEMORY)
    # Asked anew: pytest's capturing has had a temporary file, and Python remembers the folder of that.
    tempfile.tempdir = None

LONGEST = (
    "tests/browser",
    "tests/system",
    "tests/faults",
    "bot/cli/test_match",
    "bot/game/test_player_kill",
    "engine/protocols",
    "engine/test_players",
    "engine/native/test_exact",
    "tests/ggs",
    "engine/test_trappy",
    "engine/search",
    "engine/games",
    "lab/training",
    "bot/protocols",
    "bot/match",
)
"""The slowest tests, roughly in order."""


@pytest.fixture(scope="session", autouse=True)
def _quick_databases() -> Iterator[None]:
    with sqlite_threads(wanted=False), shared_statements(), migrations(wanted=False):
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the longest tests first, so that no process runs on alone at the end."""
    items.sort(
        key=lambda item: next((n for n, path in enumerate(LONGEST) if path in item.nodeid), len(LONGEST))
    )


def pytest_collection_finish() -> None:
    """Freeze the objects that exist by now: the garbage collector need not scan them again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: some tests wait for other programs."""
    return available_cores() + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give whole files to the processes, in collection order."""
    config.option.loadscopereorder = False
    scheduling = LoadScopeScheduling(config, log)
    scheduling._split_scope = _scope
    return scheduling


def _scope(nodeid: str) -> str:
    """The unit given to one process: a file, or all tests that share a server that is slow to start."""
    if "postgres" in nodeid:
        return "PostgreSQL"
    path = nodeid.partition("::")[0]
    is_page = path.startswith("tests/browser") and "main_job" not in path
    return "Chromium" if is_page else path


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape reports: bytes of a rude server may be in the log, and could not be sent to the main process."""
    report = yield
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections
    ]
    return report
