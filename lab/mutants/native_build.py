"""Builds the C++ core with a mutated header in a separate folder, for one instruction set to save time."""

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nanobind

NATIVE = Path("engine/native")
# Only the smallest game is recompiled for each mutant; the others run the same templates and merely complete
# the module.
MUTATED_UNIT = Path("connect4/connect4_unit.cpp")


class DoesNotCompile(Exception):
    """The compiler rejects the mutant."""


class Build:
    """The object files that all mutants share, compiled once."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._native = root / NATIVE
        self._folder = folder
        self._compiler = os.environ.get("CXX", "g++")

    def prepare(self, workers: int) -> None:
        """Compile everything except the translation unit that mutants change."""
        self._folder.mkdir()
        sources = [
            Path(nanobind.source_dir()) / "nb_combined.cpp",
            *self._native.glob("*.cpp"),
            *(path for path in self._native.glob("*/*.cpp") if path.name != MUTATED_UNIT.name),
        ]
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda source: self._compile(source, self._native, self._folder), sources))

    def module(self, header: Path, text: bytes, folder: Path) -> Path:
        """Build the extension module with the given text as the mutated header.

        Raises:
            DoesNotCompile: The compiler rejects the header.
        """
        native = folder / "native"
        shutil.copytree(self._native, native)
        (native / header.relative_to(NATIVE)).write_bytes(text)
        self._compile(native / MUTATED_UNIT, native, folder)
        module = folder / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
        objects = [*self._folder.glob("*.o"), *folder.glob("*.o")]
        self._run("-shared", "-pthread", "-o", str(module), *map(str, objects))
        return module

    def _compile(self, source: Path, native: Path, folder: Path) -> None:
        """Compile with little optimisation, because full optimisation would take longer than the tests do."""
        self._run(*self._flags(native), "-c", str(source), "-o", str(folder / f"{source.stem}.o"))

    def _flags(self, native: Path) -> Iterator[str]:
        yield from (
            "-std=c++20",
            "-O1",
            "-w",
            "-fPIC",
            "-pthread",
            "-ffp-contract=off",
            "-fvisibility=hidden",
        )
        yield from ("-fno-strict-aliasing", "-DDESDEMONA_UNIT=baseline", f"-I{native}")
        yield f"-I{nanobind.include_dir()}"
        yield f"-I{Path(nanobind.source_dir()).parent / 'ext' / 'robin_map' / 'include'}"
        yield f"-I{sysconfig.get_path('include')}"

    def _run(self, *arguments: str) -> None:
        done = subprocess.run([self._compiler, *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise DoesNotCompile(done.stderr)
