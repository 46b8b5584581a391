"""The installer that the Makefile calls: what it asks for, and what it says when something is missing."""

import importlib.util
import itertools
import os
import signal
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "deploy" / "install.py"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The installer, its folder for logs in an empty project."""
    spec = importlib.util.spec_from_file_location("install", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "BUILD", tmp_path / "build")
    module.BUILD.mkdir()
    return module


@pytest.fixture
def whole(install: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The installer on a machine that lacks nothing."""
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(install, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(install, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(install, "find_spec", lambda _: object())
    monkeypatch.delenv("CXX", raising=False)
    install.check_system()
    return install


def test_the_program_and_its_extras_get_all_that_they_need(install: ModuleType) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert install.requirements("") == project["dependencies"]
    wanted = {*project["dependencies"], *extras["dev"]}
    for extra in ("cluster", "lab", "parquet"):
        wanted |= set(extras[extra])
    named = {each for each in wanted if each.startswith("desdemona[")}
    assert named == {"desdemona[cluster]", "desdemona[lab]", "desdemona[parquet]"}
    assert set(install.requirements("dev")) == wanted - named


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("which", lambda _: None, "Missing: a C++ compiler.  On Debian: apt install g++"),
        ("find_spec", lambda _: None, "Missing: Python's venv.  On Debian: apt install python3-venv"),
        ("get_path", lambda _: "/n", "Missing: Python's header files.  On Debian: apt install python3-dev"),
    ],
)
def test_what_is_missing_is_said(
    whole: ModuleType, monkeypatch: pytest.MonkeyPatch, name: str, value: Any, message: str
) -> None:
    monkeypatch.setattr(whole, name, value)
    with pytest.raises(SystemExit, match="^" + message.replace("+", r"\+") + "$"):
        whole.check_system()


def test_all_that_is_missing_is_said_at_once(whole: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "which", lambda _: None)
    monkeypatch.setattr(whole, "find_spec", lambda _: None)
    with pytest.raises(SystemExit, match=r"apt install g\+\+ python3-venv$"):
        whole.check_system()


def test_a_chosen_compiler_has_to_be_there(whole: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "which", lambda name: name if name == "clang++-19" else None)
    monkeypatch.setenv("CXX", "clang++-19 -pipe")
    whole.check_system()
    monkeypatch.setenv("CXX", "g++")
    with pytest.raises(SystemExit, match=r"C\+\+ compiler"):
        whole.check_system()


def test_an_empty_choice_of_compiler_is_none(whole: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "")
    whole.check_system()
    monkeypatch.setenv("CXX", " ")
    with pytest.raises(SystemExit, match=r"^CXX is blank: unset it"):
        whole.check_system()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch"], "unknown extra 'nosuch'; pyproject.toml has cluster, "),
        (["dev", "fit"], "usage: python3 deploy/install.py [extra]"),
    ],
)
def test_wrong_arguments_are_answered_in_one_line(
    whole: ModuleType, arguments: list[str], message: str
) -> None:
    whole.BUILD.rmdir()
    with pytest.raises(SystemExit) as caught:
        whole.main(*arguments)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert not whole.BUILD.exists()  # nothing was begun


def test_an_old_python_is_told_apart(whole: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 14))
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer"):
        whole.check_system()


def test_no_environment_without_pip(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    python = tmp_path / "bin" / "python"
    monkeypatch.setattr(install, "VENV", tmp_path)
    monkeypatch.setattr(install, "PYTHON", str(python))
    assert not install.has_pip()
    python.parent.mkdir()
    for status, whether in ((1, False), (0, True)):
        python.write_text(f"#!/bin/sh\nexit {status}\n")
        python.chmod(0o755)
        assert install.has_pip() is whether


@pytest.mark.parametrize(
    ("said", "lines", "last"),
    [
        ("NewConnectionError(...)\nERROR: No matching distribution found", 0, "is there a network"),
        ("error: expected ';'", 15, "This failed; its whole output is in build/core.log"),
    ],
)
def test_a_failure_ends_with_one_line(
    install: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    said: str,
    lines: int,
    last: str,
) -> None:
    monkeypatch.setattr(install, "ROOT", install.BUILD.parent)
    program = f"import sys; print('line\\n' * 100 + {said!r}); sys.exit(3)"
    with pytest.raises(SystemExit, match=last):
        install.run("core", [sys.executable, "-c", program])
    told = capfd.readouterr().err
    assert told.count("\n") == lines
    assert (said in told) is bool(lines)


def test_one_that_fails_stops_the_others(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "ROOT", install.BUILD.parent)
    other = install.start("packages", ["sleep", "1000"])
    with pytest.raises(SystemExit, match=r"core\.log"):
        install.finish(other, install.start("core", ["false"]))
    assert other[0].returncode == -signal.SIGTERM


class SlowProcess:
    """A process that ends after some polls."""

    pid = returncode = 0

    def __init__(self, polls: int) -> None:
        self._left = polls

    def poll(self) -> int | None:
        self._left -= 1
        return None if self._left else 0


def test_a_long_step_prints_how_far_it_is(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A line at least every ten seconds, whatever the output is."""
    clock = iter(range(0, 1000, 1))
    monkeypatch.setattr(install.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(install.time, "sleep", lambda _: None)
    monkeypatch.setattr(install.time, "time", lambda: 1000.0)
    core, packages = install.BUILD / "core.log", install.BUILD / "packages.log"
    core.touch()
    packages.write_text(
        "Collecting numpy (from x)\n  Downloading numpy-2.whl (14 MB) and more words\nother\n"
    )
    folder = install.BUILD / "cp311" / "CMakeFiles" / "unit_v3.dir" / "tmp" / "pip-build-env-x" / "native"
    folder.mkdir(parents=True)
    for name, at in (("chess.cpp", 1020), ("othello.cpp", 1010), ("old.cpp", 900)):
        (folder / f"{name}.o").touch()
        os.utime(folder / f"{name}.o", (at, at))
    install.finish((SlowProcess(21), packages), (SlowProcess(41), core))
    lines = capfd.readouterr().out.splitlines()
    times = [int(line.split()[0]) for line in lines]
    assert all(later - before <= 10 for before, later in itertools.pairwise([0, *times, 41]))
    compiled = "2 C++ files compiled, last chess.cpp for unit_v3"
    assert lines[0] == f"  8 s; Downloading numpy-2.whl (14 MB) and; {compiled}"
    assert lines[-1].endswith(f" s; {compiled}")
    assert install.progress(core, 2000.0) == "compiling"
    packages.write_text("")
    install.finish((SlowProcess(21), packages))
    assert "  8 s; still at it" in capfd.readouterr().out.splitlines()


def test_both_have_to_end(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "ROOT", install.BUILD.parent)
    programs = [install.start(name, ["true"]) for name in ("packages", "core")]
    install.finish(*programs)
    assert [process.returncode for process, _ in programs] == [0, 0]
    assert not any(os.path.getsize(log) for _, log in programs)
