"""Runs the tests that guard a module, with a mutant in the module's place; each mutant has its own process.

Nothing is written to the working tree: Python imports the mutated source from memory, and the C++ core is
built in a temporary folder. Processes are forked, because importing pytest and the libraries takes longer
than most tests.
"""

import importlib
import importlib.abc
import importlib.util
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType

import pytest
from hypothesis import Phase, settings

from lab.mutants.guarded_modules import GuardedModule
from lab.mutants.mutators import Mutant
from lab.mutants.native_build import Build, DoesNotCompile

ROOT = Path(__file__).parents[2]
"""Root of the working tree."""
MIN_TIMEOUT_S = 60.0
"""Constant part of a mutant's time limit, in seconds."""
LIMIT_FACTOR = 10
"""Variable part of a mutant's time limit, as a multiple of the tests' time without the mutant."""
MAX_MUTANT_MEMORY_BYTES = 8 << 30
"""Memory limit of a mutant, in bytes, for mutants that allocate endlessly."""

_DOES_NOT_COMPILE, _NOT_IMPORTED = 97, 98
# Third-party modules that most tests import; preloading them only saves time.
_PRELOADED = (
    *(
        "_hypothesis_pytestplugin",
        "aiohttp",
        "alembic.command",
        "chess",
        "hypothesis.strategies",
        "jsonschema",
    ),
    *("pydantic_settings", "pytest_asyncio.plugin", "sqlalchemy.ext.asyncio", "yaml"),
)


class MutantVerdict(StrEnum):
    """The tests' verdict on a mutant."""

    KILLED = "killed"
    ENDLESS = "killed (endless)"
    SURVIVED = "survived"
    INVALID = "does not compile"
    NOT_IMPORTED = "not imported"

    @property
    def is_kill(self) -> bool:
        """Whether the tests detected the mutant."""
        return self in (MutantVerdict.KILLED, MutantVerdict.ENDLESS)


@dataclass(frozen=True, slots=True)
class MutantRun:
    """One run of the tests."""

    guarded: GuardedModule
    mutant: Mutant
    limit_s: float | None = None


@dataclass(frozen=True, slots=True)
class MutantResult:
    """The result of one run of the tests."""

    job: MutantRun
    verdict: MutantVerdict
    took_s: float
    output: str


@dataclass(slots=True)
class _Running:
    job: MutantRun
    folder: Path
    began_s: float
    is_endless: bool = False


def preload() -> None:
    """Import the modules that every process needs and no mutant changes."""
    for name in _PRELOADED:
        with suppress(ImportError):
            importlib.import_module(name)


def run(jobs: Sequence[MutantRun], folder: Path, build: Build | None, workers: int) -> Iterator[MutantResult]:
    """Yield finished jobs in order of completion. If iteration ends early, all processes are killed."""
    left, running = list(reversed(jobs)), dict[int, _Running]()
    try:
        while left or running:
            while left and len(running) < workers:
                job = left.pop()
                own = Path(tempfile.mkdtemp(dir=folder))
                running[_fork(job, own, build)] = _Running(job, own, time.monotonic())
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid in running:
                yield _ended(running.pop(pid), status)
                continue
            for pid, each in running.items():
                limit_s = each.job.limit_s
                if limit_s is not None and not each.is_endless and time.monotonic() - each.began_s > limit_s:
                    each.is_endless = True
                    _kill(pid)
            time.sleep(0.02)
    finally:
        for pid in running:
            _kill(pid)
            os.waitpid(pid, 0)


def _ended(running: _Running, status: int) -> MutantResult:
    verdict = MutantVerdict.KILLED
    if running.is_endless:
        verdict = MutantVerdict.ENDLESS
    elif os.WIFEXITED(status):
        verdict = {
            0: MutantVerdict.SURVIVED,
            _DOES_NOT_COMPILE: MutantVerdict.INVALID,
            _NOT_IMPORTED: MutantVerdict.NOT_IMPORTED,
        }.get(os.WEXITSTATUS(status), MutantVerdict.KILLED)
    took_s = time.monotonic() - running.began_s
    output = (running.folder / "output").read_text(errors="replace")
    shutil.rmtree(running.folder, ignore_errors=True)
    return MutantResult(running.job, verdict, took_s, output)


def _kill(pid: int) -> None:
    """Kill a process and everything that its tests started."""
    for end in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            end(pid, signal.SIGKILL)


def _fork(job: MutantRun, folder: Path, build: Build | None) -> int:
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = _run_tests(job, folder, build)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return pid


def _run_tests(job: MutantRun, folder: Path, build: Build | None) -> int:
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MUTANT_MEMORY_BYTES, MAX_MUTANT_MEMORY_BYTES))
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    path = job.guarded.path
    finder: _Finder
    if job.guarded.is_native:
        assert build is not None
        try:
            module = build.module(Path(path), job.mutant.source, folder)
        except DoesNotCompile as error:
            print(error)
            return _DOES_NOT_COMPILE
        os.environ["DESDEMONA_NATIVE_SOURCE"] = str(folder / "native")
        finder = _Finder("engine._native", ExtensionFileLoader("engine._native", str(module)))
    else:
        name = path.removesuffix(".py").replace("/", ".")
        finder = _Finder(name, _MutantLoader(name, str(ROOT / path), job.mutant.source))
    sys.meta_path.insert(0, finder)
    arguments = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    # The libraries' plugins have been imported before.
    arguments += ["-W", "ignore::pytest.PytestAssertRewriteWarning", *job.guarded.tests]
    code = int(pytest.main(arguments, plugins=[_Plugin()]))
    return _NOT_IMPORTED if code == 0 and not finder.was_asked else code


class _Plugin:
    """Registers Hypothesis settings that do not shrink failing examples."""

    def pytest_sessionstart(self) -> None:
        settings.register_profile(
            "mutants", settings.get_profile("repeatable"), phases=(Phase.explicit, Phase.generate)
        )
        settings.load_profile("mutants")


class _MutantLoader(SourceFileLoader):
    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._mutated = source

    def get_code(self, fullname: str) -> CodeType:
        """Compile the mutated source without the bytecode cache."""
        code: CodeType = compile(self._mutated, self.get_filename(fullname), "exec", dont_inherit=True)
        return code


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, loader: SourceFileLoader | ExtensionFileLoader) -> None:
        self._name = name
        self._loader = loader
        self.was_asked = False

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        self.was_asked = True
        return importlib.util.spec_from_file_location(fullname, self._loader.path, loader=self._loader)
